"""From the folder of a study to the report on one comparison, and to the scores of its texts."""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from delibsim.analysis.pairs.fitted import Compared, Fitted, JudgesAsked, People, Settings, fitted
from delibsim.analysis.pairs.report import pairs_report
from delibsim.analysis.report import Report
from delibsim.asking.kinds.pair import ADAPTIVE, task_sheets
from delibsim.asking.kinds.pair_batches import batches_of
from delibsim.asking.kinds.pair_texts import UNITS, kept_texts
from delibsim.asking.texts import texts_of_run
from delibsim.domain.annotation import Text, annotated
from delibsim.domain.comparison import Pair, TextScore, Vote
from delibsim.domain.errors import WrongInput, refused, unknown
from delibsim.domain.run import Run
from delibsim.domain.text import counted, study_named
from delibsim.measures.bradley_terry.fit import Model
from delibsim.store.annotations import packs_of
from delibsim.store.answers import (
    ORIGINAL,
    AboutStudy,
    Comparisons,
    comparisons_about,
    unit_gathered,
)
from delibsim.store.runs import Runs
from delibsim.store.study_texts import StudyTexts

Array = NDArray[np.float64]
NOT_JUDGED, EDITED = "not_judged", "edited"
NOT_CONNECTED, WITHIN_SESSION = "not_connected", "within_session"


@dataclass(frozen=True)
class _Found:
    """A score, with the unit of its text and the SHA-256 of the text that was compared, "" where it
    is known by its id only.
    """

    score: TextScore
    unit: str
    sha256: str

    def of(self, now: Mapping[str, str]) -> TextScore:
        """The score, which is missing if the text is another now; `now` holds SHA-256 by id."""
        if not self.sha256 or now.get(self.score.text) == self.sha256:
            return self.score
        return replace(self.score, value=math.nan, note=EDITED)


PEOPLE = "people"
"""The name under which the votes of people are found, wherever they are."""


def report_on_pairs(
    runs: Runs, several: Sequence[Comparisons], settings: Settings, against: str = ""
) -> Report:
    """The report on comparisons of a study, such as the same pairs in several prompts, beside the
    votes of people `against` if they are named.

    Of more than one, the judges of each are judges of their own: "NAME, COMPARISON". WrongInput for
    what is damaged, where texts are no longer those that were compared, for people that are not
    there, and for several comparisons of other texts or with pairs that were chosen on the way.
    """
    faults: list[str] = []
    found = []
    for one in several:
        compared = compared_of(runs, one, faults, against)
        asked = _asked(one, one.files.task(), faults)
        found.append(replace(compared, asked=asked))
    _refuse_apart(several, found)
    whole = found[0] if len(found) == 1 else _together(found)
    return pairs_report(whole, settings, faults)


def _refuse_apart(several: Sequence[Comparisons], found: Sequence[Compared]) -> None:
    """WrongInput for comparisons that one report cannot hold."""
    first = several[0].files.task()["texts"]
    for one, compared in zip(several[1:], found[1:], strict=True):
        texts = one.files.task()["texts"]
        if any(first[id] != texts[id] for id in first.keys() & texts) or not first.keys() & texts:
            raise refused("comparisons_of_other_texts", named=several[0].name, other=one.name)
        if compared.probes is not None or found[0].probes is not None:
            raise refused("comparison_is_adaptive")
    names = [one.name for one in several]
    if len(set(names)) < len(names):
        raise WrongInput(f"name={','.join(names)}: a comparison is named twice")


def _together(parts: Sequence[Compared]) -> Compared:
    """Comparisons of the same texts as one."""
    votes: list[Vote] = []
    planned: dict[tuple[str, str], int] = {}
    texts: dict[str, str] = {}
    facts: dict[str, Mapping[str, str]] = {}
    calls: list[Mapping[str, Any]] = []
    left_out: frozenset[Pair] = frozenset()
    for one in parts:
        end = f", {one.name}"
        votes += [replace(vote, judge=vote.judge + end) for vote in one.votes]
        planned |= {(judge + end, of): n for (judge, of), n in one.planned.items()}
        texts |= one.texts
        facts |= one.facts
        left_out |= one.people.left_out if one.people else frozenset()
        for call in one.asked.calls:
            purpose = call.get("purpose", {})
            renamed = {**purpose, "participant": f"{purpose.get('participant')}{end}"}
            calls.append({**call, "purpose": renamed})
    first = parts[0]
    most = max(one.asked.runs for one in parts)
    return replace(
        first,
        name=" and ".join(one.name for one in parts),
        votes=tuple(votes),
        planned=planned,
        texts=texts,
        facts=facts,
        imported=any(one.imported for one in parts),
        asked=replace(first.asked, runs=most, calls=calls),
        people=replace(first.people, left_out=left_out) if first.people else None,
    )


