"""From overrides to sessions: names that say what differs, sweeps, and what is refused before
anything is begun.
"""

import json
from collections import Counter

import pytest
from cases import cases_of

from delibsim import WrongInput, compose
from delibsim.domain.condition import conditions
from delibsim.planning.compose import plan

CASES = cases_of(__file__)


@pytest.mark.parametrize(
    ("name", "text", "changed", "override", "difference"),
    CASES["what_changed_under_its_name_is_refused_with_the_difference"],
)
def test_what_changed_under_its_name_is_refused_with_the_difference(
    delibsim, home, files, small, name, text, changed, override, difference
):
    path = home / name
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    overrides = [one for one in small if not one.startswith("topic")]
    assert delibsim("run", "-q", "study=s", *overrides, override).code == 0
    path.write_text(changed, encoding="utf-8")
    before = files("runs")
    answer = delibsim("run", "study=s", *overrides, override, "replicate=2")
    assert (answer.code, answer.out) == (2, "")
    assert difference in answer.err
    assert files("runs") == before


@pytest.mark.parametrize(
    ("override", "name"),
    CASES["whatever_differs_is_a_session_of_its_own_and_added"],
)
def test_whatever_differs_is_a_session_of_its_own_and_added(delibsim, study, small, override, name):
    before = (study / "run.json").read_bytes()
    key = override.partition("=")[0]
    overrides = [*(one for one in small if not one.startswith(f"{key}=")), override]
    answer = delibsim("run", "-q", "study=s", *overrides)
    warned = "answer the survey acp" in answer.err
    assert (answer.code, warned, bool(answer.err)) == (0, key == "survey", key == "survey")
    assert (study / "run.json").read_bytes() == before
    assert {path.parent.name for path in study.parent.glob("*/run.json")} == {study.name, name}
    assert delibsim("run", "-q", "study=s", *overrides, "--json").json["already_held"]
    assert delibsim("status", "s").code == 0


@pytest.mark.parametrize(
    "override",
    ["survey=ccps", "rounds=2", "temperature=0", "group.size=5", "model.noise=0.4", "persona=none"],
)
def test_what_is_so_anyway_makes_no_other_session(home, override):
    assert plan([override], home).session == plan([], home).session


# sweeps


def ids(overrides, home):
    return [session.id for session in plan(["study=s", *overrides], home, sweep=True).sessions]


def test_a_sweep_is_every_combination_in_order(home):
    assert ids(["topic=acp,ccps", "treatment=none,basic", "replicate=range(1,3)"], home) == [
        f"{topic}.{treatment}.citizen.r{replicate}"
        for topic in ("acp", "ccps")
        for treatment in ("none", "basic")
        for replicate in (1, 2)
    ]


@pytest.mark.parametrize(
    ("override", "n"),
    CASES["every_form_of_hydras_sweeps_and_the_shorthand_all"],
)
def test_every_form_of_hydras_sweeps_and_the_shorthand_all(home, override, n):
    assert len(set(ids([override], home))) == n


def test_a_topic_of_ones_own_is_among_all(home):
    (home / "topics").mkdir()
    (home / "topics" / "own.yaml").write_text(
        "id: own\nquestion: A?\nsurvey: ccps\n", encoding="utf-8"
    )
    assert "own.normative.citizen.r1" in ids(["topic=all"], home)


def test_one_model_seated_by_group_models_is_the_same_session_as_by_model(home):
    assert (
        plan(["group.models=[citizen_open]"], home).session
        == plan(["model=citizen_open"], home).session
    )


def test_combinations_that_are_one_session_are_held_once_and_counted(home):
    planned = plan(["study=s", "treatment=none,basic", "rounds=2,4,6"], home, sweep=True)
    assert [session.id for session in planned.sessions] == [
        "ccps.none.citizen.r1", "ccps.basic.citizen.r1", "ccps.basic.citizen_rounds4.r1", "ccps.basic.citizen_rounds6.r1",
    ]  # fmt: skip
    assert planned.repeated == 2


def test_treatments_share_people_orders_and_shuffles(home):
    one, other = plan(["study=s", "treatment=basic,normative", "seed=7"], home, sweep=True).sessions
    assert one.seed_for("population") == other.seed_for("population")
    assert one.seed_for("population") != plan(["replicate=2", "seed=7"], home).session.seed_for(
        "population"
    )


