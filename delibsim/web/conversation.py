"""The pages of one session: its conversation with all that stands beside it, and its calls."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from delibsim.analysis.calls import facts
from delibsim.analysis.forks import course_table
from delibsim.analysis.run.drawn import (
    ItemShifts,
    StatementScores,
    heard_in,
    item_shifts,
    of_statements,
    pairs_of,
)
from delibsim.analysis.run.leave_out import (
    is_left_out,
    people_among,
    text_without_personas,
)
from delibsim.analysis.run.summary import parts_of, speeches
from delibsim.analysis.run.tables import (
    ratings_of,
    table_of_measures,
    tables_of_raters,
    tables_of_votes,
)
from delibsim.analysis.run.view import RunView, TranscriptLine, lineage, on_answers, on_given
from delibsim.analysis.table import MEANING, DisplayTable, number, who_moved, why_undefined
from delibsim.conduct.reading.branch_links import course, labels_of
from delibsim.conduct.reading.index import StudyIndex
from delibsim.conduct.reading.listing import all_measures
from delibsim.conduct.replay import exchanges_of, record_of
from delibsim.conduct.status import with_people
from delibsim.conduct.view import acts_in, run_view
from delibsim.domain.participant import SIDES
from delibsim.domain.run import Session
from delibsim.domain.study import natural
from delibsim.domain.text import brief, counted
from delibsim.domain.transcript import PREPARATION, Statement
from delibsim.models.replay import Exchange
from delibsim.store.codec import Damaged
from delibsim.store.notes import Notes
from delibsim.store.places import is_of_branches
from delibsim.store.runs import Runs
from delibsim.store.session_files import WITHDRAWN
from delibsim.web.comparison import compared, forks_shown
from delibsim.web.drawings import curves_of, dots_of, net_of, panels_of, seats_of
from delibsim.web.render import TURNS, occasion, page, page_name, part
from delibsim.web.site import NotFound, Site, address_of, has_forks

NOTHING = StatementScores()


@dataclass(frozen=True)
class RecordedCall:
    """A recorded call, and its number among those of its session, counted from 1."""

    number: int
    exchange: Exchange


@dataclass(frozen=True)
class TurnShown:
    """A turn for reading: what was said, and what is known of it.

    `calls` are the calls behind it in their order; several mean that it was asked again. `marks`
    are flags in words. `words` counts the words of a speech; `limits` are the words that the rules
    of a debate allow, None without.
    """

    line: TranscriptLine
    silent: bool
    calls: Sequence[RecordedCall]
    marks: Sequence[str]
    scores: StatementScores
    words: int
    limits: tuple[int, int] | None = None


@dataclass(frozen=True)
class RunPage:
    """Everything on the page of a run that was held.

    `asked` gives the calls of each participant before and after, by (participant, phase).
    """

    view: RunView
    turns: Sequence[TurnShown]
    asked: Mapping[tuple[str, str], Sequence[RecordedCall]]
    calls: int


@dataclass(frozen=True)
class Unfinished:
    """A session without a run that can be read: its plan (None where that cannot be read), its
    calls so far, and why; what is damaged of it, if anything is.
    """

    plan: Session | None
    calls: Sequence[RecordedCall]
    why: str
    damaged: str = ""


def run_page(index: StudyIndex, session: str, private: bool = False) -> RunPage | Unfinished:
    """What the page of a session shows; `private` leaves out the answers of people."""
    runs = index.runs
    calls = calls_of(runs, session)
    try:
        if not runs.held(session):
            going = f"process {runs.holder()} holds the study" if runs.holder() else "cut off"
            going = WITHDRAWN if runs.withdrawn(session) else going
            plan = runs.planned(session)
            if plan.seats_of_people and going != WITHDRAWN:
                going = with_people(runs, session, bool(calls)) or going
            return Unfinished(plan, calls, going)
        view = run_view(runs, session, index.scores(session), all_measures(runs), private)
    except Damaged as error:
        return Unfinished(None, calls, f"damaged: {_without_path(error, runs)}", str(error))
    return RunPage(view, _turns(view, calls), _by_occasion(calls), len(calls))


def calls_of(runs: Runs, session: str) -> list[RecordedCall]:
    """The readable calls of a session, numbered in their order; of a branch also those that it has
    of its parent.
    """
    return [RecordedCall(n, exchange) for n, exchange in enumerate(record_of(runs, session), 1)]


def _turns(view: RunView, calls: Sequence[RecordedCall]) -> list[TurnShown]:
    run, by_occasion = view.run, _by_occasion(calls)
    statements = {said.turn.index: said for said in run.transcript}
    scores, rules = of_statements(view.scores, view.measures), run.session.procedure.rules
    broken = {speech["text"]: speech["broken"] for speech in speeches(run) if rules}
    found = []
    for line in view.lines:
        turn = line.turn
        said = statements.get(turn.index)
        behind = by_occasion.get((turn.speaker, f"turn {turn.index}"), [])
        own = scores.get(turn.index, NOTHING)
        marks = [*own.flags, *_marks(said, behind)]
        if said is not None:
            marks += [kind.replace("_", " ") for kind in broken.get(said.text, ())]
        speech = rules is not None and turn.task != PREPARATION
        shown = TurnShown(
            line=line,
            silent=said is None,
            calls=behind,
            marks=list(dict.fromkeys(marks)),
            scores=own,
            words=0 if said is None else len(said.text.split()),
            limits=(rules.least, rules.most) if speech else None,
        )
        found.append(shown)
    return found


def _marks(said: Statement | None, calls: Sequence[RecordedCall]) -> list[str]:
    """What happened to a statement on its way."""
    statuses = Counter(call.exchange.completion.status for call in calls)
    marks = []
    if said is None:
        marks.append("no statement")
    if said is not None and said.cut:
        marks.append("cut by the rules")
    if statuses["length"]:
        marks.append("truncated")
    if max((call.exchange.purpose.attempt for call in calls), default=0):
        marks.append("re-asked")
    return marks


def _by_occasion(calls: Sequence[RecordedCall]) -> dict[tuple[str, str], list[RecordedCall]]:
    found: dict[tuple[str, str], list[RecordedCall]] = {}
    for call in calls:
        asked = call.exchange.purpose
        found.setdefault((asked.participant, asked.occasion), []).append(call)
    return found


def _without_path(error: Exception, runs: Runs) -> str:
    """What an error says, the folder of the study left out."""
    said: Any = str(error)
    return said.replace(f"{runs.folder.resolve()}/", "").replace(f"{runs.folder}/", "")


OTHERS = 200
"""Runs that are proposed for a comparison."""
PAIR = 2
"""Of so many participants who hears whom need not be drawn."""


def conversation_page(site: Site, folder: str, session: str, number: int = 0) -> tuple[str, int]:
    """A page of the conversation of a session, counted from 0, and how many it has."""
    index = site.session(folder, session)
    shown = run_page(index, session, site.private)
    up, trail = _place(site, index.runs, session, "")
    if isinstance(shown, Unfinished):
        site.damaged |= {(folder, session): shown.damaged} if shown.damaged else {}
        values = _unfinished(site, index.runs, session, shown)
        return page(site, "unfinished.html", up, trail, values), 1
    pages = max(1, -(-len(shown.turns) // TURNS))
    if number >= pages:
        raise NotFound("the conversation has no such page")
    values = _values(site, index.runs, shown, number)
    return page(site, "run.html", up, trail, values), pages


def calls_page(site: Site, folder: str, session: str) -> str:
    """The list of the calls of a session."""
    runs = site.session(folder, session).runs
    calls = _without_details(site, calls_of(runs, session))
    values = {"session": session, "damaged": exchanges_of(runs, session)[1], "calls": calls}
    up, trail = _place(site, runs, session, "../")
    return page(site, "calls.html", up, [*trail, ("Calls", "")], values)


def call_pages(
    site: Site, folder: str, session: str, number: int | None = None
) -> Iterator[tuple[int, str]]:
    """One call of a session, or all, each with its number and its page; NotFound for a number that
    there is not.
    """
    runs = site.session(folder, session).runs
    calls = calls_of(runs, session)
    if number is not None and not 1 <= number <= len(calls):
        raise NotFound("there is no such call")
    planned = _planned(runs, session)
    up, trail = _place(site, runs, session, "../")
    for call in calls if number is None else calls[number - 1 : number]:
        values = _call(site, planned, call) | {"session": session, "of": len(calls)}
        own = [*trail, ("Calls", "index.html"), (f"Call {call.number}", "")]
        yield call.number, page(site, "call.html", up, own, values)


def _place(site: Site, runs: Runs, session: str, back: str) -> tuple[str, list[tuple[str, str]]]:
    """What leads from a page to the first, and the pages above it; `back` leads to the page of the
    session, "" where that is meant.
    """
    name = session
    if has_forks(runs) and not site.alone:
        index = site.index(address_of(runs))
        name = labels_of(site.tree(index)).get(session, session)
    here = (name, f"{back}index.html" if back else "")
    if site.alone:
        return back, [here]
    above = [
        ("Studies", f"{back}../../index.html"),
        (runs.study, f"{back}../index.html"),
        ("Runs", f"{back}../runs.html"),
    ]
    return f"{back}../../", [*above, here]


def _call(site: Site, planned: Session | None, call: RecordedCall) -> dict[str, Any]:
    """A call for reading; personas and the answers of people are left out where that is wished."""
    exchange = call.exchange
    messages = [(message.role, message.content) for message in exchange.messages]
    told = [(name, fact) for name, fact in facts(exchange).items() if name != "usage"]
    told.insert(0, ("status", exchange.completion.status))
    usage = exchange.completion.usage
    for name, n in vars(usage).items():
        if n is not None:
            told.append((name.replace("_usd", ", USD").replace("_", " "), f"{n:,}"))
    told += [("sent", exchange.started), ("seconds", f"{exchange.seconds:.3f}")]
    reply, left_out = exchange.completion.text, False
    if site.private:
        # Without a plan nobody can tell what a persona is, or who is a person.
        left_out = planned is None or is_left_out(exchange, people_among(planned))
    if site.private and planned is not None:
        messages = [(role, text_without_personas(text, planned)) for role, text in messages]
        told = [(name, text_without_personas(fact, planned)) for name, fact in told]
        reply = text_without_personas(reply, planned)
    values = {"call": call, "messages": messages, "facts": told, "reply": reply}
    return values | {"left_out": left_out}


def _without_details(site: Site, calls: Sequence[RecordedCall]) -> Sequence[RecordedCall]:
    """The calls for a list; where personas and answers are left out, without why they failed, which
    may quote them.
    """
    if not site.private:
        return calls
    found = []
    for call in calls:
        done = replace(call.exchange.completion, detail="")
        found.append(replace(call, exchange=replace(call.exchange, completion=done)))
    return found


def _planned(runs: Runs, session: str) -> Session | None:
    try:
        return runs.planned(session)
    except Damaged:
        return None


def _unfinished(site: Site, runs: Runs, session: str, shown: Unfinished) -> dict[str, Any]:
    people = [person.id for person in shown.plan.participants] if shown.plan else []
    plan = _planned(runs, session)

    def said(call: RecordedCall) -> str:
        text = call.exchange.completion.text
        if not site.private:
            return text
        # Without a plan nobody can tell what a persona is.
        return text_without_personas(text, plan) if plan else "(left out)"

    return {
        "page": shown,
        "interventions": list(acts_in(runs, session, site.private)),
        "said": said,
        "session": session,
        "study": runs.study,
        "going": bool(runs.holder()),
        "seats": seats_of(people),
    }


def _values(site: Site, runs: Runs, shown: RunPage, number: int) -> dict[str, Any]:
    view = shown.view
    run, session = view.run, view.session
    turns = list(shown.turns)[number * TURNS : (number + 1) * TURNS]
    pages = max(1, -(-len(shown.turns) // TURNS))
    last = len(shown.turns)
    spans = [f"Turns {n * TURNS + 1} to {min(last, (n + 1) * TURNS)}" for n in range(pages)]
    two_sides = bool(session.kind.sides)
    notes: dict[int | None, list[Any]] = {}
    for note in [] if site.private else Notes(runs).of(session.id):
        notes.setdefault(note.turn, []).append(note)
    items, heard = item_shifts(run, view.hidden), heard_in(run)
    return {
        **_branches(site, runs, session),
        "view": view,
        "calls": shown.calls,
        "facts": _facts(session),
        "seats": seats_of([person.id for person in session.participants]),
        "turns": turns,
        "rounds": _rounds(session, turns) if two_sides else [],
        "two_sides": two_sides,
        "pages": pages,
        "at": number,
        "spans": spans,
        "page_name": page_name,
        "said": lambda turn: brief(turn.line.text)[0],
        "cut_note": lambda turn: brief(turn.line.text)[1],
        "lineage": lineage(session),
        "given": on_given(run),
        "on_answers": on_answers(run),
        "measures": _with_values(table_of_measures(view.summary, view.measures)),
        "ratings": tables_of_raters(ratings_of(run)),
        "moved": who_moved(view.changes) if view.changes else None,
        "moved_why": why_undefined(view.changes),
        "votes": [] if run.consensus is None else list(tables_of_votes(run.consensus)),
        "dots": dots_of(items),
        "moved_in_words": _moved(items),
        "pairs": panels_of([] if view.hidden else pairs_of(run)),
        "net": net_of(heard) if len(heard.people) > PAIR else None,
        "asked": _asked(shown),
        "meaning": MEANING,
        "notes_by_turn": notes,
        "none": None,
    }


def _with_values(table: DisplayTable) -> DisplayTable:
    """A table without the rows that have no value at all, such as the index of a debate."""
    rows = [row for row in table.rows if row and set(row[1:]) != {number(None)}]
    return replace(table, rows=rows)


def _branches(site: Site, runs: Runs, session: Session) -> dict[str, Any]:
    """What the page says of the branches of a run, its course over probes, and other runs."""
    parentage, parent = session.parentage, ""
    if parentage is not None and not site.alone and is_of_branches(runs):
        folder = runs.folder.parent.name
        shown_too = folder in site.folders()
        turn = f"#turn-{parentage.at}" if parentage.at else ""
        address = f"../../{part(folder)}/{part(parentage.session)}/index.html{turn}"
        parent = address if shown_too else ""
    probed = None if site.alone else course(runs, session.id)
    before, after = (None, None) if site.alone else _neighbours(runs, session.id)
    return {
        "parent": parent,
        "before": before,
        "after": after,
        "compared": compared(site, runs, session),
        **forks_shown(site, runs, session),
        "curves": [] if probed is None else curves_of(probed),
        "course_table": None if probed is None else course_table(probed.readings, probed.labels),
        "others": [] if site.static else runs.sessions()[:OTHERS],
    }


def _neighbours(runs: Runs, session: str) -> tuple[str | None, str | None]:
    """The runs before and after a run, in the order of the list."""
    names = sorted(runs.sessions(), key=natural)
    at = names.index(session)
    return names[at - 1] if at else None, names[at + 1] if at + 1 < len(names) else None


def _facts(session: Session) -> list[tuple[str, str]]:
    """How the session was planned, for reading."""
    rounds = session.treatment.rounds if session.treatment.interaction else 0
    found = [
        ("run", session.id),
        ("topic", session.topic.id),
        ("treatment", session.treatment.name),
        ("models", ", ".join(session.models)),
        ("participants", str(len(session.participants))),
        *([("parts", "; ".join(parts))] if (parts := parts_of(session)) else []),
        ("rounds", str(rounds)),
        ("survey", session.survey.id),
        ("wording", session.wording.id),
        ("network", session.procedure.audience.network),
        ("replicate", str(session.replicate)),
        ("seed", str(session.seed)),
    ]
    if session.kind.sides:
        return [fact for fact in found if fact[0] not in ("rounds", "survey", "network")]
    return found


def _moved(items: Sequence[ItemShifts]) -> str:
    """On how many items somebody changed."""
    drawn = [item for item in items if item.shifts]
    changed = sum(item.changed > 0 for item in drawn)
    return f"{counted(len(drawn), 'item')}, on {changed} of them somebody changed"


def _rounds(
    session: Session, turns: Sequence[TurnShown]
) -> list[tuple[str, list[TurnShown], list[TurnShown]]]:
    """The speeches of a debate by task, those of either side in a column."""
    sides = {person.id: person.role for person in session.participants}
    found: dict[str, tuple[list[TurnShown], list[TurnShown]]] = {}
    for shown in turns:
        heading = session.kind.heading(shown.line.turn)
        columns = found.setdefault(heading, ([], []))
        columns[sides[shown.line.turn.speaker] == SIDES[1]].append(shown)
    return [(heading, *columns) for heading, columns in found.items()]


def _asked(shown: RunPage) -> list[tuple[str, Sequence[RecordedCall]]]:
    found = []
    for person in shown.view.session.respondents:
        for phase in shown.view.session.waves:
            calls = shown.asked.get((person.id, phase), ())
            if calls and person.id not in shown.view.hidden:
                found.append((f"{person.id}, {occasion(phase)}", calls))
    return found
