"""Settings that another setting would overwrite, or that nothing would read: refused, with what to
set instead.
"""

from collections.abc import Sequence
from typing import Any

from delibsim.domain.errors import WrongInput
from delibsim.planning.overrides import Job

ELSEWHERE = {
    "model.temperature": "it would be overwritten by that of the session: set temperature=X",
    "model.seed": "seeds are drawn from that of the study: set seed=N",
    "model.population": "it is drawn from the seed of the study: set seed=N",
}
"""Settings of models that the session has, and what to set."""
IN_TWO_PLACES = (("base_url", "model.base_url"), ("rounds", "treatment.rounds"))
"""Two settings of one thing, the first of which would overwrite the second."""
OF_DEBATES = ("motion", "proposition", "opposition", "audience", "tournament")
"""Settings that a deliberation does not read."""
OF_ONE_MODEL = ("model.name", "model.model", "model.kind")
"""Settings that make a model the one it is."""
DRAWN = ("motion", "proposition", "opposition")
"""Settings that a tournament sets for each of its debates."""


def refuse_overwritten(job: Job) -> None:
    """WrongInput for a setting of a job that would have no effect."""
    for key, advice in ELSEWHERE.items():
        if key in job.values:
            raise WrongInput(f"'{key}' would have no effect: {advice}")
    for stronger, weaker in IN_TWO_PLACES:
        if job.values.get(stronger) is not None and weaker in job.values:
            raise WrongInput(
                f"'{weaker}' would be overwritten by {stronger}; leave one of the two out"
            )
    if not job.is_debate:
        _refuse_debating(job)
    elif job.values.get("tournament.design") is None:
        _refuse(job, "tournament", "on a single debate: a tournament has a tournament.design")
    else:
        for key in DRAWN:
            advice = "on a tournament, which draws its debates: tournament.debaters and .motions"
            _refuse(job, key, advice)


def refuse_one_for_several(job: Job, names: Sequence[str]) -> None:
    """WrongInput where a setting would make several models of a session into one."""
    if len(set(names)) < 2:
        return
    for key in OF_ONE_MODEL:
        if key in job.values:
            listed = ", ".join(dict.fromkeys(names))
            raise WrongInput(
                f"'{key}' would hold for each of the models {listed}, which would then be the same;"
                " give each a file of its own in conf/model/"
            )


def _refuse_debating(job: Job) -> None:
    for key in OF_DEBATES:
        _refuse(job, key, "on a deliberation; for a debate, set format=debate")


def _refuse(job: Job, group: str, advice: str) -> None:
    """WrongInput where a job sets a setting or one of a group to something."""
    for key, value in job.values.items():
        if key.partition(".")[0] == group and _is_set(value):
            raise WrongInput(f"'{key}' has no effect {advice}")


def _is_set(value: Any) -> bool:
    """Whether a value is none of those that ask for nothing."""
    return value not in (None, 0, [])
