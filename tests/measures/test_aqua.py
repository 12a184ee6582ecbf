"""AQuA against the authors' own scored speeches, and against what its definition says of the ends
of its scale.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from delibsim.measures.aqua import HIGHEST, INDICATORS, LOWEST, PEOPLE, WEIGHTS, score, scores, sums

FILE = (
    Path(__file__).resolve().parents[2].parent / "shared" / "data" / "aqua" / "scored_vectors.json"
)
REFERENCE = Path(__file__).resolve().parents[1] / "reference" / "aqua.json"
labels_of = st.fixed_dictionaries({name: st.integers(0, 3) for name in INDICATORS})


@pytest.mark.parametrize("file", [REFERENCE, FILE], ids=["frozen", "shared"])
def test_the_authors_own_scores(file):
    if not file.is_file():
        pytest.skip(f"{file} is not here")
    known = json.loads(file.read_text(encoding="utf-8"))
    vectors = [(dict(zip(known["indicators"], v["labels"], strict=True)) if "indicators" in known else v["labels"], v["score"])
               for v in known["vectors"]]  # fmt: skip
    assert len(vectors) == 5
    for labels, published in vectors:
        assert score(labels) == pytest.approx(published, abs=1e-12)
    table = [[labels[name] for name in INDICATORS] for labels, _ in vectors]
    assert scores(table) == pytest.approx([published for _, published in vectors], abs=1e-12)


def test_the_ends_of_the_scale():
    best = {name: 3 if weight > 0 else 0 for name, weight in WEIGHTS.items()}
    worst = {name: 0 if weight > 0 else 3 for name, weight in WEIGHTS.items()}
    assert len(WEIGHTS) == 20
    assert sums([best[name] for name in INDICATORS]) == pytest.approx(HIGHEST, abs=1e-8)
    assert sums([worst[name] for name in INDICATORS]) == pytest.approx(LOWEST, abs=1e-8)
    assert (score(worst), score(best)) == (pytest.approx(0, abs=1e-8), pytest.approx(5, abs=1e-8))


@given(labels_of)
def test_the_scale_of_four_is_four_fifths_and_one_and_many_agree(labels):
    assert score(labels, scale=4) == pytest.approx(0.8 * score(labels))
    row = [labels[name] for name in INDICATORS]
    assert score(labels) == pytest.approx(scores([row, row])[1], abs=1e-12)
    assert scores(np.array(row).reshape(1, 1, 20)).shape == (1, 1)


def test_a_missing_label_is_no_zero():
    row = [0.0] * 19 + [math.nan]
    assert math.isnan(scores(row))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"frage": None}, "labels other than 0, 1, 2, 3: frage None"),
        ({"frage": 4}, "frage 4"),
        ({"frage": 1.5}, "frage 1.5"),
        ({"fragen": 1}, "unknown indicators: fragen"),
    ],
)
def test_labels_that_cannot_be_are_refused(change, fault):
    with pytest.raises(ValueError, match=fault):
        score({**dict.fromkeys(INDICATORS, 0), **change})


def test_an_indicator_left_out_is_named():
    with pytest.raises(ValueError, match="no label for vulgär, zusatzwissen"):
        score(dict.fromkeys(INDICATORS[:18], 0))
    with pytest.raises(ValueError, match="20 columns"):
        scores([[0] * 19])


def test_the_human_reference():
    assert (PEOPLE.mean, PEOPLE.sd, PEOPLE.n) == (2.980, 0.431, 910)
