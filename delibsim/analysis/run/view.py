"""One run for reading, as plain values: what it was, who took part, what was said, answered and
measured, in the parts in which it is printed, written and shown.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import isnan
from typing import Any

from delibsim.analysis.calls import CallSummary, summary_of, without_effect
from delibsim.analysis.human.reference import on_their_instrument, people_of
from delibsim.analysis.run.leave_out import people_among, without_personas
from delibsim.analysis.run.summary import (
    Summary,
    design,
    flags_of,
    missing,
    notes,
    notes_on_measures,
    speeches,
    stances,
    undefined,
    values_of,
)
from delibsim.analysis.run.tables import (
    on_consensus,
    on_ratings,
    ratings_of,
    statement_of,
    table_of_measures,
    table_of_ratings,
    table_of_texts,
    tables_of_answers,
    tables_of_votes,
)
from delibsim.analysis.table import MEANING, DisplayTable, who_moved, why_undefined
from delibsim.domain.annotation import AnnotatedRun
from delibsim.domain.branching import in_short
from delibsim.domain.phases import in_words, phase_of
from delibsim.domain.run import Run, Session
from delibsim.domain.score import HEADINGS, IndividualChange, Measure, Score, heading_of
from delibsim.domain.survey import Phase
from delibsim.domain.text import counted
from delibsim.domain.transcript import Statement, Turn
from delibsim.store.sent import Sent

Record = Mapping[str, Any]
SILENT_SESSION = "Nobody spoke in this session."


UNSAID = ("role", "group")
"""What is said of a turn only where it has it."""


@dataclass(frozen=True)
class TranscriptLine:
    """One turn of a transcript: the heading before it ("" within a round), the time of day in UTC
    ("" where no record tells), what was said, or why nothing was (`missing`, "" where something
    was), and the codes of the text. `given`: a fork gave the words, and nobody was asked for them.
    `then` is the survey that was held after it, in words; "" for none.
    """

    turn: Turn
    heading: str = ""
    time: str = ""
    said: str = ""
    missing: str = ""
    given: bool = False
    codes: Sequence[str] = ()
    then: str = ""

    @property
    def text(self) -> str:
        """What is shown of it."""
        return f"(no statement: {self.missing})" if self.missing else self.said

    @property
    def words(self) -> tuple[str, str, str, str]:
        """Who said what to which task, or why nothing was said."""
        return self.turn.speaker, self.turn.task, self.said, self.missing

    @property
    def place(self) -> tuple[int, str, str]:
        """Whose turn it was, in which round."""
        return self.turn.round, self.turn.speaker, self.turn.task

    def plain(self) -> dict[str, Any]:
        """What was said in which turn, as plain values."""
        words = {"text": self.said, "missing": self.missing, "given": self.given}
        turn = {key: own for key, own in vars(self.turn).items() if own or key not in UNSAID}
        return turn | words


@dataclass(frozen=True)
class RunPart:
    """A part of a run for reading: terms and what is said of them, turns, a text, tables,
    sentences, in this order; `title` is "" where tables have their own.
    """

    id: str
    title: str = ""
    facts: Sequence[tuple[str, str]] = ()
    turns: Sequence[TranscriptLine] = ()
    text: str = ""
    tables: Sequence[DisplayTable] = ()
    sentences: Sequence[str] = ()


@dataclass(frozen=True)
class RunView:
    """One run for reading.

    `held` is the run as it was held, with its ratings and codes; `measures` are those of the
    scorers, by id, `scores` its scores. `records` is its log of calls as plain values, of which
    some lines may be damaged; `cut_off` are calls that did not come back, `past` is what a branch
    has of the record of its parent. `acts` are the interventions of the researcher in sentences,
    `sha256` is the hash of run.json. If `private`, personas and the answers of people are left out.
    """

    study: str
    held: Run
    measures: Mapping[str, Measure]
    scores: Sequence[Score] = ()
    records: Sequence[Record] = ()
    damaged_lines: int = 0
    cut_off: Sequence[Sent] = ()
    past: Sequence[Record] = ()
    acts: Sequence[str] = ()
    sha256: str = ""
    private: bool = False

    @property
    def name(self) -> str:
        """The run as it is named: study/session."""
        return f"{self.study}/{self.held.session.id}"

    @cached_property
    def run(self) -> Run:
        """What is shown of the run."""
        return without_personas(self.held) if self.private else self.held

    @property
    def session(self) -> Session:
        """The session as far as it is shown."""
        return self.run.session

    @cached_property
    def hidden(self) -> frozenset[str]:
        """The participants whose answers are left out."""
        return people_among(self.held.session) if self.private else frozenset()

    @cached_property
    def calls(self) -> CallSummary:
        """What its calls come to."""
        voices = self.held.session.voices
        return summary_of(self.records, self.damaged_lines, voices, self.cut_off)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Everything that its summary says, as plain values; a measure that is undefined is
        None.
        """
        run, session = self.run, self.session
        debate = bool(session.kind.sides)
        found = {
            "study": self.study,
            "session": session.id,
            "status": run.status,
            **design(session, self.calls),
            "speeches": speeches(run) if debate else [],
            "stances": stances(run) if debate else [],
            "scale_reversed": shown_reversed(run),
            "measures": _defined(values_of(self.scores, self.measures)),
            "undefined": undefined(self.scores, self.measures),
            "human": people_of(session),
            "same_instrument": on_their_instrument(session),
            "flags": flags_of(self.scores),
            "missing": missing(run),
            "calls": asdict(self.calls),
        }
        if session.people is not None and not session.respondents:
            found["not_surveyed"] = True
        if run.consensus is not None:
            text, chosen = statement_of(run.consensus)
            remarks = list(on_consensus(run.consensus))
            found["consensus"] = {"statement": text, "chosen": chosen, "remarks": remarks}
        return found

    @property
    def notes(self) -> list[tuple[str, str]]:
        """What a careful reader must know of the numbers: what each note is about, and the note."""
        return notes(self.summary, self.measures)

    @cached_property
    def changes(self) -> list[IndividualChange]:
        """How everybody changed whose answers are shown; nobody of a debate."""
        from delibsim.analysis.individual_change import rows_of  # numpy, which no help needs

        return [row for row in rows_of(self.held) if row.participant not in self.hidden]

    @property
    def statement(self) -> tuple[str, str] | None:
        """The collective statement ("" where there is none) and how it was chosen; None where none
        was sought.
        """
        return None if self.run.consensus is None else statement_of(self.run.consensus)

    @cached_property
    def codes(self) -> dict[str, list[str]]:
        """The codes by the id of the text, a line a scheme and dimension, every coder in it; none
        where answers are left out, since people may have given them.
        """
        found: dict[str, list[str]] = {}
        shown = isinstance(self.run, AnnotatedRun) and not self.private
        for scheme, codes in self.run.codes if shown else ():
            given: dict[tuple[str, str], list[str]] = {}
            for code in codes:
                why = "" if code.missing is None else f"none ({code.missing.code})"
                level = why or str(code.level)
                given.setdefault((code.text, code.dimension), []).append(f"{code.coder} {level}")
            for (text, dimension), own in given.items():
                line = f"{scheme.id}.{dimension}: {', '.join(own)}"
                found.setdefault(text, []).append(line)
        return found

    @cached_property
    def lines(self) -> list[TranscriptLine]:
        """The turns in order."""
        people = self.session.people
        times = {f"turn {held.turn.index}": held.time for held in people.turns} if people else {}
        times |= _times([*self.past, *self.records])
        found: list[TranscriptLine] = []
        last, phases = "", self.session.procedure.phases
        said = [*self.run.transcript, *self.run.silences]
        for one in sorted(said, key=lambda one: one.turn.index):
            turn = one.turn
            own = self.session.kind.heading(turn)
            own = own if turn.round or phases is None else in_words(phase_of(turn))
            heading, last = own if own != last else "", own
            time = times.get(f"turn {turn.index}", "")[11:19]  # of 2026-01-31T12:30:59.000+00:00
            codes = self.codes.get(f"{self.session.id}/{turn.index}", ())
            if isinstance(one, Statement):
                found.append(TranscriptLine(turn, heading, time, one.text, "", one.given, codes))
            else:
                found.append(TranscriptLine(turn, heading, time, "", str(one.why), False, codes))
        for wave, after in self.session.wave_places.items():
            heard = [n for n, line in enumerate(found) if line.turn.index <= after]
            if heard:
                found[heard[-1]] = replace(found[heard[-1]], then=self._answered(wave))
        return found

    def _answered(self, wave: Phase) -> str:
        """What came of a survey in between, in words."""
        own = [one for one in self.run.responses if one.phase == wave]
        lacking = sum(len(one.missing) for one in own)
        told = counted(sum(len(one.answers) for one in own), "answer")
        return f"Survey, {heading_of(wave)}: {told}" + (f", {lacking} missing" if lacking else "")

    @property
    def tables(self) -> list[DisplayTable]:
        """The answers of all, who moved, the measures, votes on collective statements, ratings."""
        found = list(tables_of_answers(self.run))
        if self.changes:
            found.append(who_moved(self.changes))
        if not self.session.kind.sides and not self.summary.get("not_surveyed"):
            found.append(table_of_measures(self.summary, self.measures))
        if self.run.consensus is not None:
            found += [table_of_texts(self.run.consensus), *tables_of_votes(self.run.consensus)]
        if ratings_of(self.run):
            found.append(table_of_ratings(self.run))
        return found

    @property
    def notes_on_tables(self) -> list[str]:
        """What must be known of the tables, in sentences."""
        found = on_answers(self.run)
        if self.changes:
            found += [*why_undefined(self.changes), MEANING]
        for label, note in notes_on_measures(self.summary, self.measures):
            found.append(f"{label}: {note}" if label else note)
        found += [] if self.run.consensus is None else on_consensus(self.run.consensus)
        return found + list(on_ratings(self.run))

    def facts(self, whole: bool = True) -> list[tuple[str, str]]:
        """How the run came about, as terms and what is said of them; without the background of its
        topic and the instructions of its treatment unless `whole`.
        """
        session, calls = self.session, self.calls
        usd = "cost unknown" if calls.cost_usd is None else f"{calls.cost_usd:.4f} USD"
        found = [
            ("Question", session.topic.question),
            ("Background", session.topic.background if whole else ""),
            ("Run", f"{self.name}, {self.run.status}"),
            ("Origin", origin(session)),
            ("Branch", "; ".join(lineage(session))),
            ("Design", who_and_how(self.summary)),
            ("Settings", design_in_words(self.summary)),
            ("Instructions", session.treatment.instructions if whole else ""),
            ("Calls", f"{counted(calls.recorded, 'call')}, {usd}"),
        ]
        return [(term, said) for term, said in found if said]

    @property
    def people(self) -> list[tuple[str, str]]:
        """Who took part: name and model, and the persona, "" without one."""
        found = []
        for one in (*self.session.participants, *self.session.invited):
            told = self.session.people or one in self.session.invited
            own = one.role if told and one.role != "citizen" else ""
            named = ", ".join(filter(None, (one.model, own)))
            found.append((f"{one.id} ({named})", " ".join(one.persona.split())))
        return found

    def parts(self, answers: bool = True, whole: bool = True) -> Iterator[RunPart]:
        """The run in the order in which it is read; without tables unless `answers`, without long
        texts of the plan unless `whole`.
        """
        yield RunPart("design", facts=self.facts(whole))
        yield RunPart("participants", "Participants", facts=self.people)
        silent = () if self.lines else (SILENT_SESSION,)
        yield RunPart("transcript", "Transcript", turns=self.lines, sentences=silent)
        spoken = {f"{self.session.id}/{line.turn.index}" for line in self.lines}
        for text, codes in self.codes.items():
            if text not in spoken:
                yield RunPart(f"codes-{text}", f"Codes of {text}", sentences=codes)
        if self.statement is not None:
            text, chosen = self.statement
            yield RunPart("statement", "Collective statement", text=text, sentences=(chosen,))
        if answers:
            yield RunPart("tables", tables=self.tables)
        if self.acts:
            yield RunPart("acts", "Interventions of the researcher", sentences=self.acts)
        found = self.remarks(answers)
        if found:
            yield RunPart("notes", "Notes", sentences=found)

    def remarks(self, answers: bool = True) -> list[str]:
        """What must be known of the turns, and of the tables if they are shown, each once."""
        found = [*(self.notes_on_tables if answers else ()), *on_turns(self.run)]
        found += [f"dropped: {line}" for line in without_effect(self.calls.parameters_dropped)]
        if self.private:
            found.append("personas and the answers, votes and ratings of people are left out")
        return list(dict.fromkeys(found))

    @property
    def citation(self) -> str:
        """One line that names a run so that it can be found and checked.

        The hash is that of its file run.json, as `sha256sum` prints it.
        """
        run, session = self.held, self.held.session
        starts = [str(record.get("started", ""))[:10] for record in self.records]
        held = f", held {min(filter(None, starts))}" if any(starts) else ""
        version = run.provenance.get("delibsim")
        software = f" with delibsim {version}" if version else ""
        models = ", ".join(dict.fromkeys(person.model for person in session.participants))
        plan = f"topic {session.topic.id}, treatment {session.treatment.name}, models {models}"
        drawn = [f"seed {session.seed}, replicate {session.replicate}", *lineage(session)]
        name = f"{session.id}, study {self.study}"
        told = f"({plan}, {'; '.join(drawn)}). SHA-256 of run.json: {self.sha256}"
        return f"{name}{held}{software} {told}"


