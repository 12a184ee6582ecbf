"""The models of a study: each made once, its calls through one gate and one budget; and what is
planned to be asked of them, and whether budget, limits and context windows allow it.

Nobody is asked for a plan: prices, windows and dates come from the price list and from the
settings.
"""

import asyncio
import gc
import json
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput, phrase
from delibsim.domain.run import Session
from delibsim.models.ask import AUTO, FORMATS, TOO_LONG, apart, server_of, settle, with_settled
from delibsim.models.base import LanguageModel, PreflightIssue, capabilities_of
from delibsim.models.clients.settings import (
    FREE,
    check_address,
    check_settings,
    context_window,
    price_in,
    withdrawn,
)
from delibsim.models.limits import Budget, Gate, Limits
from delibsim.models.retry import RetryingModel, estimated_tokens
from delibsim.plugins import NoPlugin, load, names
from delibsim.prompts.prompt import Prompt
from delibsim.prompts.session import longest_prompt

Settings = Mapping[str, Any]
MEND = read_data("servers.yaml")["mend"]
"""What helps where a window is too small, with the window that is needed."""
USUAL = 1.4
"""Tokens a word in English."""


@dataclass(frozen=True)
class PlannedCalls:
    """The calls of one session, one panel of raters or one coding task, as far as a preflight needs
    them: the settings of the models by name, and the longest prompt that any of them can get.
    """

    id: str
    models: Mapping[str, Settings]
    longest: Prompt


def unaffordable(model: RetryingModel, limits: Limits) -> str:
    """Why a budget cannot be kept with this model, or ""."""
    if limits.budget_usd is not None and model.price.worst(0, 0) is None:
        return phrase("price_unknown")
    capped = limits.budget_usd is not None or limits.budget_tokens is not None
    unbounded = model.capabilities.max_tokens is None
    if capped and unbounded and model.price is not FREE:
        return "a budget counts the worst case of every call: set model.max_tokens"
    return ""


def unfitting(
    calls: PlannedCalls, asked: Mapping[str, RetryingModel], limits: Limits
) -> Iterator[PreflightIssue]:
    """The planned calls that exceed a context window or the tokens of a minute, and the models that
    were withdrawn; `asked` holds the models that pass limits, by name.
    """
    tokens = estimated_tokens(calls.longest.messages)
    for name, settings in calls.models.items():
        model = str(settings.get("model", ""))
        last_day = withdrawn(model)
        if last_day is not None and last_day <= datetime.now(UTC).date():
            text = f"by the price list, {model} was withdrawn on {last_day}"
            yield PreflightIssue("warning", name, text)
        if name in asked and (text := _exceeded(tokens, asked[name], limits)):
            yield PreflightIssue("warning", name, text)
        told = asked[name].capabilities.window if name in asked else None
        if told is not None:
            yield from _beside_reply(calls, name, told, asked[name].capabilities.max_tokens or 0)
            continue
        window = context_window(model)
        if window is not None and tokens > window:
            text = phrase(
                "prompt_too_long", id=calls.id, tokens=tokens, window=window, mend=TOO_LONG
            )
            yield PreflightIssue("error", name, text)


