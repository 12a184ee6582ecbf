"""From the folder of a study to its table: what is not scored yet is scored first."""

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from errno import EACCES, EPERM, EROFS
from os.path import exists, isdir, isfile  # False for what can be no file name
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from delibsim.analysis.study.bench import read_bench
from delibsim.analysis.study.outcomes import with_means
from delibsim.analysis.study.read_table import read_table
from delibsim.analysis.study.study_table import HELD, StudyTable
from delibsim.analysis.study.table_of_study import NOT_SCORED, table_of_study
from delibsim.conduct.score import Watch, score_study
from delibsim.conduct.scorers import (
    annotator,
    measures_of,
    scorers_when_analysed,
    usual_scorers,
)
from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.text import study_named
from delibsim.plugins import load
from delibsim.plugins import names as installed
from delibsim.store.places import is_of_branches, study_at
from delibsim.store.runs import Runs, scores_file
from delibsim.store.study_texts import refuse_texts
from delibsim.store.tables.scored import RunScores, run_scores, session_means
from delibsim.store.tables.session_rows import Row
from delibsim.store.tables.sheets import Table
from delibsim.store.tables.study_facts import equal_cells, facts_of_study

WIDE = "runs_wide"
"""The name of the study table among exported tables."""
CONFIGURATIONS = "configurations.csv"
READ_ONLY = (EACCES, EPERM, EROFS)
"""The errors of the system where nothing may be written."""


@dataclass(frozen=True)
class StudyPlace:
    """Where a study lies that a user named: its runs, or else the path of a table, which is a CSV
    file or the folder of an export.
    """

    path: Path
    runs: Runs | None = None


def place_of(name: str, root: Path) -> StudyPlace:
    """The study of this name or folder, or the table at this path; WrongInput for anything else."""
    path = Path(name)
    if isfile(path):
        return StudyPlace(path)
    exported = isfile(path / f"{WIDE}.csv") or isfile(path / CONFIGURATIONS)
    if exported and not isfile(path / "study.json"):
        return StudyPlace(path)
    if name.lower().endswith(".csv") and not exists(path):
        raise WrongInput(f"there is no file {name}")
    try:
        runs = study_at(name, root)
    except WrongInput:
        if not name or not exists(path):
            raise
        raise refused("no_tables_there", named=name) from None
    if is_of_branches(runs):
        raise refused("no_contrast_of_forks", study=study_named(runs.study))
    return StudyPlace(runs.folder, runs)


def table_of(
    place: StudyPlace, watch: Watch | None = None, outcomes: Sequence[str] = ()
) -> StudyTable:
    """The table of what lies at a place; a study that is not scored is scored first. Columns of a
    file that are `outcomes` hold numbers; those that are scored of participants or statements
    alone are added to a study.
    """
    if place.runs is not None:
        table = study_table(place.runs, watch, outcomes=outcomes)
        return _with_means(place.runs, table, outcomes)
    if isfile(place.path / CONFIGURATIONS):
        return read_bench(place.path)
    file = place.path / f"{WIDE}.csv" if isdir(place.path) else place.path
    return read_table(file, outcomes)


def _with_means(runs: Runs, table: StudyTable, outcomes: Sequence[str]) -> StudyTable:
    """The table with the means within sessions of those outcomes that are of participants or of
    statements alone.
    """
    names = {str(name) for name in table.rows.columns}
    lacking = [name for name in outcomes if not {name, f"{name}_change"} & names]
    if not lacking:
        return table
    means = session_means(newest_scores(runs).values(), lacking)
    return replace(table, rows=with_means(table.rows, means))


def study_table(
    runs: Runs,
    watch: Watch | None = None,
    score: bool = True,
    kept_in: Path | None = None,
    outcomes: Sequence[str] = (),
) -> StudyTable:
    """The table of a study, one row a planned session.

    Scores that lie beside the runs are used as they are where they are about every run that can be
    scored; otherwise the study is scored anew by the usual scorers, as `delibsim score` does. The
    new scores are kept there too, unless nothing may be written in the folder of the study.
    Scorers that run only where they are asked for (AQuA) are read where their file is there; those
    of texts and answers alone score too where `outcomes` name a measure of theirs (talk). With
    `score=False` nothing is scored: what has no score, or a damaged file of scores, is NaN with the
    note not_scored. What is known of sessions is kept in the file `kept_in`, by default in the
    folder of the study. WrongInput where the file of a scorer that runs on request is damaged.
    """
    refuse_texts(runs, "the table of a study has a row a session")
    facts = list(facts_of_study(runs, watch, kept_in))
    return table_of_facts(runs, facts, watch, score, outcomes)


