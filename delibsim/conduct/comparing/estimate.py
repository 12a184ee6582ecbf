"""What a comparison will take, from its prompts, before anything is asked."""

from delibsim.annotation.adaptive import further_sheets
from delibsim.conduct.comparing.ask import tasks_of
from delibsim.conduct.comparing.plan import ComparisonPlan, Key, of_sheets
from delibsim.domain.quality import QualityDimension
from delibsim.domain.treatment import Wording
from delibsim.planning.estimate import Estimate, estimate_loads
from delibsim.planning.load import MESSAGE, Load
from delibsim.planning.tokens import Range, tokens_of
from delibsim.prompts.blocks import quoted
from delibsim.prompts.compare import Manner, compare_prompt
from delibsim.prompts.prompt import Purpose

REASON = (15, 60)
"""Words of a reason in one short sentence, and in two long ones."""


def estimate_comparison(planned: ComparisonPlan) -> Estimate:
    """What the votes of a plan will take that are still to be asked for; nobody is asked.

    The part of a prompt that is alike for all sheets counts as cacheable from its second use on,
    and all of a prompt from the second run of its sheet on. Every text is counted once. Of an
    adaptive comparison it is what its votes take at most: sheets that are not chosen yet count as
    drawn among all.
    """
    planned = filled(planned)
    done = {vote.key for vote in planned.comparisons.votes()}
    texts = _tokens_of_texts(planned)
    loads, held = {}, 0
    for judge in planned.models:
        own = set(planned.keys_of(judge))
        held += len(own & done)
        loads[judge] = _load(planned, judge, own - done, texts)
    limits = planned.plan.limits
    return estimate_loads(loads, planned.models, limits, planned.plan.addresses, held=held)


def filled(planned: ComparisonPlan) -> ComparisonPlan:
    """A plan with as many sheets as there can be; as it is where none are chosen on the way."""
    if not planned.chains:
        return planned
    found = {}
    for chain in planned.chains:
        own = planned.sheets_on(chain.dimension)
        found[chain.dimension] = (*own, *further_sheets(chain, {sheet.pair for sheet in own}))
    return of_sheets(planned, found)


def _tokens_of_texts(planned: ComparisonPlan) -> dict[str, Range]:
    """Tokens of every text that is shown, quoted."""
    used = {id for sheet in planned.sheets for id in (sheet.a, sheet.b)}
    shown = planned.material.shown
    return {id: tokens_of(quoted(shown[id].text)) for id in sorted(used)}


def _load(planned: ComparisonPlan, judge: str, waiting: set[Key], texts: dict[str, Range]) -> Load:
    """What one judge is asked."""
    found = Load()
    reply = reply_of(planned.manner)
    for tasks in tasks_of(planned, judge):
        first = True
        topic = planned.material.topics.get(planned.sheets[0].group, "")
        alike, frame = around(tasks[0].dimension, planned.manner, planned.wording, topic)
        for sheet in planned.sheets_on(tasks[0].dimension.id):
            place = sheet.a, sheet.b, tasks[0].dimension.id, judge
            n = sum((*place, task.run) in waiting for task in tasks)
            if not n:
                continue
            whole = alike + frame + texts[sheet.a] + texts[sheet.b]
            prefix = whole.times(n - 1) + (Range() if first else alike)
            found += Load(0, n, whole.times(n), prefix, reply.times(n), 1)
            first = False
    return Load(len(waiting), found.calls, found.input, found.prefix, found.output, found.longest)


def around(
    dimension: QualityDimension, manner: Manner, wording: Wording, topic: str = ""
) -> tuple[Range, Range]:
    """Tokens of the system message, and of the user message without its two texts."""
    purpose = Purpose("judge", "estimate")
    system, user = compare_prompt(dimension, manner, wording, ("", ""), topic, purpose).messages
    return tokens_of(system.content), tokens_of(user.content) + Range(0, 3 * MESSAGE)


def reply_of(manner: Manner) -> Range:
    """Tokens of a reply."""
    short, long = (tokens_of(manner.form.example("", words)) for words in REASON)
    return Range(short.low, long.high)
