"""What a plan will cost before it is held: calls, tokens, US dollars and time, as ranges, with what
is unknown said.
"""

import contextlib
import functools
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_letters
from typing import Any

from delibsim.domain.run import Session
from delibsim.models.base import OUTCOMES, Usage
from delibsim.models.clients.faults import public_url
from delibsim.models.clients.prices import listed
from delibsim.models.limits import Limits
from delibsim.models.pool import price_in
from delibsim.models.replay import exchange_of
from delibsim.planning.dry_run import Asked, call_signature, dry_run
from delibsim.prompts.session import statement_words
from delibsim.store.runs import Runs

ASCII = (5.6, 3.2)
"""Characters a token in text of ASCII, at most and at least: prompts and speech on all topics here
under four tokenizers.
"""
OTHERS = (9.5, 1.5)
"""Bytes of UTF-8 a token in all other characters, at most and at least."""
COSTS = ("kind", "model", "price", "max_tokens", "reasoning_effort", "extra", "structured")
"""Settings that bear on what a model costs: where they differ under one name, it has several
lines.
"""
MESSAGE = 4
"""Tokens that a provider may count for the frame of a message."""
THINKING = ("thinking", "reasoning", "thinking_config")
"""Members of `extra` by which providers are told whether a model is to think."""


@dataclass(frozen=True)
class Range:
    """From the lowest to the highest that is expected."""

    low: float = 0.0
    high: float = 0.0

    def __add__(self, other: "Range") -> "Range":
        return Range(self.low + other.low, self.high + other.high)


@dataclass(frozen=True)
class Assumptions:
    """What nobody can know beforehand: words of a statement, seconds of a call, tokens of thinking
    (None: up to max_tokens).

    `words` None: what follows from the number of words that speakers are asked for
    (`prompts.statement_words`).
    """

    words: tuple[int, int] | None = None
    latency: float = 10.0
    thinking: tuple[int, int] | None = None


@dataclass(frozen=True)
class Load:
    """What one model is asked: sessions it sits in, calls, tokens.

    `prefix` is the part of input that an earlier prompt may have begun with, `longest` the number
    of occasions of its longest session, each of which waits for the one before.
    """

    sessions: int = 0
    calls: int = 0
    input: Range = Range()
    prefix: Range = Range()
    output: Range = Range()
    longest: int = 0

    def __add__(self, other: "Load") -> "Load":
        tokens = (self.input + other.input, self.prefix + other.prefix, self.output + other.output)
        calls, sessions = self.calls + other.calls, self.sessions + other.sessions
        return Load(sessions, calls, *tokens, max(self.longest, other.longest))


@dataclass(frozen=True)
class Line:
    """One model in an estimate: calls and tokens, its provider ("" for the citizen), and what they
    cost.

    `cached` is input at a discount, from none to all that can be; `usd` is None where the price is
    unknown; `unknown` says in words what else is.
    """

    model: str
    provider: str
    load: Load
    cached: Range
    usd: Range | None
    price: str
    max_tokens: int
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class Estimate:
    """What is planned and what remains: sessions by state, calls on record that are not asked
    again, a line for each model.

    `seconds` by provider, each with what binds it.
    """

    planned: int
    held: int
    cut_off: int
    recorded: int
    lines: tuple[Line, ...]
    seconds: Mapping[str, tuple[float, str]]
    assumptions: Assumptions

    @property
    def waiting(self) -> int:
        """Sessions that are to be held."""
        return self.planned - self.held

    @property
    def total(self) -> Load:
        """All models together; `sessions` counts each session once."""
        return replace(sum((line.load for line in self.lines), Load()), sessions=self.waiting)

    @property
    def usd(self) -> Range:
        """Of all models whose price is known."""
        return sum((line.usd for line in self.lines if line.usd is not None), Range())

    @property
    def longest(self) -> tuple[float, str]:
        """Seconds, and what binds them, of the provider that takes longest: providers are asked
        side by side.
        """
        return max(self.seconds.values(), default=(0.0, "nobody is called"))


