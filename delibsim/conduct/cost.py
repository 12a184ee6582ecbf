"""What a study has cost so far."""

from collections.abc import Iterable

from delibsim.conduct.replay import exchanges_of
from delibsim.models.clients.prices import price_in
from delibsim.models.replay import exchanges_in
from delibsim.models.retry import charge, worst_case
from delibsim.store.ratings import Ratings
from delibsim.store.runs import Runs


def spent(runs: Runs, among: Iterable[str] | None = None) -> tuple[float, int]:
    """US dollars and tokens that the exchanges of a study, those with raters included, or of the
    sessions named, have cost so far.

    An attempt of unknown cost counts with its worst case.
    """
    begun = runs.sessions()
    names = begun if among is None else sorted({*begun} & {*among})
    used = []
    asked = [
        (exchange, runs.planned(session).models)
        for session in names
        for exchange in exchanges_of(runs, session)[0]
    ]
    if among is None:
        records, panels = Ratings.of(runs).asked()
        asked += [(exchange, panels) for exchange in exchanges_in(records)[0]]
    for exchange, models in asked:
        settings = models.get(exchange.model, {})
        worst = worst_case(exchange.messages, price_in(settings), settings.get("max_tokens"))
        used += [
            charge(attempt, worst) for attempt in (*exchange.completion.tries, exchange.completion)
        ]
    return sum(u.cost_usd or 0.0 for u in used), sum(
        (u.input_tokens or 0) + (u.output_tokens or 0) for u in used
    )
