"""What judging will take, from its texts, before anything is asked."""

from delibsim.conduct.judging.ask import longest_prompt_of
from delibsim.conduct.judging.plan import JudgingPlan
from delibsim.planning.estimate import Estimate, estimate_loads
from delibsim.planning.load import MESSAGE, Load
from delibsim.planning.tokens import Range, tokens_of
from delibsim.prompts.blocks import quoted
from delibsim.prompts.forms.verdict import VerdictForm


def estimate_judging(planned: JudgingPlan) -> Estimate:
    """What the judgments of a plan will take that are still to be asked for; nobody is asked.

    Every text is counted once. Setting, question and summaries count as cacheable from the second
    sitting of the same summaries on.
    """
    done = {one.key for one in planned.judgments.all()}
    material = planned.material
    opinions = {id: tokens_of(quoted(text)) for id, text in material.opinions.items()}
    summaries = {id: tokens_of(quoted(text)) for id, text in material.summaries.items()}
    summaries[""] = Range()
    frame = _frame(planned)
    reply = tokens_of(VerdictForm().example(""))
    loads, held = {}, 0
    for judge in planned.models:
        calls, whole, prefix = 0, Range(), Range()
        seen: set[tuple[str, str]] = set()
        for sitting in planned.sittings:
            if (judge, sitting.id) in done:
                held += 1
                continue
            shown = frame + summaries[sitting.summary] + summaries[sitting.other]
            calls += 1
            whole += shown + opinions[sitting.opinion]
            pair = (sitting.summary, sitting.other)
            prefix += shown if pair in seen else Range()
            seen.add(pair)
        loads[judge] = Load(calls, calls, whole, prefix, reply.times(calls), min(calls, 1))
    limits = planned.plan.limits
    return estimate_loads(loads, planned.models, limits, planned.plan.addresses, held=held)


def _frame(planned: JudgingPlan) -> Range:
    """Tokens of a prompt without opinion and summaries."""
    prompt = longest_prompt_of(planned)
    texts = [*planned.material.opinions.values(), *planned.material.summaries.values()]
    rest = prompt.text
    for text in sorted(texts, key=len, reverse=True):
        if text:
            rest = rest.replace(quoted(text), "", 1)
    return tokens_of(rest) + Range(0, 3 * MESSAGE)
