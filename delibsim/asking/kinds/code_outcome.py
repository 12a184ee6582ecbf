"""What came of asking coders, as plain values and in sentences."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from delibsim.asking.kinds.code import CODES
from delibsim.asking.nouns import Outcome, Plan
from delibsim.asking.road import kept_answers
from delibsim.domain.cost import OUTCOMES
from delibsim.domain.reason import in_words
from delibsim.domain.text import counted
from delibsim.models.clients.prices import price_in
from delibsim.models.replay import exchanges_in


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


def coding_plain(planned: Plan, outcome: Outcome) -> dict[str, Any]:
    """What came of a command, as plain values."""
    return {
        "study": planned.runs.study,
        "scheme": planned.about.scheme.id,
        "dimensions": [dimension.id for dimension in planned.about.dimensions],
        "coders": list(planned.models),
        "wordings": list(planned.about.wordings),
        "texts": len(planned.about.chosen),
        "samples_a_text": planned.settings.samples,
        **outcome.plain(),
        "not_coded": [
            {"text": one.text, "dimension": one.dimension, "reason": str(one.reason)}
            for one in planned.about.uncoded
            if one.text in planned.about.chosen
        ],
        "faults": [*outcome.faults, *planned.faults],
        "steps": planned.answers.steps(),
    }


def coding_told(planned: Plan, outcome: Outcome) -> list[str]:
    """How many samples there are, which have no level and why, and which texts are not coded."""
    texts, coders = (
        counted(len(planned.about.chosen), "text"),
        counted(len(planned.models), "coder"),
    )
    dimensions = counted(len(planned.about.dimensions), "dimension")
    count = f"{counted(outcome.new, 'sample')} now, {outcome.before} before"
    calls = counted(outcome.asked, "call")
    lines = [f"{texts}, {dimensions}, {coders}: {count} ({calls})"]
    for code, n in outcome.missing.items():
        lines.append(f"No level   {counted(n, 'sample')}: {in_words(code)}")
    return [*lines, *uncoded_told(planned)]


def uncoded_told(planned: Plan) -> list[str]:
    """How many texts are not put before coders on each dimension, by reason."""
    counts: dict[str, Counter[str]] = {}
    for one in planned.about.uncoded:
        if one.text in planned.about.chosen:
            counts.setdefault(one.reason.code, Counter())[one.dimension] += 1
    lines = []
    for code, by_dimension in counts.items():
        each = ", ".join(f"{n} on {dimension}" for dimension, n in by_dimension.items())
        lines.append(f"Not coded  {each}: {in_words(code)}")
    return lines


def measured(planned: Plan) -> list[Measured]:
    """What the calls that are on record used, by coder, and what all calls to come will take if
    they use as much; `planned` is the coding of all texts.
    """
    done = kept_answers(planned)
    files = planned.answers.files
    exchanges, _ = exchanges_in(files.read(files.exchanges)[0])
    found = []
    for coder, settings in planned.models.items():
        used = []
        for exchange in exchanges:
            own = exchange.model == coder and not exchange.purpose.occasion.startswith("steps for ")
            if own and exchange.completion.status in OUTCOMES:
                used.append(exchange.completion.usage)
        to_come = sum(key not in done for key in CODES.keys(planned, coder))
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
