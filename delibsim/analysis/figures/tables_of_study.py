"""Tables of figures of a study that are made of its sessions, of people and of several tables."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.figures.entries import Data
from delibsim.analysis.figures.points import few
from delibsim.analysis.figures.style import in_order, number
from delibsim.analysis.figures.words import (
    NULL_WORDS,
    interval_over,
    is_null,
    known_people,
    label_of,
    left_out,
    of_benchmark,
    of_fives,
    of_models,
    of_null,
    of_outcome,
    population,
    rows_of,
    why_no_people,
)
from delibsim.analysis.result import Result, said
from delibsim.analysis.study.outcomes import CHANGE, measured, quantity
from delibsim.analysis.study.people import OF_PEOPLE, PAIRS
from delibsim.analysis.study.sample import FIVES, treatments_of
from delibsim.analysis.study.sample import MODELS as LANGUAGE_MODELS
from delibsim.analysis.study.study_table import StudyTable
from delibsim.analysis.study.summary import MAIN, main_contrasts
from delibsim.domain.score import CATALOGUE
from delibsim.domain.survey import PHASES
from delibsim.domain.text import counted

Results = Mapping[str, Result]
Prepare = Callable[[StudyTable, Results], Data]
NOTHING = Data(pd.DataFrame())
REAL_PEOPLE = "people"


def regression(measure: str, table: str) -> Prepare:
    """Change against the value before with its fitted line: treatments, null citizen, people."""

    def prepared(study: StudyTable, results: Results) -> Data:
        before, change = f"{measure}_pre", f"{measure}_change"
        known = of_models(study, change)
        if known.empty:
            return NOTHING
        named = {"pre": before, "change": change}
        groups = {name: known[known["treatment"] == name] for name in treatments_of(known)}
        groups[NULL_WORDS] = of_null(study, change)
        people = of_benchmark(study, measure)
        groups[REAL_PEOPLE] = people.rename(columns=named)
        groups[FIVES] = of_fives(people["topic"], measure).rename(columns=named)
        groups = {name: own for name, own in groups.items() if len(own)}
        fits = rows_of(results, table)
        parts = []
        for name, own in groups.items():
            values = own[[before, change]].set_axis(["before", "change"], axis=1)
            parts.append(values.assign(group=name, size=len(own), **_fit(fits, name)))
        most = few(len(groups))
        many = max(map(len, parts)) > most
        more = f" More than {most} sessions: squares, darker for more of them." if many else ""
        more += said("study/people_of_five") if len(people) else ""
        more += why_no_people(study, measure) + left_out(study, known, change)
        facts = {"sessions": len(known), "whose": population(study)}
        return Data(pd.concat(parts), facts, more)

    return prepared


def _fit(fits: pd.DataFrame, who: str) -> dict[str, Any]:
    """The slope of a population, and what stands of it in its panel and in the words."""
    own = fits[(fits["population"] == who) & fits["slope"].notna()] if len(fits) else fits
    if own.empty:
        return {"slope": float("nan"), "corner": "", "told": "no fitted line"}
    fit = own.iloc[0]
    ends = ("slope", "low", "high", "corrected", "corrected_low", "corrected_high")
    slope, low, high, corrected, lowest, highest = (number(fit[end], 2) for end in ends)
    said = "not corrected"
    if fit["corrected"] == fit["corrected"]:
        interval = f" [{lowest}, {highest}]" if fit["corrected_low"] == fit["corrected_low"] else ""
        said = f"corrected {corrected}{interval}"
    r2 = f"R² {number(fit['r2'], 2)}"
    told = f"slope {slope} [{low}, {high}], {r2}, {said}"
    return {"slope": fit["slope"], "corner": f"slope {slope}, {r2}\n{said}", "told": told}


MOST_CONDITIONS, LINES, GROUPS = 40, 80, 8
"""Conditions, lines of a panel and groups of pairs that are drawn at most."""
UNITS = {
    "topic": "topics",
    "draw": "draws (replicates, averaged over models)",
    "session": "sessions",
}
BY_TREATMENT = ["a", "b"]
TOTALS = ("aqua.sum", "aqua.score")
INDICATORS = {
    measure.id: measure.label.removeprefix("AQuA ")
    for measure in CATALOGUE["aqua"]
    if measure.id not in TOTALS
}
"""Labels of the twenty indicators by the column of the table that holds them."""


def _drawn(rows: pd.DataFrame, outcome: str, scale: str) -> pd.DataFrame:
    """The rows of a result that are drawn: those on the primary outcome."""
    if rows.empty:
        return rows
    own = (rows["outcome"] == outcome) & (rows["scale"] == scale)
    return rows[own & rows["estimate"].notna()]


def _primary(results: Results) -> tuple[str, str]:
    """The primary outcome of the contrasts and its scale; the index where there is none."""
    (first, *_), _ = main_contrasts(results) or ([{"outcome": MAIN, "scale": CHANGE}], False)
    return str(first["outcome"]), str(first["scale"])


def _axis(outcome: str, scale: str) -> str:
    return f"Difference in the {quantity(outcome, scale, label_of(outcome))}"


def _of_models(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of language models; of the null citizen where a study holds nobody else."""
    if rows.empty:
        return rows
    models = rows["population"] == LANGUAGE_MODELS
    return rows[models] if models.any() else rows


