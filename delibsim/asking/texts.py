"""The texts of a study and the sentences around them, as they are put before coders, and which
coders may favour their own hand.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from delibsim.asking.blinding import blinded_text
from delibsim.asking.units import texts_of
from delibsim.domain.annotation import Text
from delibsim.domain.errors import WrongInput
from delibsim.domain.model_family import family_of
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
            " texts with delibsim import STUDY FILE --as texts"
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


def wording_kept(plain: Mapping[str, Any]) -> Wording:
    """A wording as a task keeps it."""
    return Wording(str(plain["id"]), dict(plain["texts"]))


def wording_plain(wording: Wording) -> dict[str, Any]:
    """A wording as plain values."""
    return {"id": wording.id, "texts": dict(wording.texts)}


def speaking_in(studies: Iterable[Runs]) -> dict[str, Mapping[str, Any]]:
    """The settings of the models that spoke in some studies, by name."""
    found: dict[str, Mapping[str, Any]] = {}
    for runs in studies:
        for session in runs.plans_by_name().values():
            found |= session.models
    return found


def kin_among(
    judging: Mapping[str, Mapping[str, Any]],
    speaking: Mapping[str, Mapping[str, Any]],
    called: tuple[str, str],
) -> list[str]:
    """A warning for each family of models, by name with their settings, that judge the words of
    others of it; `called` is what the two are.
    """
    families = {name: family_of(name, settings) for name, settings in speaking.items()}
    kindred: dict[str, list[str]] = {}
    for judge, settings in judging.items():
        kindred.setdefault(family_of(judge, settings), []).append(judge)
    warnings = []
    for family, judges in kindred.items():
        alike = ", ".join(sorted(name for name, other in families.items() if other == family))
        if alike:
            plural = "s" if len(judges) > 1 else ""
            named = f"{called[0]}{plural} {', '.join(judges)}"
            warnings.append(
                f"{named} and {called[1]} {alike} are of one family ({family}): a model may favour"
                " its own hand"
            )
    return warnings
