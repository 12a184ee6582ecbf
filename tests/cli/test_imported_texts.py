"""`delibsim import --as texts`: texts of one's own in a study, whole or not at all, and what they are like."""

import json

import pytest

CSV = "id,text,who\na,We should pay.,Ann\nb,No.,Ben\nc,We should pay.,Ann\n"


@pytest.fixture
def file(home):
    """A file of three texts."""
    place = home / "said.csv"
    place.write_text(CSV, encoding="utf-8")
    return place


@pytest.fixture
def imported(delibsim, file):
    """The file in the study `pilot`."""
    answer = delibsim("import", "pilot", "said.csv", "--as", "texts")
    assert answer.code == 0
    return answer


def kept(home, study="pilot"):
    content = (home / "runs" / study / "texts.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in content.rstrip("\n").split("\n")]


def test_texts_are_kept_with_all_columns_beside_them(imported, home, delibsim):
    assert "said.csv: texts from column text, ids from column id" in imported.out
    assert "3 texts new, 0 known before; study pilot holds 3 texts" in imported.out
    assert "repeated   1 text (kept): c" in imported.out
    first = {"id": "a", "text": "We should pay.", "source": "said.csv", "facts": {"who": "Ann"}}
    assert kept(home)[0] == first
    manifest = json.loads((home / "runs" / "pilot" / "study.json").read_text(encoding="utf-8"))
    (part,) = manifest["parts"]["texts"].values()
    assert (part["file"], part["rows"], part["column"]) == ("said.csv", 3, "text")


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators_and_a_mark_of_utf_8(delibsim, home, separator):
    rows = [("id", "text"), ("1", "Ja, nein.\u2028Gut"), ("2", "\u4f60\u597d, \u0645\u0631\u062d")]
    lines = [separator.join(row) for row in rows]
    (home / "said.csv").write_text("\n".join(lines), encoding="utf-8-sig")
    assert delibsim("import", "pilot", "said.csv", "--as", "texts").code == 0
    assert [line["text"] for line in kept(home)] == [row[1] for row in rows[1:]]


def test_the_separator_is_that_under_which_the_columns_are_found(delibsim, home):
    lines = ["id;text;note, in short, or long", "a;One, two, three.;x"]
    (home / "said.csv").write_text("\n".join(lines), encoding="utf-8")
    words = ("said.csv", "column=text")
    assert delibsim("import", "pilot", *words, "--as", "texts").code == 0
    assert kept(home)[0]["text"] == "One, two, three."


def test_an_import_that_was_cut_off_goes_on(imported, delibsim, home):
    """Killed between its two files, it has texts and no study.json yet."""
    (home / "runs" / "pilot" / "study.json").unlink()
    assert delibsim("list", "texts", "pilot").code == 2
    again = delibsim("import", "pilot", "said.csv", "--as", "texts")
    assert "0 texts new, 3 known before" in again.out
    assert delibsim("list", "texts", "pilot").code == 0


def test_the_same_file_is_known_before_and_more_rows_are_added(imported, delibsim, home, files):
    before = files("runs")
    again = delibsim("import", "pilot", "said.csv", "--as", "texts")
    assert "0 texts new, 3 known before" in again.out
    assert files("runs") == before
    (home / "more.csv").write_text(f"{CSV}d,Perhaps.,Eve\n", encoding="utf-8")
    more = delibsim("import", "pilot", "more.csv", "--json", "--as", "texts").json
    assert (more["new"], more["known_before"], more["texts"]) == (1, 3, 4)
    assert [line["id"] for line in kept(home)] == ["a", "b", "c", "d"]
    manifest = json.loads((home / "runs" / "pilot" / "study.json").read_text(encoding="utf-8"))
    assert len(manifest["parts"]["texts"]) == 2
    assert len(manifest["amendments"]) == 1


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("b,Yes.,Ben", 'line 2: id \'b\' stands with other cells: text: "No." -> "Yes."'),
        ("b,No.,Bob", "line 2: id 'b' stands with other cells: 'who': \"Ben\" -> \"Bob\""),
    ],
)
def test_another_text_under_an_id_that_stands_is_refused(
    imported, delibsim, home, files, row, fault
):
    (home / "other.csv").write_text(f"id,text,who\n{row}\nz,New.,Zoe\n", encoding="utf-8")
    before = files("runs")
    answer = delibsim("import", "pilot", "other.csv", "--as", "texts")
    assert (answer.code, answer.out) == (2, "")
    assert fault in answer.err
    assert files("runs") == before


@pytest.mark.parametrize(
    ("rows", "faults"),
    [
        ("a,One.\nb,Two.\na,Three.\n", ["line 4: id 'a' stands in line 2 already"]),
        (
            'a,"One\nmore."\n,Two.\n" ",Three.\n',
            ["line 4: the id is empty", "line 5: the id is empty"],
        ),
        ("1,One.\n1.0,Two.\n", ["line 3: id '1.0' is the number '1' of line 2"]),
        ("a\x00,One.\nb\u202e,Two.\n", ["line 2: id 'a\\x00'", "line 3: id 'b\\u202e'"]),
        (f"{'x' * 201},One.\n", ["line 2: the id has 201 characters"]),
        ("a,One.,more\n", ["line 2: 3 cells, but 2 columns"]),
        ('a,"One.\n', ["line 2: not readable as CSV: unexpected end of data"]),
    ],
)
def test_rows_that_cannot_be_kept_are_named_with_their_lines(delibsim, home, rows, faults):
    (home / "said.csv").write_text(f"id,text\n{rows}", encoding="utf-8")
    answer = delibsim("import", "pilot", "said.csv", "--as", "texts")
    assert (answer.code, answer.out) == (2, "")
    for fault in faults:
        assert fault in answer.err
    assert not (home / "runs" / "pilot" / "texts.jsonl").exists()