def _defined(values: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float | None]]:
    """Values by measure and phase, None where they are undefined."""
    found: dict[str, dict[str, float | None]] = {}
    for name, own in values.items():
        found[name] = {phase: None if isnan(value) else value for phase, value in own.items()}
    return found


def _times(records: Iterable[Record]) -> Iterator[tuple[str, str]]:
    """The occasion of every call and when it was sent, where the record can be read."""
    for record in records:
        purpose, started = record.get("purpose"), record.get("started")
        if isinstance(purpose, dict) and isinstance(started, str):
            yield str(purpose.get("occasion")), started


def who_and_how(summary: Summary) -> str:
    """Who took part, under which treatment, and what they were asked."""
    rounds = counted(summary["rounds"], "round")
    who = f"{counted(summary['participants'], 'participant')} ({', '.join(summary['models'])})"
    parts = [f"treatment {summary['treatment']}", *summary.get("parts", ()), rounds]
    asked = "no survey" if summary.get("not_surveyed") else f"survey {summary['survey']['id']}"
    return f"{who}, {', '.join(parts)}, {asked}"


def design_in_words(summary: Summary) -> str:
    """The settings that tell one run of a study from another."""
    personas = counted(summary["personas"], "persona") if summary["personas"] else "no personas"
    repeated = f"seed {summary['seed']}, replicate {summary['replicate']}"
    dropped = summary["calls"]["parameters_dropped"]
    stated = set()
    for model, temperature in summary["temperature"].items():
        unset = "without effect" if "temperature" in dropped.get(model, ()) else "not set"
        stated.add(unset if temperature is None else f"{temperature:g}")
    asked = f"temperature {', '.join(sorted(stated))}, wording {summary['wording']}"
    return f"{repeated}, {asked}, {personas}, network {summary['network']}"