async def estimate(
    sessions: Sequence[Session],
    runs: Runs,
    limits: Limits,
    addresses: Mapping[str, str],
    assumptions: Assumptions | None = None,
) -> Estimate:
    """What it takes to hold those sessions of a plan that have no run yet. Nothing is called and
    nothing is written.

    Re-asks and repeated attempts are left out. Replicates of a cell are rehearsed once, and so are
    cells that differ only in who answers; a session that was cut off is rehearsed by itself,
    without the calls on record.
    """
    assumptions = assumptions or Assumptions()
    waiting = [session for session in sessions if not runs.held(session.id)]
    known: dict[str, list[Load]] = {}
    by_model: defaultdict[str, Load] = defaultdict(Load)
    settings: dict[str, tuple[str, Mapping[str, Any]]] = {}
    recorded = {session.id: _recorded(runs, session.id) for session in waiting}
    records = {name: done for name, done in recorded.items() if done}
    topics = Counter((session.topic.id, session.survey.id) for session in waiting)
    for session in waiting:
        repeated = topics[session.topic.id, session.survey.id] > 1
        alike, models = call_signature(session)
        done = records.get(session.id, frozenset())
        script = alike + (session.id if done else "")
        if script not in known:
            ends = assumptions.words or statement_words(session)
            brief, long = [await dry_run(session, words) for words in ends]
            both = [
                pair for pair in zip(brief, long, strict=True) if _occasion(pair[0]) not in done
            ]
            depth = len({call.prompt.purpose.occasion for call, _ in both})
            known[script] = [
                _load([pair for pair in both if pair[0].model == model], depth, repeated)
                for model in models
            ]
        for model, load in zip(models, known[script], strict=True):
            key = repr([model, *(session.models[model].get(name) for name in COSTS)])
            by_model[key] += load
            settings[key] = model, session.models[model]
    labels = _labels(settings)
    lines = tuple(
        _line(labels[key], load, settings[key][1], addresses.get(settings[key][0], ""), assumptions)
        for key, load in by_model.items()
    )
    return Estimate(
        planned=len(sessions),
        held=len(sessions) - len(waiting),
        cut_off=len(records),
        recorded=sum(map(len, records.values())),
        lines=lines,
        seconds=_seconds(lines, limits, assumptions.latency),
        assumptions=replace(assumptions, words=assumptions.words or _expected(waiting)),
    )


def _expected(sessions: Iterable[Session]) -> tuple[int, int]:
    """The words of a statement that are expected in these sessions, at least and at most; (0, 0)
    where nobody speaks.
    """
    ends = [statement_words(session) for session in sessions if session.treatment.interaction]
    return min((low for low, _ in ends), default=0), max((high for _, high in ends), default=0)


def estimate_ratings(
    sittings: Sequence[Sequence[Asked]],
    held: int,
    models: Mapping[str, Mapping[str, Any]],
    limits: Limits,
    addresses: Mapping[str, str],
    assumptions: Assumptions | None = None,
) -> Estimate:
    """What the ratings that are still to be asked for will take, each given as the rehearsal of one
    rater before one debate.

    `Load.sessions` counts ratings here, and `held` of them are there already. The speeches are
    known, so no words are assumed.
    """
    assumptions = replace(assumptions or Assumptions(), words=(0, 0))
    by_model: defaultdict[str, Load] = defaultdict(Load)
    for calls in sittings:
        by_model[calls[0].model] += _load(
            [(call, call) for call in calls], len(calls), repeated=False
        )
    lines = tuple(
        _line(name, load, models[name], addresses.get(name, ""), assumptions)
        for name, load in by_model.items()
    )
    seconds = _seconds(lines, limits, assumptions.latency)
    return Estimate(len(sittings) + held, held, 0, 0, lines, seconds, assumptions)