def _units(rows: pd.DataFrame) -> str:
    """What the intervals of these rows rest on."""
    return " or ".join(UNITS[unit] for unit in rows["unit"].unique())


def _effects(study: StudyTable, results: Results) -> Data:
    """The contrasts on the primary outcome: of the study, of the null citizen; people's change."""
    outcome, scale = _primary(results)
    every = rows_of(results, "contrasts")
    rows = _drawn(every, outcome, scale)
    if rows.empty:
        return NOTHING
    both = every["population"].nunique() > 1
    own, name = _of_models(rows), rows["a"].astype(str) + " − " + rows["b"].astype(str)
    null = rows["population"] == NULL_WORDS
    rows = rows.assign(
        label=name.mask(null & both, NULL_WORDS),
        spoken=(name + f", {NULL_WORDS}").where(null & both, ""),
        look=np.where(null, NULL_WORDS, "all models"),
        place=pd.factorize(name)[0],
        is_null=null,
        of_people=False,
    )
    rows = rows.sort_values(["place", "is_null"], kind="stable")
    topics = int(own["topics"].max())
    units = _units(own) + (" of this topic" if topics == 1 else "")
    axis = _axis(outcome, scale)
    facts = {"label": measured(outcome), "axis": axis, "topics": topics, "units": units}
    more = " Circles: this study; crosses: the null citizen." if both else ""
    people = _change_of_people(results, outcome, scale)
    if people:
        rows = pd.concat([rows, pd.DataFrame([people])])
        more += said("study/star", topics=counted(int(people["topics"]), "topic"))
    return Data(rows, facts | {"blocks": int(own["blocks"].max())}, more)


def _change_of_people(results: Results, outcome: str, scale: str) -> dict[str, Any]:
    """The row of people's change on the topics of the study; empty where it is not known."""
    rows = rows_of(results, "people")
    if rows.empty or scale != CHANGE:
        return {}
    known = rows[(rows["outcome"] == outcome) & (rows["phase"] == "change")].dropna(subset="people")
    words = {"label": "people, before to after", "look": REAL_PEOPLE, "spoken": ""}
    for own in known.head(1).to_dict("records"):
        return {**words, "estimate": own["people"], "topics": own["topics"], "of_people": True}
    return {}


