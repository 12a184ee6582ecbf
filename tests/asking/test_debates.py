"""Rating: blind in every prompt, A and B swapped for half, two calls a rater, and no failure that
becomes a rating.
"""

import re
from dataclasses import replace

import pytest
from cases import cases_of
from debates import debate, hostile, rate, rater_model, scripted

from delibsim import Completion, Usage, WrongInput, compose
from delibsim.asking.blinding import FAMILIES, blinded, names_in, scrubbed
from delibsim.asking.kinds.rating import check_number, first_shown, panel_of
from delibsim.asking.texts import kin_among
from delibsim.domain.annotation import DIMENSIONS, Rating
from delibsim.domain.reason import Reason
from delibsim.engine.forum import hold
from delibsim.prompts.rating import check_rater_texts

CASES = cases_of(__file__)
NAMES = {"proposition": "Speaker A", "opposition": "Speaker B"}
LEAKS = re.compile(
    r"proposition|opposition|claude|gpt|openai|anthropic|gemini|deepseek|kimi|llama|mistral|as an"
    r" ai|training data|citizen",
    re.I,
)


@pytest.fixture
def panel(tmp_path):
    return panel_of(compose("wording=oxford", "persona=values", "group.size=4", home=tmp_path))


async def held(tmp_path, script=None, *overrides):
    session = debate(tmp_path, *overrides)
    return await hold(session, scripted(session, script))


async def test_a_rating_is_what_the_ballot_said_of_the_sides(tmp_path, panel):
    run = await held(tmp_path, None, "proposition=citizen_eloquent", "opposition=citizen_halting")
    asked = []
    for rater in panel.coders:
        rating = await rate(run, panel, rater, rater_model(panel, rater, run, asked=asked))
        assert rating.winner == "proposition"
        assert rating.proposition["performance"] > rating.opposition["performance"]
        assert (rating.attentive, rating.missing, rating.source, rating.model) == (
            True,
            {},
            "model",
            "citizen",
        )
    assert len(asked) == 8
    assert [p.purpose.occasion.split()[-1] for p in asked[:2]] == ["before", "ballot"]


async def test_the_stance_before_is_asked_before_anything_of_the_debate_is_shown(tmp_path, panel):
    run = await held(tmp_path)
    asked = []
    rater = panel.coders[0]
    rating = await rate(run, panel, rater, rater_model(panel, rater, run, asked=asked))
    assert not [said for said in run.transcript if said.text in asked[0].text]
    assert f"<stance>\n{rating.before}\n</stance>" in asked[1].text
    assert "transcript" not in asked[0].text


async def test_no_prompt_of_a_rater_says_who_debates(tmp_path, panel):
    """Every prompt of every rater on a debate whose speakers do all they can to be known."""
    script = {
        (side, f"turn {i}"): hostile for i in range(1, 7) for side in ("Proposition", "Opposition")
    }
    run = await held(tmp_path, script)
    models = {
        "gpt_5_1": {"kind": "citizen", "model": "openai/gpt-5.1"},
        "citizen": {"kind": "citizen"},
    }
    sides = tuple(
        replace(p, model=name) for p, name in zip(run.session.participants, models, strict=True)
    )
    run = replace(run, session=replace(run.session, participants=sides, models=models))
    asked = []
    for rater in panel.coders:
        await rate(run, panel, rater, rater_model(panel, rater, run, asked=asked))
    assert len(asked) == 8
    for prompt in asked:
        leak = LEAKS.search(prompt.text)
        assert leak is None, prompt.text[max(leak.start() - 60, 0) : leak.end() + 60]
    assert "[removed]" in asked[1].text
    # What a speaker wrote in the guise of a transcript stays a quotation.
    assert asked[1].text.count("\n</transcript>") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    CASES["scrubbing_takes_out_who_speaks_and_leaves_what_is_said"],
)
def test_scrubbing_takes_out_who_speaks_and_leaves_what_is_said(text, expected):
    assert scrubbed(text, NAMES) == expected


