"""Codes of models and of the ensemble, computed from the samples of a study by one scheme."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from delibsim.domain.annotation import annotated
from delibsim.domain.coding import ENSEMBLE, Code, Sample
from delibsim.domain.reason import Reason
from delibsim.domain.run import Run
from delibsim.domain.scheme import Dimension, LevelValue, Scheme
from delibsim.measures.ensemble import Rule, enough_models, ensemble_levels, model_levels, rule_of
from delibsim.store.answers import Codings, schemes_of
from delibsim.store.codec import Damaged
from delibsim.store.runs import Runs

Array = NDArray[np.float64]
RULE = "lower"
"""The rule of the ensemble where none was set."""
USUAL = "coding"
"""The wording that is scored where it was used."""
OF_TEXTS = frozenset(("not_applicable", "too_short", "too_long", "empty", "wordless"))
"""Reasons that lie with a text: every coder has the same."""


@dataclass(frozen=True)
class SamplesAsked:
    """What was asked of the models: how many samples of each (`by_model`), the rule, the wordings.

    One wording is scored, `coding` or else the first; the others show what wording alone changes.
    `texts` are those that were put before them, with the SHA-256 of each.
    """

    by_model: Mapping[str, int]
    rule: str
    wordings: tuple[str, ...]
    texts: Mapping[str, str]

    @classmethod
    def of(cls, task: Mapping[str, Any], samples: Iterable[Sample]) -> "SamplesAsked":
        """As the task says, and as the samples show where it does not."""
        known: Mapping[str, int] = task.get("samples_by_model", {})
        in_common = int(task.get("samples", 0))
        by_model = {model: known.get(model, in_common) for model in task.get("models", ())}
        wordings = dict.fromkeys(task.get("wordings", ()))
        texts = dict(task.get("texts", {}))
        for sample in samples:
            wordings.setdefault(sample.wording)
            texts.setdefault(sample.text, sample.text_sha256)
            asked = by_model.get(sample.model, in_common)
            by_model[sample.model] = max(asked, sample.index)
        return cls(by_model, str(task.get("rules", RULE)), tuple(wordings), texts)

    @property
    def models(self) -> tuple[str, ...]:
        """The models that were asked."""
        return tuple(self.by_model)

    @property
    def wording(self) -> str:
        """The wording that is scored."""
        if USUAL in self.wordings or not self.wordings:
            return USUAL
        return self.wordings[0]


@dataclass(frozen=True, eq=False)
class DimensionSamples:
    """What the models said of one dimension: `counts` (texts, models, levels) of their samples.

    `texts` are those of which a sample was asked, in the order of the task. `asked` says for how
    many samples of a text each model was asked. `missing` counts the reason codes of the samples
    without a level by text and model. `rule` is the rule of the ensemble as it applies to this
    dimension.
    """

    dimension: Dimension
    texts: tuple[str, ...]
    models: tuple[str, ...]
    counts: Array
    asked: tuple[int, ...]
    rule: Rule
    missing: Mapping[tuple[str, str], Counter[str]]

    @property
    def ordered(self) -> bool:
        """Whether its levels have an order."""
        return self.dimension.scale != "nominal"

    @property
    def values(self) -> list[float] | None:
        """The values of its levels; None where they have no order."""
        return [float(value) for value in self.dimension.values] if self.ordered else None

    @cached_property
    def levels(self) -> Array:
        """The place of the level of each model on each text, (texts, models); NaN without one."""
        return model_levels(self.counts, self.asked, self.ordered)

    def ensemble(self, rule: Rule | None = None) -> Array:
        """The place of the level of the ensemble on each text, by its rule or by another."""
        own = rule or self.rule
        return ensemble_levels(self.counts, self.levels, own, self.values, self.ordered)

    def level_at(self, place: float) -> LevelValue | None:
        """The level at a place; None at NaN."""
        return None if np.isnan(place) else self.dimension.values[int(place)]

    def codes(self, sha256: Mapping[str, str]) -> Iterator[Code]:
        """The codes of the ensemble and of each model on each text, by text."""
        decided, readable = self.ensemble(), self.counts.sum(axis=2)
        for i, text in enumerate(self.texts):
            code = partial(Code, text, self.dimension.id, text_sha256=sha256.get(text, ""))
            reasons = self._reasons(i, readable[i])
            level = self.level_at(decided[i])
            why = None if level is not None else self._why_no_ensemble(reasons)
            yield code(ENSEMBLE, "ensemble", level, why, reasons.count(None))
            for j, model in enumerate(self.models):
                own = self.level_at(self.levels[i, j])
                yield code(model, "model", own, reasons[j], int(readable[i, j]))

    def undecided(self) -> Counter[str]:
        """Why texts have no level of the ensemble: reason codes with their numbers of texts."""
        readable = self.counts.sum(axis=2)
        found: Counter[str] = Counter()
        for i in np.flatnonzero(np.isnan(self.ensemble())):
            found[self._why_no_ensemble(self._reasons(i, readable[i])).code] += 1
        return found

    def _reasons(self, i: int, readable: Array) -> list[Reason | None]:
        """Why each model has no level on the text of this row; None where it has one."""
        found: list[Reason | None] = []
        for j in range(len(self.models)):
            missing = np.isnan(self.levels[i, j])
            found.append(self._why_not(self.texts[i], j, readable[j]) if missing else None)
        return found

    def _why_not(self, text: str, place: int, readable: float) -> Reason:
        """Why the model at a place has no level on a text."""
        missing = self.missing.get((text, self.models[place]), Counter())
        asked = self.asked[place]
        if not missing and not readable:
            return Reason("not_asked")
        least = max(-(-asked // 2), 1)
        for code in sorted(OF_TEXTS & missing.keys()):
            lone = code != "not_applicable" and not readable
            if lone or missing[code] >= max(readable, least - readable):
                return Reason(code)
        if readable >= least:
            return Reason("tied")
        told = [f"{code} {n}" for code, n in sorted(missing.items())]
        return Reason("too_few_samples", "; ".join([f"{readable:.0f} of {asked}", *told]))

    def _why_no_ensemble(self, reasons: Sequence[Reason | None]) -> Reason:
        """Why the ensemble has no level on a text, from the reasons of its models."""
        votes, models = reasons.count(None), len(reasons)
        if enough_models(votes, models):
            return Reason("tied")
        codes = Counter(why.code for why in reasons if why is not None)
        code, n = codes.most_common(1)[0]
        if code in OF_TEXTS and n * 2 >= models:
            return Reason(code)
        return Reason("too_few_models", f"{votes} of {models}")


def samples_by_dimension(
    scheme: Scheme, samples: Iterable[Sample], asked: SamplesAsked, wording: str | None = None
) -> dict[str, DimensionSamples]:
    """The samples in one wording, by default the scored one, as counts by dimension.

    Dimensions without a sample are left out. Damaged for a level that the scheme does not have.
    """
    of = asked.wording if wording is None else wording
    known: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        if sample.wording == of:
            known[sample.dimension].append(sample)
    found = {}
    for dimension in scheme.dimensions:
        if dimension.id in known:
            found[dimension.id] = _counted(dimension, known[dimension.id], asked)
    return found


def _counted(
    dimension: Dimension, samples: Sequence[Sample], asked: SamplesAsked
) -> DimensionSamples:
    with_samples = {sample.text for sample in samples}
    texts = tuple(text for text in asked.texts if text in with_samples)
    rows = {text: i for i, text in enumerate(texts)}
    columns = {model: j for j, model in enumerate(asked.models)}
    places = {value: k for k, value in enumerate(dimension.values)}
    counts = np.zeros((len(texts), len(columns), len(places)))
    missing: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for sample in samples:
        if sample.missing is not None:
            missing[sample.text, sample.model][sample.missing.code] += 1
            continue
        place = None if sample.level is None else places.get(sample.level)
        if place is None:
            raise Damaged(
                f"{sample.text}, {sample.model}: {dimension.id} has no level {sample.level}"
            )
        counts[rows[sample.text], columns[sample.model], place] += 1
    rule = rule_of(asked.rule, dimension.scale != "nominal")
    number = tuple(asked.by_model.values())
    return DimensionSamples(dimension, texts, asked.models, counts, number, rule, dict(missing))


@dataclass(frozen=True, eq=False)
class SchemeCodes:
    """Everything that was coded of a study by one scheme.

    `by_dimension` are the samples in the scored wording, `not_coded` the texts that were not put
    before the models, `people` the codes of people, those of training rounds too.
    """

    scheme: Scheme
    asked: SamplesAsked
    samples: Sequence[Sample]
    by_dimension: Mapping[str, DimensionSamples]
    not_coded: Sequence[Code]
    people: Sequence[Code]

    @classmethod
    def of(
        cls, codings: Codings, faults: list[str] | None = None, by: Scheme | None = None
    ) -> "SchemeCodes":
        """As it is on disk; Damaged, naming the file, for what is no code.

        Damaged lines are left out and told in `faults`. `by` is the scheme where people alone code,
        and no model was ever asked.
        """
        scheme, samples = by or codings.scheme(), codings.all(faults)
        asked = SamplesAsked.of(codings.files.task(), samples)
        try:
            counted = samples_by_dimension(scheme, samples, asked)
        except Damaged as error:
            raise Damaged(f"{codings.files.annotations}: {error}") from None
        return cls(scheme, asked, samples, counted, codings.not_coded(), codings.people(faults))

    def codes(self) -> Iterator[Code]:
        """Every code: of the ensemble and the models by dimension and text, then of people."""
        for own in self.by_dimension.values():
            yield from own.codes(self.asked.texts)
        yield from self.not_coded
        yield from self.people


def coder(runs: Runs, faults: list[str] | None = None) -> Callable[[Run], Run] | None:
    """What makes of a run one with its codes; None where the study was not coded.

    Codes of training rounds are left out, and damaged lines, which are told in `faults`.
    """
    by_session: dict[str, dict[str, list[Code]]] = {}
    schemes = {}
    for id in schemes_of(runs):
        found = SchemeCodes.of(Codings.of(runs, id), faults)
        schemes[id] = found.scheme
        for code in found.codes():
            session = code.text.partition("/")[0]
            if not code.training:
                by_session.setdefault(session, {}).setdefault(id, []).append(code)
    if not schemes:
        return None

    def coded(run: Run) -> Run:
        own = by_session.get(run.session.id)
        if not own:
            return run
        codes = tuple((schemes[id], tuple(given)) for id, given in own.items())
        return annotated(run, codes=codes)

    return coded
