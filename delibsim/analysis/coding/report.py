"""The report on the codes of a study by one scheme: its tables, and what they say in sentences."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from delibsim.analysis.calls import (
    Ids,
    dropped,
    note_ids,
    repeated,
    repetition,
    without_effect,
)
from delibsim.analysis.coding.agreement import (
    against,
    confusion,
    groups,
    pairs,
    resampled,
    wordings,
)
from delibsim.analysis.coding.codes import BOUND, LEAST, CodedStudy, DimensionCodes, coded_study
from delibsim.analysis.coding.costs import NOT_GIVEN, costs, failures, refusals
from delibsim.analysis.coding.equivalence import curve, equivalence_table, robustness
from delibsim.analysis.coding.levels import certainties, levels, shares, votes, weak
from delibsim.analysis.coding.people import calibration, corrected, unread
from delibsim.analysis.figures.drawing import Drawing
from delibsim.analysis.figures.entries import drawings_of
from delibsim.analysis.pages.cells import decimals, interval
from delibsim.analysis.pages.page import Part
from delibsim.analysis.report import Report
from delibsim.analysis.result import Result, catalogue, make_table
from delibsim.domain.reason import in_words
from delibsim.domain.text import counted, quoted
from delibsim.store.coded import Asked, SchemeCodes, samples_by_dimension

CONDITION = "treatment"
"""The column by which corrected means are given wherever texts have it."""


@dataclass(frozen=True)
class Settings:
    """What a report is asked for: the bound, the least agreement of people, a column, or "", and
    the column whose values are clusters of texts, "" for their groups.
    """

    bound: float = BOUND
    least: float = LEAST
    column: str = ""
    clusters: str = ""


@dataclass(frozen=True, eq=False)
class Told:
    """What a report says in sentences, from its tables; `remarks` are on the record of calls."""

    study: CodedStudy
    bound: float
    results: Mapping[str, Result]
    remarks: Sequence[str]

    def sentences(self) -> Iterator[str]:
        """What the tables say, sentence by sentence; nothing that they do not hold."""
        first, *others = self.overall()
        yield first
        yield from self.by_dimension()
        yield from others

    def by_dimension(self) -> Iterator[str]:
        """What is to be said of single dimensions; the table `dimensions` has a row of each."""
        for own in self.study.dimensions:
            yield from self._of_ensemble(own)
            yield from self._of_equivalence(own)
            yield from self._of_people(own)

    def overall(self) -> Iterator[str]:
        """Who coded, and what is missing or doubtful, of all dimensions together."""
        yield who_coded(self.study)
        yield from self._of_failures()
        yield from self.remarks
        for line in unread(self.study):
            yield f"Warning: {line}."
        if not self.study.people:
            yield (
                "No person has coded: nothing says yet whether the ensemble is right. Next:"
                f" delibsim code handout {quoted(self.study.study)}"
            )

    def _of_ensemble(self, own: DimensionCodes) -> Iterator[str]:
        for row in self._rows("certainty", own.id):
            if row["without"]:
                of = "only these count below" if row["texts"] else "nothing below counts it"
                yield (
                    f"{own.id}: the ensemble has a level on {counted(row['texts'], 'text')}, and"
                    f" {of}; the others have none ({row['without']})."
                )

    def _of_equivalence(self, own: DimensionCodes) -> Iterator[str]:
        for row in self._rows("equivalence", own.id):
            if not row["verdict"]:
                continue
            delta = f"{decimals(row['estimate'])} {interval(row['low'], row['high'])}"
            people = f"{decimals(row['people'])} {interval(row['people_low'], row['people_high'])}"
            yield (
                f"{own.id}, against {row['anchor']}: the ensemble is {row['verdict']} (delta"
                f" {delta}, bound {self.bound:.2f}, {counted(row['texts'], 'text')});"
                f" {row['other']} agrees with {row['anchor']} at {people}."
            )

    def _of_people(self, own: DimensionCodes) -> Iterator[str]:
        for row in self._rows("weak_dimensions", own.id):
            if row["flagged"]:
                share = decimals(row["disagreement"])
                yield (
                    f"{own.id}: {row['a']} and {row['b']} disagree on a share of {share} of"
                    f" {counted(row['texts'], 'text')}; its anchors need revision."
                )

    def _of_failures(self) -> Iterator[str]:
        result = self.results["failures"]
        if not result.given:
            return
        rows = result.rows
        late = rows["reason"] == NOT_GIVEN
        n, total = int(rows["missing"][~late].sum()), len(self.study.coded.samples)
        if n:
            yield f"{n} of {total} samples have no level; nothing stands in their place."
        if late.any():
            by_model = rows[late].groupby("model", sort=False)["missing"].sum()
            told = ", ".join(f"{model} {lack}" for model, lack in by_model.items())
            owed = counted(int(by_model.sum()), "sample")
            yield (
                f"Still to be given: {owed} ({told}); the same command of delibsim code ask asks"
                " for them."
            )

    def _rows(self, name: str, dimension: str) -> list[dict[str, Any]]:
        result = self.results[name]
        if not result.given:
            return []
        return [row for row in result.rows.to_dict("records") if row["dimension"] == dimension]


def who_coded(study: CodedStudy) -> str:
    """Who coded how many texts, by what."""
    scheme, asked = study.coded.scheme, study.coded.asked
    texts = {text for own in study.dimensions for text in own.texts}
    coders = [counted(len(asked.models), "model")] if asked.models else []
    if study.people:
        people = ", ".join(study.people)
        coders.append(f"{len(study.people)} people ({people})" if len(study.people) > 1 else people)
    told = (
        f"{counted(len(texts), 'text')} coded by {scheme.id}: {' and '.join(coders) or 'nobody'}."
    )
    if not asked.models:
        return told
    return f"{told} {_samples_asked(asked)}; ensemble by rule {asked.rule}."


def _samples_asked(asked: Asked) -> str:
    """For how many samples of a text the models were asked, one by one where numbers differ."""
    numbers = set(asked.by_model.values())
    if len(numbers) == 1:
        return f"Of each model {counted(max(numbers), 'sample')}"
    each = [f"{model} {n:,}" for model, n in asked.by_model.items()]
    return f"Samples of a text by model: {', '.join(each)}"


def coding_report(
    study: CodedStudy,
    settings: Settings,
    exchanges: Iterable[Mapping[str, Any]] = (),
    faults: Sequence[str] = (),
) -> Report:
    """Every table of the report; `exchanges` are the recorded calls. WrongInput for a column that
    no text has.
    """
    records = list(exchanges)
    worded = by_wording(study)
    compared = equivalence_table(study.fair, settings.bound, settings.least)
    others = {name: own for name, own in worded.items() if name != study.coded.asked.wording}
    flagged, split = weak(study)
    in_bins, calibrated = calibration(study)
    found = [
        levels(study),
        certainties(study),
        pairs(study),
        groups(study),
        compared,
        curve(compared),
        robustness(study.fair, settings.bound, others),
        resampled(study, settings.clusters),
        votes(study),
        flagged,
        split,
        calibrated,
        in_bins,
        corrected(study, _conditions(study, settings.column)),
        wordings(study, worded),
        costs(study, records),
        failures(study),
        refusals(study),
        confusion(study),
        shares(study),
    ]
    if settings.column:
        found += against(study, settings.column)
    tables = {result.name: result for result in found}
    results = catalogue("codes").in_order([*found, overview(study, tables)])
    told = Told(study, settings.bound, results, list(remarks_on(records)))
    scheme = study.coded.scheme
    by_dimension = list(told.by_dimension())
    first = [Part("scheme", "The scheme", list(_scheme(study)))]
    if by_dimension:
        first.append(Part("dimensions", "Dimension by dimension", sentences=by_dimension))
    return Report(
        catalogue=catalogue("codes"),
        title=f"{study.study}, coded by {scheme.id}",
        results=results,
        about={
            "study": study.study,
            "scheme": scheme.id,
            "scheme_sha256": scheme.sha256,
            "rule": study.coded.asked.rule,
            "bound": settings.bound,
            "least": settings.least,
        },
        told=list(told.sentences()),
        summary=list(told.overall()),
        faults=faults,
        something=any(own.places.notna().to_numpy().any() for own in study.dimensions),
        first=first,
        drawn=partial(drawings, results),
        data=study,
    )


def why_not_coded(report: Report) -> Iterator[str]:
    """Why nobody has given a level, in sentences; none where nobody was asked."""
    samples = report.data.coded.samples
    if not samples:
        return
    n = sum(sample.level is not None for sample in samples)
    yield (
        f"no text has a level: {n} of {counted(len(samples), 'sample')} can be read, and a"
        f" model needs half of those that it was asked for on a text"
    )
    for row in report.results["failures"].rows.to_dict("records"):
        where = f"{row['dimension']}, {row['model']}"
        yield f"{where}: {counted(row['missing'], 'sample')}: {in_words(row['reason'])}"


def _scheme(study: CodedStudy) -> Iterator[str]:
    scheme, asked = study.coded.scheme, study.coded.asked
    source = f" Source: {scheme.source}" if scheme.source else ""
    yield f"{scheme.name}, version {scheme.version}, SHA-256 {scheme.sha256}.{source}"
    if asked.models:
        yield f"Models: {', '.join(asked.models)}. The scored wording is {asked.wording}."
    yield "Every table lies in tables/ at full precision, with a codebook of columns."


def overview(study: CodedStudy, results: Mapping[str, Result]) -> Result:
    """The table `dimensions`: what the other tables say of each dimension, in one row."""
    rows = [_of_dimension(own.id, results) for own in study.dimensions]
    return make_table("codes/dimensions", rows)


def _of_dimension(dimension: str, results: Mapping[str, Result]) -> dict[str, Any]:
    """The row of one dimension."""
    rows = {}
    for name in ("certainty", "groups", "equivalence", "weak_dimensions"):
        given = results[name].rows.to_dict("records") if results[name].given else []
        rows[name] = [row for row in given if row["dimension"] == dimension]
    found: dict[str, Any] = {"dimension": dimension}
    for row in rows["certainty"]:
        found["texts"] = row["texts"]
    for coders, ends in (("models", ("low", "high")), ("people", ("people_low", "people_high"))):
        own = [row for row in rows["groups"] if row["coders"] == coders]
        if own:
            names = (coders, *ends)
            found |= dict(zip(names, map(own[0].get, ("estimate", "low", "high")), strict=True))
    judged = [row for row in rows["equivalence"] if row["verdict"]]
    if judged:
        least = min(judged, key=lambda row: row["estimate"])
        found |= {"delta": least["estimate"], "verdict": least["verdict"]}
    if rows["weak_dimensions"]:
        found["flagged"] = any(row["flagged"] for row in rows["weak_dimensions"])
    return found


def remarks_on(records: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What was asked for and not done, models that answered under another name, and replies that
    came twice, from the recorded calls.
    """
    for line in without_effect(dropped(records)):
        yield f"{line}."
    others: dict[tuple[str, str], None] = {}
    for record in records:
        done = record["completion"]
        requested, returned = done.get("model_requested"), done.get("model_returned")
        if returned and returned != requested:
            others[str(record.get("model")), returned] = None
    for model, returned in others:
        yield f"{model} was answered as {returned}."
    ids = Ids()
    note_ids(records, ids)
    if found := repeated(ids):
        yield f"{repetition(found)}."