@pytest.mark.parametrize(
    ("experiment", "n"),
    [
        ("main_grid", 180),
        ("smoke", 12),
        ("group_size", 90),
        ("rounds", 45),
        ("temperature", 90),
        ("wording", 75),
    ],
)
def test_every_experiment_can_be_held_by_citizens(home, experiment, n):
    planned = plan([f"experiment={experiment}", "model=citizen", "survey=null"], home, sweep=True)
    assert planned.study == experiment
    assert len(planned.sessions) == n
    assert {
        settings["kind"] for session in planned.sessions for settings in session.models.values()
    } == {"citizen"}


FAMILIES = ("gpt_5_1", "gemini_3_pro", "deepseek_v3_2", "kimi_k2")
MIXED = (*FAMILIES, "claude_opus_4_5")
SET_UPS = {
    *((name,) for name in FAMILIES),
    *((f"{name}_reasoning",) for name in FAMILIES),
    ("claude_opus_4_5",),
    MIXED,
    tuple(f"{name}_reasoning" for name in MIXED),
}
"""The eleven set-ups of the published study."""


@pytest.fixture(scope="module")
def main_grid(tmp_path_factory):
    """The plan of the published study, in its short forms, from an empty folder."""
    home = tmp_path_factory.mktemp("main_grid")
    return plan(["experiment=main_grid", "survey=null"], home, sweep=True)


def test_the_main_grid_is_that_of_the_published_study(main_grid, home):
    planned = main_grid
    assert len(planned.sessions) == 11 * 12 * 3 * 5
    assert {tuple(sorted(session.models)) for session in planned.sessions} == {
        tuple(sorted(s)) for s in SET_UPS
    }
    assert Counter(tuple(sorted(s.models)) for s in planned.sessions) == {
        tuple(sorted(s)): 180 for s in SET_UPS
    }
    assert {session.treatment.name for session in planned.sessions} == {
        "none",
        "basic",
        "normative",
    }
    (procedure,) = {session.procedure for session in planned.sessions}
    assert procedure == compose("procedure=published", home=home).procedure
    assert not procedure.background
    temperatures = {
        own["temperature"] for session in planned.sessions for own in session.models.values()
    }
    assert temperatures == {0}


def test_the_main_grid_asks_for_the_instruments_where_they_were_not_imported(home):
    with pytest.raises(WrongInput, match="import PATH --as deliberr") as caught:
        plan(["experiment=main_grid", "replicate=1"], home, sweep=True)
    assert "survey=null" in str(caught.value)
    assert str(caught.value).count("--as deliberr") == 1


def test_the_offline_grid_is_the_main_grid_with_eleven_kinds_of_citizens(main_grid, home):
    online = main_grid.sessions
    offline = plan(["experiment=main_grid_offline"], home, sweep=True).sessions
    assert len(offline) == len(online) == 1980
    kinds = {name for session in offline for name in session.models}
    assert len(kinds) == 11
    settings = {
        json.dumps({k: v for k, v in own.items() if k != "name"})
        for s in offline
        for own in s.models.values()
    }
    assert len(settings) == 11

    def design(session):
        return (
            session.topic,
            session.survey,
            session.treatment,
            session.procedure,
            session.replicate,
            session.seed,
        )

    assert sorted(map(repr, map(design, offline))) == sorted(map(repr, map(design, online)))


@pytest.mark.parametrize(
    "experiment", ["group_size", "rounds", "temperature", "wording", "persona"]
)
def test_ablations_are_on_three_topics_and_models_of_the_main_grid(home, experiment):
    extra = ["persona=none,values"] if experiment == "persona" else []
    planned = plan([f"experiment={experiment}", "survey=null", *extra], home, sweep=True)
    assert {session.topic.id for session in planned.sessions} == {"fnqcj", "ccps", "acp"}
    assert {name for session in planned.sessions for name in session.models} == {
        "gpt_5_1",
        "deepseek_v3_2",
    }
    assert 60 <= len(planned.sessions) <= 180
    assert not any(session.procedure.background for session in planned.sessions)


def test_the_command_line_replaces_what_an_experiment_says(home):
    planned = plan(["experiment=smoke", "topic=fremantle", "study=mine"], home, sweep=True)
    assert (
        planned.study,
        {session.topic.id for session in planned.sessions},
        len(planned.sessions),
    ) == ("mine", {"fremantle"}, 6)


DEBATE = ("format=debate", "motion=voting")


