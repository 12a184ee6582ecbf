"""Flags on statements to look at: injections, leaks, several speakers, repeated text."""

import functools
import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from delibsim.domain.run import Run
from delibsim.domain.score import CATALOGUE, Score, compared
from delibsim.domain.survey import Survey
from delibsim.domain.transcript import Statement

INSTRUCTION = re.compile(
    r"\b(ignore|disregard|forget)\b.{0,40}\b(instruction|prompt|rule|above|previous)|\brate"
    r" (everything|all)\b|\bsystem prompt\b",
    re.IGNORECASE,
)
MARKUP = re.compile(
    r"^[^\S\n]*+(?:</?(transcript|topic|you|persona|considerations|preferences|answers)>"
    r"|#+ *round \d)|^.+ \(round \d+, turn \d+\):",
    re.IGNORECASE | re.MULTILINE,
)
LEAK = 8  # consecutive words of a persona, repeated in a speech, that make a leak
ANSWERS = 3  # labelled numbers in a speech that make it look like a filled-in survey
DIGEST = 16  # bytes
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
"""The flags, in the order of their scores."""


class Flags:
    """For each run the number of statements under each flag, and each flagged statement.

    instruction: words that instruct the reader; survey_answers: labelled numbers; other_speakers:
    lines in another's name; markup: marks this program uses itself; persona_leak: eight words
    running of the speaker's persona, apart from the survey's items, which everybody knows;
    odd_characters: invisible or direction-changing characters; repeated: the text of an earlier
    statement of the run; across_runs: the text of a statement in another run although the
    temperature is above 0. A flag changes nothing: it says where to look. See docs/measures.md,
    "Flags".
    """

    name = "flags"
    version = 2
    measures = CATALOGUE["flags"]

    def score(self, runs: Sequence[Run]) -> list[Score]:
        """Counts and flagged statements of each run; `across_runs` compares the runs given."""
        return compared(self.compare(), runs)

    def compare(self) -> "_Texts":
        """What is remembered of the runs: their texts."""
        return _Texts()


class _Texts:
    """The texts of all runs, and those that several have; each as a digest, which is short."""

    def __init__(self) -> None:
        self._known: set[bytes] = set()
        self._shared: set[bytes] = set()

    def note(self, run: Run) -> "_Noted":
        """Remember the texts of a run."""
        found: dict[str, list[int]] = {}
        drawn: dict[int, bytes] = {}
        own, earlier = set(), set()
        for statement in run.speech:
            index, text = statement.turn.index, statement.text
            for kind in _flags(run, statement, earlier):
                found.setdefault(kind, []).append(index)
            earlier.add(text)
            if _own(run, statement):
                own.add(_digest(text))
                if _draws(run, statement):
                    drawn[index] = _digest(text)
        self._shared |= own & self._known
        self._known |= own
        return _Noted(run.session.id, found or None, tuple(drawn), b"".join(drawn.values()))

    def score(self, noted: "_Noted") -> Iterator[Score]:
        """Counts and flagged statements of a run that was noted."""
        shared = []
        for i, index in enumerate(noted.drawn):
            if noted.digests[i * DIGEST : (i + 1) * DIGEST] in self._shared:
                shared.append(index)
        found = {**(noted.found or {}), "across_runs": shared}
        target = noted.session
        for kind in KINDS:
            yield Score(f"flags.{kind}", "run", target, float(len(found.get(kind, ()))))
        for kind in KINDS:
            for index in found.get(kind, ()):
                yield Score(f"flags.{kind}", "statement", f"{target}/{index}", 1.0)


@dataclass(frozen=True, slots=True)
class _Noted:
    """A run as it was noted: the indexes of flagged turns by flag, None without any; those of turns
    whose text another run need not have, and the digests of these texts, one after another.
    """

    session: str
    found: dict[str, list[int]] | None
    drawn: tuple[int, ...]
    digests: bytes


def _own(run: Run, statement: Statement) -> bool:
    """Whether a statement was made in this run, and not taken over from its parent or given."""
    parentage = run.session.parentage
    return parentage is None or (statement.turn.index >= parentage.at and not statement.given)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=DIGEST).digest()


def _flags(run: Run, statement: Statement, earlier: Collection[str]) -> Iterator[str]:
    """The flags of a statement for which no other run is needed."""
    text, session = statement.text, run.session
    occasion = f"turn {statement.turn.index}"
    speaker = session.seated(statement.turn.speaker, occasion)
    others = tuple(name for name in session.seats if name != speaker.id)
    if INSTRUCTION.search(text):
        yield "instruction"
    if len(_labelled(session.survey).findall(text)) >= ANSWERS:
        yield "survey_answers"
    if _line_of(others).search(text):
        yield "other_speakers"
    if MARKUP.search(text):
        yield "markup"
    if _shares_words(speaker.persona, text, session.survey):
        yield "persona_leak"
    if not text.isprintable() and any(map(_odd, set(text))):
        yield "odd_characters"
    if text in earlier:
        yield "repeated"


def _draws(run: Run, statement: Statement) -> bool:
    """Whether the speaker drew its words: two runs need not have the same."""
    occasion = f"turn {statement.turn.index}"
    speaker = run.session.seated(statement.turn.speaker, occasion)
    plan = run.session.in_force(speaker.id, occasion)
    return (plan.models.get(speaker.model, {}).get("temperature") or 0) > 0


def _odd(character: str) -> bool:
    """Whether a character is invisible or changes the direction of writing."""
    return unicodedata.category(character) in ("Cc", "Cf", "Co") and character not in "\n\t\r"


@functools.lru_cache(maxsize=64)
def _labelled(survey: Survey) -> re.Pattern[str]:
    """What finds labelled numbers, as in answers to the survey."""
    labels = "|".join(re.escape(item.id) for item in survey.items)
    return re.compile(rf"\b(?:{labels})\s*[:=]\s*\d")


@functools.lru_cache(maxsize=256)
def _line_of(people: tuple[str, ...]) -> re.Pattern[str]:
    """What finds a line in the name of one of these people."""
    others = "|".join(map(re.escape, people))
    line_of_another = rf"^[^\w\n]*(?:{others})\W*:" if others else r"^[^\w\n]*:"
    return re.compile(line_of_another, re.MULTILINE)


def _shares_words(persona: str, text: str, survey: Survey) -> bool:
    """Whether the text repeats LEAK consecutive words of the persona outside the survey's items."""
    telling = _telling(persona, survey)
    if not telling:
        return False
    said = f" {_words(text)} "
    return any(words in said for words in telling)


@functools.lru_cache(maxsize=256)
def _telling(persona: str, survey: Survey) -> tuple[str, ...]:
    """LEAK consecutive words of a persona, wherever they stand outside the survey's items."""
    own, found = f" {_words(persona)} ", []
    for known in _known(survey):
        own = own.replace(f" {known} ", " | ")
    for part in own.split("|"):
        words = part.split()
        found += [f" {' '.join(words[i : i + LEAK])} " for i in range(len(words) - LEAK + 1)]
    return tuple(found)


@functools.lru_cache(maxsize=64)
def _known(survey: Survey) -> tuple[str, ...]:
    """The words of every item, the longest items first."""
    words = filter(None, (_words(item.text) for item in survey.items))
    return tuple(sorted(words, key=len, reverse=True))


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))
