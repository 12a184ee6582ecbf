"""The texts of any study as coders are given them: statements, a speaker's words, whole texts."""

from collections.abc import Iterator, Sequence
from typing import Literal, get_args

from delibsim.domain.annotation import Text
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.run import Run
from delibsim.domain.text import study_named
from delibsim.domain.transcript import PREPARATION, Statement
from delibsim.store.runs import Runs
from delibsim.store.study_texts import StudyTexts

UnitName = Literal["statement", "speaker", "text"]
BETWEEN = "\n\n"
"""What stands between statements that are joined to one text."""


def texts_of(
    runs: Runs, unit: str = "statement", context: int = 0, faults: list[str] | None = None
) -> list[Text]:
    """The texts of a study, in order of session and turn, or in the order of import.

    Of runs, `unit` "statement" gives each statement (id SESSION/INDEX), "speaker" the words of a
    participant joined (SESSION/PARTICIPANT), "text" all statements of a session joined (SESSION);
    the group is the session. Notes before a debate, which nobody else is shown, are left out. What
    is wrong with runs that cannot be read is added to `faults`. Imported texts are given as they
    are, whether by statement or by text, in the groups that were named at their import.

    `context` is how many statements of the session, or earlier texts of the group, are given with
    each statement. WrongInput for another unit, for speakers of imported texts, and for context
    that the texts do not have.
    """
    if unit not in get_args(UnitName):
        raise unknown("unit", unit, get_args(UnitName))
    if context < 0:
        raise WrongInput(f"context={context}: expected 0 or a number of earlier texts")
    imported = StudyTexts(runs)
    if imported.held():
        return _imported(imported, unit, context)
    if context and unit != "statement":
        raise WrongInput(f"context={context} is what was said before a statement; leave by= out")
    found = []
    for run in runs.readable([] if faults is None else faults):
        found += list(_UNITS[unit](run, context))
    return found


def texts_of_run(run: Run, unit: str) -> list[Text]:
    """The texts of one run, as `texts_of` gives those of a study."""
    return list(_UNITS[unit](run, 0))


def _imported(imported: StudyTexts, unit: str, context: int) -> list[Text]:
    """The imported texts of a study, with those before them in their group."""
    named = study_named(imported.runs.study)
    if unit == "speaker":
        raise WrongInput(
            f"{named} holds imported texts, whose speakers are not known; leave by=speaker out"
        )
    texts = imported.all()
    if not context:
        return texts
    if not all(text.group for text in texts):
        raise WrongInput(
            f"context={context} is what came before a text in its group, and texts of {named} have"
            " no group; import them with: --group COLUMN"
        )
    before: dict[str, list[str]] = {}
    found = []
    for text in texts:
        earlier = before.setdefault(text.group, [])
        found.append(_with(text, earlier[-context:]))
        earlier.append(text.text)
    return found


def _with(text: Text, context: Sequence[str]) -> Text:
    return Text(text.id, text.text, text.group, tuple(context), text.source, text.facts)


def _statements(run: Run, context: int) -> Iterator[Text]:
    said = _aloud(run)
    texts = [statement.text for statement in said]
    for n, statement in enumerate(said):
        turn = statement.turn
        yield Text(
            id=f"{run.session.id}/{turn.index}",
            text=statement.text,
            group=run.session.id,
            context=tuple(texts[max(n - context, 0) : n]),
            source="statement",
            facts=_facts(run)
            | _of_speaker(run, turn.speaker, f"turn {turn.index}")
            | {"round": str(turn.round)},
        )


def _speakers(run: Run, _: int) -> Iterator[Text]:
    spoken: dict[str, list[str]] = {}
    for statement in _aloud(run):
        spoken.setdefault(statement.turn.speaker, []).append(statement.text)
    for speaker, texts in sorted(spoken.items()):
        yield Text(
            id=f"{run.session.id}/{speaker}",
            text=BETWEEN.join(texts),
            group=run.session.id,
            source="speaker",
            facts=_facts(run) | _of_speaker(run, speaker),
        )


def _whole(run: Run, _: int) -> Iterator[Text]:
    texts = [statement.text for statement in _aloud(run)]
    if texts:
        id = run.session.id
        yield Text(id, BETWEEN.join(texts), group=id, source="text", facts=_facts(run))


_UNITS = {"statement": _statements, "speaker": _speakers, "text": _whole}


def _aloud(run: Run) -> list[Statement]:
    """The statements that others were shown, in order."""
    return [said for said in run.transcript if said.turn.task != PREPARATION]


def _facts(run: Run) -> dict[str, str]:
    session = run.session
    return {
        "session": session.id,
        "topic": session.topic.id,
        "treatment": session.treatment.name,
        "replicate": str(session.replicate),
    }


def _of_speaker(run: Run, speaker: str, occasion: str = "post") -> dict[str, str]:
    return {"speaker": speaker, "model": run.session.seated(speaker, occasion).model}
