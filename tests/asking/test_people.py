"""The contract of packs for people, whatever they are given: pages and form ask the same, answers
come back once, and nothing is kept of a form that is wrong.
"""

import csv
import html
import re
import shutil

import pytest
from pilot_texts import samples
from pilot_texts import study_of_texts as coded_study
from rated import answer, codes_online, pairs_online, study_of_debates, summaries_online

from delibsim import WrongInput
from delibsim.asking.kinds.audit import audit_of
from delibsim.asking.kinds.code_people import draw_texts, export_codes
from delibsim.asking.kinds.coding import coding_of
from delibsim.asking.kinds.judgment_people import export_summaries, plan_judging
from delibsim.asking.kinds.pair_people import export_pairs, for_people
from delibsim.asking.kinds.rating_people import export_debates
from delibsim.asking.kinds.rationale import export_rationales
from delibsim.asking.paper import COLUMNS, asked_in, steps_of
from delibsim.conduct.packs import bring_back, packs_of_study
from delibsim.models.person.questionnaire import questionnaire
from delibsim.planning.compose import plan
from delibsim.store.runs import Runs

KINDS = ("texts", "pairs", "summaries", "debates", "rationales")
LABELS = re.compile(r"\b(?:[ABDS]\d{1,2}|C1|WINNER)\b")
DEBATE = (
    "format=debate", "motion=voting", "proposition=citizen_eloquent",
    "opposition=citizen_halting",
)  # fmt: skip


def _texts(home):
    runs, _ = codes_online(home, 1)
    coding = coding_of(runs, "tiny")
    export_codes(coding, ["Ann", "Ben"], draw_texts(coding, 10), folder=home / "pack")
    return runs


def _pairs(home):
    runs, _ = pairs_online(home, 1)
    export_pairs(for_people(runs, ["dimension=logical"]), ["Ann", "Ben"], folder=home / "pack")
    return runs


def _summaries(home):
    runs, _ = summaries_online(home, 1)
    export_summaries(plan_judging(runs, []), "paper", 1, home / "pack")
    return runs


def _debates(home):
    runs = study_of_debates(home, *DEBATE)
    export_debates(runs, plan(["wording=oxford"]).session.wording, 2, None, home / "pack")
    return runs


def _rationales(home):
    runs, codings = coded_study(home / "runs")
    levels = {"1": [0, 0], "2": [1, 1], "3": [2, 2]}
    codings.add(samples("reasons", "alpha", levels, "A claim stands alone, so it is level 0."))
    export_rationales(audit_of(coding_of(runs)), 4, home / "pack")
    return runs


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """What makes a study of a kind with a pack on paper, once."""
    known = {}

    def of(kind, monkeypatch):
        if kind not in known:
            home = tmp_path_factory.mktemp(kind)
            monkeypatch.chdir(home)
            known[kind] = home, globals()[f"_{kind}"](home).folder
        return known[kind]

    return of


@pytest.fixture(params=KINDS)
def handed(request, made, tmp_path, monkeypatch):
    """A copy of such a study below `runs`, its pack on paper, and the folder of its pages."""
    home, folder = made(request.param, monkeypatch)
    shutil.copytree(home, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    runs = Runs.at(tmp_path / folder.relative_to(home))
    (name,) = {row["pack"] for row in rows_in(tmp_path / "pack/form.csv")}
    (pack,) = [make() for own, _, make in packs_of_study(runs) if own == name]
    return pack, tmp_path / "pack"


def rows_in(form):
    with form.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(form, rows):
    with form.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)


def words_of(file):
    text = re.sub(r"<style>.*?</style>", "", file.read_text(encoding="utf-8"))
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def cell(pack, sheet, step, question, who):
    """What somebody writes into a cell, and the same as the reply of a page."""
    if step.prompt is None:
        return str(step.check)
    fields = dict(asked_in(step))
    asked = fields[question]
    if asked.options:
        return str(asked.options[len(who + sheet) % len(asked.options)].value)
    return "Trams are quiet." if asked.kind == "words" else str(asked.low + 1)


def filled(pack, rows, who=""):
    steps = {}
    for row in rows:
        if row["sheet"] not in steps:
            own = steps.setdefault(row["sheet"], {})
            for step in steps_of(pack, row["sheet"]):
                own |= {question: step for question, _ in asked_in(step)}
        step = steps[row["sheet"]][row["question"]]
        yield row | {"answer": cell(pack, row["sheet"], step, row["question"], who)}


def test_pages_ask_all_that_the_form_has_and_say_no_label_of_a_reply(handed):
    pack, folder = handed
    rows = rows_in(folder / "form.csv")
    pages = sorted(folder.glob("r*-*.html")) + sorted(folder.glob("c*-*.html"))
    assert len(pages) == len(pack.places())
    for place, page in zip(pack.places(), pages, strict=True):
        raw, text = page.read_text(encoding="utf-8"), words_of(page)
        assert "default-src 'none'" in raw
        assert "<script" not in raw
        assert "=http" not in raw
        for sheet in place.sheets:
            assert f"Sheet {sheet}" in text
            asked = [row["question"] for row in rows if row["sheet"] == sheet]
            assert [q for q in asked if f"column {q}" not in text] == []
        if pack.kind in ("debates", "pairs"):
            assert not LABELS.search(text.partition("Sheet ")[2].partition("The building")[0])
        assert "citizen" not in text or pack.kind in ("summaries", "rationales")


