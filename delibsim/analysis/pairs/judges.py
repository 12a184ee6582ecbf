"""Judges: their votes, who favours a place or contradicts itself, how they agree, at what cost; and
treatments and models compared by the strengths of their texts, which carry their errors.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.calls import cost_usd
from delibsim.analysis.pairs.beside import SPEAKING, few_topics
from delibsim.analysis.pairs.fitted import NAN, Compared, Fitted, errors_of, known, spread_of
from delibsim.analysis.report import sayings
from delibsim.analysis.result import Result, said, with_holm
from delibsim.domain.comparison import Vote
from delibsim.measures.bradley_terry.counts import Counts, both_orders, repeats, triads
from delibsim.measures.bradley_terry.fit import Fit, Model, fit
from delibsim.measures.bradley_terry.stability import jackknifed, stretch
from delibsim.measures.bradley_terry.strengths import (
    Stretch,
    cluster_weights,
    contrast_of_strengths,
    mid_ranks,
)
from delibsim.measures.bradley_terry.uncertainty import Interval, Uncertainty
from delibsim.measures.correlations import agreement_of_scores
from delibsim.measures.inference.means import mean_of_units
from delibsim.measures.reliability.ratings import krippendorff_alpha

Row = dict[str, Any]
KINDS = ("treatment", "model")
"""What texts are compared by, as their facts name it."""
LAST = ("basic", "none")
"""Treatments with which others are compared."""
LIKE, THESE = "topics like these", "these topics"
STRONGER, WEAKER, ON_THESE = "stronger", "weaker", "on_these_topics"
ALPHA = 0.05
STRETCHES = 10
UNKNOWN = "it is not known under which treatment the texts were written"
FEWEST_VOTES = 8
"""Votes a text below which differences are pushed up by more than can be taken off again."""
Cell = tuple[str, str, str]
"""Topic, condition and session of a text."""


def counts(compared: Compared, fits: Sequence[Fitted]) -> Iterator[Row]:
    """What was planned, asked, answered and used, by dimension and judge."""
    used = {own.dimension: _used(own) for own in fits}
    given: dict[tuple[str, str], list[Vote]] = {key: [] for key in compared.planned}
    for vote in compared.votes:
        given.setdefault((vote.judge, vote.dimension), []).append(vote)
    dimensions = list(dict.fromkeys(dimension for _, dimension in given))
    for judge, dimension in sorted(given, key=lambda key: dimensions.index(key[1])):
        votes = given[judge, dimension]
        missing = Counter(vote.missing.code for vote in votes if vote.missing)
        row: Row = {"dimension": dimension, "judge": judge, "asked": len(votes)}
        row["planned"] = compared.planned.get((judge, dimension), len(votes))
        row["answered"] = len(votes) - missing.total()
        row["used"] = used.get(dimension, {}).get(judge, 0)
        yield row | {"missing": ", ".join(f"{n} {code}" for code, n in missing.items())}


def _used(own: Fitted) -> dict[str, int]:
    """How many votes of each judge the fit used."""
    found, model = own.fit, own.settings.model
    kept = np.isin(own.first, found.kept) & np.isin(own.second, found.kept)
    if model.kind == "bt" and model.ties == "dropped":
        kept &= own.outcome != 0
    if model.judges != "pooled":
        kept &= np.isin(own.judge, found.counts.judge)
    elif not len(found.counts.votes):
        kept[:] = False
    numbers = np.bincount(own.judge[kept], minlength=len(own.judges))
    return {judge: int(n) for judge, n in zip(own.judges, numbers, strict=True)}


def groups(own: Fitted) -> Iterator[Row]:
    """Texts, pairs and votes of every group."""
    names = np.array(own.groups)
    of_votes = names[own.first] if len(own.first) else np.array([])
    for group in dict.fromkeys(own.groups):
        texts, votes = names == group, of_votes == group
        low = np.minimum(own.first[votes], own.second[votes])
        high = np.maximum(own.first[votes], own.second[votes])
        n = int(texts.sum())
        row: Row = {"dimension": own.dimension, "group": group, "texts": n}
        row["pairs"] = len(np.unique(low * len(names) + high))
        row |= {"votes": int(votes.sum()), "per_text": 2 * votes.sum() / n}
        row["ties"] = float((own.outcome[votes] == 0).mean())
        row["components"] = len(np.unique(own.fit.graph.component[texts]))
        yield row | {"spread": spread_of(own.fit.scores[texts])}


IDENTICAL = "runs_identical"


def runs(own: Fitted, compared: Compared) -> Iterator[Row]:
    """How alike the votes of several runs of the same sheet are, by judge; of sheets with a vote in
    each run.
    """
    asked = compared.asked
    for place, judge in enumerate(own.judges) if asked.runs > 1 else ():
        labels: dict[tuple[str, str], list[int]] = defaultdict(list)
        for vote, outcome, by in zip(own.votes, own.outcome, own.judge, strict=True):
            if by == place:
                labels[vote.sheet.a, vote.sheet.b].append(int(outcome))
        whole = [given for given in labels.values() if len(given) == asked.runs]
        found = repeats(np.array(whole).reshape(len(whole), asked.runs))
        n = len(whole) or NAN
        drawn = bool(asked.temperature) and len(whole) > 1
        row: Row = {"dimension": own.dimension, "judge": judge, "sheets": len(whole)}
        row |= {"runs": asked.runs, "equal": found.equal / n, "some": found.some / n}
        row["different"] = found.different / n
        row["alpha"] = krippendorff_alpha(whole) if whole else None
        yield row | {"note": IDENTICAL if drawn and found.identical else ""}


def judges(own: Fitted, compared: Compared) -> Iterator[Row]:
    """Place bias, threshold and discrimination of every judge, whether both orders agree, and what
    its votes cost.
    """
    base, model = own.base, own.settings.model
    errors = base.errors
    parts = _less_bias(base, model, base.counts, errors)
    parts["alpha"] = errors.alpha(own.settings.level)
    few = FEW_VOTES if _few(base) and not errors.reason else ""
    pooled = model.judges == "pooled"
    for place, judge in enumerate(["all"] if pooled else own.judges):
        counts = own.counts if pooled else own.counts.only(own.counts.judge == place)
        orders = both_orders(counts)
        row: Row = {"dimension": own.dimension, "judge": judge, "votes": int(counts.votes.sum())}
        for name, found in parts.items():
            row[name] = found.value[place]
            row[f"{name}_low"], row[f"{name}_high"] = found.low[place], found.high[place]
        row |= {"consistency": orders.consistency, "both_orders": len(orders.pairs)}
        row |= _costs(compared, own.dimension, None if pooled else judge)
        yield row | {"note": base.fit.judge_notes[place] or errors.reason or few}


def _costs(compared: Compared, dimension: str, judge: str | None) -> Row:
    """The votes of a judge, or of all by None, that are missing on a dimension; calls and cost."""
    votes = [vote for vote in compared.votes if judge in (None, vote.judge)]
    missing = sum(vote.dimension == dimension for vote in votes if vote.missing)
    answered = sum(bool(vote.outcome) for vote in votes)
    calls = compared.asked.calls if judge is None else compared.calls_by_judge.get(judge, [])
    spent = cost_usd(calls) if calls else None
    each = spent / answered if answered and spent is not None else None
    row = {"missing": missing, "calls": len(calls), "cost_usd": spent}
    return row | {"cost_per_vote": each}


def transitivity(own: Fitted) -> Iterator[Row]:
    """How often judges go round in circles."""
    number = {id: place for place, id in enumerate(own.ids)}
    for judge in own.judges:
        winners = majorities([vote for vote in own.votes if vote.judge == judge])
        won = [number[winner] for winner, _ in winners]
        lost = [number[loser] for _, loser in winners]
        found = triads(len(own.ids), won, lost)
        row = {"dimension": own.dimension, "judge": judge, "triangles": found.triangles}
        yield row | {"circular": found.circular, "share": found.share}


def majorities(votes: Sequence[Vote]) -> list[tuple[str, str]]:
    """Winner and loser of every pair of which more than half of the votes name one text."""
    tallies: dict[tuple[str, str], Counter[str | None]] = {}
    for vote in votes:
        pair = vote.sheet.pair.one, vote.sheet.pair.other
        tallies.setdefault(pair, Counter())[vote.winner] += 1
    found = []
    for (one, other), own in tallies.items():
        if 2 * own[one] > own.total():
            found.append((one, other))
        elif 2 * own[other] > own.total():
            found.append((other, one))
    return found


FEW, FEW_VOTES = 20, "too_few_votes"
"""Votes a text below which place bias and threshold are biased upwards, and have no interval."""
SPLITS = 20
"""Into how many pairs of halves votes are split where they are few; a quarter is enough else."""


def _few(own: Fitted) -> bool:
    """Whether there are so few votes a text."""
    return 2 * len(own.outcome) < FEW * len(own.ids)


def _less_bias(
    own: Fitted, model: Model, counts: Counts, errors: Uncertainty
) -> dict[str, Interval]:
    """Delta and theta of each judge (K,) with intervals about the values less their bias, which is
    that of the jackknife; without ends where votes are few.
    """
    level = own.settings.level
    delta, theta = errors.delta(level), errors.theta(level)
    shift, factor = np.full(len(delta.value), NAN), np.full(len(theta.value), NAN)
    if not _few(own) and not errors.reason:
        deltas, thetas = jackknifed(counts, model, own.seed, SPLITS // 4)
        shift, factor = deltas - delta.value, thetas / theta.value
    return {
        "delta": replace(delta, low=delta.low + shift, high=delta.high + shift),
        "theta": replace(theta, low=theta.low * factor, high=theta.high * factor),
    }


def order(one: Fitted) -> Iterator[Row]:
    """Place bias over all judges, and what it changes of the scores; `few` says whether there are
    so few votes that it is too large: then it has no interval.
    """
    own = one.base
    biased, plain = both_ways(own)
    reason = own.errors.reason
    errors = Uncertainty(biased, False, reason) if reason else errors_of(biased)
    model, together = replace(own.pooled, order=True), own.counts.pooled()
    delta = _less_bias(own, model, together, errors)["delta"]
    decided = own.outcome[own.outcome != 0]
    row: Row = {"dimension": own.dimension, "delta": delta.value[0]}
    row |= {"low": delta.low[0], "high": delta.high[0]}
    row["first"] = float((decided == 1).mean()) if len(decided) else NAN
    row |= {"delta_jackknife": NAN, "theta_jackknife": NAN}
    row["few"] = _few(own)
    if row["few"]:
        deltas, thetas = jackknifed(together, model, own.seed, SPLITS)
        row |= {"delta_jackknife": float(deltas[0]), "theta_jackknife": float(thetas[0])}
    row["r"] = agreement_of_scores(biased.scores, plain.scores).r
    changes = np.abs(known(biased.scores - plain.scores))
    row["largest"] = float(changes.max()) if changes.size else NAN
    few = FEW_VOTES if row["few"] else ""
    yield row | {"note": "one_order" if "one_order" in biased.flags else reason or few}


def both_ways(own: Fitted) -> tuple[Fit, Fit]:
    """The fits with place bias and without; all judges count as one."""
    models = [replace(own.pooled, order=order) for order in (True, False)]
    return fit(own.counts, models[0]), fit(own.counts, models[1])


def order_scores(own: Fitted) -> Iterator[Row]:
    """Every text with its score with and without place bias."""
    biased, plain = both_ways(own)
    with_order, without = (mid_ranks(one.scores, one.graph.component) for one in (biased, plain))
    for place, id in enumerate(own.ids):
        row: Row = {"dimension": own.dimension, "group": own.groups[place], "id": id}
        row |= {"with_order": biased.scores[place], "without_order": plain.scores[place]}
        yield row | {"rank_with": with_order[place], "rank_without": without[place]}


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
    factor = stretch(counts, own.settings.model, own.seed, STRETCHES)
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
    few = said("pairs/no_size", votes=votes) if votes < FEWEST_VOTES else ""
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
