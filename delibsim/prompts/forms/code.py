"""The form of a code: a JSON object with the rationale first, then the level on one dimension."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from delibsim.domain.scheme import LevelValue
from delibsim.prompts.labelled import QUOTED, brief, in_order, only_object, padded, whole_characters
from delibsim.prompts.prompt import UnreadableReply, schema_of, text_schema

RATIONALE, SCORE, APPLIES = "rationale", "score", "applies"
CODE = "code"
"""The member that holds a code of which a schema has two kinds: servers want one at the top."""
ANSWERS = ("yes", "no")
PADDING = "The anchor of this level fits the text, and that of the next one does not."


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
        code = {RATIONALE: text_schema(1500), SCORE: {"type": kind, "enum": list(self.levels)}}
        if not self.filtered:
            return schema_of(code)
        yes, no = ({APPLIES: {"type": "string", "enum": [answer]}} for answer in ANSWERS)
        without = {RATIONALE: code[RATIONALE], SCORE: {"type": "null"}}
        return schema_of({CODE: {"anyOf": [schema_of(yes | code), schema_of(no | without)]}})

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
        members = only_object(whole_characters(text), (RATIONALE, SCORE), inside=CODE)
        wanted = (APPLIES, RATIONALE, SCORE) if self.filtered else (RATIONALE, SCORE)
        given = in_order(members, wanted)
        rationale = given[RATIONALE]
        if not isinstance(rationale, str):
            raise UnreadableReply(f"the {RATIONALE} is {brief(rationale)}, which is not a text")
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
            raise UnreadableReply(f'"{APPLIES}" is {brief(answer)}; it must be "yes" or "no"')
        applies = said == ANSWERS[0]
        if not applies and given[SCORE] is not None:
            raise UnreadableReply(
                f'"{APPLIES}" is "no", and the {SCORE} is {brief(given[SCORE])}; it must be null'
            )
        return applies

    def _level(self, score: Any) -> LevelValue:
        """The level that a score names."""
        named = isinstance(self.levels[0], str)
        found = self._named(score) if named else self._numbered(score)
        if found is not None:
            return found
        listed = ", ".join(json.dumps(level, ensure_ascii=False) for level in self.levels)
        raise UnreadableReply(f"the {SCORE} is {brief(score)}; it must be one of {listed}")

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
            if not (digits.isascii() and digits.isdigit() and len(digits) < QUOTED):
                return None
            score = int(score)
        if isinstance(score, bool) or not isinstance(score, int | float):
            return None
        whole = all(isinstance(level, int) for level in self.levels)
        if whole and not isinstance(score, int):
            return None
        return next((level for level in self.levels if level == score), None)
