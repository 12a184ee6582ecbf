"""The power of a design: what is asked of a pilot and settings, and the answer in tables and
sentences.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from delibsim.analysis.study.factors import levels_named
from delibsim.analysis.study.power import (
    Assumed,
    Found,
    PowerAnswer,
    PowerQuestion,
    answer,
    of_pilot,
    published,
)
from delibsim.analysis.study.sample import families_in, main_population, treatments_of
from delibsim.analysis.study.study_table import StudyTable
from delibsim.analysis.study.table_of_study import table_of_study
from delibsim.analysis.table import DisplayTable, numbers, texts
from delibsim.conduct.analysed import place_of, table_of
from delibsim.domain.condition import settings_of
from delibsim.domain.data import filled
from delibsim.domain.errors import WrongInput, refused, unknown
from delibsim.domain.run import Session
from delibsim.domain.text import brief, counted, safe
from delibsim.measures.corrected import best_split, mixed_error
from delibsim.measures.inference.power import TESTS, SampleSize
from delibsim.models.ask import wait
from delibsim.planning.compose import StudyPlan, plan
from delibsim.planning.estimate import DesignPrice, design_price, estimate
from delibsim.store.runs import Runs
from delibsim.store.tables.session_facts import facts_of_plan

MEMBERS = ("topic", "residual")
SIZES = ("topics", "models", "replicates")
PUBLISHED_OUTCOME = "dri"
NAMED = ("study=", "experiment=")
"""Settings that name a study."""
DEFAULT = ("normative", "none")
NAMES = {
    "topics": "over topics like these (t over topics)",
    "draws": "on these topics (signs flipped by draw)",
}
ROUGH = 10
"""Draws below which the power of flips is too high by up to .03."""
SMALLEST, LARGEST = 1e-6, 1e6
"""The range of effects, spreads and sizes for which power can be computed."""


@dataclass(frozen=True)
class PowerOptions:
    """What the options say; `contrast`, `sd` and `size` as they were typed."""

    effect: float
    power: float
    alpha: float
    contrast: str
    sd: Sequence[str]
    size: Sequence[str]
    correlation: float | None = None


def answered(
    pilot: str, settings: Sequence[str], asked: PowerOptions, root: Path
) -> tuple[PowerAnswer, DesignPrice | None]:
    """The answer for a pilot and settings, and the price of a session where settings are given.

    Raises WrongInput for words that say no pilot, setting, contrast, spread or design.
    """
    outcome, between = _contrast(asked.contrast)
    own = _numbers(asked.sd, "sd", MEMBERS)
    if asked.correlation is not None:
        own["correlation"] = _share(asked.correlation)
    planned = _planned(settings) if settings else None
    table = _pilot(pilot, root) if pilot else None
    between = between or _ends(table, planned)
    if table is None and outcome != PUBLISHED_OUTCOME and not {*MEMBERS} <= {*own}:
        raise refused(
            "spread_of_another_outcome", published_outcome=PUBLISHED_OUTCOME, outcome=safe(outcome)
        )
    assumed = of_pilot(table, outcome, between) if table is not None else published(between)
    sample = _sample(assumed, planned, _numbers(asked.size, "size", SIZES))
    assumed = _with_own(assumed, own, sample)
    if not SMALLEST <= abs(asked.effect) <= LARGEST:
        raise refused(
            "effect_out_of_range", effect=asked.effect, smallest=SMALLEST, largest=LARGEST
        )
    question = PowerQuestion(abs(asked.effect), asked.power, asked.alpha, outcome, between)
    found = answer(question, assumed, sample)
    return found, _price(planned) if planned else None


MIXED = ("people", "models")
"""What sessions are held by, in designs with both."""


@dataclass(frozen=True)
class MixedPower:
    """What models add to sessions of people: the error of an effect in people, of both and of
    people alone, and how many sessions of people it is worth. `split` is what a budget pays best,
    with its error.
    """

    sd: float
    people: int
    models: int
    correlation: float
    error: float
    error_people_alone: float
    people_saved: float
    split: Mapping[str, float] | None = None


def mixed_power(
    pilot: str, asked: PowerOptions, price: Sequence[str], budget: float | None, root: Path
) -> MixedPower:
    """The answer for sessions of people beside their twins of models; WrongInput for words that say
    no design, correlation or price.
    """
    size = _numbers(asked.size, "size", MIXED)
    prices = _numbers(price, "price", MIXED)
    if not all(size.get(name, 0) >= 2 for name in MIXED) or size["people"] > size["models"]:
        raise refused("mixed_needs_size")
    if asked.correlation is None:
        raise WrongInput("--mixed needs --correlation R: of people with their twins of models")
    if (budget is None) != (len(prices) < 2) or not all(prices.values()):
        raise WrongInput("a split needs --price people=A,models=B, above 0, and --budget USD")
    own = _numbers(asked.sd, "sd", MEMBERS)
    outcome, between = _contrast(asked.contrast)
    table = _pilot(pilot, root) if pilot else None
    known = of_pilot(table, outcome, between or _ends(table)) if table else published(DEFAULT)
    sd, r = own.get("residual", known.spread.residual), _share(asked.correlation)
    n, units = size["people"], size["models"]
    error, alone = mixed_error(sd, n, units, r), mixed_error(sd, n, units, 0)
    split = None
    if budget is not None:
        people, models = best_split(budget, prices["people"], prices["models"], r)
        if not people:
            raise WrongInput(f"--budget {budget:g} pays for no session of people")
        best = mixed_error(sd, people, models or people, r if models else 0)
        split = {"budget": budget, "people": people, "models": models, "error": best}
    saved = n * (alone / error) ** 2 - n if error else math.inf
    return MixedPower(sd, int(n), int(units), r, error, alone, saved, split)


def told_of_mixed(found: MixedPower) -> list[str]:
    """The same in sentences."""
    return _told("mixed", vars(found))


def _share(value: float) -> float:
    """A correlation from 0 to 1."""
    if not 0 <= value <= 1:
        raise WrongInput(f"--correlation {value:g}: it is a number from 0 to 1, such as .3")
    return value


def _planned(settings: Sequence[str]) -> StudyPlan:
    """The plan of the settings: a sweep, which needs no name here."""
    named = any(word.startswith(NAMED) for word in settings)
    return plan([*settings, *([] if named else ["study=power"])], sweep=True)


def _pilot(name: str, root: Path) -> StudyTable:
    """The table of a pilot: a study, a CSV file with a row a run, or a folder of an export."""
    return table_of(place_of(name, root))


def _contrast(text: str) -> tuple[str, tuple[str, ...]]:
    """The outcome and the two treatments of a contrast, none of them where only the outcome is
    said.
    """
    outcome, colon, names = text.partition(":")
    between = tuple(name.strip() for name in names.split(",")) if colon else ()
    if not outcome or (colon and (len(set(between)) != 2 or not all(between))):
        raise refused("contrast_unreadable", text=safe(text))
    return outcome, between


def _ends(table: StudyTable | None, planned: StudyPlan | None = None) -> tuple[str, ...]:
    """The last treatment of a pilot and its first, of one treatment the levels of what varies else;
    without a pilot those of the settings, or the published ones.
    """
    pilot = table
    if table is None and planned is not None:
        table = table_of_plans(planned.sessions)
    if table is None:
        return DEFAULT
    rows = main_population(table)[0]
    for names in (treatments_of(rows), *levels_named(rows).values()):
        if len(names) > 1:
            return (DEFAULT[0] if DEFAULT[0] in names else names[-1], names[0])
    if pilot is None:
        return DEFAULT
    raise refused("one_treatment_only", study=pilot.study)


def table_of_plans(sessions: Sequence[Session]) -> StudyTable:
    """The table of sessions that are planned, of which none is held."""
    facts = []
    for one in sessions:
        own = {"session": one.id, "status": "not begun", "settings": tuple(settings_of(one))}
        facts.append(facts_of_plan(one) | own)
    return table_of_study("plan", facts, (), {}, {})


def contrasts_planned(sessions: Sequence[Session]) -> dict[str, list[tuple[str, str]]]:
    """The contrasts that the analysis of planned sessions will give, by family: a and b of each."""
    return families_in(main_population(table_of_plans(sessions))[0])


def _numbers(words: Sequence[str], option: str, names: Sequence[str]) -> dict[str, float]:
    """The numbers that an option names; WrongInput for another name, and for no number."""
    found: dict[str, float] = {}
    for word in ",".join(words).split(",") if words else []:
        name, _, text = word.partition("=")
        if name not in names:
            raise unknown(f"name in --{option}", name, names)
        try:
            found[name] = float(text)
        except ValueError:
            found[name] = math.nan
        if not (found[name] == 0 or SMALLEST <= found[name] <= LARGEST):
            raise refused(
                "spread_out_of_range",
                option=option,
                word=safe(brief(word, 60)[0]),
                named=name,
                smallest=SMALLEST,
                largest=LARGEST,
            )
    return found


def _with_own(assumed: Assumed, own: Mapping[str, float], sample: SampleSize) -> Assumed:
    """What is assumed for a design, with the numbers that the command states."""
    spread = replace(assumed.spread, **own)
    for name in MEMBERS:
        if math.isnan(getattr(spread, name)):
            raise refused("pilot_without_spread", source=assumed.source, named=name)
    if math.isnan(spread.correlation) and sample.models > 1:
        raise refused("pilot_without_correlation", source=assumed.source)
    if not spread.residual:
        raise WrongInput("--sd residual is more than 0: sessions of a block differ")
    if not own:
        return assumed
    stated = ", ".join([f"{name} {value:g}" for name, value in own.items()])
    kept = {name: ends for name, ends in assumed.intervals.items() if name not in own}
    whole = {*MEMBERS, "correlation"} <= {*own}
    source = f"assumed: {stated}" if whole else f"assumed: {stated}; else {assumed.source}"
    return replace(assumed, spread=spread, source=source, intervals=kept)


def _sample(assumed: Assumed, planned: StudyPlan | None, own: Mapping[str, float]) -> SampleSize:
    """The design: as the settings say, else as that of the pilot or the published study."""
    sample = assumed.sample
    if planned:
        sessions = planned.sessions
        sample = replace(
            sample,
            topics=len({session.topic.id for session in sessions}),
            models=len({"+".join(session.models) for session in sessions}),
            replicates=len({session.replicate for session in sessions}),
        )
    parts = [name for name, value in own.items() if value != int(value)]
    if parts:
        raise WrongInput(f"--size: {', '.join(parts)} is a whole number")
    values = {name: int(value) for name, value in own.items()}
    if any(value < 1 for value in values.values()):
        raise WrongInput("--size: topics, models and replicates are 1 or more")
    return replace(sample, **values)


def _price(planned: StudyPlan) -> DesignPrice | None:
    """The price of a session of a plan; nothing is called."""
    runs = Runs(planned.root, planned.study)
    found = wait(estimate(planned.sessions, runs, planned.limits, planned.addresses))
    places = {(one.topic.id, "+".join(one.models)) for one in planned.sessions}
    cells = {one.cell for one in planned.sessions}
    return design_price(found, max(math.ceil(len(cells) / len(places)), 2))


def told(found: PowerAnswer, price: DesignPrice | None) -> Iterator[str | DisplayTable]:
    """An answer in sentences and tables; "" is an empty line."""
    names = {test: name.partition(" (")[0] for test, name in NAMES.items()}
    known = {**vars(found), "price": price, "rough": ROUGH, "names": names}
    yield from _told("heading", known)
    for i, test in enumerate(TESTS):
        yield ""
        yield _grid(found, i, test)
    yield ""
    yield _design(found, names)
    yield from _told("needed", known)
    yield from _told("prices", known)


def _told(part: str, known: Mapping[str, Any]) -> list[str]:
    filters = {"number": _short, "counted": counted}
    return filled("power_told.txt.j2", {**known, "part": part}, filters).splitlines()


def _grid(found: PowerAnswer, place: int, test: str) -> DisplayTable:
    """Power by topics (down) and replicates (across)."""
    topics = sorted({key[0] for key in found.grid})
    replicates = sorted({key[1] for key in found.grid})
    title = f"Power {NAMES[test]}; {counted(found.sample.models, 'model')}"
    columns = [*texts("topics"), *numbers(map(str, replicates), group="replicates")]
    rows = []
    for count in topics:
        rows.append([str(count), *(_two(found.grid[count, size][place]) for size in replicates)])
    return DisplayTable(columns, rows, title)


def _design(found: PowerAnswer, names: Mapping[str, str]) -> DisplayTable:
    """For the design asked for: power, smallest effect, and what the effect needs."""
    parts = (("topics", "topic"), ("models", "model"), ("replicates", "replicate"))
    sizes = " x ".join(counted(getattr(found.sample, name), noun) for name, noun in parts)
    heads = ["power", "smallest effect", "replicates needed", "topics needed"]
    rows = [[names[one.test], *_cells(one)] for one in found.tests]
    return DisplayTable([*texts("question"), *numbers(heads)], rows, f"Design    {sizes}")


def _cells(one: Found) -> list[str]:
    return [
        _two(one.power),
        _short(one.smallest),
        "-" if one.replicates is None else f"{one.replicates:,}",
        "-" if one.topics is None else f"{one.topics:,}",
    ]


def _two(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}"


def _short(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"
