"""Every preset of a model and of a mixed group: composes, can be made, is known and priced, and
sends what docs/models.md says.
"""

import asyncio
import functools
import json
import os
import re
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from cases import cases_of

from delibsim import ModelPool, WrongInput
from delibsim.models.clients.faults import SECRET_NAME, scrub
from delibsim.models.clients.settings import context_window, listed, price_of
from delibsim.models.limits import Limits
from delibsim.planning.compose import plan
from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import Message, Prompt, Purpose

# litellm silences this warning about its own types when it is imported; pytest forgets that after
# the test that imported it.
pytestmark = pytest.mark.filterwarnings("ignore:Item .* on TypedDict class:UserWarning")

ROOT = Path(__file__).resolve().parents[2]
TEXTS = {
    path.stem: path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "conf" / "model").glob("*.yaml"))
    if path.stem not in ("human", "person")
}
GROUPS = sorted({path.stem for path in (ROOT / "conf" / "group").glob("*.yaml")} - {"default"})

CITIZENS = sorted(name for name in TEXTS if name.startswith("citizen"))
NAMED_BY_USER = {
    "ollama": "llama3.2:latest",
    "vllm": "org/some-model",
    "openrouter": "openrouter/meta-llama/llama-3.3-70b-instruct",
}
SERVERS = ["local", "ollama", "vllm"]
HOSTED = sorted(set(TEXTS) - {*CITIZENS, *SERVERS, "openrouter"})
FAMILIES = ("gpt_5_1", "gemini_3_pro", "deepseek_v3_2", "kimi_k2", "claude_opus_4_5")
CODERS = ("claude_haiku_4_5", "claude_sonnet_4_6", "llama_3_3_70b", "qwen_2_5_72b")
KEYS = ("OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "ANTHROPIC_API_KEY")

SENT = cases_of(__file__)["SENT"]


@functools.cache
def planned(name, *more):
    """The session that `delibsim run model=NAME` plans, a model named where the preset leaves that
    to the user.
    """
    own = [f"model.model={NAMED_BY_USER[name]}"] if name in NAMED_BY_USER else []
    return plan([f"model={name}", *own, *more], ROOT)


async def models_for(planned_session):
    """The names of the voices that the session of a plan gets."""
    voices = ModelPool(addresses=planned_session.addresses)
    made = voices.of(planned_session.session)
    await voices.close()
    return [voice.name for voice in made.values()]


@pytest.mark.parametrize("name", TEXTS)
def test_a_preset_composes_under_its_own_name_and_its_voice_can_be_made(name):
    composed = planned(name)
    settings = composed.session.models[name]
    assert {person.model for person in composed.session.participants} == {name}
    assert asyncio.run(models_for(composed)) == [name]
    kinds = dict.fromkeys(CITIZENS, "citizen") | dict.fromkeys(SERVERS, "openai_compatible")
    assert settings["kind"] == (kinds | {"ollama": "ollama"}).get(name, "litellm")
    assert (name in SERVERS) == (name in composed.addresses)
    if name not in CITIZENS:
        assert (
            settings["max_tokens"] == 4096 or settings["max_tokens"] >= 8192
        )  # a budget needs it, and thinking needs room
        # Hosted families are asked alike; a server of one's own is asked what it enforces.
        assert settings["structured"] == ("auto" if name in SERVERS else False)


@pytest.mark.parametrize("name", sorted(set(TEXTS) - set(CITIZENS)))
def test_the_first_line_says_what_it_is_where_its_key_comes_from_and_as_of_when(name):
    first = TEXTS[name].splitlines()[0]
    assert re.match(r"# \w", first)
    assert re.search(r"\bKey: (none|[A-Z_]+_API_KEY)", first)
    assert re.search(r"As of \d{4}-\d\d-\d\d\b", first)


def test_litellm_knows_every_hosted_name_its_provider_and_the_variable_of_its_key(monkeypatch):
    import litellm

    import delibsim.models.clients.litellm  # noqa: F401  (sets the environment that litellm reads when it is imported)

    for variable in [variable for variable in os.environ if SECRET_NAME.search(variable)]:
        monkeypatch.delenv(variable)
    for name in HOSTED:
        settings = planned(name).session.models[name]
        model = settings["model"]
        _, provider, _, _ = litellm.get_llm_provider(model)
        assert (
            provider == model.partition("/")[0]
        )  # so that calls pass the gate of their provider, and none of their own
        assert litellm.get_model_info(model)["max_output_tokens"] >= settings["max_tokens"]
        if settings["reasoning_effort"] is not None:
            assert "reasoning_effort" in litellm.get_supported_openai_params(model)
        named = re.search(r"Key: (\w+)", TEXTS[name])[1]
        assert named in litellm.validate_environment(model)["missing_keys"]


@pytest.mark.parametrize("name", HOSTED)
def test_the_price_and_the_window_of_a_hosted_model_are_known(name):
    settings = planned(name).session.models[name]
    price = price_of(settings["model"], settings.get("price"))
    assert price.worst(1000, 1000) > 0
    assert price.source.startswith("litellm 1.")
    least = 32_000 if name == "qwen_2_5_72b" else 100_000
    assert context_window(settings["model"]) >= least


@pytest.mark.parametrize("name", HOSTED)
def test_a_date_of_withdrawal_is_stated(name):
    withdrawn = listed(planned(name).session.models[name]["model"]).get("deprecation_date")
    assert withdrawn is None or withdrawn in TEXTS[name]


@pytest.mark.parametrize("name", SERVERS)
def test_a_model_of_ones_own_server_is_free(name):
    settings = planned(name).session.models[name]
    assert price_of(settings["model"], settings["price"]).worst(1000, 1000) == 0


@pytest.fixture(scope="module")
def sent():
    """Of each hosted preset the requests that left this process, as a server on loopback saw them,
    and the completion.
    """
    with pytest.MonkeyPatch.context() as patch:
        for key in KEYS:
            patch.setenv(key, "of-no-use-on-loopback")
        return asyncio.run(_send())


async def _send():
    seen = []

    async def answer(request):
        body = await request.json()
        seen.append(body)
        if "thinking" in body and "temperature" in body:  # as Anthropic does
            message = (
                "`temperature` may only be set to 1 when thinking is enabled. Please consult our"
                " documentation."
            )
            return web.json_response(
                {"type": "error", "error": {"type": "invalid_request_error", "message": message}},
                status=400,
            )
        return web.json_response(
            {"error": {"message": "the server is closed", "code": 503}}, status=503
        )

    app = web.Application()
    app.router.add_post("/{path:.*}", answer)
    prompt = Prompt(
        (Message("system", "You are a citizen."), Message("user", "Speak.")),
        Words(),
        Purpose("Participant 1", "turn 1"),
    )
    requests = {}
    async with TestServer(app) as server:
        base = str(server.make_url("")).rstrip("/")
        addresses = dict.fromkeys(HOSTED, base)
        voices = ModelPool(Limits(tries=1), addresses=addresses)
        for name in HOSTED:
            seen.clear()
            voice = voices.of(planned(name).session)[name]
            requests[name] = ((await voice.complete(prompt, 7)), list(seen))
        await voices.close()
    return requests


def test_what_is_sent_is_stated_here_for_every_hosted_preset():
    assert sorted(SENT) == HOSTED
    reasoning = [f"{family}_reasoning" for family in FAMILIES]
    assert sorted(HOSTED) == sorted([*FAMILIES, *reasoning, *CODERS])


@pytest.mark.parametrize("name", SENT)
def test_a_preset_sends_what_it_says_and_records_what_is_dropped(name, sent):
    completion, bodies = sent[name]
    body = bodies[-1] | bodies[-1].get("generationConfig", {})
    holds, lacks, dropped = SENT[name]
    assert completion.status == "unavailable"  # the refusal of the server arrived as what it is
    assert {key: body.get(key) for key in holds} == holds
    assert not {*lacks} & set(body)
    assert sorted(completion.parameters_dropped) == sorted(dropped)
    assert not set(dropped) & set(completion.parameters_sent)
    assert "of-no-use" not in json.dumps(bodies)


@pytest.mark.parametrize("name", ["ollama", "vllm"])
async def test_a_server_is_asked_for_its_models_while_none_is_named(name, tmp_path):
    async def models(request):
        return web.json_response(
            {"object": "list", "data": [{"id": "llama3.2:latest"}, {"id": "qwen3:8b"}]}
        )

    app = web.Application()
    app.router.add_get("/v1/models", models)
    async with TestServer(app) as server:
        unnamed = plan([f"model={name}", f"base_url={server.make_url('/v1')}"], tmp_path)
        voices = ModelPool(addresses=unnamed.addresses)
        findings = await voices.preflight([unnamed.session])
        await voices.close()
    assert [finding.level for finding in findings] == ["error"]
    assert "llama3.2:latest, qwen3:8b" in findings[0].text


def test_openrouter_without_a_model_is_refused_before_anything_is_paid(tmp_path):
    with pytest.raises(WrongInput, match=r"set model\.model=PROVIDER/NAME"):
        plan(["model=openrouter"], tmp_path)


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_seats_every_model_it_names(group, tmp_path):
    composed = plan([f"group={group}"], tmp_path)
    people = composed.session.participants
    assert len(people) == (4 if group == "dqi_study" else 5)
    assert (
        set(composed.session.models)
        == {person.model for person in people}
        <= {*TEXTS, "human", "person"}
    )
    assert asyncio.run(models_for(composed)) == list(composed.session.models)


def test_a_preset_beside_oneself_has_the_name_of_its_file_and_its_own_key(tmp_path):
    mine = tmp_path / "conf" / "model" / "mine.yaml"
    mine.parent.mkdir(parents=True)
    mine.write_text(
        "kind: openai_compatible\nmodel: m\nbase_url: http://127.0.0.1:1/v1\nkey_env:"
        " MY_KEY\nmax_tokens: 9\n"
    )
    composed = plan(["group.models=[mine,citizen]"], tmp_path)
    assert composed.session.models["mine"]["key_env"] == "MY_KEY"
    assert composed.addresses == {"mine": "http://127.0.0.1:1/v1"}


def test_a_preset_beside_oneself_takes_the_place_of_the_packages_in_groups_too(tmp_path):
    mine = tmp_path / "conf" / "model" / "gemini_3_pro.yaml"
    mine.parent.mkdir(parents=True)
    mine.write_text(
        "name: gemini_3_1_pro\nkind: litellm\nmodel: gemini/gemini-3.1-pro-preview\nmax_tokens:"
        " 8192\n"
    )
    models = plan(["group=five_families"], tmp_path).session.models
    assert list(models) == [
        "gpt_5_1",
        "gemini_3_1_pro",
        "deepseek_v3_2",
        "kimi_k2",
        "claude_opus_4_5",
    ]


@pytest.mark.parametrize(
    "path",
    sorted((ROOT / "conf").rglob("*.yaml")),
    ids=lambda path: f"{path.parent.name}/{path.stem}",
)
def test_no_preset_holds_anything_like_a_key(path):
    text = path.read_text(encoding="utf-8")
    assert scrub(text, []) == text
    settings = [line for line in text.splitlines() if not line.startswith("#")]
    assert not [
        line
        for line in settings
        if re.match(
            r"\s*(api_?key|key|token|secret|password|authorization)\s*:", line, re.IGNORECASE
        )
    ]
    stated = [
        re.split(r"\s#", line)[0].partition(":")[2].strip()
        for line in settings
        if line.strip().startswith("key_env")
    ]
    assert all(re.fullmatch(r'""|[A-Z][A-Z0-9_]*', value) for value in stated)


def test_the_documented_table_is_that_of_the_presets():
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    rows = {row[1]: row[0] for row in re.finditer(r"^\| `(\w+)` \|.*$", page, re.MULTILINE)}
    for name in HOSTED:
        assert planned(name).session.models[name]["model"] in rows[name]
        assert re.search(r"Key: (\w+)", TEXTS[name])[1] in rows[name]
    assert set(TEXTS) - set(CITIZENS) <= set(rows)
    assert set(GROUPS) <= set(rows)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"- a\n- b\n",
            "the model that is chosen holds no settings by name; it stands in conf/model/",
        ),
        (b"name: l\xe4tin\nkind: citizen\n", r"conf/model/odd\.yaml: not text in UTF-8"),
        (
            b"name: odd\nkind: openai_compatible\nmodel: m\nmax_tokens: many\n",
            r"model\.max_tokens of 'odd': .* found 'many'",
        ),
        (
            (
                b"name: odd\nkind: litellm\nmodel: m\nextra: {headers: {Authorization:"
                b" secret-canary}}\n"
            ),
            r"model\.extra\.headers\.Authorization looks",
        ),
        (
            b"name: odd\nkind: openai_compatible\nmodel: m\nbase_url: me:canary@host/v1\n",
            "base_url of model 'odd' is no address",
        ),
    ],
)
def test_a_preset_that_cannot_be_is_wrong_input(tmp_path, content, message):
    (tmp_path / "conf" / "model").mkdir(parents=True)
    (tmp_path / "conf" / "model" / "odd.yaml").write_bytes(content)
    with pytest.raises(WrongInput, match=message) as refused:
        plan(["model=odd"], tmp_path)
    assert "canary" not in str(refused.value)


