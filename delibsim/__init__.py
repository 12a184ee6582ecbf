"""delibsim: deliberations and debates among language-model agents, measured with the field's own
instruments.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from delibsim.analysis.agreement.agreement import agreement
    from delibsim.asking.kinds.code_texts import code
    from delibsim.conduct.analysed import study_table
    from delibsim.conduct.ask import ask
    from delibsim.conduct.studied import Study, study
    from delibsim.conduct.study import hold_plan
    from delibsim.domain.annotation import Text
    from delibsim.domain.errors import WrongInput
    from delibsim.domain.measure import Measure
    from delibsim.domain.participant import Participant
    from delibsim.domain.reason import Reason
    from delibsim.domain.run import Run, Session
    from delibsim.domain.scheme import Scheme
    from delibsim.domain.score import Score, Scorer
    from delibsim.domain.seed import seed_of
    from delibsim.domain.study import Group, cross
    from delibsim.domain.survey import Item, Motion, Response, Survey, Topic
    from delibsim.domain.transcript import Silence, Statement, Transcript, Turn
    from delibsim.domain.treatment import Network, Procedure, Treatment, Wording
    from delibsim.engine.hold import hold
    from delibsim.models.ask import wait
    from delibsim.models.base import Completion, LanguageModel, Usage
    from delibsim.models.citizen.citizen import Citizen
    from delibsim.models.pool import ModelPool, models_for
    from delibsim.planning.compose import compose, plan
    from delibsim.prompts.prompt import Message, Prompt
    from delibsim.scorers.agreement import Agreement
    from delibsim.scorers.diversity import Diversity
    from delibsim.scorers.dri import DRI
    from delibsim.store.instruments.library import Library
    from delibsim.store.runs import Runs

# Names are imported when first used: `import delibsim` must not load mesa, numpy or pydantic for
# `delibsim --help`.
_HOMES = {
    "delibsim.analysis.agreement.agreement": ("agreement",),
    "delibsim.conduct.analysed": ("study_table",),
    "delibsim.conduct.ask": ("ask",),
    "delibsim.conduct.studied": ("Study", "study"),
    "delibsim.conduct.study": ("hold_plan",),
    "delibsim.asking.kinds.code_texts": ("code",),
    "delibsim.planning.compose": ("compose", "plan"),
    "delibsim.models.pool": ("ModelPool", "models_for"),
    "delibsim.domain.annotation": ("Text",),
    "delibsim.domain.errors": ("WrongInput",),
    "delibsim.domain.measure": ("Measure",),
    "delibsim.domain.participant": ("Participant",),
    "delibsim.domain.reason": ("Reason",),
    "delibsim.domain.run": ("Run", "Session"),
    "delibsim.domain.scheme": ("Scheme",),
    "delibsim.domain.score": ("Score", "Scorer"),
    "delibsim.domain.seed": ("seed_of",),
    "delibsim.domain.study": ("Group", "cross"),
    "delibsim.domain.survey": ("Item", "Motion", "Response", "Survey", "Topic"),
    "delibsim.domain.transcript": ("Silence", "Statement", "Transcript", "Turn"),
    "delibsim.domain.treatment": ("Network", "Procedure", "Treatment", "Wording"),
    "delibsim.engine.hold": ("hold",),
    "delibsim.models.ask": ("wait",),
    "delibsim.models.base": ("Completion", "LanguageModel", "Usage"),
    "delibsim.models.citizen.citizen": ("Citizen",),
    "delibsim.prompts.prompt": ("Message", "Prompt"),
    "delibsim.scorers.agreement": ("Agreement",),
    "delibsim.scorers.diversity": ("Diversity",),
    "delibsim.scorers.dri": ("DRI",),
    "delibsim.store.instruments.library": ("Library",),
    "delibsim.store.runs": ("Runs",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "DRI",
    "Agreement",
    "Citizen",
    "Completion",
    "Diversity",
    "Group",
    "Item",
    "LanguageModel",
    "Library",
    "Measure",
    "Message",
    "ModelPool",
    "Motion",
    "Network",
    "Participant",
    "Procedure",
    "Prompt",
    "Reason",
    "Response",
    "Run",
    "Runs",
    "Scheme",
    "Score",
    "Scorer",
    "Session",
    "Silence",
    "Statement",
    "Study",
    "Survey",
    "Text",
    "Topic",
    "Transcript",
    "Treatment",
    "Turn",
    "Usage",
    "Wording",
    "WrongInput",
    "agreement",
    "ask",
    "code",
    "compose",
    "cross",
    "hold",
    "hold_plan",
    "models_for",
    "plan",
    "seed_of",
    "study",
    "study_table",
    "wait",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'delibsim' has no attribute '{name}'")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return __all__
