"""Flags on statements that a careful reader should look at: injections, leaks, several speakers,
repeated text.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence

from delibsim.domain.measure import CATALOGUE
from delibsim.domain.run import Run
from delibsim.domain.score import Score
from delibsim.domain.survey import Item
from delibsim.domain.transcript import Statement

INSTRUCTION = re.compile(
    r"\b(ignore|disregard|forget)\b.{0,40}\b(instruction|prompt|rule|above|previous)|\brate"
    r" (everything|all)\b|\bsystem prompt\b",
    re.IGNORECASE,
)
MARKUP = re.compile(
    r"^\s*(</?(transcript|topic|you|persona|considerations|preferences|answers)>|#+ *round \d|.+"
    r" \(round \d+, turn \d+\):)",
    re.IGNORECASE | re.MULTILINE,
)
LEAK = 8  # consecutive words of a persona, repeated in a speech, that make a leak
ANSWERS = 3  # labelled numbers in a speech that make it look like a filled-in survey


class Flags:
    """For each run the number of statements under each flag, and each flagged statement (FAULTS 22
    and 30 to 34).

    instruction: words that instruct the reader; survey_answers: labelled numbers; other_speakers:
    lines in another's name; markup: marks this program uses itself; persona_leak: eight words
    running of the speaker's persona, apart from the survey's items, which everybody knows;
    odd_characters: invisible or direction-changing characters; repeated: the text of an earlier
    statement of the run; across_runs: the text of a statement in another run although the
    temperature is above 0. A flag changes nothing: it says where to look.
    """

    name = "flags"
    version = 2
    measures = CATALOGUE["flags"]

    def score(self, runs: Sequence[Run]) -> list[Score]:
        """Counts and flagged statements of each run; `across_runs` compares the runs given."""
        texts = Counter(text for run in runs for text in {s.text for s in run.transcript})
        return [score for run in runs for score in self._score(run, texts)]

    def _score(self, run: Run, texts: Mapping[str, int]) -> list[Score]:
        found: dict[str, list[Statement]] = {kind: [] for kind in KINDS}
        seen: set[str] = set()
        for statement in run.transcript:
            for kind, raised in self._flags(run, statement, seen, texts).items():
                if raised:
                    found[kind].append(statement)
            seen.add(statement.text)
        target = run.session.id
        scores = [
            Score(f"flags.{kind}", "run", target, float(len(statements)))
            for kind, statements in found.items()
        ]
        return scores + [
            Score(f"flags.{kind}", "statement", f"{target}/{statement.turn.index}", 1.0)
            for kind, statements in found.items()
            for statement in statements
        ]

    def _flags(
        self, run: Run, statement: Statement, seen: set[str], texts: Mapping[str, int]
    ) -> dict[str, bool]:
        text, session = statement.text, run.session
        labels = "|".join(re.escape(item.id) for item in session.survey.items)
        others = "|".join(
            re.escape(p.id) for p in session.participants if p.id != statement.turn.speaker
        )
        speaker = next(p for p in session.participants if p.id == statement.turn.speaker)
        return {
            "instruction": bool(INSTRUCTION.search(text)),
            "survey_answers": len(re.findall(rf"\b(?:{labels})\s*[:=]\s*\d", text)) >= ANSWERS,
            "other_speakers": bool(re.search(rf"^\W*(?:{others})\W*:", text, re.MULTILINE)),
            "markup": bool(MARKUP.search(text)),
            "persona_leak": _shares_words(speaker.persona, text, session.survey.items),
            "odd_characters": any(
                unicodedata.category(c) in ("Cc", "Cf", "Co") and c not in "\n\t\r" for c in text
            ),
            "repeated": text in seen,
            "across_runs": (
                texts[text] > 1 and (session.models[speaker.model].get("temperature") or 0) > 0
            ),
        }


KINDS = (
    "instruction",
    "survey_answers",
    "other_speakers",
    "markup",
    "persona_leak",
    "odd_characters",
    "repeated",
    "across_runs",
)


def _shares_words(persona: str, text: str, items: Sequence[Item]) -> bool:
    """Whether the text repeats LEAK consecutive words of the persona; an item of the survey within
    it is nobody's secret.
    """
    own, said = f" {_words(persona)} ", f" {_words(text)} "
    for known in sorted((_words(item.text) for item in items), key=len, reverse=True):
        own = own.replace(f" {known} ", " | ") if known else own
    parts = (part.split() for part in own.split("|"))
    return any(
        f" {' '.join(words[i : i + LEAK])} " in said
        for words in parts
        for i in range(len(words) - LEAK + 1)
    )


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))
