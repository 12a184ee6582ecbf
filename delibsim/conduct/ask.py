"""Having a plan of asking carried out: the models behind limits and budget, and the preflight."""

from collections.abc import Mapping
from dataclasses import replace

from delibsim.asking import road
from delibsim.asking.kinds.pair_texts import keep_gathered
from delibsim.asking.nouns import Outcome, Plan
from delibsim.asking.record import spent_on
from delibsim.conduct.cost import budget_of, spent
from delibsim.conduct.study import Notify, proven_pool
from delibsim.models.ask import settled_in
from delibsim.models.base import LanguageModel
from delibsim.models.limits import Limits
from delibsim.models.pool import ModelPool, PlannedCalls


async def ask(
    plan: Plan,
    notify: Notify = lambda line: None,
    models: Mapping[str, LanguageModel] | None = None,
) -> Outcome:
    """Have the answers of a plan given that there are not yet; WrongInput, before anything is asked
    or paid, where that cannot be done.

    `notify` is called with every issue of the preflight and with lines of progress. `models` are
    asked in place of those that the settings describe. What was recorded is not asked again.
    """
    if getattr(plan.about, "sources", ()):
        name, unit = plan.settings.name, plan.settings.unit
        keep_gathered(plan.runs, plan.about.texts, plan.about.sources, name, unit)

    plan = road.settled(plan, settled_in(plan.task.get("models", {}).values()))

    async def opened() -> ModelPool:
        limits = _within(plan)
        budget = budget_of(limits, plan.runs)
        if models is not None:
            return ModelPool(limits, budget, models=models)
        calls = PlannedCalls(plan.kind.called, plan.models, plan.kind.longest(plan))
        return await proven_pool([calls], limits, plan.addresses, budget, notify)

    return await road.ask(plan, opened, notify)


def _within(plan: Plan) -> Limits:
    """The limits of a command, with a budget that holds what the task may cost in all."""
    if plan.most_usd is None:
        return plan.limits
    left = plan.most_usd - spent_on(plan.answers.files)
    own = spent(plan.runs)[0] + max(left, 0.0)
    usd = plan.limits.budget_usd
    return replace(plan.limits, budget_usd=own if usd is None else min(usd, own))
