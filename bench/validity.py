"""Measure whether what `delibsim analyze` says of a study is so: python bench/validity.py

Studies are drawn from a known truth, thousands of each kind, and analysed by the functions of the
command: the share of intervals that hold the truth, of tests that reject a true null, and of
studies in which a verb of the summary is wrong. `--tables` does the same for every other table,
with fewer studies, because tables take time; `--command` analyses ten of the studies with the
command itself and compares; `--designs` draws contrasts of facilitation from sessions of citizens.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from record import record

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from known_studies import (
    TREATMENTS,
    Known,
    claims_of_contrasts,
    contrasts_of,
    drawn,
    held,
    rejected,
    rows_of_index,
)
from known_tables import OF_TABLES

from delibsim.analysis.study.contrasts import contrasts
from delibsim.analysis.study.sample import PLANNED
from delibsim.analysis.study.study_table import DrawCounts, StudyTable
from delibsim.conduct.analysed import place_of, table_of
from delibsim.measures.inference.contrasts import flipped_p, free_p
from delibsim.measures.inference.means import holm
from delibsim.measures.inference.resampling import cluster_interval

DRAWS = DrawCounts(permutations=499, resamples=499, parametric=99)
VARIED = 0.07
"""The standard deviation between topics, or models, of what a treatment does."""
ALONE = {"shared": False, "correlation": 0.0}
GRID = {
    "2 topics": Known(topics=2, sd_topic=VARIED),
    "3 topics": Known(topics=3, sd_topic=VARIED),
    "4 topics": Known(topics=4, sd_topic=VARIED),
    "6 topics": Known(topics=6, sd_topic=VARIED),
    "12 topics": Known(topics=12, sd_topic=VARIED),
    "6 topics, independent draws": Known(sd_topic=VARIED, **ALONE),
    "12 topics, 11 models, correlation .43": Known(12, 11, sd_topic=VARIED, correlation=0.43),
    "equal topics, 1 model": Known(models=1),
    "equal topics, 3 models": Known(),
    "equal topics, 11 models": Known(models=11),
    "equal topics, 11 models, correlation .43": Known(models=11, correlation=0.43),
    "3 equal topics, correlation .43": Known(topics=3, correlation=0.43),
    "12 equal topics, 11 models, independent draws": Known(12, 11, **ALONE),
    "1 topic, 10 replicates": Known(topics=1, replicates=10),
    "models differ too": Known(sd_topic=VARIED, sd_model=VARIED),
    "12 topics, 11 models, models and blocks differ too": Known(
        12, 11, sd_topic=VARIED, sd_model=VARIED, sd_block=VARIED
    ),
    "effect of normative .03": Known(normative=0.03, sd_topic=VARIED),
    "effect of normative .03, 12 topics, 11 models": Known(12, 11, normative=0.03, sd_topic=VARIED),
    "skewed effects of 6 topics": Known(sd_topic=VARIED, skewed=True),
    "skewed effects of 12 topics": Known(12, sd_topic=VARIED, skewed=True),
    "equal topics, 11 models, seeds not in the table": Known(models=11, told=False),
    "a tenth missing": Known(sd_topic=VARIED, missing=0.1),
    "equal topics, 11 models, a tenth missing": Known(models=11, missing=0.1),
}
"""Kinds of studies: 6 topics, 3 models, 3 replicates, correlation .21 where nothing else is said;
effects of topics vary with an SD of .07, or are equal."""
COLUMNS = {
    "before interval": "before: interval holds",
    "interval": "interval holds",
    "interval here": "interval on these topics holds",
    "published interval": "published interval holds",
    "before p": "before: p rejects",
    "p": "p over topics rejects",
    "p here": "p on these topics rejects",
    "before wrong verb": "before: wrong verb",
    "wrong verb": "wrong raised or lowered",
    "wrong here": "wrong on these topics",
    "verb for an effect": "true effect has its verb",
}
"""Claims, and what the table calls the share of them."""
LEVELS = "one control at 3 levels"
"""Of 12 topics, 1 model, 5 replicates: sessions without interaction are compared at every level."""
TABLES = {
    "6 topics": GRID["6 topics"],
    "equal topics": GRID["equal topics, 3 models"],
    "equal topics, independent draws": Known(**ALONE),
    "6 models that differ": Known(models=6, sd_topic=VARIED, sd_model=VARIED),
    "effect .03, 12 topics": Known(12, normative=0.03, sd_topic=VARIED),
    "3 topics, 6 models that differ": Known(3, 6, sd_topic=VARIED, sd_model=VARIED),
}
"""The kinds of studies of which every table is made."""
ABOUT = """Whether what `delibsim analyze` says of the change of the index is so. In each row
studies are drawn from a known truth: sessions of a block vary with an SD of .11, those of a study
with .17; all models share the draws (people and orders) of a replicate, so that their differences
correlate by .21 where nothing else is said. 6 topics, 3 models and 3 replicates where nothing else
is said; what a treatment does varies between topics with an SD of .07, or is equal on all (equal
topics), and its mean is 0 where no effect is said. Shares of all three contrasts of treatments;
verbs are counted once a study, wrong if any of the three is. Before: the rule of version 0.1
(commit 4662682) on the same studies: percentile interval over topics, signs flipped model by model,
a verb where the interval excludes 0 and Holm's p of the flips is below .05. A test speaks only
where its null is true. 499 permutations. Aims: intervals .93 to .97, tests at most .06, wrong verbs
at most .05. With 2,000 studies the simulation error of .05 is .005 for verbs and about .003 for
three contrasts."""
ABOUT_TABLES = """The same for every other table of `delibsim analyze` with an interval or a test:
the share of 95% intervals (90% of equivalence) that hold the truth, and of tests at .05 that reject
a true null. Columns are kinds of studies, as above. A test of draws has its null where topics are
equal. `published` are the intervals of published studies, which stand in columns of their own.
Tables that have many rows or take long have fewer studies. The simulation error of .95 is .014 with
240 studies of one row."""


NUMBERS = ("estimate", "low", "high", "p_topics", "p_holm", "p_holm_draws")
SENTENCES = {
    " raised the ": "raised",
    " lowered the ": "lowered",
    " went with a ": "on_these_topics",
    ": no clear change in the ": "none",
}
"""What a sentence of the summary has, and the verb that it says."""
CLEAR = Known(12, 2, normative=0.15, sd_topic=0.05)
BY_COMMAND = {
    **{name: GRID[name] for name in ("2 topics", "3 topics", "6 topics", "12 topics")},
    "equal topics, 11 models": GRID["equal topics, 11 models"],
    "1 topic, 10 replicates": GRID["1 topic, 10 replicates"],
    "6 topics, independent draws": GRID["6 topics, independent draws"],
    "effect of normative .15, 12 topics": CLEAR,
    "effect of normative -.15, 12 topics": replace(CLEAR, normative=-0.15),
    "effect of normative .15, 4 topics": replace(CLEAR, topics=4),
}
ABOUT_COMMAND = """Ten of these studies as tables of one's own, each analysed by the whole command
(`delibsim analyze TABLE.csv --json --draws 499`): its JSON and the sentences of its report beside
the numbers and verbs of the functions, for the three contrasts of the index (normative against
none, basic against none, normative against basic)."""


def shares(known, claims, seeds):
    """The share of true values of each claim over as many studies."""
    found = defaultdict(list)
    for seed in range(seeds):
        for name, value in claims(drawn(known, seed)):
            found[name].append(value)
    return {name: float(np.mean(values)) for name, values in found.items()}


def of_contrasts(one):
    """The claims of the contrasts, now and before."""
    yield from claims_of_contrasts(one, DRAWS)
    if not one.known.missing:
        yield from before(one)


def before(one):
    """The claims of the rule of version 0.1: see ABOUT."""
    change = one.change.reshape(one.values.shape[1:])
    topics, models, replicates, _ = change.shape
    block = np.arange(topics * models).repeat(replicates)
    rows = []
    for a, b in PLANNED:
        sides = [change[..., TREATMENTS.index(name)] for name in (a, b)]
        apart = sides[0] - sides[1]
        if one.known.shared:
            each = np.arange(apart.size)
            p = flipped_p(apart.ravel(), block, each, DRAWS.permutations, seed=1)
        else:
            values = np.concatenate([side.ravel() for side in sides])
            first = np.repeat([True, False], apart.size)
            p = free_p(values, first, np.tile(block, 2), DRAWS.permutations, seed=1)
        names = np.arange(topics).repeat(models)
        ends = cluster_interval(apart.mean(axis=2).ravel(), names, DRAWS.resamples, 1)
        rows.append((apart.mean(), *ends, p, one.with_models(a, b), one.here(a, b)))
    wrong = False
    corrected = holm([row[3] for row in rows])
    for (estimate, low, high, p, truth, here), p_holm in zip(rows, corrected, strict=True):
        yield from held("before interval", low, high, truth)
        yield from rejected("before p", p, here)
        clear = (low > 0 or high < 0) and p_holm < 0.05
        wrong |= clear and np.sign(estimate) != np.sign(truth)
    yield "before wrong verb", wrong


def of_levels(shared, seeds):
    """The test on these topics, where one control of a draw serves three levels, such as rounds:
    with what it knows of that, and as if the levels were blocks of their own.
    """
    shape = topics, levels, replicates = 12, 3, 5
    count = int(np.prod(shape))
    topic, level, replicate = np.indices(shape).reshape(3, -1)
    blocks, draw = topic * levels + level, topic * replicates + replicate
    sessions = np.concatenate([np.arange(count), count + draw])
    first = np.repeat([True, False], count)
    found = defaultdict(list)
    for seed in range(seeds):
        rng = np.random.default_rng([5, seed])
        spoken = rng.normal(0, 0.1, count)
        silent = rng.normal(0, 0.1, topics * replicates)[draw]
        if shared:
            own = (spoken - silent, blocks)
            p = flipped_p(*own, draw, DRAWS.permutations, seed)
            before = flipped_p(*own, np.arange(count), DRAWS.permutations, seed)
        else:
            own = (np.concatenate([spoken, silent]), first, np.tile(blocks, 2))
            p = free_p(*own, DRAWS.permutations, seed, sessions)
            before = free_p(*own, DRAWS.permutations, seed)
        found["p here"].append(p < 0.05)
        found["blocks of their own"].append(before < 0.05)
    return {name: float(np.mean(values)) for name, values in found.items()}


def row(name, found, seeds):
    """A row of the table."""
    shown = {title: found.get(claim) for claim, title in COLUMNS.items()}
    print(f"{name:56}", *[f"{found.get(claim, np.nan):.3f}" for claim in COLUMNS], flush=True)
    return {"study": name, **shown, "studies": seeds}


def contrasts_table(rows, seeds):
    """The table of contrasts, for the kinds whose name has `rows` in it."""
    made = []
    for name, known in GRID.items():
        if rows in name:
            own = seeds // 4 if known.missing else seeds  # these need tables, which take time
            made.append(row(name, shares(known, of_contrasts, own), own))
    for shared in (True, False) if rows in LEVELS else ():
        found = of_levels(shared, seeds)
        alone = {"p here": found["blocks of their own"]}
        name = LEVELS if shared else f"{LEVELS}, independent draws"
        made.append(row(name, found, seeds))
        made.append(row(f"{name}, as blocks of their own", alone, seeds))
    return made


def tables_table(rows, seeds):
    """A row a claim of every table, a column a kind of studies."""
    kinds = [name for name in TABLES if rows in name]
    found = {name: {} for name in kinds}
    numbers = {}
    for claims, part in OF_TABLES.items():
        for name in kinds:
            shown = shares(TABLES[name], partial(claims, draws=DRAWS), seeds // part)
            print(f"{name:34}", {key: round(value, 3) for key, value in shown.items()}, flush=True)
            found[name] |= shown
            numbers |= dict.fromkeys(shown, seeds // part)
    return [
        {"claim": claim, **{name: found[name].get(claim) for name in kinds}, "studies": studies}
        for claim, studies in numbers.items()
    ]


def command_table(rows, seeds):
    """Ten studies, each analysed by the command: its JSON and its sentences beside the functions'
    numbers and verbs.
    """
    return [by_the_command(name, known) for name, known in BY_COMMAND.items() if rows in name]


def as_table_of_ones_own(study):
    """The study as the table that `delibsim analyze TABLE.csv` reads."""
    known = ["topic", "model", "treatment", "setting", "facilitation", "replicate", "seed"]
    known += ["family", "reasoning"]
    held = study.rows[study.rows["dri_change"].notna()]
    names = [name for name in known if name in held and held[name].notna().any()]
    return held[names].assign(pre=held["dri_pre"], post=held["dri_post"])


def by_the_command(name, known):
    """A row of that table."""
    one = drawn(known, 1)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        as_table_of_ones_own(one.study).to_csv(file, index=False)
        program = str(Path(sys.executable).with_name("delibsim"))
        command = [program, "analyze", str(file), "--json", "--draws", str(DRAWS.permutations)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        report = (Path(folder) / "table.analysis" / "report.md").read_text(encoding="utf-8")
    told = json.loads(done.stdout)["contrasts"]
    own = [row for row in told if row["outcome"] == "dri" and row["scale"] == "absolute"]
    functions, apart = contrasts_of(one, DRAWS), 0.0
    for said, row in zip(own, functions, strict=True):
        for key in (*NUMBERS, "p_draws" if known.shared else "p_free"):
            assert np.isnan(row[key]) == (said[key] is None), (name, key)
            if said[key] is not None:
                apart = max(apart, abs(said[key] - row[key]))
    sentences = []
    for line in report.splitlines():
        verbs = [verb for words, verb in SENTENCES.items() if words in line]
        if line.startswith("- ") and verbs and len(sentences) < len(own):
            sentences += verbs
    shown = {
        "study": name,
        "largest difference of a number": apart,
        "verbs in the JSON": ", ".join(row["verb"] for row in own),
        "verbs by the functions": ", ".join(row["verb"] for row in functions),
        "verbs in the sentences": ", ".join(sentences),
    }
    print(*shown.values(), sep=" | ", flush=True)
    return shown


POOL = ("topic=acp,ccps,bep,zukunft,fnqcj,auscj,fremantle,forestera", "treatment=normative")
SMALL = ("group.size=3", "rounds=1", "replicate=range(1,41)")
FACILITATED = ("none", "opening", "rounds")
DESIGNS = {
    "6 topics": {},
    "4 topics": {"topics": 4},
    "6 topics, two treatments": {"treatments": ("basic", "normative")},
    "6 topics, rounds add .25": {"added": 0.25},
}
ABOUT_DESIGNS = """Contrasts of facilitation (none, opening, rounds) in studies that are drawn from
320 sessions of the embedded citizen, held by `delibsim run` on eight topics with nobody to
facilitate: each level is given three sessions of each topic, so that no level has an effect, or
`rounds` the one that is added. Shares over studies: verbs are wrong if any of the three contrasts
has a wrong one; tests at .05 of a true null, and 95% intervals, over all contrasts. The first ten
studies of each kind are analysed by the command too (`delibsim analyze TABLE.csv --json`): of how
many all verbs are the same. Aims as above."""


def of_citizens(folder):
    """The sessions from which studies are drawn: index before and after, by topic."""
    program = str(Path(sys.executable).with_name("delibsim"))
    held = [program, "run", "-m", "-q", "study=pool", *POOL, *SMALL]
    subprocess.run(held, cwd=folder, check=True, capture_output=True)
    rows = table_of(place_of("pool", folder / "runs")).rows
    return rows[rows["dri_change"].notna()]


def designed(pool, seed, topics=6, treatments=("normative",), added=0.0):
    """A study of three replicates of each level, and of nothing that differs but `added`."""
    rng = np.random.default_rng([36, seed])
    places = list(product(treatments, FACILITATED, (1, 2, 3)))
    parts = []
    for topic in rng.choice(sorted(pool["topic"].unique()), topics, replace=False):
        own = pool[pool["topic"] == topic]
        rows = own.iloc[rng.choice(len(own), len(places), replace=False)]
        treatment, level, replicate = zip(*places, strict=True)
        parts.append(rows.assign(treatment=treatment, facilitation=level, replicate=replicate))
    rows = pd.concat(parts, ignore_index=True)
    rows["dri_post"] += added * (rows["facilitation"] == "rounds")
    rows["dri_change"] = rows["dri_post"] - rows["dri_pre"]
    rows["setting"] = "procedure.facilitation=" + rows["facilitation"]
    rows["facilitation"] = rows["facilitation"].mask(rows["facilitation"] == "none")
    names = ["topic", "model", "setting", "treatment", "facilitation", "replicate", "rounds"]
    kept = rows[[*names, "dri_pre", "dri_post", "dri_change"]]
    return StudyTable("drawn", kept.assign(status="complete", null=True), ())


def claims_of_designs(rows, added):
    """What the contrasts of facilitation claim, and whether it is so."""
    wrong, wrong_here = False, False
    for row in rows:
        truth = added * (row["a"].endswith("rounds") - row["b"].endswith("rounds"))
        yield from held("interval", row["low"], row["high"], truth)
        yield from rejected("p", row["p_topics"], truth)
        yield from rejected("p here", row["p_draws"], truth)
        right = "raised" if truth > 0 else "none"
        wrong |= row["verb"] in ("raised", "lowered") and row["verb"] != right
        wrong_here |= row["verb"] == "on_these_topics" and not truth
        if truth:
            yield "verb for an effect", row["verb"] == "raised"
    yield "wrong verb", wrong
    yield "wrong here", wrong_here


def designs_table(rows, seeds):
    """A row a kind of study drawn from sessions of citizens."""
    made = []
    with tempfile.TemporaryDirectory() as folder:
        pool = of_citizens(Path(folder))
        for name, kind in DESIGNS.items():
            found, same = defaultdict(list), 0
            for seed in range(seeds if rows in name else 0):
                study = designed(pool, seed, **kind)
                own = [row for row in rows_of_index(contrasts(study, DRAWS)) if "=" in row["a"]]
                for claim, value in claims_of_designs(own, kind.get("added", 0.0)):
                    found[claim].append(value)
                same += seed < 10 and told_verbs(study, Path(folder)) == [
                    row["verb"] for row in own
                ]
            shares_of = {claim: float(np.mean(values)) for claim, values in found.items()}
            if found:
                made.append(row(name, shares_of, seeds) | {"of ten, same by the command": same})
    empty = [title for title in made[0] if all(one[title] is None for one in made)]
    return [{title: one[title] for title in one if title not in empty} for one in made]


def told_verbs(study, folder):
    """The verbs that the command gives the contrasts of facilitation of a study."""
    file = folder / "drawn.csv"
    as_table_of_ones_own(study).to_csv(file, index=False)
    program = str(Path(sys.executable).with_name("delibsim"))
    command = [program, "analyze", str(file), "--json", "--draws", str(DRAWS.permutations)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    told = json.loads(done.stdout)["contrasts"]
    own = [one for one in told if (one["outcome"], one["scale"]) == ("dri", "absolute")]
    return [one["verb"] for one in own if "=" in one["a"]]


def main():
    """Print the tables and keep them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, help="studies a row: 2,000, or 240 of tables")
    parser.add_argument("--rows", default="", help="only the kinds with this in their name")
    parser.add_argument("--tables", action="store_true", help="every other table")
    parser.add_argument("--command", action="store_true", help="ten studies by the command itself")
    parser.add_argument("--designs", action="store_true", help="contrasts of facilitation")
    given = parser.parse_args()
    started = time.perf_counter()
    table, name, about = contrasts_table, "validity", ABOUT
    if given.command:
        table, name, about = command_table, "validity_command", ABOUT_COMMAND
    if given.tables:
        table, name, about = tables_table, "validity_tables", ABOUT_TABLES
    if given.designs:
        table, name, about = designs_table, "validity_designs", ABOUT_DESIGNS
    usual = 240 if given.tables or given.designs else 2000
    rows = table(given.rows, given.seeds or usual)
    print(f"{time.perf_counter() - started:.0f} s")
    if not given.rows:
        print(record(name, about, rows, ["numpy", "scipy"]))


if __name__ == "__main__":
    main()
