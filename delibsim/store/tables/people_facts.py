"""What is known of the people of a session: how many seats they had, who stood in, their times."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from statistics import median

from delibsim.domain.hosting import A_PERSON, STOOD_IN, stand_in_of
from delibsim.domain.run import Run, Session
from delibsim.domain.survey import PHASES
from delibsim.store.tables.calls import Row

ABSENT, TRIED = "absent", ("ok", "unreadable")


def people_facts(session: Session, run: Run | None, calls: Sequence[Row], damaged: int) -> Row:
    """Counts of the seats that people could take, and how long people took.

    The calls are rows of the table `calls`, in the order of the record. Where no seat is for
    people, or the record is damaged, only `people_seats` is known.
    """
    seats = session.seats_of_people
    row: Row = {"people_seats": len(seats)}
    if not seats or damaged:
        return row
    own = [call for call in calls if call["participant"] in seats]
    stood_in = dict(_stood_in(own))
    last = {call["participant"]: call["status"] for call in own}
    silent = [name for name, status in last.items() if status == ABSENT]
    told = [f"{name} by {by} from {at}" for name, (by, at) in stood_in.items()]
    row |= {
        "people_stood_in": len(stood_in),
        "stood_in": "; ".join(told) or None,
        "people_silent": len(silent),
        "minutes": _minutes(calls),
        "people_survey_seconds": _seconds(own, PHASES),
        "people_turn_seconds": _seconds(own, ("turn",)),
    }
    return row | (_of_run(run, seats) if run is not None else {})


def _stood_in(calls: Sequence[Row]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Of each seat with a stand-in its name, by whom, and from which occasion on."""
    seen = set()
    for call in calls:
        name, by = call["participant"], stand_in_of(call["model_returned"])
        if by and name not in seen:
            seen.add(name)
            yield name, (by, call["occasion"])


def _of_run(run: Run, seats: Sequence[str]) -> Row:
    """What is missing from the run because nobody was there, or because a stand-in was."""
    row: Row = {f"answers_absent_{phase}": 0 for phase in PHASES}
    row["answers_stood_in"] = 0
    for response in run.responses:
        if response.participant not in seats:
            continue
        codes = [reason.code for reason in response.missing.values()]
        row[f"answers_absent_{response.phase}"] += codes.count(ABSENT)
        row["answers_stood_in"] += codes.count(STOOD_IN)
    absent = [one for one in run.silences if one.turn.speaker in seats and one.status == ABSENT]
    return row | {"turns_absent": len(absent)}


def _seconds(calls: Sequence[Row], kinds: Sequence[str]) -> float | None:
    """The median of the seconds that people took on occasions of these kinds; a speech that came
    back took all of its tries together.
    """
    taken: dict[tuple[str, str], float] = {}
    answered = set()
    for call in calls:
        place = call["participant"], call["occasion"]
        if place[1].partition(" ")[0] not in kinds or call["model_returned"] != A_PERSON:
            continue
        if call["seconds"] is None or call["status"] not in TRIED:
            continue
        taken[place] = taken.get(place, 0.0) + float(call["seconds"])
        if call["status"] == "ok":
            answered.add(place)
    return median(taken[place] for place in answered) if answered else None


def _minutes(calls: Sequence[Row]) -> float | None:
    """Minutes from the first call to the end of the last; None where a time is not known."""
    try:
        begun = [datetime.fromisoformat(call["started"]) for call in calls]
        ends = [
            start + timedelta(seconds=float(call["seconds"]))
            for start, call in zip(begun, calls, strict=True)
        ]
    except (TypeError, ValueError):
        return None
    return (max(ends) - min(begun)).total_seconds() / 60 if ends else None
