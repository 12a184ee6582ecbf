"""`delibsim compare report`: how strong texts are, and what of it is place rather than merit."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from delibsim.cli.code_options import values_of, whole_number
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.results import end_with_report
from delibsim.cli.terminal import (
    say,
    study_at,
)
from delibsim.domain.comparison import Vote
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.reason import in_words
from delibsim.domain.text import quoted
from delibsim.store.comparisons import Comparisons

SETTINGS = (
    "name=NAME, and how scores are computed: model=rao_kupper|davidson|bt, penalty=dummy:0.1|"
    "normal:TAU|none, threshold=estimated|X, scale=log_odds|z|unit|win, order=estimated|none,"
    " judges=discriminating|own_bias|pooled, bootstrap=1000 draws (0 unless told);"
    " also as options, such as --scale z."
)
TO = "Write the report into this folder: a page, tables (CSV), figures (SVG)."
AGAINST = "Beside the votes of people: people, or the name of another comparison of the same texts."
TOP = "Print the differences among so many of the strongest texts of each group."
DIFFERENCE = "Print the difference between two texts, ID,ID; may be given several times."
KEYS = ("name", "model", "penalty", "threshold", "scale", "order", "judges", "bootstrap")
MODELS = ("rao_kupper", "davidson", "bt")
SCALES = ("log_odds", "z", "unit", "win")
JUDGES = ("discriminating", "own_bias", "pooled")
MOST_DRAWS = 100_000
"""The most draws of the bootstrap."""
THRESHOLDS = (0.001, 20.0)
"""The smallest and the largest threshold of ties that may be set, in log odds."""
WEIGHTS = (0.001, 1000.0)
"""The smallest and the largest number of a penalty."""


def report(
    study: StudyName,
    settings: Annotated[list[str] | None, typer.Argument(metavar="settings", help=SETTINGS)] = None,
    to: Annotated[Path | None, typer.Option("--to", help=TO)] = None,
    against: Annotated[str, typer.Option(help=AGAINST)] = "",
    top: Annotated[int, typer.Option(min=0, help=TOP)] = 0,
    difference: Annotated[list[str] | None, typer.Option(help=DIFFERENCE)] = None,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """How strong each text is, with intervals, and how far judges can be trusted.

    For example: delibsim compare report pilot --scale z --to report. Exit code 0; 3 if votes are
    missing or could not be read, 4 if there is none.
    """
    given = values_of(settings, KEYS)
    runs = study_at(study, root)
    comparisons = Comparisons.begun(runs, given["name"])
    from delibsim.conduct.compare_report import report_on_pairs  # pandas is slow to import

    asked = settings_of(given, comparisons)
    pairs = pairs_of(difference or [], comparisons)
    found = report_on_pairs(runs, comparisons, replace(asked, top=top, differences=pairs), against)
    if not found.something:
        say(_nothing(found.data.compared.votes, study), err=True)
        raise typer.Exit(4)
    end_with_report(found, to, as_json)


def _nothing(votes: Sequence[Vote], study: str) -> str:
    """Why there is nothing to report."""
    missing = Counter(in_words(vote.missing.code) for vote in votes if vote.missing)
    if not missing:
        return f"there is no vote yet; give: delibsim compare ask {quoted(study)}"
    told = "; ".join(f"{n:,} {why}" for why, n in missing.items())
    return f"no vote has an outcome, so there are no scores. Missing: {told}"


def pairs_of(given: Sequence[str], comparisons: Comparisons) -> tuple[tuple[str, str], ...]:
    """The two texts of each --difference; WrongInput for what is no two texts.

    An id may hold a comma itself, so a pair is parted where both sides are ids.
    """
    known = set(comparisons.files.task()["texts"])
    found = []
    for words in given:
        parts = words.split(",")
        ways = [(",".join(parts[:i]), ",".join(parts[i:])) for i in range(1, len(parts))]
        if not ways:
            raise WrongInput(f"--difference {words}: give the ids of two texts, as ID,ID")
        both = [way for way in ways if known.issuperset(way) and way[0] != way[1]]
        if len(both) != 1:
            strange = [id for id in ways[0] if id not in known]
            if not both and strange and len(ways) == 1:
                raise unknown("text", strange[0], sorted(known))
            raise WrongInput(f"--difference {words}: these are no two texts of the comparison")
        found += both
    return tuple(found)


def settings_of(given: dict[str, str], comparisons: Comparisons) -> Any:
    """How scores are computed, from settings as text; WrongInput for a value that cannot be.

    Place bias is estimated unless told otherwise, but not of imported judgments, of which nobody
    knows whether their order was drawn.
    """
    from delibsim.analysis.pairs.fitted import Settings
    from delibsim.measures.bradley_terry.fit import Model

    order = _one_of("order", given["order"], ("", "estimated", "none"))
    imported = "imported" in comparisons.files.task()
    kinds: Any = _one_of("model", given["model"] or "rao_kupper", MODELS)
    scale: Any = _one_of("scale", given["scale"] or "log_odds", SCALES)
    judges: Any = _one_of("judges", given["judges"] or "discriminating", JUDGES)
    threshold = given["threshold"]
    theta = None if threshold in ("", "estimated") else _number("threshold", threshold, THRESHOLDS)
    model = Model(
        kind=kinds,
        order=order == "estimated" or (not order and not imported),
        penalty=_penalty(given["penalty"] or "dummy:0.1"),
        theta=theta,
        judges=judges,
    )
    draws = whole_number("bootstrap", given["bootstrap"])
    if draws and draws > MOST_DRAWS:
        raise WrongInput(f"bootstrap={draws}: at most {MOST_DRAWS:,} draws")
    return Settings(model, scale, bootstrap=draws or 0)


def _penalty(text: str) -> Any:
    """The penalty that a text names; None for none."""
    from delibsim.measures.bradley_terry.likelihood import Dummy, Normal

    kind, _, number = text.partition(":")
    kinds: dict[str, Any] = {"dummy": Dummy, "normal": Normal}
    if text in ("none", "0", "dummy:0"):
        return None
    if kind not in kinds:
        raise unknown("penalty", text, ["dummy:0.1", "normal:2", "none"])
    return kinds[kind](_number(f"penalty={kind}", number, WEIGHTS))


def _number(name: str, text: str, ends: tuple[float, float]) -> float:
    """A number between two ends."""
    low, high = ends
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not low <= number <= high:
        raise WrongInput(f"{name}: '{text}' is no number from {low:g} to {high:,g}")
    return number


def _one_of(name: str, value: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise unknown(f"value of {name}", value, [one for one in known if one])
    return value
