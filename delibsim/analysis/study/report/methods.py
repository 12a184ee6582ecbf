"""The methods of a study in sentences, from its record and its table, as a paper needs them."""

from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.report.record import Asked, Record
from delibsim.analysis.study.study_table import StudyTable
from delibsim.analysis.study.table.table_of_study import knows_seeds
from delibsim.domain.text import counted

ANALYSED_WITH = ("delibsim", "numpy", "scipy", "pandas", "statsmodels")
PARAMETERS = ("temperature", "top_p", "max_tokens", "seed", "reasoning_effort")
"""Settings of a model that are named in the methods, where they are stated."""


def methods(study: StudyTable, draws: Draws, record: Record | None) -> list[str]:
    """The paragraphs of the methods; less where a study comes as a table alone."""
    paragraphs = [_design(study)]
    if record is None:
        paragraphs.append(
            "The study came as a table: how its sessions were held, by which models and with which"
            " prompts, is not recorded in it and must be taken from its authors."
        )
    else:
        paragraphs += [_procedure(study, record), _models(record), _software(record)]
    paragraphs.append(_analysis(study, draws))
    return paragraphs


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
    paired = (
        "Treatments of one replicate share people, orders of speakers and orders of items, so that"
        " they are compared in pairs."
    )
    if not study.paired:
        paired = "Treatments of one replicate share nothing and are compared without pairs."
    elif not knows_seeds(rows):
        paired = "Whether treatments of one replicate share seeds is not recorded."
    return (
        f"The design crosses {'; '.join(parts)}: {counted(len(rows), 'session')} in all. {paired}"
    )


def _one(many: str, n: int) -> str:
    return many.removesuffix("s") if n == 1 else many


def _procedure(study: StudyTable, record: Record) -> str:
    """What a session was: survey, speech, survey; wording and procedure by name."""
    treatments = []
    for name, own in record.components("treatments").items():
        spoken = _speech(study, name) if own.get("interaction") else "no speech"
        treatments.append(f"{name} ({spoken})")
    wordings = ", ".join(record.components("wordings"))
    procedures = ", ".join(record.components("procedures"))
    personas = [name for name in record.components("personas") if name != "none"]
    said = f"Personas: {', '.join(personas)}." if personas else "No personas were given."
    return (
        "Every participant answered the survey (ratings of considerations, ranks of policy options)"
        " before and after the session. Unreadable answers were asked for again with the concrete"
        " fault; what stayed missing is missing, and nothing is imputed. Treatments:"
        f" {'; '.join(treatments)}. Wording of prompts: {wordings}; procedure: {procedures}; both"
        " are frozen with the study."
        f" {said} The seed of the study is {record.seed}; every draw is seeded by it, the topic,"
        " the replicate and its own name."
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
        return (
            f"All participants were embedded citizens ({names}): a null model of opinions that"
            " computes with numbers and understands no language. No language model was asked"
            " anything."
        )
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
    versions = ", ".join(f"{name} {own}" for name, own in record.versions.items())
    said = f"The study began at {at} with {versions or 'versions that are not recorded'}."
    for name, commit in begun.get("commit", {}).items():
        said += f" Commit of {name}: {commit}."
    for change in record.manifest.amendments:
        said += f" At {change.get('at')}, sessions were added: {change.get('sessions')}."
    return said


def _analysis(study: StudyTable, draws: Draws) -> str:
    """The tests and intervals, and their draws."""
    test = "flipping the signs of all differences of a draw" if study.paired else "permuting labels"
    return (
        "Analysis: a contrast of two treatments is the unweighted mean, over blocks of topic,"
        " set-up and setting, of the difference of means. Over topics like these, its interval and"
        " p value are by t over the means of topics; on these topics, its p value comes from"
        f" {test} ({draws.permutations:,} where not all can be listed). Holm's correction is"
        " within a family of contrasts. Published studies print percentile bootstrap intervals over"
        f" topics, which stand in columns of their own ({draws.resamples:,} resamples)."
        f" Seed of all draws: {draws.seed}. Analysed with {', '.join(_versions())}."
    )


def _versions() -> Iterator[str]:
    for name, own in versions_now().items():
        yield f"{name} {own}"
