"""What is said of one run: what is missing from it, and why."""

from collections import Counter
from typing import Any

from delibsim.domain.run import Run


def missing(run: Run) -> list[dict[str, Any]]:
    """What is missing from a run, and why: one entry a survey or turn and reason."""
    found: list[dict[str, Any]] = []
    for response in run.responses:
        for reason, items in Counter(response.missing.values()).items():
            found.append(
                {
                    "participant": response.participant,
                    "occasion": response.phase,
                    "answers": items,
                    "reason": reason,
                }
            )
    for silence in run.silences:
        reason = f"{silence.status}: {silence.reason}"
        found.append(
            {
                "participant": silence.turn.speaker,
                "occasion": f"turn {silence.turn.index}",
                "answers": 0,
                "reason": reason,
            }
        )
    return found
