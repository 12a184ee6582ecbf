"""One thing varies: on every page a person sees what a model in her seat is told, and nothing else that
bears on the question. The pages are the server's own, of every treatment, format and role.
"""

import asyncio

import pytest

pytest.importorskip("uvicorn", reason="the extra web is not installed: make web")

from told_alike import difference, form_is_told, visible_lines

from delibsim.domain.errors import WrongInput
from delibsim.domain.hosting import Hosting, Limit
from delibsim.planning.compose import plan
from delibsim.web.people.preview import preview

HOSTING = Hosting(consent="I take part.", turn=Limit(5.0), survey=Limit(20.0))
PAIR = ("topic=ccps", "group.models=[person,citizen]", "group.size=2")
DEBATE = ("format=debate", "treatment=oxford", "motion=voting")
CASES = {
    "normative": (*PAIR, "treatment=normative"),
    "published": (*PAIR, "treatment=basic", "procedure=published"),
    "none": (*PAIR, "treatment=none"),
    "consensus": (*PAIR, "treatment=basic", "rounds=1", "consensus=schulze"),
    "proposition": (*DEBATE, "proposition=person", "opposition=citizen"),
    "listeners": (
        *DEBATE,
        "proposition=citizen",
        "opposition=citizen",
        "model=person",
        "audience=2",
    ),
}
MORE = {
    **{f"normative_{one}": (*PAIR, f"treatment=normative_{one}") for one in "abcd"},
    "instructions in surveys": (*PAIR, "treatment=normative", "procedure.instructions=everywhere"),
    "nothing recalled": (
        *PAIR, "treatment=normative", "procedure.recall=false", "procedure.background=false",
        "procedure.show_transcript=false", "procedure.show_answers=false", "procedure.words=null",
    ),
    "two statements at a time": (
        "topic=ccps", "treatment=basic", "rounds=2", "group.models=[person,citizen,citizen]",
        "group.size=3", "procedure.transcript_window=2",
    ),
    "a scale turned round": (*PAIR, "treatment=basic", "procedure.reverse_scale=half"),
    "a star": (
        "topic=ccps", "treatment=basic", "rounds=1", "group.models=[citizen,person,citizen]",
        "group.size=3", "procedure.audience.network=star",
    ),
    "persona": (*PAIR, "treatment=basic", "rounds=1", "persona=values"),
    "opposition with notes": (
        *DEBATE, "proposition=citizen", "opposition=person", "procedure.rules.preparation=true",
        "procedure.rules.fairness=true", "procedure.rules.both_kinds=true",
        "procedure.rules.no_new_argument=true",
    ),
}  # fmt: skip


def shots_of(settings, home, hosting=HOSTING):
    """The pages of the first session of a plan, in the order in which they stood."""
    planned = plan(["study=alike", *settings], home)
    return asyncio.run(preview(planned.sessions[:1], hosting))


def instructions_of(settings, home):
    """The sentences of the treatment's instructions, as they are compared."""
    session = plan(["study=alike", *settings], home).session
    return session.treatment.instructions


def check(shots, instructions, folds=True, lines_of=lambda shot: visible_lines(shot.html)):
    """Every page against its prompt. Only instructions of more than 40 words may be missing, and only
    where they stood open on an earlier page of the seat and a line with their first words is left.
    """
    read, asked = set(), [one for one in shots if one.prompt is not None]
    for shot in asked:
        lines = lines_of(shot)
        found, place = difference(shot.prompt, lines), (shot.session, shot.seat)
        seen, told = " ".join(lines), " ".join(instructions.split())
        missing = " ".join(found.models)
        if missing:
            assert folds, (shot.occasion, found)
            assert missing == told, (shot.occasion, found)
            assert place in read, shot.occasion
            assert "Your instructions hold now as well" in seen
            assert " ".join(told.split()[:10]) in seen
        elif told and told in seen:
            read.add(place)
        assert found.people == (), (shot.occasion, found)
        assert form_is_told(shot.prompt, lines) == []
    return asked


@pytest.mark.parametrize("case", CASES)
def test_a_person_sees_what_a_model_is_told_and_nothing_else(case, tmp_path):
    settings = CASES[case]
    asked = check(shots_of(settings, tmp_path), instructions_of(settings, tmp_path))
    occasions = {shot.occasion.split()[0] for shot in asked}
    expected = {
        "none": {"pre", "post"},
        "consensus": {"pre", "turn", "post", "position", "vote", "critique"},
        "proposition": {"turn"},
        "listeners": {"pre", "post"},
    }
    assert occasions == expected.get(case, {"pre", "turn", "post"})


@pytest.mark.heavy
@pytest.mark.parametrize("case", MORE)
def test_so_it_is_under_every_switch_of_the_procedure(case, tmp_path):
    settings = MORE[case]
    assert check(shots_of(settings, tmp_path), instructions_of(settings, tmp_path))


def test_no_person_is_the_mediator_whom_pages_cannot_ask(tmp_path):
    with pytest.raises(WrongInput, match="no page to mediate on"):
        plan(["study=s", *CASES["consensus"], "consensus.mediator=person"], tmp_path)
