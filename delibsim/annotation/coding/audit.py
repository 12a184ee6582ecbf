"""Reading rationales of codes: by rule, and by a model that sees neither the text nor the level."""

from collections.abc import Sequence
from dataclasses import dataclass

from delibsim.annotation.coding.misquotes import entry_texts, misquoted, quotations
from delibsim.annotation.coding.rationales import concluded
from delibsim.domain.annotation import Annotation, Text, Unit
from delibsim.domain.audit import Outcome, Verdict, compared
from delibsim.domain.coding import Sample
from delibsim.domain.scheme import Dimension, LevelValue, Scheme
from delibsim.domain.seed import seed_of
from delibsim.prompts.audit import NO_LEVEL, audit_prompt, audit_reask
from delibsim.prompts.prompt import Prompt

REASKS = 3


@dataclass(frozen=True)
class Reading:
    """What the rules find in the rationale of a sample: the level it concludes, its quotations, and
    those that are not in what the coder was shown; None where the text is not to be had.
    """

    sample: Sample
    level: LevelValue | None
    quotations: int
    misquoted: tuple[str, ...] | None

    @property
    def outcome(self) -> Outcome:
        """Whether the rationale concludes the level that was given."""
        return compared(self.level, self.sample.level)


def read_by_rule(
    sample: Sample, dimension: Dimension, shown: Sequence[Text], steps: Sequence[str] = ()
) -> Reading:
    """The reading of a sample that has a level.

    `shown` holds the text as the coder saw it and word for word, nothing where it was edited since;
    `steps` are those that the coder followed.
    """
    quoted = quotations(sample.rationale)
    made_up: tuple[str, ...] | None = None
    if shown:
        also = [*entry_texts(dimension), *steps]
        for text in shown:
            also += [text.text, *text.context]
        made_up = tuple(misquoted(sample.rationale, shown[0].text, also))
    level = concluded(sample.rationale, dimension)
    return Reading(sample, level, len(quoted), made_up)


@dataclass(frozen=True)
class RationaleTask:
    """Which level a rationale concludes; the unit is the rationale of one sample."""

    scheme: Scheme
    dimension: Dimension
    reader: str
    study: str
    name: str = "audit"
    reasks: int = REASKS

    def prompt(self, unit: Unit) -> Prompt:
        """The prompt with the anchors and the rationale, without text and level."""
        return audit_prompt(self.dimension, unit, self.reader)

    def again(self, fault: str) -> str:
        """What is said after an unreadable reply."""
        return audit_reask(fault)

    def seed(self, unit: Unit, prompt: Prompt) -> int:
        """The seed of a call, from the sample and the attempt."""
        return seed_of(
            self.study, self.scheme.id, "audit", self.reader, unit.id, prompt.purpose.attempt
        )

    def verdict(self, sample: Sample, annotation: Annotation) -> Verdict:
        """What an answer says about a sample."""
        value = annotation.value
        levels = {str(level): level for level in self.dimension.values}
        return Verdict(
            text=sample.text,
            dimension=sample.dimension,
            model=sample.model,
            index=sample.index,
            wording=sample.wording,
            reader=self.reader,
            kind="model",
            level=None if value in (None, NO_LEVEL) else levels[value],
            missing=annotation.reason if value is None else None,
        )


def unit_of(sample: Sample) -> Text:
    """The rationale of a sample as a unit, under a name that no other sample has."""
    names = (sample.text, sample.dimension, sample.model, sample.wording, str(sample.index))
    return Text(" ".join(names), sample.rationale)
