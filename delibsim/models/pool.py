"""The language models of a process: made once by entry point, each behind the gate of its provider
and one budget.
"""

import asyncio
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from delibsim.domain.errors import WrongInput
from delibsim.domain.run import Session
from delibsim.models.ask import TOO_LONG
from delibsim.models.base import LanguageModel
from delibsim.models.clients.preflight import PreflightIssue
from delibsim.models.clients.prices import FREE, context_window, price_in, withdrawn
from delibsim.models.clients.settings import check_address, check_settings
from delibsim.models.limits import Budget, Gate, Limits
from delibsim.models.planned import PlannedCalls
from delibsim.models.retry import RetryingModel, estimated_tokens
from delibsim.plugins import NoPlugin, load, names
from delibsim.prompts.session import longest_prompt

OURS = ("kind", "name", "price")  # settings of a model that are for us and not for its plug-in


class ModelPool:
    """Makes the voices of sessions. Hosted models are shared by all sessions; a citizen is made for
    each.

    `addresses` holds the base_url of models by name.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        budget: Budget | None = None,
        addresses: Mapping[str, str] | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.budget = budget or Budget(self.limits.budget_usd, self.limits.budget_tokens)
        self._addresses = dict(addresses or {})
        self._hosted: dict[str, RetryingModel] = {}
        self._gates: dict[str, Gate] = {}

    def of(self, session: Session) -> dict[str, LanguageModel]:
        """The voices of a session, by the names its participants use; WrongInput if one cannot be
        made.
        """
        population = session.seed_for("population")
        return {
            name: self.model(name, settings, population)
            for name, settings in session.models.items()
        }

    async def preflight(self, sessions: Iterable[Session]) -> list[PreflightIssue]:
        """What is wrong, doubtful or good to know about the models of these sessions; nothing is
        paid.
        """
        planned = [
            PlannedCalls(session.id, session.models, longest_prompt(session))
            for session in sessions
        ]
        return await self.check(planned)

    async def check(self, planned: Iterable[PlannedCalls]) -> list[PreflightIssue]:
        """What is wrong, doubtful or good to know about the models of these calls; nothing is
        paid.
        """
        findings: list[PreflightIssue] = []
        planned = list(planned)
        for calls in planned:
            for name, settings in calls.models.items():
                self.model(name, settings)
        asked = [
            voice.model.preflight()
            for voice in self._hosted.values()
            if hasattr(voice.model, "preflight")
        ]
        findings += [finding for found in await asyncio.gather(*asked) for finding in found]
        for voice in self._hosted.values():
            findings += self._affordable(voice)
        for calls in planned:
            findings += self._fits(calls)
        return list(dict.fromkeys(findings))

    def closed(self, session: Session) -> str:
        """Why it is no use to begin this session: a model that cannot be asked any more, a spent
        budget; "" if there is nothing.
        """
        asked = (
            self._hosted.get(_key(name, settings)) for name, settings in session.models.items()
        )
        return next((voice.closed for voice in asked if voice is not None and voice.closed), "")

    def retrying(self) -> dict[str, int]:
        """How many calls wait for another attempt now, by model."""
        return {voice.name: voice.retrying for voice in self._hosted.values() if voice.retrying}

    async def close(self) -> None:
        """Close every connection."""
        for voice in self._hosted.values():
            if hasattr(voice.model, "close"):
                await voice.model.close()

    def model(
        self, name: str, settings: Mapping[str, Any], population: int | None = None
    ) -> LanguageModel:
        """The model of this name with these settings; WrongInput if it cannot be made.

        `population` is the seed of the persons of a model that simulates persons; without it such a
        model is handed out as its settings make it.
        """
        if "kind" not in settings:
            raise WrongInput(
                f"model '{name}': its settings name no kind; kinds are:"
                f" {', '.join(names('delibsim.models'))}"
            )
        key = _key(name, settings)
        if key in self._hosted:
            return self._hosted[key]
        check_settings(name, settings)
        options = {key: value for key, value in settings.items() if key not in OURS}
        if name in self._addresses:
            check_address(name, settings, self._addresses[name])
            options["base_url"] = self._addresses[name]
        model = self._made(name, settings["kind"], options)
        if hasattr(model, "population"):
            # A model of persons is peopled anew for every session, and alike in all its treatments,
            # unless it names its people.
            if model.population is not None or population is None:
                return model
            return self._made(name, settings["kind"], {**options, "population": population})
        gate = self._gates.setdefault(getattr(model, "provider", name), Gate(self.limits))
        self._hosted[key] = RetryingModel(model, gate, self.limits, self.budget, price_in(settings))
        return self._hosted[key]

    def _made(self, name: str, kind: str, options: Mapping[str, Any]) -> Any:
        try:
            return load("delibsim.models", kind, name=name, **options)
        except (NoPlugin, TypeError, ValueError) as error:
            raise WrongInput(f"model '{name}': {error}") from None

    def _affordable(self, voice: RetryingModel) -> list[PreflightIssue]:
        model, price = voice.model, voice.price
        capped = self.limits.budget_usd is not None or self.limits.budget_tokens is not None
        if self.limits.budget_usd is not None and price.worst(0, 0) is None:
            advice = (
                "state it as model.price.input, model.price.cached and model.price.output in USD"
                " per million tokens"
            )
            return [
                PreflightIssue(
                    "error",
                    model.name,
                    f"its price is unknown, so a budget in USD cannot be kept; {advice}",
                )
            ]
        if capped and price is not FREE and getattr(model, "max_tokens", None) is None:
            return [
                PreflightIssue(
                    "error",
                    model.name,
                    "a budget counts the worst case of every call: set model.max_tokens",
                )
            ]
        return []

    def _fits(self, calls: PlannedCalls) -> list[PreflightIssue]:
        tokens = estimated_tokens(calls.longest.messages)
        findings = []
        hosted = {
            voice.name: getattr(voice.model, "max_tokens", None) for voice in self._hosted.values()
        }
        for name, settings in calls.models.items():
            model = str(settings.get("model", ""))
            if (last := withdrawn(model)) is not None and last <= datetime.now(UTC).date():
                findings.append(
                    PreflightIssue(
                        "warning", name, f"by the price list, {model} was withdrawn on {last}"
                    )
                )
            window = context_window(model)
            most, limit = tokens + (hosted.get(name) or 0), self.limits.tokens_per_minute
            if name in hosted and limit is not None and most > limit:
                text = (
                    f"a call may have {most} tokens, more than limits.tokens_per_minute ({limit});"
                    " such calls exceed it, one a minute"
                )
                findings.append(PreflightIssue("warning", name, text))
            if window is not None and tokens > window:
                text = (
                    f"the longest prompt of {calls.id} may have {tokens} tokens, more than the"
                    f" {window} it takes; {TOO_LONG}"
                )
                findings.append(PreflightIssue("error", name, text))
        return findings


def _key(name: str, settings: Mapping[str, Any]) -> str:
    return json.dumps({"name": name, **settings}, sort_keys=True)


def models_for(session: Session) -> dict[str, LanguageModel]:
    """The voices of one session under the default limits, as `hold` takes them."""
    return ModelPool().of(session)
