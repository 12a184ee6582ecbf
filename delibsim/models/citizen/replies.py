"""What a citizen replies to a prompt, by the form that the prompt asks for."""

from delibsim.domain.seed import seed_of
from delibsim.models.citizen.coding import STEPS, code_reply
from delibsim.models.citizen.consenting import critique, mediation, vote_reply
from delibsim.models.citizen.debating import contribution
from delibsim.models.citizen.deliberating import statement, survey_reply
from delibsim.models.citizen.judging import judge_reply
from delibsim.models.citizen.opinion import attitude_of, start_of
from delibsim.models.citizen.summarising import summary_reply
from delibsim.models.citizen.traits import Traits
from delibsim.models.citizen.verdict import verdict_reply
from delibsim.prompts.blocks import read_block
from delibsim.prompts.forms.choice import ChoiceForm
from delibsim.prompts.forms.code import CodeForm
from delibsim.prompts.forms.ranking import RankingForm
from delibsim.prompts.forms.speech import Speech
from delibsim.prompts.forms.steps import StepsForm
from delibsim.prompts.forms.summary import SummaryForm
from delibsim.prompts.forms.survey import SurveyAnswers
from delibsim.prompts.forms.verdict import VerdictForm
from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import Prompt


class NoReply(Exception):
    """The citizen cannot reply to a prompt; the message says why."""


def reply_to(
    prompt: Prompt,
    seed: int,
    name: str,
    skill: float,
    traits: Traits,
    judging: tuple[float, float, float],
) -> str:
    """What the citizen of this name codes, judges, answers or says, from the messages and nothing
    else. `judging` is its place bias, threshold and share of coin flips as a judge of pairs.

    NoReply for a prompt that does not say who it is, and for a form that it does not know.
    """
    asked = (message.content for message in prompt.messages if message.role != "assistant")
    text = "\n".join(asked)
    if isinstance(prompt.reply, StepsForm):
        return STEPS
    if isinstance(prompt.reply, CodeForm):
        coder = f"{name}/{traits.population}"
        return code_reply(prompt.reply, text, coder, traits.noise, seed)
    if isinstance(prompt.reply, ChoiceForm):
        judge = f"{name}/{traits.population}"
        return judge_reply(prompt.reply, text, judge, (traits.noise, *judging), seed)
    if isinstance(prompt.reply, SummaryForm):
        return summary_reply(text, f"{name}/{traits.population}", traits.noise, seed)
    if isinstance(prompt.reply, VerdictForm):
        return verdict_reply(prompt.reply, text, f"{name}/{traits.population}", seed)
    me = read_block("you", text)
    if me is None and isinstance(prompt.reply, Words):
        mediated = mediation(text, seed_of(seed, name))
        if mediated is not None:
            return mediated
    if me is None:
        raise NoReply("the prompt has no <you> block, so the citizen does not know who it is")
    form, start = prompt.reply, start_of(traits, me, text)
    attitude = attitude_of(traits, me, text, start)
    if isinstance(form, SurveyAnswers):
        return survey_reply(form, text, attitude, start.answered, traits.noise, seed)
    if isinstance(form, RankingForm):
        return vote_reply(form, text, attitude, traits.noise, seed_of(seed, name))
    criticised = critique(text, attitude) if isinstance(form, Words) else None
    if criticised is not None:
        return criticised
    motion = read_block("motion", text)
    if motion is not None:
        own_seed = seed_of(seed, name)
        reply = contribution(me, motion, text, attitude, skill, form, own_seed)
    else:
        speaks = isinstance(form, Words | Speech)
        reply = statement(me, text, attitude) if speaks else None
    if reply is None:
        raise NoReply(f"the citizen has no reply in the form {type(form).__name__}")
    return reply