def _by(unit: str) -> Prepare:
    """Every contrast within every model or topic, with the pooled estimate below."""

    def prepared(study: StudyTable, results: Results) -> Data:
        primary = _primary(results)
        rows = _drawn(rows_of(results, f"by_{unit}"), *primary)
        if rows.empty:
            return NOTHING
        rows = rows.drop_duplicates([*BY_TREATMENT, unit])
        first = (rows[BY_TREATMENT] == rows[BY_TREATMENT].iloc[0]).all(axis=1)
        placed = rows[first].sort_values("estimate", ascending=False)[unit].astype(str).tolist()
        placed += sorted(set(rows[unit].astype(str)) - set(placed))
        order = {name: place for place, name in enumerate(placed)}
        rows = rows.assign(label=rows[unit].astype(str), aside="", pooled=False)
        rows = rows.assign(place=rows["label"].map(order), n_units=rows.get("n"))
        pairs = rows[BY_TREATMENT].drop_duplicates().assign(pair=lambda own: range(len(own)))
        pooled = _drawn(_of_models(rows_of(results, "contrasts")), *primary)
        parts = [rows, pooled.assign(label="pooled", aside="", pooled=True, place=len(order))]
        without = pd.DataFrame()
        if unit == "topic":
            without = _drawn(rows_of(results, "leave_one_out"), *primary)
        if len(without):
            parts += _ends(without, len(order) + 1)
        found = pd.concat(parts).merge(pairs, on=BY_TREATMENT)
        found = found.sort_values(["pair", "place"], kind="stable")
        units = "topics" if unit == "model" else _units(rows)
        facts = {"names": len(order), "units": units, "axis": _axis(*primary)}
        return Data(found, facts, _said_by(unit, rows, bool(len(without))))

    return prepared


def _ends(without: pd.DataFrame, place: int) -> list[pd.DataFrame]:
    """The lowest and the highest estimate of every contrast with one topic left out."""
    found = []
    groups = without.groupby(BY_TREATMENT, sort=False)["estimate"]
    words = {"lowest": groups.idxmin(), "highest": groups.idxmax()}
    for rank, (word, ends) in enumerate(words.items()):
        own = without.loc[ends]
        aside = "without " + own["left_out"].astype(str)
        named = {"label": f"{word} without a topic", "aside": aside}
        found.append(own.assign(**named, pooled=False, place=place + rank))
    return found


def _said_by(unit: str, rows: pd.DataFrame, without: bool) -> str:
    more = ""
    if "n" in rows.columns and rows["n"].notna().any():
        low, high = int(rows["n"].min()), int(rows["n"].max())
        count = number(low, 0) if low == high else f"{low} to {high}"
        more = f" Each row averages {count} {'topics' if unit == 'model' else 'models'}."
    least = " Below it: the lowest and the highest pooled estimate with one topic left out."
    return more + least if without else more


def _families(study: StudyTable, results: Results) -> Data:
    """Differences of families, the largest first, and over all of them."""
    rows = rows_of(results, "reasoning")
    if rows.empty:
        return NOTHING
    rows = of_outcome(rows, "dri").dropna(subset=["estimate"])
    of_all = rows["family"] == "all"
    if of_all.all():
        return NOTHING
    label = rows["family"].astype(str).mask(of_all, "all families")
    rows = rows.assign(label=label, pooled=of_all)
    rows = rows.sort_values("estimate", ascending=False).sort_values("pooled", kind="stable")
    return Data(rows, {"families": int((~of_all).sum())})


def _before_after(study: StudyTable, results: Results) -> Data:
    """Means before and after by condition, with people's value on the same topics."""
    known = study.analysed("dri_change")
    if known.empty:
        return NOTHING
    every = _conditions(known)
    people = known_people(study, "dri")
    found, more = every[:MOST_CONDITIONS], ""
    if len(people):
        topics = counted(len(people), "topic")
        own = people.rename(columns={"pre": "dri_pre", "post": "dri_post"})
        found.append({"label": REAL_PEOPLE, "look": REAL_PEOPLE, "size": topics, **_means(own)})
        more = said("study/people_drawn", topics=topics)
    more += why_no_people(study, "dri") + left_out(study, known, "dri_change")
    if len(every) > MOST_CONDITIONS:
        more += f" The first {MOST_CONDITIONS} of {len(every)} conditions are drawn."
    facts = {"topics": known["topic"].nunique(), "sessions": len(known)}
    return Data(pd.DataFrame(found), facts, more)