def _beside_reply(
    calls: PlannedCalls, name: str, window: int, reply: int
) -> Iterator[PreflightIssue]:
    """That the longest prompt does not fit into a window beside its reply: an error where it would
    not in usual English, a warning where it may not in any language.
    """
    most = estimated_tokens(calls.longest.messages)
    usual = min(most, int(USUAL * len(calls.longest.text.split())))
    if most + reply <= window:
        return
    level: Literal["error", "warning"] = "error" if usual + reply > window else "warning"
    needed = -(-(most + reply) // 1024) * 1024
    text = phrase(
        "prompt_and_reply_too_long",
        id=calls.id,
        usual=usual,
        most=most,
        reply=reply,
        window=window,
        over=most + reply - window,
        mend=MEND.format(needed, needed),
    )
    shorter = f"set model.max_tokens={window - most}" if window > most else TOO_LONG
    yield PreflightIssue(level, name, f"{text}, or {shorter}")


def _exceeded(tokens: int, model: RetryingModel, limits: Limits) -> str:
    """What is to be said of a call with a prompt of so many tokens that exceeds the tokens of a
    minute, or "".
    """
    most, limit = tokens + (model.capabilities.max_tokens or 0), limits.tokens_per_minute
    if limit is None or most <= limit:
        return ""
    return phrase("call_over_the_limit", most=most, limit=limit)


SWEEPS = (50_000, 20, 20)
"""How many new objects, and sweeps of younger ones, lie between two sweeps of the collector."""
OURS = ("kind", "name", "price", "structured")
"""Settings of a model that are for delibsim and not for its plug-in."""


@contextmanager
def few_sweeps() -> Generator[None]:
    """Let the collector of cycles sweep seldom while calls are in flight: they hold thousands of
    objects and make next to no cycle, and sweeping them took a fourth of the time of a process with
    512 of them.
    """
    before = gc.get_threshold()
    gc.set_threshold(*SWEEPS)
    try:
        yield
    finally:
        gc.set_threshold(*before)


class ModelPool:
    """Makes the language models that sessions, raters and coders ask, each once.

    A model passes the limits of its provider, the budget and the retry loop, unless it declares
    that it simulates persons (`Capabilities.for_population`): then every session gets the persons
    of its own population.

    `addresses` holds the base_url of models by name. `models` holds models that exist already, by
    name: they are handed out as they are, without limits, budget and retries, and who made them
    closes them.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        budget: Budget | None = None,
        addresses: Mapping[str, str] | None = None,
        models: Mapping[str, LanguageModel] | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.budget = budget or Budget(self.limits.budget_usd, self.limits.budget_tokens)
        self._addresses = dict(addresses or {})
        self._given = dict(models or {})
        self._made: dict[str, LanguageModel] = {}
        self._limited: dict[str, RetryingModel] = {}
        self._gates: dict[str, Gate] = {}
        self.settled: dict[str, Any] = {}
        """What `structured=auto` turned out to be in a preflight, by `enforcing.server_of`."""

    def of(self, session: Session) -> dict[str, LanguageModel]:
        """The models of a session, by the names its participants use; WrongInput if one cannot be
        made.
        """
        population = session.seed_for("population")
        return {
            name: self.model(name, settings, population)
            for name, settings in session.voices.items()
        }

    def model(self, name: str, settings: Settings, population: int | None = None) -> LanguageModel:
        """The model of this name with these settings; WrongInput if it cannot be made.

        `population` is the seed of the persons of a model that simulates persons; without it such a
        model is handed out as its settings make it.
        """
        if name in self._given:
            return self._given[name]
        key = _key(name, settings)
        if key in self._limited:
            return self._limited[key]
        if key not in self._made:
            self._made[key] = self._make(name, settings)
        model = self._made[key]
        for_population = capabilities_of(model).for_population
        if for_population is None:
            self._limited[key] = self._behind_limits(name, settings, model)
            return self._limited[key]
        return model if population is None else for_population(population)

    async def preflight(self, sessions: Iterable[Session]) -> list[PreflightIssue]:
        """What is wrong, doubtful or good to know about the models of these sessions; nothing is
        paid.
        """
        planned = [
            PlannedCalls(session.id, session.voices, longest_prompt(session))
            for session in sessions
        ]
        return await self.check(planned)

    async def check(self, planned: Iterable[PlannedCalls]) -> list[PreflightIssue]:
        """What is wrong, doubtful or good to know about the models of these calls; nothing is
        paid.
        """
        planned = list(planned)
        for calls in planned:
            for name, settings in calls.models.items():
                self.model(name, settings)
        limited = self._limited.values()
        declared = [model.capabilities.preflight for model in limited]
        found = await asyncio.gather(*(preflight() for preflight in declared if preflight))
        issues = [issue for of_one in found for issue in of_one]
        if not any(issue.level == "error" for issue in issues):
            issues += await self._settle(planned)
        for model in limited:
            if fault := unaffordable(model, self.limits):
                issues.append(PreflightIssue("error", model.name, fault))
        by_name = {model.name: model for model in limited}
        for calls in planned:
            issues += unfitting(calls, by_name, self.limits)
        return list(dict.fromkeys(issues))

    async def _settle(self, planned: Sequence[PlannedCalls]) -> list[PreflightIssue]:
        """Find out of models that may be sent schemas what their servers enforce; what has to be
        known of it.
        """
        waiting, asked = {}, {}
        for calls in planned:
            for name, settings in calls.models.items():
                model, wanted = self.model(name, settings), settings.get("structured")
                asked[name], key = settings, (server_of(settings), wanted)
                open_yet = wanted in (AUTO, *FORMATS) and key not in waiting
                if isinstance(model, RetryingModel) and open_yet:
                    waiting[key] = settle(model, wanted)
        found = await asyncio.gather(*waiting.values())
        for (server, wanted), (format, _) in zip(waiting, found, strict=True):
            if wanted == AUTO:
                self.settled[server] = format or False
        issues = [issue for _, own in found for issue in own]
        return [*issues, *apart(with_settled(one, self.settled) for one in asked.values())]

    def closed(self, session: Session) -> str:
        """Why it is no use to begin this session: a model that cannot be asked any more, a spent
        budget; "" if there is nothing.
        """
        keys = (_key(name, settings) for name, settings in session.voices.items())
        reasons = (self._limited[key].closed for key in keys if key in self._limited)
        return next(filter(None, reasons), "")

    def ask_again(self) -> None:
        """Ask models again that had a fatal status: a key or an account may have been mended."""
        for model in self._limited.values():
            model.ask_again()

    def retrying(self) -> dict[str, int]:
        """How many calls wait for another attempt now, by model."""
        return {model.name: model.retrying for model in self._limited.values() if model.retrying}

    async def close(self) -> None:
        """Close every connection of the models that the pool made."""
        for model in self._limited.values():
            if (close := model.capabilities.close) is not None:
                await close()

    def _make(self, name: str, settings: Settings) -> LanguageModel:
        """The model that the plug-in of a kind makes of these settings."""
        if "kind" not in settings:
            kinds = ", ".join(names("delibsim.models"))
            raise WrongInput(f"model '{name}': its settings name no kind; kinds are: {kinds}")
        check_settings(name, settings)
        options: dict[str, Any] = {k: value for k, value in settings.items() if k not in OURS}
        if name in self._addresses:
            check_address(name, settings, self._addresses[name])
            options["base_url"] = self._addresses[name]
        try:
            return load("delibsim.models", settings["kind"], name=name, **options)
        except (NoPlugin, TypeError, ValueError) as error:
            raise WrongInput(f"model '{name}': {error}") from None

    def _behind_limits(self, name: str, settings: Settings, model: LanguageModel) -> RetryingModel:
        """The model behind the gate of its provider, the budget and the retry loop."""
        provider = capabilities_of(model).provider or name
        gate = self._gates.setdefault(provider, Gate(self.limits))
        return RetryingModel(model, gate, self.limits, self.budget, price_in(settings))


def _key(name: str, settings: Settings) -> str:
    """What tells a client from others; whether it sends schemas is said with every call."""
    own = {k: v for k, v in settings.items() if k != "structured"}
    return json.dumps({"name": name, **own}, sort_keys=True)


def models_for(session: Session) -> dict[str, LanguageModel]:
    """The models of one session under the default limits, as `hold` takes them."""
    return ModelPool().of(session)
