"""Packs of pairs: who is handed which sheets, what stands on the pages, and forms read back."""

import csv
from collections import Counter

import pytest
from comparing import PAIRS, SAID, study_of_pairs

from delibsim import WrongInput
from delibsim.asking import road
from delibsim.asking.kinds import pair
from delibsim.asking.kinds.pair_people import export_pairs, for_people, rater_sheets, shares
from delibsim.asking.kinds.pair_plan import plan_pairs
from delibsim.conduct import ask as asking
from delibsim.conduct.compare_report import compared_of
from delibsim.conduct.packs import bring_back
from delibsim.domain.comparison import Sheet
from delibsim.store.annotations import packs_of
from delibsim.store.answers import Comparisons

LOGICAL = "dimension=logical"
PEOPLE = ("Ann", "Ben")


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return study_of_pairs(tmp_path)


def handed(runs, *settings, raters=PEOPLE, each=None):
    return export_pairs(for_people(runs, settings or [LOGICAL]), raters, each)


def key_of(runs, pack):
    return packs_of(Comparisons.of(runs, pack.facts["comparison"]).files)[pack.name]["sheets"]


def fill(pack, answers):
    """Fill in the form of a pack: `answers` gives the cell of a line by its number from 0."""
    file = pack.folder / "form.csv"
    with file.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    for n, row in enumerate(rows):
        row["answer"] = answers(n, row)
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return file


def brought_back(runs, file):
    return bring_back(file, runs)


def test_every_rater_has_all_pairs_and_one_of_the_first_again(runs):
    pack = handed(runs)
    assert pack.facts["raters"] == {"Ann": PAIRS + 1, "Ben": PAIRS + 1}
    assert (pack.facts["pairs"], pack.facts["among"]) == (PAIRS, PAIRS)
    few = handed(runs, LOGICAL, "name=few", raters=["Ann"], each=3)
    assert (few.facts["pairs"], few.facts["among"]) == (3, PAIRS)
    key = key_of(runs, pack)
    assert len(key) == 2 * (PAIRS + 1)
    shown = {}
    for rater in PEOPLE:
        own = [one for one in key.values() if one["rater"] == rater]
        first = {(one["a"], one["b"]) for one in own if one["run"] == 1}
        again = [(one["a"], one["b"]) for one in own if one["run"] == 2]
        assert len(first) == PAIRS
        assert len(again) == 1
        assert set(again) <= first
        shown[rater] = first
    # Every pair is shown in one order to one of the two, and in the other to the other.
    assert shown["Ben"] == {(b, a) for a, b in shown["Ann"]}


def test_shares_are_balanced_and_both_orders_stay():
    sheets = [Sheet(f"t{a}", f"t{b}") for a in range(6) for b in range(a)]
    own = shares(sheets, [f"rater {k}" for k in range(5)], "logical", 6, {})
    counts = Counter(sheet.pair for sheets in own.values() for sheet in sheets)
    assert {len(sheets) for sheets in own.values()} == {6}
    assert set(counts.values()) == {2}
    assert len(counts) == len(sheets)
    both = [Sheet("x", "y"), Sheet("y", "x")]
    assert shares(both, ["p", "q"], "logical", None, {}) == {"p": both, "q": both}


def test_repeats_stand_in_the_second_half_and_orders_are_the_raters_own():
    sheets = [Sheet(f"t{a}", f"t{b}") for a in range(10) for b in range(a)]
    taken = set()
    by_rater = {}
    for k in (1, 2):
        by_rater[k] = list(rater_sheets(sheets, "logical", "pack", f"rater {k}", taken))
    assert len(taken) == 2 * (45 + 3)
    for own in by_rater.values():
        again = [n for n, (_, _, run) in enumerate(own) if run == 2]
        assert len(again) == 3
        assert min(again) >= 22
        assert {own[n][1] for n in again} <= {sheet for _, sheet, _ in own[:22]}
    assert [one[1] for one in by_rater[1]] != [one[1] for one in by_rater[2]]
    assert not any(run == 2 for *_, run in rater_sheets(sheets[:2], "logical", "p", "r", set()))


async def test_people_are_judges_beside_models(runs):
    planned = plan_pairs(runs, [LOGICAL, "model=citizen"])
    await asking.ask(planned)
    pack = handed(runs, "name=main")
    sheets = {sheet.pair for sheet in planned.about.sheets}
    assert {Sheet(one["a"], one["b"]).pair for one in key_of(runs, pack).values()} == {
        Sheet(pair.one, pair.other).pair for pair in sheets
    }
    found = brought_back(runs, fill(pack, lambda n, row: ("A", "b", " Tie ")[n % 3]))
    assert (found.given, found.new, found.empty) == (16, 16, 0)
    assert [note.partition(":")[0] for note in found.notes] == list(PEOPLE)
    compared = compared_of(runs, planned.answers, [])
    assert {vote.judge for vote in compared.votes} == {"citizen", *PEOPLE}
    assert compared.planned == {
        ("citizen", "logical"): PAIRS,
        ("Ann", "logical"): PAIRS + 1,
        ("Ben", "logical"): PAIRS + 1,
    }
    assert (await road.replay(pair.PAIRS.kept(runs, ""))).verdict == "equal"
    again = brought_back(runs, pack.folder / "form.csv")
    assert (again.given, again.new) == (16, 0)


def test_a_tie_that_was_not_allowed_is_a_fault_and_so_is_an_edited_text(runs, tmp_path):
    pack = handed(runs, LOGICAL, "ties=false")
    with pytest.raises(WrongInput, match="must be A or B"):
        brought_back(runs, fill(pack, lambda n, row: "Tie"))
    study_of_pairs(tmp_path, {**SAID, "t1": ("trams", "Something else.")})
    with pytest.raises(WrongInput, match="text t1 was edited after"):
        brought_back(runs, fill(pack, lambda n, row: "A"))
    with pytest.raises(WrongInput, match="text t1 is not the one that was compared"):
        handed(runs, "name=main", raters=["Cy"])


def test_nobody_is_asked_twice_and_a_pack_binds_settings(runs):
    handed(runs)
    with pytest.raises(WrongInput, match="handed out to them before"):
        handed(runs, "name=main")
    assert handed(runs, "name=main", raters=["Ann", "Cy"]).facts["nothing"] == ["Ann"]
    with pytest.raises(WrongInput, match="ties: true -> false"):
        plan_pairs(runs, [LOGICAL, "ties=false", "model=citizen"])
    with pytest.raises(WrongInput, match="'Ann' is a rater of comparison main"):
        plan_pairs(runs, [LOGICAL, "model=citizen", "model.name=Ann"])


async def test_people_go_on_with_what_models_began_and_models_with_what_people_began(runs):
    begun = plan_pairs(runs, [LOGICAL, "model=citizen", "+model.place=0.4"])
    await asking.ask(begun)
    handed(runs, LOGICAL)  # the settings of models are no matter of people's
    assert set(begun.answers.files.task()["models"]) == {"citizen"}
    handed(runs, LOGICAL, "name=hands")
    assert Comparisons.of(runs, "hands").files.task()["models"] == {}
    later = plan_pairs(runs, [LOGICAL, "name=hands", "model=citizen"])
    assert (await asking.ask(later)).new == PAIRS
    assert set(later.answers.files.task()["models"]) == {"citizen"}


async def test_a_person_cannot_have_the_name_of_a_model(runs):
    await asking.ask(plan_pairs(runs, [LOGICAL, "model=citizen"]))
    with pytest.raises(WrongInput, match="'citizen' cannot be the name of a person"):
        handed(runs, "name=main", raters=["citizen"])
