"""The record of interventions: what the register knows of them is kept beside the runs."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from delibsim.store.interventions import Act, at_utc, write_interventions
from delibsim.store.people.interventions import interventions, last_interventions
from delibsim.store.people.register import Register, Unavailable
from delibsim.store.runs import Runs


@dataclass
class InterventionRecord:
    """Brings what was done to these sessions from the register into the study.

    Each file is written whole, so that it does not matter which server writes it, nor how often.
    """

    runs: Runs
    register: Register
    sessions: Collection[str]
    told: Callable[[str], None]
    _kept: dict[str, int] = field(default_factory=dict)
    _failed: bool = False

    def keep(self) -> None:
        """Write the files of sessions in which something was done since the last time. What cannot
        be written now is written later, and told once.
        """
        try:
            last = last_interventions(self.register)
        except Unavailable:
            return
        for session, number in last.items():
            if session in self.sessions and self._kept.get(session) != number:
                self._keep(session, number)

    def _keep(self, session: str, number: int) -> None:
        try:
            found = interventions(self.register, session)
            acts = [Act(at_utc(one.at), one.kind, one.seat, one.text) for one in found]
            write_interventions(self.runs, session, acts)
        except (OSError, Unavailable) as error:
            if not self._failed:
                self.told(f"{session}: interventions cannot be kept yet: {error}")
            self._failed = True
            return
        self._kept[session], self._failed = number, False
