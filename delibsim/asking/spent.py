"""What the calls of a task about texts have cost so far."""

from collections.abc import Iterable, Mapping
from typing import Any

from delibsim.models.clients.prices import price_in
from delibsim.models.limits import Budget
from delibsim.models.replay import exchanges_in
from delibsim.models.retry import use, worst_case
from delibsim.store.annotation_logs import AnnotationLog, log_of_task
from delibsim.store.annotations import TaskFolder
from delibsim.store.sent import Sent


def spent_on(folder: TaskFolder) -> float:
    """US dollars that the exchanges of one task have cost so far."""
    account = Budget()
    charge(account, log_of_task(folder))
    return account.spent_usd


def charge(account: Budget, log: AnnotationLog) -> None:
    """Charge each call of a task."""
    records, _, lost = log.read()
    charge_calls(account, records, log.models, lost)


def charge_calls(
    account: Budget,
    records: Iterable[Mapping[str, Any]],
    models: Mapping[str, Mapping[str, Any]],
    lost: Iterable[Sent],
) -> None:
    """Charge each attempt of the recorded calls, and the calls that were cut off."""
    for exchange in exchanges_in(records)[0]:
        settings = models.get(exchange.model, {})
        worst = worst_case(exchange.messages, price_in(settings), settings.get("max_tokens"))
        completion = exchange.completion
        for attempt in (*completion.tries, completion):
            held = account.reserve(exchange.model, worst)
            if held is not None:
                account.settle(held, use(attempt))
    for sent in lost:
        account.assume(sent.usd or 0.0, sent.tokens)
