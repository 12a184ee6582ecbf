"""What raters and coders read and agree to: as people.yaml declares, or in a text of delibsim."""

from functools import cache
from pathlib import Path

from delibsim.domain.hosting import Hosting, Question, Reception
from delibsim.store.reading import read_yaml

TEXTS = Path(__file__).parents[2] / "data" / "people"
TASK = "task"
"""The check that raters answer where people.yaml declares nothing for them."""


def rater_reception(hosting: Hosting, code: str) -> Reception:
    """What raters are told and asked whose pages are in a language."""
    return hosting.raters or _by_default(code)


@cache
def _by_default(code: str) -> Reception:
    read = read_yaml(TEXTS / f"{code}.yaml")["texts"]
    texts = {f"raters.{key}": text for key, text in read["raters"].items()}
    options = texts["raters.judge"], texts["raters.talk"], texts["raters.persuade"]
    check = Question(TASK, texts["raters.check"], options=options, right=options[:1])
    return Reception(texts["raters.consent"], "", texts["raters.debriefing"], (check,))
