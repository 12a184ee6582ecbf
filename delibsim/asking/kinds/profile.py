"""Value profiles of clusters of people: written by one language model, read blind by another.

The writer sees on which considerations a cluster departs from all people. The reader sees the
profile alone and answers the survey as that person would.
"""

from delibsim.asking.nouns import Question
from delibsim.domain.seed import seed_of
from delibsim.domain.survey import Survey, Topic
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


def profile_question(topic: Topic, clustering: int, cluster: int, departures: str) -> Question:
    """Write the profile of a cluster by its departures, one a line."""
    form = Words(LONGEST)
    question = block("topic", topic.question.strip())
    parts = [question, block("statements", departures), ORDER, form.describe()]
    messages = (Message("system", TASK), Message("user", "\n\n".join(parts)))
    return _question(clustering, Prompt(messages, form, Purpose(_named(cluster), "profile")))


def reading_question(
    topic: Topic, clustering: int, survey: Survey, cluster: int, profile: str
) -> Question:
    """Answer the survey from a profile alone; the reader is not told the cluster."""
    form = SurveyAnswers(survey)
    parts = [
        block("topic", topic.question.strip()),
        block("you", "the person of the portrait"),
        block("persona", profile),
        ANSWER,
        items_block("considerations", survey.considerations),
        items_block("preferences", survey.preferences),
        form.describe(),
    ]
    messages = (Message("system", READER), Message("user", "\n\n".join(parts)))
    return _question(clustering, Prompt(messages, form, Purpose(_named(cluster), "reading")))


def _question(clustering: int, prompt: Prompt) -> Question:
    """A question with seeds from what is asked: another prompt is another call. `clustering` is the
    seed of the clusters.
    """

    def seed(asked: Prompt) -> int:
        purpose = asked.purpose
        names = (purpose.participant, purpose.occasion, purpose.attempt, asked.text)
        return seed_of("personas", clustering, *names)

    def again(fault: str) -> str:
        return AGAIN.format(fault=fault)

    return Question(prompt.purpose.participant, lambda: prompt, seed, again, REASKS)


def _named(cluster: int) -> str:
    """The name of a cluster, counted from 0; its name counts from 1."""
    return f"cluster {cluster + 1}"
