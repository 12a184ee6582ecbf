"""The texts of a comparison: those of one study, or of several that meet in one of their own."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from delibsim.asking.blinding import blinded_text
from delibsim.asking.designs import groups_of
from delibsim.asking.road import refuse_if
from delibsim.asking.texts import CITIZENS, IMPORTED, Roles, roles_in, study_texts
from delibsim.domain.annotation import Text
from delibsim.domain.comparison import Pair, Vote
from delibsim.domain.errors import WrongInput
from delibsim.domain.run import Session
from delibsim.domain.secret import refuse_key
from delibsim.domain.study import slug
from delibsim.domain.text import study_named
from delibsim.store.annotations import tasks_of
from delibsim.store.answers import (
    GATHERED,
    ORIGINAL,
    QUESTION,
    STUDY,
    Comparisons,
    gathered_from,
)
from delibsim.store.files import json_text
from delibsim.store.manifest import Manifest
from delibsim.store.runs import Runs
from delibsim.store.study_texts import StudyTexts
from delibsim.store.tables.csv_cells import read_columns, refuse_faults

SPEECH, SESSION, TOPIC = "speech", "session", "topic"
COLUMNS = ("a", "b")
"""The columns of a list of pairs."""
FEW = 5
"""How many ids a message names."""
NOT_READ = "is no list of pairs, and nobody was asked"
UNITS = {"statement": "statement", SPEECH: "statement", "participant": "speaker", IMPORTED: "text"}
"""The units of comparisons, and what the units of any study call them."""


def texts_to_compare(
    runs: Runs, unit: str, within: str, faults: list[str], roles: Roles = CITIZENS
) -> list[Text]:
    """The texts of one study in this unit, each with what it is compared within as its group.

    WrongInput where there are none, and for speeches of sessions that are no debates.
    """
    if unit == SPEECH:
        for session in runs.plans_by_name().values():
            if not session.kind.sides:
                raise WrongInput(
                    f"unit=speech is of debates, and session {session.id} of"
                    f" {study_named(runs.study)} is a {session.format}; take unit=statement"
                )
    texts = study_texts(runs, UNITS[unit], 0, faults, "compare", roles)
    if within == TOPIC:
        return [replace(text, group=text.facts["topic"]) for text in texts]
    return texts


def refuse_texts(texts: Sequence[Text], keep_equal: bool) -> None:
    """WrongInput for texts, as judges see them, that are empty or, unless they are kept, word for
    word alike within their group, and where no group has two texts.
    """
    empty = [text.id for text in texts if not text.text.strip()]
    if empty:
        raise WrongInput(f"empty texts cannot be compared: {few(empty)}")
    alike: dict[tuple[str, str], list[str]] = {}
    for text in texts:
        alike.setdefault((text.group, text.text.strip()), []).append(text.id)
    equal = [" and ".join(ids) for ids in alike.values() if len(ids) > 1]
    if equal and not keep_equal:
        raise WrongInput(
            f"texts of one group are word for word alike: {few(equal)}; leave all but one out, or"
            " have them judged as they are: keep_equal=true"
        )
    if max(map(len, groups_of(texts).values()), default=0) < 2:
        raise WrongInput(
            "no group has two texts, and texts are compared within their group only; import them"
            " with another group=COLUMN, or with none; of sessions, compare them within=topic"
        )


def few(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    more = f" and {len(names) - FEW:,} more" if len(names) > FEW else ""
    return ", ".join(names[:FEW]) + more


def kept_texts(runs: Runs, task: Mapping[str, Any]) -> list[Text]:
    """The texts of a comparison that was begun, as the study holds them now."""
    unit = task["unit"]
    return texts_to_compare(runs, unit, task.get("within", SESSION), [], roles_in(task))


def topics_of(runs: Runs, texts: Sequence[Text]) -> dict[str, str]:
    """What each group is about: the question of its topic, or the name of the group."""
    sessions = runs.plans_by_name()
    gathered = gathered_from(runs)
    found = {}
    for text in texts:
        session = sessions.get(text.facts.get("session", ""))
        question = text.facts.get(QUESTION, "") if gathered else ""
        found[text.group] = (session.topic.question if session else question) or text.group
    return found


def judged_examples(
    runs: Runs, name: str, dimensions: Sequence[str], texts: Sequence[Text]
) -> dict[str, dict[str, list[list[str]]]]:
    """By dimension and group three judged pairs of a comparison as (a, b, outcome): those with the
    largest difference of scores for A and for B, and of the ties the one with the smallest.

    WrongInput for a dimension on which it has no vote, unless it has one dimension only, and for a
    group whose texts got no vote of one of the three outcomes.
    """
    from delibsim.analysis.pairs.fitted import Compared, Settings, fitted_votes  # slow to import
    from delibsim.measures.bradley_terry.fit import Model

    comparisons = Comparisons.begun(runs, name)
    every = tuple(vote for vote in comparisons.every() if vote.outcome)
    named = {vote.dimension for vote in every}
    groups = {text.id: text.group for text in texts}
    compared = Compared(runs.study, name, every, {}, groups, imported=True, seed=0)
    found: dict[str, dict[str, list[list[str]]]] = {}
    for dimension in dimensions:
        only = named if len(named) == 1 else named & {dimension}
        votes = [vote for vote in every if vote.dimension in only]
        if not votes:
            raise WrongInput(f"comparison {name} has no vote on {dimension} to take examples from")
        fitted = fitted_votes(compared, votes, dimension, Settings(Model(order=False)))
        scores = dict(zip(fitted.ids, fitted.fit.scores.tolist(), strict=True))
        found[dimension] = {}
        for group in dict.fromkeys(groups.values()):
            own = [one for one in votes if groups.get(one.sheet.a) == group]
            found[dimension][group] = _clearest(own, scores, f"{name}, {group or dimension}")
    return found


def _clearest(votes: Sequence[Vote], scores: Mapping[str, float], where: str) -> list[list[str]]:
    """The clearest vote for A, for B and for a tie."""
    found = []
    for outcome, sign in (("a", 1), ("b", -1), ("tie", 0)):
        rated = []
        for vote in votes:
            gap = scores[vote.sheet.a] - scores[vote.sheet.b]
            if vote.outcome == outcome and gap == gap:
                rank = sign * gap if sign else -abs(gap)
                rated.append((-rank, vote.sheet.a, vote.sheet.b))
        if not rated:
            raise WrongInput(f"{where}: no vote says {outcome}, so there is no example of it")
        _, a, b = min(rated)
        found.append([a, b, outcome])
    return found


def study_of_several(root: Path, name: str, sources: Sequence[Runs]) -> Runs:
    """The study in which texts of several studies are compared, whether it has begun or not.

    WrongInput for a study that is named twice or lies elsewhere, and for a name that is taken by a
    study that holds anything else.
    """
    names = [source.study for source in sources]
    for one in names:
        if names.count(one) > 1:
            raise WrongInput(f"{study_named(one)} is named twice; name each study once")
    apart = [one.study for one in sources if one.folder.resolve().parent != root.resolve()]
    if apart:
        raise WrongInput(
            f"{', '.join(apart)}: studies that are compared together lie in one folder, {root};"
            " name another with --dir"
        )
    refuse_key("name", name)
    runs = Runs(root, name)
    if slug(name) in map(slug, names):
        raise WrongInput(
            f"name={name} is one of the studies compared; the texts of several are kept in a study"
            " of their own: give it another name=NAME"
        )
    begun = runs.manifest()
    if begun is not None and gathered_from(runs) != names:
        of = gathered_from(runs)
        what = f"is of {', '.join(of)}" if of else "holds something else"
        raise WrongInput(
            f"{study_named(name)} exists and {what}; the texts of {', '.join(names)} need another"
            " name=NAME"
        )
    return runs


def gathered_texts(
    sources: Sequence[Runs], unit: str, faults: list[str], roles: Roles = CITIZENS
) -> list[Text]:
    """The texts of several studies, blinded, each with its topic as its group and the name of its
    study before its id.

    What was said stays known by its SHA-256, so that scores find their way back. WrongInput where
    two studies ask another question under the name of one topic.
    """
    found: list[Text] = []
    questions: dict[str, tuple[str, str]] = {}
    for runs in sources:
        imported = StudyTexts(runs).held()
        own = IMPORTED if imported else unit
        sessions = runs.plans_by_name()
        texts = texts_to_compare(runs, own, "" if imported else TOPIC, faults, roles)
        for text in texts:
            session = None if imported else sessions[text.facts["session"]]
            question = session.topic.question if session else ""
            known, of = questions.setdefault(text.group, (question, runs.study))
            if question and known and known != question:
                raise WrongInput(
                    f"topic {text.group} asks another question in {study_named(runs.study)} than in"
                    f" {of}, so its texts cannot be compared; rename one of the topics"
                )
            found.append(_gathered(text, session, runs.study, question))
    return found


def _gathered(text: Text, session: Session | None, study: str, question: str) -> Text:
    """A text as it is kept among those of several studies."""
    shown = text if session is None else blinded_text(text, session)
    own = {STUDY: study, ORIGINAL: text.sha256}
    if question:
        own[QUESTION] = question
    return replace(shown, id=f"{study}/{text.id}", context=(), facts={**text.facts, **own})


def keep_gathered(
    runs: Runs, texts: Sequence[Text], sources: Sequence[Runs], name: str, unit: str
) -> None:
    """Keep the texts of several studies, in this unit, in a study of their own, unless they are
    there; `name` is that of their comparison.

    WrongInput where votes of another comparison there are of other texts.
    """
    held = StudyTexts(runs)
    kept = held.named() if held.held() else {}
    if kept == {text.id: text for text in texts}:
        return
    others = [task for task in tasks_of(runs) if task != f"{Comparisons.prefix}{name}"]
    refuse_if(
        others,
        f"{study_named(runs.study)}: other texts would stand under what was asked about its texts",
        "gather them under another name: name=NAME",
    )
    parts = {part["study"]: part for part in _parts(texts, sources, unit)}
    at = datetime.now(UTC).isoformat(timespec="seconds")
    begun = {"at": at, "versions": {"delibsim": version("delibsim")}}
    held.keep(texts, Manifest(runs.study, {}, {GATHERED: parts}, begun=begun))


def _parts(texts: Sequence[Text], sources: Sequence[Runs], unit: str) -> Iterator[dict[str, Any]]:
    """What was taken from each study: its unit, how many texts, and the SHA-256 over theirs."""
    for source in sources:
        own = [text for text in texts if text.facts[STUDY] == source.study]
        told = json_text([[text.id, text.facts[ORIGINAL]] for text in own])
        digest = hashlib.sha256(told.encode()).hexdigest()
        unit = IMPORTED if StudyTexts(source).held() else unit
        yield {"study": source.study, "unit": unit, "texts": len(own), "sha256": digest}


def pairs_in(file: Path, texts: Mapping[str, Text]) -> tuple[Pair, ...]:
    """The pairs in the columns `a` and `b` of a file, by the ids of texts.

    WrongInput, with the lines, for ids that no text has, a text beside itself, a pair named twice
    in any order, and texts of two groups.
    """
    found: dict[frozenset[str], tuple[Pair, int]] = {}
    faults = []
    for line, row in read_columns(file, COLUMNS).records():
        a, b = row["a"], row["b"]
        fault = fault_of(a, b, texts)
        before = found.get(frozenset((a, b)))
        if not fault and before:
            fault = f"{a} and {b} are a pair in line {before[1]} already"
        if fault:
            faults.append(f"line {line}: {fault}")
            continue
        found[frozenset((a, b))] = Pair(a, b, texts[a].group), line
    refuse_faults(file, faults, NOT_READ)
    return tuple(pair for pair, _ in found.values())


def fault_of(a: str, b: str, texts: Mapping[str, Text], group: str = "") -> str:
    """Why two ids are no pair of a group ("": of any), "" if they are."""
    for id in (a, b):
        if id not in texts:
            return f"no text of the study has the id '{id}'"
    if a == b:
        return f"{a} is compared with itself"
    if texts[a].group != texts[b].group:
        return f"{a} is of group '{texts[a].group}' and {b} of '{texts[b].group}'"
    if group and texts[a].group != group:
        return f"{a} and {b} are of group '{texts[a].group}', and not of '{group}'"
    return ""
