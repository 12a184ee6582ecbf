"""Going on with a comparison: what may be added to it, and what is refused."""

from collections.abc import Mapping
from typing import Any

from delibsim.conduct.asking.begun import answered, changed_settings, edited_texts, refuse_if
from delibsim.domain.text import study_named
from delibsim.store.comparisons import Comparisons
from delibsim.store.runs import Runs

FIXED = (
    "unit",
    "within",
    "examples",
    "design",
    "criteria",
    "ties",
    "reasons",
    "topic",
    "temperature",
    "reasks",
    "seed",
    "wording",
)
"""Settings that are the same for all votes of a comparison."""
NAMED = ("models", "dimensions")
"""What may be added under another name, and stays as it was under its own."""


def merged(comparisons: Comparisons, new: Mapping[str, Any], runs: Runs) -> dict[str, Any]:
    """What a study keeps of a comparison after this command.

    Nobody is bound to the settings of a command that got no answer and handed out no pack.
    WrongInput, naming what differs, where other settings or texts would stand under the votes.
    """
    files = comparisons.files
    if not comparisons.bound and not answered(files):
        return dict(new)
    begun = files.task()
    begun.setdefault("examples", 0)
    begun.setdefault("within", "" if begun.get("unit") == "text" else "session")
    where = f"{study_named(runs.study)}, comparison {comparisons.name}"
    if begun.get("imported"):
        refuse_if(
            [f"{len(begun['texts']):,} texts known by id only"],
            f"{where} was imported, and language models cannot go on with it",
            "name another comparison: name=NAME",
        )
    refuse_if(
        changed_settings(begun, new, FIXED, NAMED),
        f"{where}: these settings are not those of the votes that there are",
        "go on with the settings as they were, or name another comparison: name=NAME; other"
        " settings of a model need another model.name",
    )
    added = [f"{id}: new" for id in new["texts"] if id not in begun["texts"]]
    lost = [f"{id}: no longer there" for id in begun["texts"] if id not in new["texts"]]
    edited = [f"{id}: edited" for id in edited_texts(begun["texts"], new["texts"])]
    refuse_if(
        [*edited, *lost, *added],
        f"{where}: the texts are not those that were compared",
        "nobody was asked; name another comparison: name=NAME",
    )
    found = {**new, "study": begun["study"]}
    for name in NAMED:
        found[name] = {**begun[name], **new[name]}
    found["runs"] = max(begun["runs"], new["runs"])
    found["per_text"] = _layers(begun["per_text"], new["per_text"])
    return found


def _layers(begun: list[int], new: list[int]) -> list[int]:
    """The numbers of comparisons a text that were asked for, one after the other."""
    return [*begun, *new] if new[-1] > begun[-1] else begun
