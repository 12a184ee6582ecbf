"""From what a user names, a study or a table, to its findings and its report; and its null twin,
the same design held with citizens in all seats, which says what the procedure alone does.
"""

import math
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from os.path import isfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from delibsim.analysis.pages.folder import WRITER
from delibsim.analysis.report import Report
from delibsim.analysis.result import Result, make_table, said
from delibsim.analysis.study.comparison import report_on_two
from delibsim.analysis.study.like import MEASURES, like, like_by_item
from delibsim.analysis.study.methods import StudyRecord, record_of
from delibsim.analysis.study.mixed_subjects import CHANCE, held_by_people, mixed_subjects
from delibsim.analysis.study.outcomes import chosen_outcomes
from delibsim.analysis.study.people import pair_correlations
from delibsim.analysis.study.report import Findings, analyses, findings, study_report
from delibsim.analysis.study.sample import wanted_outcomes
from delibsim.analysis.study.study_table import HELD, DrawCounts, StudyTable, selected
from delibsim.conduct.analysed import READ_ONLY, place_of, study_table, table_of
from delibsim.conduct.answers import answers_of_study, tables_of_answers
from delibsim.conduct.code_report import by_models, effects_on_texts
from delibsim.conduct.cost import money_of
from delibsim.conduct.outcome import Observer, SessionOutcome
from delibsim.domain.errors import WrongInput
from delibsim.domain.run import Session
from delibsim.domain.study import slug
from delibsim.models.ask import wait
from delibsim.store.codec import session_to_json
from delibsim.store.manifest import Manifest
from delibsim.store.own_folder import refuse_others
from delibsim.store.runs import Runs
from delibsim.store.session_files import TWIN
from delibsim.store.study_texts import refuse_texts

CITIZEN = "citizen"
MOST_OF_TWIN = 600
"""The most sessions of a twin; of a larger design a balanced part is held."""
NOT_HELD = "There is no null citizen beside these effects: {}"


Watch = Callable[[str, int, int], None]
OTHER = "like."
"""What a condition begins with that chooses sessions of the study that another is set beside."""
FOLDER = "analysis"
"""The folder of the report, within that of the study."""


MOST = 5_000
"""Sessions held above which the answers of all participants are not read again for figures."""


@dataclass(frozen=True, eq=False)
class AnalysisSource:
    """What is analysed: its table, what is recorded of it, where its report is written.

    `runs` is the study, None where a table is all there is. `of_people` is the table with the
    sessions of people, where these correct those of models. `beside` is a study of people that this
    one is set beside, as far as its sessions are chosen, and `liked` those of this one that are.
    """

    table: StudyTable
    record: StudyRecord | None
    folder: Path
    runs: Runs | None = None
    of_people: StudyTable | None = None
    beside: "AnalysisSource | None" = None
    liked: StudyTable | None = None


