"""The report on the codes of a study by one scheme: its tables, and what they say in sentences."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pandas as pd

from delibsim.analysis.calls import Ids, dropped, note_ids, repeated, repetition, without_effect
from delibsim.analysis.coding.agreement import (
    FEW,
    RESAMPLES,
    against,
    clustered_by,
    facts_of,
    notes_on_pairs,
    pairs,
    resampled,
    trends,
    wordings,
)
from delibsim.analysis.coding.codes import (
    BOUND,
    LEAST,
    CodedStudy,
    DimensionCodes,
    coded_study,
)
from delibsim.analysis.coding.costs import NOT_GIVEN, costs, failures
from delibsim.analysis.coding.effect import effects_table
from delibsim.analysis.coding.effect_files import texts_of_study
from delibsim.analysis.coding.equivalence import curve, equivalences, robustness, why_none
from delibsim.analysis.coding.levels import DISAGREEMENT, corrected, split_texts
from delibsim.analysis.figures.drawing import Drawing
from delibsim.analysis.figures.entries import drawings_of
from delibsim.analysis.pages.page import PagePart
from delibsim.analysis.report import Report, said_of_rows
from delibsim.analysis.result import Result, catalogue, each, make_table, said, tables_of
from delibsim.domain.errors import WrongInput
from delibsim.domain.reason import in_words
from delibsim.domain.text import counted, quoted
from delibsim.measures.corrected import FEW_CLUSTERS
from delibsim.measures.ensemble import FEWEST
from delibsim.store.coded import SamplesAsked, SchemeCodes, samples_by_dimension

KAPPA = ("kappa", "kappa_low", "kappa_high")
CONDITION = "treatment"
"""The column by which corrected means are given wherever texts have it."""


@dataclass(frozen=True)
class CodeReportSettings:
    """What a report is asked for: the bound, the least agreement of people, a column, or "", and
    the column whose values are clusters of texts, "" for their groups.
    """

    bound: float = BOUND
    least: float = LEAST
    column: str = ""
    clusters: str = ""


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


def _samples_asked(asked: SamplesAsked) -> str:
    """For how many samples of a text the models were asked, one by one where numbers differ."""
    numbers = set(asked.by_model.values())
    if len(numbers) == 1:
        return f"Of each model {counted(max(numbers), 'sample')}"
    each = [f"{model} {n:,}" for model, n in asked.by_model.items()]
    return f"Samples of a text by model: {', '.join(each)}"


def coding_report(
    study: CodedStudy,
    settings: CodeReportSettings,
    exchanges: Iterable[Mapping[str, Any]] = (),
    faults: Sequence[str] = (),
) -> Report:
    """Every table of the report; `exchanges` are the recorded calls. WrongInput for a column that
    no text has.
    """
    records = list(exchanges)
    study = clustered_by(study, settings.clusters)
    tables = {result.name: result for result in _tables(study, settings, records)}
    results = catalogue("codes").in_order([*tables.values(), overview(study, tables)])
    scheme = study.coded.scheme
    first, *others = _overall(study, results, records)
    by_dimension = _by_dimension(study, results)
    results["effects"] = replace(results["effects"], notes=())  # which the first sentences say
    parts = [PagePart("scheme", "The scheme", list(_scheme(study)))]
    if by_dimension:
        parts.append(PagePart("dimensions", "Dimension by dimension", sentences=by_dimension))
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
        told=[first, *by_dimension, *others],
        summary=[first, *others],
        faults=faults,
        something=any(own.places.notna().to_numpy().any() for own in study.dimensions),
        first=parts,
        drawn=partial(drawings, results),
        data=study,
    )


def _tables(
    study: CodedStudy, settings: CodeReportSettings, records: Sequence[Mapping[str, Any]]
) -> Iterator[Result]:
    """Every table but that of all dimensions."""
    worded = by_wording(study, settings.clusters)
    others = {name: own for name, own in worded.items() if name != study.coded.asked.wording}
    data: Mapping[str, Sequence[tuple[Any, ...]]] = {
        "dimensions": [(own,) for own in study.dimensions],
        "fair": [(own,) for own in study.fair],
        "study": [(study,)],
    }
    values = {"resamples": RESAMPLES, "disagreement": DISAGREEMENT, "fewest": FEWEST}
    yield from tables_of("codes", data, **values)
    yield make_table("codes/pairs", each(study.fair, pairs), notes=notes_on_pairs(study))
    yield from _equivalence(study, settings, others)
    rows = resampled(study, settings.clusters)
    yield make_table("codes/resampled", rows, resamples=FEW)
    several = any(len(own.people) > 1 for own in study.fair)
    yield make_table("codes/split_texts", split_texts(study), why=None if several else "one_coder")
    columns = [name for name in (CONDITION, settings.column) if name in study.columns()]
    yield from _by_people(study, list(dict.fromkeys(columns)))
    yield make_table("codes/wordings", wordings(worded))
    yield make_table("codes/costs", costs(study, records))
    missing = failures(study)
    codes = {row["reason"] for row in missing}
    told = [in_words(code) for code in sorted(codes)]
    yield make_table("codes/failures", missing, notes=told)
    if column := settings.column:
        facts = facts_of(study, column)
        rows = each(study.fair, against, facts)
        yield make_table("codes/against", rows, column=column)
        yield make_table("codes/against_trend", each(study.fair, trends, facts), column=column)


def _by_people(study: CodedStudy, columns: Sequence[str]) -> Iterator[Result]:
    """Means and effects by people, by models and corrected; or why there are none."""
    notes: list[str] = []
    try:
        means = list(corrected(study, columns, notes))
    except WrongInput as error:
        yield make_table("codes/corrected_means", (), why="not_drawn", detail=str(error))
        yield _no_effects("not_drawn", str(error))
        return
    yield make_table("codes/corrected_means", means, notes=list(dict.fromkeys(notes)))
    texts = {text for own in study.dimensions for text in own.texts}
    treatments = study.fact(CONDITION)
    told = [f"the texts have no {CONDITION}, or one alone"]
    effects: Result | None = None
    if texts <= treatments.keys() and len(set(treatments.values())) > 1:
        outcomes, _ = texts_of_study(study, "", {})
        effects, told, _ = effects_table(outcomes)
    if effects is None:
        yield _no_effects("one_treatment", told[0])
    else:
        yield replace(effects, notes=told)


def _no_effects(why: str, detail: str) -> Result:
    return make_table("codes/effects", (), why=why, detail=detail, few=FEW_CLUSTERS)


def _equivalence(
    study: CodedStudy, settings: CodeReportSettings, others: Mapping[str, Sequence[DimensionCodes]]
) -> Iterator[Result]:
    """The tables of equivalence; `others` are the codes of models in wordings that do not count."""
    fair, bound = study.fair, settings.bound
    rows = list(each(fair, equivalences, bound, settings.least))
    why = "" if rows else why_none(fair)
    compared = make_table("codes/equivalence", rows, why=why, least=settings.least)
    yield compared
    yield make_table(
        "codes/equivalence_curve", each(rows, curve), why=why or None, detail=compared.detail
    )
    rows = list(each(fair, robustness, bound, others))
    why = "" if rows else why_none(fair)
    yield make_table("codes/robustness", rows, why=why, bound=bound)


def _overall(
    study: CodedStudy, results: Mapping[str, Result], records: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Who coded, and what is missing or doubtful, of all dimensions together."""
    yield who_coded(study)
    missing = results["failures"].rows
    late = missing["reason"] == NOT_GIVEN
    n, total = int(missing["missing"][~late].sum()), len(study.coded.samples)
    if n:
        yield said("codes/samples_lacking", n=n, total=total)
    if late.any():
        by_model = missing[late].groupby("model", sort=False)["missing"].sum()
        told = ", ".join(f"{model} {lack}" for model, lack in by_model.items())
        owed = counted(int(by_model.sum()), "sample")
        yield said("codes/owed", owed=owed, models=told)
    yield from remarks_on(records)
    if results["effects"].given:
        yield from results["effects"].notes
    if not study.people:
        yield said("codes/nobody", study=quoted(study.study))


