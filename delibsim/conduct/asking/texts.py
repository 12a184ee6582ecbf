"""The texts of a study and the sentences around them, as they are put before coders."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from delibsim.annotation.blinding import blinded_text
from delibsim.conduct.units import texts_of
from delibsim.domain.annotation import Text
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import study_named
from delibsim.domain.treatment import Wording
from delibsim.planning.compose import plan
from delibsim.store.files import json_text
from delibsim.store.runs import Runs
from delibsim.store.study_texts import StudyTexts

IMPORTED = "text"
"""The unit of a study whose texts were imported."""


def unit_in(runs: Runs, by: str) -> str:
    """The unit of the texts of a study: `by` in a study of sessions, else imported texts."""
    return IMPORTED if StudyTexts(runs).held() else by


def study_texts(
    runs: Runs, by: str, context: int, faults: list[str], verb: str = "code"
) -> list[Text]:
    """The texts of a study in the unit that is asked for; WrongInput where there are none.

    `verb` says what they are wanted for.
    """
    imported = StudyTexts(runs).held()
    unit = IMPORTED if imported and by == "statement" else by
    texts = texts_of(runs, unit, context, faults)
    if not texts:
        raise WrongInput(
            f"{study_named(runs.study)} has no texts to {verb}: hold its sessions first, or import"
            " texts with delibsim texts import"
        )
    return texts


def shown_texts(runs: Runs, texts: Sequence[Text]) -> dict[str, Text]:
    """The texts by id as coders see them: those of sessions are blinded."""
    sessions = runs.plans_by_name()
    shown = {}
    for text in texts:
        session = sessions.get(text.facts.get("session", text.group))
        shown[text.id] = text if session is None else blinded_text(text, session)
    return shown


def checked_wording(name: str, check: Callable[[Wording], None]) -> Wording:
    """The wording of this name; WrongInput if there is none, or if `check` finds that a text is
    missing.
    """
    wording = plan([f"wording={name}"]).session.wording
    check(wording)
    return wording


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as they are read back from JSON."""
    return json.loads(json_text(values))
