"""How people talked in every run: who spoke how much, how varied, how alike, with what marks."""

import math
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from statistics import fmean, stdev

from delibsim.domain.data import read_data
from delibsim.domain.participant import SIDES
from delibsim.domain.run import Run
from delibsim.domain.score import CATALOGUE, Score
from delibsim.domain.text import function_words, word_count
from delibsim.domain.transcript import PREPARATION, Statement
from delibsim.domain.word_differences import WORDS
from delibsim.measures.talk import adjacent, echo, gini, mattr, returns

COUNTED = read_data("talk.yaml")
QUESTION = re.compile(f"[{COUNTED['questions']}]+")
PHRASES = "|".join(chain.from_iterable(COUNTED["disagreement"].values()))
DISAGREEMENT = re.compile(rf"(?<!\w)(?:{PHRASES})(?!\w)")
FUNCTION_WORDS = frozenset[str]().union(*function_words())
SHORT = 2  # letters of a word in Latin script that is no content word
Found = Iterator[tuple[str, float, str]]


class TalkScorer:
    """Length and variety of speech, how it is shared, how turns follow and take up each other.

    Notes of a side before a debate are no turns. It reads texts alone, in milliseconds a run, and
    is scored where an analysis asks for it. Definitions and sources: docs/measures.md, "Talk".
    """

    name = "talk"
    version = 1
    measures = CATALOGUE["talk"]
    by_run = True
    on_request = True
    when_analysed = True

    def score(self, runs: Sequence[Run]) -> list[Score]:
        """Scores of each run."""
        found = []
        for run in runs:
            for measure, value, note in _measured(run):
                note = note if math.isnan(value) else ""
                found.append(Score(f"talk.{measure}", "run", run.session.id, value, note=note))
        return found


def _measured(run: Run) -> Found:
    """Every measure with its value, and the reason code for the case that it is NaN."""
    said = [one for one in run.speech if one.turn.task != PREPARATION]
    speakers = [one.turn.speaker for one in said]
    lengths = [word_count(one.text) for one in said]
    words = sum(lengths)
    silent = "" if words else "no_statements"
    yield "words", fmean(lengths) if words else math.nan, silent
    yield "words_spread", _spread(lengths), silent or "too_few_turns"
    yield "gini", gini(_by_speaker(run, said, lengths)), silent
    yield "returns", returns(speakers), silent or "too_few_turns"
    texts = [one.text.casefold().replace("’", "'") for one in said]
    spoken = [_words(text) for text in texts]
    yield "mattr", mattr(list(chain.from_iterable(spoken))), silent or "short_text"
    for measure, mark in (("questions", QUESTION), ("disagreement", DISAGREEMENT)):
        marks = sum(len(mark.findall(text)) for text in texts)
        yield measure, 100 * marks / words if words else math.nan, silent
    content = [list(filter(_tells, turn)) for turn in spoken]
    yield "adjacent", adjacent(content, speakers), silent or "one_speaker"
    yield "echo", echo(content, speakers), silent or "one_speaker"


def _spread(lengths: Sequence[int]) -> float:
    """The standard deviation of lengths as a share of their mean."""
    if len(lengths) < 2 or not sum(lengths):
        return math.nan
    return stdev(lengths) / fmean(lengths)


def _by_speaker(run: Run, said: Sequence[Statement], lengths: Sequence[int]) -> list[int]:
    """The words of everybody who could speak, 0 of those who did not."""
    sides = run.session.kind.sides
    people = [one for one in run.session.participants if not sides or one.role in SIDES]
    spoken = dict.fromkeys((one.id for one in people), 0)
    for one, length in zip(said, lengths, strict=True):
        spoken[one.turn.speaker] = spoken.get(one.turn.speaker, 0) + length
    return list(spoken.values())


def _words(text: str) -> list[str]:
    return [word for word in WORDS.findall(text) if word[0].isalnum()]


def _tells(word: str) -> bool:
    """Whether a word tells what a turn is about."""
    return word not in FUNCTION_WORDS and (len(word) > SHORT or not word.isascii())
