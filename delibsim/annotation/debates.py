"""Rating a debate: language models as blind raters, each asked for its stance, then for its
ballot.
"""

import random
from collections.abc import Mapping

from delibsim.annotation.blinding import blinded
from delibsim.domain.errors import WrongInput
from delibsim.domain.participant import SIDES, Participant, Side
from delibsim.domain.rating import DIMENSIONS, Rating, debated, digest
from delibsim.domain.run import Run, Session
from delibsim.domain.treatment import Wording
from delibsim.models.ask import ask
from delibsim.models.base import Completion, LanguageModel
from delibsim.prompts.session import RATER_TEXTS, RATER_YOU, ballot_prompt, stance_prompt
from delibsim.prompts.wording import refuse_unfilled


def first_shown(debate: str, rater: str, seed: int) -> Side:
    """The side a rater knows as Speaker A: drawn for each debate, and the other way round for every
    second rater.
    """
    draw = random.Random(f"{seed}/{debate}").randrange(2)
    place = int(rater.rpartition(" ")[2]) if rater.rpartition(" ")[2].isdigit() else 0
    return SIDES[(draw + place) % 2]


def check_number(panel: Session, rater: str) -> int:
    """The number of the attention check: of two digits, so that it is no rating that might be given
    anyway by habit.
    """
    return 11 + panel.seed_for(panel.id, rater, "check") % 79


def check_panel(panel: Session) -> None:
    """Refuse a panel whose wording lacks what raters read; WrongInput."""
    check_texts(panel.wording)


def check_texts(wording: Wording) -> None:
    """Refuse a wording that lacks what raters read; WrongInput."""
    named = {RATER_YOU} & set(wording.texts)
    refuse_unfilled(wording, (*RATER_TEXTS, *named), {"reask": ("fault",)})


async def rate(
    run: Run,
    panel: Session,
    rater: Participant,
    voices: Mapping[str, LanguageModel],
    first: Side | None = None,
) -> Rating:
    """One rater's judgment of a complete debate; what could not be read or was refused is missing
    with its reason.

    `panel` is a session of the debate's id and motion whose participants are the raters; `first`
    the side shown as Speaker A (by default that of `first_shown`). Raises Interrupted when the
    model cannot be asked, WrongInput for a debate that broke off.
    """
    if not debated(run):
        raise WrongInput(f"{run.session.id} is no debate of six speeches, and cannot be rated")
    voice = voices[rater.model]
    first = first or first_shown(run.session.id, rater.id, panel.seed)
    before, asked_before = await ask(panel, voice, stance_prompt(panel, rater))
    check = check_number(panel, rater.id)
    ballot, asked = await ask(
        panel, voice, ballot_prompt(panel, rater, blinded(run, first), before, check)
    )
    missing = {} if before is not None else {"before": _reason(asked_before)}
    if ballot is None:
        gaps = [
            "winner",
            "after",
            "attentive",
            *(f"{side}.{name}" for side in SIDES for name in DIMENSIONS),
        ]
        return Rating(
            run.session.id,
            rater.id,
            first,
            before,
            missing=missing | dict.fromkeys(gaps, _reason(asked)),
            source="model",
            model=rater.model,
            debate_sha256=digest(run),
        )
    letters = dict(zip("AB", SIDES if first == SIDES[0] else SIDES[::-1], strict=True))
    points = {
        side: {name: ballot[f"{letter}{i}"] for i, name in enumerate(DIMENSIONS, 1)}
        for letter, side in letters.items()
    }
    return Rating(
        session=run.session.id, rater=rater.id, first=first, before=before, proposition=points["proposition"],
        opposition=points["opposition"], winner=letters[ballot["WINNER"]], after=ballot["S1"], attentive=ballot["C1"] == check,
        missing=missing, source="model", model=rater.model, debate_sha256=digest(run),
    )  # fmt: skip


def _reason(completion: Completion) -> str:
    return f"{completion.status}: {completion.detail}".rstrip(": ")
