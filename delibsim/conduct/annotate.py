"""Conducting raters: the complete debates of a study before the raters of a panel."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from delibsim.annotation.debates import check_panel, rate
from delibsim.domain.allocation import Allocation, Showing, allocate
from delibsim.domain.errors import WrongInput
from delibsim.domain.participant import Participant, Side
from delibsim.domain.rating import debated, panel_of_rater
from delibsim.domain.run import Run, Session
from delibsim.models.ask import Interrupted
from delibsim.models.pool import ModelPool
from delibsim.models.replay import Diverged, Exchange, Recorder, Replay, exchanges_in
from delibsim.planning.dry_run import Asked, DryRunModel
from delibsim.prompts.session import RATER_YOU
from delibsim.store.codec import session_to_plain
from delibsim.store.ratings import Ratings
from delibsim.store.runs import Runs

FAMILIES = (
    "gpt",
    "claude",
    "gemini",
    "gemma",
    "deepseek",
    "kimi",
    "llama",
    "mistral",
    "mixtral",
    "qwen",
    "grok",
    "phi",
)


@dataclass(frozen=True)
class RatingOutcome:
    """What came of rating: how many ratings are new, were there before, could not be asked for;
    why, and the calls made.
    """

    new: int
    before: int
    faults: tuple[str, ...]
    asked: int


@dataclass(frozen=True)
class Balance:
    """How many ratings a panel is to give, by how many raters a debate, and how many debates by
    nobody.
    """

    planned: int
    fewest_raters: int
    most_raters: int
    unallocated: int

    @classmethod
    def of(cls, panel: Session, debates: Sequence[Run], allocation: Allocation | None) -> "Balance":
        """That of the raters of a panel before the complete ones of these debates."""
        counts = [len(before(panel, run, allocation)) for run in debates if debated(run)]
        return cls(sum(counts), min(counts, default=0), max(counts, default=0), counts.count(0))

    def told(self, each: int | None) -> str:
        """In words; "" where every rater rates every debate."""
        if each is None:
            return ""
        few, most = self.fewest_raters, self.most_raters
        raters = f"{few}" if few == most else f"{few} to {most}"
        word = "rater" if most == 1 else "raters"
        return f", {each} debates each, {raters} {word} a debate"


def panel_of(session: Session, name: str = "panel") -> Session:
    """The participants of a planned session as a panel of raters, named after the panel and counted
    from 1.
    """
    raters = tuple(
        replace(p, id=f"{name} {i}", role="rater") for i, p in enumerate(session.participants, 1)
    )
    return replace(session, participants=raters, format="rating")


def seated(panel: Session, run: Run) -> Session:
    """The panel as it sits before one debate."""
    debate = run.session
    return replace(
        panel,
        id=debate.id,
        topic=debate.topic,
        survey=debate.survey,
        seed=debate.seed,
        replicate=debate.replicate,
    )


def as_begun(panel: Session, ratings: Ratings) -> Session:
    """The panel under the wording it was begun with, where that lacks nothing but RATER_YOU.

    Its raters were told their names in full, and what they were asked is found again in the record.
    """
    begun = ratings.wording_of_panel(panel_name(panel))
    texts = {name: text for name, text in panel.wording.texts.items() if name != RATER_YOU}
    same = begun is not None and (begun.id, dict(begun.texts)) == (panel.wording.id, texts)
    return replace(panel, wording=begun) if same else panel


def panel_to_plain(panel: Session, allocation: Allocation | None = None) -> dict[str, Any]:
    """What a panel is made of, as plain values: its raters, models, wording and re-asks.

    With an allocation: how many debates each rater rates, and which.
    """
    plain = session_to_plain(panel)
    found = {
        "raters": plain["participants"],
        "models": plain["models"],
        "wording": plain["wording"],
        "reasks": panel.procedure.reasks,
    }
    if allocation is None:
        return found
    shown = {}
    for rater, showings in allocation.items():
        shown[rater] = [asdict(showing) for showing in showings]
    each = len(next(iter(allocation.values())))
    return found | {"debates_per_rater": each, "allocation": shown}


def allocated(
    runs: Runs,
    panel: Session,
    debates: Sequence[Run],
    each: int | None,
) -> dict[str, tuple[Showing, ...]] | None:
    """Which debates each rater of a panel rates, with what was allocated before; None where all
    rate all.

    Debates that were held since go to raters who join since. Raises WrongInput where the panel was
    begun with another number of debates for each, or a rater cannot have so many.
    """
    ratings, name = Ratings.of(runs), panel_name(panel)
    if name in ratings.panels() and (begun := ratings.debates_per_rater(name)) != each:
        was = "every debate" if begun is None else f"{begun} debates"
        option = "--debates-per-rater"
        same = f"without {option}" if begun is None else f"with {option} {begun}"
        advice = f"go on {same}, or name another panel: --panel NAME"
        raise WrongInput(f"each rater of panel '{name}' rates {was}: {advice}")
    if each is None:
        return None
    complete = [run for run in debates if debated(run)]
    motions = {run.session.id: run.session.topic.id for run in complete}
    names = [rater.id for rater in panel.participants]
    seed = complete[0].session.seed if complete else 0
    return allocate(motions, names, each, seed, ratings.allocation(name))


def panel_name(panel: Session) -> str:
    """The name of a panel, by which its raters are called."""
    return panel_of_rater(panel.participants[0].id)


def before(
    panel: Session,
    run: Run,
    allocation: Allocation | None = None,
) -> list[tuple[Participant, Side | None]]:
    """The raters before whom a debate is to come, each with the side shown as Speaker A.

    Where there is no allocation a debate comes before every rater, and the side is None: as it is
    drawn.
    """
    if allocation is None:
        return [(rater, None) for rater in panel.participants]
    name = run.session.id
    sides = {}
    for rater, showings in allocation.items():
        own = {showing.debate: showing.first for showing in showings}
        if name in own:
            sides[rater] = own[name]
    return [(rater, sides[rater.id]) for rater in panel.participants if rater.id in sides]


def kin(panel: Session, runs: Sequence[Run]) -> list[str]:
    """A warning for each rater's model that shares a family with a debater's: it may know, and
    favour, its own hand.
    """
    debating = {name: settings for run in runs for name, settings in run.session.models.items()}
    warnings = []
    for rater, settings in panel.models.items():
        family = family_of(rater, settings)
        alike = sorted(name for name, other in debating.items() if family_of(name, other) == family)
        if alike:
            warnings.append(
                f"rater {rater} and debater {', '.join(alike)} are of one family ({family}): a"
                " model may favour its own hand"
            )
    return warnings


def family_of(name: str, settings: Any) -> str:
    """The family of a model: the first known one its name speaks of, else its kind and name."""
    known = f"{settings.get('model', '')} {name}".lower()
    return next(
        (family for family in FAMILIES if family in known),
        str(settings["kind"]) if settings["kind"] == "citizen" else known.strip(),
    )


async def rehearsed_ratings(
    runs: Runs,
    panel: Session,
    debates: Sequence[Run],
    allocation: Allocation | None = None,
) -> list[list[Asked]]:
    """The calls of every rating that is still to be asked for, with placeholders for the replies;
    nobody is called.
    """
    check_panel(panel)
    sittings = []
    for run in filter(debated, debates):
        sitting, done = (
            seated(panel, run),
            {rating.rater for rating in Ratings.of(runs).read(run.session.id)},
        )
        for rater, first in before(panel, run, allocation):
            if rater.id not in done:
                sittings.append(asked := [])
                voices = {name: DryRunModel(name, 0, asked.append) for name in panel.models}
                await rate(run, sitting, rater, voices, first)
    return sittings


async def rate_all(
    runs: Runs,
    panel: Session,
    debates: Sequence[Run],
    voices: ModelPool,
    at_once: int = 8,
    told: Callable[[str], None] = lambda line: None,
    allocation: Allocation | None = None,
) -> RatingOutcome:
    """Have every complete debate rated by every rater who is to and has not yet; what was recorded
    is not asked again.
    """
    check_panel(panel)
    ratings = Ratings.of(runs)
    gate = asyncio.Semaphore(at_once)
    new, there, asked, faults = 0, 0, 0, []

    async def one(run: Run, rater: Participant, first: Side | None, known: list[Exchange]) -> None:
        nonlocal new, asked

        def keep(exchange: Exchange) -> None:
            nonlocal asked
            asked += 1
            ratings.record(run.session.id, exchange.record())

        sitting = seated(panel, run)
        live = {
            n: Replay(n, known, then=Recorder(model, keep))
            for n, model in voices.of(sitting).items()
        }
        async with gate:
            try:
                ratings.add(await rate(run, sitting, rater, live, first))
                new += 1
            except (Interrupted, Diverged) as error:
                faults.append(f"{run.session.id}, {rater.id}: {error}")

    with runs.lock():
        try:
            for run in filter(debated, debates):
                done = {rating.rater for rating in ratings.read(run.session.id)}
                own = before(panel, run, allocation)
                waiting = [(rater, first) for rater, first in own if rater.id not in done]
                there += len(own) - len(waiting)
                known, _ = exchanges_in(ratings.exchanges(run.session.id)[0])
                await asyncio.gather(*(one(run, rater, first, known) for rater, first in waiting))
                told(f"{run.session.id}: {len(waiting)} rated now, {len(done)} before")
        finally:
            await voices.close()
    return RatingOutcome(new, there, tuple(faults), asked)
