"""Effects of treatments on what was coded: by people alone, by models alone, and corrected."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import fisher_exact

from delibsim.analysis.figures.entries import drawings_of
from delibsim.analysis.pages.cells import decimals
from delibsim.analysis.report import Report
from delibsim.analysis.result import Result, catalogue, make_table, with_holm
from delibsim.analysis.study.outcomes import p_in_words, short, with_interval
from delibsim.domain.errors import unknown
from delibsim.domain.study import natural
from delibsim.domain.text import counted
from delibsim.measures.corrected import (
    FEW_CLUSTERS,
    Effect,
    Units,
    corrected,
    models_alone,
    people_alone,
    units,
)
from delibsim.measures.inference.reml import independent

Array = NDArray[np.float64]
Words = NDArray[np.str_]
Weights = Mapping[int, Mapping[str, float]]
NONE = "none"
"""The treatment with which others are compared, where there is one."""
FEWEST = 10
"""Sessions that a treatment must have for a corrected interval."""
NOT_VALID = "not valid by itself"
NO_MODEL = "nothing that every model coded"
ALONE = (
    "models alone say what there is of {}: that is not valid by itself; hand a drawn sample to"
    " people: delibsim code handout STUDY draw=spread"
)
PROXIES = 5
"""Sessions that people read for each model; of more models their mean corrects."""
FOLLOWS = 0.001
LEVEL = 0.05


@dataclass(frozen=True)
class CodedTexts:
    """The texts of an outcome: what n texts are, and what models and people say of each.

    `proxies` are the codes of each model, NaN where it gave none; `people` is NaN where nobody
    coded, `chance` NaN where it is not known with what chance a text was drawn. `held` are factors
    that are held constant; `text` are ids, where texts have some.
    """

    outcome: str
    treatment: Words
    session: Words
    proxies: Mapping[str, Array]
    people: Array
    chance: Array
    held: Mapping[str, Words] = field(default_factory=dict)
    text: Words = field(default_factory=lambda: np.empty(0, dtype=str))

    def chosen(self, which: NDArray[np.bool_]) -> "CodedTexts":
        """The same of some of the texts."""
        return CodedTexts(
            self.outcome,
            self.treatment[which],
            self.session[which],
            {name: values[which] for name, values in self.proxies.items()},
            self.people[which],
            self.chance[which],
            {name: values[which] for name, values in self.held.items()},
            self.text[which] if len(self.text) else self.text,
        )

    @property
    def drawn(self) -> NDArray[np.bool_]:
        """The texts that people coded."""
        return ~np.isnan(self.people)

    @property
    def coded(self) -> NDArray[np.bool_]:
        """The texts that every model coded."""
        found = np.ones(len(self.people), dtype=bool)
        for values in self.proxies.values():
            found &= ~np.isnan(values)
        return found


Known = Callable[[CodedTexts], tuple[Units, list[float]]]
"""What makes of texts their units and a contrast."""


def contrasts_of(treatments: Iterable[str]) -> list[tuple[str, str]]:
    """Every treatment against none; without it, every pair.

    >>> contrasts_of(["none", "normative", "basic"])
    [('basic', 'none'), ('normative', 'none')]
    """
    found = sorted(set(map(str, treatments)), key=natural)
    if NONE in found:
        return [(one, NONE) for one in found if one != NONE]
    return [(one, other) for i, other in enumerate(found) for one in found[i + 1 :]]


def effect_rows(
    texts: CodedTexts, contrasts: Sequence[tuple[str, str]] = ()
) -> Iterator[dict[str, Any]]:
    """The rows of the table of effects: three of each contrast, or one without codes of people."""
    for a, b in contrasts or contrasts_of(texts.treatment):
        yield from _three(of_pair(texts, a, b), a, b)


def of_pair(texts: CodedTexts, a: str, b: str) -> CodedTexts:
    """The texts of two treatments, with the models that can correct what people say of them."""
    own = texts.chosen(np.isin(texts.treatment, [a, b]))
    return replace(own, proxies=_usable(own))


def _three(own: CodedTexts, a: str, b: str) -> Iterator[dict[str, Any]]:
    held = "" if told_apart(own, a) else "the treatments differ in what is held constant"
    read = min(sessions_of_each(own.chosen(own.drawn), (a, b)))
    missing = held or ("" if read else "nothing of people under one of the treatments")
    alone = held or ("" if told_apart(own.chosen(own.coded), a) else NO_MODEL)
    few = "people read of a treatment"
    for row in three_rows(own, partial(_known, a=a), missing, alone, read, few):
        yield {"outcome": own.outcome, "a": a, "b": b} | row


def three_rows(
    own: CodedTexts, known: Known, missing: str, alone: str, sessions: int, few: str
) -> Iterator[dict[str, Any]]:
    """What people, models, and both say of one contrast, which `known` makes of texts.

    `missing` is why people say nothing, `alone` why models do not; `sessions` are the fewest of a
    part that is compared, and `few` begins the sentence that says that they are too few.
    """
    people = None if missing else people_alone(*known(own))
    if own.drawn.any():
        yield {"row": "people"} | _row(people, missing)
    if own.proxies:
        coded = replace(own.chosen(own.coded), people=np.full(int(own.coded.sum()), np.nan))
        models = None if alone else models_alone(*known(coded))
        yield {"row": "models"} | _row(models, alone or NOT_VALID)
    if own.proxies and own.drawn.any():
        found = None if missing else corrected(*known(own))
        row = {"row": "corrected"} | _row(found, missing)
        yield row | _beside(own, found, people, sessions, few)


def mean_rows(own: CodedTexts) -> Iterator[dict[str, Any]]:
    """What people, models, and both say of the mean of all texts: the contrast of x = (1)."""
    own = replace(own, proxies=_usable(own))
    missing = "" if own.drawn.any() else "nothing of people"
    alone = "" if own.coded.any() and own.proxies else NO_MODEL
    read = len(set(own.session[own.drawn]))
    yield from three_rows(own, _of_mean, missing, alone, read, "people read")


def _of_mean(own: CodedTexts) -> tuple[Units, list[float]]:
    design = np.ones((len(own.people), 1))
    return units(design, proxy_table(own), own.people, own.chance, own.session), [1.0]


def _usable(own: CodedTexts) -> dict[str, Array]:
    """The models that coded any of the texts, and did not code those more that people read; of too
    many for the sessions that people read their mean.
    """
    found = {}
    for name, values in own.proxies.items():
        if not np.isnan(values).all() and not follows_draw(values, own.drawn):
            found[name] = values
    read = len(set(own.session[own.drawn]))
    if own.drawn.any() and len(found) > max(1, read // PROXIES):
        mean = pd.DataFrame(found).mean(axis=1).to_numpy(dtype=float)
        return {f"mean of {len(found)}": mean}
    return found


def follows_draw(values: Array, drawn: NDArray[np.bool_]) -> bool:
    """Whether a model coded the texts that people read more often than others, or less: it then
    tells who was drawn, and corrects nothing (Fisher's test at .001).
    """
    coded = ~np.isnan(values)
    if coded.all() or not drawn.any() or drawn.all():
        return False
    counts = pd.crosstab(drawn, coded).to_numpy()
    return bool(fisher_exact(counts).pvalue < FOLLOWS)


def _known(own: CodedTexts, a: str) -> tuple[Units, list[float]]:
    """The units of the texts, and the contrast of treatment a."""
    design, contrast = design_of(own, a)
    return units(design, proxy_table(own), own.people, own.chance, own.session), contrast


def proxy_table(own: CodedTexts) -> Array:
    """The codes of models, a column each; (n, k).

    A text that a model did not code stands at the mean of the others: the corrected estimate is
    right whatever stands there, and would not be if texts were left out that one treatment has more
    of.
    """
    columns = [np.where(np.isnan(one), np.nanmean(one), one) for one in own.proxies.values()]
    return np.column_stack([np.zeros((len(own.session), 0)), *columns])


def told_apart(own: CodedTexts, a: str) -> bool:
    """Whether the treatments are told apart where all is held constant that is to be."""
    treated = (own.treatment == a).astype(float)
    design = np.column_stack([np.ones(len(treated)), *_levels(own), treated])
    return len(treated) > 0 and design.shape[1] - 1 in independent(design)


def design_of(own: CodedTexts, a: str) -> tuple[Array, list[float]]:
    """The design of a text (n, p): treatment a, the intercept, and what is held constant, as far as
    the texts that people coded can tell it; and the contrast.
    """
    treated = (own.treatment == a).astype(float)
    design = np.column_stack([treated, np.ones(len(treated)), *_levels(own)])
    read = design[own.drawn] if own.drawn.any() else design
    kept = design[:, independent(read)]
    return kept, [1.0, *[0.0] * (kept.shape[1] - 1)]


def _levels(own: CodedTexts) -> Iterator[Array]:
    """A column for each level, but the first, of each factor that is held constant."""
    for values in own.held.values():
        for level in sorted(set(values), key=natural)[1:]:
            yield (values == level).astype(float)


def sessions_of_each(own: CodedTexts, treatments: Sequence[str]) -> list[int]:
    """How many sessions each treatment has."""
    return [len(set(own.session[own.treatment == one])) for one in treatments]


def _row(found: Effect | None, note: str) -> dict[str, Any]:
    if found is None:
        return {"p": math.nan, "note": note}
    by = "t" if math.isnan(found.jackknife) else "jackknife"
    by = "" if math.isnan(found.low) else by
    return {
        "estimate": found.estimate,
        "se": found.se,
        "low": found.low,
        "high": found.high,
        "interval": by,
        "interval_se": found.error,
        "n": found.n,
        "clusters": found.clusters,
        "p": found.p,
        "note": note if not math.isnan(found.low) or found.clusters < 2 else noted(note),
    }


def noted(note: str) -> str:
    """A note with the reason why an estimate has no interval."""
    return "; ".join(filter(None, (note, "no interval: the codes do not vary")))


def _beside(
    own: CodedTexts, found: Effect | None, people: Effect | None, fewest: int, few: str
) -> dict[str, Any]:
    """What the corrected row says beside its estimate; too few sessions give no interval."""
    if found is None or people is None:
        return {}
    weights = dict(zip(own.proxies, found.weights, strict=True))
    shown = fewest >= FEWEST
    told = {
        "lambda": weights,
        "correlation": _correlation(own, found.weights),
        "effective": _worth(people, found, shown),
    }
    if not shown:
        note = f"{few} {counted(fewest, 'session')}; an interval needs {FEWEST}"
        nothing = dict.fromkeys(("low", "high", "p"), math.nan)
        return told | nothing | {"interval": "", "note": note}
    if math.isnan(found.low):
        return told
    if own.drawn.all():
        told["note"] = "people coded everything: nothing is left to correct"
    elif not any(found.weights):
        told["note"] = "the models say nothing of what people coded: their weight is 0"
    return told


def _worth(people: Effect, found: Effect, shown: bool) -> float:
    """How many codes of people alone would give this error; NaN where there is none left. Where an
    interval is shown it is no more than the errors of the intervals say.
    """
    if not found.se > people.se * 1e-9:
        return math.nan
    by_sandwich = people.n * (people.se / found.se) ** 2
    if not shown or math.isnan(people.error) or math.isnan(found.error):
        return by_sandwich
    return min(by_sandwich, people.n * (people.error / found.error) ** 2)


def _correlation(own: CodedTexts, weights: Sequence[float]) -> float:
    """The correlation of people with the weighted sum of the models, on the texts that all of them
    coded; NaN where one is constant.
    """
    both = own.drawn & own.coded
    proxy = proxy_table(own)[both] @ np.asarray(weights)
    people = own.people[both]
    if len(people) < 3 or not (np.ptp(proxy) and np.ptp(people)):
        return math.nan
    return float(np.corrcoef(people, proxy)[0, 1])


def effects(
    outcomes: Sequence[CodedTexts],
    notes: Sequence[str] = (),
    contrasts: Sequence[tuple[str, str]] = (),
    more: Sequence[Result] = (),
) -> Report:
    """The report on the effects on some outcomes, with further tables."""
    check_contrasts(outcomes, contrasts)
    table, said, weights = effects_table(outcomes, contrasts)
    told = [*said, *notes]
    rows = table.rows
    of_people = rows[rows["row"] != "models"]
    answered = of_people["estimate"] if len(of_people) else rows["estimate"]
    return Report(
        catalogue=catalogue("effects"),
        title="Effects on what was coded",
        results={one.name: one for one in (table, *more)},
        about={"outcomes": [one.outcome for one in outcomes], "notes": list(notes)},
        told=told,
        summary=told,
        drawn=lambda: drawings_of("effects", {one.name: one for one in (table, *more)}),
        something=bool(answered.notna().any()),
        complete=not notes,
        shape=lambda: {
            "sentences": told,
            "rows": _plain(table, weights),
            **{one.name: one.plain() for one in more if one.given},
        },
    )


def effects_table(
    outcomes: Sequence[CodedTexts],
    contrasts: Sequence[tuple[str, str]] = (),
    whom: str = "as people would code all texts",
) -> tuple[Result, list[str], Weights]:
    """The table of effects, what its corrected rows say (of `whom` it is true), and by the number
    of a row the weight of each model.
    """
    found: list[dict[str, Any]] = []
    told: list[str] = []
    alone: list[str] = []
    for texts in outcomes:
        rows = with_holm(effect_rows(texts, contrasts), "row")
        if texts.drawn.any() or not texts.proxies:
            told += [*_sentences(rows, texts, whom), *_remarks(texts)]
        else:
            alone.append(texts.outcome)
        found += rows
    if alone:
        told.append(ALONE.format(", ".join(alone)))
    weights = {i: row["lambda"] for i, row in enumerate(found) if "lambda" in row}
    for i, own in weights.items():
        found[i]["lambda"] = in_words(own)
    table = make_table("effects/effects", found, few=FEW_CLUSTERS)
    return table, [*dict.fromkeys(told)], weights


def check_contrasts(outcomes: Sequence[CodedTexts], contrasts: Sequence[tuple[str, str]]) -> None:
    """WrongInput for a contrast of a treatment that no text has."""
    known: set[str] = set()
    for texts in outcomes:
        known |= set(map(str, texts.treatment))
    for one in (name for pair in contrasts for name in pair):
        if one not in known:
            raise unknown("treatment", one, sorted(known, key=natural))


def in_words(weights: Mapping[str, float]) -> str:
    """The weight of the model, or of each by its name."""
    if len(weights) == 1:
        return decimals(*weights.values())
    return ", ".join(f"{name} {decimals(weight)}" for name, weight in weights.items())


def _plain(table: Result, weights: Weights) -> list[dict[str, Any]]:
    """The rows as plain values, with the weight of the models as a number, of several as a list."""
    rows = table.plain()
    for i, own in weights.items():
        rows[i]["lambda"] = [*own.values()] if len(own) > 1 else sum(own.values())
    return rows


def _sentences(rows: Sequence[Mapping[str, Any]], texts: CodedTexts, whom: str) -> list[str]:
    """What the corrected rows say, or that there is none."""
    if len(set(texts.treatment)) < 2:
        return ["one treatment alone: there is nothing to compare"]
    return [_sentence(row, whom) for row in rows if row["row"] == "corrected"]


def _remarks(texts: CodedTexts) -> Iterator[str]:
    """Models that say the same of every text, and people's codes on another scale than theirs."""
    people = texts.people[texts.drawn]
    read = len(set(texts.session[texts.drawn]))
    if len(texts.proxies) > max(1, read // PROXIES):
        models = counted(len(texts.proxies), "model")
        yield f"{texts.outcome}: {models} for {counted(read, 'session')} read: their mean corrects"
    certain = int(((texts.chance >= 1) & ~texts.drawn).sum())
    if certain and texts.drawn.any():
        yield f"{texts.outcome}: {certain} of the chance 1 without a code of people"
    for name, values in texts.proxies.items():
        known = values[~np.isnan(values)]
        if follows_draw(values, texts.drawn):
            yield (
                f"{texts.outcome}: {name} has codes of what people read more often, or less, than"
                " of others, so that it corrects nothing: let it code all"
            )
        elif len(known) > 1 and not np.ptp(known):
            yield f"{texts.outcome}: {name} says {known[0]:g} of all, so that its weight is 0"
        elif len(known) and _another_scale(people, known):
            yield (
                f"{texts.outcome}: people's codes go from {people.min():g} to {people.max():g},"
                f" those of {name} from {known.min():g} to {known.max():g}: the row of models"
                " alone is not on people's scale; the others are"
            )


def _another_scale(people: Array, models: Array) -> bool:
    """Whether codes of models lie apart from people's, or go three times as far or as little."""
    if not len(people) or not np.ptp(people) or not np.ptp(models):
        return False
    apart = models.max() < people.min() or models.min() > people.max()
    return bool(apart or not 1 / 3 < np.ptp(models) / np.ptp(people) < 3)


def _sentence(row: Mapping[str, Any], whom: str) -> str:
    pair = f"{row['a']} against {row['b']}"
    low, high = row.get("low", math.nan), row.get("high", math.nan)
    if "estimate" not in row:
        return f"{pair}: nothing can be said of {row['outcome']}: {row['note']}"
    if math.isnan(low):
        return f"{pair}: no interval of {row['outcome']}, {short(row['estimate'])}: {row['note']}"
    verb = "raised" if low > 0 else "lowered"
    if low <= 0 <= high or not row["p_holm"] < LEVEL:
        verb = "no effect is shown on"
    holm = "" if row["p_holm"] == row["p"] else f", Holm {p_in_words(row['p_holm'])}"
    numbers = with_interval(row["estimate"], low, high)
    return f"{pair}: {verb} {row['outcome']}, {numbers}{holm}, {whom}"