def test_what_is_written_is_what_is_given_on_pages(handed):
    pack, _ = handed
    for sheet in pack.sheets:
        on_page, written = {}, {}
        while (step := pack.step(sheet, on_page)) is not None:
            on_page[step.name] = answer(step, sheet)
            if step.prompt is None or step.name == "opinion":
                written[step.name] = on_page[step.name]
                continue
            if step.prompt and hasattr(step.prompt.reply, "levels"):
                level = step.prompt.reply.read(on_page[step.name]).level
                written[step.name] = {"score": level}
                continue
            said = on_page[step.name]
            fields = questionnaire(step.prompt, rationale=False).fields
            values = {}
            for field in fields:
                if len(fields) == 1 and ":" not in said:
                    values[field.name] = said
                    continue
                value = re.search(rf"^{field.name}: (.+)$", said, re.MULTILINE)[1]
                values[field.name] = value if field.options and not value.isdigit() else int(value)
            written[step.name] = values
        whose = pack.rater(sheet, pack.sheets[sheet])
        assert pack.written(sheet, written, whose) == pack.given(sheet, on_page) != []


def test_answers_come_back_once_and_are_never_overwritten(handed):
    pack, folder = handed
    form = folder / "form.csv"
    rows = list(filled(pack, rows_in(form)))
    write(form, rows)
    found = bring_back(form, pack.runs)
    assert (found.new, found.empty) == (found.given, 0)
    kept = list(pack.kept())
    assert found.given == len([one for one in kept if one.key])
    again = bring_back(form, pack.runs)
    assert (again.given, again.new) == (found.given, 0)
    assert list(pack.kept()) == kept
    other = list(filled(pack, rows, "x"))
    write(form, other)
    if other != rows:
        with pytest.raises(WrongInput, match=r"line \d+: .*before.*here[^$]*never overwritten"):
            bring_back(form, pack.runs)
    assert list(pack.kept()) == kept


def test_an_empty_form_keeps_nothing_and_half_a_form_its_half(handed):
    pack, folder = handed
    form = folder / "form.csv"
    rows = rows_in(form)
    empty = bring_back(form, pack.runs)
    assert (empty.given, empty.empty, empty.whole) == (0, len(rows), False)
    (place, *_) = pack.places()
    own = [row for row in filled(pack, rows) if row["sheet"] == place.sheets[0]]
    left = [row for row in rows if row["sheet"] != place.sheets[0]]
    write(form, [*own, *left])
    found = bring_back(form, pack.runs)
    assert found.given > 0
    assert (found.new, found.empty) == (found.given, len(left))
    assert found.raters[place.rater] == 1


FAULTS = {
    "pack": ("none", "pack 'none' was not handed out from this study"),
    "sheet": ("XXXXXX", r"sheet 'XXXXXX' is not in pack"),
    "rater": ("", r"sheet \w+ is that of"),
    "question": ("mood", r"sheet \w+ does not ask 'mood'"),
    "answer": ("perhaps", r"line 2: .*'perhaps'|opinion"),
}


@pytest.mark.parametrize("column", FAULTS)
def test_a_wrong_line_is_named_and_nothing_is_kept(handed, column):
    pack, folder = handed
    form = folder / "form.csv"
    rows = list(filled(pack, rows_in(form)))
    value, fault = FAULTS[column]
    first = next((n for n, row in enumerate(rows) if row["question"] != "opinion"), 0)
    rows[first][column] = value
    write(form, rows)
    fault = fault.replace("line 2", f"line {first + 2}")
    with pytest.raises(WrongInput, match=fault) as error:
        bring_back(form, pack.runs)
    assert "Nothing was imported" in str(error.value)
    assert not list(pack.kept())


def test_a_line_that_stands_twice_is_named_with_both_lines(handed):
    pack, folder = handed
    form = folder / "form.csv"
    rows = list(filled(pack, rows_in(form)))
    write(form, [*rows, rows[0]])
    with pytest.raises(WrongInput, match=rf"line {len(rows) + 2}: sheet .* twice, first on line 2"):
        bring_back(form, pack.runs)


def test_a_form_may_be_saved_as_other_programs_do(handed):
    pack, folder = handed
    form = folder / "form.csv"
    write(form, list(filled(pack, rows_in(form))))
    form.write_text("\ufeff" + form.read_text().replace(",", ";"), encoding="utf-8")
    assert bring_back(form, pack.runs).new > 0


def test_a_table_of_another_shape_is_no_form(handed):
    pack, folder = handed
    (folder / "form.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(WrongInput, match="columns must be those of a form"):
        bring_back(folder / "form.csv", pack.runs)
