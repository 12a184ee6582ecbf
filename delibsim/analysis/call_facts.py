"""One call for reading: what is known of it beside its messages and its reply."""

from delibsim.models.replay import Exchange


def facts(exchange: Exchange) -> dict[str, str]:
    """What is known of a call beside its messages and its reply; nothing that is empty."""
    done = exchange.completion
    tries = [f"{one.status}: {one.detail} (waited {one.waited:g} s)" for one in done.tries]
    known = {
        "detail": done.detail,
        "reasoning": done.reasoning,
        "model": f"{done.model_requested}, answered by {done.model_returned}",
        "parameters sent": dict(done.parameters_sent),
        "parameters dropped": list(done.parameters_dropped),
        "usage": done.usage,
        "finish_reason": done.finish_reason,
        "tries before": "; ".join(tries),
        "seed": exchange.seed,
    }
    return {name: str(fact) for name, fact in known.items() if fact != ""}
