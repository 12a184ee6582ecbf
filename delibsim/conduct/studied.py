"""A study in Python: its tables, figures and runs, each read when it is asked for."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import warn

from delibsim.domain.cost import Money, total_of
from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.run import Run
from delibsim.domain.text import as_card, quoted, study_named
from delibsim.store.places import Account, account_of, study_at
from delibsim.store.runs import Runs
from delibsim.store.study_texts import StudyTexts

if TYPE_CHECKING:
    import pandas as pd

    from delibsim.analysis.figures.drawing import Drawing
    from delibsim.analysis.report import Report
    from delibsim.analysis.result import Result
    from delibsim.analysis.study.study_table import StudyTable
    from delibsim.conduct.analyse import AnalysisSource
    from delibsim.conduct.status import StudyStatus

SHOWN = 12
"""Names of one kind that a notebook shows of a study."""


def study(name: str | Path, root: str | Path = "runs", outcomes: Sequence[str] = ()) -> "Study":
    """A study by its name among those in `root`, or by its folder; or the table of a study, a CSV
    file or a folder of exported tables. WrongInput, with the closest names, where there is none.

    `outcomes` are what treatments are compared on, as `delibsim analyze --outcome` names them.
    """
    try:
        runs = study_at(str(name), Path(root))
    except WrongInput:
        from delibsim.conduct.analysed import place_of  # pandas is slow to import

        return Study(place_of(str(name), Path(root)).path.resolve(), None, outcomes)
    runs.folder = runs.folder.resolve()
    return Study(runs.folder, runs, outcomes)


class Study:
    """A study that was opened; nothing of it is read before it is asked for.

    Values are those that `delibsim analyze` writes, with the same numbers of draws. What was read
    is read anew once another session was held or scored. WrongInput, with a sentence, for what the
    study cannot give, and where its folder was moved.
    """

    def __init__(
        self, folder: Path, runs: Runs | None = None, outcomes: Sequence[str] = ()
    ) -> None:
        self.folder, self._runs, self._chosen = folder, runs, outcomes
        self.name = folder.stem if runs is None else runs.study
        self._known: dict[str, Any] = {}
        self._stamp: Any = None

    @property
    def sessions(self) -> tuple[str, ...]:
        """The names of its planned sessions, in order."""
        return account_of(self._opened("sessions are")).planned

    def run(self, session: str) -> Run:
        """The run of a session."""
        runs = self._opened("a run is")
        if session not in self.sessions:
            raise unknown("session", session, self.sessions)
        return runs.run(session)

    @property
    def runs(self) -> "pd.DataFrame":
        """How its sessions stand, a row each: state, design, calls, what is missing, money."""
        return self._standing("runs", _rows_of_runs)

    @property
    def cost(self) -> "pd.DataFrame":
        """What it has cost in US dollars: its sessions, each task about texts, all of it."""
        return self._standing("cost", _rows_of_cost)

    @property
    def outcomes(self) -> "pd.DataFrame":
        """Every measure before, after and as change, with the design: a row a planned session."""
        return self._outcomes.rows.copy()

    @property
    def columns(self) -> "pd.DataFrame":
        """What the columns of `outcomes` mean: name, kind, unit, meaning, values."""
        from delibsim.analysis.study.table_of_study import codebook

        return codebook(self._outcomes)

    @property
    def table(self) -> "pd.DataFrame":
        """The outcomes of every topic, model, setting and replicate, treatments beside each other.

        `study.table["dri_change"]` has a column a treatment, `none` first.
        """
        from delibsim.analysis.study.sample import why_no_outcome
        from delibsim.analysis.study.table_of_study import by_treatment

        found = by_treatment(self._outcomes)
        if not len(found.columns):
            _, why = why_no_outcome(self._outcomes.rows, ())
            raise self._without("outcomes", why)
        return found

    def contrasts(self, outcome: str = "", scale: str = "") -> "pd.DataFrame":
        """The effects of treatments, of each pair a less b, with intervals and tests; of all
        outcomes, or of one, such as dri, on a scale (absolute or relative).
        """
        found = self._kept("contrasts", self._compared)
        if not found.given:
            raise self._without("contrasts", found.detail)
        rows = found.rows
        for column, value in (("outcome", outcome), ("scale", scale)):
            known = sorted(set(rows[column]))
            if value and value not in known:
                raise unknown(column, value, known)
            rows = rows[rows[column] == value] if value else rows
        return rows.reset_index(drop=True)

    def plot(self, figure: str = "effects", conditions: Sequence[str] = ()) -> "Drawing":
        """A figure of the study, as `delibsim plot` names it; of all sessions, or of those in these
        conditions, such as topic=ccps.
        """
        from delibsim.analysis.study.study_table import DrawCounts, selected
        from delibsim.conduct.answers import PEOPLE, FigureSource, figure_named

        kind, table = figure_named(figure), self._source.table
        chosen = selected(table, conditions) if conditions else table
        results = FigureSource(chosen, self._runs, PEOPLE).results(kind, DrawCounts())
        drawn = kind.draw(chosen, results)
        if drawn is None:
            raise self._without(f"figure {figure}", kind.why_not(results))
        return drawn

    @property
    def report(self) -> "Report":
        """The report of `delibsim analyze`: `report.results["mixed"].rows` is a table of it, and
        `report.write(folder)` writes its page. It computes everything, which takes a while.
        """
        from delibsim.analysis.study.study_table import DrawCounts
        from delibsim.conduct.analyse import analyse

        return self._kept("report", lambda: analyse(self._source, DrawCounts(), None, _quiet))

    def like(self, people: "Study", conditions: Sequence[str] = ()) -> "pd.DataFrame":
        """How like the sessions of another study, of people, its own are: a row a measure of
        opinion or talk, as `delibsim analyze --like` gives them; of sessions in these conditions,
        such as treatment=high of its own and like.treatment=open of the other's.
        """
        from delibsim.analysis.study.study_table import DrawCounts
        from delibsim.conduct.analyse import likeness_of, source_of

        place, root = str(self.folder), self.folder.parent
        source = source_of(place, root, _quiet, None, False, like=(str(people.folder), *conditions))
        found = likeness_of(source, DrawCounts())[0][0]
        if not found.given:
            raise self._without("likeness", found.detail)
        return found.rows

    def finding(self) -> Any:
        """What it found, on one page: what was compared, three answers, one table, one figure."""
        return self.report.finding

    def codes(self, scheme: str = "") -> "pd.DataFrame":
        """The codes of its texts, by a scheme or by all: a row a text, dimension and coder, with
        the design of the session that the text is of.
        """
        from delibsim.store.tables.asked import code_tables

        rows = self._asked(code_tables, "not_coded")
        known = sorted(set(rows["scheme"]))
        if scheme and scheme not in known:
            raise unknown("scheme", scheme, known)
        return rows[rows["scheme"] == scheme].reset_index(drop=True) if scheme else rows

    def pairs(self, dimension: str = "") -> "pd.DataFrame":
        """The votes on pairs of its texts, on a dimension or on all: a row a pair and judge."""
        from delibsim.store.tables.asked import vote_tables

        rows = self._asked(vote_tables, "not_compared")
        known = sorted(set(rows["dimension"]))
        if dimension and dimension not in known:
            raise unknown("dimension", dimension, known)
        return rows[rows["dimension"] == dimension].reset_index(drop=True) if dimension else rows

    def __repr__(self) -> str:
        return f"Study({self.name!r})" if len(self.name) < 150 else f"Study({self.name[:150]!r}...)"

    def _repr_html_(self) -> str:
        """A notebook shows what the study is, and how far it is."""
        if self._runs is None:
            return as_card(f"Table {self.folder.name}", {"folder": self.folder.parent})
        return as_card(f"Study {self.name}", dict(_facts(self._opened())), self._told())

    def _told(self) -> Iterator[str]:
        """What must be known of it before it is read."""
        runs = self._opened()
        if StudyTexts(runs).held():
            yield _said("texts")
            return
        account = account_of(runs)
        if runs.holder():
            yield _said("under_way")
        if waiting := len(account.planned) - len(account.held):
            told = {"waiting": waiting, "planned": len(account.planned)}
            yield _said("waiting", study=quoted(self.name), **told)

    def _without(self, what: str, why: str) -> WrongInput:
        """That the study cannot give something, and why."""
        return WrongInput(_said("not_given", study=study_named(self.name), what=what, why=why))

    def _opened(self, what: str = "this is") -> Runs:
        """The runs of the study; WrongInput where it lies there no longer, or is a table alone."""
        if self._runs is None:
            raise WrongInput(_said("no_runs", what=what, place=self.folder))
        if not isfile(self.folder / "study.json"):
            told = {"study": study_named(self.name), "folder": self.folder}
            raise WrongInput(_said("moved", **told))
        return self._runs

    def _kept(self, name: str, make: Callable[[], Any]) -> Any:
        """What was made of the study as it lies on disk now."""
        held, scored = self._now()
        if self._stamp != (held, scored):
            self._known = {}
        if name not in self._known:
            self._known[name] = make()
        self._stamp = held, self._now()[1]  # what is scored for it is no news
        return self._known[name]

    def _now(self) -> tuple[Any, Any]:
        """What changes where another session is held, and where the study is scored."""
        if self._runs is None:
            return self.folder.stat().st_mtime_ns, ()
        files = sorted(self._opened().scores_folder.glob("*.jsonl"))
        return account_of(self._runs).held, [(one.name, one.stat().st_mtime_ns) for one in files]

    @property
    def _outcomes(self) -> "StudyTable":
        """The table that every analysis starts from."""
        return self._kept("table", self._read)

    @property
    def _source(self) -> "AnalysisSource":
        """The same with the null citizen beside it, whose sessions are held where they are not."""
        from delibsim.conduct.analyse import source_of

        place, root = str(self.folder), self.folder.parent
        return self._kept(
            "source", lambda: source_of(place, root, _quiet, None, False, self._chosen)
        )

    def _read(self) -> "StudyTable":
        from delibsim.analysis.study.outcomes import chosen_outcomes
        from delibsim.conduct.analysed import place_of, table_of

        place = place_of(str(self.folder), self.folder.parent)
        table = table_of(place, outcomes=self._chosen)
        return replace(table, outcomes=chosen_outcomes(table.rows, self._chosen))

    def _compared(self) -> "Result":
        from delibsim.analysis.study.contrasts import contrasts
        from delibsim.analysis.study.study_table import DrawCounts

        return contrasts(self._source.table, DrawCounts())

    def _asked(
        self, tables: Callable[[Runs, list[str]], list[Any]], nothing: str
    ) -> "pd.DataFrame":
        """The first of these tables of what was asked about texts."""
        from delibsim.analysis.study.table_of_study import frame_of, with_design

        runs = self._opened("texts are asked about")
        faults: list[str] = []
        made = tables(runs, faults)
        for fault in faults:
            warn(f"left out, damaged: {fault}", stacklevel=3)
        if not made:
            raise WrongInput(_said(f"{nothing}", study=quoted(self.name)))
        rows = frame_of(made[0])
        of_sessions = "session" in rows and rows["session"].notna().any()
        return with_design(rows, self._outcomes) if of_sessions else rows

    def _standing(
        self, name: str, rows: Callable[["StudyStatus", Account], Iterator[dict[str, Any]]]
    ) -> "pd.DataFrame":
        """A table of how the study stands now."""
        from delibsim.analysis.result import make_table
        from delibsim.conduct.status import study_status

        runs = self._opened("calls are")
        return make_table(f"python/{name}", rows(study_status(runs), account_of(runs))).rows


def _said(name: str, /, **told: object) -> str:
    """A sentence of data/tables/python.yaml, without what is slow to import."""
    return read_data("tables/python.yaml")["said"][name].format(**told)


def _quiet(what: str, done: int, among: int) -> None:
    """A notebook shows nothing of how far an analysis is."""


def _facts(runs: Runs) -> Iterator[tuple[str, str]]:
    """What a study is, in words by name."""
    manifest, account = runs.manifest(), account_of(runs)
    for kind in ("topics", "treatments", "models"):
        names = list(manifest.components.get(kind, ())) if manifest else []
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        yield kind, ", ".join(names[:SHOWN]) + more
    if account.planned:
        yield "sessions", f"{len(account.held)} held of {len(account.planned)} planned"
    yield "folder", str(runs.folder)


def _rows_of_runs(status: "StudyStatus", account: Account) -> Iterator[dict[str, Any]]:
    for one in status.sessions:
        plan, calls = one.plan, sum(one.log.calls.values())
        row = {"session": one.session, "state": one.state, "fault": one.fault, "calls": calls}
        row["calls_not_ok"] = calls - one.log.calls.get("ok", 0)
        row["missing"] = sum(gap["answers"] or 1 for gap in one.missing)
        if plan is not None:
            row |= {"topic": plan.topic.id, "treatment": plan.treatment.name}
            row |= {"models": "+".join(sorted(plan.models)), "replicate": plan.replicate}
        yield row | {"spent_usd": one.log.money.spent_usd}
    for name in account.not_begun:
        yield {"session": name, "state": "not begun", "fault": "", "calls": 0, "calls_not_ok": 0}


def _rows_of_cost(status: "StudyStatus", account: Account) -> Iterator[dict[str, Any]]:
    logs = {"sessions": [one.log for one in status.sessions]}
    logs |= {task: [log] for task, log in status.asked_after.items()}
    for part, own in logs.items():
        calls = sum(sum(log.calls.values()) for log in own)
        yield {"part": part, "calls": calls, **asdict(total_of(log.money for log in own))}
    if account.withdrawn:
        yield {"part": "withdrawn", **asdict(Money(status.gone_usd))}
    every = sum(sum(log.calls.values()) for own in logs.values() for log in own)
    yield {"part": "all", "calls": every, **asdict(status.money)}
