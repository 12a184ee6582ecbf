"""What the calls of a task about texts have cost so far."""

from collections.abc import Mapping
from typing import Any

from delibsim.models.clients.prices import price_in
from delibsim.models.limits import Budget
from delibsim.models.replay import Exchange, exchanges_in
from delibsim.models.retry import use, worst_case
from delibsim.store.annotations import TaskFolder


def spent_on(folder: TaskFolder) -> float:
    """US dollars that the exchanges of one task have cost so far."""
    account = Budget()
    charge_task(account, folder)
    return account.spent_usd


def charge_task(account: Budget, folder: TaskFolder) -> None:
    """Charge each exchange of a task."""
    models = folder.task().get("models", {})
    for exchange in exchanges_in(folder.read(folder.exchanges)[0])[0]:
        charge(account, exchange, models.get(exchange.model, {}))


def charge(account: Budget, exchange: Exchange, settings: Mapping[str, Any]) -> None:
    """Charge each attempt of a call."""
    worst = worst_case(exchange.messages, price_in(settings), settings.get("max_tokens"))
    completion = exchange.completion
    for attempt in (*completion.tries, completion):
        held = account.reserve(exchange.model, worst)
        if held is not None:
            account.settle(held, use(attempt))
