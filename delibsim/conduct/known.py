"""What an earlier look of `delibsim status` found in the sessions of a study that are complete and
well: kept among what is known of sessions (store.session_notes).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from delibsim.analysis.calls import Ids, Tally, dropped, fingerprints, noted, tally
from delibsim.domain.cost import Money
from delibsim.domain.run import Run, Session
from delibsim.store.runs import Runs
from delibsim.store.session_notes import Found, SessionNotes, keep

STATUS = "status"


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a session that is complete: its plan, what the log of its calls comes to,
    the provider's fingerprints by model, and the parameters that were dropped by model.
    """

    plan: Session
    log: Tally
    fingerprints: Mapping[str, list[str]]
    parameters_dropped: Mapping[str, list[str]]

    def plain(self, records: Sequence[Mapping[str, Any]]) -> Found | None:
        """What is kept of it for the next look, by all records of its log: nothing unless every
        call is ok at a known cost, and no person took part.
        """
        log = self.log
        well = not (log.failed or log.damaged_lines) and log.money == Money(log.money.spent_usd)
        if self.plan.seats_of_people or not well:
            return None
        return {
            "calls": log.calls["ok"],
            "retried": log.retried,
            "usd": log.money.spent_usd,
            "fingerprints": self.fingerprints,
            "dropped": self.parameters_dropped,
            "ids": noted(records),
        }


def known_of(notes: SessionNotes, session: str, ids: Ids) -> Known | None:
    """What is known of a session, its response ids added to `ids`; None where its files must be
    read.
    """
    found = notes.of(session, STATUS)
    if found is None:
        return None
    try:
        plan = notes.plan(session)
        log = Tally({"ok": found["calls"]}, (), found["retried"], Money(found["usd"]))
        for one in found["ids"]:
            ids.note(*one)
        return Known(plan, log, found["fingerprints"], found["dropped"])
    except (LookupError, TypeError, ValueError):
        return None


def remember_run(runs: Runs, run: Run, records: Sequence[Mapping[str, Any]]) -> None:
    """Keep what is known of a session that was held just now, by all records of its log; what its
    prompts said need not be among them.
    """
    from delibsim.store.tables.session_facts import facts_to_keep  # the columns, read from YAML

    found = {"facts": facts_to_keep(runs, run, records)}
    if run.status == "complete":
        log = tally(records, 0, run.session.voices)
        known = Known(run.session, log, fingerprints(records), dropped(records))
        if (status := known.plain(records)) is not None:
            found[STATUS] = status
    keep(runs, run.session, found)
