"""The embedded citizen: a seeded, rule-based participant that reads the prompts language models
read, and is none itself.

It is a null model of opinion dynamics. docs/citizen.md gives the equations; opinion.py holds what
it thinks, deliberating.py and debating.py what it says.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from delibsim.domain.seed import seed_of
from delibsim.models.base import Completion, Status, Usage
from delibsim.models.capabilities import Capabilities
from delibsim.models.citizen.debating import contribution
from delibsim.models.citizen.deliberating import statement, survey_reply
from delibsim.models.citizen.opinion import Traits, attitude_of, check_share, start_of
from delibsim.prompts.blocks import read_block
from delibsim.prompts.forms.speech import Speech
from delibsim.prompts.forms.survey import SurveyAnswers
from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import Prompt

FREE = Usage(input_tokens=0, cached_tokens=0, output_tokens=0, reasoning_tokens=0, cost_usd=0.0)


@dataclass(frozen=True)
class Citizen(Traits):
    """A rule-based participant with the protocol of a language model; docs/citizen.md gives its
    equations.

    Beside the parameters of its opinions (`Traits`) it has a `skill` (0 to 1), which is how well it
    debates. `temperature` has no meaning here and is reported as dropped.
    """

    # It reads the blocks of a prompt and no sentence around them, and draws and orders by label.
    without_effect: ClassVar[frozenset[str]] = frozenset(
        {
            "temperature",
            "treatment.instructions",
            "wording",
            "procedure.instructions",
            "procedure.words",
            "procedure.shuffle_items",
            "procedure.reverse_scale",
            "procedure.show_answers",
        }
    )

    # It debates by its skill, and moves by what others say.
    without_effect_where: ClassVar[Mapping[str, frozenset[str]]] = {
        "in a deliberation": frozenset({"skill"}),
        "where nobody speaks": frozenset({"susceptibility", "openness"}),
    }

    name: str = "citizen"
    temperature: float | None = None
    skill: float = 0.5

    def __post_init__(self) -> None:
        """Refuse parameters outside their range."""
        super().__post_init__()
        check_share("skill", self.skill)

    @property
    def capabilities(self) -> Capabilities:
        """It simulates persons."""
        return Capabilities(for_population=self.for_population)

    def for_population(self, seed: int) -> "Citizen":
        """The citizens of a population; these citizens, where their settings name theirs."""
        return self if self.population is not None else replace(self, population=seed)

    async def complete(self, prompt: Prompt, seed: int) -> Completion:
        """Answer the survey or speak, from what the messages say and nothing else."""
        asked = (message.content for message in prompt.messages if message.role != "assistant")
        text = "\n".join(asked)
        me = read_block("you", text)
        if me is None:
            fault = "the prompt has no <you> block, so the citizen does not know who it is"
            return self._completion("", "bad_request", fault)
        reply = self._reply(prompt, me, text, seed)
        if reply is None:
            fault = f"the citizen has no reply in the form {type(prompt.reply).__name__}"
            return self._completion("", "bad_request", fault)
        return self._completion(reply)

    def _reply(self, prompt: Prompt, me: str, text: str, seed: int) -> str | None:
        """What this person answers or says; None in a form that it does not know."""
        form, start = prompt.reply, start_of(self, me, text)
        attitude = attitude_of(self, me, text, start)
        if isinstance(form, SurveyAnswers):
            return survey_reply(form, text, attitude, start.answered, self.noise, seed)
        motion = read_block("motion", text)
        if motion is None:
            speaks = isinstance(form, Words | Speech)
            return statement(me, text, attitude) if speaks else None
        own_seed = seed_of(seed, self.name)
        return contribution(me, motion, text, attitude, self.skill, form, own_seed)

    def _completion(self, text: str, status: Status = "ok", detail: str = "") -> Completion:
        return Completion(
            text=text,
            status=status,
            detail=detail,
            usage=FREE,
            model_requested=self.name,
            model_returned="delibsim.citizen (rule-based)",
            parameters_dropped=() if self.temperature is None else ("temperature",),
            finish_reason="stop",
        )
