"""From the votes of comparisons to the scores of the texts of a study, and of each of its runs."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from delibsim.analysis.pairs.fitted import Compared, Fitted, Settings, fitted
from delibsim.asking.kinds.pair_texts import UNITS, kept_texts
from delibsim.asking.texts import texts_of_run
from delibsim.conduct.compare_report import compared_of
from delibsim.domain.annotation import Text, annotated
from delibsim.domain.comparison import TextScore
from delibsim.domain.run import Run
from delibsim.measures.bradley_terry.fit import Model
from delibsim.store.answers import ORIGINAL, AboutStudy, comparisons_about, unit_gathered
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