def origin(session: Session) -> str:
    """Where a conversation of people comes from and how its audience voted; "" of any other."""
    held = session.conversation
    if held is None:
        return ""
    told = [f"imported: conversation {held.id} of {held.source}, held by people"]
    told += [f"{name} {value}" for name, value in held.facts.items()]
    for phase, shares in held.votes.items():
        votes = ", ".join(f"{vote} {share:g}%" for vote, share in shares.items())
        told.append(f"votes {'before' if phase == 'pre' else 'after'}: {votes}")
    return "; ".join(told)


def lineage(session: Session) -> list[str]:
    """Which run a fork or a probe branches off, and what differs; nothing of a planned session."""
    parentage = session.parentage
    if parentage is None:
        return []
    what = "probe" if parentage.stops else "fork"
    told = f"{what} {session.replicate} of {parentage.place} at {parentage.at}"
    return [f"{told}: {in_short(session)}"]


def shown_reversed(run: Run) -> list[str]:
    """The participants to whom the scale was shown the other way round."""
    return [one.participant for one in run.responses if one.reversed and one.phase == "pre"]


def on_answers(run: Run) -> list[str]:
    """To whom the scale was shown the other way round, and what is missing, in sentences."""
    lines = []
    turned = shown_reversed(run)
    if turned:
        mapped = "scale shown the other way round, answers mapped back"
        lines.append(f"{mapped}: {', '.join(turned)}")
    for gap in missing(run):
        occasion = HEADINGS.get(gap["occasion"], gap["occasion"])
        lines.append(f"missing: {gap['participant']}, {occasion}: {gap['reason']}")
    return lines


def on_turns(run: Run) -> Iterator[str]:
    """Which speeches were cut, and which statements a fork gave, in sentences."""
    cut = [str(said.turn.index) for said in run.transcript if said.cut]
    if cut:
        yield f"speeches cut at the end of a sentence: {len(cut)} (turn {', '.join(cut)})"
    yield from on_given(run)


def on_given(run: Run) -> list[str]:
    """Which statements a fork gave, or people said before elsewhere, in sentences; nothing where
    none was.
    """
    parentage = run.session.parentage
    edited = {edit.text for edit in parentage.edits} if parentage else set()
    own, others = [], []
    for said in run.speech:
        if said.given:
            theirs = run.session.people is not None and said.text not in edited
            (others if theirs else own).append(str(said.turn.index))
    found = [f"given by the fork, said by nobody: turn {', '.join(own)}"] if own else []
    if others:
        told = "as people said it in the conversation, who did not hear what models say here"
        found.append(f"{told}: turn {', '.join(others)}")
    return found
