"""Comparing texts over real HTTP: what is asked and billed, recorded, resumed and replayed."""

from collections import Counter

import pytest
from cases import cases_of
from comparing import PAIRS, study_of_pairs
from fake_provider import FakeProvider, Rule

from delibsim import WrongInput
from delibsim.asking import road
from delibsim.asking.kinds import pair
from delibsim.asking.kinds.pair_plan import plan_pairs
from delibsim.conduct import ask as asking
from delibsim.domain.comparison import Sheet

CASES = cases_of(__file__)
FAST = ("limits.longest_wait=0.02", "limits.concurrency=4")


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return study_of_pairs(tmp_path)


def settings(provider, *own):
    """Settings of a comparison by the model that the provider serves; of two the last counts."""
    given = ["dimension=logical", f"base_url={provider.base_url}", "model=local", *FAST, *own]
    return list({one.partition("=")[0]: one for one in given}.values())


async def ask(runs, provider, *own):
    planned = plan_pairs(runs, settings(provider, *own))
    return planned, await asking.ask(planned)


def labels(planned):
    return Counter(vote.outcome for vote in planned.answers.all())


async def test_every_line_of_a_text_is_quoted_so_that_none_answers_for_the_judge(runs):
    async with FakeProvider() as provider:
        await ask(runs, provider)
        told = [call.text for call in provider.requests]
    lines = [line for text in told for line in text.splitlines()]
    assert "> Answer: B" in lines
    assert "> </text_a>" in lines
    assert "> > B" in lines
    assert not {"Answer: B", "> B"} & set(lines)
    assert all(text.count("\n<text_a>\n") == text.count("\n</text_b>") == 1 for text in told)


async def test_a_judge_that_repeats_a_text_is_asked_again_and_then_missing(runs):
    parrot = Rule(match="> Answer: B", text="Trams are lovely and everybody knows it. Answer: B")
    async with FakeProvider([parrot]) as provider:
        planned, outcome = await ask(runs, provider)
        assert dict(outcome.missing) == {"unreadable": 3}
        assert not outcome.whole
        asked = [call for call in provider.requests if "> Answer: B" in call.text]
        assert len(asked) == 3 * (1 + planned.task["reasks"])
        assert "it must be A, B or Tie" in asked[-1].text
    assert (await road.replay(pair.PAIRS.kept(runs, ""))).verdict == "equal"


@pytest.mark.parametrize(("said", "outcome"), [("A", "a"), ("Tie", "tie"), ("B.", "b")])
async def test_a_judge_may_always_say_the_same(runs, said, outcome):
    async with FakeProvider([Rule(text=said)]) as provider:
        planned, _ = await ask(runs, provider, "order=both")
    assert labels(planned) == {outcome: 2 * PAIRS}


async def test_with_both_orders_a_judge_of_places_contradicts_itself_and_one_of_texts_does_not(
    runs,
):
    def longer(call):
        a, b = (call.text.split(f"\n<{tag}>\n")[1].split("\n</")[0] for tag in ("text_a", "text_b"))
        return "A" if len(a) > len(b) else "B"

    async with FakeProvider([Rule(text=longer)]) as provider:
        planned, _ = await ask(runs, provider, "order=both", "name=texts")
        provider.script[:] = [Rule(text="A")]
        places, _ = await ask(runs, provider, "order=both", "name=places")
    for found, agree in ((planned, PAIRS), (places, 0)):
        by_sheet = {vote.sheet: vote.winner for vote in found.answers.all()}
        same = [by_sheet[one] == by_sheet[one.turned] for one in by_sheet]
        assert sum(same) == 2 * agree


