"""From a run to the plans of its probes: branches on which the survey after follows a turn."""

from collections.abc import Sequence
from pathlib import Path

from delibsim.domain.errors import WrongInput
from delibsim.domain.parentage import Edit
from delibsim.planning.cell import Composer
from delibsim.planning.fork import ForkPlan, Parent, branch, limits_of
from delibsim.planning.fork_changes import ELSEWHERE, changed
from delibsim.planning.fork_request import Places, numbers
from delibsim.planning.overrides import read

EACH, ROUNDS = "each", "rounds"


def plan_probes(
    parent: Parent, after: str, times: int, settings: Sequence[str], home: Path | None = None
) -> ForkPlan:
    """The probes of a run after these turns: numbers, a range, "each" (every turn but the last,
    after which the run itself has its survey) or "rounds" (the last turn of every round but the
    last).

    WrongInput for a turn that the run does not have, and for settings that would change it.
    """
    if not parent.run.session.respondents:
        raise WrongInput(f"{parent.study}/{parent.run.session.id}: nobody is surveyed in it")
    composer = Composer(home or Path.cwd())
    asked = read(settings, composer.presets, composer.topics, sweep=False)
    (job,) = asked.jobs
    for key in (*job.choices, *job.values):
        if key.partition(".")[0] not in ELSEWHERE or key == "study":
            raise WrongInput(
                f"'{key}' cannot differ in a probe, which asks what the run would have asked; to"
                " change something, fork the run"
            )
    made = changed(parent.run.session, job, Places(at=(0,)), composer)
    sessions = []
    for turn in _turns(parent, after):
        stop = (Edit("stop", turn + 1),)
        sessions += branch(parent, turn + 1, stop, times, made)
    return ForkPlan(tuple(sessions), "", limits_of(made), made.addresses, asked)


def _turns(parent: Parent, after: str) -> tuple[int, ...]:
    """The turns that are named, in order."""
    run = parent.run
    held = sorted(said.turn.index for said in (*run.transcript, *run.silences))
    if after == EACH:
        found = tuple(held[:-1])
    elif after == ROUNDS:
        last = {said.turn.round: 0 for said in (*run.transcript, *run.silences)}
        for said in (*run.transcript, *run.silences):
            last[said.turn.round] = max(last[said.turn.round], said.turn.index)
        found = tuple(sorted(last.values())[:-1])
    else:
        found = tuple(sorted(numbers(after, "after")))
    beyond = [turn for turn in found if turn > parent.turns]
    if beyond:
        raise WrongInput(
            f"--after {beyond[0]}: the last turn of {parent.study}/{run.session.id} is"
            f" {parent.turns}"
        )
    if not found:
        raise WrongInput(
            f"{parent.study}/{run.session.id} has no turn between its two surveys after which to"
            f" ask (--after {after})"
        )
    return found
