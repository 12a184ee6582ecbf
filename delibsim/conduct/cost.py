"""What a study has cost so far."""

from collections.abc import Iterable, Mapping
from typing import Any

from delibsim.conduct.replay import exchanges_of
from delibsim.models.base import Usage
from delibsim.models.clients.prices import price_in
from delibsim.models.replay import Exchange, exchanges_in
from delibsim.models.retry import charge, worst_case
from delibsim.store.ratings import Ratings
from delibsim.store.runs import Runs


def spent(runs: Runs, among: Iterable[str] | None = None) -> tuple[float, int]:
    """US dollars and tokens that the exchanges of a study have cost so far.

    Those with raters are included, unless only the sessions `among` are counted. An attempt of
    unknown cost counts with its worst case.
    """
    sessions = set(runs.sessions())
    if among is not None:
        sessions &= set(among)
    used: list[Usage] = []
    for session in sorted(sessions):
        models = runs.planned(session).models
        for exchange in exchanges_of(runs, session)[0]:
            used += _charges(exchange, models.get(exchange.model, {}))
    if among is None:
        records, models = Ratings.of(runs).asked()
        for exchange in exchanges_in(records)[0]:
            used += _charges(exchange, models.get(exchange.model, {}))
    usd = sum(usage.cost_usd or 0.0 for usage in used)
    tokens = sum((usage.input_tokens or 0) + (usage.output_tokens or 0) for usage in used)
    return usd, tokens


def _charges(exchange: Exchange, settings: Mapping[str, Any]) -> list[Usage]:
    """What each attempt of a call is charged with."""
    worst = worst_case(exchange.messages, price_in(settings), settings.get("max_tokens"))
    completion = exchange.completion
    return [charge(attempt, worst) for attempt in (*completion.tries, completion)]
