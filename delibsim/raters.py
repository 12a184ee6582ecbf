"""Conducting raters: every complete debate of a study before every rater of a panel, at most so many at once."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from delibsim.domain.participant import Participant
from delibsim.domain.rating import debated
from delibsim.domain.run import Run, Session
from delibsim.engine.agent import Interrupted
from delibsim.engine.rating import check_panel, rate
from delibsim.models.replay import Diverged, Exchange, Recorder, Replay, exchanges_in
from delibsim.rehearsal import Asked, StandIn
from delibsim.store.codec import session_to_plain
from delibsim.store.ratings import Ratings
from delibsim.store.runs import Runs
from delibsim.voices import Voices

FAMILIES = ("gpt", "claude", "gemini", "gemma", "deepseek", "kimi", "llama", "mistral", "mixtral", "qwen", "grok", "phi")


@dataclass(frozen=True)
class RatingOutcome:
    """What came of rating: how many ratings are new, were there before, could not be asked for; why, and the calls made."""

    new: int
    before: int
    faults: tuple[str, ...]
    asked: int


def panel_of(session: Session, name: str = "panel") -> Session:
    """The participants of a planned session as a panel of raters, named after the panel and counted from 1."""
    raters = tuple(replace(p, id=f"{name} {i}", role="rater") for i, p in enumerate(session.participants, 1))
    return replace(session, participants=raters, format="rating")


def seated(panel: Session, run: Run) -> Session:
    """The panel as it sits before one debate."""
    debate = run.session
    return replace(panel, id=debate.id, topic=debate.topic, survey=debate.survey, seed=debate.seed, replicate=debate.replicate)


def panel_to_plain(panel: Session) -> dict[str, Any]:
    """What a panel is made of, as plain values: its raters, models, wording and re-asks."""
    plain = session_to_plain(panel)
    return {"raters": plain["participants"], "models": plain["models"], "wording": plain["wording"], "reasks": panel.procedure.reasks}


def kin(panel: Session, runs: Sequence[Run]) -> list[str]:
    """A warning for each rater's model that shares a family with a debater's: it may know, and favour, its own hand."""
    debating = {name: settings for run in runs for name, settings in run.session.models.items()}
    warnings = []
    for rater, settings in panel.models.items():
        family = family_of(rater, settings)
        alike = sorted(name for name, other in debating.items() if family_of(name, other) == family)
        if alike:
            warnings.append(f"rater {rater} and debater {', '.join(alike)} are of one family ({family}): a model may favour its own hand")
    return warnings


def family_of(name: str, settings: Any) -> str:
    """The family of a model: the first known one its name speaks of, else its kind and name."""
    known = f"{settings.get('model', '')} {name}".lower()
    return next(
        (family for family in FAMILIES if family in known), str(settings["kind"]) if settings["kind"] == "citizen" else known.strip()
    )


async def rehearsed_ratings(runs: Runs, panel: Session, debates: Sequence[Run]) -> list[list[Asked]]:
    """The calls of every rating that is still to be asked for, with placeholders for the replies; nobody is called."""
    check_panel(panel)
    sittings = []
    for run in filter(debated, debates):
        sitting, done = seated(panel, run), {rating.rater for rating in Ratings.of(runs).read(run.session.id)}
        for rater in panel.participants:
            if rater.id not in done:
                sittings.append(asked := [])
                await rate(run, sitting, rater, {name: StandIn(name, 0, asked.append) for name in panel.models})
    return sittings


async def rate_all(
    runs: Runs,
    panel: Session,
    debates: Sequence[Run],
    voices: Voices,
    at_once: int = 8,
    told: Callable[[str], None] = lambda line: None,
) -> RatingOutcome:
    """Have every complete debate rated by every rater who has not yet; what was recorded is not asked again."""
    check_panel(panel)
    ratings = Ratings.of(runs)
    gate = asyncio.Semaphore(at_once)
    new, before, asked, faults = 0, 0, 0, []

    async def one(run: Run, rater: Participant, known: list[Exchange]) -> None:
        nonlocal new, asked

        def keep(exchange: Exchange) -> None:
            nonlocal asked
            asked += 1
            ratings.record(run.session.id, exchange.record())

        sitting = seated(panel, run)
        live = {n: Replay(n, known, then=Recorder(model, keep)) for n, model in voices.of(sitting).items()}
        async with gate:
            try:
                ratings.add(await rate(run, sitting, rater, live))
                new += 1
            except (Interrupted, Diverged) as error:
                faults.append(f"{run.session.id}, {rater.id}: {error}")

    with runs.lock():
        try:
            for run in filter(debated, debates):
                done = {rating.rater for rating in ratings.read(run.session.id)}
                waiting = [rater for rater in panel.participants if rater.id not in done]
                before += len(panel.participants) - len(waiting)
                known, _ = exchanges_in(ratings.exchanges(run.session.id)[0])
                await asyncio.gather(*(one(run, rater, known) for rater in waiting))
                told(f"{run.session.id}: {len(waiting)} rated now, {len(done)} before")
        finally:
            await voices.close()
    return RatingOutcome(new, before, tuple(faults), asked)
