"""What came of replaying a task about texts, printed and as an exit code."""

import typer

from delibsim.cli.terminal import echo_json, safe, say
from delibsim.conduct.asking.replay import Replayed
from delibsim.domain.text import counted

LISTED = 40  # differences printed


def end_with_replayed(study: str, found: Replayed, words: tuple[str, str], as_json: bool) -> None:
    """Print the verdict and what differs, and exit: 0 if all is equal, 4 if not.

    `words` are what the task and its answers are called, such as ("scheme", "sample").
    """
    task, noun = words
    if as_json:
        echo_json(
            {
                "study": study,
                task: found.task,
                f"{noun}s": found.answers,
                "verdict": found.verdict,
                "differences": list(found.differences),
            }
        )
    else:
        say(f"{study}, {found.task}: {found.verdict}, {counted(found.answers, noun)}")
        for line in found.differences[:LISTED]:
            say(f"  {safe(line)}")
        more = len(found.differences) - LISTED
        if more > 0:
            say(f"  and {more} more")
    raise typer.Exit(0 if found.verdict == "equal" else 4)
