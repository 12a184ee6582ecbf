"""What a plan will cost before it is held: calls, tokens, US dollars and time, as ranges."""

import contextlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from delibsim.domain.run import Session
from delibsim.models.base import OUTCOMES
from delibsim.models.limits import Limits
from delibsim.models.replay import Exchange, exchange_of
from delibsim.planning.costing import Assumptions, CostLine, calls_of, line_of, seconds_of
from delibsim.planning.dry_run import DryRunCall, call_signature, dry_run
from delibsim.planning.load import Load, Range, load_of, total
from delibsim.prompts.session import statement_words
from delibsim.store.runs import Runs

COSTS = ("kind", "model", "price", "max_tokens", "reasoning_effort", "extra", "structured")
"""Settings that bear on the cost of a model; one that varies under a name makes several lines."""


@dataclass(frozen=True)
class CostEstimate:
    """What is planned and what remains: sessions by state, and a line for each model.

    `recorded` counts calls on record, which are not asked again. `seconds` by provider, each with
    what binds it.
    """

    planned: int
    held: int
    cut_off: int
    recorded: int
    lines: tuple[CostLine, ...]
    seconds: Mapping[str, tuple[float, str]]
    assumptions: Assumptions

    @property
    def waiting(self) -> int:
        """Sessions that are to be held."""
        return self.planned - self.held

    @property
    def total(self) -> Load:
        """All models together; `sessions` counts each session once."""
        loads = [line.load for line in self.lines]
        return replace(sum(loads, Load()), sessions=self.waiting)

    @property
    def cached(self) -> Range:
        """Input at a discount, of all models together."""
        return total(line.cached for line in self.lines)

    @property
    def usd(self) -> Range:
        """Of all models whose price is known."""
        return total(line.usd for line in self.lines if line.usd is not None)

    @property
    def unpriced(self) -> list[str]:
        """The models whose price is unknown."""
        return [line.model for line in self.lines if line.usd is None]

    @property
    def longest(self) -> tuple[float, str]:
        """Seconds, and what binds them, of the provider that takes longest.

        Providers are asked at the same time.
        """
        return max(self.seconds.values(), default=(0.0, "nobody is called"))


async def estimate(
    sessions: Sequence[Session],
    runs: Runs,
    limits: Limits,
    addresses: Mapping[str, str],
    assumptions: Assumptions | None = None,
    past: Mapping[str, Sequence[Exchange]] | None = None,
) -> CostEstimate:
    """What it takes to hold those sessions of a plan that have no run yet.

    `past` holds for every branch of a run, by its name, what it has of its parent's record.

    Nothing is called and nothing is written. Re-asks and repeated attempts are left out. One dry
    run serves all replicates of a cell, and all cells that differ only in who answers; a session
    that was cut off has a dry run of its own, without the calls on record.
    """
    assumptions = assumptions or Assumptions()
    over = {one.id for one in sessions if runs.held(one.id) or runs.withdrawn(one.id)}
    waiting = [session for session in sessions if session.id not in over]
    topics = Counter((session.topic.id, session.survey.id) for session in waiting)
    known: dict[str, list[Load]] = {}
    by_model: defaultdict[str, Load] = defaultdict(Load)
    settings: dict[str, tuple[str, Mapping[str, Any]]] = {}
    cut_off = recorded = 0
    for session in waiting:
        done = _recorded(runs, session.id)
        cut_off += bool(done)
        recorded += len(done)
        signature, models = call_signature(session)
        key = signature + (session.id if done else "")
        if key not in known:
            repeated = topics[session.topic.id, session.survey.id] > 1
            ends = assumptions.words or statement_words(session)
            calls = [await _calls(session, words, past or {}) for words in ends]
            known[key] = _loads(calls, models, done, repeated)
        for model, load in zip(models, known[key], strict=True):
            own = session.voices.get(model)
            if own is None:  # of people who spoke elsewhere
                continue
            line = repr([model, *(own.get(name) for name in COSTS)])
            by_model[line] += load
            settings[line] = model, own
    labels = _labels(settings)
    lines = []
    for key, load in by_model.items():
        model, own = settings[key]
        lines.append(line_of(labels[key], load, own, addresses.get(model, ""), assumptions))
    return CostEstimate(
        planned=len(sessions),
        held=len(sessions) - len(waiting),
        cut_off=cut_off,
        recorded=recorded,
        lines=tuple(lines),
        seconds=seconds_of(lines, limits, assumptions.latency),
        assumptions=replace(assumptions, words=assumptions.words or _expected_words(waiting)),
    )


