"""Why calls had no answer that could be used: their causes, counted, and how to go on."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from delibsim.domain.cost import OUTCOMES
from delibsim.domain.data import read_data
from delibsim.domain.study import natural
from delibsim.domain.text import counted

DAMAGED = "damaged"
"""The status of a line that says of no call how it ended."""
VARIES = re.compile(r"[\w-]*\d[\w-]*")
"""What may differ between faults that have one cause: numbers, ids of requests."""
HTTP = re.compile(r"(HTTP \d{3}): (\{.*\})", re.DOTALL)
LISTED = 10
"""The number of causes that are told."""
LONGEST = 200
"""Characters of the words of a fault."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Why calls have no answer that could be used: their status, and who was asked.

    `detail` says more, in the words of one of them, or of the first; faults that differ only in
    numbers and ids are one cause, and what a model or a person did (a refusal, an unreadable
    reply) is one cause whatever it said.
    """

    status: str
    who: str
    kind: str = ""
    detail: str = field(default="", compare=False)

    def plain(self) -> dict[str, str]:
        """As plain values."""
        return {"status": self.status, "who": self.who, "detail": self.detail}

    def __str__(self) -> str:
        """In words, without a number of calls.

        >>> str(Cause("unavailable", "the server at http://x/v1", detail="no connection: refused"))
        'the server at http://x/v1 did not answer'
        >>> str(Cause("refusal", "local")), str(Cause("odd", "local"))
        ('local refused', 'local: odd')
        """
        if self.status == "unavailable" and self.detail.startswith("HTTP"):
            return f"{self.who} answered with an error"
        what = WHAT.get(self.status)
        return f"{self.who} {what}" if what else f"{self.who}: {self.status}"


_KNOWN = read_data("causes.yaml")
WHAT: Mapping[str, str] = _KNOWN["what"]
"""What one who was asked did, by the status of the call."""
MEND: Mapping[str, Mapping[str, str]] = _KNOWN["mend"]
"""What helps, and the settings with which the same calls are then made, if they are."""


def cause_of(record: Mapping[str, Any]) -> Cause:
    """Why a call has no answer that could be used."""
    completion = record.get("completion")
    completion = completion if isinstance(completion, Mapping) else {}
    status, model = str(completion.get("status", DAMAGED)), str(record.get("model", "?"))
    detail, provider = _message(str(completion.get("detail", ""))), completion.get("provider", "")
    if status in OUTCOMES or not provider:
        return Cause(status, model, "", detail)
    server = f"the server at {provider}" if str(provider).startswith("http") else str(provider)
    return Cause(status, server, VARIES.sub("#", detail), detail)


def _message(detail: str) -> str:
    """The detail of a call, of an error of a server only what it says."""
    detail = detail.removesuffix(" (found before; not asked again)")
    found = HTTP.fullmatch(detail)
    if found is None:
        return detail
    try:
        said = json.loads(found[2])["message"]
    except (ValueError, LookupError):
        return detail
    return f"{found[1]}: {said}"


@dataclass(frozen=True)
class CauseCount:
    """In how many sessions so many calls had one cause, in `wordings` different words."""

    cause: Cause
    sessions: int
    calls: int
    wordings: int = 1

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        return {**self.cause.plain(), "sessions": self.sessions, "calls": self.calls}

    def __str__(self) -> str:
        """In words."""
        return self._words(f"{counted(self.sessions, 'session')}, {counted(self.calls, 'call')}")

    def of_calls(self) -> str:
        """In words where there are no sessions."""
        return self._words(counted(self.calls, "call"))

    def _words(self, counts: str) -> str:
        detail = self.cause.detail
        if len(detail) > LONGEST:
            detail = f"{detail[:LONGEST]}..."
        such = "such as: " if self.cause.status in OUTCOMES and self.wordings > 1 else ""
        return f"{self.cause}: {counts}" + (f" ({such}{detail})" if detail else "")


def causes_in(failed: Iterable[tuple[str, Cause]]) -> list[CauseCount]:
    """The causes of calls that failed, each given with its session; the most frequent first, each
    with the words of the last session by name that has it.
    """
    calls: Counter[Cause] = Counter()
    sessions: defaultdict[Cause, set[str]] = defaultdict(set)
    words: defaultdict[Cause, dict[str, Cause]] = defaultdict(dict)
    for session, cause in sorted(failed, key=lambda one: natural(one[0])):
        calls[cause] += 1
        sessions[cause].add(session)
        words[cause].pop(cause.detail, None)  # so that the last is that of the last session
        words[cause][cause.detail] = cause
    found = []
    for cause, n in calls.most_common():
        *_, last = words[cause].values()  # of a budget the last call says what is left
        found.append(CauseCount(last, len(sessions[cause]), n, len(words[cause])))
    return found


def causes_told(causes: Iterable[CauseCount], again: Callable[[str], str]) -> list[str]:
    """Causes in sentences, each with what helps; `again` gives the command that goes on with some
    settings.
    """
    lines = []
    found = list(causes)
    for one in found[:LISTED]:
        mend = MEND.get(one.cause.status, {})
        helps, settings = mend.get("helps"), mend.get("settings")
        line = f"not ok: {one}"
        if settings and "of limits.budget_tokens" in one.cause.detail:
            settings = "limits.budget_tokens=N"
        if settings is not None:
            line = f"{line}; {helps}, {again(settings)} goes on"
        elif helps:
            line = f"{line}; {helps}"
        lines.append(line)
    if len(found) > LISTED:
        lines.append(f"not ok: {counted(len(found) - LISTED, 'more cause')}; --json lists all")
    return lines
