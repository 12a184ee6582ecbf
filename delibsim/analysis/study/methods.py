"""The methods of a study in sentences, and the checklist of reporting, from its record."""

from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from delibsim.analysis.pages.page import Entry
from delibsim.analysis.study.record import Asked, Record
from delibsim.analysis.study.study_table import Draws, StudyTable
from delibsim.analysis.study.table_of_study import knows_seeds
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


AUTHORS = {
    "Question and hypotheses": "What was asked, and what was expected before the study began.",
    "Primary outcome": "The one measure and contrast that decide, if they were fixed beforehand.",
    "Sample size": "Why this many topics, models and replicates (`delibsim power`).",
    "Choice of models": "Why these models, and for whom findings about them should hold.",
    "Validity": "What the answers of language models stand for here, and what they do not.",
    "Ethics and funding": "Approval, interests, and who paid for the calls.",
    "Availability": "Where runs, tables and code can be had (`delibsim export`).",
}


def checklist(study: StudyTable, record: Record | None, runs: Mapping[str, int]) -> list[Entry]:
    """What a reader must be told of the study, each with its place or as still to be written."""
    entries = list(_recorded(study, record, runs))
    for term, said in AUTHORS.items():
        entries.append(Entry(term, said, open=True))
    return entries


def _recorded(study: StudyTable, record: Record | None, runs: Mapping[str, int]) -> Iterator[Entry]:
    counts = ", ".join(f"{n:,} {what}" for what, n in runs.items())
    yield Entry("Sessions", f"{counts}; by condition in tables/counts.csv.")
    yield Entry("Unit of analysis", "The topic; blocks are topic, set-up and setting.")
    yield Entry("Missing data", "Counted by reason in tables/study.csv; nothing is imputed.")
    if record is None:
        for term in ("Models and versions", "Parameters", "Prompts", "Dates", "Software", "Seeds"):
            yield Entry(term, "Not recorded in the table that was analysed.", open=True)
        return
    models = " ".join(map(model_in_words, record.models))
    yield Entry("Models, versions and parameters", f"{models} (study.json, fingerprints.jsonl)")
    texts = "Every prompt and reply word for word in exchanges.jsonl; treatments and"
    yield Entry("Prompts", f"{texts} wordings in study.json.")
    yield Entry("Dates", f"Begun {record.manifest.begun.get('at', 'unknown')}; each call is dated.")
    versions = ", ".join(f"{name} {own}" for name, own in record.versions.items())
    yield Entry("Software", f"{versions or 'not recorded'} (study.json).")
    yield Entry("Seeds", f"{record.seed}; every draw follows from it by name.")
    surveys = ", ".join(record.components("surveys"))
    yield Entry("Instruments", f"{surveys or 'none'}, by SHA-256 in study.json.")
    changed = len(record.manifest.amendments)
    said = "None." if not changed else f"{changed}, listed in study.json and in the methods."
    yield Entry("Changes after the beginning", said)
    if record.preregistered:
        yield Entry("Preregistration", f"{record.preregistered} lies beside the study.")
    else:
        text = "No plan lies beside the study (`delibsim preregister` writes one); where it is"
        yield Entry("Preregistration", f"{text} registered, if it is.", open=True)