def source_of(
    name: str,
    root: Path,
    watch: Watch,
    to: Path | None = None,
    alone: bool = True,
    outcomes: Sequence[str] = (),
    people: str = "",
    like: Sequence[str] = (),
) -> AnalysisSource:
    """The study of this name or folder, or the table in this file.

    A folder of exported tables counts too (`runs_wide.csv`, or those of `export --as bench`). A
    study that is not scored is scored first. The report is written into the folder `to`, by default
    the study's own. `outcomes` are what treatments are compared on, by name; the first decides
    unless the study's preregistration names another. With `people` "gold" the sessions of people
    are what those of models are corrected by, and no model of their own. `like` names a study of
    people that this one is set beside, measure by measure, and behind it conditions of sessions
    (treatment=high; like.treatment=open of people). WrongInput where there is none of these, and,
    if the study is analysed alone, where no report can be written, before anything is read.
    """
    place = place_of(name, root)
    if place.runs is not None:
        refuse_texts(place.runs, said("study/of_sessions"))
    own = place.path / FOLDER
    if place.runs is None:  # beside it: an export replaces its folder as a whole
        table = place.path.resolve()
        name = table.stem if isfile(table) else table.name
        own = table.with_name(f"{name}.{FOLDER}")
    if alone:
        refuse_others(to or own, WRITER)
    record = record_of(place.runs) if place.runs else None
    if record is not None and place.runs is not None:
        record = replace(record, money=money_of(place.runs))
    columns = [*outcomes, *(MEASURES if like and place.runs else ())]
    columns += [CHANCE] if people else []
    table = with_twin(table_of(place, watch, columns), place.runs, watch, columns)
    theirs = [one.removeprefix(OTHER) for one in like[1:] if one.startswith(OTHER)]
    ours = [one for one in like[1:] if not one.startswith(OTHER)]
    beside = _beside(like[0], root, watch, theirs) if like else None
    liked = _chosen(table, ours) if like else None
    named = chosen_outcomes(table.rows, outcomes)
    table = replace(table, outcomes=named, by_models=by_models(place.runs, table))
    if record is not None and record.primary:
        table = replace(table, primary=record.primary)
    elif named:
        table = replace(table, primary=named[0].measure)
    of_people = None
    if people:
        of_people = table
        models = table.rows[~held_by_people(table.rows)].reset_index(drop=True)
        measures = frozenset(one.measure for one in wanted_outcomes(table))
        table = replace(table, rows=models, by_models=table.by_models | measures)
    return AnalysisSource(table, record, own, place.runs, of_people, beside, liked)


def _chosen(table: StudyTable, conditions: Sequence[str]) -> StudyTable:
    """The sessions in these conditions; of the null twin those in them but for models."""
    if not conditions:
        return table
    named = f"{table.study} ({', '.join(conditions)})"
    found = replace(selected(table, conditions), study=named)
    if table.twin is None:
        return found
    other = [one for one in conditions if not one.startswith("model=")]
    try:
        return replace(found, twin=selected(replace(table, rows=table.twin), other).rows)
    except WrongInput:
        return replace(found, twin=None)


def _beside(name: str, root: Path, watch: Watch, conditions: Sequence[str]) -> AnalysisSource:
    """The study of this name as one that another is set beside, in sessions of these conditions; it
    is scored, and nothing is held or written of it besides.
    """
    place = place_of(name, root)
    if place.runs is None:
        table = _chosen(table_of(place, watch), conditions)
        return AnalysisSource(table, None, place.path)
    refuse_texts(place.runs, said("study/of_sessions"))
    table = _chosen(table_of(place, watch, MEASURES), conditions)
    return AnalysisSource(table, record_of(place.runs), place.path, place.runs)


def check(margin: float | None) -> None:
    """WrongInput for a smallest effect of interest that is none."""
    if margin is not None and not 0 < margin < math.inf:
        raise WrongInput(f"--margin is {margin}; it must be above 0 and finite, such as .03")


def folder_of_both(sources: tuple[AnalysisSource, AnalysisSource], to: Path | None) -> Path:
    """The folder of the report on two studies, by default beside that of the first; WrongInput
    where no report can be written there.
    """
    first, second = sources
    folder = to or first.folder.with_name(f"{FOLDER}_with_{slug(second.table.study)}")
    refuse_others(folder, WRITER)
    return folder


def analyse(
    source: AnalysisSource, draws: DrawCounts, margin: float | None, watch: Watch
) -> Report:
    """The report on a source; `margin` is the smallest effect of interest."""
    return study_report(_found(source, draws, margin, watch), draws, source.record)


def _found(
    source: AnalysisSource, draws: DrawCounts, margin: float | None, watch: Watch
) -> Findings:
    in_people, said = _in_people(source)
    found = findings(source.table, draws, analyses(margin), watch)
    on_texts, told = effects_on_texts(source.runs, source.table)
    of_like, likeness = likeness_of(source, draws, watch)
    more = [*_from_answers(source, watch), *on_texts, *in_people, *of_like]
    return found.with_results(more, told, ahead=[*said, *likeness])


