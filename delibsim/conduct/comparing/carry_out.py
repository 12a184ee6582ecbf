"""Having a comparison judged, whether its pairs are known beforehand or chosen on the way."""

from collections.abc import Mapping

from delibsim.conduct.asking.ask import Outcome
from delibsim.conduct.comparing.adaptive import ask_adaptively
from delibsim.conduct.comparing.ask import ask_comparison
from delibsim.conduct.comparing.plan import ComparisonPlan
from delibsim.conduct.comparing.texts import keep_gathered
from delibsim.conduct.preflight import Notify
from delibsim.models.base import LanguageModel


async def carry_out(
    planned: ComparisonPlan,
    notify: Notify = lambda line: None,
    models: Mapping[str, LanguageModel] | None = None,
) -> Outcome:
    """Have the votes of a plan given that there are not yet; see `ask_comparison`. The texts of
    several studies are kept first.
    """
    if planned.sources:
        name, unit = planned.settings.name, planned.settings.unit
        keep_gathered(planned.runs, planned.texts, planned.sources, name, unit)
    way = ask_adaptively if planned.chains else ask_comparison
    return await way(planned, notify, models)
