"""Adaptive comparisons over real HTTP: chosen, ended by rules, resumed, replayed, paid once."""

import pytest
from cases import cases_of
from comparing import study_of_pairs
from fake_provider import FakeProvider, Rule

from delibsim import WrongInput
from delibsim.asking import road
from delibsim.asking.kinds.pair import PAIRS, stop_rows, votes_of
from delibsim.asking.kinds.pair_batches import votes_at_most
from delibsim.asking.kinds.pair_plan import plan_pairs
from delibsim.asking.record import spent_on
from delibsim.conduct import ask as asking
from delibsim.domain.comparison import Batch
from delibsim.store.codec import Damaged

CASES = cases_of(__file__)
N = 12
TEXTS = {f"t{n:02}": ("ab"[n % 2], f"This text has {'very ' * n}many words.") for n in range(N)}
PRICE = "model.price={input: 1000, cached: 1000, output: 1000}"


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return study_of_pairs(tmp_path, TEXTS)


def longer(call):
    """The longer text wins, and a difference of one group member is a tie."""
    parts = [call.text.split(f"\n<{tag}>\n")[1].split("\n</")[0] for tag in ("text_a", "text_b")]
    a, b = (part.count("very") for part in parts)
    return "A" if a > b + 2 else "B" if b > a + 2 else "Tie"


def settings(provider, *own):
    given = ["dimension=logical", f"base_url={provider.base_url}", "model=local"]
    given += ["limits.longest_wait=0.02", "limits.concurrency=4", "design=adaptive", *own]
    return list({one.partition("=")[0]: one for one in given}.values())


async def ask(runs, provider, *own):
    planned = plan_pairs(runs, settings(provider, *own))
    outcome = await asking.ask(planned)
    return planned.kind.now(planned), outcome


def batches(planned):
    return [step for step in planned.answers.steps() if isinstance(step, Batch)]


async def test_batches_are_paid_once_kept_before_they_are_asked_and_replayed(runs):
    async with FakeProvider([Rule(text=longer)]) as provider:
        found = road.estimate(plan_pairs(runs, settings(provider, "design.per_text=4")))
        planned, outcome = await ask(runs, provider, "design.per_text=4")
        votes = votes_of(planned)
        assert provider.billed == outcome.new == len(votes) == votes_at_most(planned)
        assert found.waiting == outcome.new
        assert found.total.input.low <= provider.prompt_tokens <= found.total.input.high
        _, again = await ask(runs, provider, "design.per_text=4")
        assert (again.new, again.before, provider.billed) == (0, len(votes), len(votes))
    first, *others = batches(planned)
    assert (len(first.drawn), len(first.chosen)) == (N, 0)
    assert [batch.votes for batch in others] == [12, 18]
    assert all(sheet.a[-1] in "02468" or sheet.b[-1] in "13579" for sheet in planned.about.sheets)
    assert len({sheet.pair for sheet in planned.about.sheets}) == len(planned.about.sheets)
    (row,) = stop_rows(planned)
    assert (row["stopped"], row["per_text"], row["batches"]) == ("per_text:4", 4, 3)
    assert (await road.replay(PAIRS.kept(runs, ""))).verdict == "equal"
    assert "logical ended by per_text:4" in PAIRS.notes(planned)[-1]


async def test_a_rule_ends_it_and_a_stricter_one_goes_on_from_there(runs):
    async with FakeProvider([Rule(text=longer)]) as provider:
        planned, _ = await ask(runs, provider, "design.until=r:0.5")
        before, (row,) = batches(planned), stop_rows(planned)
        assert row["stopped"] == "r:0.5"
        assert 0.5 <= row["r"] == min(row["r_fit"], row["r_probe"])
        assert row["pairs"] < row["most"]
        planned, outcome = await ask(runs, provider, "design.until=[r:0.99,se:0.01]")
        assert batches(planned)[: len(before)] == before
        assert stop_rows(planned)[0]["stopped"] == "all"
        assert provider.billed == outcome.new + outcome.before == 2 * 15
    assert (await road.replay(PAIRS.kept(runs, ""))).verdict == "equal"


