"""What a study has cost so far."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from delibsim.analysis.calls import Tally, is_free, tally, together
from delibsim.asking.record import charge, charge_calls
from delibsim.domain.cost import Money, total_of
from delibsim.domain.run import Session
from delibsim.models.limits import Budget, Limits, Overruns
from delibsim.store.annotations import annotation_logs
from delibsim.store.codec import Damaged
from delibsim.store.runs import Runs
from delibsim.store.sent import calls_of, calls_or_fault
from delibsim.store.session_files import spent_before


def spent(runs: Runs, among: Iterable[str] | None = None) -> tuple[float, int]:
    """US dollars and tokens that the exchanges of a study have cost so far.

    Those with raters and coders are included, unless only the sessions `among` are counted. An
    attempt of unknown cost, and a call that was cut off, counts with its worst case.
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
    known = (account.spent_usd, account.spent_tokens, account.overruns, account.assumed_usd)
    return Budget(usd, tokens, *known)


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
        records, _, lost = calls_of(runs, session)
        charge_calls(account, records, runs.planned(session).voices, lost)
    if among is None:
        for log in annotation_logs(runs):
            charge(account, log)
    return account


def log_of(runs: Runs, session: Session) -> Tally:
    """What the log of a session comes to."""
    return _tally_of(runs, session.id, session.voices)


def money_of(runs: Runs, plans: Iterable[Session] = ()) -> Money:
    """What all calls of a study have cost; `plans` are those of its sessions that are known.

    The logs of sessions whose models cost nothing are not read.
    """
    known = {plan.id: plan for plan in plans}
    parts = [log.money for log in calls_by_task(runs).values()]
    for name in runs.sessions():
        if runs.withdrawn(name):
            parts.append(Money(spent_before(runs.path(name))[0]))
            continue
        plan = known.get(name) or _planned(runs, name)
        models = {} if plan is None else plan.voices
        if plan is None or not is_free(models):
            parts.append(_tally_of(runs, name, models).money)
    return total_of(parts)


def _tally_of(runs: Runs, session: str, models: Mapping[str, Mapping[str, Any]]) -> Tally:
    records, damaged, lost = calls_or_fault(runs, session)[0]
    return tally(records, damaged, models, lost)


def _planned(runs: Runs, session: str) -> Session | None:
    """The plan of a session; None where it cannot be read."""
    with suppress(Damaged):
        return runs.planned(session)
    return None


def calls_by_task(runs: Runs, faults: list[str] | None = None) -> dict[str, Tally]:
    """What the calls to raters and coders come to, by task; with `faults` a task whose settings
    cannot be read is left out and told there.
    """
    found: defaultdict[str, list[Tally]] = defaultdict(list)
    for log in annotation_logs(runs, faults):
        records, damaged, lost = log.read()
        found[log.task].append(tally(records, damaged, log.models, lost))
    return {task: together(own) for task, own in found.items()}
