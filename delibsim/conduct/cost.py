"""What a study has cost so far."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from delibsim.conduct.replay import exchanges_of
from delibsim.models.clients.prices import price_in
from delibsim.models.limits import Budget, Limits, Overruns
from delibsim.models.replay import Exchange, exchanges_in
from delibsim.models.retry import use, worst_case
from delibsim.store.annotations import TaskFolder, tasks_of
from delibsim.store.ratings import Ratings
from delibsim.store.runs import Runs
from delibsim.store.withdrawn import spent_before


def spent(runs: Runs, among: Iterable[str] | None = None) -> tuple[float, int]:
    """US dollars and tokens that the exchanges of a study have cost so far.

    Those with raters and coders are included, unless only the sessions `among` are counted. An
    attempt of unknown cost counts with its worst case.
    """
    account = account_of(runs, among)
    return account.spent_usd, account.spent_tokens


def budget_of(
    limits: Limits,
    runs: Runs,
    among: Iterable[str] | None = None,
    overruns: Mapping[str, Overruns] | None = None,
) -> Budget:
    """The budget of these limits, which knows what the exchanges of a study, or of the sessions
    `among`, have cost, and by how much calls have exceeded their worst case; what others know of
    that is added. The record is read only where there is a budget.
    """
    usd, tokens = limits.budget_usd, limits.budget_tokens
    if usd is None and tokens is None:
        return Budget()
    account = account_of(runs, among, overruns)
    return Budget(usd, tokens, account.spent_usd, account.spent_tokens, account.overruns)


def account_of(
    runs: Runs,
    among: Iterable[str] | None = None,
    overruns: Mapping[str, Overruns] | None = None,
) -> Budget:
    """A budget without a limit that was charged with the exchanges of a study."""
    sessions = set(runs.sessions())
    if among is not None:
        sessions &= set(among)
    gone = [spent_before(runs.path(name)) for name in sessions if runs.withdrawn(name)]
    usd, tokens = math.fsum(paid for paid, _ in gone), sum(used for _, used in gone)
    account = Budget(spent_usd=usd, spent_tokens=tokens, overruns=overruns)
    for session in sorted(sessions):
        models = runs.planned(session).models
        for exchange in exchanges_of(runs, session)[0]:
            _charge(account, exchange, models.get(exchange.model, {}))
    if among is None:
        records, models = Ratings.of(runs).asked()
        for exchange in exchanges_in(records)[0]:
            _charge(account, exchange, models.get(exchange.model, {}))
        for task in tasks_of(runs):
            _charge_task(account, TaskFolder.of(runs, task))
    return account


def spent_on(folder: TaskFolder) -> float:
    """US dollars that the exchanges of one task have cost so far."""
    account = Budget()
    _charge_task(account, folder)
    return account.spent_usd


def _charge_task(account: Budget, folder: TaskFolder) -> None:
    """Charge each exchange of a task."""
    models = folder.task().get("models", {})
    for exchange in exchanges_in(folder.read(folder.exchanges)[0])[0]:
        _charge(account, exchange, models.get(exchange.model, {}))


def _charge(account: Budget, exchange: Exchange, settings: Mapping[str, Any]) -> None:
    """Charge each attempt of a call."""
    worst = worst_case(exchange.messages, price_in(settings), settings.get("max_tokens"))
    completion = exchange.completion
    for attempt in (*completion.tries, completion):
        held = account.reserve(exchange.model, worst)
        if held is not None:
            account.settle(held, use(attempt))