def tokens_of(text: str) -> Range:
    """Tokens of a text, whatever the tokenizer.

    A text of which less than half is letters, such as a survey filled in, may have a token for
    every character.
    """
    encoded, plain = text.encode(errors="replace"), text.encode("ascii", errors="ignore")
    others = len(encoded) - len(plain)
    low, high = (
        len(plain) / ASCII[0] + others / OTHERS[0],
        len(plain) / ASCII[1] + others / OTHERS[1],
    )
    letters = len(plain) - len(plain.translate(None, ascii_letters.encode())) + others
    return Range(low, high if 2 * letters >= len(encoded) else len(plain) + others / OTHERS[1])


def common(a: str, b: str) -> int:
    """Length of the longest common beginning.

    >>> common("deliberate", "delight")
    4
    """
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if a[low:middle] == b[low:middle] else (low, middle - 1)
    return low


def _occasion(call: Asked) -> tuple[str, str]:
    return call.prompt.purpose.participant, call.prompt.purpose.occasion


def _labels(settings: Mapping[str, tuple[str, Mapping[str, Any]]]) -> dict[str, str]:
    """The names of models; where one name stands for several, with the settings that tell them
    apart.
    """
    labels = {}
    for key, (name, ours) in settings.items():
        others = [theirs for other, theirs in settings.values() if other == name]
        told = [
            f"{cost}={ours.get(cost)}"
            for cost in COSTS
            if any(theirs.get(cost) != ours.get(cost) for theirs in others)
        ]
        labels[key] = f"{name} ({', '.join(told)})" if told else name
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


def _load(calls: Sequence[tuple[Asked, Asked]], depth: int, repeated: bool) -> Load:
    """What one model is asked in one session so many occasions long, whose calls were rehearsed
    with brief and with long statements.
    """
    ends = []
    for asked in zip(*calls, strict=True):
        texts = [call.prompt.text for call in asked]
        shared = _repeated(asked) if repeated else _begun(texts)
        ends.append(
            [
                _sum(map(tokens_of, texts)),
                _sum(map(tokens_of, shared)),
                _sum(tokens_of(call.reply) for call in asked),
            ]
        )
    if not ends:
        return Load(sessions=1)
    frames = MESSAGE * sum(len(long.prompt.messages) + 1 for _, long in calls)
    whole, prefix, output = (Range(low.low, high.high) for low, high in zip(*ends, strict=True))
    return Load(1, len(calls), whole + Range(0, frames), prefix, output, depth)


def _begun(texts: Sequence[str]) -> list[str]:
    """The part of each prompt with which an earlier one of the session began."""
    return [_shared(text, texts[:i]) for i, text in enumerate(texts)]


def _repeated(asked: Sequence[Asked]) -> list[str]:
    """The most of each prompt with which an earlier one of the plan may have begun, where others
    are on the same topic.

    Surveys before the deliberation are the same under every treatment; any other prompt has a twin
    in a replicate, which begins as some prompt of its own session does.
    """
    texts = [call.prompt.text for call in asked]
    found = []
    for i, call in enumerate(asked):
        others = [*texts[:i], *texts[i + 1 :]]
        found.append(
            texts[i] if call.prompt.purpose.occasion == "pre" else _shared(texts[i], others)
        )
    return found


def _shared(text: str, others: Iterable[str]) -> str:
    """The longest beginning that a text has in common with one of the others."""
    return text[: max((common(text, other) for other in others), default=0)]