def _by_dimension(study: CodedStudy, results: Mapping[str, Result]) -> list[str]:
    """What is to be said of single dimensions; the table `dimensions` has a row of each."""
    found = list(said_of_rows("codes", results, "ensemble", "equivalence", "people"))
    order = [own.id for own in study.dimensions]
    found.sort(key=lambda said: order.index(said[0]["dimension"]))
    return [sentence for _, sentence in found]


def why_not_coded(report: Report) -> Iterator[str]:
    """Why nobody has given a level, in sentences; none where nobody was asked."""
    samples = report.data.coded.samples
    if not samples:
        return
    n = sum(sample.level is not None for sample in samples)
    yield said("codes/nothing_read", n=n, samples=counted(len(samples), "sample"))
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
    return make_table(
        "codes/dimensions", [_of_dimension(own.id, results) for own in study.dimensions]
    )


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


def by_wording(study: CodedStudy, column: str = "") -> dict[str, list[DimensionCodes]]:
    """The codes of the models in every wording, in clusters by the column, or by group."""
    coded = study.coded
    found = {}
    for wording in coded.asked.wordings:
        counted_in = samples_by_dimension(coded.scheme, coded.samples, coded.asked, wording)
        own = SchemeCodes(coded.scheme, coded.asked, (), counted_in, (), ())
        worded = coded_study(study.study, own, study.texts.values())
        found[wording] = list(clustered_by(worded, column).dimensions)
    return found


def drawings(results: Mapping[str, Result]) -> list[Drawing]:
    """The figures that the tables give."""
    given = {name: result.rows for name, result in results.items() if result.given}
    for name, make in {"equivalence_curve": _with_bounds, "corrected_means": _with_labels}.items():
        if len(given.get(name, ())):
            given[name] = make(given[name])
    if "pairs" in given:
        given["coefficients"] = _coefficients(given["pairs"])
    return drawings_of("codes", given)


def _coefficients(pairs: pd.DataFrame) -> pd.DataFrame:
    """Gwet's coefficient and kappa of every pair, dimension by dimension."""
    names = ["dimension", "a", "b", "estimate", "low", "high"]
    parts = []
    for _, own in pairs.groupby("dimension", sort=False):
        for name, columns in {"Gwet": names[3:], "kappa": KAPPA}.items():
            part = own[[*names[:3], *columns]].set_axis(names, axis=1)
            parts.append(part.assign(coefficient=name))
    return pd.concat(parts, ignore_index=True)


def _with_bounds(curve: pd.DataFrame) -> pd.DataFrame:
    """The curve, with the words for the bound from which p is below .05."""
    line = ["dimension", "anchor", "other"]
    smallest = curve["bound"].where(curve["p"] < 0.05)
    first = smallest.groupby([curve[name] for name in line]).transform("min")
    since = ["at none of these bounds" if x != x else f"from {x:.2f} on" for x in first]
    return curve.assign(since=since)


def _with_labels(means: pd.DataFrame) -> pd.DataFrame:
    """Means, with the words for the texts that each is of."""
    labels = []
    for row in means.to_dict("records"):
        labels.append(f"{row['by']} {row['part']}".strip() or "all texts")
    return means.assign(of_whom=labels)
