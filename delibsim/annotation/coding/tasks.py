"""Coding texts by a scheme: a language model writes its steps for a dimension, then gives samples
of the level of each text, blind to who wrote it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from delibsim.domain.annotation import Annotation, Text, Unit
from delibsim.domain.coding import Sample
from delibsim.domain.language import word_count, wordless
from delibsim.domain.reason import Reason
from delibsim.domain.scheme import Dimension, Scheme
from delibsim.domain.seed import seed_of
from delibsim.domain.treatment import Wording
from delibsim.prompts.coding import Steps, coding_prompt, coding_reask, steps_prompt
from delibsim.prompts.labelled import whole_characters
from delibsim.prompts.prompt import Prompt, Purpose


@dataclass(frozen=True)
class Material:
    """The texts of a study as coders see them: `shown` by id, blinded.

    `occurrences` counts, from 0, texts that are word for word alike, so that each has seeds of its
    own. `study` and `seed` are those that seeds begin with.
    """

    study: str
    seed: int
    shown: Mapping[str, Text]
    occurrences: Mapping[str, int]


@dataclass(frozen=True)
class _Question:
    """What both tasks share: a coder before one dimension of a scheme, under one wording."""

    material: Material
    scheme: Scheme
    dimension: Dimension
    wording: Wording
    coder: str
    reasks: int

    def again(self, fault: str) -> str:
        """The wording of the concrete fault."""
        return coding_reask(self.wording, fault)

    def _seed(self, *names: str | int) -> int:
        """A seed of the study, for this scheme, dimension, coder and wording."""
        own = (self.scheme.id, self.dimension.id, self.coder, self.wording.id)
        return seed_of(self.material.study, self.material.seed, *names, *own)


@dataclass(frozen=True)
class StepsTask(_Question):
    """The steps by which a coder will apply a dimension; the unit stands for the dimension."""

    name = "steps"

    def prompt(self, unit: Unit) -> Prompt:
        """The prompt with the entry of the dimension."""
        return steps_prompt(self.dimension, self.scheme.lower_in_doubt, self.wording, self.coder)

    def seed(self, unit: Unit, prompt: Prompt) -> int:
        """The seed of a call, from the attempt."""
        return self._seed("steps", prompt.purpose.attempt)


@dataclass(frozen=True)
class SampleTask(_Question):
    """One sample of the level of a text; `index` counts samples from 1."""

    steps: Steps
    index: int
    name = "code"

    def prompt(self, unit: Unit) -> Prompt:
        """The prompt with the text as coders see it."""
        occasion = f"{unit.id} {self.dimension.id} {self.wording.id} {self.index}"
        shown = self.material.shown[unit.id]
        lower = self.scheme.lower_in_doubt
        purpose = Purpose(self.coder, occasion)
        return coding_prompt(self.dimension, lower, self.wording, self.steps, shown, purpose)

    def seed(self, unit: Unit, prompt: Prompt) -> int:
        """The seed of a call, from the text and its occurrence, the sample and the attempt."""
        occurrence = self.material.occurrences[unit.id]
        return self._seed(unit.sha256, occurrence, self.index, prompt.purpose.attempt)

    def sample(self, text: Text, annotation: Annotation) -> Sample:
        """The sample that an answer is, for a text that was shown."""
        coded = annotation.value
        level = rationale = missing = None
        if coded is None:
            why = annotation.reason
            missing = why and Reason(why.code, whole_characters(why.detail))
        else:
            level, rationale = coded.level, coded.rationale
            missing = Reason("not_applicable") if level is None else None
        return Sample(
            text=text.id,
            text_sha256=text.sha256,
            dimension=self.dimension.id,
            model=self.coder,
            index=self.index,
            level=level,
            rationale=rationale or "",
            missing=missing,
            wording=self.wording.id,
        )


def unit_of(dimension: Dimension) -> Text:
    """A dimension as the unit of the task of steps."""
    return Text(dimension.id, dimension.name)


def occurrences_of(texts: Iterable[Text]) -> dict[str, int]:
    """How many texts before it, in this order, are word for word like each text, by id."""
    seen: Counter[str] = Counter()
    found = {}
    for text in texts:
        digest = text.sha256
        found[text.id] = seen[digest]
        seen[digest] += 1
    return found


def why_not_coded(text: str, scheme: Scheme, dimension: Dimension) -> Reason | None:
    """Why a text is not put before coders on a dimension; None if it is."""
    if not text.strip():
        return Reason("empty")
    if wordless(text):
        return Reason("wordless")
    words = word_count(text)
    least, most = max(scheme.least_words, dimension.least_words), scheme.most_words
    if words < least:
        return Reason("too_short", f"{words} words, and the scheme codes from {least} on")
    if most is not None and words > most:
        return Reason("too_long", f"{words} words, and the scheme codes up to {most}")
    return None
