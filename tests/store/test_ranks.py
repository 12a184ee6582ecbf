"""What rank 1 means: declared by the source, applied once at import, and never read the other
way.
"""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from invented import people

from delibsim.analysis.human import groups_of_five as five
from delibsim.analysis.human import people as human
from delibsim.cli.import_ import app as import_
from delibsim.domain.errors import WrongInput
from delibsim.domain.survey import PHASES
from delibsim.planning.compose import plan
from delibsim.prompts.blocks import read_starting_answers
from delibsim.store.instruments.answers import RANK_IS, declared
from delibsim.store.instruments.deliberr import COLUMNS, find_files, read_published
from delibsim.store.instruments.imported import keep, read_people
from delibsim.store.instruments.library import Library
from delibsim.store.instruments.own_answers import (
    check_answers,
    keep_answers,
    kept_answers,
    people_who_answered,
)

PUBLISHED = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "dri"
needs_published = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason=f"the published files are not at {PUBLISHED}"
)
SEATED = ("topic=auscj", "survey=deliberr.auscj", "persona=human:auscj")
RANKS = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2]]


def write(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


@pytest.fixture
def files(tmp_path):
    """Published files of invented content: five people in auscj and in ccps, ranked alike."""
    folder = tmp_path / "published"
    folder.mkdir()
    instruments = [["type", "order", "statement", "name", "scale_max", "q_method"]]
    rows = [["survey", "case", "stage_id", "pnum", "C1", "C2", "C3", "P1", "P2", "P3"]]
    for survey in ("auscj", "ccps"):
        for k in (1, 2, 3):
            instruments.append(["C", k, f"{survey} reason {k}", survey, 7, "FALSE"])
            instruments.append(["P", k, f"{survey} option {k}", survey, "NA", "NA"])
        for person, ranks in enumerate(RANKS):
            own = [person + 1, 2, 7 - person, *ranks]
            rows += [[survey, "one", stage, person, *own] for stage in (1, 2)]
    write(folder / "surveys.csv", instruments)
    write(folder / "human_data.csv", rows)
    return folder


def imported(files, home):
    """Import the files below `home`; the folder of what is kept."""
    published = read_published(find_files([files]), "0.1.0")
    folder = home / "surveys" / "imported" / "deliberr"
    keep(published.surveys, published.answers, folder)
    return folder


def ranks_in_personas(home, overrides=SEATED):
    """The ranks that the personas of a session speak of, seat by seat."""
    seats = plan([*overrides, "group.size=5"], home).session.participants
    read = [read_starting_answers(seat.persona)[0] for seat in seats]
    return [[answers[f"P{k}"] for k in (1, 2, 3)] for answers in read]


def test_the_import_turns_what_the_source_ranks_the_other_way_and_nothing_else(files, tmp_path):
    imported(files, tmp_path)
    ccps = ("topic=ccps", "survey=deliberr.ccps", "persona=human:ccps")
    assert sorted(ranks_in_personas(tmp_path)) == sorted(
        [4 - rank for rank in row] for row in RANKS
    )
    assert sorted(ranks_in_personas(tmp_path, ccps)) == sorted(RANKS)
    library = Library(tmp_path)
    assert library.rank_1_in_source("deliberr.auscj") == "least_preferred"
    assert library.rank_1_in_source("deliberr.ccps") == "most_preferred"
    assert library.rank_1_in_source("ccps") is None


def test_an_import_of_instruments_alone_turns_kept_answers_no_second_time(files, tmp_path):
    folder = imported(files, tmp_path)
    before = (folder / "answers.csv").read_bytes()
    (files / "human_data.csv").unlink()
    again = read_published(find_files([files]), "0.1.0", read_people(folder)[0])
    keep(again.surveys, again.answers, folder)
    assert (folder / "answers.csv").read_bytes() == before
    assert Library(tmp_path).rank_1_in_source("deliberr.auscj") == "least_preferred"


def other_way(own):
    """Answers with every rank counted from the other end."""
    width = own.preferences["pre"].shape[1]
    return replace(own, preferences={phase: width + 1 - own.preferences[phase] for phase in PHASES})


def alike(found, expected):
    """References with the same values, and undefined for the same reasons."""
    for ours, theirs in zip(found, expected, strict=True):
        assert theirs.notes == ours.notes
        for part in ("pre", "post", "change"):
            own = pytest.approx(getattr(ours, part), abs=1e-12, nan_ok=True)
            assert getattr(theirs, part) == own


def same_measures(answers, scales):
    """Every measure of the human reference from answers, and from the same with all ranks
    turned.
    """
    turned = [other_way(own) for own in answers]
    alike(human.by_topic(answers, scales), human.by_topic(turned, scales))
    for own, same in zip(answers, turned, strict=True):
        if len(own.participants) >= five.SIZE:
            ours, theirs = five.dealt(own, 5).values, five.dealt(same, 5).values
            for measure, parts in ours.items():
                for part, values in parts.items():
                    assert theirs[measure][part] == pytest.approx(values, abs=1e-12, nan_ok=True)


def test_turning_all_ranks_changes_no_measure_of_invented_people():
    rng = np.random.default_rng(4)
    ranked = [rng.permutation(3) + 1 for _ in range(12)]
    before, survey = people(rng.integers(1, 8, size=(12, 6)), ranked)
    after = {"pre": before.preferences["pre"], "post": before.preferences["pre"][::-1]}
    same_measures([replace(before, preferences=after)], {survey.id: (1, 7)})


@needs_published
def test_turning_all_ranks_changes_no_measure_of_the_published_people():
    same_measures(*read_people(PUBLISHED))


def raw_auscj():
    """The published rows of auscj before the deliberation, by participant, untouched."""
    with (PUBLISHED / "human_data.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["survey"] == "auscj"]
    return {row["pnum"]: row for row in rows if row["stage_id"] == "1"}


@needs_published
def test_a_persona_of_an_auscj_participant_says_what_that_participant_preferred(tmp_path):
    imported(PUBLISHED, tmp_path)
    planned = plan(SEATED, tmp_path)
    published = raw_auscj()
    (drawn,) = planned.manifest.components["groups"].values()
    for who, seat in zip(drawn["personas"], planned.session.participants, strict=True):
        raw = published[who]
        said, _ = read_starting_answers(seat.persona)
        assert "ranked the options from 1 (the one you prefer most)" in seat.persona
        assert {k: said[f"P{k}"] for k in range(1, 9)} == {
            k: 9 - int(raw[f"P{k}"]) for k in range(1, 9)
        }
        assert {k: said[f"C{k}"] for k in range(1, 46)} == {
            k: int(raw[f"C{k}"]) for k in range(1, 46)
        }


@needs_published
def test_whoever_objects_to_genome_editing_prefers_the_ban_of_it_after_the_import(tmp_path):
    """The content shows the direction: C40 objects to interference, P7 bans every use."""
    raw = raw_auscj().values()
    objection = [int(row["C40"]) for row in raw]
    assert np.corrcoef(objection, [int(row["P7"]) for row in raw])[0, 1] == pytest.approx(
        0.67, abs=0.005
    )
    imported(PUBLISHED, tmp_path)
    kept = people_who_answered(Library(tmp_path).survey("deliberr.auscj"), tmp_path)
    ranks_of_ban = kept.preferences["pre"][:, 6]
    assert np.corrcoef(kept.considerations["pre"][:, 39], ranks_of_ban)[0, 1] < -0.6


# answers of the user's own

ITEMS = ["C1", "C2", "C3", "P1", "P2", "P3"]
OWN = [["Ann", 1, 2, 3, 1, 2, 3], ["Ben", 7, 4, 3, 3, 1, 2]]


def own_file(tmp_path, mark=None):
    """A file of answers of the user's own; `mark` is what its column says of rank 1."""
    marks = [] if mark is None else [mark]
    header = ["participant", "stage", *([RANK_IS] if marks else []), *ITEMS]
    rows = [[who, stage, *marks, *own] for stage in ("pre", "post") for who, *own in OWN]
    return write(tmp_path / "mine.csv", [header, *rows])


def test_a_column_or_an_option_says_what_rank_1_is_and_the_ranks_are_turned_once(tmp_path):
    _, survey = people([[1, 2, 3]])
    turned, kept_ranks = [[3, 2, 1], [1, 3, 2]], [[1, 2, 3], [3, 1, 2]]
    plain = check_answers(own_file(tmp_path), survey)
    assert plain.answers.preferences["pre"].tolist() == kept_ranks
    by_option = check_answers(own_file(tmp_path), survey, rank_1="least_preferred")
    by_column = check_answers(own_file(tmp_path, "least_preferred"), survey)
    for checked in (by_option, by_column):
        assert checked.answers.preferences["post"].tolist() == turned
        assert (checked.faults, checked.notes) == ((), ())
    path = keep_answers(by_column.answers, survey, tmp_path)
    assert kept_answers(path, survey).preferences["pre"].tolist() == turned
    again = check_answers(path, survey)
    assert again.answers.preferences["pre"].tolist() == turned, "what is kept is declared"
    with pytest.raises(
        WrongInput, match="least_preferred by column rank_1_is, and most_preferred by"
    ):
        check_answers(own_file(tmp_path, "least_preferred"), survey, rank_1="most_preferred")


def test_a_column_that_contradicts_itself_or_says_something_else_is_refused(tmp_path):
    _, survey = people([[1, 2, 3]])
    with pytest.raises(
        WrongInput, match=r"mine.csv, line 2, column rank_1_is: expected most_preferred"
    ):
        check_answers(own_file(tmp_path, "best"), survey)
    with pytest.raises(
        WrongInput, match="line 3, column rank_1_is: '', but 'most_preferred' in line 2"
    ):
        declared(Path("mine.csv"), [(2, {RANK_IS: "most_preferred"}), (3, {RANK_IS: ""})])
    with pytest.raises(
        WrongInput, match="line 3, column rank_1_is: 'most_preferred', but '' in line 2"
    ):
        declared(Path("mine.csv"), [(2, {}), (3, {RANK_IS: "most_preferred"})])


def test_own_answers_to_a_survey_published_the_other_way_must_say_which_way_they_run(tmp_path):
    _, survey = people([[1, 2, 3]])
    auscj = replace(survey, id="deliberr.auscj")
    with pytest.raises(WrongInput, match=r"nothing says what rank 1 is.*rank_1=least_preferred"):
        check_answers(own_file(tmp_path), auscj)
    for mark, first in (("least_preferred", [3, 2, 1]), ("most_preferred", [1, 2, 3])):
        checked = check_answers(own_file(tmp_path), auscj, rank_1=mark)
        assert checked.answers.preferences["pre"][0].tolist() == first


def test_the_columns_of_the_published_table_are_read_without_a_mark(files):
    from delibsim.store.instruments.answers import read_answers

    found = read_answers(files / "human_data.csv", COLUMNS)["auscj"]
    assert found.preferences["pre"].tolist() == RANKS


def test_surveys_shows_what_was_turned_round(files, tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from delibsim.cli.listing import app as listing

    monkeypatch.chdir(tmp_path)
    said = CliRunner().invoke(import_, [str(files), "--as", "deliberr"]).output
    assert "note: auscj: rank 1 is the least preferred in its answers" in said
    listed = CliRunner().invoke(listing, ["surveys"]).output.splitlines()
    ends = {line.split()[0]: line.rstrip() for line in listed if line.strip()}
    assert ends["deliberr.auscj"].endswith("turned round")
    assert ends["deliberr.ccps"].endswith("as published")
    assert ends["ccps"].endswith("no")
    shown = CliRunner().invoke(listing, ["surveys", "deliberr.auscj"]).output
    assert "Rank 1 is the most preferred; turned round: in the published answers" in shown
    assert "rank 1 is the least preferred" in " ".join(shown.split())
    words = ["surveys", "deliberr.auscj", "--json"]
    plain = json.loads(CliRunner().invoke(listing, words).output)
    assert plain["rank_1_in_source"] == "least_preferred"


def test_the_option_of_the_command_is_the_one_of_the_check(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    monkeypatch.chdir(tmp_path)
    (tmp_path / "surveys").mkdir()
    items = "".join(f"  - {{id: C{k}, text: Reason {k}.}}\n" for k in (1, 2, 3))
    ways = "".join(f"  - {{id: P{k}, text: Way {k}.}}\n" for k in (1, 2, 3))
    text = f"id: ways\nconsiderations:\n{items}preferences:\n{ways}"
    (tmp_path / "surveys" / "ways.yaml").write_text(text)
    words = [str(own_file(tmp_path)), "--as", "answers", "survey=ways"]
    result = CliRunner().invoke(import_, [*words, "rank_1=least_preferred"])
    assert result.exit_code == 0, result.output
    with (tmp_path / "answers" / "ways.csv").open(newline="") as file:
        first = next(csv.DictReader(file))
    assert first[RANK_IS] == "most_preferred"
    assert [first[f"P{k}"] for k in (1, 2, 3)] == ["3", "2", "1"]
    refused = CliRunner().invoke(import_, [*words, "rank_1=first"])
    assert refused.exit_code != 0