def test_names_of_models_that_are_no_words_are_removed_and_words_stay():
    assert (
        scrubbed("gpt_5_1 speaks to every citizen", NAMES, ["gpt_5_1"])
        == "[removed] speaks to every citizen"
    )
    assert FAMILIES.search("a claim of the citizen") is None


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    CASES["a_debaters_own_names_are_removed_however_they_are_written"],
)
async def test_a_debaters_own_names_are_removed_however_they_are_written(
    tmp_path, name, settings, said
):
    session = debate(tmp_path)
    people = tuple(replace(p, model=name) for p in session.participants)
    own = names_in(replace(session, participants=people, models={name: settings}))
    for words in said:
        assert (
            scrubbed(f"I am {words}, and every citizen knows.", NAMES, own)
            == "I am [removed], and every citizen knows."
        )


async def test_a_and_b_are_drawn_for_each_debate_and_swapped_for_half_of_the_raters(tmp_path):
    run = await held(tmp_path)
    firsts = [first_shown("debate", k, 1) for k in range(1, 7)]
    assert firsts.count("proposition") == firsts.count("opposition") == 3
    assert {first_shown(f"debate {i}", 1, 1) for i in range(20)} == {
        "proposition",
        "opposition",
    }
    for first in ("proposition", "opposition"):
        shown = blinded(run, first)
        assert [said.turn.speaker for said in shown[:2]] == (
            ["Speaker A", "Speaker B"] if first == "proposition" else ["Speaker B", "Speaker A"]
        )
        assert [said.turn.index for said in shown] == [1, 2, 3, 4, 5, 6]


async def test_a_swapped_ballot_is_turned_back_to_the_sides(tmp_path, panel):
    run = await held(tmp_path)
    ballot = "\n".join(
        [
            *(f"A{i}: {i}" for i in range(1, 12)),
            *(f"B{i}: {50 + i}" for i in range(1, 12)),
            "WINNER: A",
            "S1: 3",
        ]
    )
    for rater in panel.coders[:2]:
        occasion = f"{run.session.id} ballot"
        script = {(rater.id, occasion): f"{ballot}\nC1: {check_number(run.session, rater)}"}
        rating = await rate(run, panel, rater, rater_model(panel, rater, run, script))
        assert rating.winner == rating.first
        assert rating.of(rating.first) == {name: i for i, name in enumerate(DIMENSIONS, 1)}
        assert rating.attentive is True
        inattentive = {(rater.id, occasion): f"{ballot}\nC1: 5"}
        wrong = await rate(run, panel, rater, rater_model(panel, rater, run, inattentive))
        assert wrong.attentive is False


async def test_a_ballot_nobody_can_read_is_missing_with_its_reason_and_never_a_rating(
    tmp_path, panel
):
    run = await held(tmp_path)
    rater, asked = panel.coders[0], []
    script = {(rater.id, f"{run.session.id} ballot"): "It was a tie."}
    rating = await rate(run, panel, rater, rater_model(panel, rater, run, script, asked))
    assert (rating.winner, rating.after, rating.proposition, rating.attentive) == (
        None,
        None,
        {},
        None,
    )
    assert rating.before is not None
    assert str(rating.missing["winner"]).startswith("unreadable: WINNER is missing")
    assert len(asked) == 1 + 4
    assert "WINNER is missing" in asked[2].messages[-1].content
    refused = Completion("", "refusal", "no", Usage(cost_usd=0.0), "x")
    script = {(rater.id, f"{run.session.id} before"): refused}
    rating = await rate(run, panel, rater, rater_model(panel, rater, run, script))
    assert rating.missing == {"before": Reason("refusal", "no")}


async def test_a_rater_is_told_a_neutral_name_and_no_panel(tmp_path):
    run = await held(tmp_path)
    for name in ("oxford", "oxford_evaluative"):
        composed = compose(f"wording={name}", "group.size=2", home=tmp_path)
        panel = panel_of(composed, "gpt_5_versus_human_judge")
        rater, asked = panel.coders[1], []
        rating = await rate(run, panel, rater, rater_model(panel, rater, run, asked=asked))
        assert rating.rater == "gpt_5_versus_human_judge 2"
        assert [prompt.purpose.participant for prompt in asked] == [rating.rater] * 2
        for prompt in asked:
            assert "You are\n\n<you>\nRater 2\n</you>" in prompt.text
            assert re.search("gpt|versus|human_judge", prompt.text) is None
            assert "In this debate you are" not in prompt.text


