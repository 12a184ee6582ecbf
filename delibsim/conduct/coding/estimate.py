"""What a coding will take: from its prompts before anything is asked, and from a sample of texts
that was coded.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from delibsim.annotation.coding.tasks import StepsTask, unit_of
from delibsim.conduct.coding.ask import Key, sample_tasks
from delibsim.conduct.coding.plan import CodingPlan
from delibsim.domain.annotation import Text
from delibsim.domain.cost import OUTCOMES
from delibsim.domain.scheme import Dimension
from delibsim.domain.treatment import Wording
from delibsim.models.clients.prices import price_in
from delibsim.models.replay import exchanges_in
from delibsim.planning.estimate import Estimate, estimate_loads
from delibsim.planning.load import MESSAGE, Load, tokens_of_prompt
from delibsim.planning.tokens import Range, tokens_of
from delibsim.prompts.coding import code_form
from delibsim.prompts.forms.steps import StepsForm

RATIONALE = (25, 110)
"""Words of two short sentences and of four long ones: what a rationale may have."""


@dataclass(frozen=True)
class Measured:
    """What the calls of one coder used on average, and what those to come will take by that.

    None where the provider did not say.
    """

    coder: str
    calls: int
    to_come: int
    input_tokens: float | None
    cached_tokens: float | None
    output_tokens: float | None
    usd: float | None
    usd_to_come: float | None


def estimate_coding(planned: CodingPlan) -> Estimate:
    """What the samples of a plan will take that are still to be asked for; nobody is asked.

    The part of a prompt that is alike for all texts counts as cacheable from its second use on,
    and so does all of a prompt from the second sample of its text on.
    """
    done = {sample.key for sample in planned.codings.samples()}
    begun = {(line["dimension"], line["model"]) for line in planned.codings.steps()}
    prompts = _Prompts(planned)
    loads = {}
    held = 0
    for coder in planned.models:
        own = set(planned.keys_of(coder))
        held += len(own & done)
        loads[coder] = _load(planned, coder, own - done, begun, prompts)
    models, limits = planned.models, planned.plan.limits
    return estimate_loads(loads, models, limits, planned.plan.addresses, held=held)


class _Prompts:
    """Tokens of the prompts of a coding, each counted once for all coders."""

    def __init__(self, planned: CodingPlan) -> None:
        self._planned = planned
        self._steps = tuple(StepsForm().read(StepsForm().example("")))
        self._known: dict[str, tuple[Range, Range]] = {}
        self._settings: dict[str, Range] = {}

    def of(self, dimension: Dimension, wording: Wording, text: Text) -> tuple[Range, Range]:
        """Tokens of the part that is alike for all texts, and of the whole prompt."""
        key = f"{dimension.id} {wording.id} {text.id}"
        if key not in self._known:
            steps = dimension.steps or self._steps
            task = sample_tasks(self._planned, dimension, wording, "", steps)[0]
            system, user = task.prompt(text).messages
            alike = self._alike(system.content)
            frames = Range(0, 3 * MESSAGE)
            self._known[key] = alike, alike + tokens_of(user.content) + frames
        return self._known[key]

    def _alike(self, setting: str) -> Range:
        if setting not in self._settings:
            self._settings[setting] = tokens_of(setting)
        return self._settings[setting]


def _load(
    planned: CodingPlan,
    coder: str,
    waiting: set[Key],
    begun: set[tuple[str, str]],
    prompts: _Prompts,
) -> Load:
    """What one coder is asked."""
    found = Load()
    for dimension in planned.dimensions:
        form = code_form(dimension)
        short, long = (tokens_of(form.example("", words)) for words in RATIONALE)
        reply = Range(short.low, long.high)
        for wording in planned.wordings.values():
            first = True
            for text in planned.coded(dimension):
                n = _asked(planned, (text.id, dimension.id, coder, wording.id), waiting)
                if not n:
                    continue
                alike, whole = prompts.of(dimension, wording, text)
                prefix = whole.times(n - 1) + (Range() if first else alike)
                found += Load(0, n, whole.times(n), prefix, reply.times(n), 2)
                first = False
            if not (first or dimension.steps or (dimension.id, coder) in begun):
                found += _steps_load(planned, dimension, wording, coder)
    samples = len(waiting)
    return Load(samples, found.calls, found.input, found.prefix, found.output, found.longest)


def _asked(planned: CodingPlan, place: tuple[str, str, str, str], waiting: set[Key]) -> int:
    """How many samples of a text are asked for: with same=once those of its equals are not."""
    text, *rest = place
    n = 0
    for index in range(1, planned.settings.samples + 1):
        alike = [(id, *rest, index) for id in planned.alike(text)]
        n += any(key in waiting for key in alike)
    return n


def _steps_load(planned: CodingPlan, dimension: Dimension, wording: Wording, coder: str) -> Load:
    """The call for the steps of a coder."""
    task = StepsTask(planned.material, planned.scheme, dimension, wording, coder, 0)
    prompt = task.prompt(unit_of(dimension))
    return Load(0, 1, tokens_of_prompt(prompt), Range(), tokens_of(prompt.reply.example("")), 1)


def measured(planned: CodingPlan) -> list[Measured]:
    """What the calls that are on record used, by coder, and what all calls to come will take if
    they use as much; `planned` is the coding of all texts.
    """
    done = {sample.key for sample in planned.codings.samples()}
    files = planned.codings.files
    exchanges, _ = exchanges_in(files.read(files.exchanges)[0])
    found = []
    for coder, settings in planned.models.items():
        used = []
        for exchange in exchanges:
            own = exchange.model == coder and not exchange.purpose.occasion.startswith("steps for ")
            if own and exchange.completion.status in OUTCOMES:
                used.append(exchange.completion.usage)
        to_come = len(set(planned.keys_of(coder)) - done)
        usd = _mean([use.cost_usd for use in used])
        if price_in(settings).source == "free":
            usd = 0.0
        found.append(
            Measured(
                coder=coder,
                calls=len(used),
                to_come=to_come,
                input_tokens=_mean([use.input_tokens for use in used]),
                cached_tokens=_mean([use.cached_tokens for use in used]),
                output_tokens=_mean([use.output_tokens for use in used]),
                usd=usd,
                usd_to_come=None if usd is None else usd * to_come,
            )
        )
    return found


def _mean(values: Iterable[float | None]) -> float | None:
    """The mean of the numbers that are known; None where none is."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