def compared_of(
    runs: Runs, comparisons: Comparisons, faults: list[str], against: str = ""
) -> Compared:
    """A comparison with its votes, those of language models and then those of people; without its
    calls. Damaged lines are told in `faults`. WrongInput as for the report.
    """
    task, votes = comparisons.files.task(), comparisons.every(faults)
    people = _people(runs, comparisons, votes, against, faults) if against else None
    apart = set() if people is None else set(people.votes)
    texts = _groups([*votes, *apart])
    if people is not None:
        people = replace(people, left_out=examples_among(task, texts))
    design = task.get("design", {})
    held = [] if "imported" in task else kept_texts(runs, task)
    return Compared(
        study=runs.study,
        name=comparisons.name,
        votes=tuple(vote for vote in votes if vote not in apart),
        planned=_planned(comparisons, task, held, {vote.judge for vote in apart}),
        texts=texts,
        imported="imported" in task,
        seed=task["seed"],
        probes=_probes(comparisons, design) if design.get("kind") == ADAPTIVE else None,
        people=people,
        facts={text.id: text.facts for text in held},
    )


def examples_among(task: Mapping[str, Any], groups: Mapping[str, str]) -> frozenset[Pair]:
    """The pairs of texts that judges were shown as examples of a dimension; `groups` are those of
    the texts by id. What judges were told cannot show that they agree with people.
    """
    by_digest = {digest: id for id, digest in task["texts"].items()}
    found = []
    for dimension in task["dimensions"].values():
        for example in (dimension or {}).get("examples", ()):
            digests = [Text("", example[side]).sha256 for side in ("a", "b")]
            a, b = (by_digest.get(digest, "") for digest in digests)
            if a and b:
                found.append(Pair(a, b, groups.get(a, "")))
    for by_group in task.get("judged_examples", {}).values():
        for group, rows in by_group.items():
            found += [Pair(a, b, group) for a, b, _ in rows]
    return frozenset(found)


def _groups(votes: Iterable[Vote]) -> dict[str, str]:
    """The group of each text that was compared."""
    groups: dict[str, str] = {}
    for vote in votes:
        groups |= dict.fromkeys((vote.sheet.a, vote.sheet.b), vote.sheet.group)
    return groups


def _asked(comparisons: Comparisons, task: Mapping[str, Any], faults: list[str]) -> JudgesAsked:
    """How a comparison was asked, with its calls."""
    files = comparisons.files
    calls, damaged = files.read(files.exchanges)
    if damaged:
        faults.append(f"{files.exchanges}: {counted(damaged, 'damaged line')}")
    return JudgesAsked(task.get("runs", 1), task.get("temperature"), calls)


def _planned(
    comparisons: Comparisons, task: Mapping[str, Any], texts: Sequence[Text], apart: Collection[str]
) -> dict[tuple[str, str], int]:
    """How many votes were planned, by judge and dimension; none of imported judgments, and none of
    judges that stand `apart`.
    """
    planned: dict[tuple[str, str], int] = {}
    if "imported" not in task:
        batches = batches_of(comparisons.steps())
        sheets = len(task_sheets(task, texts))
        for judge in task["models"]:
            for dimension in task["dimensions"]:
                chosen = sum(len(batch.sheets) for batch in batches.get(dimension, ()))
                planned[judge, dimension] = (sheets + chosen) * task["runs"]
        for pack in packs_of(comparisons.files).values():
            for key in pack["sheets"].values():
                place = key["rater"], key["dimension"]
                planned[place] = planned.get(place, 0) + 1
    return {place: n for place, n in planned.items() if place[0] not in apart}


def _probes(comparisons: Comparisons, design: Mapping[str, Any]) -> dict[str, frozenset[Pair]]:
    """The pairs of an adaptive comparison that were drawn at random, by dimension; none where no
    share of the batches was to be.
    """
    found: dict[str, frozenset[Pair]] = {}
    for dimension, batches in batches_of(comparisons.steps()).items():
        drawn = (sheet.pair for one in batches for sheet in one.drawn)
        found[dimension] = frozenset(drawn if design["probe"] else ())
    return found


def _people(
    runs: Runs,
    comparisons: Comparisons,
    votes: Sequence[Vote],
    name: str,
    faults: list[str],
) -> People:
    """The votes of people: those of another comparison by its name; under the name "people" also
    those of the judges of this comparison who are no models, or of the only one that was imported.
    """
    task = comparisons.files.task()
    own = [vote for vote in votes if vote.judge not in task.get("models", {})]
    if name == PEOPLE and own and "models" in task:
        return People(PEOPLE, tuple(own), ordered=True)
    others = [known for known in Comparisons.names(runs) if known != comparisons.name]
    if name not in others:
        name = _imported(runs, others, name)
    other = Comparisons.of(runs, name)
    theirs = other.files.task()
    if not set(task["texts"]) & set(theirs["texts"]):
        raise refused("no_text_in_common", named=comparisons.name, other=name)
    return People(name, tuple(other.every(faults)), ordered="imported" not in theirs)