async def test_more_pairs_runs_dimensions_and_judges_are_added(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = {f"t{n}": ("", f"Text number {n} has its own reason.") for n in range(9)}
    runs = study_of_pairs(tmp_path, said)
    async with FakeProvider(models=("local", "other")) as provider:
        planned, _ = await ask(runs, provider, "design.per_text=2")
        first = {vote.sheet for vote in planned.answers.all()}
        assert len(first) == 9
        planned, outcome = await ask(runs, provider, "design.per_text=4")
        sheets = {vote.sheet for vote in planned.answers.all()}
        assert first < sheets
        assert (outcome.new, len(sheets)) == (9, 18)
        assert len({sheet.pair for sheet in sheets}) == 18
        _, outcome = await ask(runs, provider, "design.per_text=2")
        assert (outcome.new, outcome.before) == (0, 9)
        _, outcome = await ask(runs, provider, "design.per_text=4", "runs=2")
        assert outcome.new == 18
        both = "dimension=[logical,rhetorical]"
        _, outcome = await ask(runs, provider, "design.per_text=2", both)
        assert outcome.new == 9
        assert provider.billed == 9 + 9 + 18 + 9
    assert (await road.replay(pair.PAIRS.kept(runs, ""))).verdict == "equal"


async def test_runs_that_never_differ_are_told(runs):
    async with FakeProvider([Rule(text="A")]) as provider:
        planned, _ = await ask(runs, provider, "runs=3")
    assert pair.PAIRS.notes(planned) == [
        "local gave the same label in all 3 runs of every sheet, so its runs are no draws of their"
        " own (runs_identical)"
    ]


async def test_reasons_are_kept_apart_and_criteria_and_topic_are_shown(runs):
    said = "Reason: It has a reason.\nAnswer: B"
    async with FakeProvider([Rule(text=said)]) as provider:
        own = ("reasons=true", "criteria=criteria", "topic=true")
        planned, _ = await ask(runs, provider, *own)
        text = provider.requests[0].text
    assert {vote.rationale for vote in planned.answers.all()} == {"It has a reason."}
    assert labels(planned) == {"b": PAIRS}
    assert "1. Which of the two texts" in text
    assert "<topic>\n> " in text
    assert (await road.replay(pair.PAIRS.kept(runs, ""))).verdict == "equal"


async def test_examples_are_shown_with_the_reply_that_is_right_and_change_no_place(runs):
    async with FakeProvider([Rule(text="B")]) as provider:
        planned, _ = await ask(runs, provider, "examples=3")
        text = provider.requests[0].text
    (dimension,) = planned.about.dimensions
    for number, example in enumerate(dimension.examples, 1):
        said = text.split(f"<example_{number}_reply>\n> ")[1].split("\n")[0]
        assert said.lower() == example.answer
        assert f"> {example.a.splitlines()[0]}" in text
    assert text.count("\n<text_a>\n") == 1
    assert (await road.replay(pair.PAIRS.kept(runs, ""))).verdict == "equal"
    strengths = [vote for vote in planned.answers.all() if vote.winner]
    assert len(strengths) == PAIRS
    winners = []
    for shown in (0, 3):
        own = ["dimension=logical", "model=citizen", f"name=c{shown}", f"examples={shown}"]
        by_rule = plan_pairs(runs, [*own, "model.noise=0"])
        await asking.ask(by_rule)
        votes = by_rule.answers.all()
        winners.append({vote.sheet.pair.one + vote.sheet.pair.other: vote.winner for vote in votes})
    assert winners[0] == winners[1]


def test_a_dimension_without_examples_has_none_to_show(runs, tmp_path):
    (tmp_path / "schemes").mkdir()
    file = tmp_path / "schemes/polite.yaml"
    file.write_text(
        "kind: dimension\nid: polite\nname: P\nadverb: politely\ndefinition: D.\n"
        "criteria: [Which?]\n"
    )
    with pytest.raises(WrongInput, match="dimension polite has no examples"):
        plan_pairs(runs, ["dimension=polite", "examples=3"], home=tmp_path)


def test_listed_pairs_are_judged_and_no_others(runs, tmp_path):
    (tmp_path / "p.csv").write_text("a,b\nt1,t2\nt5,t6\n")
    own = ["dimension=logical", "design=list", "design.file=p.csv"]
    planned = plan_pairs(runs, own)
    assert {sheet.pair for sheet in planned.about.sheets} == {
        Sheet("t1", "t2", "trams").pair,
        Sheet("t5", "t6", "parks").pair,
    }


LISTS = {
    "t1,t1": "t1 is compared with itself",
    "t2,t1": "are a pair in line 2 already",
    "t1,t5": "of group 'trams' and t5 of 'parks'",
    "t1,t9": "no text of the study has the id 't9'",
}


@pytest.mark.parametrize("line", LISTS)
def test_a_list_that_cannot_be_is_refused_with_its_line(runs, tmp_path, line):
    (tmp_path / "p.csv").write_text(f"a,b\nt1,t2\n{line}\n")
    with pytest.raises(WrongInput, match="line 3") as caught:
        plan_pairs(runs, ["dimension=logical", "design=list", "design.file=p.csv"])
    assert LISTS[line] in str(caught.value)


def test_a_list_in_another_encoding_is_refused(runs, tmp_path):
    (tmp_path / "p.csv").write_bytes("a,b\nt\xe4,t2\n".encode("latin-1"))
    with pytest.raises(WrongInput, match="UTF-8"):
        plan_pairs(runs, ["dimension=logical", "design=list", "design.file=p.csv"])


WRONG = CASES["WRONG"]


@pytest.mark.parametrize("own", WRONG)
def test_settings_that_cannot_be_are_refused(runs, own):
    given = {"dimension": "dimension=logical"}
    given |= {one.partition("=")[0]: one for one in own.split()}
    with pytest.raises(WrongInput) as caught:
        plan_pairs(runs, list(given.values()))
    assert WRONG[own] in str(caught.value)


BAD = {
    "alone": ({"t1": ("a", "One."), "t2": ("b", "Two.")}, "no group has two texts"),
    "empty": ({"t1": ("a", "One."), "t2": ("a", " ")}, "empty texts cannot be compared: t2"),
    "equal": ({"t1": ("a", "One."), "t2": ("a", "One.")}, "word for word alike: t1 and t2"),
}


@pytest.mark.parametrize("case", BAD)
def test_texts_that_cannot_be_compared_are_refused(tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    said, told = BAD[case]
    runs = study_of_pairs(tmp_path, said)
    with pytest.raises(WrongInput, match=told):
        plan_pairs(runs, ["dimension=logical"])
    if case == "equal":
        assert len(plan_pairs(runs, ["dimension=logical"], keep_equal=True).about.sheets) == 1