async def test_a_wording_without_a_text_for_raters_names_says_the_name_as_before(tmp_path, panel):
    run = await held(tmp_path)
    texts = {name: text for name, text in panel.wording.texts.items() if name != "rater_you"}
    older = replace(panel, wording=replace(panel.wording, texts=texts))
    check_rater_texts(older.wording)
    rater, asked = older.coders[0], []
    await rate(run, older, rater, rater_model(older, rater, run, asked=asked))
    for prompt in asked:
        assert "In this debate you are\n\n<you>\npanel 1\n</you>" in prompt.text


@pytest.mark.parametrize(
    ("rating", "debating", "family"),
    [
        ({"kind": "citizen"}, {"kind": "citizen"}, "citizen"),
        ({"model": "anthropic/claude-opus-4-5"}, {"kind": "citizen"}, ""),
        ({"model": "anthropic/claude-opus-4-5"}, {"model": "claude-haiku"}, "claude"),
    ],
)
def test_raters_of_the_debaters_family_are_warned_of(rating, debating, family):
    found = kin_among(
        *({"x": {"kind": "litellm", **own}} for own in (rating, debating)), ("a", "b")
    )
    assert [f"one family ({family})" in one for one in found] == [True] * bool(family)


def test_a_wording_without_the_texts_of_raters_is_refused(tmp_path):
    with pytest.raises(WrongInput, match="lacks the text 'rater_setting'"):
        check_rater_texts(compose("group.size=2", home=tmp_path).wording)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"before": 101}, "before is 101, outside 0 to 100"), ({"proposition": {"logic": -1}}, "proposition.logic is -1"),
        ({"proposition": {"wit": 5}}, "wit is no dimension"), ({"before": None}, "must have a reason"),
    ],
)  # fmt: skip
def test_what_no_rater_can_say_is_refused(change, message):
    whole = {
        "before": 1,
        "after": 2,
        "winner": "proposition",
        "proposition": dict.fromkeys(DIMENSIONS, 1),
        "opposition": dict.fromkeys(DIMENSIONS, 2),
    }
    assert Rating("d", "r", "proposition", **whole).missing == {}
    with pytest.raises(ValueError, match=message):
        Rating("d", "r", "proposition", **{**whole, **change})


def test_two_wordings_differ_in_what_raters_read_alone(tmp_path):
    published, evaluative = (
        compose("format=debate", "motion=voting", f"wording={name}", home=tmp_path).wording.texts
        for name in ("oxford", "oxford_evaluative")
    )
    assert list(published) == list(evaluative)
    differing = {name for name in published if published[name] != evaluative[name]}
    points = {f"rater_{name}" for name in DIMENSIONS}
    assert differing == points | {"rater_setting", "rater_ballot", "rater_winner"}
    assert "0 (not at all) to 100 (extremely)" in published["rater_ballot"]
    assert "0 (could not be worse) to 100 (could not be better)" in evaluative["rater_ballot"]
    assert all(published[name].startswith("how ") for name in points)


async def test_raters_are_asked_alike_to_the_letter_whatever_the_treatment_and_the_debaters(
    tmp_path, panel
):
    """Two debates of equal speeches, held under other treatments, rules and wordings by other
    debaters.
    """
    run = await held(tmp_path)
    other = debate(
        tmp_path,
        "proposition=citizen_eloquent",
        "opposition=citizen_halting",
        "procedure.rules.fairness=true",
        "wording=oxford_evaluative",
        "treatment.instructions=Sing.",
    )
    same = replace(run, session=other)
    assert same.session.id != run.session.id
    asked = []
    for one in (run, same):
        prompts = []
        for rater in panel.coders:
            model = rater_model(panel, rater, one, asked=prompts)
            await rate(one, panel, rater, model, first="proposition")
        asked.append(prompts)
    assert len(asked[0]) == 8
    for ours, theirs in zip(*asked, strict=True):
        assert without_draws(ours) == without_draws(theirs)


def without_draws(prompt):
    """The text of a prompt without the number of the attention check, which is drawn for each
    debate, and the earlier stance.
    """
    return re.sub(r"<(check|stance)>\n\d+\n</\1>", "", prompt.text)