def _imported(runs: Runs, others: Sequence[str], name: str) -> str:
    """The only comparison of imported judgments, if people are asked for under this name."""
    study = study_named(runs.study)
    if not others:
        raise refused("no_votes_of_people", named=name, study=study, plain=runs.study)
    imported = [one for one in others if "imported" in Comparisons.of(runs, one).files.task()]
    if name == PEOPLE and len(imported) == 1:
        return imported[0]
    if name == PEOPLE and imported:
        told = ", ".join(imported)
        raise WrongInput(f"against={name}: {study} has several; name one: {told}")
    raise unknown(f"other comparison of {study}", name, others)


def compared_runs(runs: Runs, faults: list[str]) -> Callable[[Run], Run]:
    """What makes of a run of a study one with the scores of its texts, as far as they were
    compared; damaged votes are left out and told in `faults`.
    """
    by_session: dict[str, list[_Found]] = defaultdict(list)
    for one in _text_scores(runs, faults):
        by_session[one.score.text.partition("/")[0]].append(one)

    def compared(run: Run) -> Run:
        found = by_session.get(run.session.id)
        if not found:
            return run
        now: dict[str, str] = {}
        for unit in {UNITS[one.unit] for one in found}:
            now |= {text.id: text.sha256 for text in texts_of_run(run, unit)}
        return annotated(run, compared=tuple(one.of(now) for one in found))

    return compared


def scores_of_study_texts(runs: Runs, faults: list[str]) -> list[TextScore]:
    """The score of every imported text of a study of texts in every comparison about it."""
    now = {text.id: text.sha256 for text in StudyTexts(runs).all()}
    return [one.of(now) for one in _text_scores(runs, faults)]


def _text_scores(runs: Runs, faults: list[str]) -> Iterator[_Found]:
    """The score of every text of a study in every comparison about it, by comparison.

    Scores are those of `delibsim compare report` as it is by default.
    """
    for about in comparisons_about(runs):
        task = about.comparisons.files.task()
        compared = compared_of(about.runs, about.comparisons, faults)
        texts = _texts(about, task, compared)
        if texts:
            for dimension in compared.dimensions:
                found = fitted_as_usual(compared, dimension)
                yield from _scores(about, found, texts, task)


def fitted_as_usual(compared: Compared, dimension: str) -> Fitted:
    """The fit of a dimension as reports have it by default: place bias is estimated unless the
    votes were imported, and judges discriminate where there are several.
    """
    settings = Settings(Model(order=not compared.imported, judges="discriminating"))
    found = fitted(compared, dimension, settings)
    if len(found.judges) < 2:
        settings = replace(settings, model=replace(settings.model, judges="pooled"))
    return replace(found, settings=settings)


def _texts(about: AboutStudy, task: Mapping[str, Any], compared: Compared) -> dict[str, Text]:
    """The texts of a comparison by id that are of the study, as they are now. Of a study that holds
    imported judgments alone they are known by their ids; of one of sessions these say nothing.
    """
    if "imported" in task:
        held = StudyTexts(about.runs)
        if not held.held():
            return {}
        if not held.count():
            return {id: Text(id, "", group) for id, group in compared.texts.items()}
    texts = kept_texts(about.runs, {"unit": "text", **task})
    return {text.id: text for text in texts if text.id.startswith(about.prefix)}


def _scores(
    about: AboutStudy, found: Fitted, texts: Mapping[str, Text], task: Mapping[str, Any]
) -> Iterator[_Found]:
    """The scores of the texts of a study in one fit."""
    values: dict[str, float] = {}
    parts: dict[str, set[int]] = defaultdict(set)
    sessions: dict[str, set[str]] = defaultdict(set)
    if found.votes:
        for place, id in enumerate(found.ids):
            values[id] = float(found.fit.scores[place])
            parts[found.groups[place]].add(int(found.fit.graph.component[place]))
            sessions[found.groups[place]].add(id.rpartition("/")[0])
    unit = unit_gathered(about.runs, about.prefix.rstrip("/")) or task.get("unit", "text")
    for id, text in texts.items():
        if id not in task["texts"]:
            continue
        value, note = values.get(id, math.nan), ""
        apart = WITHIN_SESSION if len(sessions[text.group]) < 2 else ""
        if len(parts[text.group]) > 1:
            value, note, apart = math.nan, NOT_CONNECTED, NOT_CONNECTED
        elif math.isnan(value):
            note = NOT_JUDGED
        name = id.removeprefix(about.prefix)
        score = TextScore(about.coder, found.dimension, name, value, note, apart)
        sha256 = text.facts[ORIGINAL] if about.prefix else task["texts"][id]
        yield _Found(score, unit, sha256)