def test_an_id_that_became_a_decimal_number_is_refused(delibsim, home):
    (home / "said.csv").write_text("id,text\n1,One.\n", encoding="utf-8")
    (home / "other.csv").write_text("id,text\n1.0,One.\n", encoding="utf-8")
    assert delibsim("import", "pilot", "said.csv", "--as", "texts").code == 0
    answer = delibsim("import", "pilot", "other.csv", "--as", "texts")
    assert (answer.code, "line 2: id '1.0' is written '1' in the study" in answer.err) == (2, True)


def test_a_file_that_is_not_utf_8_is_refused_with_its_line(delibsim, home):
    (home / "latin.csv").write_bytes(b"id,text\n1,\xe4\n")
    answer = delibsim("import", "pilot", "latin.csv", "--as", "texts")
    assert (answer.code, "line 2 is not UTF-8" in answer.err) == (2, True)


def test_rows_without_ids_are_numbered_and_it_is_said(delibsim, home):
    (home / "said.csv").write_text("words\nOne.\nTwo.\n", encoding="utf-8")
    answer = delibsim("import", "pilot", "said.csv", "column=words", "--as", "texts")
    assert "no column of ids, so the rows are numbered from 1" in answer.out
    assert [line["id"] for line in kept(home)] == ["1", "2"]


def test_odd_texts_are_counted_and_kept_word_for_word(delibsim, home):
    long = "word " * 50_000
    texts = ["", "?! \U0001f600", "nul\x00l", "\u202eback", '{"score": 3}', long]
    rows = "".join('{},"{}"\n'.format(n, text.replace('"', '""')) for n, text in enumerate(texts))
    (home / "said.csv").write_text(f"id,text\n{rows}", encoding="utf-8")
    answer = delibsim("import", "pilot", "said.csv", "--as", "texts")
    assert "empty      1 text (kept): 0" in answer.out
    assert "no words   1 text (kept): 1" in answer.out
    assert "from 0 to 50000" in answer.out
    assert [line["text"] for line in kept(home)] == texts
    assert delibsim("list", "texts", "pilot", "5", "--json").json["text"] == long
    shown = delibsim("list", "texts", "pilot", "5").out
    assert "(250,000 characters in all); --json prints all" in shown
    assert "\u202e" not in delibsim("list", "texts", "pilot", "3").out


def test_groups_and_words_are_described(delibsim, file):
    words = ("said.csv", "group=who")
    answer = delibsim("import", "pilot", *words, "--json", "--as", "texts").json
    assert answer["described"]["groups"] == {"Ann": 2, "Ben": 1}
    assert answer["described"]["words"] == [1, 2, 3, 3, 3]
    shown = delibsim("list", "texts", "pilot").out
    assert "study pilot: 3 imported texts" in shown
    assert "words      quartiles 2, 3, 3; from 1 to 3" in shown
    assert "groups     2, of 1 to 2 texts" in shown


def test_a_text_is_shown_with_what_is_kept_beside_it(imported, delibsim):
    answer = delibsim("list", "texts", "pilot", "b")
    assert answer.out.splitlines() == ["b: 1 word, said.csv", "No.", "who: Ben"]
    missing = delibsim("list", "texts", "pilot", "q")
    assert (missing.code, "unknown text 'q'" in missing.err) == (2, True)


def test_a_study_of_sessions_takes_no_texts(study, file, delibsim, files):
    before = files("runs")
    answer = delibsim("import", "s", "said.csv", "--as", "texts")
    assert (answer.code, "study s has sessions" in answer.err) == (2, True)
    shown = delibsim("list", "texts", "s")
    assert (shown.code, "read them with: delibsim show s" in shown.err) == (2, True)
    assert files("runs") == before


def test_long_texts_are_cut_and_a_sample_is_drawn_that_grows(delibsim, home):
    rows = [f'c{n},{1980 + n % 2},"{"We must act now. " * (n + 1)}"' for n in range(20)]
    (home / "corpus.csv").write_text("id,year,text\n" + "\n".join(rows) + "\n")
    words = ("import", "c", "corpus.csv", "--as", "texts", "id=id", "column=text")
    words += ("most_words=20", "stratify=year")
    few = delibsim(*words, "sample=10")
    assert few.code == 0, few.err
    assert "20 rows are 50 texts" in few.out, "5 of 1, 5 of 2, 5 of 3, 5 of 4 parts"
    first = delibsim("list", "texts", "c", "--json").json
    assert first["texts"] == 10
    assert first["words"][-1] <= 20
    more = delibsim(*words, "sample=20", "--json").json
    assert (more["new"], more["known_before"], more["texts"]) == (10, 10, 20)
    for wrong, told in (
        ((), "stratify=year is of a sample"),
        (("sample=51",), "more than the 50 texts"),
        (("question=Act?", "sample=5"), "is not cut"),
    ):
        answer = delibsim(*words[:2], "corpus.csv", *words[3:], *wrong)
        assert (answer.code, told in answer.err) == (2, True), answer.err
