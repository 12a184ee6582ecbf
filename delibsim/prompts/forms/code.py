"""The form of a code: a JSON object with the rationale first, then the level on one dimension."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from delibsim.domain.scheme import LevelValue
from delibsim.prompts.labelled import padded, whole_characters
from delibsim.prompts.prompt import UnreadableReply, schema_of

RATIONALE, SCORE, APPLIES = "rationale", "score", "applies"
ANSWERS = ("yes", "no")
DECODER = json.JSONDecoder(object_pairs_hook=lambda pairs: Members(tuple(pairs)), strict=False)
OPENING = re.compile(r"\{(?=\s*(?:[\"}]|\Z))")
"""A brace that may open an object: a name, the other brace or the end of the reply follows."""
STRAY = 100
"""Braces of a reply that may open no JSON object."""
SHOWN = 40
"""Characters of a value that a fault quotes."""
PADDING = "The anchor of this level fits the text, and that of the next one does not."


@dataclass(frozen=True)
class Members:
    """The members of a JSON object in their order, repeated names included."""

    pairs: tuple[tuple[str, Any], ...]

    @property
    def names(self) -> list[str]:
        """The names of the members."""
        return [name for name, _ in self.pairs]


@dataclass(frozen=True)
class Coded:
    """What a coder replies: a level with its rationale; no level where the dimension does not
    apply to the text.
    """

    level: LevelValue | None
    rationale: str


@dataclass(frozen=True)
class CodeForm:
    """One JSON object: a rationale, then a score that is one of `levels`.

    With `filtered` the object first says in `applies` whether the dimension applies to the text;
    where it does not the score is null. Prose and code fences around the object are passed over, a
    whole number may stand in quotation marks, and names of levels may differ in capitals.
    Everything else is a fault: nothing is guessed or rounded.
    """

    levels: tuple[LevelValue, ...]
    filtered: bool = False

    def describe(self) -> str:
        """The form in words, with the levels as a JSON list."""
        levels = json.dumps(list(self.levels), ensure_ascii=False)
        first = f'"{APPLIES}": "yes" or "no", ' if self.filtered else ""
        lines = [
            f'Reply with one JSON object and nothing else: {{{first}"{RATIONALE}": "2 to 4'
            f' sentences that refer to the anchors", "{SCORE}": the level}}.',
            f"Write the {RATIONALE} before the {SCORE}. The {SCORE} is one of {levels}.",
        ]
        if self.filtered:
            lines.append(
                f'Where "{APPLIES}" is "no", the {RATIONALE} says why, and the {SCORE} is null.'
            )
        return "\n".join(lines)

    def schema(self) -> dict[str, Any]:
        """The form as a JSON schema."""
        named = all(isinstance(level, str) for level in self.levels)
        whole = all(isinstance(level, int) for level in self.levels)
        number = "integer" if whole else "number"
        kind = "string" if named else number
        score: dict[str, Any] = {"type": kind, "enum": list(self.levels)}
        first: dict[str, Any] = {}
        if self.filtered:
            first = {APPLIES: {"type": "string", "enum": list(ANSWERS)}}
            score = {"type": [kind, "null"], "enum": [*self.levels, None]}
        properties = {**first, RATIONALE: {"type": "string"}, SCORE: score}
        return schema_of(properties)

    def example(self, label: str, words: int = 0) -> str:
        """A reply with the first level; its rationale has `words` words, or two sentences."""
        rationale = padded(PADDING, words or 2 * len(PADDING.split()))
        first = {APPLIES: ANSWERS[0]} if self.filtered else {}
        return json.dumps({**first, RATIONALE: rationale, SCORE: self.levels[0]})

    def read(self, text: str) -> Coded:
        """The level and its rationale; UnreadableReply with the concrete fault.

        >>> CodeForm((0, 1, 2)).read('{"rationale": "It gives one reason.", "score": 1}')
        Coded(level=1, rationale='It gives one reason.')
        """
        members = _only_object(whole_characters(text))
        wanted = (APPLIES, RATIONALE, SCORE) if self.filtered else (RATIONALE, SCORE)
        given = _in_order(members, wanted)
        rationale = given[RATIONALE]
        if not isinstance(rationale, str):
            raise UnreadableReply(f"the {RATIONALE} is {_brief(rationale)}, which is not a text")
        if not rationale.strip():
            raise UnreadableReply(f"the {RATIONALE} is empty")
        # The JSON of the reply may spell half a character where its text has none.
        said = whole_characters(rationale.strip())
        if self.filtered and not self._applies(given):
            return Coded(None, said)
        return Coded(self._level(given[SCORE]), said)

    def _applies(self, given: Mapping[str, Any]) -> bool:
        """Whether the dimension applies to the text, by the reply."""
        answer = given[APPLIES]
        said = answer.strip().lower() if isinstance(answer, str) else answer
        if said not in ANSWERS:
            raise UnreadableReply(f'"{APPLIES}" is {_brief(answer)}; it must be "yes" or "no"')
        applies = said == ANSWERS[0]
        if not applies and given[SCORE] is not None:
            raise UnreadableReply(
                f'"{APPLIES}" is "no", and the {SCORE} is {_brief(given[SCORE])}; it must be null'
            )
        return applies

    def _level(self, score: Any) -> LevelValue:
        """The level that a score names."""
        named = isinstance(self.levels[0], str)
        found = self._named(score) if named else self._numbered(score)
        if found is not None:
            return found
        listed = ", ".join(json.dumps(level, ensure_ascii=False) for level in self.levels)
        raise UnreadableReply(f"the {SCORE} is {_brief(score)}; it must be one of {listed}")

    def _named(self, score: Any) -> LevelValue | None:
        """The level of a nominal dimension that a score names."""
        if not isinstance(score, str):
            return None
        said = " ".join(score.split())
        if said in self.levels:
            return said
        alike = [level for level in self.levels if str(level).casefold() == said.casefold()]
        return alike[0] if len(alike) == 1 else None

    def _numbered(self, score: Any) -> LevelValue | None:
        """The level that is this number; a fraction is none where all levels are whole."""
        if isinstance(score, str):
            digits = score.strip().removeprefix("-")
            if not (digits.isascii() and digits.isdigit() and len(digits) < SHOWN):
                return None
            score = int(score)
        if isinstance(score, bool) or not isinstance(score, int | float):
            return None
        whole = all(isinstance(level, int) for level in self.levels)
        if whole and not isinstance(score, int):
            return None
        return next((level for level in self.levels if level == score), None)


def _only_object(text: str) -> Members:
    """The one JSON object of a reply that is an answer; UnreadableReply if there is none, one that
    does not end, or several.
    """
    answers = [found for found in _objects(text) if {RATIONALE, SCORE} & set(found.names)]
    if len(answers) > 1:
        raise UnreadableReply(f"the reply holds {len(answers)} JSON objects; one is asked for")
    if not answers:
        raise UnreadableReply(
            f'the reply holds no JSON object with "{RATIONALE}" and "{SCORE}"'
            if text.strip()
            else "the reply is empty"
        )
    return answers[0]


def _objects(text: str) -> Iterator[Members]:
    """The JSON objects of a text that stand in no other object, in their order.

    UnreadableReply where one does not end, or where more than `STRAY` braces open none: each of
    them costs a reading of the rest, and a long reply of braces would take minutes.
    """
    length = len(text.rstrip())
    stray = 0
    opening = OPENING.search(text)
    while opening:
        at = opening.start()
        end = at + 1
        try:
            found, end = DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            if error.pos >= length or error.msg.startswith("Unterminated string"):
                raise UnreadableReply(
                    "the JSON object does not end: the reply was cut off, or a quotation mark or a"
                    " brace is missing"
                ) from None
            stray += 1
        except ValueError:  # a number of thousands of digits
            stray += 1
        else:
            yield found
        if stray > STRAY:
            raise UnreadableReply(f"more than {STRAY} braces of the reply open no JSON object")
        opening = OPENING.search(text, end)


def _in_order(members: Members, wanted: tuple[str, ...]) -> dict[str, Any]:
    """The members that are asked for; UnreadableReply where one is missing, repeated, or stands
    before one that is to be written first.
    """
    names = [name for name in members.names if name in wanted]
    for name in wanted:
        if name not in names:
            raise UnreadableReply(f'the JSON object has no "{name}"')
        if names.count(name) > 1:
            raise UnreadableReply(f'the JSON object has "{name}" twice')
    if names != list(wanted):
        early = next(name for name, due in zip(names, wanted, strict=True) if name != due)
        due = wanted[names.index(early)]
        raise UnreadableReply(f'"{early}" stands before "{due}"; write "{due}" first')
    return dict(pair for pair in members.pairs if pair[0] in wanted)


def _brief(value: Any) -> str:
    """A value of a reply as a fault quotes it, in one line."""
    if isinstance(value, Members):
        return "a JSON object"
    if isinstance(value, list):
        return "a list"
    said = json.dumps(value, ensure_ascii=False) if not isinstance(value, float) else repr(value)
    said = whole_characters(" ".join(said.split()))
    return said if len(said) <= SHOWN else f"{said[:SHOWN]}..."
