"""Models side by side over all studies of a folder: from their files to one table."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from delibsim.conduct.analysed import table_of_facts
from delibsim.conduct.reading.written import refuse_links
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import quoted
from delibsim.store.files import json_text, read_lines
from delibsim.store.runs import Runs
from delibsim.store.session_files import BRANCHES
from delibsim.store.study_texts import StudyTexts
from delibsim.store.tables.study_facts import facts_of_study

if TYPE_CHECKING:
    from delibsim.analysis.result import Result
    from delibsim.analysis.study.model_results import StudyOfModels

Watch = Callable[[str, int, int], None]
KeptIn = Callable[[Runs], Path | None]


def results_of_models(
    folders: Iterable[Path], watch: Watch | None = None, kept_in: KeptIn = lambda runs: None
) -> tuple["Result", list[str]]:
    """The table of all models in the studies of these folders, and what is left out, and why.

    Nothing is scored. What is read of sessions is kept in the file `kept_in`, by default in the
    folder of each study.
    """
    from delibsim.analysis.study.model_results import model_results  # pandas is slow to import

    found, faults = [], list[str]()
    for folder in folders:
        try:
            found += list(_read(folder, watch, kept_in, faults))
        except (WrongInput, OSError) as error:
            faults.append(f"{folder.name}: {error}")
    return model_results(found), faults


def _read(
    folder: Path, watch: Watch | None, kept_in: KeptIn, faults: list[str]
) -> Iterator["StudyOfModels"]:
    """A study of sessions; nothing for one of texts."""
    from delibsim.analysis.study.model_results import StudyOfModels
    from delibsim.analysis.study.study_table import HELD
    from delibsim.analysis.study.table_of_study import NOT_SCORED

    if folder.is_symlink():
        raise WrongInput("it is a link, and only folders that lie here are read")
    refuse_links(folder)
    runs = Runs.at(folder)
    if StudyTexts(runs).held() or folder.name in BRANCHES:
        return
    facts = list(facts_of_study(runs, watch, kept_in(runs)))
    table = table_of_facts(runs, facts, score=False)
    rows = table.rows[table.rows["status"].isin(HELD) & (table.rows["format"] != "debate")]
    if len(rows) and ("dri_note" not in rows or (rows["dri_note"] == NOT_SCORED).any()):
        faults.append(f"{folder.name}: its estimates: delibsim score {quoted(runs.study)}")
    manifest = runs.manifest()
    treatments = manifest.components.get("treatments", {}) if manifest else {}
    texts = {name: _digest(settings) for name, settings in treatments.items()}
    yield StudyOfModels(folder.name, table, facts, _versions(runs), texts)


def _versions(runs: Runs) -> dict[str, str]:
    """The names under which each model answered."""
    found: dict[str, dict[str, None]] = {}
    for line in read_lines(runs.folder / "fingerprints.jsonl")[0]:
        found.setdefault(str(line.get("model")), {})[str(line.get("model_returned"))] = None
    return {model: " and ".join(names) for model, names in found.items()}


def _digest(settings: Mapping[str, object]) -> str:
    """A short digest of the instructions of a treatment; how long it is, is a setting."""
    told = {name: value for name, value in settings.items() if name not in ("name", "rounds")}
    return hashlib.sha256(json_text(told).encode()).hexdigest()[:8]
