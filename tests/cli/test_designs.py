"""Designs of mini-publics from the command line: each is held offline, estimated, preregistered,
replayed and forked, and a contrast of two is one of the same people.
"""

import json

import pytest

from delibsim import Runs
from delibsim.planning.presets import Presets

DESIGNS = {
    "facilitation": 3,
    "information_phase": 4,
    "three_waves": 1,
    "norms_and_facilitator": 4,
    "common_statement": 2,
    "deliberative_poll": 2,
    "citizens_assembly": 1,
}
"""The experiments after designs of the literature, and how many conditions each has."""
SMALL = ("topic=acp", "replicate=1", "group.size=4")


@pytest.mark.parametrize("name", DESIGNS)
def test_a_design_of_the_literature_is_held_offline(delibsim, home, name):
    assert delibsim("run", "-m", "-q", f"experiment={name}", *SMALL).code == 0
    runs = Runs(home / "runs", name)
    assert len(runs.sessions()) == DESIGNS[name]
    assert {runs.run(one).status for one in runs.sessions()} == {"complete"}
    assert delibsim("replay", name).code == 0
    assert "docs/designs.md" in Presets(home).file("experiment", name).read_text(encoding="utf-8")


def test_facilitation_of_citizens_makes_no_difference_and_is_told_as_that(delibsim, home):
    settings = ("topic=acp,ccps", "group.size=3")
    assert delibsim("run", "-m", "-q", "experiment=facilitation", *settings).code == 0
    answer = delibsim("analyze", "facilitation", "--draws", "20", "--figures", "none")
    assert answer.code == 0
    assert "with facilitation (none, opening or rounds)" in answer.out
    assert "Each gave the same in every pair of facilitation=opening" in answer.out
    table = home / "runs/facilitation/analysis/tables/ablations.csv"
    rows = [line.split(",") for line in table.read_text(encoding="utf-8").splitlines()]
    own = [row for row in rows if row[0] == "facilitation"]
    assert {(row[2], row[3]) for row in own} == {
        ("opening", "none"),
        ("rounds", "none"),
        ("rounds", "opening"),
    }
    assert {float(row[4]) for row in own} == {0.0}


def test_a_briefing_is_kept_preregistered_and_told_apart(delibsim, home):
    text = "background: A tram.\npro: It is clean.\ncon: It is dear.\n"
    (home / "tram.yaml").write_text(text, encoding="utf-8")
    words = ("run", "-m", "-q", "study=b", "briefing=null,tram.yaml", "replicate=1,2", *SMALL[::2])
    assert delibsim(*words).code == 0
    runs = Runs(home / "runs", "b")
    told = {name: runs.run(name).transcript[0] for name in runs.sessions() if "briefing" in name}
    assert {said.text.split("\n\n")[1] for said in told.values()} == {
        "It is clean.",
        "It is dear.",
    }
    assert delibsim("preregister", "b").code == 0
    plan = (home / "runs/b/preregistration.md").read_text(encoding="utf-8")
    assert "It is dear." in plan
    assert "- briefing: briefing=tram less briefing=none\n" in plan
    (home / "tram.yaml").write_text(text.replace("clean", "quick"), encoding="utf-8")
    again = delibsim(*words)
    assert again.code == 2
    assert "briefings.tram.pro" in again.err


def test_power_is_that_of_what_a_design_varies(delibsim):
    found = delibsim("power", "experiment=facilitation", "--effect", ".1", "--json").json
    assert found["between"] == ["facilitation=rounds", "facilitation=none"]
    assert any("is not known" in note for note in found["components"]["notes"])
    assert found["price"]["sessions"] == 12


def test_a_fork_at_a_turn_of_the_facilitator(delibsim, home):
    led = ("procedure.facilitation=rounds", "procedure.facilitator_names=true", *SMALL)
    assert delibsim("run", "-q", "study=led", *led).code == 0
    (name,) = Runs(home / "runs", "led").sessions()
    (home / "say.txt").write_text("What would it cost?", encoding="utf-8")
    place = f"led/{name}"
    assert delibsim("fork", "-q", place, "--say", "6=say.txt").code == 0
    assert delibsim("fork", "-q", place, "--at", "6", "group.facilitator=citizen_open").code == 0
    assert delibsim("fork", "-q", place, "--at", "6", "facilitator.instructions=Hush.").code == 0
    forks = Runs(home / "runs/led", "forks")
    assert len(forks.sessions()) == 3
    assert delibsim("replay", "led/forks").code == 0
    told = delibsim("fork", "led/forks").out
    for change in ("turn 6 said as given", "citizen -> citizen_open", "of the facilitator differs"):
        assert change in " ".join(told.split())
    left_out = delibsim("fork", place, "--at", "6", "--remove", "7")
    assert (left_out.code, "--leave SEAT" in left_out.err) == (2, True)
    later = delibsim("fork", place, "--at", "12", "rounds=3")
    assert (later.code, "closed the discussion in turn 11" in later.err) == (2, True)


def test_words_of_a_facilitator_and_a_witness_are_coded_if_asked_and_are_in_no_mean(delibsim, home):
    led = ("procedure.facilitation=rounds", "group.witnesses=[expert]", *SMALL, "rounds=1")
    assert delibsim("run", "-q", "study=led", *led).code == 0
    ask = ("code", "ask", "led", "scheme=dqi3", "samples=1", "roles=[witness,citizen,facilitator]")
    assert delibsim(*ask).code == 0
    assert delibsim("code", "replay", "led").code == 0
    runs = Runs(home / "runs", "led")
    (name,) = runs.sessions()
    of_role = {f"{name}/{said.turn.index}": said.turn.role for said in runs.run(name).transcript}
    scores = []
    for line in next((home / "runs/led/scores").glob("codes*")).read_text().splitlines():
        scores.append(json.loads(line))
    groups = [
        one for one in scores if one["measure"] == "dqi3.groups" and one["coder"] == "citizen"
    ]
    statements = {one["target"]: one["value"] for one in groups if one["unit"] == "statement"}
    assert {of_role[text] for text in statements} == {"", "witness"}, "a facilitator is short"
    own = [value for text, value in statements.items() if not of_role[text]]
    (whole,) = [one["value"] for one in groups if one["unit"] == "run"]
    assert whole == sum(own) / len(own) != sum(statements.values()) / len(statements)
    table = delibsim("code", "effect", "led", "treatment=role", "--json").json["rows"]
    assert {(row["a"], row["b"]) for row in table} == {("witness", "citizen")}
    alone = delibsim("code", "ask", "led", "scheme=dqi3", "samples=1")
    assert (alone.code, "roles: 3 entries" in alone.err) == (2, True)
    pairs = ("compare", "ask", "led", "dimension=logical", "roles=[citizen,facilitator]")
    assert delibsim(*pairs).code == 0
    assert delibsim("compare", "replay", "led").code == 0
    unheard = delibsim("code", "handout", "led", "scheme=dqi3", "roles=citizen", "--n", "2")
    assert (unheard.code, "begun with roles" in unheard.err) == (2, True)