async def test_what_was_cut_off_goes_on_with_the_same_pairs_as_without_a_cut(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = []
    for place in ("whole", "cut"):
        runs = study_of_pairs(tmp_path / place, TEXTS)
        async with FakeProvider([Rule(text=longer)]) as provider:
            if place == "cut":
                provider.script[:] = [Rule(status=401, at=(15,)), Rule(text=longer)]
                planned, outcome = await ask(runs, provider, "limits.concurrency=1")
                assert outcome.new == 14
                assert "still to be given" in outcome.faults[-1]
                assert stop_rows(planned)[0]["stopped"] is None
                assert "has not ended" in PAIRS.notes(planned)[-1]
            planned, outcome = await ask(runs, provider, "design.per_text=4")
            assert outcome.whole
            assert provider.billed == len(votes_of(planned))
        found.append(planned.answers.steps())
        assert (await road.replay(PAIRS.kept(runs, ""))).verdict == "equal"
    # With another limit the batch in which it was cut off had another size, but nothing else.
    assert [step.sheets for step in found[0][:2]] == [step.sheets for step in found[1][:2]]


async def test_us_dollars_end_it_before_they_are_spent(runs):
    async with FakeProvider([Rule(text=longer)]) as provider:
        with pytest.raises(WrongInput, match="nothing was asked and nothing was paid"):
            await ask(runs, provider, "design.until=usd:5", "model.price=null")
        planned, outcome = await ask(
            runs, provider, "design.until=[usd:5,r:0.99]", "max_tokens=20", PRICE
        )
        (row,) = stop_rows(planned)
        assert (row["stopped"], outcome.whole) == ("usd:5", True)
        assert 0 < spent_on(planned.answers.files) <= 5
        assert provider.billed == row["pairs"] < row["most"]


async def test_dimensions_have_pairs_of_their_own_and_a_judge_is_added(runs):
    async with FakeProvider([Rule(text=longer)], models=("local", "other")) as provider:
        own = ("design.per_text=3", "order=both")
        planned, _ = await ask(runs, provider, "dimension=[logical,rhetorical]", *own)
        one, other = (set(planned.about.sheets_on(id)) for id in ("logical", "rhetorical"))
        assert one != other
        assert all(sheet.turned in one for sheet in one)
        before = provider.billed
        assert before == len(one) + len(other)
        planned, outcome = await ask(runs, provider, *own, "model.name=second")
        assert set(planned.about.sheets_on("logical")) == one
        assert outcome.new == len(one) == provider.billed - before
    assert (await road.replay(PAIRS.kept(runs, ""))).verdict == "equal"


async def test_other_pairs_than_follow_are_found_and_a_damaged_batch_is_named(runs):
    async with FakeProvider([Rule(text=longer)]) as provider:
        planned, _ = await ask(runs, provider, "design.per_text=4")
        file = planned.answers.steps_file
        lines = file.read_text().splitlines()
        file.write_text("\n".join([lines[0], lines[1].replace('"size":6', '"size":5'), *lines[2:]]))
        replayed = await road.replay(PAIRS.kept(runs, ""))
        assert replayed.differences[0] == "logical, batch 2: other pairs follow from the votes"
        file.write_text("\n".join([lines[0], *lines[2:]]))
        with pytest.raises(Damaged, match="batch 2 of logical is damaged or missing"):
            await ask(runs, provider, "design.per_text=4")
        with pytest.raises(WrongInput, match=r"design\.probe"):
            await ask(runs, provider, "design.probe=0.5")


async def test_batches_without_a_vote_bind_nobody(runs, tmp_path):
    async with FakeProvider([Rule(status=401)]) as provider:
        _, outcome = await ask(runs, provider)
        assert outcome.usable == 0
        provider.script[:] = [Rule(text=longer)]
        study_of_pairs(tmp_path, dict(list(TEXTS.items())[:6]))
        planned, outcome = await ask(runs, provider, "order=both", "design.per_text=2")
        assert outcome.whole
        assert len(batches(planned)[0].sheets) == 2 * 6
    assert (await road.replay(PAIRS.kept(runs, ""))).verdict == "equal"


async def test_judges_who_refuse_everything_end_it(runs):
    async with FakeProvider([Rule(message={"refusal": "No.", "content": None})]) as provider:
        planned, outcome = await ask(runs, provider)
        assert (provider.calls, outcome.usable) == (N, 0)
        assert stop_rows(planned)[0]["stopped"] == "no_votes"


WRONG = CASES["WRONG"]


@pytest.mark.parametrize("own", WRONG)
def test_settings_that_cannot_be_are_refused(runs, own):
    with pytest.raises(WrongInput) as caught:
        plan_pairs(runs, ["dimension=logical", "design=adaptive", *own.split()])
    assert WRONG[own] in str(caught.value)


def test_rules_have_no_effect_elsewhere_and_too_many_texts_are_refused(runs, tmp_path):
    with pytest.raises(WrongInput, match="it is of design=adaptive"):
        plan_pairs(runs, ["dimension=logical", "design.until=r:0.9"])
    many = study_of_pairs(tmp_path, {f"t{n}": ("", f"Text {n}.") for n in range(2_001)}, "many")
    with pytest.raises(WrongInput, match="2,000 texts at most, and there are 2,001"):
        plan_pairs(many, ["dimension=logical", "design=adaptive"])
