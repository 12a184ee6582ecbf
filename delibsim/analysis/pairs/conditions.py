"""Treatments and models compared by the strengths of their texts, which carry their errors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from delibsim.analysis.pages.cells import decimals, interval, p_value
from delibsim.analysis.pairs.fitted import Compared, Fitted
from delibsim.analysis.pairs.panel import SPEAKING, few_topics
from delibsim.analysis.result import Result, make_table
from delibsim.domain.text import counted
from delibsim.measures.bradley_terry.stability import stretch
from delibsim.measures.bradley_terry.strengths import (
    Stretch,
    cluster_weights,
    contrast_of_strengths,
)
from delibsim.measures.inference.means import holm, mean_of_units

Array = NDArray[np.float64]
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


def conditions(compared: Compared, fits: Sequence[Fitted]) -> Result:
    """Every two treatments and every two models, contrasted within topics; of adaptive designs by
    the random part of the votes alone.
    """
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    for own in fits:
        for kind in KINDS:
            rows += _contrasts(compared, own.base, kind, notes)
    detail = "" if _known(compared) else UNKNOWN
    return make_table("pairs/conditions", rows, notes, detail="" if rows else detail)


def _known(compared: Compared) -> bool:
    """Whether it is known of any text under which treatment, or by which model, it was written."""
    return any(set(KINDS) & facts.keys() for facts in compared.facts.values())


def _contrasts(
    compared: Compared, own: Fitted, kind: str, notes: list[str]
) -> list[dict[str, Any]]:
    """The contrasts of one dimension and kind."""
    cells = _cells(compared, own, kind)
    names = {cell[1] for cell in cells if cell}
    if len(names) < 2:
        return []
    parts = _parted(own)
    if parts:
        notes.append(
            f"{own.dimension}: left out are topics whose texts no votes join: {', '.join(parts)}."
        )
        cells = [cell if cell and cell[0] not in parts else None for cell in cells]
    counts = own.counts.pooled() if own.settings.model.judges == "pooled" else own.counts
    factor = stretch(counts, own.settings.model, compared.seed, SPLITS)
    ordered = sorted(
        names, key=lambda name: (name in LAST, LAST.index(name) if name in LAST else 0, name)
    )
    rows: list[dict[str, Any]] = []
    for a, b in combinations(ordered, 2):
        base = {"dimension": own.dimension, "by": kind, "a": a, "b": b}
        rows += [base | row for row in _rows(own, cells, (a, b), factor)]
    for question in (LIKE, THESE):
        part = [row for row in rows if row["question"] == question]
        for row, p in zip(part, holm([row["p"] for row in part]), strict=True):
            row["p_holm"] = p
    return [row | {"verb": _verb(row, rows)} for row in rows]


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


@dataclass(frozen=True, eq=False)
class _Sessions:
    """The sessions under two conditions, in topics that have both: their mean strengths (k,) and
    the covariance of these (k, k), whether each is of the first condition, and its topic.
    """

    means: Array
    covariance: Array
    first: NDArray[np.bool_]
    topics: NDArray[Any]


def _sessions(own: Fitted, cells: Sequence[Cell | None], pair: tuple[str, str]) -> _Sessions | None:
    """None where no topic has both."""
    of_topic: dict[str, set[str]] = {}
    for cell in cells:
        if cell and cell[1] in pair:
            of_topic.setdefault(cell[0], set()).add(cell[1])
    both = {topic for topic, names in of_topic.items() if len(names) == 2}
    kept = [cell if cell and cell[0] in both and cell[1] in pair else None for cell in cells]
    names, weights = cluster_weights(kept)
    if not names:
        return None
    return _Sessions(
        means=weights @ np.nan_to_num(own.fit.scores),
        covariance=own.errors.covariance(weights),
        first=np.array([name == pair[0] for _, name, _ in names]),
        topics=np.array([topic for topic, _, _ in names], dtype=object),
    )


def _rows(
    own: Fitted,
    cells: Sequence[Cell | None],
    pair: tuple[str, str],
    factor: Stretch,
) -> Iterator[dict[str, Any]]:
    """The rows of two conditions, a row a question."""
    found = _sessions(own, cells, pair)
    if found is None:
        return
    level, reason = own.settings.level, "" if own.errors.is_maximum else own.errors.note
    votes = 2 * len(own.outcome) / len(own.ids)
    few = (
        f"few_votes: {votes:.1f} votes a text are too few for the size of a difference, which comes"
        " out too large"
    )
    few = few if votes < FEW_VOTES else ""
    names = list(dict.fromkeys(found.topics))
    size = {"topics": len(names), "sessions": len(found.means)}
    gaps = []
    for topic in names:
        of_topic = found.topics == topic
        one, other = (found.means[of_topic & marks].mean() for marks in (found.first, ~found.first))
        gaps.append(float(one - other) / factor.factor)
    if len(names) > 1:
        mean = mean_of_units(gaps, level)
        row: dict[str, Any] = {"question": LIKE, "estimate": mean.estimate, "p": np.nan}
        if not reason:
            error = float(np.hypot(mean.error, mean.estimate * factor.squared_error**0.5))
            row |= {"unit": "topic", "se": error, "df": mean.df, "p": mean.p}
        if not reason and not few:
            half = (mean.high - mean.low) / 2 * error / mean.error
            row |= {"low": mean.estimate - half, "high": mean.estimate + half}
        yield row | size | {"note": reason or few or few_topics(len(names))}
    if reason:
        yield {
            "question": THESE,
            "estimate": float(np.mean(gaps)),
            "p": np.nan,
            "note": reason,
        } | size
        return
    these = contrast_of_strengths(
        found.means, found.covariance, found.first, found.topics, factor, level
    )
    row = {"question": THESE, "estimate": these.estimate, "se": these.error, "unit": "session"}
    row |= {"se_of_strengths": these.of_strengths, "df": these.df, "p": these.p}
    if not few:
        row |= {"low": these.low, "high": these.high}
    yield row | size | {"note": these.note or few}


def _verb(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """What may be said of a contrast, by the answers to both questions."""
    own = {one["question"]: one for one in rows if (one["a"], one["b"]) == (row["a"], row["b"])}
    like, these = own.get(LIKE), own[THESE]
    if like and like["topics"] >= SPEAKING and like["p_holm"] < ALPHA:
        return STRONGER if like["estimate"] > 0 else WEAKER
    return ON_THESE if these["p_holm"] < ALPHA else ""


def told(result: Result) -> Iterator[str]:
    """What the table says, a sentence a contrast; nothing of contrasts without an error."""
    if not result.given:
        return
    by_pair: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in result.rows.to_dict("records"):
        key = tuple(row[name] for name in ("dimension", "by", "a", "b"))
        by_pair.setdefault(key, {})[row["question"]] = row
    for (dimension, kind, a, b), own in by_pair.items():
        these = own[THESE]
        row = own.get(LIKE, these) if these["verb"] != ON_THESE else these
        if row["p"] != row["p"]:
            continue
        under = "under " if kind == "treatment" else "by "
        texts = f"texts {under}{a} are {'stronger' if row['estimate'] > 0 else 'weaker'}"
        size = f"by {decimals(abs(row['estimate']))} log odds"
        ends = f"difference {decimals(row['estimate'])} {interval(row['low'], row['high'])}"
        if row["low"] != row["low"]:
            size, ends = "by how much cannot be said", "too few votes a text"
        error = f"p after Holm {p_value(row['p_holm'])}"
        topics = counted(int(row["topics"]), "topic")
        if row["verb"] in (STRONGER, WEAKER):
            yield f"{dimension}, over {topics}: {texts} than {under}{b}, {size} ({ends}, {error})."
        elif row["verb"] == ON_THESE:
            yield (
                f"{dimension}, on {'this topic' if row['topics'] == 1 else f'these {topics}'}:"
                f" {texts} than {under}{b}, {size} ({ends}, {error}); over topics like"
                f" {'this' if row['topics'] == 1 else 'these'} it is not clear."
            )
        else:
            yield (
                f"{dimension}, over {topics}: no clear difference of {a} and {b} ({ends}, {error})."
            )
