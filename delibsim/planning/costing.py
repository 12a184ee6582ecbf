"""What a plan will be asked and what that costs: calls as a dry run finds them (a test holds them
against it), thinking, prices, limits, and the price of a design of another size.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from delibsim.domain.parentage import TurnSlot
from delibsim.domain.participant import Participant
from delibsim.domain.run import Session
from delibsim.domain.survey import Phase, Response
from delibsim.domain.transcript import Silence, Statement
from delibsim.engine.agenda import Hears, heard_by, item_order, steps
from delibsim.engine.consensus import ConsensusContext, seek_consensus
from delibsim.models.base import LanguageModel, Usage, read
from delibsim.models.clients.settings import Price, listed, price_in, provider_of
from delibsim.models.limits import Limits
from delibsim.planning.dry_run import DryRunCall, DryRunModel
from delibsim.planning.load import Load, Range
from delibsim.prompts.session import reversed_for, speech_prompt, stated, survey_prompt


async def calls_of(session: Session, words: int = 0) -> list[DryRunCall]:
    """Every call of a session in order, the first attempt of each.

    Statements have so many words; 0: only the placeholder.
    """
    asked: list[DryRunCall] = []
    models = {name: DryRunModel(name, words, asked.append) for name in session.voices}
    people = {one.id: one for one in (*session.participants, *session.invited)}
    floor = _Floor(session, _hears(session))
    source = random.Random(session.seed_for("forum"))

    def draw() -> list[str]:
        """The order of a round, as Mesa draws it from the seed of the session."""
        order = [person.id for person in session.participants]
        source.shuffle(order)
        return order

    async def survey(person: Participant, phase: Phase) -> Response:
        order, heard = item_order(session, person), floor.heard(person.id)
        earlier = floor.earlier.get(person.id)
        prompt = survey_prompt(session, person, phase, order, heard, earlier, floor.agreed)
        answers, _ = read(prompt, await models[person.model].complete(prompt, 0))
        turned = reversed_for(session, person)
        return Response(person.id, phase, answers, order=order, reversed=turned)

    for step in steps(floor, draw):
        if isinstance(step, TurnSlot) and step.given is not None:
            floor.statements.append(Statement(step.turn, step.given, given=True))
        elif isinstance(step, TurnSlot):
            person, earlier = people[step.turn.speaker], floor.earlier.get(step.turn.speaker)
            prompt = speech_prompt(session, person, step.turn, floor.heard(person.id), earlier)
            said, _ = read(prompt, await models[person.model].complete(prompt, 0))
            floor.statements.append(stated(step.turn, said))
        elif step == "consensus":
            found = await seek_consensus(_room(session, models, floor))
            floor.agreed = found.statement.text if found.statement else ""
        else:
            given = [await survey(person, step) for person in session.respondents]
            floor.earlier = floor.earlier or {one.participant: one for one in given}
    return asked


class _Floor:
    """What is said in a dry run without Mesa, and who hears it."""

    def __init__(self, session: Session, hears: Hears) -> None:
        self.session, self._hears = session, hears
        self.statements: list[Statement] = []
        self.silences: list[Silence] = []
        self.agreed = ""
        self.earlier: dict[str, Response] = {}
        """The answers to the first survey, by participant."""

    def heard(self, name: str) -> tuple[Statement, ...]:
        """What a participant has heard so far."""
        return heard_by(name, self.statements, self.session, self._hears)


def _room(session: Session, models: Mapping[str, LanguageModel], floor: _Floor) -> ConsensusContext:
    """What seeking a collective statement takes after what was said."""
    assert session.consensus is not None
    return ConsensusContext(
        session,
        session.consensus,
        models,
        floor.heard,
        on_reply=lambda model, completion: None,
        on_answer=lambda name: None,
    )


def _hears(session: Session) -> Hears:
    """Who hears whom; everybody does in a complete network."""
    if session.procedure.audience.network == "complete":
        return lambda speaker, name: True
    from delibsim.engine.network import network_of  # networkx takes a tenth of a second to import

    return network_of(session).has_edge


THINKING = ("thinking", "reasoning", "thinking_config")
"""Members of `extra` by which providers are told whether a model is to think."""
UNKNOWN_PRICE = (
    "its price: state it as +model.price='{input: ..., cached: ..., output: ...}' in USD per"
    " million tokens"
)
UNKNOWN_SCHEMA = (
    "the length of the schema that surveys send, and of replies in it: they are counted as labelled"
    " lines"
)
ONE_BY_ONE = "the longest session, whose turns wait for one another"


@dataclass(frozen=True)
class Assumptions:
    """What nobody can know beforehand.

    `words` of a statement; None: what follows from the number of words that speakers are asked for
    (`prompts.statement_words`). `latency`: seconds of a call. `thinking`: tokens of thinking in a
    call; None: up to max_tokens.
    """

    words: tuple[int, int] | None = None
    latency: float = 10.0
    thinking: tuple[int, int] | None = None


@dataclass(frozen=True)
class CostLine:
    """One model in an estimate: calls and tokens, and what they cost.

    `provider` is "" for the citizen. `cached` is input at a discount, from none to all that can be;
    `usd` is None where the price is unknown; `unknown` says in words what else is.
    """

    model: str
    provider: str
    load: Load
    cached: Range
    usd: Range | None
    price: str
    max_tokens: int
    unknown: tuple[str, ...] = ()


def line_of(
    name: str, load: Load, settings: Mapping[str, Any], address: str, assumptions: Assumptions
) -> CostLine:
    """The line of one model, by its settings, under the address at which it is reached."""
    price, most = price_in(settings), settings.get("max_tokens") or 0
    load, unknown = _with_thinking(load, settings, most, assumptions.thinking)
    discount = price.input is not None and price.cached is not None and price.cached < price.input
    usd = _dollars(load, price, discount)
    if usd is None:
        unknown.append(UNKNOWN_PRICE)
    if settings.get("structured"):
        unknown.append(UNKNOWN_SCHEMA)
    return CostLine(
        model=name,
        provider="" if settings.get("kind") == "citizen" else provider_of(name, settings, address),
        load=load,
        cached=Range(0, load.prefix.high) if discount else Range(),
        usd=usd,
        price=price.source,
        max_tokens=most,
        unknown=tuple(unknown),
    )


def _with_thinking(
    load: Load, settings: Mapping[str, Any], most: int, assumed: tuple[int, int] | None
) -> tuple[Load, list[str]]:
    """A load with the tokens of thinking in its output, and what is unknown about them."""
    thinks, calls, output = _thinks(settings), load.calls, load.output
    if thinks is None:
        return load, ["whether it thinks: thinking is left out of the output"]
    if not thinks:
        return load, []
    if assumed:
        low, high = assumed
        thought = Range(calls * low, calls * high)
        text = f"it thinks, and {low} to {high} tokens of it a call are assumed"
        return replace(load, output=output + thought), [text]
    if most:
        text = (
            f"it thinks, and how much is unknown: the high end is max_tokens ({most}) in every"
            " call, the low end no thinking at all"
        )
        return replace(load, output=Range(output.low, max(output.high, calls * most))), [text]
    text = (
        "it thinks, and neither max_tokens nor --thinking bounds it: thinking is left out of the"
        " output"
    )
    return load, [text]


def _thinks(settings: Mapping[str, Any]) -> bool | None:
    """Whether a model thinks before it replies, by settings and price list; None: unknown."""
    if "model" not in settings:
        return False
    extra = settings.get("extra") or {}
    stated = [settings.get("reasoning_effort"), *(extra.get(name) for name in THINKING)]
    stated = [value for value in stated if value is not None]
    if stated:
        return any(map(_is_on, stated))
    entry = listed(str(settings["model"]))
    if entry is None:
        return None
    # Claude thinks where it is asked to; the others that can do so unless they are told not to.
    return bool(entry.get("supports_reasoning")) and "claude" not in str(settings["model"])


def _is_on(stated: Any) -> bool:
    """Whether a setting by which a provider is told about thinking asks for it."""
    if isinstance(stated, Mapping):
        enabled = stated.get("enabled", True) is not False
        return enabled and _is_on(stated.get("type", stated.get("effort", True)))
    return stated not in (False, "none", "disable", "disabled")


def _dollars(load: Load, price: Price, discount: bool) -> Range | None:
    """From the cheapest to the dearest; None where the price is unknown."""
    cached = round(load.prefix.low) if discount else 0
    low = price.cost(Usage(round(load.input.low), cached, round(load.output.low)))
    high = price.worst(round(load.input.high), round(load.output.high))
    return None if low is None or high is None else Range(low, high)


def seconds_of(
    lines: Iterable[CostLine], limits: Limits, latency: float
) -> dict[str, tuple[float, str]]:
    """How long each provider is busy at least, and what binds it."""
    by_provider: dict[str, list[CostLine]] = {}
    for line in lines:
        if line.provider and line.load.calls:
            by_provider.setdefault(line.provider, []).append(line)
    return {name: _binding(own, limits, latency) for name, own in by_provider.items()}


def _binding(lines: Sequence[CostLine], limits: Limits, latency: float) -> tuple[float, str]:
    """The seconds that the lines of one provider take at least, and what binds them."""
    loads = [line.load for line in lines]
    calls = sum(load.calls for load in loads)
    # The tokens that calls use count against the limit.
    tokens = sum(load.input.low + load.output.low for load in loads)
    bounds = {
        "concurrency": calls * latency / limits.concurrency,
        ONE_BY_ONE: latency * max(load.longest for load in loads),
    }
    if limits.requests_per_minute:
        bounds["requests_per_minute"] = 60 * calls / limits.requests_per_minute
    if limits.tokens_per_minute:
        bounds["tokens_per_minute"] = 60 * tokens / limits.tokens_per_minute
    binding = max(bounds, key=lambda name: bounds[name])
    return bounds[binding], binding
