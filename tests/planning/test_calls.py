"""What an estimate counts is what a session asks when it is really held."""

import pytest

from delibsim import compose
from delibsim.planning.costing import calls_of
from delibsim.planning.dry_run import dry_run

DEBATE = ("format=debate", "motion=voting")


@pytest.mark.parametrize("seed", [1, 7])
@pytest.mark.parametrize(
    "overrides",
    [
        ("topic=ccps", "treatment=normative"),
        ("topic=acp", "treatment=none"),
        ("topic=acp", "group.size=9", "rounds=5", "procedure.recall=true"),
        ("topic=acp", "group.size=12", "rounds=2", "procedure.shuffle_items=false"),
        ("topic=acp", "group.models=[citizen,citizen_eloquent,citizen_plain]"),
        ("topic=acp", "procedure.reverse_scale=half", "procedure.recall=true"),
        ("topic=acp", "procedure.transcript_window=2", "procedure.show_answers=true"),
        ("topic=acp", "procedure.audience.network=star", "rounds=3"),
        ("topic=acp", "procedure.audience.network=ring", "group.size=6"),
        (
            "topic=acp",
            "group.size=8",
            "procedure.audience.network=small_world",
            "procedure.audience.neighbours=2",
            "procedure.audience.rewiring=0.5",
        ),
        (
            "topic=acp",
            "group.size=3",
            "procedure.audience.network=edges",
            "procedure.audience.edges=[[1,3]]",
        ),
        DEBATE,
        (*DEBATE, "procedure.rules.preparation=true"),
        (*DEBATE, "audience=3", "model=citizen_plain"),
        (*DEBATE, "audience=2", "treatment.interaction=false"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("words", [0, 80])
async def test_the_calls_are_those_of_the_session_when_it_is_held(overrides, seed, words, tmp_path):
    session = compose(*overrides, f"seed={seed}", home=tmp_path)
    held = await dry_run(session, words)
    assert held
    assert await calls_of(session, words) == held