def by_wording(study: CodedStudy) -> dict[str, list[DimensionCodes]]:
    """The codes of the models in every wording."""
    coded = study.coded
    found = {}
    for wording in coded.asked.wordings:
        counted_in = samples_by_dimension(coded.scheme, coded.samples, coded.asked, wording)
        own = SchemeCodes(coded.scheme, coded.asked, (), counted_in, (), ())
        found[wording] = list(coded_study(study.study, own, ()).dimensions)
    return found


def _conditions(study: CodedStudy, column: str) -> list[str]:
    """The columns by which corrected means are given."""
    known = study.columns()
    wanted = [CONDITION, column]
    return list(dict.fromkeys(name for name in wanted if name in known))


def drawings(results: Mapping[str, Result]) -> list[Drawing]:
    """The figures that the tables give."""
    given = {name: result.rows for name, result in results.items() if result.given}
    for name, make in {"equivalence_curve": _with_bounds, "corrected_means": _with_labels}.items():
        if len(given.get(name, ())):
            given[name] = make(given[name])
    return drawings_of("codes", given)


def _with_bounds(curve: pd.DataFrame) -> pd.DataFrame:
    """The curve, with the words for the bound from which p is below .05."""
    line = ["dimension", "anchor", "other"]
    smallest = curve["bound"].where(curve["p"] < 0.05)
    first = smallest.groupby([curve[name] for name in line]).transform("min")
    since = ["at none of these bounds" if x != x else f"from {x:.2f} on" for x in first]
    return curve.assign(since=since)


def _with_labels(means: pd.DataFrame) -> pd.DataFrame:
    """Corrected means, with the words for the texts that each is of."""
    labels = []
    for row in means.to_dict("records"):
        texts = f"{row['by']} {row['part']}".strip() or "all texts"
        labels.append(f"{texts}, {row['draw']}" if row["draw"] else texts)
    return means.assign(of_whom=labels)