def _conditions(known: pd.DataFrame) -> list[dict[str, Any]]:
    """The conditions of models, then those of the null citizen where it stands beside models."""
    null = is_null(known)
    beside = bool(null.any() and not null.all())
    parts = {"": known[~null], f"{NULL_WORDS}: ": known[null]} if beside else {"": known}
    found = []
    for before, part in parts.items():
        for treatment in treatments_of(part):
            own = part[part["treatment"] == treatment]
            for setting, rows in own.groupby(own["setting"].fillna("").astype(str)):
                label = ", ".join(filter(None, (f"{before}{treatment}", setting)))
                named = {"label": label, "look": NULL_WORDS if before else treatment}
                found.append({**named, "size": f"n = {len(rows):,}", **_means(rows)})
    return found


def _means(rows: pd.DataFrame) -> dict[str, float]:
    """Means over topics before and after, each with its interval."""
    by_topic = rows.groupby("topic")[["dri_pre", "dri_post"]].mean()
    found = {}
    for phase in PHASES:
        names = phase, f"{phase}_low", f"{phase}_high"
        found |= dict(zip(names, interval_over(by_topic[f"dri_{phase}"]), strict=True))
    return found


def _trajectories(study: StudyTable, results: Results) -> Data:
    """The index of every session before and after, people's mean beside."""
    known = of_models(study, "dri_change")
    if known.empty:
        return NOTHING
    people = known_people(study, "dri")
    rows = _in_order(known, treatments_of(known)).rename(
        columns={"dri_pre": "pre", "dri_post": "post", "dri_change": "change"}
    )
    rows = rows.assign(people_pre=people["pre"].mean(), people_post=people["post"].mean())
    more = ""
    if known["treatment"].value_counts().max() > LINES:
        more += said("study/lines_drawn", lines=LINES)
    more += " Bold: the mean of all sessions of the treatment."
    if len(people):
        more += f" Dashed, with stars: people's mean on {counted(len(people), 'topic')}."
    more += left_out(study, known, "dri_change")
    facts = {"sessions": len(known), "whose": population(study)}
    return Data(rows, facts, more)


def _in_order(rows: pd.DataFrame, treatments: Sequence[str]) -> pd.DataFrame:
    """Rows by treatment, in the order of figures, with the treatment as the column `panel`."""
    parts = [rows[rows["treatment"] == name].assign(panel=name) for name in treatments]
    return pd.concat(parts)


def _indicators(study: StudyTable, results: Results) -> Data:
    """The mean of every indicator under every treatment, with intervals over topics."""
    shown = [name for name in INDICATORS if len(study.analysed(name))]
    if not shown:
        return NOTHING
    known = of_models(study, shown[0])
    found = []
    for treatment in treatments_of(known):
        own = known[known["treatment"] == treatment].groupby("topic")[shown].mean()
        for name in shown:
            found.append([INDICATORS[name], treatment, *interval_over(own[name])])
    rows = pd.DataFrame(found, columns=["indicator", "treatment", "mean", "low", "high"])
    highest = rows.groupby("indicator", sort=False)["mean"].transform("max")
    order = highest.sort_values(ascending=False, kind="stable").index
    facts = {"topics": known["topic"].nunique(), "sessions": len(known)}
    facts["whose"] = population(study)
    return Data(rows.loc[order].sort_values("treatment", kind="stable", key=_places), facts)


def _places(treatments: pd.Series) -> pd.Series:
    order = in_order(treatments.unique().tolist())
    return treatments.map({name: place for place, name in enumerate(order)})