def test_a_debate_sends_the_providers_own_sampling_and_4000_tokens_at_most(home):
    models = compose(
        *DEBATE,
        "proposition=gpt_5_1",
        "opposition=deepseek_v3_2_reasoning",
        "model=local",
        "audience=1",
    ).models
    assert {
        name: (model["temperature"], model["max_tokens"]) for name, model in models.items()
    } == {"gpt_5_1": (None, 4000), "deepseek_v3_2_reasoning": (None, 4000), "local": (None, 4000)}
    citizen = compose(*DEBATE).models["citizen"]
    assert citizen["temperature"] is None
    assert "max_tokens" not in citizen


def test_what_a_debate_is_set_to_at_the_command_line_holds_and_stands_in_its_name(home):
    own = compose(*DEBATE, "model=gpt_5_1", "temperature=0.5", "model.max_tokens=900")
    assert (own.models["gpt_5_1"]["temperature"], own.models["gpt_5_1"]["max_tokens"]) == (0.5, 900)
    assert own.id == "voting.oxford.gpt_5_1-v-gpt_5_1_max_tokens900_temperature0_5.r1"
    assert compose(*DEBATE, "model=gpt_5_1").id == "voting.oxford.gpt_5_1-v-gpt_5_1.r1"
    assert compose(*DEBATE, "temperature=0").id == "voting.oxford.citizen-v-citizen_temperature0.r1"
    assert compose(*DEBATE, "temperature=null").id == "voting.oxford.citizen-v-citizen.r1"


def test_a_deliberation_may_send_no_temperature(home):
    session = compose("topic=ccps", "model=gpt_5_1", "temperature=null")
    assert session.models["gpt_5_1"]["temperature"] is None
    assert session.models["gpt_5_1"]["max_tokens"] == 4096
    assert session.id == "ccps.normative.gpt_5_1_temperature-null.r1"
    assert compose("topic=ccps", "model=gpt_5_1").models["gpt_5_1"]["temperature"] == 0.0


def test_a_file_of_ones_own_sets_what_debates_take(home):
    (home / "conf" / "debate").mkdir(parents=True)
    (home / "conf" / "debate" / "default.yaml").write_text("temperature: 0.0\nmax_tokens: null\n")
    session = compose(*DEBATE, "model=gpt_5_1", home=home)
    assert (session.models["gpt_5_1"]["temperature"], session.models["gpt_5_1"]["max_tokens"]) == (
        0.0,
        4096,
    )
    assert session.id == "voting.oxford.gpt_5_1-v-gpt_5_1.r1"


def test_a_debater_that_is_to_think_with_more_than_a_debate_allows_is_refused(home):
    claude = "proposition=claude_opus_4_5_reasoning"
    with pytest.raises(
        WrongInput,
        match=r"up to 8000 tokens, and a debate allows 4000 .* set model.max_tokens=16000",
    ):
        compose(*DEBATE, claude)
    assert (
        compose(*DEBATE, claude, "model.max_tokens=16000").models["claude_opus_4_5_reasoning"][
            "max_tokens"
        ]
        == 16000
    )


def test_the_defaults_of_debates_are_no_setting_of_the_command_line(home):
    with pytest.raises(
        WrongInput, match=r"'debate.temperature' stands in conf/debate/default.yaml"
    ):
        compose(*DEBATE, "debate.temperature=1")


def test_a_study_keeps_no_demand_that_is_off(home):
    (rules,) = (
        part["rules"] for part in plan(DEBATE, home).manifest.components["procedures"].values()
    )
    assert set(rules) == {"least", "most", "reasks", "then", "preparation"}
    asked = plan([*DEBATE, "procedure.rules.fairness=true"], home)
    assert asked.session.id == "voting.oxford.citizen-v-citizen_fairness-true.r1"
    (rules,) = (part["rules"] for part in asked.manifest.components["procedures"].values())
    assert rules["fairness"] is True


def test_a_tournament_takes_the_ten_motions_and_those_of_ones_own(home):
    experiment = ["experiment=oxford", "tournament.debaters=[citizen,citizen_plain]"]
    motions = {session.topic.id for session in plan(experiment, home, sweep=True).sessions}
    assert len(motions) == 10
    assert "remote_work" in motions
    assert "remote_work_right" not in motions
    (home / "topics").mkdir()
    for id, line in (("own", ""), ("shy", "tournament: false\n")):
        (home / "topics" / f"{id}.yaml").write_text(
            f'id: {id}\nmotion: "This house agrees."\n{line}'
        )
    sessions = plan(experiment, home, sweep=True).sessions
    assert {session.topic.id for session in sessions} == motions | {"own"}
    named = plan([*experiment, "tournament.motions=[shy,ai_art_harm]"], home, sweep=True)
    assert {session.topic.id for session in named.sessions} == {"shy", "ai_art_harm"}