def table_of_facts(
    runs: Runs,
    facts: Sequence[Row],
    watch: Watch | None = None,
    score: bool = True,
    outcomes: Sequence[str] = (),
) -> StudyTable:
    """The same from the facts of its sessions."""
    names = [*usual_scorers(), *scorers_when_analysed(outcomes)]
    found = _on_disk(runs, names, damaged_is_missing=True)
    held = {row["session"]: row for row in facts if row["status"] in HELD}
    if score and held and not _covers(runs, names, found, held):
        found = _scored_now(runs, names, watch)
    others = _others(runs, names, damaged_is_missing=not score)
    known = measures_of([*names, *installed("delibsim.scorers")], runs)
    scores = [*found.values(), *others]
    equal = equal_cells(runs, facts)
    return table_of_study(runs.study, facts, scores, known, equal)


def design_table(runs: Runs, watch: Watch | None = None, kept_in: Path | None = None) -> StudyTable:
    """The same table without any measure: the plan of each session, and counts of its run."""
    facts = list(facts_of_study(runs, watch, kept_in))
    return table_of_study(runs.study, facts, (), {}, equal_cells(runs, facts))


def wide_table(runs: Runs) -> tuple[Table, int]:
    """The study table as a table of the export, from the scores that lie beside the runs; and of
    how many held runs some score is missing there.
    """
    table = study_table(runs, score=False)
    row = "one row a planned session: design, measures, counts"
    made = Table(WIDE, row, tuple(table.columns), table.plain_rows())
    return made, _unscored(table)


def _unscored(table: StudyTable) -> int:
    """The held runs that have no score of a measure that others have, or no score at all."""
    held = table.rows["status"].isin(HELD)
    notes = [name for name in table.rows if str(name).endswith("_note")]
    if not notes:
        return int(held.sum())
    return int((held & (table.rows[notes] == NOT_SCORED).any(axis=1)).sum())


def _on_disk(
    runs: Runs, names: Sequence[str], damaged_is_missing: bool = False
) -> dict[str, RunScores]:
    """The scores of the installed versions of scorers, by name; of those that have a file."""
    found = {}
    for name in names:
        path = _file(runs, name)
        scores = _if_whole(path, damaged_is_missing) if path.is_file() else None
        if scores is not None:
            found[name] = scores
    return found


def _scored_now(
    runs: Runs, names: Sequence[str], watch: Watch | None = None
) -> dict[str, RunScores]:
    """The scores of a study that is scored now. They are kept beside its runs, unless nothing may
    be written there.
    """
    try:
        score_study(runs, names, lambda name, scores: None, watch=watch)
        return _on_disk(runs, names)
    except OSError as error:
        if error.errno not in READ_ONLY:
            raise
    with TemporaryDirectory(prefix="delibsim-") as folder:
        elsewhere = copy(runs)
        elsewhere.scored_in = Path(folder)
        score_study(elsewhere, names, lambda name, scores: None, watch=watch)
        return _on_disk(elsewhere, names)


def _file(runs: Runs, name: str) -> Path:
    scorer: Any = load("delibsim.scorers", name)
    return runs.scores_folder / scores_file(scorer.name, scorer.version)


def _covers(
    runs: Runs,
    names: Sequence[str],
    found: Mapping[str, RunScores],
    held: Mapping[str, Mapping[str, Any]],
) -> bool:
    """Whether the scores are about every held run that their scorers have something to say of.

    Of the runs without any score of a scorer, one of each format, with and without interaction, is
    scored for trial: a scorer of debates has nothing to say of deliberations.
    """
    annotated = annotator(runs)
    for name in names:
        known: Collection[str] = found[name].sessions if name in found else ()
        samples: dict[tuple[Any, Any], str] = {}
        for session, row in held.items():
            if session not in known:
                samples.setdefault((row["format"], row["interaction"]), session)
        scorer: Any = load("delibsim.scorers", name)
        for session in samples.values():
            if scorer.score([annotated(runs.run(session))]):
                return False
    return True


def _others(runs: Runs, names: Sequence[str], damaged_is_missing: bool = False) -> list[RunScores]:
    """The scores of scorers that are not usual, each in its highest version that is there."""
    usual = {Path(scores_file(name, 0)).name.removesuffix(".v0.jsonl") for name in names}
    others = [path for scorer, path in newest_scores(runs).items() if scorer not in usual]
    found = [_if_whole(path, damaged_is_missing) for path in others]
    return [scores for scores in found if scores is not None]


def newest_scores(runs: Runs) -> dict[str, Path]:
    """The files of scores of a study by scorer, each in its highest version that is there."""
    highest: dict[str, tuple[int, Path]] = {}
    for path in sorted(runs.scores_folder.glob("*.jsonl")):
        scorer, _, version = path.stem.rpartition(".v")
        if scorer and version.isdecimal():
            highest[scorer] = max((int(version), path), highest.get(scorer, (-1, path)))
    return {scorer: path for scorer, (_, path) in highest.items()}


def _if_whole(path: Path, damaged_is_missing: bool) -> RunScores | None:
    """The scores of a file; None, or WrongInput, where it is damaged."""
    try:
        return run_scores(path)
    except WrongInput:
        if not damaged_is_missing:
            raise
        return None
