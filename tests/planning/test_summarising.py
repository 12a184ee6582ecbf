"""Presets of summaries: conf/summary, beside the user first; what is given goes before them."""

import pytest
from cases import cases_of

from delibsim import WrongInput
from delibsim.asking.kinds.summary_plan import ALL, summarising_asked
from delibsim.planning.presets import Presets

CASES = cases_of(__file__)


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """Writes a preset of the user's."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "conf" / "summary"
    folder.mkdir(parents=True)
    return (folder / "mine.yaml").write_text


def test_every_preset_of_the_package_can_be_taken(tmp_path):
    names = Presets(tmp_path).names("summary")
    assert set(names) >= {"benchmark", "rated", "minorities"}
    found = {name: summarising_asked([f"summary={name}"]).settings for name in names}
    assert len(found["benchmark"].sizes) == 11
    assert found["rated"].sizes == (10, 20, 30, 50, 90)
    assert found["minorities"].sizes == (500, 1000, ALL)


def test_what_is_given_goes_before_a_preset_and_a_preset_before_the_defaults(mine):
    mine("sizes: 20,all\ngroups: stance\nruns: 9\n")
    settings = summarising_asked(["runs=2", "summary=mine"]).settings
    assert (settings.runs, settings.sizes, settings.groups) == (2, (20, ALL), "stance")
    assert settings.draws == 1


@pytest.mark.parametrize(
    ("text", "told"), CASES["a_preset_that_cannot_be_is_refused_with_its_file"]
)
def test_a_preset_that_cannot_be_is_refused_with_its_file(mine, text, told):
    mine(text)
    with pytest.raises(WrongInput, match=told):
        summarising_asked(["summary=mine"])


def test_an_unknown_preset_is_refused_with_those_there_are():
    with pytest.raises(WrongInput, match="unknown summary 'bench'.*benchmark"):
        summarising_asked(["summary=bench"])
