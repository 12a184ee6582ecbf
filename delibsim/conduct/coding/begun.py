"""Going on with a coding: what may be added to it, and what would change it and is refused."""

from collections.abc import Mapping
from typing import Any

from delibsim.conduct.asking.begun import answered, changed_settings, edited_texts, refuse_if
from delibsim.domain.text import counted, study_named
from delibsim.store.codec import differences
from delibsim.store.codings import Codings
from delibsim.store.packs import packs_of
from delibsim.store.runs import Runs

FIXED = ("unit", "context", "rules", "temperature", "same", "seed", "reasks")
"""Settings that are the same for all codes of a study by a scheme."""
NAMED = ("models", "wordings")
"""What may be added under another name, and stays as it was under its own."""


def kept_task(codings: Codings) -> dict[str, Any]:
    """What was asked for; empty where no model has answered and no person has coded, so that a
    command that failed at once binds nobody to its settings.
    """
    files = codings.files
    others = files.steps.is_file() or files.people.is_file()
    return files.task() if others or answered(files) else {}


def refuse_other_packs(codings: Codings, new: Mapping[str, Any]) -> None:
    """WrongInput where people code, or were handed packs, by another scheme, unit or context."""
    for pack, plain in packs_of(codings.files).items():
        _refuse_other(plain, new, f"pack {pack} was handed to people")
    _refuse_other(codings.of_people(), new, "people have coded")


def _refuse_other(plain: Mapping[str, Any], new: Mapping[str, Any], told: str) -> None:
    """WrongInput where what people were given differs from what models would be asked."""
    changed = []
    for name in ("scheme_sha256", "unit", "context"):
        changed += differences(plain.get(name, new[name]), new[name], name)
    refuse_if(
        changed,
        f"{told} with another scheme, unit or context",
        "ask models as people were asked, or code in another study",
    )


def merged(begun: Mapping[str, Any], new: Mapping[str, Any], runs: Runs) -> dict[str, Any]:
    """What a study keeps of a coding after this command.

    WrongInput where another scheme, other settings or edited texts would stand under the codes
    that there are.
    """
    if not begun:
        return dict(new)
    refuse_changes(begun, new, runs)
    found = {**new, "study": begun["study"]}
    for name in (*NAMED, "texts", "not_coded"):
        found[name] = {**begun.get(name, {}), **new[name]}
    found["samples"] = max(begun["samples"], new["samples"])
    each = dict(begun.get("samples_by_model", {}))
    for coder, n in new["samples_by_model"].items():
        each[coder] = max(each.get(coder, 0), n)
    found["samples_by_model"] = each
    found["dimensions"] = list(dict.fromkeys([*begun["dimensions"], *new["dimensions"]]))
    return found


def refuse_changes(begun: Mapping[str, Any], new: Mapping[str, Any], runs: Runs) -> None:
    """WrongInput naming what differs from the coding that has begun."""
    where = f"{study_named(runs.study)}, scheme {new['scheme']['id']}"
    if begun["scheme_sha256"] != new["scheme_sha256"]:
        refuse_if(
            differences(begun["scheme"], new["scheme"]),
            f"{where}: the scheme is not the one by which texts were coded",
            "put the scheme back as it was, or give the changed one an id of its own",
        )
    refuse_if(
        changed_settings(begun, new, FIXED, NAMED),
        f"{where}: these settings are not those of the codes that there are",
        "go on with the settings as they were; other settings of a model need another"
        " model.name, other sentences another wording",
    )
    refuse_if(
        edited_texts(begun["texts"], new["texts"]),
        f"{where}: texts were edited after they were coded",
        "nobody was asked; put the texts back as they were, or code them in another study",
    )


def fewer_samples(task: Mapping[str, Any]) -> list[str]:
    """What is to be said of coders that were asked for fewer samples than others."""
    each: Mapping[str, int] = task.get("samples_by_model", {})
    most = max(each.values(), default=0)
    few = [coder for coder, n in each.items() if n < most]
    if not few:
        return []
    named = ", ".join(f"{coder} for {each[coder]:,}" for coder in few)
    return [
        f"others were asked for {counted(most, 'sample')} of a text, and {named}: levels of models"
        f" with fewer samples are less stable; samples={most} asks all of them alike"
    ]
