"""The opinions of a study of texts: the question that they answer, and what ships as an example."""

from pathlib import Path

import yaml

from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.summary import KINDS, OpinionSet
from delibsim.domain.text import study_named
from delibsim.store.runs import Runs
from delibsim.store.study_texts import PARTS, StudyTexts

EXAMPLES = Path(__file__).parents[1] / "data" / "opinions"


def opinions_of(runs: Runs) -> OpinionSet:
    """The opinions that a study holds; WrongInput for one whose texts answer no question."""
    held, manifest = StudyTexts(runs), runs.manifest()
    if not held.held():
        raise WrongInput(
            f"{study_named(runs.study)} holds no opinions; take them from it with: delibsim import"
            f" NAME {runs.study} --as opinions"
        )
    question, kind = question_of(runs)
    if manifest is None or not question:
        raise WrongInput(
            f"the texts of {study_named(runs.study)} answer no question; import them into another"
            " study with: question='Should ...?'"
        )
    return OpinionSet(runs.study, question, KINDS[kind == "stance"], tuple(held.all()))


def question_of(runs: Runs) -> tuple[str, str]:
    """The question that the texts of a study answer and its kind, "" twice where they answer
    none.
    """
    manifest = runs.manifest()
    parts = manifest.components.get(PARTS, {}) if manifest is not None else {}
    for part in parts.values():
        if part.get("question"):
            return part["question"], part.get("kind", "open")
    return "", ""


def example(name: str) -> tuple[Path, str]:
    """The file of a set of opinions that ships, and its question; WrongInput for another name."""
    known = sorted(file.stem for file in EXAMPLES.glob("*.csv"))
    if name not in known:
        raise unknown("example", name, known)
    about = yaml.safe_load((EXAMPLES / f"{name}.yaml").read_text(encoding="utf-8"))
    return EXAMPLES / f"{name}.csv", about["question"]