def test_a_file_of_ones_own_cannot_pass_for_the_published_procedure(home):
    (home / "conf" / "procedure").mkdir(parents=True)
    (home / "conf" / "procedure" / "published.yaml").write_text("recall: true\n")
    with pytest.raises(WrongInput, match="would pass for the procedure of the published study"):
        compose("topic=acp", "procedure=published", home=home)
    assert compose("topic=acp", home=home).procedure.recall


def test_settings_of_models_pass_by_debaters_that_do_not_have_them(home):
    voices = ("proposition=gpt_5_1_reasoning", "opposition=human", "model.max_tokens=16000")
    models = compose(*DEBATE, *voices, home=home).models
    assert models["gpt_5_1_reasoning"]["max_tokens"] == 16000
    assert "max_tokens" not in models["human"]
    thinks = ("proposition=claude_opus_4_5_reasoning", "opposition=gpt_5_1_reasoning")
    models = compose(*DEBATE, *thinks, "model.extra.thinking.budget_tokens=2000", home=home).models
    assert models["claude_opus_4_5_reasoning"]["extra"]["thinking"]["budget_tokens"] == 2000
    assert models["gpt_5_1_reasoning"]["extra"] == {}


def test_a_setting_that_no_debater_has_is_refused(home):
    with pytest.raises(WrongInput, match="unknown setting 'model.skil'"):
        compose(*DEBATE, "proposition=citizen_plain", "opposition=human", "model.skil=1", home=home)


def test_a_tournament_counts_its_own_replicates(home):
    with pytest.raises(WrongInput, match="tournament.meetings=N"):
        plan(["experiment=oxford", "replicate=1,2"], home, sweep=True)


def test_a_condition_with_personas_goes_by_the_name_of_their_set(home):
    sweep = ["study=s", "topic=acp", "treatment=none", "persona=none,values", "replicate=1,2"]
    sessions = plan(sweep, home, sweep=True).sessions
    assert {session.personas for session in sessions} == {"", "values"}
    told = {str(condition) for condition in conditions(sessions).values()}
    assert told == {"acp, none, citizen, persona=none", "acp, none, citizen, persona=values"}


def test_null_in_an_experiment_is_told_how_it_is_written(home):
    (home / "conf" / "experiment").mkdir(parents=True)
    text = (
        "# @package _global_\nhydra:\n  sweeper:\n    params:\n      study: x\n     "
        " procedure.words: null\n"
    )
    (home / "conf" / "experiment" / "own.yaml").write_text(text)
    with pytest.raises(WrongInput, match="null stands in quotes"):
        plan(["experiment=own"], home, sweep=True)
    (home / "conf" / "experiment" / "own.yaml").write_text(text.replace("null", '"null"'))
    (session,) = plan(["experiment=own"], home, sweep=True).sessions
    assert session.procedure.words is None


@pytest.mark.parametrize(
    ("sweep", "given", "named"),
    [
        (False, ["topic=acp", "topic=ccps"], ("'topic'", "topic=acp and topic=ccps")),
        (False, ["group.size=2", "group.size=2"], ("'group.size'",)),
        (False, ["+model.extra.top_k=1", "model.extra.top_k=2"], ("model.extra.top_k=2",)),
        (True, ["study=s", "topic=acp,ccps", "topic=biobanking_wa"], ("FIRST,SECOND",)),
        (True, ["experiment=smoke", "experiment=main_grid"], ("'experiment'",)),
        (True, ["hydra/launcher=joblib", "hydra/launcher=ray"], ("'hydra/launcher'",)),
    ],
)
def test_a_setting_that_is_given_twice_is_refused_with_both(home, sweep, given, named):
    with pytest.raises(WrongInput, match="given more than once") as refusal:
        plan(given, home, sweep=sweep)
    for text in named:
        assert text in str(refusal.value)


def test_an_address_that_is_given_twice_is_not_repeated(home):
    given = ["model=local", "base_url=http://me:s3cret-word@a/v1", "base_url=http://b/v1"]
    with pytest.raises(WrongInput, match="given more than once") as refusal:
        plan(given, home)
    assert "s3cret-word" not in str(refusal.value)
