"""`delibsim agreement`: any table of codes, what is said of it, and what is refused."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from delibsim import WrongInput, agreement
from delibsim.analysis.agreement.agreement import chance_shrunk

KEPT = json.loads((Path(__file__).parents[1] / "reference" / "agreement.json").read_text())
FOUR = KEPT["codes"]["A"]["rows"].split()
NAMES = ("anna", "ben", "cleo", "dan")
GOLDEN = {(row["coefficient"], row["weighting"]): row for row in KEPT["rows"] if row["data"] == "A"}


def lines(*rows):
    return "\n".join(rows) + "\n"


@pytest.fixture
def write(home):
    """Write a CSV file of these rows; its name."""

    def written(*rows, name="codes.csv"):
        (home / name).write_text(lines(*rows), encoding="utf-8")
        return name

    return written


@pytest.fixture
def wide(write):
    """Four coders and twelve texts, a row a text."""
    rows = [f"t{i},{','.join(row.replace('.', ' '))}" for i, row in enumerate(FOUR)]
    return write(f"id,{','.join(NAMES)}", *rows)


@pytest.fixture
def long(write):
    """The same codes, a row a code, in another order; 2 is written 2.0."""
    rows = ["level;text;coder"]
    for i, row in enumerate(FOUR):
        for name, level in zip(NAMES, row, strict=True):
            rows.append(f"{'2.0' if level == '2' else level.replace('.', 'NA')};t{i};{name}")
    return write(rows[0], *reversed(rows[1:]), name="long.csv")


def values(answer):
    found = {}
    for row in answer.json["dimensions"][0]["rows"]:
        found[row["coefficient"], row["weighting"]] = row
    return found


def test_every_coefficient_has_its_interval_and_the_method_of_it(delibsim, wide):
    answer = delibsim("agreement", wide, "--weights", "linear", "--levels", "1,2,3,4,5", "--json")
    assert answer.code == 0
    found = values(answer)
    for kind, row in found.items():
        if kind in GOLDEN:
            assert row["value"] == pytest.approx(GOLDEN[kind]["value"], abs=1e-9)
        assert row["low"] < row["value"] < row["high"]
        assert row["method"] == ("bootstrap" if kind[0] == "alpha" else "t")
    assert len(set(found) & set(GOLDEN)) == 4
    assert found["ac", "linear"]["word"] == "substantial"


def test_a_row_a_code_gives_the_same_as_a_row_a_text_and_as_a_row_a_coder(
    delibsim, wide, long, write
):
    columns = zip(*FOUR, strict=True)
    turned = [f"{name},{','.join(codes)}" for name, codes in zip(NAMES, columns, strict=True)]
    texts = [f"t{i}" for i in range(len(FOUR))]
    rows = write(f"coder,{','.join(texts)}", *turned, name="rows.csv")
    expected = values(delibsim("agreement", wide, "--scale", "nominal", "--json"))
    for words in ((long,), (rows, "--coders-in-rows")):
        found = values(delibsim("agreement", *words, "--scale", "nominal", "--json"))
        for kind, row in found.items():
            assert row["value"] == pytest.approx(expected[kind]["value"]), (words, kind)
            assert row["error"] == pytest.approx(expected[kind]["error"]), (words, kind)


@pytest.mark.parametrize(
    ("rows", "code", "said"),
    [
        (("id,anna", "a,1", "b,0"), 4, "one_coder (only one coder gave codes): all"),
        (("id,anna,ben", "a,1,", "b,,0"), 4, "no_text_coded_twice"),
        (("id,anna,ben", "a,1,1", "b,1,1"), 3, "one_category (all ratings are the same): Gwet's"),
        (("id,anna,ben", "a,,", "b,,"), 4, "undefined: no_text_coded_twice"),
    ],
)
def test_what_is_undefined_is_named_and_ends_with_3_or_4(delibsim, write, rows, code, said):
    answer = delibsim("agreement", write(*rows))
    assert (answer.code, answer.err) == (code, "")
    assert said in answer.out
    assert not re.search(r"\bnan\b", answer.out, re.IGNORECASE)
    assert delibsim("agreement", "codes.csv", "--json").json["dimensions"]


def test_clusters_are_resampled_whole_and_few_are_warned_of(delibsim, write):
    rows = []
    for i in range(60):
        rows.append(f"{i},{i // 10 % 2},{i // 10 % 2 if i < 40 else 0},debate {i // 10}")
    file = write("id,anna,ben,debate", *rows)
    answer = delibsim("agreement", file, "--by", "debate", "--draws", "200", "--json")
    assert {row["method"] for row in values(answer).values()} == {"cluster bootstrap"}
    clustered = values(answer)["ac", "identity"]
    plain = write("id,anna,ben", *(row.rpartition(",")[0] for row in rows), name="plain.csv")
    alone = values(delibsim("agreement", plain, "--draws", "200", "--json"))["ac", "identity"]
    assert clustered["error"] > 1.5 * alone["error"]
    out = delibsim("agreement", file, "--by", "debate", "--draws", "200").out
    assert "200 resamples of 6 values of debate" in out
    assert "warning: with 6 of them the intervals are too short" in out
    # Without draws it is by t over debates, which holds with few of them: nothing is warned of.
    over = delibsim("agreement", file, "--by", "debate", "--json")
    assert {row["method"] for row in values(over).values()} == {"clusters"}
    out = delibsim("agreement", file, "--by", "debate").out
    assert "by t over the 6 values of debate" in out
    assert "with 6 of them" not in out
    one = write("id,anna,ben,debate", "a,1,1,x", "b,0,1,x", name="one.csv")
    answer = delibsim("agreement", one, "--by", "debate")
    assert "no interval: one_cluster" in answer.out


def test_each_dimension_has_its_own_levels_and_table(delibsim, write):
    rows = ["text,coder,dimension,level"]
    for i in range(6):
        for coder in ("anna", "ben"):
            rows += [f"t{i},{coder},groups,{i % 3}", f"t{i},{coder},reasons,{i % 2}"]
    file = write(*rows)
    answer = delibsim(
        "agreement", file, "--levels", "groups=0,1,2; reasons=0,1", "--scale", "ordinal", "--json"
    )
    found = {one["name"]: one["levels"]["labels"] for one in answer.json["dimensions"]}
    assert found == {"groups": ["0", "1", "2"], "reasons": ["0", "1"]}
    answer = delibsim("agreement", file, "--levels", "group=0,1,2")
    assert answer.code == 2
    assert "unknown dimension 'group'; did you mean groups" in answer.err


def test_a_weighting_of_ones_own_is_read_from_a_file(delibsim, wide, write):
    matrix = write("1,.5,0", ".5,1,.5", "0,.5,1", name="weights.csv")
    small = write("id,a,b", "t,0,1", "u,1,1", "v,2,2", "w,0,2", name="small.csv")
    own = values(delibsim("agreement", small, "--weights", matrix, "--json"))
    linear = values(delibsim("agreement", small, "--weights", "linear", "--json"))
    assert own["ac", "own"]["value"] == pytest.approx(linear["ac", "linear"]["value"])
    answer = delibsim("agreement", wide, "--weights", matrix)
    assert (answer.code, "each of the 5 levels, and not 3 x 3" in answer.err) == (2, True)


WIDE = (
    f"id,{','.join(NAMES)}",
    *(f"t{i},{','.join(row.replace('.', ' '))}" for i, row in enumerate(FOUR)),
)
TWO = KEPT["codes"]["D"]["rows"].split()
PAIR = ("id,a,b", *(f"{i},{row[0]},{row[1]}" for i, row in enumerate(TWO)))
NAMED = ("post,who,verdict", "p1,x,1", "p1,y,1", "p2,x,0", "p2,y,1")
SAID = {
    "what was taken for what": (
        ("id,anna,ben,note", "a,1,1,x", "b,1,0,y", "c,,,z", "d,0,,z", "e,0,0,"), (),
        ("One row a text, named by 'id', one column a coder. Not used: note.", "2 coders (anna and ben), 4 texts, 7 codes, 1 missing",
         "left out: 1 text without any code", "1 text with one code only", "levels (those that occur): 0, 1"),
    ),
    "coders in rows": (("name,t1,t2,t3", "anna,1,0,1", "ben,1,1,1"), ("coder=name", "--coders-in-rows"), ("2 coders (anna and ben), 3 texts",)),
    "numbers as names": (WIDE, (), ("take them for names",)),
    "numbers as names by weights": (WIDE, ("--weights", "identity"), ("take them for names",)),
    "names by the user": (WIDE, ("--scale", "nominal"), ("not: take them for names",)),
    "numbers in order": (WIDE, ("--scale", "ordinal"), ("not: take them for names",)),
    "names": (("id,anna,ben", "a,yes,yes", "b,no,yes", "c,perhaps,no"), (), ("not: take them for names",)),
    "levels that nobody used": (PAIR, ("--weights", "linear"), ("a level that nobody used would change AC", "0.676")),
    "levels that are declared": (PAIR, ("--weights", "linear", "--levels", "0,1,2,3"), ("not: nobody used", "0.799")),
    "perfect agreement": (("id,anna,ben", "a,1,1", "b,0,0", "c,1,1"), (), ("1.000, 1.000", "an interval has no width where nothing varies")),
    "one dissent": (("id,anna,ben", *(f"{i},0,{int(i == 7)}" for i in range(40))), (), ("coders agree in 98% of pairs, yet kappa and alpha are low: 99% of all",)),
    "other names": (NAMED, ("text=post", "coder=who", "level=verdict"), ("texts by 'post', coders by 'who', codes in 'verdict'",)),
    "row names": ((",id,a,b", *(f"{i},t{i},{i % 2},1" for i in range(12))), (), ("named by 'id', one column a coder. Not used: row.",)),
    "row names alone": ((",a,b", *(f"{i},{i % 2},1" for i in range(12))), (), ("named by 'row'", "2 coders (a and b)")),
    "no number": (("id,anna,ben", "t1,1,inf", "t2,2,2", "t3,1,1"), (), ("warning: all levels are taken for names, because inf",)),
    "capitals": (("id,anna,ben", "t1,Yes,yes", "t2,no,no"), (), ("warning: Yes and yes differ in capitals alone",)),
    "decimal commas": (("id,anna,ben", 't1,"0,5","1,5"', 't2,"1,5","1,5"'), (), ("warning: 0,5 and 1,5 are taken for names", "not: --levels 0,5")),
    "few resamples": (WIDE, ("--draws", "5"), ("warning: 5 resamples are too few for an interval",)),
}  # fmt: skip


@pytest.mark.parametrize("case", SAID)
def test_what_must_be_known_is_said(delibsim, write, case):
    rows, words, told = SAID[case]
    answer = delibsim("agreement", write(*rows), *words)
    assert answer.code == 0, answer.err
    out = " ".join(answer.out.split())
    for line in told:
        unsaid = line.removeprefix("not: ")
        assert (unsaid in out) == (unsaid == line), (line, out)


REFUSED = {
    "more coders than texts": (("name,t1,t2,t3", "anna,1,0,1", "ben,1,1,1"), (), "4 coders (a column each) and 2 texts (a row each); if a row is a coder and a column a text, say --coders-in-rows"),
    "another column": (NAMED, ("text=past",), "did you mean post"),
    "no such file": ((), ("no.csv",), "no.csv cannot be read"),
    "header alone": (("id,anna",), (), "has a header and no rows"),
    "an id twice": (("id,anna,ben", "a,1,1", "b,1,0", "a,0,0"), (), "line 4: the id 'a' stands in line 2 already"),
    "no id": (("id,anna,ben", "a,1,1", ",1,0"), (), "line 3: no id"),
    "a code twice": (("text,coder,level", "a,x,1", "a,y,1", "a,x,0"), (), "line 4: x has coded the text 'a' in line 2 already"),
    "no coder": (("text,coder,level", "a,x,1", "a,,1"), (), "line 3: no coder"),
    "off the scale": (("id,a,b", "t,0,1", "u,3,1"), ("--levels", "0,1"), "line 3: the code '3' of a is none of the levels 0, 1"),
    "a wide row": (("id,a,b", "t,0,1,2"), (), "line 2: 4 cells, but 3 columns"),
    "names in order": (("id,a,b", "t,low,high", "u,low,low"), ("--scale", "ordinal"), "whose order must be said: --levels high,low"),
    "names as numbers": (("id,a,b", "t,low,high", "u,low,low"), ("--scale", "interval"), "has numbers as levels"),
    "a ratio below 0": (("id,a,b", "t,-1,1", "u,1,1"), ("--scale", "ratio"), "no level below 0"),
    "unknown weights": (("id,a,b", "t,0,1"), ("--weights", "linaer"), "unknown weighting 'linaer'; did you mean linear"),
    "unknown scale": (("id,a,b", "t,0,1"), ("--scale", "likert"), "unknown scale 'likert'"),
    "one level": (("id,a,b", "t,0,1"), ("--levels", "0"), "at least two, each once"),
    "a level twice": (("id,a,b", "t,0,1"), ("--levels", "0,1,1.0"), "at least two, each once"),
    "one resample": (("id,a,b", "t,0,1", "u,1,1"), ("--draws", "1"), "2 resamples or more"),
    "no such column": (("id,a,b", "t,0,1"), ("--by", "debat"), "unknown column 'debat'"),
    "two clusters": (("text,coder,level,debate", "t,a,1,x", "t,b,1,y"), ("--by", "debate"), "the text 't' is of 'y', and of 'x' in line 2"),
    "speeches": (("id,a,speech", *(f"t{i},1,speech {i}" for i in range(40))), ("coder=a", "coder=speech"), "name the columns that are (now a, speech)"),
    "ids under another name": (("post,a,b", *(f"{i},{i % 2},1" for i in range(12))), (), "the column 'post' has another value in every row, as ids have; say so (text=post)"),
    "measurements": (("id,a,b", *(f"t{i},{i / 7},{i / 3}" for i in range(1, 700))), (), "are measurements and no levels"),
    "two files": (("id,a,b", "t,0,1"), ("other.csv",), "one file at a time"),
    "an unknown role": (("id,a,b", "t,0,1"), ("rater=a",), "unknown role of a column 'rater'"),
    "a row a code": (("post,who,verdict", "p1,x,yes", "p1,y,yes", "p2,x,no", "p2,y,yes"), (), "'post' has no value that another of them has; say what each column holds: text=NAME coder=NAME level=NAME"),
    "a row a code in numbers": (("post,who,verdict", *(f"{i},{j},{(i + j) % 3}" for i in range(3) for j in range(2))), (), "'post' and 'who' together name every row once, as text and coder do; say"),
    "a coder and no level": (("text,coder,verdict", "a,x,yes", "b,y,no"), (), "'coder' has no value that another of them has; say"),
    "a row a code with ids": (("id,who,verdict", "a,x,yes", "a,y,yes", "b,x,no"), (), "a row needs an id of its own\nor say what each column holds"),
    "an age": (("id,a,b,age", *(f"{i},{i % 2},1,{30 + i // 2}" for i in range(12))), (), "'age' has no value that another of them has; say"),
    "two headings": (("id,a,a", "t,0,1"), (), "2 columns named 'a'"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_with_its_place(delibsim, write, case):
    rows, words, fault = REFUSED[case]
    if rows:
        words = (write(*rows), *words)
    answer = delibsim("agreement", *words)
    assert (answer.code, answer.out) == (2, "")
    assert fault in answer.err


COLUMNS_OF_PANDAS = {
    "whole numbers that may lack": lambda frame: frame.astype({"ann": "Int64", "ben": "Int8"}),
    "decimals that may lack": lambda frame: frame.astype({"ann": "Float64", "ben": "Float64"}),
    "texts": lambda frame: frame.astype({"ann": "Int64", "ben": "Int64"}).astype("string"),
    "categories": lambda frame: frame.astype({"ann": "category", "ben": "category"}),
    "what pandas thinks best": lambda frame: frame.convert_dtypes(),
    "objects": lambda frame: frame.astype(object).where(frame.notna(), None),
    "ids as index": lambda frame: frame.convert_dtypes().set_index("id"),
    "a row a code, indexed": lambda frame: (
        frame.melt("id", var_name="coder", value_name="level")
        .convert_dtypes()
        .set_index(["id", "coder"])
    ),
    "Arrow": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
}


@pytest.mark.parametrize("kind", COLUMNS_OF_PANDAS)
def test_columns_of_every_kind_that_pandas_has_are_the_same_codes(kind):
    if kind == "Arrow":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    codes = {"ann": [0, 1, 2, 1, 0, 2], "ben": [0, 1, 1, 1, 0, None]}
    frame = pd.DataFrame({"id": list("abcdef"), **codes})
    expected, found = agreement(frame), agreement(COLUMNS_OF_PANDAS[kind](frame))
    assert found.dimensions == expected.dimensions
    assert expected.dimensions[0].missing == 1


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        (5, "no codes"), ({}, "no codes"), (pd.Series([1, 2]), "no codes"),
        ([[1], [1, 2]], "rows of several lengths"),
        (np.zeros((2, 2, 2)), "a cell of the table holds several values"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "2 columns named 'a'"),
    ],
)  # fmt: skip
def test_what_is_no_table_of_python_is_refused(table, fault):
    with pytest.raises(WrongInput, match=fault):
        agreement(table)


def test_tables_of_python_give_the_same_as_files(delibsim, wide, home):
    expected = values(delibsim("agreement", wide, "--scale", "ordinal", "--json"))
    frame = pd.read_csv(home / wide)
    mappings = frame.to_dict("records")
    array = frame[list(NAMES)].to_numpy()
    for table in (home / wide, str(home / wide), frame, mappings, array):
        found = agreement(table, scale="ordinal").dimensions[0]
        for row in found.rows:
            kind = row.coefficient, row.weighting
            assert row.value == pytest.approx(expected[kind]["value"])
            assert row.low == pytest.approx(expected[kind]["low"])
    long = frame.melt("id", var_name="coder", value_name="level")
    assert agreement(long, scale="ordinal").dimensions[0].rows[1].value == pytest.approx(
        expected["percent", "linear"]["value"]
    )
    named = agreement(frame.rename(columns={"id": "post"}), columns={"text": "post"})
    assert named.layout.text == "post"
    chosen = agreement(frame, columns={"coder": ["anna", "dan"]})
    assert chosen.dimensions[0].coders == ("anna", "dan")
    with pytest.raises(WrongInput, match="no codes"):
        agreement([])


@pytest.mark.parametrize("words", [(), ("--weights", "quadratic", "--draws", "100")], ids=str)
def test_it_fits_80_columns(delibsim, wide, monkeypatch, words):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    out = re.sub(r"\x1b\[[0-9;]*m", "", delibsim("agreement", wide, *words).out)
    assert [line for line in out.splitlines() if len(line) > 80] == []
    assert re.search(
        r"^Gwet's AC.*  0\.\d{3}  0\.\d{3}  0\.\d{3}, [01]\.\d{3}  ", out, re.MULTILINE
    )


def test_a_code_of_any_length_is_printed_in_part(delibsim, write):
    long = "long " * 40_000
    name = write("unit,coder,code", f"1,{long}a,{long}", f"1,{long}b,{long}", f"2,{long}a,{long}")
    answer = delibsim("agreement", name)
    assert answer.code in (3, 4)
    assert "long long" in answer.out
    assert len(answer.out) < 4_000


PUBLISHED = {
    "first, RG": ((13, 340, 47), 0.895, 0.887), "first, CA": ((231, 47, 122), 0.5575, 0.476),
    "second, RG": ((7, 350, 43), 0.930, 0.925), "second, CA": ((316, 55, 29), 0.7875, 0.765),
}  # fmt: skip
"""Levels that a person and the ensemble gave, the weighted share of agreement, what was published."""


@pytest.mark.parametrize("case", PUBLISHED)
def test_the_published_variant_is_recomputed_from_margins_and_distances(case):
    margins, observed, published = PUBLISHED[case]
    assert chance_shrunk(observed, np.array(margins) / sum(margins)) == pytest.approx(
        published, abs=6e-4
    )
