"""From the folder of a study to the report on one of its comparisons."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from delibsim.analysis.pairs.fitted import Compared, JudgesAsked, People, Settings
from delibsim.analysis.pairs.report import pairs_report
from delibsim.analysis.report import Report
from delibsim.asking.kinds.pair import ADAPTIVE, task_sheets
from delibsim.asking.kinds.pair_batches import batches_of
from delibsim.asking.kinds.pair_texts import kept_texts
from delibsim.domain.annotation import Text
from delibsim.domain.comparison import Pair, Vote
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.text import counted, study_named
from delibsim.store.annotations import packs_of
from delibsim.store.answers import Comparisons
from delibsim.store.runs import Runs

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
            raise WrongInput(
                f"comparisons {several[0].name} and {one.name} are not of the same texts; report"
                " each by itself"
            )
        if compared.probes is not None or found[0].probes is not None:
            raise WrongInput(
                "pairs of an adaptive comparison were chosen by its own votes; report it by itself"
            )
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
        raise WrongInput(
            f"comparisons {comparisons.name} and {name} have no text in common, by id; against="
            " takes judgments of the same texts"
        )
    return People(name, tuple(other.every(faults)), ordered="imported" not in theirs)


def _imported(runs: Runs, others: Sequence[str], name: str) -> str:
    """The only comparison of imported judgments, if people are asked for under this name."""
    study = study_named(runs.study)
    if not others:
        raise WrongInput(
            f"against={name}: {study} has no votes of people, and no other comparison; bring them"
            f" in: delibsim import {runs.study} FILE.csv --as pairs name=people"
        )
    imported = [one for one in others if "imported" in Comparisons.of(runs, one).files.task()]
    if name == PEOPLE and len(imported) == 1:
        return imported[0]
    if name == PEOPLE and imported:
        told = ", ".join(imported)
        raise WrongInput(f"against={name}: {study} has several; name one: {told}")
    raise unknown(f"other comparison of {study}", name, others)
