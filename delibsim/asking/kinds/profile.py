"""Value profiles of clusters of people: written by one language model, read blind by another.

The writer sees on which considerations a cluster departs from all people. The reader sees the
profile alone and answers the survey as that person would.
"""

from delibsim.asking.nouns import Question
from delibsim.domain.data import read_data
from delibsim.domain.seed import seed_of
from delibsim.domain.survey import Survey, Topic
from delibsim.prompts.blocks import block, items_block
from delibsim.prompts.forms.survey import SurveyAnswers
from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import Message, Prompt, Purpose

LONGEST = 220
"""Words of a profile, at most."""
REASKS = 3
_WORDS = read_data("prompts.yaml")["profile"]


def profile_question(topic: Topic, clustering: int, cluster: int, departures: str) -> Question:
    """Write the profile of a cluster by its departures, one a line."""
    form = Words(LONGEST)
    question = block("topic", topic.question.strip())
    parts = [question, block("statements", departures), _WORDS["order"], form.describe()]
    messages = (Message("system", _WORDS["task"]), Message("user", "\n\n".join(parts)))
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
        _WORDS["answer"],
        items_block("considerations", survey.considerations),
        items_block("preferences", survey.preferences),
        form.describe(),
    ]
    messages = (Message("system", _WORDS["reader"]), Message("user", "\n\n".join(parts)))
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
        return _WORDS["again"].format(fault=fault)

    return Question(prompt.purpose.participant, lambda: prompt, seed, again, REASKS)


def _named(cluster: int) -> str:
    """The name of a cluster, counted from 0; its name counts from 1."""
    return f"cluster {cluster + 1}"