def _pairs(study: StudyTable, results: Results) -> Data:
    """Every pair by condition, before and after; people where their answers are there."""
    pairs, people = rows_of(results, PAIRS), rows_of(results, OF_PEOPLE)
    every = _groups_of_pairs(study, pairs, people)
    if not every:
        return NOTHING
    others = [name for name in every if name != REAL_PEOPLE]
    names = [name for name in (*others[:GROUPS], REAL_PEOPLE) if name in every]
    drawn = {name: every[name].dropna() for name in names}
    most, more = few(2 * len(drawn)), ""
    if max(own["phase"].value_counts().max() for own in drawn.values()) > most:
        more += f" More than {most} pairs: squares, darker for more of them."
    lost = sum(int(own["considerations"].isna().sum()) for own in every.values())
    if lost:
        more += f" {counted(lost, 'survey')} with undefined correlations are left out."
    why = results.get(OF_PEOPLE)
    if why is not None and not why.given:
        more += f" No people: {why.detail}"
    if len(every) > len(drawn):
        absent = [name for name in every if name not in drawn]
        more += f" Not drawn: {', '.join(absent)}."
    return Data(pd.concat(own.assign(panel=name) for name, own in drawn.items()), more=more)


def _groups_of_pairs(
    study: StudyTable, pairs: pd.DataFrame, people: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Pairs by treatment, of the null citizen and of people, of those that have both phases."""
    found = {}
    if len(pairs):
        plan = study.rows[["session", "treatment"]].assign(null=is_null(study.rows))
        own = pairs.merge(plan, left_on="group", right_on="session", how="inner")
        own = own.drop(columns=["session", "note"])
        beside = bool(own["null"].any() and not own["null"].all())
        models = own[~own["null"]] if beside else own
        for name in in_order(models["treatment"].astype(str).unique().tolist()):
            found[name] = models[models["treatment"] == name]
        if beside:
            found[NULL_WORDS] = own[own["null"]]
    if len(people):
        found[REAL_PEOPLE] = people.drop(columns="note")
    return {name: own for name, own in found.items() if set(PHASES) <= set(own.dropna()["phase"])}


def _individual(study: StudyTable, results: Results) -> Data:
    """How far every participant moved, by treatment."""
    rows = rows_of(results, "individual_change")
    columns = ["mean_change_c", "mean_change_p", "tau", "items_changed"]
    shown = [name for name in columns if name in rows.columns and rows[name].notna().any()]
    if not shown:
        return NOTHING
    facts = {"participants": len(rows), "sessions": rows["session"].nunique()}
    undefined, more = int(rows[shown].isna().any(axis=1).sum()), ""
    if rows["treatment"].value_counts().max() > 60:
        more += " Points: 60 of them at even steps of the value."
    if undefined:
        more += f" {undefined:,} lack one of the values and are left out where they do."
    return Data(_in_order(rows, treatments_of(rows)), facts, more)


def _specifications(study: StudyTable, results: Results) -> Data:
    """Every estimate of a contrast; all topics that are left out in turn are one choice."""
    rows = rows_of(results, "specifications")
    rows = rows if rows.empty else rows[rows["estimate"].notna()]
    if rows.empty:
        return NOTHING
    left = "one " + rows["left_out"].str.partition(" ")[0]
    return Data(rows.assign(left_out=left.replace("one nothing", "nothing")))


PREPARED: Mapping[str, Prepare] = {
    "effects": _effects,
    "effects_by_model": _by("model"),
    "effects_by_topic": _by("topic"),
    "families": _families,
    "conditions": _before_after,
    "sessions": _trajectories,
    "pairs": _pairs,
    "participants": _individual,
    "dri_slopes": regression("dri", "ceiling"),
    "diversity_slopes": regression("diversity", "convergence"),
    "indicators": _indicators,
    "estimates": _specifications,
}
"""The tables by the name under which data/figures/study.yaml has them."""
