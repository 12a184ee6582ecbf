"""Treatments and models compared by the strengths of their texts, which carry their errors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.pairs.beside import SPEAKING, few_topics
from delibsim.analysis.pairs.fitted import Compared, Fitted
from delibsim.analysis.report import sayings
from delibsim.analysis.result import Result, said, with_holm
from delibsim.measures.bradley_terry.stability import stretch
from delibsim.measures.bradley_terry.strengths import (
    Stretch,
    cluster_weights,
    contrast_of_strengths,
)
from delibsim.measures.inference.means import mean_of_units

Row = dict[str, Any]
KINDS = ("treatment", "model")
"""What texts are compared by, as their facts name it."""
LAST = ("basic", "none")
"""Treatments with which others are compared."""
LIKE, THESE = "topics like these", "these topics"
STRONGER, WEAKER, ON_THESE = "stronger", "weaker", "on_these_topics"
ALPHA = 0.05
SPLITS = 10
UNKNOWN = "it is not known under which treatment the texts were written"
FEW_VOTES = 8
"""Votes a text below which differences are pushed up by more than can be taken off again."""
Cell = tuple[str, str, str]
"""Topic, condition and session of a text."""


def conditions(own: Fitted, compared: Compared) -> Iterator[Row]:
    """Every two treatments and every two models, contrasted within topics; of adaptive designs by
    the random part of the votes alone.
    """
    for kind in KINDS:
        yield from _contrasts(compared, own.base, kind)


def notes_on_conditions(compared: Compared, fits: Sequence[Fitted]) -> Iterator[str]:
    """Which topics are left out."""
    for own in fits:
        for kind in KINDS:
            parts = _parted(own.base)
            if parts and len(_names(_cells(compared, own.base, kind))) > 1:
                yield said("pairs/parted", dimension=own.dimension, topics=", ".join(parts))


def why_none(compared: Compared) -> str:
    """Why there are no contrasts: it is not known of any text under which treatment, or by which
    model, it was written; "" where it is.
    """
    known = any(set(KINDS) & facts.keys() for facts in compared.facts.values())
    return "" if known else UNKNOWN


def _names(cells: Sequence[Cell | None]) -> set[str]:
    return {cell[1] for cell in cells if cell}


def _contrasts(compared: Compared, own: Fitted, kind: str) -> list[Row]:
    """The contrasts of one dimension and kind."""
    cells = _cells(compared, own, kind)
    names = _names(cells)
    if len(names) < 2:
        return []
    parts = _parted(own)
    cells = [cell if cell and cell[0] not in parts else None for cell in cells]
    counts = own.counts.pooled() if own.settings.model.judges == "pooled" else own.counts
    factor = stretch(counts, own.settings.model, own.seed, SPLITS)
    last = [name for name in LAST if name in names]
    rows: list[Row] = []
    for a, b in combinations([*sorted(names - set(last)), *last], 2):
        base = {"dimension": own.dimension, "by": kind, "a": a, "b": b}
        rows += [base | row for row in _rows(own, cells, (a, b), factor)]
    for row in with_holm(rows, "question"):
        row["verb"] = _verb(row, rows)
    return rows


def _cells(compared: Compared, own: Fitted, kind: str) -> list[Cell | None]:
    """Topic, condition and session of every text (n,); None for a text without them or without a
    score, and of models where the speakers of a session are of several.
    """
    found: list[Cell | None] = []
    several: dict[str, set[str]] = {}
    for id, group, score in zip(own.ids, own.groups, own.fit.scores, strict=True):
        facts = compared.facts.get(id, {})
        session = f"{facts.get('study', '')}/{facts.get('session', id)}"
        name = facts.get(kind, "")
        if name and not np.isnan(score):
            several.setdefault(session, set()).add(name)
            found.append((group, name, session))
        else:
            found.append(None)
    if any(len(names) > 1 for names in several.values()):
        return [None] * len(found)
    return found


def _parted(own: Fitted) -> list[str]:
    """The groups whose texts are of several components."""
    found = []
    names, component = np.array(own.groups), own.fit.graph.component
    for group in dict.fromkeys(own.groups):
        scored = (names == group) & ~np.isnan(own.fit.scores)
        if len(np.unique(component[scored])) > 1:
            found.append(group)
    return found


def _rows(
    own: Fitted, cells: Sequence[Cell | None], pair: tuple[str, str], factor: Stretch
) -> Iterator[Row]:
    """The rows of two conditions in the topics that have both, a row a question; none without such
    a topic.
    """
    of_topic: dict[str, set[str]] = {}
    for cell in cells:
        if cell and cell[1] in pair:
            of_topic.setdefault(cell[0], set()).add(cell[1])
    both = {topic for topic, names in of_topic.items() if len(names) == 2}
    kept = [cell if cell and cell[0] in both and cell[1] in pair else None for cell in cells]
    sessions, weights = cluster_weights(kept)
    if not sessions:
        return
    means, covariance = weights @ np.nan_to_num(own.fit.scores), own.errors.covariance(weights)
    first = np.array([name == pair[0] for _, name, _ in sessions])
    topics = np.array([topic for topic, _, _ in sessions], dtype=object)
    level, reason = own.settings.level, "" if own.errors.is_maximum else own.errors.note
    votes = 2 * len(own.outcome) / len(own.ids)
    few = said("pairs/no_size", votes=votes) if votes < FEW_VOTES else ""
    gaps = []
    for topic in dict.fromkeys(topics):
        own_topic = topics == topic
        one, other = (means[own_topic & marks].mean() for marks in (first, ~first))
        gaps.append(float(one - other) / factor.factor)
    base: Row = {"topics": len(gaps), "sessions": len(means), "p": np.nan}
    if len(gaps) > 1:
        mean = mean_of_units(gaps, level)
        row: Row = base | {"question": LIKE, "estimate": mean.estimate}
        if not reason:
            error = float(np.hypot(mean.error, mean.estimate * factor.squared_error**0.5))
            row |= {"unit": "topic", "se": error, "df": mean.df, "p": mean.p}
        if not reason and not few:
            half = (mean.high - mean.low) / 2 * error / mean.error
            row |= {"low": mean.estimate - half, "high": mean.estimate + half}
        yield row | {"note": reason or few or few_topics(len(gaps))}
    row = base | {"question": THESE, "estimate": float(np.mean(gaps)), "note": reason}
    if not reason:
        found = contrast_of_strengths(means, covariance, first, topics, factor, level)
        row |= {"estimate": found.estimate, "se": found.error, "unit": "session", "df": found.df}
        row |= {"se_of_strengths": found.of_strengths, "p": found.p, "note": found.note or few}
        if not few:
            row |= {"low": found.low, "high": found.high}
    yield row


def _verb(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """What may be said of a contrast, by the answers to both questions."""
    own = {one["question"]: one for one in rows if (one["a"], one["b"]) == (row["a"], row["b"])}
    like, these = own.get(LIKE), own[THESE]
    if like and like["topics"] >= SPEAKING and like["p_holm"] < ALPHA:
        return STRONGER if like["estimate"] > 0 else WEAKER
    return ON_THESE if these["p_holm"] < ALPHA else ""


def told_of_conditions(result: Result) -> Iterator[str]:
    """What the table says, a sentence a contrast; nothing of contrasts without an error."""
    chosen = []
    pairs = result.rows.groupby(["dimension", "by", "a", "b"], sort=False)
    for _, own in pairs:
        by_question = own.set_index("question", drop=False)
        on_these = by_question.loc[THESE, "verb"] == ON_THESE
        row = THESE if on_these or LIKE not in by_question.index else LIKE
        chosen.append(by_question.loc[[row]])
    if chosen:
        rows = pd.concat(chosen, ignore_index=True)
        yield from sayings("pairs", {"conditions": replace(result, rows=rows)}, "conditions")