def likeness_of(
    source: AnalysisSource, draws: DrawCounts, watch: Watch | None = None
) -> tuple[list[Result], list[str]]:
    """How like people its sessions are, and what that says."""
    if source.beside is None or source.liked is None:
        return [], []
    both = [
        one.record.components("surveys") if one.record else {} for one in (source, source.beside)
    ]
    shared = both[0].keys() & both[1].keys()
    changed = {name for name in shared if both[0][name] != both[1][name]}
    tables = source.liked, source.beside.table
    found, told = like(*tables, draws, changed)
    if tables[0].study != source.table.study:
        named = {"other": tables[1].study, "liked": tables[0].study}
        told = [*told, said("study/like_chosen", **named)]
    if source.runs is None or source.beside.runs is None:
        named = {"study": source.table.study, "other": source.beside.table.study}
        return [*found, make_table("study/like_items", (), why="no_answers", **named)], told
    given = (answers_of_study(one, watch) for one in (source.runs, source.beside.runs))
    by_item, items_told = like_by_item(*tables, given, changed)
    return [*found, by_item], [*told, *items_told]


def _in_people(source: AnalysisSource) -> tuple[list[Result], list[str]]:
    """The effects in people, corrected by models, and what they say."""
    if source.of_people is None:
        return [], []
    manifest = source.runs.manifest() if source.runs else None
    share = manifest.settings.get("people") if manifest else None
    table, told = mixed_subjects(source.of_people, share)
    return [table], told


def _from_answers(source: AnalysisSource, watch: Watch) -> list[Result]:
    """The tables that need the answers of participants, which the table of a study has not."""
    if source.runs is None:
        return []
    rows = source.table.rows
    held = rows[rows["status"].isin(HELD)]
    if len(held) > MOST:
        detail = said("study/too_many", held=len(held), most=MOST)
        nothing = pair_correlations(())
        return [replace(nothing, why_not="too_many_sessions", detail=detail)]
    topics = list(map(str, held["topic"].drop_duplicates()))
    return tables_of_answers(source.runs, set(held["session"]), topics, watch=watch)


def compare(
    sources: tuple[AnalysisSource, AnalysisSource],
    draws: DrawCounts,
    margin: float | None,
    watch: Watch,
) -> Report:
    """The report on both studies beside each other."""
    first, second = sources
    both = [_found(source, draws, margin, watch) for source in sources]
    return report_on_two(*both, records=(first.record, second.record))


def with_twin(
    table: StudyTable, runs: Runs | None, watch: Watch, outcomes: Sequence[str] = ()
) -> StudyTable:
    """The table of a study with its null twin, which is held now where it is not held yet.

    A study with citizens of its own, or without surveys, has none. Where no twin can be held, the
    table says why. The twin is kept in the folder of the study, unless nothing may be written
    there. It is scored for these `outcomes` too.
    """
    rows = table.rows
    if rows.empty or (rows["null"].fillna(False).astype(bool)).any():
        return table
    if runs is None:
        return replace(table, no_twin=said("study/no_twin_of_table"))
    sessions = twin_sessions(runs.plans())
    if not sessions:
        return table
    try:
        try:
            return _held(table, sessions, runs.folder / TWIN, watch, outcomes)
        except OSError as error:
            if error.errno not in READ_ONLY:
                raise
        with TemporaryDirectory(prefix="delibsim-") as folder:
            return _held(table, sessions, Path(folder) / TWIN, watch, outcomes)
    except WrongInput as error:
        return replace(table, no_twin=NOT_HELD.format(error))


def twin_sessions(plans: Iterable[Session]) -> list[Session]:
    """The sessions of a twin: each plan with citizens in all seats, once, and at most 600.

    Plans that differ in their models alone become one. Debates have no survey before and after, and
    branches are no sample of sessions: they have no twin.
    """
    found: dict[str, Session] = {}
    for plan in plans:
        if plan.kind.sides or plan.parentage is not None or not plan.respondents:
            continue
        session = _of_citizens(plan)
        found.setdefault(session.id, session)
    return _balanced(list(found.values()))


