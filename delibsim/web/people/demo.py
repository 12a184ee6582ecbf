"""The demonstration: whoever has no seat watches; at the end the conversation and its measures."""

from collections.abc import Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from delibsim.analysis.table import number
from delibsim.conduct.view import run_view
from delibsim.domain.hosting import Reception
from delibsim.domain.run import Session
from delibsim.domain.score import SCORE_PHASES, Measure
from delibsim.people.dry import A_LINE, READ, TYPED
from delibsim.store.people.hosting_files import languages
from delibsim.store.people.rooms import rooms_of
from delibsim.store.people.schema import RoomState
from delibsim.web.people.render import Language, render
from delibsim.web.people.stages import WATCH
from delibsim.web.people.visits import Visits, page
from delibsim.web.serve import application as reader
from delibsim.web.site import Site

RUN = "/demo/run"
"""Where the whole record of the demonstration is read."""
WORDS = 60
"""Words of a statement, as a person is taken to write it and citizens do."""


def minutes_of(session: Session) -> int:
    """About how many minutes a session takes the one person in it, who reads and types as in a dry
    run.
    """
    statements = session.treatment.rounds * len(session.participants)
    texts = [session.topic.background, session.treatment.instructions]
    texts += [item.text for item in session.survey.items]
    read = sum(len(text.split()) for text in texts) + WORDS * statements
    typed = WORDS * session.treatment.rounds
    marked = 2 * len(session.survey.items) * A_LINE / 60
    return round(read / READ + typed / TYPED + marked)


def reception(session: Session, words: Language) -> Reception:
    """What the person at the table of a demonstration is told; nothing is asked."""
    told = {"minutes": minutes_of(session), "question": session.topic.question}
    return Reception(words("demo.consent", **told), "", words("demo.debriefing"))


class Demo:
    """The page of a demonstration, which has one table; whoever reaches the server sees it."""

    def __init__(self, visits: Visits, session: Session) -> None:
        self.visits, self.hall, self.session = visits, visits.hall, session

    def routes(self) -> list[BaseRoute]:
        """The routes of the demonstration, and of the reader over its record."""
        runs = self.hall.runs
        site = Site(runs.folder.parent, only=runs, read_only=True)
        return [
            Route(WATCH, self.watch, methods=["GET"]),
            Route(f"{WATCH}/part", self.part, methods=["GET"]),
            Mount(RUN, app=reader(site)),
        ]

    async def watch(self, request: Request) -> Response:
        """The table as it stands, and what came of it once it is over."""
        return await run_in_threadpool(self._page, request)

    async def part(self, request: Request) -> Response:
        """The part of the page that changes."""
        return await run_in_threadpool(self._part, request)

    def _page(self, request: Request) -> Response:
        words = self.visits.words(request)
        values = self._stands(words)
        if values["waits"] == "over":
            values |= self._measured()
        links = [(code, f"{WATCH}?lang={code}") for code in languages()]
        told = {"minutes": minutes_of(self.session), "links": links}
        return page("demo.html", words, **values, **told)

    def _part(self, request: Request) -> Response:
        values = self._stands(self.visits.words(request))
        html = render("demo_part.html", self.visits.words(request), **values)
        return JSONResponse({"html": html, "waits": values["waits"], "key": ""})

    def _stands(self, words: Language) -> dict[str, Any]:
        """What is seen of the table: who sits there, what was said, who speaks."""
        name = self.session.id
        (room,) = rooms_of(self.hall.register, name)
        people = [one.id for one in self.session.participants]
        waits = "lobby" if room.state == RoomState.LOBBY else "wait"
        if self.hall.runs.held(name):
            waits = "over"
        elif room.state == RoomState.CANCELLED:
            waits = "cancelled"
        speaker = self.hall.talk(name).speaker if waits == "wait" else ""
        return {
            "waits": waits,
            "speaker": speaker,
            "said": self.hall.heard(name, people[0]),
            "here": people,
            "seats": {seat.name for seat in room.seats},
            "question": self.session.topic.question,
        }

    def _measured(self) -> dict[str, Any]:
        """The measures of the table beside those of people who deliberated on the same topic."""
        runs, name = self.hall.runs, self.session.id
        view = run_view(runs, name)
        summary, measures = view.summary, view.measures
        people: dict[str, Any] = summary["human"] or {}
        rows = []
        for id, own in summary["measures"].items():
            theirs = {phase: people.get(phase, {}).get(id) for phase in SCORE_PHASES}
            if any(value is not None for value in theirs.values()):
                both = [_in_words(values, measures[id]) for values in (own, theirs)]
                rows.append((measures[id].label, *both))
        address = f"{RUN}/{runs.folder.name}/{name}/index.html"
        return {"rows": rows, "n": people.get("n", 0), "address": address}


def _in_words(values: Mapping[str, float | None], measure: Measure) -> tuple[str, str]:
    """A measure before and after, and its change."""
    before, after, change = (values.get(phase) for phase in SCORE_PHASES)
    both = "" if before is None and after is None else f"{_number(before)} → {_number(after)}"
    return both, _number(change, measure.signed)


def _number(value: float | None, signed: bool = False) -> str:
    """A number with a minus of its own width; a dash where there is none."""
    text = number(value, signed)
    return "–" if text == number(None) else text.replace("-", "−")
