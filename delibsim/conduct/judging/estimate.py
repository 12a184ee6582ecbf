"""What judging will take, from its texts, before anything is asked."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from delibsim.conduct.judging.ask import longest_prompt_of
from delibsim.conduct.judging.plan import JudgingPlan
from delibsim.domain.judgment import Sitting
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
    begun = {judge for judge, _ in done}
    tokens = _tokens_of(planned)
    loads, held = {}, 0
    whole = _load(planned.sittings, tokens)
    for judge in planned.models:
        loads[judge] = whole
        if judge in begun:
            waiting = [one for one in planned.sittings if (judge, one.id) not in done]
            held += len(planned.sittings) - len(waiting)
            loads[judge] = _load(waiting, tokens)
    limits = planned.plan.limits
    return estimate_loads(loads, planned.models, limits, planned.plan.addresses, held=held)


@dataclass(frozen=True)
class _Tokens:
    """Tokens of what prompts are made of: what all have, opinions and summaries by id, a reply."""

    frame: Range
    opinions: Mapping[str, Range]
    summaries: Mapping[str, Range]
    reply: Range


def _tokens_of(planned: JudgingPlan) -> _Tokens:
    material = planned.material
    opinions = {id: tokens_of(quoted(text)) for id, text in material.opinions.items()}
    summaries = {id: tokens_of(quoted(text)) for id, text in material.summaries.items()}
    reply = tokens_of(VerdictForm().example(""))
    return _Tokens(_frame(planned), opinions, {**summaries, "": Range()}, reply)


def _load(sittings: Sequence[Sitting], tokens: _Tokens) -> Load:
    """What one judge takes: sittings are counted by summaries and by opinion, and no prompt is
    made, since there may be hundreds of thousands.
    """
    n = len(sittings)
    whole, prefix = Range(), Range()
    for (summary, other), times in Counter((one.summary, one.other) for one in sittings).items():
        shown = tokens.frame + tokens.summaries[summary] + tokens.summaries[other]
        whole += shown.times(times)
        prefix += shown.times(times - 1)
    for opinion, times in Counter(one.opinion for one in sittings).items():
        whole += tokens.opinions[opinion].times(times)
    return Load(n, n, whole, prefix, tokens.reply.times(n), min(n, 1))


def _frame(planned: JudgingPlan) -> Range:
    """Tokens of a prompt without opinion and summaries."""
    prompt = longest_prompt_of(planned)
    texts = [*planned.material.opinions.values(), *planned.material.summaries.values()]
    rest = prompt.text
    for text in sorted(texts, key=len, reverse=True):
        if text:
            rest = rest.replace(quoted(text), "", 1)
    return tokens_of(rest) + Range(0, 3 * MESSAGE)
