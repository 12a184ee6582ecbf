"""One call for reading: what is known of it beside its messages and its reply."""

from collections.abc import Mapping
from typing import Any

from delibsim.models.replay import Exchange
from delibsim.store.files import json_text


def facts(exchange: Exchange) -> dict[str, str]:
    """What is known of a call beside its messages and its reply; nothing that is empty."""
    done = exchange.completion
    tries = [f"{one.status}: {one.detail} (waited {one.waited:g} s)" for one in done.tries]
    by = f", answered by {done.model_returned}" if done.model_returned else ""
    known = {
        "detail": done.detail,
        "reasoning": done.reasoning,
        "model": f"{done.model_requested}{by}",
        "parameters sent": in_words(done.parameters_sent),
        "parameters dropped": ", ".join(done.parameters_dropped),
        "usage": in_words({name: n for name, n in vars(done.usage).items() if n is not None}),
        "finish reason": done.finish_reason,
        "tries before": "; ".join(tries),
        "seed": "" if exchange.seed is None else str(exchange.seed),
    }
    return {name: fact for name, fact in known.items() if fact}


def in_words(values: Mapping[str, Any]) -> str:
    """Names with their values, as a person writes them.

    >>> in_words({"max_tokens": 900, "stop": ["a", "b"], "logprobs": True, "user": "x"})
    'max tokens 900, stop ["a","b"], logprobs true, user x'
    """
    found = []
    for name, value in values.items():
        said = value if isinstance(value, str) else json_text(value)
        found.append(f"{name.replace('_', ' ')} {said}")
    return ", ".join(found)