@pytest.mark.parametrize(
    "words",
    [
        ("run", "study=s", "topic=ccps", "group.models=[here,there]"),
        ("run", "-m", "study=s", "topic=ccps", "model=here,there"),
        ("code", "ask", "texts", "scheme=dqi3", "group.models=[here,there]"),
        ("compare", "ask", "texts", "dimension=logical", "group.models=[here,there]"),
    ],
    ids=["seats", "sweep", "coders", "judges"],
)
def test_two_presets_with_one_name_are_refused_by_both_names(delibsim, home, files, words):
    (home / "conf" / "model").mkdir(parents=True)
    for port, preset in enumerate(("here", "there"), start=1):
        own = TEXTS["local"].replace("127.0.0.1:8000", f"127.0.0.1:{port}")
        (home / "conf" / "model" / f"{preset}.yaml").write_text(own)
    (home / "t.csv").write_text("id,text\nt1,We should plant trees.\nt2,Trams are slow.\n")
    columns = ("column=text", "id=id")
    assert delibsim("import", "texts", "t.csv", *columns, "--as", "texts").code == 0
    before = files()
    answer = delibsim(*words)
    assert answer.code == 2
    assert "'here' and 'there' are two models with one name" in answer.err
    assert "write name: there in the file of 'there'" in answer.err
    assert files() == before
