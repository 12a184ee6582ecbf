"""The plan of a study as a document to be registered, with blanks for what its author must say."""

import hashlib
from pathlib import Path

from delibsim.domain.errors import WrongInput
from delibsim.planning.preregistration.design import design
from delibsim.planning.preregistration.markdown import plain, table
from delibsim.planning.preregistration.materials import instruments, materials, models
from delibsim.planning.preregistration.plans import BLANK, Plans
from delibsim.planning.preregistration.rules import exclusion, stopping
from delibsim.planning.preregistration.software import measures, prompts, software

SEAL = "<!-- delibsim: SHA-256 of all above: {} -->\n"
NO_PREREGISTRATION = (
    "**This is no preregistration: the study had begun when this was written.** {} What follows"
    " describes a study under way; what is filled in was filled in with data at hand."
)
PREREGISTRATION = (
    "Written by delibsim {} at {}, before the first call: no model had been asked anything in this"
    " study. What is marked FILL IN is the author's to say, before the study is begun. Register the"
    " file where its date is certified (such as OSF or AsPredicted), with the prompts that"
    " `delibsim estimate --render FOLDER` writes."
)
HYPOTHESES = BLANK.format("the hypotheses, each with its direction, numbered")
OUTCOME = BLANK.format(
    "the one measure, phase and contrast that decide, the measure first and as in `dri_adjusted`,"
    " so that `delibsim analyze` knows it; then the secondary ones"
)
SAMPLE = BLANK.format("why this many: power, precision, or budget")
ANALYSIS = BLANK.format(
    "models, contrasts, clustering, corrections for several tests, and what would count against the"
    " hypotheses"
)


def document(plans: Plans) -> str:
    """The plan as Markdown, sealed at its end.

    The seal is a hash, by which a file that was filled in is known.
    """
    size = table(("what", "number"), plans.size.items())
    sections = {
        "Hypotheses": HYPOTHESES,
        "Primary outcome": OUTCOME,
        "Design": design(plans),
        "Sample size": "\n\n".join([size, *([plans.power] if plans.power else []), SAMPLE]),
        "Instruments": instruments(plans),
        "Treatments, wording, procedure": materials(plans),
        "Models and parameters": models(plans),
        "Measures": measures(plans),
        "Analysis": ANALYSIS,
        "Exclusion and missing data": exclusion(plans),
        "Stopping rule and budget": stopping(plans),
        "Software": software(plans),
        "Prompts": prompts(plans),
    }
    text = f"# Plan of the study {plain(plans.manifest.study)}\n\n{_standing(plans)}\n"
    for number, (title, body) in enumerate(sections.items(), 1):
        text += f"\n## {number}. {title}\n\n{body}\n"
    return sealed(text)


def sealed(text: str) -> str:
    """A text and its hash."""
    text = text.rstrip("\n") + "\n\n"
    return text + SEAL.format(hashlib.sha256(text.encode()).hexdigest())


def untouched(text: str) -> bool:
    """Whether a file is as it was written: nothing was filled in."""
    body, mark, _ = text.rpartition(SEAL.partition("{")[0])
    return bool(mark) and sealed(body) == text


def refuse_if_filled_in(path: Path, begun: str) -> None:
    """WrongInput for a file that was filled in, or may have been registered: one of a study of
    which `begun` says that it has begun.
    """
    if not path.exists():
        return
    fault = ""
    if not path.is_file() or not untouched(path.read_text(encoding="utf-8", errors="replace")):
        fault = "exists and was filled in or changed"
    elif begun:
        fault = "exists, and the study has begun since"
    if fault:
        raise WrongInput(f"{path} {fault}; it is left as it is. Name another file: --to FILE")


def _standing(plans: Plans) -> str:
    """Whether this is a preregistration."""
    if plans.begun:
        return NO_PREREGISTRATION.format(plans.begun)
    begun = plans.manifest.begun
    version = begun.get("versions", {}).get("delibsim", "")
    return PREREGISTRATION.format(version, begun.get("at", "an unknown time"))
