"""Published instruments and answers: read, checked, kept, and read again. The small files hold
invented content.
"""

import csv
from pathlib import Path

import numpy as np
import openpyxl
import pytest

from delibsim.domain.errors import WrongInput
from delibsim.domain.survey import Item, Survey
from delibsim.store.instruments.answers import read_answers
from delibsim.store.instruments.deliberr import (
    COLUMNS,
    find_files,
    local_name,
    read_published,
    scale_shown,
    sort_shared,
)
from delibsim.store.instruments.imported import keep, read_people, survey_yaml
from delibsim.store.instruments.library import Library

PUBLISHED = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "dri"
needs_published = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason=f"the published files are not at {PUBLISHED}"
)

TEA = [
    "Tea tastes better from a pot.",
    "Milk goes in first.",
    "Bags: a mistake? “Yes”, say some.",
    "no",
]
OPTIONS = ["Buy pots", "Ban bags"]
SORT = ["One", "Two", "Three", "Four"]


def surveys_rows(tea_max=7, sort_max=3):
    rows = [["C", k, text, "tea", tea_max, "FALSE"] for k, text in enumerate(TEA, start=1)]
    rows += [["P", k, text, "tea", "NA", "NA"] for k, text in enumerate(OPTIONS, start=1)]
    rows += [["C", k, text, "sorted", sort_max, "TRUE"] for k, text in enumerate(SORT, start=1)]
    return rows + [["P", k, text, "sorted", "NA", "NA"] for k, text in enumerate(OPTIONS, start=1)]


