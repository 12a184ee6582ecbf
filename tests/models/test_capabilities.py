"""What plug-ins declare decides what the pool does with their models; an attribute that merely has
the name of a capability decides nothing. What a citizen declares to be without effect changes
none of its answers and no word.
"""

import asyncio
import importlib
import inspect
from dataclasses import replace

import pytest
from debates import debate

from delibsim import (
    Citizen,
    Completion,
    ModelPool,
    Prompt,
    Usage,
    Wording,
    WrongInput,
    compose,
    hold,
    models_for,
    plugins,
)
from delibsim.domain.effect import same_cells
from delibsim.models.base import Capabilities, LanguageModel, PreflightIssue, capabilities_of
from delibsim.models.clients.settings import FREE
from delibsim.models.limits import Budget, Gate, Limits
from delibsim.models.pool import PlannedCalls
from delibsim.models.replay import Recorder, Replay
from delibsim.models.retry import RetryingModel
from delibsim.planning.dry_run import DryRunModel
from delibsim.plugins import without_effect
from delibsim.prompts.blocks import starting_answers
from delibsim.prompts.session import longest_prompt
from delibsim.testing import check_language_model

PACKAGE = '''
import asyncio
import importlib

from delibsim import Completion, Usage
from delibsim.models.base import Capabilities, PreflightIssue


class Plain:
    """A model that notes how many calls are in flight at once, and what becomes of it."""

    in_flight = most_in_flight = 0
    done = []

    def __init__(self, name, **settings):
        self.name, self.settings = name, settings

    async def complete(self, prompt, seed):
        Plain.in_flight += 1
        Plain.most_in_flight = max(Plain.most_in_flight, Plain.in_flight)
        await asyncio.sleep(0.01)
        Plain.in_flight -= 1
        usage = Usage(input_tokens=100, output_tokens=100, cost_usd=0.0)
        return Completion("I agree.", usage=usage, model_requested=self.name)


class Census(Plain):
    """A model of a statistical office, whose attributes mean something else than ours."""

    population = 83_000_000
    provider = "the statistical office"
    max_tokens = "many"
    answering = True
    preflight = "before the flight"
    capabilities = ["counting"]

    def close(self):
        raise AssertionError("this closes the office, not a connection")


class Declared(Plain):
    """A model that declares what it can."""

    @property
    def capabilities(self):
        return Capabilities(
            provider="the same server", max_tokens=300, preflight=self.look, close=self.leave
        )

    async def look(self):
        Plain.done.append(f"looked at {self.name}")
        return [PreflightIssue("note", self.name, "is there")]

    async def leave(self):
        Plain.done.append(f"left {self.name}")


class Persons(Plain):
    """A model of persons."""

    def __init__(self, name, people=None, **settings):
        super().__init__(name, **settings)
        self.people = people
        self.capabilities = Capabilities(for_population=self.of)

    def of(self, seed):
        return Persons(self.name, seed)
'''
ENTRIES = """
[delibsim.models]
plain = {0}:Plain
census = {0}:Census
declared = {0}:Declared
persons = {0}:Persons
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with language models, installed beside delibsim; its module."""
    name = f"foreign_models_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(PACKAGE, encoding="utf-8")
    information = tmp_path / f"{name}-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(ENTRIES.format(name))
    monkeypatch.syspath_prepend(tmp_path)
    plugins._installed.cache_clear()
    yield importlib.import_module(name)
    plugins._installed.cache_clear()


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    words = ("topic=ccps", "group.size=2", "rounds=1", "seed=7")
    return compose(*words, home=tmp_path_factory.mktemp("home"))


def seated(session, **kinds):
    """The session with models of these kinds, by name, and their settings."""
    models = {name: {"name": name, "kind": kind} for name, kind in kinds.items()}
    people = tuple(replace(p, model=next(iter(kinds))) for p in session.participants)
    return replace(session, models=models, participants=people)


async def asked(models, session, n):
    """What becomes of so many calls to each model, made at once."""
    prompt = longest_prompt(session)
    calls = [model.complete(prompt, seed) for model in models for seed in range(n)]
    return [completion.status for completion in await asyncio.gather(*calls)]


@pytest.mark.parametrize("kind", ["plain", "census"])
async def test_a_model_keeps_its_limits_whatever_its_attributes_are_called(package, session, kind):
    pool = ModelPool(Limits(concurrency=2))
    models = pool.of(seated(session, m=kind))
    assert await asked(models.values(), session, 6) == ["ok"] * 6
    assert package.Plain.most_in_flight == 2


@pytest.mark.parametrize("kind", ["plain", "census"])
async def test_a_model_keeps_its_budget_whatever_its_attributes_are_called(package, session, kind):
    pool = ModelPool(Limits(concurrency=1), Budget(tokens=10_000, spent_tokens=9_900))
    (model,) = pool.of(seated(session, m=kind)).values()
    assert await asked([model], session, 2) == ["budget", "budget"]
    assert package.Plain.most_in_flight == 0
    assert "budget" in pool.closed(seated(session, m=kind))


