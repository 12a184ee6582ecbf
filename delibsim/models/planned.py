"""What is planned to be asked of models, and whether budget, limits and context windows allow it.

Nobody is asked here: prices, windows and dates come from the price list and from the settings.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from delibsim.domain.data import read_data
from delibsim.domain.errors import phrase
from delibsim.models.ask import TOO_LONG
from delibsim.models.base import PreflightIssue
from delibsim.models.clients.settings import FREE, context_window, withdrawn
from delibsim.models.limits import Limits
from delibsim.models.retry import RetryingModel, estimated_tokens
from delibsim.prompts.prompt import Prompt

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
            text = (
                f"the longest prompt of {calls.id} may have {tokens} tokens, more than the"
                f" {window} it takes; {TOO_LONG}"
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
    text = (
        f"the longest prompt of {calls.id} may have {usual:,} tokens in English and {most:,} at"
        f" most, and its reply {reply:,}: up to {most + reply - window:,} more than the window of"
        f" {window:,}; {MEND.format(needed, needed)}"
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