def _of_citizens(plan: Session) -> Session:
    """A plan with a citizen in every seat, named after what it is besides its models."""
    people = tuple(replace(person, model=CITIZEN) for person in plan.participants)
    models = {CITIZEN: {"kind": CITIZEN}}
    rule = plan.consensus
    if rule is not None:
        rule = replace(rule, mediator="", model={})
    heard = tuple(replace(one, model="", settings={}) for one in plan.witnesses)
    leads = plan.facilitator and replace(plan.facilitator, model="", settings={})
    session = replace(plan, participants=people, models=models, consensus=rule)
    session = replace(session, facilitator=leads, witnesses=heard, conversation=None)
    seats = tuple(replace(person, persona="") for person in people)  # drawn for each replicate
    what = session_to_json(replace(session, id="", replicate=1, participants=seats))
    digest = sha256(what.encode()).hexdigest()[:8]
    named = (slug(plan.topic.id), slug(plan.treatment.name), CITIZEN, digest)
    return replace(session, id=f"{'.'.join(named)}.r{plan.replicate}")


def _balanced(sessions: Sequence[Session], most: int = MOST_OF_TWIN) -> list[Session]:
    """As many whole replicates as fit; where not even one does, whole topics of the first."""
    replicates = sorted({session.replicate for session in sessions})
    kept: list[Session] = []
    for replicate in replicates:
        more = [session for session in sessions if session.replicate == replicate]
        if len(kept) + len(more) > most:
            break
        kept += more
    if kept or not sessions:
        return kept
    first = [session for session in sessions if session.replicate == replicates[0]]
    for topic in dict.fromkeys(session.topic.id for session in first):
        more = [session for session in first if session.topic.id == topic]
        if len(kept) + len(more) > most:
            break
        kept += more
    return kept


def _held(
    table: StudyTable,
    sessions: Sequence[Session],
    folder: Path,
    watch: Watch,
    outcomes: Sequence[str],
) -> StudyTable:
    """The table with that of its twin, whose sessions are held as far as they are not yet."""
    runs = Runs(folder.parent, f"{table.study}/{TWIN}")
    runs.folder = folder
    try:
        rows = _rows(table, sessions, runs, watch, outcomes)
        whole = bool(rows["status"].isin(HELD).all())
    except WrongInput:
        if runs.holder():  # another process holds it now
            raise
        whole = False
    if not whole:  # it is damaged; nothing in it was paid for, and the same is held again
        shutil.rmtree(folder, ignore_errors=True)
        rows = _rows(table, sessions, runs, watch, outcomes)
    return replace(table, twin=rows)


def _rows(
    table: StudyTable,
    sessions: Sequence[Session],
    runs: Runs,
    watch: Watch,
    outcomes: Sequence[str],
) -> Any:
    """The rows (a frame) of the twin's sessions, which are held as far as they have no run."""
    from delibsim.conduct.hold import hold_all  # Mesa takes half a second to import

    waiting = [session for session in sessions if not runs.held(session.id)]
    names = tuple(session.id for session in sessions)
    settings = {"seed": sessions[0].seed, "twin_of": table.study}
    runs.settle(Manifest(runs.study, settings, {}, names))
    if waiting:
        wait(hold_all(waiting, runs, observer=_Told(watch, len(waiting))))
    rows = study_table(runs, outcomes=outcomes).rows
    return rows[rows["session"].isin(names)]


class _Told(Observer):
    """Tells how many sessions of the twin have been held."""

    def __init__(self, watch: Watch, among: int) -> None:
        self._watch, self._among, self._done = watch, among, 0

    def on_session(self, outcome: SessionOutcome) -> None:
        """One more."""
        self._watch("holding the null twin", self._done, self._among)
        self._done += 1