def write_csv(path, header, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def write_surveys(folder, rows=None):
    return write_csv(
        folder / "surveys.csv",
        ["type", "order", "statement", "name", "scale_max", "q_method"],
        rows or surveys_rows(),
    )


def write_workbook(folder, changes=()):
    """The same instruments as `write_surveys`; `changes` are (sheet, cell, value)."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, items, top, sort in (("tea", TEA, 7, False), ("sorted", SORT, 3, True)):
        sheet = book.create_sheet(name)
        columns = "considerations_order considerations policies_order policies scale_max q-method"
        sheet.append(columns.split())
        for k, text in enumerate(items, start=1):
            option = [k, OPTIONS[k - 1]] if k <= len(OPTIONS) else [None, None]
            sheet.append([k, text, *option, *([top, sort] if k == 1 else [None, None])])
    for name, cell, value in changes:
        book[name][cell] = value
    book.save(folder / "surveys.xlsx")
    return folder / "surveys.xlsx"


HEADER = "study survey case data_type stage_id stage pnum C1 C2 C3 C4 P1 P2".split()


def human_rows():
    """Two cases of the survey `tea` (people 1 to 3) and a Q sort (people 1 to 3) in which one
    sorted otherwise.
    """
    tea = {
        1: ([1, 2, 3, 7], [2, 3, 3, 6]),
        2: ([7, 2, 5, 1], [6, 6, 5, 1]),
        3: ([4, 4, 1, 2], [4, 3, 1, 2]),
    }
    sorts = {
        1: ([1, 2, 2, 3], [2, 2, 1, 3]),
        2: ([3, 2, 2, 1], [2, 1, 2, 3]),
        3: ([1, 1, 2, 3], [1, 3, 2, 2]),
    }
    rows = []
    for survey, people in (("tea", tea), ("sorted", sorts)):
        for pnum, phases in people.items():
            case = "Afternoon" if survey == "tea" and pnum == 3 else "Morning"
            for stage, ratings in enumerate(phases, start=1):
                ranks = [1, 2] if (pnum + stage) % 2 else [2, 1]
                rows.append(["T", survey, case, "Likert", stage, "x", pnum, *ratings, *ranks])
    return rows


def write_people(folder, rows=None, header=None):
    return write_csv(folder / "human_data.csv", header or HEADER, rows or human_rows())


@pytest.fixture
def small(tmp_path):
    """A folder with the three files of invented content."""
    folder = tmp_path / "published"
    folder.mkdir()
    write_surveys(folder)
    write_workbook(folder)
    write_people(folder)
    return folder


def read(folder, **options):
    return read_published(find_files([folder]), "0.1.0", **options)


def kept_texts(folder):
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def assert_same(read, kept):
    for theirs, ours in zip(read, kept, strict=True):
        assert (theirs.survey, theirs.cases) == (ours.survey, ours.cases)
        assert theirs.participants == ours.participants
        for phase in ("pre", "post"):
            assert np.array_equal(theirs.considerations[phase], ours.considerations[phase])
            assert np.array_equal(theirs.preferences[phase], ours.preferences[phase])


def assert_refused(folder, path, told):
    with pytest.raises(WrongInput) as error:
        read(folder)
    assert str(path) in str(error.value)
    assert told in str(error.value)


def test_surveys_and_answers_of_the_small_files(small):
    published = read(small)
    tea, sort = published.surveys
    assert [item.text for item in tea.considerations] == TEA
    assert [item.id for item in tea.items] == ["C1", "C2", "C3", "C4", "P1", "P2"]
    assert (tea.id, tea.scale_min, tea.scale_max, tea.validated, tea.forced_distribution) == (
        "deliberr.tea",
        1,
        7,
        True,
        None,
    )
    assert "deliberr 0.1.0" in tea.source
    assert "MIT" in tea.source
    assert sort.forced_distribution == (1, 2, 1)
    assert any("5 of the 6 sorts" in note for note in published.notes)
    answers = published.answers[0]
    assert answers.participants == ("1", "2", "3")
    assert answers.cases == ("Morning", "Morning", "Afternoon")
    assert answers.considerations["post"].tolist() == [[2, 3, 3, 6], [6, 6, 5, 1], [4, 3, 1, 2]]
    assert answers.preferences["pre"].tolist() == [[2, 1], [1, 2], [2, 1]]
    assert answers.of_case("Afternoon").considerations["pre"].tolist() == [[4, 4, 1, 2]]


def test_kept_surveys_and_answers_are_read_again(small, tmp_path):
    published = read(small)
    folder = tmp_path / "surveys" / "imported" / "deliberr"
    keep(published.surveys, published.answers, folder)
    first = kept_texts(folder)
    keep(published.surveys, published.answers, folder)
    assert kept_texts(folder) == first
    assert sorted(first) == ["answers.csv", "sorted.yaml", "tea.yaml"]
    for survey in published.surveys:
        assert Library(tmp_path).survey(survey.id) == survey
    assert_same(read_people(folder)[0], published.answers)
    assert read_people(folder)[1] == {"tea": (1, 7), "sorted": (1, 3)} == read_people(small)[1]


def test_answers_alone_show_their_scale(small):
    (small / "surveys.csv").unlink()
    (small / "surveys.xlsx").unlink()
    answers, scales = read_people(small)
    assert len(answers) == 2
    assert scales == {"tea": (1, 7), "sorted": (1, 3)}


def test_one_form_of_the_instruments_is_enough_and_both_agree(small):
    both = read(small)
    assert not any("differ" in note or "taken)" in note for note in both.notes)
    (small / "surveys.csv").unlink()
    assert read(small).surveys == both.surveys
    write_surveys(small)
    (small / "surveys.xlsx").unlink()
    assert read(small).surveys == both.surveys


@pytest.mark.parametrize(
    ("change", "note"),
    [
        (("tea", "B3", "Milk goes in last."), "tea: the wording of C2 differs"),
        (("tea", "D2", "Buy cups"), "tea: the wording of P1 differs"),
        (("tea", "E2", 9), "tea: scale_max is 7 in surveys.csv (taken) and 9 in surveys.xlsx"),
        (
            ("sorted", "F2", "FALSE"),
            "sorted: q_sort is True in surveys.csv (taken) and False in surveys.xlsx",
        ),
        (
            ("tea", "B3", f"  {TEA[1]} "),
            "began or ended in spaces, dropped before comparing with surveys.csv: 1",
        ),
    ],
)
def test_a_workbook_that_departs_from_the_table_is_told_of(small, change, note):
    write_workbook(small, [change])
    published = read(small)
    assert any(note in found for found in published.notes), published.notes
    assert [item.text for item in published.surveys[0].considerations] == TEA


def test_instruments_and_items_in_one_form_only_are_told_of(small):
    write_surveys(
        small, [row for row in surveys_rows() if row[3] == "tea" and row[1:3] != [4, "no"]]
    )
    (small / "human_data.csv").unlink()
    notes = read(small).notes
    assert "sorted: only in surveys.xlsx, left out" in notes
    assert "tea: 3 C items in surveys.csv (taken) and 4 in surveys.xlsx" in notes


def test_instruments_without_answers_say_so(small):
    (small / "human_data.csv").unlink()
    published = read(small)
    assert published.answers == ()
    assert published.surveys[1].forced_distribution is None
    assert sum("no answers" in note for note in published.notes) == 2


def test_answers_of_an_earlier_import_stand_where_none_are_given(small):
    before = read(small)
    (small / "human_data.csv").unlink()
    assert read(small, answers=before.answers).surveys == before.surveys


def test_a_sort_without_a_majority_has_no_forced_distribution(small):
    rows = human_rows()
    for row in rows[6:9]:
        row[7:11] = [1, 1, 1, 3]
    write_people(small, rows)
    published = read(small)
    assert published.surveys[1].forced_distribution is None
    assert any("no distribution has a majority of the 6 sorts" in note for note in published.notes)


def test_the_scale_that_answers_show():
    many = np.tile([[1, 9, 5]], (100, 1))
    assert scale_shown(many, 12) == (1, 9)
    assert scale_shown(many[:2], 12) == (1, 12), (
        "two answers cannot show that a point is no part of the scale"
    )
    assert scale_shown(many, 8) is None
    assert scale_shown(np.array([[-5, 0, 5]]), 11) == (-5, 5)
    assert scale_shown(np.array([[-5, 0, 6]]), 11) is None
    assert scale_shown(np.array([[0, 1, 2]]), 10) is None, "an even number of points has no middle"
    assert sort_shared(np.array([[1, 2, 2, 3], [2, 1, 3, 2], [1, 1, 1, 3]]), (1, 3)) == (1, 2, 1)
    assert sort_shared(np.array([[1, 2, 2, 3], [1, 1, 1, 3]]), (1, 3)) is None


def test_a_scale_centred_on_zero_is_taken_and_told(small):
    rows = human_rows()
    for row in rows[:6]:
        row[7:11] = [value - 4 for value in row[7:11]]
    write_people(small, rows)
    published = read(small)
    assert (published.surveys[0].scale_min, published.surveys[0].scale_max) == (-3, 3)
    assert any(
        note.startswith("tea: the instrument says 1 to 7") and note.endswith("-3 to 3")
        for note in published.notes
    )


def changed(row, column, value):
    rows = human_rows()
    rows[row][HEADER.index(column)] = value
    return rows


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (changed(0, "C2", "x"), "line 2, participant 1: C2: expected a whole number, got 'x'"),
        (changed(0, "C2", "2.5"), "line 2, participant 1: C2"),
        (changed(1, "C3", "NA"), "line 3, participant 1: C3 is missing"),
        (changed(2, "C3", 8), "line 4, column C3: 8 is outside the scale of tea, 1 to 7"),
        (
            changed(2, "P1", 2),
            "line 4, participant 2: the ranks [2, 2] are no permutation of 1 to 2",
        ),
        (changed(2, "P2", 3), "line 4, participant 2: the ranks [1, 3] are no permutation"),
        (
            changed(1, "stage_id", 3),
            "line 3, participant 1: column stage_id has '3'; expected one of",
        ),
        (
            changed(1, "stage_id", 1),
            "line 3, participant 1: already answered in phase pre, in line 2",
        ),
        (
            changed(1, "pnum", 9),
            "line 2, participant 1: unpaired: answered in phase pre and not in post",
        ),
        (
            changed(1, "case", "Afternoon"),
            "line 3, participant 1: is in case 'Afternoon' here and in 'Morning' before",
        ),
        (changed(1, "case", ""), "line 3, column case: the cell is empty"),
        (
            changed(1, "case", "a\x1b[31m"),
            "line 3, column case: 'a\\x1b[31m' holds a control character",
        ),
        (
            human_rows()[:-1],
            "line 12, participant 3: unpaired: answered in phase pre and not in post",
        ),
        (
            [[*row[:1], row[1].replace("tea", "teas"), *row[2:]] for row in human_rows()],
            "unknown survey 'teas'; did you mean tea?",
        ),
        (
            [[*row[:10], "NA", *row[11:]] for row in human_rows()],
            "column C4: tea has answers to 3 C items, and its instrument",
        ),
        (
            [[*row[:8], "", *row[9:]] for row in human_rows()],
            "line 2, column C2: nobody answered it in tea",
        ),
        ([row[:-1] for row in human_rows()], "line 2: 12 cells, but 13 columns"),
    ],
)
def test_broken_answers_are_refused_with_their_place(small, rows, told):
    path = write_people(small, rows)
    assert_refused(small, path, told)


@pytest.mark.parametrize("column", ["survey", "case", "stage_id", "pnum"])
def test_a_missing_column_is_named(small, column):
    write_people(small, header=["other" if name == column else name for name in HEADER])
    with pytest.raises(WrongInput, match=f"human_data.csv, line 1: column {column} is missing"):
        read(small)


def test_decimal_zeros_byte_order_mark_and_blank_lines_are_no_fault(small):
    rows = [[f"{cell}.0" if k > 6 else cell for k, cell in enumerate(row)] for row in human_rows()]
    path = write_people(small, rows)
    path.write_text("\ufeff" + path.read_text(encoding="utf-8") + "\r\n\r\n", encoding="utf-8")
    assert read_answers(path, COLUMNS)["tea"].considerations["pre"].tolist() == [
        [1, 2, 3, 7],
        [7, 2, 5, 1],
        [4, 4, 1, 2],
    ]


def changed_survey(row, column, value):
    rows = surveys_rows()
    rows[row][column] = value
    return rows


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (changed_survey(1, 0, "X"), "line 3, column type: expected C or P, got 'X'"),
        (changed_survey(1, 1, "one"), "line 3, column order: expected a whole number, got 'one'"),
        (changed_survey(1, 1, 1), "line 3, column order: 1 was used before"),
        (changed_survey(1, 1, 9), "the C items of tea are numbered [1, 3, 4, 9]"),
        (changed_survey(1, 2, " "), "line 3, column statement: the statement is empty"),
        (changed_survey(1, 4, 9), "line 3, column scale_max: '9', but '7' in line 2"),
        (surveys_rows(tea_max="seven"), "line 2, column scale_max: expected a whole number"),
        (surveys_rows(tea_max=1), "scale_min (1) must be smaller than scale_max (1)"),
        (
            [[*row[:3], "../../x", *row[4:]] for row in surveys_rows()[:6]],
            "'../../x' cannot name a survey",
        ),
        (
            [[*row[:5], "maybe"] for row in surveys_rows()],
            "column q_method: expected TRUE or FALSE, got 'maybe'",
        ),
    ],
)
def test_broken_instruments_are_refused_with_their_place(small, rows, told):
    path = write_surveys(small, rows)
    (small / "human_data.csv").unlink()
    (small / "surveys.xlsx").unlink()
    assert_refused(small, path, told)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("tea", "A1", "order"), "sheet tea, row 1: column considerations_order is missing"),
        (
            ("tea", "A3", "x"),
            "sheet tea, row 3, column considerations_order: expected a whole number, got 'x'",
        ),
        (("tea", "D3", None), "sheet tea, row 3, column policies: the statement is empty"),
        (("tea", "E2", None), "sheet tea, column scale_max: expected a whole number, got ''"),
    ],
)
def test_a_broken_workbook_is_refused_with_its_place(small, change, told):
    assert_refused(small, write_workbook(small, [change]), told)


def test_files_that_are_not_what_their_name_says_are_refused(small):
    (small / "surveys.xlsx").write_bytes(b"PK no workbook")
    with pytest.raises(WrongInput, match=r"surveys\.xlsx: cannot be read as a workbook"):
        read(small)
    (small / "surveys.xlsx").unlink()
    header = b"type,order,statement,name,scale_max,q_method\n"
    for line, told in (
        (b"C,1,caf\xe9,tea,7,FALSE\n", "surveys.csv: line 2 is not UTF-8"),
        (b'C,1,"open,tea,7,FALSE\n', "surveys.csv, line 2: not readable as CSV"),
    ):
        (small / "surveys.csv").write_bytes(header + line)
        with pytest.raises(WrongInput, match=told):
            read(small)


def test_paths_that_hold_nothing_published_are_refused(small, tmp_path):
    with pytest.raises(WrongInput, match="there is no such file or folder"):
        find_files([tmp_path / "absent"])
    with pytest.raises(WrongInput, match=r"none of surveys\.csv"):
        find_files([tmp_path])
    other = write_csv(tmp_path / "survey.csv", ["a"], [])
    with pytest.raises(WrongInput, match=r"did you mean surveys\.csv"):
        find_files([other])
    with pytest.raises(WrongInput, match=r"two files named surveys\.csv"):
        find_files([small, small / "surveys.csv"])
    with pytest.raises(WrongInput, match="the answers need their instruments"):
        read_published(find_files([small / "human_data.csv"]), "0.1.0")


def test_a_folder_without_people_is_refused(small, tmp_path):
    with pytest.raises(WrongInput, match="delibsim import PATH --as deliberr"):
        read_people(tmp_path / "absent")
    with pytest.raises(WrongInput, match=r"neither answers\.csv nor human_data\.csv"):
        read_people(tmp_path)
    published = read(small)
    keep(published.surveys, published.answers, tmp_path / "kept")
    file = tmp_path / "kept" / "tea.yaml"
    for text, told in (
        ("scale_min: 7\nscale_max: 7\n", "tea.yaml: expected whole numbers scale_min < scale_max"),
        ("a: [", "tea.yaml, line 2: did not find"),
        ("a: []", "tea.yaml: no readable scale_min"),
    ):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(WrongInput, match=told):
            read_people(tmp_path / "kept")
    file.unlink()
    with pytest.raises(WrongInput, match=r"tea\.yaml: the instrument of these answers is missing"):
        read_people(tmp_path / "kept")


def test_words_that_yaml_could_misread_survive(tmp_path):
    words = ["no", "0012", "null", "- dash", "a: b # c", "*star", "~", "1.0", "tab\tinside"]
    words += ["'quoted' \"twice\"", "naïve — 中文 🙂"]
    items = tuple(
        Item(f"C{k}", "consideration", text, reverse=k == 2)
        for k, text in enumerate(words, start=1)
    )
    items += tuple(Item(f"P{k}", "preference", text) for k, text in enumerate(words[:3], start=1))
    survey = Survey("odd", items, -5, 5, source="a: b", validated=True)
    (tmp_path / "surveys").mkdir()
    (tmp_path / "surveys" / "odd.yaml").write_text(survey_yaml(survey), encoding="utf-8")
    assert Library(tmp_path).survey("odd") == survey


@needs_published
def test_all_published_instruments_and_answers():
    published = read(PUBLISHED)
    scales = {
        local_name(survey): (survey.scale_min, survey.scale_max) for survey in published.surveys
    }
    centred = {"forestera", "energy_futures", "biobanking_wa", "biobanking_mayo_ubc"}
    eleven = {"acp", "ccps", "fremantle", "valsamoggia"}
    assert len(scales) == 20
    expected = dict.fromkeys(scales, (1, 7)) | dict.fromkeys(centred, (-5, 5)) | {"fnqcj": (1, 9)}
    assert scales == expected | dict.fromkeys(eleven, (1, 11))
    told = [note for note in published.notes if ": the instrument says" in note]
    assert {note.partition(":")[0] for note in told} == {*centred, "fnqcj"}
    assert any(note.startswith("gbr: no answers") for note in published.notes)
    forced = {
        local_name(survey): survey.forced_distribution
        for survey in published.surveys
        if survey.forced_distribution
    }
    assert forced == {
        "fremantle": (1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1),
        "valsamoggia": (2, 3, 3, 4, 4, 4, 4, 4, 3, 3, 2),
    }
    assert {own.survey for own in published.answers} == set(scales) - {"gbr"}
    assert sum(len(own.participants) for own in published.answers) == 526
    assert sum(len(set(own.cases)) for own in published.answers) == 24
    ccps = next(survey for survey in published.surveys if survey.id == "deliberr.ccps")
    assert (len(ccps.considerations), len(ccps.preferences), ccps.validated) == (33, 7, True)


@needs_published
def test_the_published_files_go_round(tmp_path):
    published = read(PUBLISHED)
    folder = tmp_path / "surveys" / "imported" / "deliberr"
    keep(published.surveys, published.answers, folder)
    library = Library(tmp_path)
    assert tuple(library.survey(survey.id) for survey in published.surveys) == published.surveys
    again, scales = read_people(folder)
    assert scales == {
        name: scale for name, scale in read_people(PUBLISHED)[1].items() if name != "gbr"
    }
    assert_same(again, published.answers)
