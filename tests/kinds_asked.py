"""What the contract of kinds of asking needs of each: a study, a plan, and how its texts change."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coding import CODED, coding_home, study_of_texts
from coding import SAID as TEXTS
from comparing import PAIRS, study_of_pairs
from comparing import SAID as ARGUMENTS
from opinions import SAID as OPINIONS
from opinions import SPOKEN, study_of_opinions
from rated import study_of_debates

from delibsim import Runs
from delibsim.asking.kinds.code import CODES
from delibsim.asking.kinds.code_plan import plan_coding
from delibsim.asking.kinds.judgment import JUDGMENTS
from delibsim.asking.kinds.judgment_people import plan_judging
from delibsim.asking.kinds.pair import PAIRS as PAIR
from delibsim.asking.kinds.pair_plan import plan_pairs
from delibsim.asking.kinds.rating import RATINGS, plan_ratings
from delibsim.asking.kinds.summary import SUMMARIES
from delibsim.asking.kinds.summary_plan import plan_summaries
from delibsim.asking.nouns import Kind, Plan
from delibsim.conduct.ask import ask
from delibsim.domain.annotation import DIMENSIONS, Rating
from delibsim.domain.coding import Code
from delibsim.domain.comparison import Sheet, Vote
from delibsim.domain.summary import Judgment, Sitting
from delibsim.store.answers import Summaries

FAST = ("limits.longest_wait=0.02", "limits.concurrency=4")


@dataclass(frozen=True)
class Asked:
    """One kind before the contract: `answers` that a command of these settings gives by `calls`,
    another setting that would change them, the first text that was edited, and a person's answer.

    `command` are the words before the settings.
    """

    kind: Kind
    study: Callable[[Path], Runs]
    edited: Callable[[Path], Any]
    plan: Callable[[Runs, Sequence[str]], Plan]
    own: tuple[str, ...]
    other: str
    answers: int
    calls: int
    person: Any
    command: tuple[str, ...]
    free: int = field(default=0)
    """Answers that cost no call."""
    longest: str = "max_tokens"
    """The setting that bounds a reply."""

    def settings(self, provider: Any, *own: str) -> list[str]:
        """The settings of a command by the model that a provider serves; of two the last counts."""
        given = [*self.own, f"base_url={provider.base_url}", "model=local", *FAST, *own]
        return list({one.partition("=")[0]: one for one in given}.values())

    def planned(self, runs: Runs, provider: Any, *own: str) -> Plan:
        """The plan of a command."""
        return self.plan(runs, self.settings(provider, *own))


def _summarised(folder: Path) -> Runs:
    runs = study_of_opinions(folder)
    asyncio.run(ask(plan_summaries(runs, ["sizes=4", "runs=1"])))
    return runs


def _other_summary(folder: Path) -> None:
    summaries = Summaries.of(Runs(folder / "runs", "tram"), "main")
    file = summaries.files.annotations
    file.write_text(file.read_text().replace('"text":"', '"text":"Edited. ', 1))


DEBATE = ("format=debate", "motion=voting,nuclear", "proposition=citizen_eloquent")
RUN = "voting.oxford.citizen_eloquent-v-citizen_halting.r1"


def _other_debate(folder: Path) -> None:
    file = folder / "runs" / "d" / RUN / "run.json"
    plain = json.loads(file.read_text())
    plain["transcript"][-1]["text"] += " Edited."
    file.write_text(json.dumps(plain))
    (file.parent / "SHA256SUMS").unlink()


KINDS = {
    "rating": Asked(
        kind=RATINGS,
        study=lambda folder: study_of_debates(folder, *DEBATE, "opposition=citizen_halting"),
        edited=_other_debate,
        plan=plan_ratings,
        own=("group.size=2",),
        other="each=1",
        answers=2 * 2,
        calls=2 * 2 * 2,
        person=Rating(
            RUN,
            "Ann",
            "opposition",
            before=4,
            proposition=dict.fromkeys(DIMENSIONS, 60),
            opposition=dict.fromkeys(DIMENSIONS, 40),
            winner="proposition",
            after=5,
        ),
        command=("rate", "ask", "d"),
        longest="model.max_tokens",
    ),
    "pair": Asked(
        kind=PAIR,
        study=study_of_pairs,
        edited=lambda folder: study_of_pairs(
            folder, {**ARGUMENTS, "t1": ("trams", "Something else.")}
        ),
        plan=plan_pairs,
        own=("dimension=logical",),
        other="ties=false",
        answers=PAIRS,
        calls=PAIRS,
        person=Vote(Sheet("t1", "t3", "trams"), "Ann", "logical", "a"),
        command=("compare", "ask", "demo"),
    ),
    "code": Asked(
        kind=CODES,
        study=lambda folder: study_of_texts(coding_home(folder)),
        edited=lambda folder: study_of_texts(folder, ("Edited text here.", *TEXTS[1:])),
        plan=plan_coding,
        own=("scheme=tiny", "samples=2"),
        other="rules=mode",
        answers=CODED * 2 * 2,
        calls=CODED * 2 * 2 + 1,
        person=Code("t1", "reasons", "Ann", "human", 1),
        command=("code", "ask", "pilot"),
    ),
    "summary": Asked(
        kind=SUMMARIES,
        study=study_of_opinions,
        edited=lambda folder: study_of_opinions(
            folder, {**OPINIONS, "o1": ("positive", "no", "Something else.")}
        ),
        plan=plan_summaries,
        own=("sizes='4,all'", "runs=2"),
        other="temperature=0.1",
        answers=3 * 4,
        calls=4,
        person=None,
        command=("summarise", "ask", "tram"),
        free=2 * 4,
    ),
    "judgment": Asked(
        kind=JUDGMENTS,
        study=_summarised,
        edited=_other_summary,
        plan=plan_judging,
        own=("asked=both", "k=1"),
        other="role=author",
        answers=2 * 4 + 2,
        calls=2 * 4 + 2,
        person=Judgment(Sitting("extractive 4.1.1", "p/S0001"), "p/S0001", {"rep": 3}),
        command=("judge", "ask", "tram"),
    ),
}
assert SPOKEN > 4
