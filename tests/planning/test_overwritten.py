"""Settings that would be overwritten or read by nobody are refused, with the right one named."""

import pytest

from delibsim import WrongInput
from delibsim.planning.compose import plan

SERVER = "name: own\nkind: openai_compatible\nmodel: m\nbase_url: http://h/v1\ntemperature: 0.5\n"


@pytest.mark.parametrize(
    ("overrides", "named"),
    [
        (["model=local", "+model.temperature=0.5"], "temperature=X"),
        (["+model.temperature=0.5"], "temperature=X"),
        (["+model.seed=5"], "seed=N"),
        (["+model.population=5"], "seed=N"),
        (["model=local", "+model.extra.temperature=0.5"], "temperature=X"),
        (["model=local", "+model.extra.seed=5"], "seed=N"),
        (["model=local", "+model.extra.max_tokens=5"], "model.max_tokens=N"),
        (["model=local", "+model.extra.model=gpt"], "model.model=NAME"),
        (["model=local", "+model.extra.n=5"], "one answer"),
        (["model=local", "+model.extra.api_base=http://h"], "base_url=ADDRESS"),
        (["group.models=[gpt_5_1,kimi_k2]", "model.name=x"], "conf/model/"),
        (["group.models=[gpt_5_1,kimi_k2]", "model.model=x/y"], "conf/model/"),
        (["group.models=[gpt_5_1,kimi_k2]", "model.kind=citizen"], "conf/model/"),
        (["group.models=[citizen]", "model=local"], "leave one"),
        (["model=local", "base_url=http://a/v1", "model.base_url=http://b/v1"], "leave one"),
        (["rounds=1", "treatment.rounds=2"], "leave one"),
        (["motion=voting"], "format=debate"),
        (["audience=3"], "format=debate"),
        (["proposition=citizen"], "format=debate"),
        (["tournament.meetings=2"], "format=debate"),
        (["format=debate", "motion=voting", "tournament.meetings=2"], "tournament.design"),
        (["format=debate", "motion=voting", "opposition=citizen_plain", "model.kind=x"], "conf/"),
    ],
)
def test_a_setting_without_effect_is_refused_and_the_right_one_named(tmp_path, overrides, named):
    with pytest.raises(WrongInput, match=named.replace(".", r"\.")):
        plan(overrides, tmp_path)


def test_a_temperature_in_the_file_of_a_model_is_refused(tmp_path):
    path = tmp_path / "conf" / "model" / "own.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(SERVER, encoding="utf-8")
    with pytest.raises(WrongInput, match="temperature=X"):
        plan(["model=own"], tmp_path)


def test_a_tournament_draws_its_motions(tmp_path):
    with pytest.raises(WrongInput, match="draws its debates"):
        plan(["experiment=oxford", "motion=voting"], tmp_path, sweep=True)