def estimate_loads(
    loads: Mapping[str, Load],
    models: Mapping[str, Mapping[str, Any]],
    limits: Limits,
    addresses: Mapping[str, str],
    assumptions: Assumptions | None = None,
    held: int = 0,
) -> CostEstimate:
    """What models will take that are asked about finished texts, by what each of them is asked.

    `Load.sessions` counts answers here, and `held` of them are there already. The texts are known,
    so no words are assumed.
    """
    assumptions = replace(assumptions or Assumptions(), words=(0, 0))
    lines = []
    for name, load in loads.items():
        lines.append(line_of(name, load, models[name], addresses.get(name, ""), assumptions))
    return CostEstimate(
        planned=sum(load.sessions for load in loads.values()) + held,
        held=held,
        cut_off=0,
        recorded=0,
        lines=tuple(lines),
        seconds=seconds_of(lines, limits, assumptions.latency),
        assumptions=assumptions,
    )


async def _calls(
    session: Session, words: int, past: Mapping[str, Sequence[Exchange]]
) -> list[DryRunCall]:
    """The calls of a session if every statement has so many words."""
    if session.parentage is None:
        return await calls_of(session, words)
    return await dry_run(session, words, past[session.id])


def _loads(
    calls: Sequence[Sequence[DryRunCall]],
    models: Sequence[str],
    done: frozenset[tuple[str, str]],
    repeated: bool,
) -> list[Load]:
    """What each model of a session is asked, with brief and with long statements, without the calls
    that are done.
    """
    brief, long = (_undone(own, done) for own in calls)
    depth = len({call.prompt.purpose.occasion for call in long})
    loads = []
    for model in models:
        own_brief = [call for call in brief if call.model == model]
        own_long = [call for call in long if call.model == model]
        loads.append(load_of(own_brief, own_long, depth, repeated))
    return loads


def _undone(calls: Iterable[DryRunCall], done: frozenset[tuple[str, str]]) -> list[DryRunCall]:
    """The calls that are not done."""
    return [call for call in calls if _occasion(call) not in done]


def _expected_words(sessions: Iterable[Session]) -> tuple[int, int]:
    """The words of a statement that are expected in these sessions, at least and at most.

    (0, 0) where nobody speaks.
    """
    ends = [statement_words(session) for session in sessions if session.treatment.interaction]
    return min((low for low, _ in ends), default=0), max((high for _, high in ends), default=0)


def _occasion(call: DryRunCall) -> tuple[str, str]:
    return call.prompt.purpose.participant, call.prompt.purpose.occasion


def _labels(settings: Mapping[str, tuple[str, Mapping[str, Any]]]) -> dict[str, str]:
    """The names of models; one that stands for several goes with the settings that differ."""
    labels = {}
    for key, (name, ours) in settings.items():
        others = [theirs for other, theirs in settings.values() if other == name]
        differing = []
        for cost in COSTS:
            if any(theirs.get(cost) != ours.get(cost) for theirs in others):
                differing.append(f"{cost}={ours.get(cost)}")
        labels[key] = f"{name} ({', '.join(differing)})" if differing else name
    return labels


def _recorded(runs: Runs, session: str) -> frozenset[tuple[str, str]]:
    """Who was asked, and has answered, on which occasion."""
    found = set()
    for record in runs.exchanges(session)[0]:
        with contextlib.suppress(ValueError):  # a line that is no exchange is asked again
            exchange = exchange_of(record)
            if exchange.completion.status in OUTCOMES:
                found.add((exchange.purpose.participant, exchange.purpose.occasion))
    return frozenset(found)


@dataclass(frozen=True)
class DesignPrice:
    """US dollars of one session of a plan, on average, and the treatments of the plan.

    `unpriced` names the models whose price is unknown and that are not in it. Sessions of other
    topics, and the caches that more replicates use, are not known: the price of another design is
    proportional to its sessions.
    """

    usd: Range
    sessions: int
    treatments: int
    unpriced: tuple[str, ...]

    def of(self, sessions: int) -> Range:
        """US dollars of so many sessions."""
        return Range(self.usd.low * sessions, self.usd.high * sessions)

    def plain(self, sessions: int) -> dict[str, Any]:
        """The price of so many sessions, as plain values."""
        found = self.of(sessions)
        return {
            "sessions": sessions,
            "usd_low": found.low,
            "usd_high": found.high,
            "usd_unknown": list(self.unpriced),
            "estimated_on_sessions": self.sessions,
        }


def design_price(found: CostEstimate, treatments: int) -> DesignPrice | None:
    """The price of a session by an estimate; None where no session is left to be held."""
    if not found.waiting:
        return None
    low, high = found.usd.low / found.waiting, found.usd.high / found.waiting
    return DesignPrice(Range(low, high), found.waiting, treatments, tuple(found.unpriced))
