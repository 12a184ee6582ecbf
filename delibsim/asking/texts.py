"""The texts of a study and the sentences around them, as they are put before coders, and which
coders may favour their own hand.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from delibsim.asking.blinding import blinded_text
from delibsim.domain.annotation import Text
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.model_family import family_of
from delibsim.domain.participant import SIDES
from delibsim.domain.run import Run
from delibsim.domain.seed import seed_of
from delibsim.domain.summary import OpinionSet, Slot
from delibsim.domain.text import study_named
from delibsim.domain.transcript import (
    CITIZEN,
    PREPARATION,
    SPEAKING,
    Statement,
    Turn,
)
from delibsim.domain.treatment import Wording
from delibsim.planning.compose import plan
from delibsim.store.files import json_text
from delibsim.store.runs import Runs
from delibsim.store.study_texts import StudyTexts

UnitName = Literal["statement", "speaker", "text"]
BETWEEN = "\n\n"
"""What stands between statements that are joined to one text."""


Roles = Sequence[str]
CITIZENS: Roles = (CITIZEN,)


def texts_of(
    runs: Runs,
    unit: str = "statement",
    context: int = 0,
    faults: list[str] | None = None,
    roles: Roles = CITIZENS,
) -> list[Text]:
    """The texts of a study, in order of session and turn, or in the order of import.

    Of runs, `unit` "statement" gives each statement (id SESSION/INDEX), "speaker" the words of a
    participant joined (SESSION/PARTICIPANT), "text" all statements of a session joined (SESSION);
    the group is the session. It is what those in these `roles` said, and where they are others
    than citizens, each text says whose it is. Notes before a debate, which nobody else is shown,
    are left out. What is wrong with runs that cannot be read is added to `faults`. Imported texts
    are given as they are, whether by statement or by text, in the groups that were named at their
    import.

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
        found += list(_UNITS[unit](run, context, roles))
    return found


def of_roles(roles: Roles) -> dict[str, list[str]]:
    """What a task keeps of the roles whose words it is about; nothing where citizens alone."""
    return {} if tuple(roles) == CITIZENS else {"roles": list(roles)}


def roles_in(task: Mapping[str, Any]) -> Roles:
    """The roles whose words a task is about."""
    return tuple(task.get("roles", CITIZENS))


def texts_of_run(run: Run, unit: str) -> list[Text]:
    """The texts of one run, as `texts_of` gives those of a study, of everybody who spoke."""
    return list(_UNITS[unit](run, 0, SPEAKING))


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
            " no group; import them with: group=COLUMN"
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


def _statements(run: Run, context: int, roles: Roles) -> Iterator[Text]:
    said = _aloud(run, roles)
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
            | {"round": str(turn.round)}
            | _role(turn, roles),
        )


def _speakers(run: Run, _: int, roles: Roles) -> Iterator[Text]:
    spoken: dict[str, list[str]] = {}
    of_role: dict[str, dict[str, str]] = {}
    for statement in _aloud(run, roles):
        spoken.setdefault(statement.turn.speaker, []).append(statement.text)
        of_role[statement.turn.speaker] = _role(statement.turn, roles)
    for speaker, texts in sorted(spoken.items()):
        yield Text(
            id=f"{run.session.id}/{speaker}",
            text=BETWEEN.join(texts),
            group=run.session.id,
            source="speaker",
            facts=_facts(run) | _of_speaker(run, speaker) | of_role[speaker],
        )


def _whole(run: Run, _: int, roles: Roles) -> Iterator[Text]:
    texts = [statement.text for statement in _aloud(run, roles)]
    if texts:
        id = run.session.id
        yield Text(id, BETWEEN.join(texts), group=id, source="text", facts=_facts(run))


_UNITS = {"statement": _statements, "speaker": _speakers, "text": _whole}


def _aloud(run: Run, roles: Roles) -> list[Statement]:
    """The statements in these roles that others were shown, in order."""
    said = [one for one in run.transcript if one.turn.task != PREPARATION]
    return [one for one in said if (one.turn.role or CITIZEN) in roles]


def _role(turn: Turn, roles: Roles) -> dict[str, str]:
    """Whose words a text is, where texts are of several roles."""
    return {} if tuple(roles) == CITIZENS else {"role": turn.role or CITIZEN}


def _facts(run: Run) -> dict[str, str]:
    session = run.session
    return {
        "session": session.id,
        "topic": session.topic.id,
        "treatment": session.treatment.name,
        "replicate": str(session.replicate),
    }


def _of_speaker(run: Run, speaker: str, occasion: str = "post") -> dict[str, str]:
    seated = run.session.seated(speaker, occasion)
    side = {"side": seated.role} if seated.role in SIDES else {}
    return {"speaker": speaker, "model": seated.model, **side}


FEWEST = 2
"""Opinions below which there is nothing to summarise."""
Names = tuple[str | int, ...]
"""What seeds begin with: the name of the study and its seed."""
IMPORTED = "text"
"""The unit of a study whose texts were imported."""


def unit_in(runs: Runs, by: str) -> str:
    """The unit of the texts of a study: `by` in a study of sessions, else imported texts."""
    return IMPORTED if StudyTexts(runs).held() else by


