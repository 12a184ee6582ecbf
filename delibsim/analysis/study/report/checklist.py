"""The checklist of reporting: what is recorded of a study, where, and what its author must add."""

from collections.abc import Iterator, Mapping

from delibsim.analysis.pages.page import Entry
from delibsim.analysis.study.report.methods import model_in_words
from delibsim.analysis.study.report.record import Record
from delibsim.analysis.study.study_table import StudyTable

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
