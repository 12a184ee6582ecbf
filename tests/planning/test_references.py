"""References between settings: which are filled in, which are refused, and how many."""

import contextlib
import time

import pytest
from cases import cases_of

from delibsim import WrongInput
from delibsim.planning.compose import plan

CASES = cases_of(__file__)
TREATMENT = "name: own\ninteraction: true\nrounds: 1\ninstructions: %s\n"
EXPERIMENT = "# @package _global_\nhydra:\n  sweeper:\n    params:\n      study: e\n      %s\n"
PERSONA = "name: own\npersonas: ['%s', b]\n"
MODEL = "name: own\nkind: openai_compatible\nmodel: m\nbase_url: http://h/v1\nextra: {a: '%s'}\n"
WORDING = "defaults: [default]\nid: own\ntexts: {speak: '%s'}\n"


@pytest.fixture
def composed(tmp_path, monkeypatch):
    """Plan a study from files of the user's, with a secret in the environment."""
    monkeypatch.setenv("SOME_WORD", "canaryvalue-1234567890")

    def go(files, *overrides, sweep=False):
        for name, text in files.items():
            path = tmp_path / "conf" / f"{name}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return plan(overrides, tmp_path, sweep=sweep)

    return go


def refused(composed, *arguments, **options):
    """What is said of settings that are refused, which is said soon and holds no secret."""
    begun = time.monotonic()
    with pytest.raises(WrongInput) as caught:
        composed(*arguments, **options)
    assert time.monotonic() - begun < 10
    assert "canary" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("more", [(), ("survey=${topic}",)])
@pytest.mark.parametrize("text", CASES["a_text_reads_neither_the_environment_nor_what_may"])
def test_a_text_reads_neither_the_environment_nor_what_may(composed, text, more):
    files = {"treatment/own": TREATMENT % text}
    said = refused(composed, files, "model=local", "treatment=own", *more)
    assert "treatment.instructions" in said


@pytest.mark.parametrize(
    ("files", "overrides"),
    [
        ({"persona/own": PERSONA % "${oc.env:SOME_WORD}"}, ("persona=own",)),
        ({"model/own": MODEL % "${oc.env:SOME_WORD}"}, ("model=own",)),
        ({"wording/own": WORDING % "${oc.env:SOME_WORD}"}, ("wording=own",)),
        ({}, ("study=${oc.env:SOME_WORD}",)),
        ({}, ("treatment.instructions=${oc.env:SOME_WORD}",)),
        ({"treatment/own": "defaults:\n  - ${oc.env:SOME_WORD}\n"}, ("treatment=own",)),
    ],
)
def test_nor_does_any_other_file_or_setting(composed, files, overrides):
    refused(composed, files, *overrides)


@pytest.mark.parametrize("setting", ["study: ${oc.env:SOME_WORD}", "runs: ${oc.env:SOME_KEY}"])
def test_nor_does_an_experiment(composed, setting):
    files = {"experiment/own": (EXPERIMENT % setting).replace("study: e\n      study", "study")}
    refused(composed, files, "experiment=own", sweep=True)


def test_how_a_study_is_carried_out_may_come_from_the_environment(composed, monkeypatch):
    monkeypatch.setenv("SERVER", "http://h:8000/v1")
    overrides = ("model=local", "base_url=${oc.env:SERVER}", "limits.tries=${oc.env:NONE,3}")
    found = composed({}, *overrides)
    assert found.addresses == {"local": "http://h:8000/v1"}
    assert found.limits.tries == 3


def test_a_secret_is_no_part_of_an_address(composed):
    assert "model.key_env" in refused(composed, {}, "base_url=http://h/${oc.env:MY_API_KEY}")


@pytest.mark.parametrize("more", [(), ("survey=${topic}",)])
def test_what_is_written_behind_a_backslash_stays_as_it_is(composed, more):
    texts = {"treatment/own": TREATMENT % r"It costs \${oc.env:SOME_WORD}"}
    session = composed(texts, "treatment=own", *more).session
    assert session.treatment.instructions == "It costs ${oc.env:SOME_WORD}"


def doubling(levels, width=2):
    """Settings of which each holds the one before several times."""
    lines = ["b0: x"]
    for k in range(1, levels):
        lines.append(f"b{k}: '{f'${{.b{k - 1}}}' * width}'")
    return "\n".join(lines)


@pytest.mark.parametrize(
    "more",
    [
        doubling(60),
        doubling(15, 50),
        doubling(3000, 1),
        "b0: ${.b59}\nb59: ${.b0}",
        "b59: ${treatment}",
        "b59: '" + "${topic}" * 60_000 + "'",
    ],
)
def test_references_that_stand_for_too_many_are_refused_at_once(composed, more):
    last = "${.b14}" if "b15" not in more and "b14" in more else "${.b59}"
    files = {"treatment/own": f"{TREATMENT % last}{more}\n"}
    assert "refer" in refused(composed, files, "treatment=own")


@pytest.mark.parametrize(
    "setting",
    [
        "replicate: range(1,100000000000)",
        "temperature: range(0,1,0.0000000001)",
        "replicate: range(1,90000)\n      temperature: range(0,1,0.01)",
        "group.models: '" + "[" * 3000 + "]" * 3000 + "'",
    ],
)
def test_a_sweep_without_end_is_refused_at_once(composed, setting):
    refused(composed, {"experiment/own": EXPERIMENT % setting}, "experiment=own", sweep=True)


@pytest.mark.parametrize(
    "text", ["name: !!binary aGVsbG8=\n", f"name: {'9' * 6000}\n", "null: 1\n", "b: !!set {a, b}\n"]
)
def test_values_that_no_setting_can_have_are_refused(composed, text):
    assert refused(composed, {"treatment/own": text}, "treatment=own")


@pytest.mark.parametrize("params", ["hydra: {sweeper: null}", "hydra: {sweeper: {params: [1]}}"])
def test_an_experiment_without_settings_is_no_traceback(composed, params):
    files = {"experiment/own": f"# @package _global_\n{params}\n"}
    with contextlib.suppress(WrongInput):
        composed(files, "experiment=own", sweep=True)
