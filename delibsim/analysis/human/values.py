"""What real people did on the topic of a session, as far as it may be shown beside the session."""

from functools import cache
from typing import Any

from delibsim.analysis.human.reference import reference, withheld
from delibsim.domain.measure import SCORE_PHASES
from delibsim.domain.run import Session
from delibsim.domain.survey import Survey, Topic
from delibsim.store.instruments.library import Library, package_data


def people_of(session: Session) -> dict[str, Any] | None:
    """The human reference of a session, as `reference` gives it, with what may be shown beside it.

    None unless topic and survey are those that people deliberated on, or our short form, word for
    word. On the short form a measure that is not comparable between instruments is None, and its
    note says `another_instrument`. Figures: docs/human-reference.md.
    """
    topic, survey = session.topic, session.survey
    people = reference(topic.id)
    if people is None or not _known_to_people(topic, survey):
        return None
    notes = dict(people.get("notes", {}))
    for phase in SCORE_PHASES:
        for measure in people[phase]:
            if withheld(topic.id, measure, survey.id):
                people[phase][measure] = None
                notes[measure] = "another_instrument"
    return people | {"notes": notes}


def on_their_instrument(session: Session) -> bool:
    """Whether the survey of a session is the one that people answered on its topic."""
    return session.survey.id == f"deliberr.{session.topic.id}"


@cache
def _known_to_people(topic: Topic, survey: Survey) -> bool:
    """Whether people deliberated on this topic and answered this survey, or its short form."""
    if survey.id not in (topic.id, f"deliberr.{topic.id}"):
        return False
    ours = Library(package_data("topics").parent)
    if topic != ours.topic(topic.id):
        return False
    return survey.id != topic.id or survey == ours.survey(survey.id)