def _line(
    name: str, load: Load, settings: Mapping[str, Any], address: str, assumptions: Assumptions
) -> Line:
    price, most = price_in(settings), settings.get("max_tokens") or 0
    unknown = []
    thinks = _thinks(settings)
    if thinks and assumptions.thinking:
        load = replace(
            load,
            output=load.output + Range(*(load.calls * tokens for tokens in assumptions.thinking)),
        )
        unknown.append(
            f"it thinks, and {assumptions.thinking[0]} to {assumptions.thinking[1]} tokens of it a"
            " call are assumed"
        )
    elif thinks and most:
        load = replace(
            load, output=Range(load.output.low, max(load.output.high, load.calls * most))
        )
        unknown.append(
            f"it thinks, and how much is unknown: the high end is max_tokens ({most}) in every"
            " call, the low end no thinking at all"
        )
    elif thinks:
        unknown.append(
            "it thinks, and neither max_tokens nor --thinking bounds it: thinking is left out of"
            " the output"
        )
    elif thinks is None:
        unknown.append("whether it thinks: thinking is left out of the output")
    discount = price.input is not None and price.cached is not None and price.cached < price.input
    cached = Range(0, load.prefix.high) if discount else Range()
    low = price.cost(
        Usage(
            round(load.input.low), round(load.prefix.low) if discount else 0, round(load.output.low)
        )
    )
    high = price.worst(round(load.input.high), round(load.output.high))
    usd = None if low is None or high is None else Range(low, high)
    if usd is None:
        unknown.append(
            "its price: state it as +model.price='{input: ..., cached: ..., output: ...}' in USD"
            " per million tokens"
        )
    if settings.get("structured"):
        unknown.append(
            "the length of the schema that surveys send, and of replies in it: they are counted as"
            " labelled lines"
        )
    return Line(
        name,
        _provider(name, settings, address),
        load,
        cached,
        usd,
        price.source,
        most,
        tuple(unknown),
    )


def _thinks(settings: Mapping[str, Any]) -> bool | None:
    """Whether a model thinks before it replies, by its settings and the price list; None if that is
    not known.
    """
    if "model" not in settings:
        return False
    extra = settings.get("extra") or {}
    stated = [settings.get("reasoning_effort"), *(extra.get(name) for name in THINKING)]
    said = [_is_on(one) for one in stated if one is not None]
    if said:
        return any(said)
    entry = listed(str(settings["model"]))
    if entry is None:
        return None
    # Claude thinks where it is asked to; the others that can do so unless they are told not to.
    return bool(entry.get("supports_reasoning")) and "claude" not in str(settings["model"])


def _is_on(stated: Any) -> bool:
    if isinstance(stated, Mapping):
        return stated.get("enabled", True) is not False and _is_on(
            stated.get("type", stated.get("effort", True))
        )
    return stated not in (False, "none", "disable", "disabled")


def _provider(name: str, settings: Mapping[str, Any], address: str) -> str:
    """Whose limits the calls to a model count against, as in voices.py; found without importing
    what calls it.
    """
    match settings.get("kind"):
        case "citizen":
            return ""
        case "litellm":
            return str(settings.get("model", "")).partition("/")[0]
        case "openai_compatible":
            return public_url(address.rstrip("/")) or name
        case _:
            return name


def _seconds(lines: Iterable[Line], limits: Limits, latency: float) -> dict[str, tuple[float, str]]:
    """How long each provider is busy at least, and what binds it."""
    found = {}
    for provider in dict.fromkeys(
        line.provider for line in lines if line.provider and line.load.calls
    ):
        here = [line for line in lines if line.provider == provider]
        calls = sum(line.load.calls for line in here)
        tokens = sum(
            line.load.input.low + line.load.output.low for line in here
        )  # what calls use counts against the limit
        bounds = {"concurrency": calls * latency / limits.concurrency}
        bounds["the longest session, whose turns wait for one another"] = latency * max(
            line.load.longest for line in here
        )
        if limits.requests_per_minute:
            bounds["requests_per_minute"] = 60 * calls / limits.requests_per_minute
        if limits.tokens_per_minute:
            bounds["tokens_per_minute"] = 60 * tokens / limits.tokens_per_minute
        binding = max(bounds, key=lambda name: bounds[name])
        found[provider] = bounds[binding], binding
    return found


def _sum(ranges: Iterable[Range]) -> Range:
    return functools.reduce(Range.__add__, ranges, Range())
