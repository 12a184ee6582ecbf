"""Rating a debate: a language model as a blind rater, asked for its stance, then for its ballot."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from delibsim.asking.blinding import blinded
from delibsim.asking.nouns import Question
from delibsim.asking.record import answer_to
from delibsim.domain.annotation import Coder, Panel, Text
from delibsim.domain.errors import WrongInput
from delibsim.domain.participant import SIDES, Side
from delibsim.domain.rating import DIMENSIONS, Rating, debated, digest, sides_by_letter
from delibsim.domain.run import Run, Session
from delibsim.models.base import LanguageModel
from delibsim.prompts.blocks import transcript_block
from delibsim.prompts.prompt import Prompt
from delibsim.prompts.rating import ballot_prompt, rating_reask, stance_prompt

ON_THE_BALLOT = (
    "winner",
    "after",
    "attentive",
    *(f"{side}.{name}" for side in SIDES for name in DIMENSIONS),
)
"""What is missing from a rating where the ballot could not be read."""


@dataclass(frozen=True)
class Sitting:
    """A rater of a panel before one debate, whose session gives seeds."""

    panel: Panel
    rater: Coder
    debate: Session

    def question(self, prompt: Callable[[], Prompt]) -> Question:
        """One of the questions of the rater."""

        def seed(asked: Prompt) -> int:
            purpose = asked.purpose
            return self.debate.seed_for(purpose.participant, purpose.occasion, purpose.attempt)

        again = partial(rating_reask, self.panel)
        return Question(self.debate.id, prompt, seed, again, self.panel.reasks)

    def stance(self) -> Question:
        """The rater's stance on the motion, from 0 to 100, before the debate is read."""
        return self.question(partial(stance_prompt, self.panel, self.rater, motion_of(self.debate)))

    def ballot(self, transcript: Text, before: int | None, check: int) -> Question:
        """The rater's ballot on the blinded transcript; `before` is its stance."""
        motion = self.debate.topic.question
        own = (self.panel, self.rater, motion, transcript, before, check)
        return self.question(partial(ballot_prompt, *own))


def first_shown(debate: str, index: int, seed: int) -> Side:
    """The side that a rater knows as Speaker A.

    It is drawn for each debate, and every second rater sees the other one; `index` is the rater's
    place in its panel.
    """
    draw = random.Random(f"{seed}/{debate}").randrange(2)
    return SIDES[(draw + index) % 2]


def check_number(debate: Session, rater: Coder) -> int:
    """The number of the attention check.

    It has two digits, so that it is no rating that might be given anyway by habit.
    """
    return 11 + debate.seed_for(debate.id, rater.id, "check") % 79


def motion_of(debate: Session) -> Text:
    """The motion of a debate, under the name of the debate."""
    return Text(debate.id, debate.topic.question)


async def rate(
    run: Run,
    panel: Panel,
    rater: Coder,
    model: LanguageModel,
    first: Side | None = None,
) -> Rating:
    """One rater's judgment of a complete debate; what is missing from it has its reason.

    `first` is the side shown as Speaker A, by default that of `first_shown`. Raises Interrupted
    when the model cannot be asked, WrongInput for a debate that broke off.
    """
    debate = run.session
    if not debated(run):
        raise WrongInput(f"{debate.id} is no debate of six speeches, and cannot be rated")
    first = first or first_shown(debate.id, rater.index, debate.seed)
    check = check_number(debate, rater)
    sitting = Sitting(panel, rater, debate)
    stance = await answer_to(sitting.stance(), model)
    transcript = Text(debate.id, transcript_block(blinded(run, first)))
    ballot = await answer_to(sitting.ballot(transcript, stance.value, check), model)
    missing = {} if stance.value is not None else {"before": stance.reason}
    if ballot.value is None:
        missing |= dict.fromkeys(ON_THE_BALLOT, ballot.reason)
    return Rating(
        session=debate.id,
        rater=rater.id,
        first=first,
        before=stance.value,
        **judged(ballot.value, first, check),
        missing=missing,
        source="model",
        model=rater.model,
        debate_sha256=digest(run),
        panel=panel.name,
    )


def judged(ballot: dict[str, Any] | None, first: Side, check: int) -> dict[str, Any]:
    """The fields of a rating that a ballot on Speakers A and B gives, by side; a person may leave
    some of it out.
    """
    if ballot is None:
        return {}
    sides = sides_by_letter(first)
    fields: dict[str, Any] = {}
    for letter, side in sides.items():
        labelled = [(f"{letter}{i}", name) for i, name in enumerate(DIMENSIONS, 1)]
        fields[side] = {name: ballot[label] for label, name in labelled if label in ballot}
    fields["winner"] = sides.get(ballot.get("WINNER", ""))
    fields["after"] = ballot.get("S1")
    fields["attentive"] = ballot["C1"] == check if "C1" in ballot else None
    return fields
