"""Value profiles of clusters of people: written by one language model, read blind by another.

The writer sees on which considerations a cluster departs from all people. The reader sees the
profile alone and answers the survey as that person would.
"""

from dataclasses import dataclass

from delibsim.domain.annotation import Text, Unit
from delibsim.domain.seed import seed_of
from delibsim.domain.survey import Survey
from delibsim.domain.topic import Topic
from delibsim.prompts.blocks import block, items_block
from delibsim.prompts.forms.survey import SurveyAnswers
from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import Message, Prompt, Purpose

LONGEST = 220
"""Words of a profile, at most."""
REASKS = 3
TASK = (
    "You write short portraits for a study of citizens' assemblies. Below are statements with which"
    " a group of citizens agrees more (+) or less (-) than citizens on average, the largest"
    " difference first. Differences are in standard deviations."
)
ORDER = (
    'Write a portrait of the values that such a person holds, in the second person ("You ..."), in'
    " 80 to 180 words. Say what matters to this person and what does not, and why. Do not repeat"
    " the statements word for word, do not mention numbers, groups, averages or a survey, and do"
    " not say what to conclude on the question."
)
READER = (
    "You read a portrait of a person and say how that person would answer a survey. Go by the"
    " portrait alone, and not by what you think yourself."
)
ANSWER = "Answer the following survey as the person of the portrait would. Use the whole scale."
AGAIN = "That reply cannot be used: {fault}. Please reply again, in the form asked for."


@dataclass(frozen=True)
class _Question:
    """What both tasks share: the topic, and the seed of the clustering."""

    topic: Topic
    clustering: int

    @property
    def reasks(self) -> int:
        """How often a model is asked again after an unreadable reply."""
        return REASKS

    def again(self, fault: str) -> str:
        """What is said after an unreadable reply."""
        return AGAIN.format(fault=fault)

    def seed(self, unit: Unit, prompt: Prompt) -> int:
        """The seed of a call, from what is asked: another prompt is another call."""
        purpose = prompt.purpose
        names = (purpose.participant, purpose.occasion, purpose.attempt, prompt.text)
        return seed_of("personas", self.clustering, *names)


class ProfileTask(_Question):
    """Write the profile of a cluster; the unit holds its departures, one a line."""

    name = "profile"

    def prompt(self, unit: Unit) -> Prompt:
        """The prompt of the writer."""
        form = Words(LONGEST)
        question = block("topic", self.topic.question.strip())
        parts = [question, block("statements", unit.text), ORDER, form.describe()]
        messages = (Message("system", TASK), Message("user", "\n\n".join(parts)))
        return Prompt(messages, form, Purpose(unit.id, "profile"))


@dataclass(frozen=True)
class ReadingTask(_Question):
    """Answer the survey from a profile alone; the unit holds the profile."""

    survey: Survey
    name = "reading"

    def prompt(self, unit: Unit) -> Prompt:
        """The prompt of the reader, who is not told the cluster."""
        form = SurveyAnswers(self.survey)
        parts = [
            block("topic", self.topic.question.strip()),
            block("you", "the person of the portrait"),
            block("persona", unit.text),
            ANSWER,
            items_block("considerations", self.survey.considerations),
            items_block("preferences", self.survey.preferences),
            form.describe(),
        ]
        messages = (Message("system", READER), Message("user", "\n\n".join(parts)))
        return Prompt(messages, form, Purpose(unit.id, "reading"))


def unit_of_cluster(cluster: int, text: str) -> Unit:
    """What is asked about one cluster, counted from 0; its name counts from 1."""
    return Text(f"cluster {cluster + 1}", text)