def study_texts(
    runs: Runs,
    by: str,
    context: int,
    faults: list[str],
    verb: str = "code",
    roles: Roles = CITIZENS,
) -> list[Text]:
    """The texts of a study in the unit that is asked for; WrongInput where there are none.

    `verb` says what they are wanted for.
    """
    imported = StudyTexts(runs).held()
    unit = IMPORTED if imported and by == "statement" else by
    texts = texts_of(runs, unit, context, faults, roles)
    if not texts:
        raise WrongInput(
            f"{study_named(runs.study)} has no texts to {verb}: hold its sessions first, or import"
            " texts with delibsim import STUDY FILE --as texts"
        )
    there = {text.facts.get("role", CITIZEN) for text in texts}
    for role in () if imported else roles:
        if role not in there:
            raise WrongInput(f"roles={role}: nobody speaks as {role} in {study_named(runs.study)}")
    return texts


def shown_texts(runs: Runs, texts: Sequence[Text]) -> dict[str, Text]:
    """The texts by id as coders see them: those of sessions are blinded."""
    sessions = runs.plans_by_name()
    shown = {}
    for text in texts:
        session = sessions.get(text.facts.get("session", text.group))
        shown[text.id] = text if session is None else blinded_text(text, session)
    return shown


def checked_wording(name: str, check: Callable[[Wording], None]) -> Wording:
    """The wording of this name; WrongInput if there is none, or if `check` finds that a text is
    missing.
    """
    wording = plan([f"wording={name}"]).session.wording
    check(wording)
    return wording


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as they are read back from JSON."""
    return json.loads(json_text(values))


def speaking_in(studies: Iterable[Runs]) -> dict[str, Mapping[str, Any]]:
    """The settings of the models that spoke in some studies, by name."""
    found: dict[str, Mapping[str, Any]] = {}
    for runs in studies:
        for session in runs.plans_by_name().values():
            found |= session.models
    return found


def kin_among(
    judging: Mapping[str, Mapping[str, Any]],
    speaking: Mapping[str, Mapping[str, Any]],
    called: tuple[str, str],
) -> list[str]:
    """A warning for each family of models, by name with their settings, that judge the words of
    others of it; `called` is what the two are.
    """
    families = {name: family_of(name, settings) for name, settings in speaking.items()}
    kindred: dict[str, list[str]] = {}
    for judge, settings in judging.items():
        kindred.setdefault(family_of(judge, settings), []).append(judge)
    warnings = []
    for family, judges in kindred.items():
        alike = ", ".join(sorted(name for name, other in families.items() if other == family))
        if alike:
            plural = "s" if len(judges) > 1 else ""
            named = f"{called[0]}{plural} {', '.join(judges)}"
            warnings.append(
                f"{named} and {called[1]} {alike} are of one family ({family}): a model may favour"
                " its own hand"
            )
    return warnings


@dataclass(frozen=True)
class OpinionMaterial:
    """The question, the opinions that are summarised by id, in the order of import, the group of
    each ("" where it is of none), and the names that seeds begin with.
    """

    names: Names
    question: str
    opinions: Mapping[str, str]
    groups: Mapping[str, str]

    def subset(self, size: int, draw: int) -> list[str]:
        """The ids of a drawn subset: the first of one permutation a draw, so that the sizes of a
        draw are nested.
        """
        ids = list(self.opinions)
        order = np.random.default_rng(seed_of(*self.names, "subset", draw)).permutation(len(ids))
        return [ids[place] for place in order[:size].tolist()]

    def shown(self, slot: Slot) -> list[str]:
        """The ids of the opinions of a summary in the order in which they are shown, which is drawn
        for every run; of a group, its members in the subset.
        """
        ids = self.subset(slot.size, slot.draw)
        if slot.group:
            ids = [id for id in ids if self.groups.get(id) == slot.group]
        own = ("order", slot.size, slot.draw, slot.run, slot.group)
        order = np.random.default_rng(seed_of(*self.names, *own)).permutation(len(ids))
        return [ids[place] for place in order.tolist()]


def named_in_parts(model: str, most: int) -> str:
    """The name under which a model summarises in parts of at most so many opinions.

    >>> named_in_parts("citizen", 50)
    'citizen_parts50'
    """
    return f"{model}_parts{most}"


def parts_of(ids: Sequence[str], most: int) -> list[list[str]]:
    """Opinions in as few parts as can be of at most so many, in their order, whose sizes differ by
    one at most; none where all fit in one.

    >>> parts_of(["a", "b", "c", "d", "e"], 2)
    [['a', 'b'], ['c', 'd'], ['e']]
    >>> parts_of(["a", "b"], 2)
    []
    """
    if len(ids) <= most:
        return []
    parts = np.array_split(np.arange(len(ids)), math.ceil(len(ids) / most))
    return [list(ids[part[0] : part[-1] + 1]) for part in parts]


def slots_of(
    material: OpinionMaterial,
    models: Iterable[str],
    sizes: Sequence[int],
    draws: int,
    runs: int,
) -> list[Slot]:
    """The summaries that are planned; those of a whole set are drawn once, and groups of fewer than
    two opinions are left out.
    """
    groups = ["", *sorted(set(filter(None, material.groups.values())))]
    found = []
    for model in models:
        for size in sizes:
            whole = size >= len(material.opinions)
            for draw in range(1, (1 if whole else draws) + 1):
                for group in groups:
                    first = Slot(model, size, draw, 1, group)
                    if len(material.shown(first)) < FEWEST:
                        continue
                    found += [Slot(model, size, draw, run, group) for run in range(1, runs + 1)]
    return found


def material_of(task: Mapping[str, Any], opinions: OpinionSet) -> OpinionMaterial:
    """The opinions of a task as summarisers see them, in the order in which they were kept."""
    texts = {text.id: text.text for text in opinions.texts}
    own = {id: texts[id] for id in task["texts"] if id in texts}
    names = task["study"], task["seed"]
    return OpinionMaterial(names, task["question"], own, task["grouped"])
