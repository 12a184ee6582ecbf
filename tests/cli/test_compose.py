"""From overrides to sessions: names that say what differs, sweeps, and what is refused before anything is begun."""

import pytest

from delibsim.cli.compose import plan


def test_a_study_of_another_seed_is_refused_with_the_difference(delibsim, study, files, small):
    before = files()
    answer = delibsim("run", "study=s", *small, "seed=8")
    assert (answer.code, answer.out) == (2, "")
    assert "seed: 7 -> 8" in answer.err
    assert "study=NAME" in answer.err
    assert files() == before


@pytest.mark.parametrize(
    ("name", "text", "changed", "override", "difference"),
    [
        (
            "conf/treatment/own.yaml",
            "name: own\ninstructions: Talk.\n",
            "name: own\ninstructions: Sing.\n",
            "treatment=own",
            "treatments.own.instructions",
        ),
        (
            "conf/model/own.yaml",
            "name: own\nkind: citizen\nnoise: 0.4\n",
            "name: own\nkind: citizen\nnoise: 0.9\n",
            "model=own",
            "models.own.noise",
        ),
        ("conf/persona/own.yaml", "name: own\npersonas: [A]\n", "name: own\npersonas: [B]\n", "persona=own", "personas.own.personas[1]"),
        ("topics/own.yaml", "id: own\nquestion: A?\nsurvey: ccps\n", "id: own\nquestion: B?\nsurvey: ccps\n", "topic=own", "topics.own"),
    ],
)
@pytest.mark.parametrize("replicate", [1, 2])
def test_what_changed_under_its_name_is_refused_with_the_difference(
    delibsim, home, files, small, name, text, changed, override, difference, replicate
):
    path = home / name
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    overrides = [one for one in small if not one.startswith("topic")]
    assert delibsim("run", "-q", "study=s", *overrides, override).code == 0
    path.write_text(changed, encoding="utf-8")
    before = files("runs")
    answer = delibsim("run", "study=s", *overrides, override, f"replicate={replicate}")
    assert (answer.code, answer.out) == (2, "")
    assert difference in answer.err
    assert files("runs") == before


@pytest.mark.parametrize(
    ("override", "name"),
    [
        ("treatment=none", "ccps.none.citizen_size2.r1"),
        ("topic=acp", "acp.normative.citizen_rounds1_size2.r1"),
        ("replicate=2", "ccps.normative.citizen_rounds1_size2.r2"),
        ("model=citizen_open", "ccps.normative.citizen_open_rounds1_size2.r1"),
        ("group.size=5", "ccps.normative.citizen_rounds1.r1"),
        ("rounds=2", "ccps.normative.citizen_size2.r1"),
        ("temperature=0.5", "ccps.normative.citizen_rounds1_size2_temperature0_5.r1"),
        ("persona=values", "ccps.normative.citizen_persona-values_rounds1_size2.r1"),
        ("procedure.recall=false", "ccps.normative.citizen_recall-false_rounds1_size2.r1"),
        ("procedure.audience.network=ring", "ccps.normative.citizen_network-ring_rounds1_size2.r1"),
        ("model.noise=0.9", "ccps.normative.citizen_noise0_9_rounds1_size2.r1"),
        ("survey=acp", "ccps.normative.citizen_rounds1_size2_survey-acp.r1"),
    ],
)
def test_whatever_differs_is_a_session_of_its_own_and_added(delibsim, study, small, override, name):
    before = (study / "run.json").read_bytes()
    key = override.partition("=")[0]
    overrides = [*(one for one in small if not one.startswith(f"{key}=")), override]
    answer = delibsim("run", "-q", "study=s", *overrides)
    assert (answer.code, answer.err) == (0, "")
    assert (study / "run.json").read_bytes() == before
    assert {path.parent.name for path in study.parent.glob("*/run.json")} == {study.name, name}
    assert delibsim("run", "-q", "study=s", *overrides, "--json").json["already_held"]
    assert delibsim("status", "s").code == 0


@pytest.mark.parametrize("override", ["survey=ccps", "rounds=2", "temperature=0", "group.size=5", "model.noise=0.4", "persona=none"])
def test_what_is_so_anyway_makes_no_other_session(home, override):
    assert plan([override], home).session == plan([], home).session
