"""What differs between a branch of a run and the run, told word for word."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from delibsim.domain.parentage import Edit
from delibsim.domain.run import Session

SEAT, MODEL = "seat of ", "model of "
EDITED = ("turn", "before turn", "from turn")
"""What begins a difference that is an edit of statements."""
SEED_ALONE = "nothing but the seed"
"""What is said of a fork in which nothing else differs: a control."""
BEGIN = 40
"""Characters of given words by which two changes are told apart."""


@dataclass(frozen=True)
class BranchChange:
    """One thing that a branch has otherwise: what it is, and its value before and now; "" for what
    was not there.
    """

    what: str
    before: str
    now: str

    def __str__(self) -> str:
        """In one short line.

        >>> str(BranchChange("treatment", "normative", "basic"))
        'treatment: normative -> basic'
        >>> str(BranchChange("seat of Ann", "taken", ""))
        'Ann leaves'
        """
        if self.what.startswith(EDITED):
            return self.what
        if self.what.startswith(SEAT):
            who = self.what.removeprefix(SEAT)
            return f"{who} joins" if self.now else f"{who} leaves"
        return f"{self.what}: {self.before or '-'} -> {self.now or '-'}"

    def plain(self) -> dict[str, str]:
        """As plain values."""
        return asdict(self)


def what_differs(session: Session) -> tuple[BranchChange, ...]:
    """What a branch has otherwise than its parent, its seed aside; () of what is no branch, and of
    one in which nothing differs but the seed.
    """
    before = session.before
    if before is None or session.parentage is None:
        return ()
    found = [_of_edit(edit) for edit in session.parentage.edits]
    for what, old, new in (
        ("treatment", before.treatment.name, session.treatment.name),
        ("rounds", str(before.treatment.rounds), str(session.treatment.rounds)),
        ("instructions", before.treatment.instructions, session.treatment.instructions),
        ("wording", before.wording.id, session.wording.id),
        *_texts(before.wording.texts, session.wording.texts),
        *_facilitators(before, session),
        *_people(before, session),
        *_models(before, session),
    ):
        if old != new:
            found.append(BranchChange(what, old, new))
    return tuple(found)


def in_short(session: Session) -> str:
    """What differs in one line, long texts left out.

    `SEED_ALONE` where nothing else does, "" of what is no branch.
    """
    if session.parentage is None:
        return ""
    differences = [
        difference
        for difference in what_differs(session)
        if difference.what != "instructions" and not difference.what.startswith("wording ")
    ]
    lines = []
    for one in _of_everybody(differences, session):
        long = one.what.startswith(("persona", "instructions of"))
        lines.append(f"{one.what} differs" if long else str(one))
    return "; ".join(lines) or SEED_ALONE


def _of_everybody(differences: list[BranchChange], session: Session) -> list[BranchChange]:
    """The same, with one model for all participants told once."""
    models = [one for one in differences if one.what.startswith(MODEL)]
    alike = {(one.before, one.now) for one in models}
    if len(alike) != 1 or len(models) != len(session.participants):
        return differences
    first = replace(models[0], what="model")
    return [first if one is models[0] else one for one in differences if one not in models[1:]]


def told_apart(sessions: Iterable[Session]) -> dict[str, str]:
    """What differs in one line, by name of the branch; where changes that are not the same would
    have one line, the beginning of the words given is told too, and else a number.
    """
    changes: dict[str, dict[tuple[BranchChange, ...], list[Session]]] = {}
    for session in sessions:
        same = changes.setdefault(in_short(session), {})
        same.setdefault(what_differs(session), []).append(session)
    found = {}
    for line, own in changes.items():
        begins = [_beginning(differences) for differences in own]
        for number, (begin, alike) in enumerate(zip(begins, own.values(), strict=True), 1):
            apart = begin if begin and begins.count(begin) == 1 else f"change {number}"
            for session in alike:
                found[session.id] = f"{line} ({apart})" if len(own) > 1 else line
    return found


def _beginning(differences: Iterable[BranchChange]) -> str:
    """The beginning of the words that a branch gives, in quotation marks; "" without any."""
    given = [" ".join(one.now.split()) for one in differences if one.what.startswith(EDITED)]
    shown = [
        text if len(text) <= BEGIN else f"{text[:BEGIN].rstrip()}..." for text in given if text
    ]
    return ", ".join(f"“{text}”" for text in shown)


def _of_edit(edit: Edit) -> BranchChange:
    words = {
        "say": f"turn {edit.turn} said as given",
        "insert": f"before turn {edit.turn} {edit.speaker} says what was given",
        "remove": f"turn {edit.turn} left out",
        "stop": f"from turn {edit.turn} on nobody speaks",
    }
    return BranchChange(words[edit.kind], "", edit.text)


def _facilitators(before: Session, now: Session) -> Iterator[tuple[str, str, str]]:
    if before.facilitator is None or now.facilitator is None:
        return
    old, new = before.facilitator, now.facilitator
    yield "facilitator", old.name, new.name
    yield "model of the facilitator", before.invited[0].model, now.invited[0].model
    yield "instructions of the facilitator", old.instructions, new.instructions


def _texts(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for name in dict.fromkeys([*before, *now]):
        yield f"wording {name}", before.get(name, ""), now.get(name, "")


def _people(before: Session, now: Session) -> Iterator[tuple[str, str, str]]:
    """Who sits there, with which persona and model."""
    old = {person.id: person for person in before.participants}
    new = {person.id: person for person in now.participants}
    for name in dict.fromkeys([*old, *new]):
        was, is_ = old.get(name), new.get(name)
        yield f"{SEAT}{name}", "taken" if was else "", "taken" if is_ else ""
        if was is not None and is_ is not None:
            yield f"persona of {name}", was.persona, is_.persona
            yield f"{MODEL}{name}", was.model, is_.model


def _models(before: Session, now: Session) -> Iterator[tuple[str, str, str]]:
    """The settings of models that are there before and now."""
    for name in now.models:
        old, new = before.models.get(name), now.models[name]
        if old is None:
            continue
        for key in dict.fromkeys([*old, *new]):
            yield f"{name}.{key}", _text(old, key), _text(new, key)


def _text(settings: Mapping[str, Any], key: str) -> str:
    return "" if key not in settings else str(settings[key])
