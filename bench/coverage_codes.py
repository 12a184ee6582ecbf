"""Measure how often intervals of `code effect` hold the truth: python bench/coverage_codes.py

Sessions of ten texts; what people would say of a text is an effect of .3 in every second session
and noise, of which a share (ICC) is the session's. Models follow people with correlation r, and
overrate the treated texts by half a standard deviation. People code a fifth of the texts, drawn
with equal chances or, of texts that models rate high, with three times the chance of others. Every
study goes through the functions of the command, from its table on.
"""

import argparse
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
from record import Value, record
from threadpoolctl import threadpool_limits

from delibsim.analysis.coding.effect import CodedTexts, effect_rows
from delibsim.analysis.coding.effect_files import texts_in
from delibsim.analysis.coding.effect_plan import plan_of
from delibsim.measures.corrected import corrected, units

SESSIONS, R, ICC, DRAWS = (24, 60), (0.3, 0.6, 0.9), (0.0, 0.2), ("equal", "by model")
TEXTS, EFFECT, BIAS, SHARE, LATER = 10, 0.3, 0.5, 0.2, 0.5
ABOUT = """Of 95% intervals of the difference between two treatments in what people would code, the
share that held the truth: by people alone, corrected with the best weight, and corrected with the
weight 1; how wide the corrected interval is beside that of people alone; the share of intervals of
models alone that held the truth; and the error that `code plan` foretells from a fifth of the texts
for half of them, beside the one that then came. 95 of 100 within simulation error: .93 to .97 of
400 studies, .936 to .964 of 1,000."""


def study(rng: np.random.Generator, sessions: int, r: float, icc: float, draw: str, share: float):
    """The lines of the table of one study."""
    n = sessions * TEXTS
    session = np.repeat(np.arange(sessions), TEXTS)
    treated = session % 2
    of_session = rng.normal(0, np.sqrt(icc), sessions)[session]
    noise = of_session + rng.normal(0, np.sqrt(1 - icc), n)
    human = EFFECT * treated + noise
    model = r * noise + np.sqrt(1 - r**2) * rng.normal(size=n) + BIAS * treated
    chance = np.full(n, share)
    if draw == "by model":
        chance = np.where(model > np.median(model), 1.5, 0.5) * share
    drawn = rng.random(n) < chance
    for i in range(n):
        code = repr(float(human[i])) if drawn[i] else ""
        arm = "normative" if treated[i] else "none"
        yield f"{i},{session[i]},{arm},{float(model[i])!r},{code},{chance[i]}"


def read(lines: Iterator[str], folder: str) -> CodedTexts:
    """The texts of a table, as the command reads them."""
    file = Path(folder, "codes.csv")
    head = "text,session,treatment,model,human,chance"
    file.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    return texts_in(file, {})[0]


def covered(case: tuple[int, float, float, str], repeats: int, folder: str) -> dict[str, Value]:
    """One row: how the intervals of one kind of study fare."""
    rng = np.random.default_rng([case[0], int(10 * case[1]), int(10 * case[2]), len(case[3])])
    held = {"people": [], "models": [], "corrected": [], "weight 1": []}
    widths = {"people": [], "corrected": []}
    foretold, later = [], []
    for _ in range(repeats):
        texts = read(study(rng, *case, SHARE), folder)
        for row in effect_rows(texts):
            held[row["row"]].append(row["low"] <= EFFECT <= row["high"])
            if row["row"] in widths:
                widths[row["row"]].append(row["high"] - row["low"])
        plain = corrected(known(texts), [0, 1], [1.0])
        held["weight 1"].append(plain.low <= EFFECT <= plain.high)
        rows = plan_of([texts], None).results["plan"].rows
        foretold.append(float(rows[rows["share"] == LATER]["error"].iloc[0]))
        again = read(study(rng, *case[:3], "equal", LATER), folder)
        later.append(corrected(known(again), [0, 1]).estimate)
    sessions, r, icc, draw = case
    return {
        "study": f"{sessions} sessions, r {r}, ICC {icc}, {draw} chances",
        **{name: float(np.mean(values)) for name, values in held.items()},
        "width_beside_people": float(np.mean(widths["corrected"]) / np.mean(widths["people"])),
        "foretold_error": float(np.sqrt(np.mean(np.square(foretold)))),
        "error_that_came": float(np.std(later)),
    }


def known(texts: CodedTexts):
    """The units of two treatments."""
    x = [[1.0, float(one == "normative")] for one in texts.treatment]
    proxies = np.column_stack(list(texts.proxies.values()))
    return units(x, proxies, texts.people, texts.chance, texts.session)


def main() -> None:
    """Print and keep the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1_000)
    options = parser.parse_args()
    with threadpool_limits(1), tempfile.TemporaryDirectory() as folder:
        cases = product(SESSIONS, R, ICC, DRAWS)
        rows = [covered(case, options.repeats, folder) for case in cases]
    print(record("coverage_codes", ABOUT, rows, ["numpy"]))


if __name__ == "__main__":
    main()
