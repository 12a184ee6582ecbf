"""`delibsim run`: one session as a user asks for it, again, differently, and wrongly."""

import json
import re

import pytest

# what is asked for is held


def test_two_folders_hold_the_same_run_to_the_byte_and_another_seed_another(
    delibsim, home, monkeypatch
):
    written = []
    for name, seed in (("one", 7), ("two", 7), ("three", 8)):
        (home / name).mkdir()
        monkeypatch.chdir(home / name)
        answer = delibsim(
            "run", "-q", "study=a", "topic=ccps", "treatment=normative", f"seed={seed}"
        )
        assert (answer.code, answer.err) == (0, "")
        written.append((home / name / "runs/a/ccps.normative.citizen.r1/run.json").read_bytes())
    assert written[0] == written[1]
    one, three = json.loads(written[0]), json.loads(written[2])
    assert one["responses"] != three["responses"]
    assert one["transcript"] != three["transcript"]


# once more, and into a study that exists


@pytest.mark.parametrize("name", ["run.json", "session.json", "../study.json"])
def test_what_cannot_be_read_is_named_and_left_alone(delibsim, study, files, small, name):
    place = (study / name).resolve()
    place.write_text("[" if name.startswith("..") else "{", encoding="utf-8")
    before = files()
    answer = delibsim("run", "study=s", *small)
    assert answer.code == 2
    assert str(place.relative_to(study.parents[2])) in answer.err
    assert files() == before


def test_a_damaged_run_beside_it_is_named_and_left_out_of_the_scores(delibsim, study, small):
    (study / "run.json").write_text("{", encoding="utf-8")
    answer = delibsim("run", "-q", "study=s", *small, "replicate=2", "--json")
    assert answer.code == 3
    assert answer.json["status"] == "complete"
    assert "runs/s/ccps.normative.citizen_rounds1_size2.r1/run.json: " in answer.err


# what cannot be is refused before anything is written


def test_names_that_differ_only_in_case_are_studies_of_their_own(delibsim, home, small):
    for name in ("demo", "Demo", "DEMO"):
        assert delibsim("run", "-q", f"study={name}", *small).code == 0
    assert len({path.name.lower() for path in (home / "runs").iterdir()}) == 3


def test_without_a_name_a_study_is_named_after_what_is_held(delibsim, home, small):
    for override in ("seed=7", "seed=7", "seed=8"):
        assert delibsim("run", "-q", *small[:-1], override).code == 0
    names = [path.name for path in (home / "runs").iterdir()]
    assert len(names) == 2
    assert all(
        re.fullmatch(r"ccps.normative.citizen_rounds1_size2_[0-9a-f]{8}", name) for name in names
    )


def test_a_file_in_the_place_of_the_folder_is_a_clear_error(delibsim, home, files, small):
    (home / "runs").write_text("I was here first.", encoding="utf-8")
    answer = delibsim("run", "study=s", *small)
    assert (answer.code, answer.out) == (2, "")
    assert str(home / "runs") in answer.err
    assert "Traceback" not in answer.err
    assert files() == {"runs": b"I was here first."}


# what is shown


def test_the_summary_says_what_a_careful_reader_must_know(delibsim, small):
    answer = delibsim("run", "-q", "study=s", *small)
    assert answer.code == 0
    for part in (
        "How should the Australian Capital Territory respond to climate change?",
        "2 participants (citizen), treatment normative, 1 round, survey ccps",
        "Deliberative Reason Index",
        "people (n 31)",
        "0.532  0.636  +0.104",
        "Missing    no answer and no statement",
        "has not been validated",
        "it is no language model",
        "6: 6 ok",
        "runs/s/ccps.normative.citizen_rounds1_size2.r1/run.json",
        "delibsim show runs/s/ccps.normative.citizen_rounds1_size2.r1",
    ):
        assert part in answer.out
    assert answer.err == ""


def test_no_line_of_the_summary_goes_on_at_the_margin(delibsim, partial, small):
    """What is too long for the screen is left to the terminal, so that paths and reasons can be
    copied whole.
    """
    run = partial / "run.json"
    (partial / "SHA256SUMS").unlink()
    long = "against my policy, " * 9 + "as I said"
    run.write_text(
        run.read_text(encoding="utf-8").replace("against my policy", long), encoding="utf-8"
    )
    lines = delibsim("run", "study=p", "-q", *small).out.splitlines()
    begins = lines.index(next(line for line in lines if line.startswith("Undefined")))
    heads = (
        *("Undefined", "Missing", "Flagged", "Survey", "People", "Model", "No effect", "Dropped"),
        *("Calls", "Files", "Next", "   "),
    )
    assert all(line.startswith(heads) for line in lines[begins:] if line)
    assert f"Missing    Participant 1, before: 27 answers (refusal: {long})" in lines
    name = "with_its_session_it_fills_the_line_to_the_end"
    lines = delibsim("run", f"study={name}", "-q", *small).out.splitlines()
    folder = f"runs/{name}/{partial.name}"
    assert len(f"Next       delibsim show {folder}") > 100
    assert {
        f"Files      {folder}/run.json (the run), exchanges.jsonl (every call)",
        f"Next       delibsim show {folder}",
        f"           delibsim view {folder}",
        f"           delibsim analyze runs/{name}",
    } <= {*lines}


def test_a_run_in_which_something_is_missing_is_partial_and_says_what_and_why(
    delibsim, partial, small
):
    answer = delibsim("run", "study=p", *small)
    assert answer.code == 3
    assert "Participant 1, before: 27 answers (refusal: against my policy)" in answer.out.replace(
        "\n", " "
    )
    assert "Undefined" in answer.out
    as_json = delibsim("run", "study=p", *small, "--json")
    assert as_json.code == 3
    assert as_json.json["status"] == "partial"
    assert as_json.json["measures"]["dri"] == {"pre": None, "post": None, "change": None}
    assert as_json.json["undefined"]["dri.pre"]
    assert {
        (gap["participant"], gap["occasion"].split()[0]) for gap in as_json.json["missing"]
    } == {("Participant 1", "pre"), ("Participant 1", "turn"), ("Participant 1", "post")}
