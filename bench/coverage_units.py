"""Measure what intervals and tests hold whose units are few or go together: python
bench/coverage_units.py

Order and place in summaries, expertise in debates, attrition of studies: drawn without any effect,
and given to the functions that make the tables. Run it by hand, never in CI; it takes some minutes.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from record import Value, record

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from known_studies import Known, drawn

from delibsim.analysis.debates.ratings import columns
from delibsim.analysis.debates.winner import expertise_contrasts
from delibsim.analysis.study.counts import attrition, told_of_attrition
from delibsim.analysis.study.study_table import DrawCounts, StudyTable
from delibsim.analysis.summaries.benchmark import place_of
from delibsim.domain.annotation import DIMENSIONS
from delibsim.domain.participant import SIDES
from delibsim.measures.summaries.gaps import within_slope
from delibsim.store.instruments.own_answers import Covariates

ABOUT = """Of studies without any effect, the share of 95% intervals that hold the truth, and of
sentences that are said: the table's own beside the same with units taken one by one (over
persons: least squares with clustered errors). order: opinions
rated in so many summaries, each in an order of its own. place: comparisons of so many pairs of
summaries, by five judges of each pair who are alike (a pair's chance that A wins is drawn, with an
intraclass correlation of .2). expertise, over persons: debates of so many persons, half of each
expertise, who differ (SD 4). attrition: of 6 topics and 3 models with 3 replicates 15% of sessions
fail, singly or, seven of ten of them, all replicates of a topic, model and treatment at once."""
Found = dict[str, list[bool]]


def order(opinions: int, runs: int, rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
    """The slope of representativeness on the place in the prompt."""
    own = rng.normal(size=opinions)
    values, places = [], []
    for _ in range(runs):
        values.append(own + rng.normal(size=opinions))
        places.append(rng.permutation(opinions) / (opinions - 1))
    units, blocks = np.tile(np.arange(opinions), runs), np.repeat(np.arange(runs), opinions)
    found = within_slope(np.concatenate(values), np.concatenate(places), units, blocks)
    yield "own", found.low <= 0 <= found.high


def place(pairs: int, judges: int, rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
    """The share of comparisons that A wins."""
    chance = np.repeat(rng.beta(2, 2, pairs), judges)
    leads = np.where(rng.random(len(chance)) < chance, 1, -1)
    given = dict.fromkeys(("rep", "inf", "neu", "pol"), np.nan) | {"rep": 3.0 - leads}
    table = pd.DataFrame(given).assign(log_ratio=0.0, pair=np.repeat(np.arange(pairs), judges))
    (row,) = place_of({"models": table}, ("pair",))
    yield "own", row["low"] <= 0.5 <= row["high"]
    yield "one by one", row["exact_low"] <= 0.5 <= row["exact_high"]


def expertise(debates: int, people: int, rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
    """Contrasts of groups of people, and of people with models, over the persons who debate."""
    each = 5
    debate = np.repeat(np.arange(debates), each)
    person = rng.permutation(np.arange(debates) % people)[debate]
    worth = 60 + rng.normal(0, 4, people)[person] + rng.normal(0, 6, debates)[debate]
    marks = {"human": worth, "model": 60 + rng.normal(0, 6, debates)[debate]}
    marks = {kind: own + rng.normal(0, 8, len(debate)) for kind, own in marks.items()}
    table = pd.DataFrame({name: np.full(len(debate), np.nan) for name in columns()}, dtype=object)
    table = table.assign(debate=debate.astype(str), motion="m", winner=SIDES[0], attentive=True)
    for side, kind in zip(SIDES, marks, strict=True):
        names = [f"human {one}" for one in person] if kind == "human" else "model 0"
        table = table.assign(**{side: names, f"{side}.kind": kind})
        table = table.assign(**{f"{side}.{name}": marks[kind] for name in DIMENSIONS})
    known = {f"human {one}": Covariates(expertise=float(one % 2)) for one in range(people)}
    found = expertise_contrasts(table, known)
    over = found[(found["outcome"] == "performance") & (found["unit"] == "person")]
    for row in over[over["low"].notna()].to_dict("records"):
        yield "own", row["low"] <= 0 <= row["high"]
        yield "one by one", not row["ols_p"] < 0.05


def failing(alike: float, seed: int) -> Iterator[tuple[str, bool]]:
    """Whether the summary says that attrition differs."""
    rng = np.random.default_rng([3, seed])
    rows = drawn(Known(), seed).study.rows.copy()
    cell = rows.groupby(["topic", "model", "treatment"]).ngroup().to_numpy()
    whole, single = rng.random(cell.max() + 1) < 0.15, rng.random(len(rows)) < 0.15
    missing = np.where(rng.random(len(rows)) < alike, whole[cell], single)
    rows.loc[missing, "status"] = "no run"
    rows.loc[missing, ["dri_pre", "dri_post", "dri_change"]] = np.nan
    found = attrition(StudyTable("known", rows, (), True), DrawCounts(permutations=499))
    yield "own", bool(list(told_of_attrition({"attrition": found})))
    yield "one by one", bool((found.rows["p"] < 0.05).any())


def row(what: str, found: Found) -> dict[str, Value]:
    """A row of the table."""
    shown: dict[str, Value] = {"what": what}
    for name in ("own", "one by one"):
        shown[name] = float(np.mean(found[name])) if name in found else None
    shown["n"] = len(found["own"])
    print(shown, flush=True)
    return shown


def counted(claims: Iterator[Iterator[tuple[str, bool]]]) -> Found:
    """The claims of all studies, by whose they are."""
    found: Found = {}
    for study in claims:
        for name, so in study:
            found.setdefault(name, []).append(bool(so))
    return found


def main() -> None:
    """Print and keep the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=400)
    repeats = parser.parse_args().repeats
    rng, rows = np.random.default_rng(5), []
    for own in ((10, 3), (20, 2), (20, 3), (40, 3)):
        found = counted(order(*own, rng) for _ in range(repeats))
        rows.append(row(f"order: {own[0]} opinions, {own[1]} summaries", found))
    for pairs in (8, 18, 40):
        found = counted(place(pairs, 5, rng) for _ in range(repeats))
        rows.append(row(f"place: {pairs} pairs", found))
    for own in ((24, 12), (60, 10)):
        found = counted(expertise(*own, rng) for _ in range(repeats // 4))
        rows.append(row(f"expertise: {own[0]} debates, {own[1]} persons", found))
    for alike, how in ((0.0, "singly"), (0.7, "together")):
        found = counted(failing(alike, seed) for seed in range(repeats // 4))
        rows.append(row(f"attrition, sentence: sessions fail {how}", found))
    print(record("coverage_units", ABOUT, rows, ["numpy", "scipy"]))


if __name__ == "__main__":
    main()