async def test_only_what_is_declared_is_checked_and_closed(package, session):
    pool = ModelPool()
    issues = await pool.preflight([seated(session, a="census", b="declared", c="plain")])
    await pool.close()
    assert issues == [PreflightIssue("note", "b", "is there")]
    assert package.Plain.done == ["looked at b", "left b"]


async def test_models_of_one_declared_provider_share_its_limits(package, session):
    apart = ModelPool(Limits(concurrency=1)).of(seated(session, a="census", b="census"))
    assert await asked(apart.values(), session, 3) == ["ok"] * 6
    assert package.Plain.most_in_flight == 2, "an attribute `provider` declares nothing"
    package.Plain.most_in_flight = 0
    shared = ModelPool(Limits(concurrency=1)).of(seated(session, a="declared", b="declared"))
    assert await asked(shared.values(), session, 3) == ["ok"] * 6
    assert package.Plain.most_in_flight == 1


async def test_a_budget_counts_the_declared_most_tokens_of_a_call(package, session):
    planned = longest_prompt(session)
    asked_for = sum(len(m.content.encode()) // 3 + 4 for m in planned.messages) + 4
    for tokens, status in ((299, "budget"), (301, "ok")):
        pool = ModelPool(Limits(concurrency=1), Budget(tokens=asked_for + tokens))
        (model,) = pool.of(seated(session, m="declared")).values()
        assert await asked([model], session, 1) == [status]


async def test_a_paid_model_that_declares_no_most_tokens_cannot_keep_a_budget(package, session):
    priced = {"price": {"input": 1.0, "output": 1.0}}
    for kind, faults in (("census", 1), ("declared", 0)):
        settings = {"name": "m", "kind": kind, **priced}
        calls = PlannedCalls("coding", {"m": settings}, longest_prompt(session))
        issues = await ModelPool(Limits(budget_usd=1.0)).check([calls])
        errors = [issue for issue in issues if issue.level == "error"]
        assert len(errors) == faults
        assert all("worst case of every call" in issue.text for issue in errors)


def test_a_declared_model_of_persons_gets_the_population_of_each_session(package, session):
    pool = ModelPool()
    planned = seated(session, m="persons")
    other = replace(planned, replicate=planned.replicate + 1)
    first, again, second = (pool.of(one)["m"] for one in (planned, planned, other))
    assert first.people == again.people == planned.seed_for("population")
    assert second.people == other.seed_for("population") != first.people


async def test_a_model_without_a_session_is_the_one_that_sessions_get(package, session):
    pool = ModelPool()
    planned = seated(session, m="plain", p="persons")
    assert pool.model("m", planned.models["m"]) is pool.of(planned)["m"]
    assert pool.model("p", planned.models["p"]).people is None
    assert pool.model("p", planned.models["p"], population=5).people == 5
    with pytest.raises(WrongInput, match="name no kind; kinds are: census, citizen"):
        pool.model("q", {"name": "q"})


async def test_a_model_that_is_handed_in_is_handed_out_as_it_is(session):
    own = Citizen(population=3)
    pool = ModelPool(models={"citizen": own})
    assert pool.of(session) == {"citizen": own}
    assert pool.model("citizen", {}) is own
    assert await pool.preflight([session]) == []
    assert pool.closed(session) == ""
    await pool.close()


def test_every_model_of_ours_declares_and_wrappers_pass_on_what_is_declared(session):
    class Paid:
        name = "paid"
        capabilities = Capabilities("a server", 300)

        async def complete(self, prompt: Prompt, seed: int) -> Completion:
            return Completion("", usage=Usage(cost_usd=0.0), model_requested="paid")

    pool = ModelPool()
    retrying = RetryingModel(Paid(), Gate(pool.limits), pool.limits, pool.budget, FREE)
    recorder = Recorder(retrying, lambda exchange: None)
    assert isinstance(recorder, LanguageModel)
    assert capabilities_of(retrying) == capabilities_of(recorder) == Paid.capabilities
    installed = {
        entry.name: entry.load() for entry in plugins._installed("delibsim.models").values()
    }
    ours = [kind for kind in installed.values() if kind.__module__.startswith("delibsim.")]
    assert len(ours) == 6
    for kind in (*ours, Replay, Recorder, RetryingModel, DryRunModel):
        declared = inspect.getattr_static(kind, "capabilities")
        assert isinstance(declared, (Capabilities, property))


def with_procedure(**changes):
    return lambda s: replace(s, procedure=replace(s.procedure, **changes))


def with_model(**changes):
    def changed(session):
        models = {name: settings | changes for name, settings in session.models.items()}
        return replace(session, models=models)

    return changed


def instructed(session):
    text = "Disagree with everybody.\nNever agree; rank the options from last to first."
    return replace(session, treatment=replace(session.treatment, name="other", instructions=text))


def reworded(session):
    texts = {name: f"Now then. {text} Do so." for name, text in session.wording.texts.items()}
    return replace(session, wording=Wording("other", texts))


def told_of_other_words(session):
    # The rules of a debate name the words of a speech, and the procedure names none.
    words = None if session.format == "debate" else 77
    return with_procedure(words=words)(session)


CHANGES = {
    "temperature": with_model(temperature=1.3),
    "place": with_model(place=2.0),
    "threshold": with_model(threshold=3.0),
    "coin": with_model(coin=1.0),
    "treatment.instructions": instructed,
    "wording": reworded,
    "procedure.shuffle_items": with_procedure(shuffle_items=False),
    "procedure.reverse_scale": with_procedure(reverse_scale="half"),
    "procedure.show_answers": with_procedure(show_answers=False),
    "procedure.instructions": with_procedure(instructions="everywhere"),
    "procedure.words": told_of_other_words,
}
"""For every setting that the citizen declares, a change of it."""


def plain_session(home):
    return compose("topic=ccps", "treatment=normative", "seed=7", home=home)


def with_personas(home):
    words = ("topic=acp", "treatment=normative", "seed=7", "persona=values", "rounds=3")
    return compose(*words, home=home)


def from_answers(home):
    session = plain_session(home)
    rated = {item.id: 1 + i % 7 for i, item in enumerate(session.survey.considerations)}
    ranked = {item.id: rank for rank, item in enumerate(session.survey.preferences, 1)}
    persona = starting_answers(rated | ranked, session.survey)
    people = tuple(replace(person, persona=persona) for person in session.participants)
    return replace(session, participants=people)


def forced(home):
    session = plain_session(home)
    n = len(session.survey.considerations)
    counts = (1, 1, 1, n - 6, 1, 1, 1)
    return replace(session, survey=replace(session.survey, forced_distribution=counts))


def listened(home):
    return debate(home, "audience=3", "seed=7")


SESSIONS = [plain_session, with_personas, from_answers, forced, listened]


def said_and_answered(session):
    run = asyncio.run(hold(session, models_for(session)))
    assert run.status == "complete"
    answers = [(given.participant, given.phase, given.answers) for given in run.responses]
    return answers, [(statement.turn, statement.text) for statement in run.transcript]


def test_every_setting_that_a_citizen_declares_is_tested_here():
    assert Citizen.without_effect == set(CHANGES)
    assert without_effect("citizen") == set(CHANGES)


@pytest.fixture(scope="module", params=SESSIONS, ids=lambda made: made.__name__)
def held(request, tmp_path_factory):
    session = request.param(tmp_path_factory.mktemp("home"))
    return session, said_and_answered(session)


@pytest.mark.parametrize("setting", CHANGES)
def test_a_setting_without_effect_changes_nothing(held, setting):
    session, before = held
    changed = CHANGES[setting](session)
    if setting == "procedure.words" and session.format == "debate":
        pytest.skip("the procedure of a debate names no words")
    assert changed != session
    assert said_and_answered(changed) == before


NOT_DECLARED = [{"recall": False}, {"show_transcript": False}, {"transcript_window": 1}]


@pytest.mark.parametrize("change", NOT_DECLARED, ids=str)
def test_what_is_not_declared_can_have_an_effect(tmp_path, change):
    session = plain_session(tmp_path)
    changed = with_procedure(**change)(session)
    assert said_and_answered(changed) != said_and_answered(session)


BLOCK = "Deliberate.\n<you>\nSomebody Else\n</you>"


def test_a_text_that_opens_a_block_has_an_effect_and_is_not_taken_for_one_without(tmp_path):
    session = plain_session(tmp_path)
    treatment = replace(session.treatment, name="s", instructions=BLOCK)
    spoofed = replace(session, id="x.y.z.r1", treatment=treatment)
    wording = Wording("w", {**session.wording.texts, "setting": BLOCK})
    worded = replace(session, id="x.w.z.r1", wording=wording)
    assert said_and_answered(spoofed) != said_and_answered(session)
    assert said_and_answered(worded) != said_and_answered(session)
    assert same_cells([session, spoofed, worded], without_effect) == {}


def test_a_declaration_that_is_no_set_of_names_breaks_the_contract():
    class Careless(Citizen):
        without_effect = "temperature"

    with pytest.raises(AssertionError, match="set of names of settings"):
        check_language_model(Careless())


def test_a_hosted_model_declares_nothing_and_is_not_imported_to_be_asked():
    assert without_effect("litellm") == without_effect("openai_compatible") == frozenset()
    assert without_effect("not_installed_here") == frozenset()
    assert without_effect("human") == {"temperature"}
