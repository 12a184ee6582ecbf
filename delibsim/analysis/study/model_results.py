"""Models side by side, over several studies: what each treatment changes against none, with what
sessions of each cost and lack; null citizens and people beside them.

Estimates and intervals are those of the table `by_model` of a report, of all studies together.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from delibsim.analysis.human.people import BENCHMARK
from delibsim.analysis.human.reference import of_topics
from delibsim.analysis.result import Result, make_table, said
from delibsim.analysis.study.blocks import NONE, placed
from delibsim.analysis.study.by_block import by_block
from delibsim.analysis.study.effects import ENOUGH, mean_of, noted
from delibsim.analysis.study.outcomes import OutcomeMeasure, missing
from delibsim.analysis.study.sample import CITIZENS, MODELS, PEOPLE, pooled_wordings
from delibsim.analysis.study.study_table import HELD, DrawCounts, StudyTable
from delibsim.domain.condition import Placed, conditions_of
from delibsim.domain.text import counted

MIXED, PUBLISHED = "people and models", "people, published"
ORDER = (MODELS, MIXED, PEOPLE, CITIZENS)
COMPARED = (OutcomeMeasure("dri"), OutcomeMeasure("diversity"))
VERSION = " answering as "
"""What parts the name of a model from its version."""
DRAWS = DrawCounts(permutations=100, resamples=100, parametric=100)
"""Nothing that is shown here is drawn."""
NOT_OF_PROCEDURE = ("survey", "seats", "branch")
"""Settings that follow from the topic, the models and the kind of study."""
TAKEN = (
    *("topic", "survey", "model", "null", "treatment", "paraphrase_of", "replicate", "format"),
    *("interaction", "group_size", "status", "people_seats", "refusals", "answers_expected"),
    *("answers_missing", "cost_usd", "dri_change", "diversity_change", "cell", "equal_to"),
)
"""The columns of the table of a study that are needed."""
AS_TYPED = {"True": "true", "False": "false", "None": "null"}
"""Values as they are typed in settings."""
OWN = ("session", "setting", "tokens", "record", "who")


@dataclass(frozen=True, eq=False)
class StudyOfModels:
    """A study among others: the name of its folder, its table, the facts of its sessions, the names
    under which each model answered, and by treatment a short digest of its instructions.
    """

    name: str
    table: StudyTable
    facts: Sequence[Mapping[str, Any]]
    versions: Mapping[str, str]
    texts: Mapping[str, str]


@dataclass(frozen=True)
class ModelSetting:
    """How sessions were held: the settings of the procedure, and those of models of one name, in
    which sessions of all these studies differ.
    """

    procedure: str = ""
    model: str = ""

    def __str__(self) -> str:
        return ", ".join(part for part in (self.procedure, self.model) if part)


def model_results(studies: Sequence[StudyOfModels]) -> Result:
    """The table of all models, a row a model, version, treatment and setting."""
    stated = _stated(studies)
    found = pd.DataFrame(_sessions(studies, stated), columns=[*TAKEN, *OWN])
    settings = {str(one): one for one in stated.values()}
    rows: list[dict[str, Any]] = []
    for who in ORDER:
        of_who = pooled_wordings(found[found["who"] == who])
        parts = [placed(own.reset_index(drop=True)) for _, own in of_who.groupby("record")]
        for setting, own in pd.concat(parts).groupby("setting", sort=True) if parts else ():
            # Treatments are compared within a study, whose blocks are of its topics and models.
            within = own.assign(setting=own["record"]).reset_index(drop=True)
            rows += _rows(within, who, settings[str(setting)])
    if rows:
        rows = [*_ranked(rows), *_published()]
    return make_table("results/models", rows)


def _stated(studies: Iterable[StudyOfModels]) -> dict[str, ModelSetting]:
    """How each session was held, by study and session."""
    of_procedure, of_model = [], []
    for study in studies:
        for row in study.facts:
            if "cell" not in row or row.get("models") is None:
                continue
            where = f"{study.name}/{row['session']}", f"{study.name}/{row['cell']}"
            own = [pair for pair in row["settings"] if pair[0].startswith(("model.", "models."))]
            shared = [
                (key, value)
                for key, value in row["settings"]
                if (key, value) not in own and key not in NOT_OF_PROCEDURE
            ]
            place = *where, row["replicate"]
            of_procedure.append(Placed(*place, ("", row["treatment"], ""), frozenset(shared)))
            of_model.append(Placed(*place, ("", "", row["models"]), frozenset(own)))
    procedures, models = conditions_of(of_procedure), conditions_of(of_model)
    return {
        name: ModelSetting(_in_words(procedures[name].settings), _in_words(models[name].settings))
        for name in procedures
    }


def _in_words(settings: Iterable[tuple[str, Any]]) -> str:
    """Settings in words, without the name of a cell, which tells conditions of a study apart."""
    told = [(key, AS_TYPED.get(str(value), value)) for key, value in settings if key != "sessions"]
    return ", ".join(f"{key}={value}" for key, value in told)


def _sessions(
    studies: Sequence[StudyOfModels], stated: Mapping[str, ModelSetting]
) -> Iterator[dict[str, Any]]:
    """The held sessions of all studies; treatments of one name with different
    instructions are told apart.
    """
    texts: dict[str, set[str]] = {}
    for study in studies:
        for name, digest in study.texts.items():
            texts.setdefault(name, set()).add(digest)
    for study in studies:
        columns = list(map(str, study.table.rows.columns))
        tokens = {row["session"]: row.get("tokens") for row in study.facts}
        for values in study.table.plain_rows():
            row = dict(zip(columns, values, strict=True))
            name = f"{study.name}/{row['session']}"
            if name not in stated or row["status"] not in HELD:
                continue
            version = "+".join(study.versions.get(one, "") for one in row["model"].split("+"))
            treatment = row["treatment"]
            if len(texts.get(treatment, ())) > 1:
                treatment = f"{treatment} ({study.texts.get(treatment, '')})"
            model = f"{row['model']}{VERSION}{version}" if version.strip("+") else row["model"]
            own = {"treatment": treatment, "model": model}
            own |= {"session": name, "setting": str(stated[name]), "record": study.name}
            own |= {"who": _who(row), "tokens": tokens.get(row["session"])}
            for cell in ("cell", "equal_to"):
                own[cell] = f"{study.name}/{row[cell]}" if row[cell] else None
            yield {column: row.get(column) for column in TAKEN} | own


def _who(row: Mapping[str, Any]) -> str:
    if row["null"]:
        return CITIZENS
    if not row["people_seats"]:
        return MODELS
    return PEOPLE if row["people_seats"] == row["group_size"] else MIXED


def _rows(sessions: pd.DataFrame, who: str, setting: ModelSetting) -> Iterator[dict[str, Any]]:
    """A row a model and treatment; of a model without a treatment one on what it was held under."""
    study = StudyTable("", sessions, (), paired=False, outcomes=COMPARED)
    by_model = by_block(study, DRAWS)[0]
    found = {}
    for row in by_model.plain() if by_model.given else ():
        if row["b"] == NONE:
            found[row["outcome"], row["model"], row["a"]] = row
    pairs = sessions[["model", "treatment"]].drop_duplicates().sort_values(["model", "treatment"])
    for model, treatment in pairs.itertuples(index=False):
        own = sessions[(sessions["model"] == model) & (sessions["treatment"] == treatment)]
        alone = set(sessions.loc[sessions["model"] == model, "treatment"]) == {NONE}
        if treatment == NONE and not alone:
            continue
        named = {"who": who, "treatment": treatment}
        named["model"], _, named["version"] = model.partition(VERSION)
        named |= {"procedure": setting.procedure, "settings": setting.model}
        index, diversity = (found.get((one.measure, model, treatment), {}) for one in COMPARED)
        effect = {name: index.get(name) for name in ("estimate", "low", "high", "unit")}
        effect |= {"topics": index.get("n"), "diversity": diversity.get("estimate")}
        effect |= {f"diversity_{end}": diversity.get(end) for end in ("low", "high")}
        why = index.get("note") or ""
        if not index:
            why = said("results/only_none" if alone else "results/no_none")
            why = why if by_model.given or alone else f"no_value: {by_model.detail}"
        yield {**named, **effect, **_of_sessions(own, why)}


def _of_sessions(held: pd.DataFrame, why: str) -> dict[str, Any]:
    """What sessions lack and cost, each a mean over them; None as soon as one is unknown."""
    told: dict[str, Any] = {"sessions": len(held)}
    notes = [why]
    for name in ("refusals", "tokens", "cost_usd"):
        values = held[name].astype(float)
        told[name] = values.mean() if values.notna().all() else None
        if told[name] is None:
            unknown = counted(int(values.isna().sum()), "session")
            notes.append(f"{name} unknown: of {unknown}")
    expected = held["answers_expected"].astype(float).sum()
    lacking = held["answers_missing"].astype(float)
    told["studies"] = "; ".join(dict.fromkeys(held["record"]))
    known = expected > 0 and lacking.notna().all()
    if told["tokens"] is not None:
        told["tokens"] = round(told["tokens"])
    told["missing"] = lacking.sum() / expected if known else None
    return told | {"note": noted(*notes)}


def _ranked(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows in order, models by their estimate within a treatment and procedure; a rank is given
    only to a model with an interval over enough topics.
    """

    def can_be(row: Mapping[str, Any]) -> bool:
        known = not missing(row["estimate"]) and not missing(row["low"])
        return row["who"] == MODELS and known and row["unit"] == "topic" and row["topics"] >= ENOUGH

    groups: dict[tuple[str, str], list[float]] = {}
    for row in filter(can_be, rows):
        groups.setdefault((row["procedure"], row["treatment"]), []).append(row["estimate"])
    for row in rows:
        among = groups.get((row["procedure"], row["treatment"]), [])
        better = sum(estimate > row["estimate"] for estimate in among) if can_be(row) else 0
        row["rank"] = better + 1 if can_be(row) and len(among) > 1 else None
        if row["who"] == MODELS and not can_be(row):
            row["note"] = noted("not_ranked", row["note"])
    return sorted(rows, key=_place)


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Where a row stands: those without a rank behind those with one."""
    ranked = row["rank"] is None, row["rank"] or 0
    return ORDER.index(row["who"]), row["procedure"], row["treatment"], *ranked


def _published() -> Iterator[dict[str, Any]]:
    """The row of people in the deliberations of the benchmark, who have no group under none."""
    index, diversity = (
        mean_of(of_topics(BENCHMARK, one.measure, "change"), "topic", DRAWS)[0] for one in COMPARED
    )
    row = {name: index[name] for name in ("estimate", "low", "high")}
    row |= {"diversity": diversity["estimate"], "topics": index["n"], "unit": "topic"}
    row |= {f"diversity_{end}": diversity[end] for end in ("low", "high")}
    yield {"who": PUBLISHED, **row, "note": said("results/published")}
