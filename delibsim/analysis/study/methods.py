"""The methods of a study in sentences, and the checklist of reporting, from its record."""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from delibsim.analysis.pages.page import Entry
from delibsim.analysis.study.record import Asked, Record
from delibsim.analysis.study.study_table import Draws, StudyTable
from delibsim.analysis.study.table_of_study import knows_seeds
from delibsim.domain.text import counted
from delibsim.store.reading import read_yaml

ANALYSED_WITH = ("delibsim", "numpy", "scipy", "pandas", "statsmodels")
PARAMETERS = ("temperature", "top_p", "max_tokens", "seed", "reasoning_effort")
"""Settings of a model that are named in the methods, where they are stated."""


@cache
def texts() -> dict[str, Any]:
    """The sentences of methods and checklist, from data/methods.yaml."""
    return read_yaml(Path(__file__).parents[2] / "data" / "methods.yaml")


def methods(study: StudyTable, draws: Draws, record: Record | None) -> list[str]:
    """The paragraphs of the methods; less where a study comes as a table alone."""
    paragraphs = [_design(study)]
    if record is None:
        paragraphs.append(texts()["not_recorded"])
    else:
        paragraphs += [_procedure(study, record), _models(record), _software(record)]
    test = "flipping the signs of all differences of a draw" if study.paired else "permuting labels"
    versions = ", ".join(f"{name} {own}" for name, own in versions_now().items())
    analysis = texts()["analysis"].format(**vars(draws), test=test, versions=versions)
    return [*paragraphs, analysis]


def versions_now() -> dict[str, str]:
    """The versions of what analysed the study."""
    found = {}
    for name in ANALYSED_WITH:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found


def _design(study: StudyTable) -> str:
    """The factors, their levels, and how often."""
    rows = study.rows
    parts = []
    for column, many in (("topic", "topics"), ("model", "set-ups"), ("treatment", "treatments")):
        levels = list(map(str, rows[column].drop_duplicates()))
        named = f" ({', '.join(levels)})" if len(levels) <= 12 else ""
        parts.append(f"{len(levels)} {_one(many, len(levels))}{named}")
    settings = [one for one in rows["setting"].drop_duplicates() if one]
    if settings:
        parts.append(f"{len(settings)} further settings ({'; '.join(map(str, settings[:8]))})")
    replicates = rows["replicate"].nunique()
    parts.append(f"{replicates} {_one('replicates', replicates)}")
    pairs = "paired" if knows_seeds(rows) else "unknown"
    return texts()["design"].format(
        factors="; ".join(parts),
        sessions=counted(len(rows), "session"),
        pairs=texts()["pairs"][pairs if study.paired else "apart"],
    )


def _one(many: str, n: int) -> str:
    return many.removesuffix("s") if n == 1 else many


def _procedure(study: StudyTable, record: Record) -> str:
    """What a session was: survey, speech, survey; wording and procedure by name."""
    treatments = []
    for name, own in record.components("treatments").items():
        spoken = _speech(study, name) if own.get("interaction") else "no speech"
        treatments.append(f"{name} ({spoken})")
    personas = [name for name in record.components("personas") if name != "none"]
    said = f"Personas: {', '.join(personas)}." if personas else "No personas were given."
    return texts()["procedure"].format(
        treatments="; ".join(treatments),
        wordings=", ".join(record.components("wordings")),
        procedures=", ".join(record.components("procedures")),
        personas=said,
        seed=record.seed,
    )


def _speech(study: StudyTable, treatment: str) -> str:
    """The rounds that sessions of a treatment had: a study may set others than its treatment."""
    rows = study.rows[study.rows["treatment"] == treatment]
    known = rows["rounds"].dropna() if "rounds" in rows.columns else rows.iloc[:0]["treatment"]
    levels = sorted({int(rounds) for rounds in known})
    if not levels:
        return "rounds of speech not known"
    named = ", ".join(map(str, levels[:-1]))
    listed = f"{named} or {levels[-1]}" if named else str(levels[-1])
    return f"{listed} {'round' if levels == [1] else 'rounds'} of speech"


def _models(record: Record) -> str:
    """Models requested and returned, and what was sent."""
    if all(model.embedded for model in record.models):
        names = ", ".join(model.name for model in record.models)
        return texts()["citizens"].format(names=names)
    return "Models: " + " ".join(map(model_in_words, record.models))


def model_in_words(model: Asked) -> str:
    """One model: what was requested, who answered, what was sent."""
    requested = str(model.settings.get("model") or model.settings.get("kind") or model.name)
    said = f"{model.name}: requested {requested}"
    if model.returned:
        said += f", answered as {', '.join(model.returned)}"
    elif not model.embedded:
        said += ", under which name it answered is not recorded"
    sent = _parameters(model.sent)
    stated = _parameters(model.settings)
    if sent:
        said += f"; sent with a recorded call: {sent}"
    elif stated:
        said += f"; stated in its preset: {stated}"
    if "temperature" not in model.sent and model.sent:
        said += "; no temperature was sent"
    if model.dropped:
        said += f"; requested and not taken by the provider: {', '.join(model.dropped)}"
    return said + "."


def _parameters(settings: Mapping[str, Any]) -> str:
    named = [(name, settings[name]) for name in PARAMETERS if settings.get(name) is not None]
    return ", ".join(f"{name} {value}" for name, value in named)


def _software(record: Record) -> str:
    """When and with what the study was held, and what was added since."""
    begun = record.manifest.begun
    at = begun.get("at", "an unknown time")
    said = f"The study began at {at} with {_versions(record) or 'versions that are not recorded'}."
    for name, commit in begun.get("commit", {}).items():
        said += f" Commit of {name}: {commit}."
    for change in record.manifest.amendments:
        said += f" At {change.get('at')}, sessions were added: {change.get('sessions')}."
    return said


def _versions(record: Record) -> str:
    return ", ".join(f"{name} {own}" for name, own in record.versions.items())


def checklist(study: StudyTable, record: Record | None, runs: Mapping[str, int]) -> list[Entry]:
    """What a reader must be told of the study, each with its place or as still to be written."""
    listed = texts()["checklist"]
    values: dict[str, Any] = {"counts": ", ".join(f"{n:,} {what}" for what, n in runs.items())}
    terms = dict(listed["of_all"])
    if record is not None:
        changed = len(record.manifest.amendments)
        listed_in = f"{changed}, listed in study.json and in the methods."
        values |= {
            "models": " ".join(map(model_in_words, record.models)),
            "begun": record.manifest.begun.get("at", "unknown"),
            "versions": _versions(record) or "not recorded",
            "seed": record.seed,
            "surveys": ", ".join(record.components("surveys")) or "none",
            "changes": listed_in if changed else "None.",
        }
        terms |= listed["recorded"]
    entries = [Entry(term, said.format(**values)) for term, said in terms.items()]
    if record is None:
        entries += [Entry(term, listed["not_in_table"], open=True) for term in listed["lost"]]
    elif record.preregistered:
        entries.append(Entry("Preregistration", listed["plan"].format(plan=record.preregistered)))
    else:
        entries.append(Entry("Preregistration", listed["no_plan"], open=True))
    authors = listed["of_authors"].items()
    return [*entries, *(Entry(term, said, open=True) for term, said in authors)]
