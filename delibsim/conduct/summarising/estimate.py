"""What summaries will take, from their prompts, before anything is asked."""

from delibsim.annotation.summaries import SummaryTask
from delibsim.annotation.summary_parts import prompts_of
from delibsim.conduct.summarising.plan import LONG, SHORT, SummaryPlan
from delibsim.domain.summary import Slot
from delibsim.planning.estimate import Estimate, estimate_loads
from delibsim.planning.load import Load, tokens_of_prompt
from delibsim.planning.tokens import Range, tokens_of


def estimate_summaries(planned: SummaryPlan) -> Estimate:
    """What the summaries of a plan will take that are still to be asked for; nobody is asked.

    The extractive summarisers cost nothing and are left out.
    """
    done = {one.key for one in planned.summaries.all()}
    words = "tram " * SHORT, "tram " * LONG
    reply = Range(tokens_of(words[0]).low, tokens_of(words[1]).high)
    asking, loads, held = planned.asking, {}, 0
    loads_of: dict[object, Load] = {}
    for model in planned.models:
        found = Load()
        for slot in planned.of(model):
            if slot in done:
                held += 1
                continue
            place = (slot.size, slot.draw, slot.group, asking.chunks.get(model))
            if place not in loads_of:  # the order of opinions changes next to nothing
                loads_of[place] = _load(asking, slot, reply)
            found += loads_of[place]
        loads[model] = found
    limits = planned.plan.limits
    return estimate_loads(loads, planned.models, limits, planned.plan.addresses, held=held)


def ratings_of(planned: SummaryPlan) -> int:
    """How many ratings one judge gives all planned summaries, each beside every opinion that it is
    written from.
    """
    counted: dict[object, int] = {}
    found = 0
    for slot in planned.slots:
        place = (slot.size, slot.draw, slot.group)
        if place not in counted:
            counted[place] = len(planned.material.shown(slot))
        found += counted[place]
    return found


def _load(asking: SummaryTask, slot: Slot, reply: Range) -> Load:
    """What one summary takes: a call, or one for each part and one for their summaries."""
    short, long = prompts_of(asking, slot, SHORT), prompts_of(asking, slot, LONG)
    found = Load()
    for low, high in zip(short, long, strict=True):
        tokens = Range(tokens_of_prompt(low).low, tokens_of_prompt(high).high)
        found += Load(0, 1, tokens, Range(), reply, 0)
    return found + Load(1, 0, Range(), Range(), Range(), min(len(long), 2))
