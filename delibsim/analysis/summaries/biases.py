"""What of the scores is not merit: order of the input, place, scale use, kinship of judges."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.study.result import Result
from delibsim.analysis.summaries.judged import OVERALL, JudgedSet, frame
from delibsim.domain.judgment import DIMENSIONS, SCALE
from delibsim.domain.model_family import family_of
from delibsim.measures.summaries.gaps import place, t_mean, within_slope
from delibsim.measures.summaries.prediction import preferences

BIN = 20
"""Positions of a bin of the order of the input."""


def order(sets: Sequence[JudgedSet]) -> Result:
    """Whether opinions that stand later in the prompt are represented less."""
    rows = []
    for one in sets:
        table = _positions(one)
        for model, own in table.groupby("model", sort=False):
            found = within_slope(own["rep"], own["share"], own["opinion"], own["summary"])
            row = {"study": one.study, "model": model, "n": found.n, "opinions": found.clusters}
            row |= {"estimate": found.slope, "low": found.low, "high": found.high, "p": found.p}
            rows.append(row | {"note": found.note})
    columns = "study model n opinions estimate low high p note".split()
    return Result(
        name="order",
        title="Order of the opinions in the prompt",
        definition="How much the representativeness of an opinion changes from the first place of"
        " the prompt to the last, within opinion: least squares with opinion and summary held"
        " equal, errors clustered by opinion. Orders are drawn anew for each run.",
        source="docs/summaries.md",
        rows=frame(rows, columns),
        meanings={"estimate": "change from first to last, on 0..1"},
    )


def bins(sets: Sequence[JudgedSet]) -> Result:
    """Representativeness by the place in the prompt, in bins."""
    rows = []
    for one in sets:
        table = _positions(one)
        table["bin"] = table["position"] // BIN
        for _, own in table.groupby(["model", "bin"], sort=False):
            model, first = own["model"].iloc[0], int(own["bin"].iloc[0]) * BIN + 1
            row = {"study": one.study, "model": model, "first": first, "last": first + BIN - 1}
            row |= {"n": len(own), "score": float(own["rep"].mean())}
            row["se"] = float(own["rep"].std() / len(own) ** 0.5) if len(own) > 1 else np.nan
            rows.append(row)
    table = frame(rows, "study model first last n score se".split())
    return Result(
        name="order_bins",
        title="Representativeness by place in the prompt",
        definition=f"Mean and standard error in bins of {BIN} places.",
        source="https://arxiv.org/abs/2510.05154",
        rows=table.sort_values(["study", "model", "first"], ignore_index=True),
    )


def _positions(judged: JudgedSet) -> pd.DataFrame:
    """A row a rating of a whole summary: where its opinion stood (from 0), and where as a share."""
    known = judged.scored
    places = {}
    for summary, ids in judged.sources.items():
        for position, opinion in enumerate(ids):
            places[summary, opinion] = position, position / max(len(ids) - 1, 1)
    keys = list(zip(known["summary"], known["opinion"], strict=True))
    found = [places.get(key, (-1, np.nan)) for key in keys]
    known = known.assign(
        position=[position for position, _ in found],
        share=[share for _, share in found],
        model=known["summary"].map(judged.summaries["model"]),
    )
    return known[known["position"] >= 0]


def places(sets: Sequence[JudgedSet]) -> Result:
    """Whether judges favour the summary that is shown as A, and what is left at equal length."""
    table = comparisons_of(sets)
    people = table["people"].astype(bool)
    return place_of({"models": table[~people], "people": table[people]})


def place_of(comparisons: Mapping[str, pd.DataFrame]) -> Result:
    """The table of `places`, from the comparisons of each kind of judge: 1..5 by dimension, and
    `log_ratio`, the log of the words of A over those of B.
    """
    rows = []
    for judges, given in comparisons.items():
        for name in DIMENSIONS:
            known = given[given[name].notna()]
            if not len(known):
                continue
            lead = 3 - known[name].to_numpy(dtype=float)
            first, second = int((lead > 0).sum()), int((lead < 0).sum())
            found = place(first, first + second)
            row: dict[str, Any] = {"judges": judges, "dimension": name}
            row |= {"n": len(known), "ties": len(known) - first - second, "share": found.share}
            row |= {"low": found.low, "high": found.high, "p": found.p}
            intercept, slope, error = _at_equal_length(lead, known["log_ratio"].to_numpy(float))
            row |= {"at_equal_length": intercept, "se": error, "per_log_length": slope}
            rows.append(row)
    columns = ("judges dimension n ties share low high p at_equal_length se per_log_length").split()
    return Result(
        name="place",
        title="Does it matter which summary is shown as A?",
        definition="Of the comparisons that prefer one, the share that prefers A, with exact"
        " interval and p. At equal length: the mean preference for A from -2 to 2 where both have"
        " as many words, and what one log unit of more words adds (least squares).",
        source="docs/summaries.md",
        rows=frame(rows, columns),
        meanings={"n": "comparisons", "ties": "those that call both the same"},
        why_not="" if rows else "not_asked",
        detail="" if rows else "Nobody was asked to compare two summaries.",
    )


def strengths(sets: Sequence[JudgedSet]) -> Result:
    """How strong summarisers are in comparisons, raw and with place and length held equal."""
    table = comparisons_of(sets)
    writers = pd.concat([one.summaries["model"] for one in sets])
    writers = writers[~writers.index.duplicated()]
    names = list(dict.fromkeys(writers))
    numbers = {name: number for number, name in enumerate(names)}
    rows, notes = [], []
    for dimension in DIMENSIONS:
        known = table[table[dimension].notna()]
        if not len(known):
            continue
        a, b = (known[side].map(writers).map(numbers).to_numpy() for side in ("a", "b"))
        said = np.sign(3 - known[dimension].to_numpy(dtype=float)).astype(int)
        found = preferences(a, b, said, known["log_ratio"].to_numpy(float), len(names))
        apart = a != b
        for number, name in enumerate(names):
            lead = np.concatenate([said[apart & (a == number)], -said[apart & (b == number)]])
            row: dict[str, Any] = {"dimension": dimension, "model": name, "n": len(lead)}
            share = float(((lead > 0) + (lead == 0) / 2).mean()) if len(lead) else np.nan
            row |= {"win_rate": share, "strength": float(found.strengths[number])}
            rows.append(row | {"se": float(found.errors[number]), "note": found.note})
        if not found.note:
            notes.append(
                f"{dimension}: place {found.place:+.3f} (SE {found.place_error:.3f}), a log unit of"
                f" length {found.length:+.3f} (SE {found.length_error:.3f}), in log odds."
            )
    return Result(
        name="strengths",
        title="Strengths of summarisers in comparisons",
        definition="Win rate: the share of comparisons with other summarisers that were won, ties"
        " as half. Strength: log odds about their mean by Davidson's model of ties, with the"
        " advantage of A and the log ratio of words held equal; all judges together.",
        source="https://doi.org/10.1080/01621459.1970.10481082",
        rows=frame(rows, "dimension model n win_rate strength se note".split()),
        meanings={"n": "comparisons with other summarisers"},
        notes=notes,
        why_not="" if rows else "not_asked",
        detail="" if rows else "Nobody was asked to compare two summaries.",
    )


def consistency(sets: Sequence[JudgedSet]) -> Result:
    """How far the two answers to a pair mirror each other that was asked both ways round."""
    table = comparisons_of(sets)
    rows = []
    turned = table.assign(a=table["b"], b=table["a"])
    keys = ["study", "judge", "opinion", "a", "b"]
    both = table.merge(turned, on=keys, suffixes=("", "_turned"))
    both = both[both["a"] < both["b"]]
    for judge, own in both.groupby("judge", sort=False):
        for name in DIMENSIONS:
            known = own[own[name].notna() & own[f"{name}_turned"].notna()]
            if len(known):
                lead = 3 - known[name]
                back = 3 - known[f"{name}_turned"]
                mirrored = float((lead == -back).mean())
                agree = float((np.sign(lead) == -np.sign(back)).mean())
                row = {"judge": judge, "dimension": name, "n": len(known)}
                rows.append(row | {"mirrored": mirrored, "same_winner": agree})
    return Result(
        name="consistency",
        title="Pairs asked both ways round",
        definition="The share of pairs whose two answers mirror each other (A much better, then B"
        " much better), and that name the same winner or both a tie.",
        source="docs/summaries.md",
        rows=frame(rows, "judge dimension n mirrored same_winner".split()),
        meanings={"n": "pairs asked both ways"},
        why_not="" if rows else "not_asked",
        detail="" if rows else "No pair was asked both ways round: judge ask --both-ways.",
    )


def scale_use(sets: Sequence[JudgedSet]) -> Result:
    """How judges use the scale: shares of each rating, spread, and how often all four are equal."""
    table = pd.concat([one.ratings for one in sets], ignore_index=True)
    table = table[~table["control"]]
    rows = []
    for judge, own in table.groupby("judge", sort=False):
        whole = own.dropna(subset=list(DIMENSIONS))
        given = whole[list(DIMENSIONS)].to_numpy(dtype=float)
        equal = (given == given[:, :1]).all(axis=1).mean() if len(given) else np.nan
        for name in DIMENSIONS:
            values = own[name].dropna()
            if not len(values):
                continue
            row = {"judge": judge, "dimension": name, "n": len(values)}
            row |= {"mean": float(values.mean()), "sd": float(values.std())}
            for level in range(SCALE[0], SCALE[1] + 1):
                row[f"share_{level}"] = float((values == level).mean())
            row["all_four_equal"] = float(equal)
            row["note"] = "no_variance" if values.nunique() < 2 else ""
            rows.append(row)
    shares = [f"share_{level}" for level in range(SCALE[0], SCALE[1] + 1)]
    return Result(
        name="scale_use",
        title="How judges use the scale",
        definition="Mean and standard deviation of ratings from 1 to 5, the share of each, and the"
        " share of sittings with four equal ratings.",
        source="docs/summaries.md",
        rows=frame(
            rows, ["judge", "dimension", "n", "mean", "sd", *shares, "all_four_equal", "note"]
        ),
    )


def kinship(sets: Sequence[JudgedSet]) -> Result:
    """Whether judges favour summaries by models of their own family."""
    rows = []
    for one in sets:
        writers = {name: family_of(name, own) for name, own in one.models.items()}
        table = one.scored.assign(model=one.scored["summary"].map(one.summaries["model"]))
        table["cell"] = table["summary"].map(one.summaries["cell"])
        for judge, settings in one.judges.items():
            family = family_of(judge, settings)
            kin = [name for name, own in writers.items() if own == family]
            others = [j for j, own in one.judges.items() if family_of(j, own) != family]
            if not kin or not others or len(kin) == table["model"].nunique():
                continue
            own_lead = _lead(table[table["judge"] == judge], kin)
            their_lead = _lead(table[table["judge"].isin(others)], kin)
            found = t_mean((own_lead - their_lead).to_numpy(float))
            row: dict[str, Any] = {"study": one.study, "judge": judge, "family": family}
            row["n"] = found.n
            row |= {"estimate": found.mean, "low": found.low, "high": found.high, "p": found.p}
            rows.append(row | {"note": found.note})
    return Result(
        name="kinship",
        title="Do judges favour their own family?",
        definition="The overall score that a judge gives models of its family less that of others,"
        " less the same of judges of other families, within each size, draw and run; their mean"
        " with t interval.",
        source="docs/summaries.md",
        rows=frame(rows, "study judge family n estimate low high p note".split()),
        meanings={"n": "sizes, draws and runs"},
        why_not="" if rows else "not_given",
        detail=""
        if rows
        else "It needs a judge of a summariser's family and a judge of another one.",
    )


def _lead(table: pd.DataFrame, kin: Sequence[str]) -> pd.Series:
    """The mean score of kin less that of others, by cell."""
    own = table["model"].isin(kin)
    return table[own].groupby("cell")[OVERALL].mean() - table[~own].groupby("cell")[OVERALL].mean()


def comparisons_of(sets: Sequence[JudgedSet]) -> pd.DataFrame:
    """All comparisons, with the log ratio of the words of A to those of B."""
    parts = []
    for one in sets:
        words = one.summaries["words"].clip(lower=1)
        own = one.comparisons.assign(study=one.study)
        ratio = own["a"].map(words).astype(float) / own["b"].map(words).astype(float)
        parts.append(own.assign(log_ratio=np.log(ratio)))
    return pd.concat(parts, ignore_index=True)


def _at_equal_length(lead: np.ndarray, ratio: np.ndarray) -> tuple[float, float, float]:
    """Intercept and slope of preference on log length, and the error (HC1) of the intercept."""
    nan = float("nan")
    if len(lead) < 4:
        return nan, nan, nan
    x = np.column_stack([np.ones(len(lead)), ratio])
    if np.linalg.matrix_rank(x) < 2:
        return nan, nan, nan
    bread = np.linalg.inv(x.T @ x)
    slopes = bread @ x.T @ lead
    residuals = lead - x @ slopes
    meat = (x * (residuals**2)[:, None]).T @ x
    error = float(np.sqrt((bread @ meat @ bread)[0, 0] * len(lead) / (len(lead) - 2)))
    return float(slopes[0]), float(slopes[1]), error
