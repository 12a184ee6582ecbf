"""Settings without effect: what a study varies, and what makes no difference to its models; and
what differs between debates that are analysed together.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from delibsim.domain.condition import family_of, settings_of_model, shared_settings
from delibsim.domain.data import read_data
from delibsim.domain.participant import AUDIENCE, SIDES
from delibsim.domain.run import Session
from delibsim.domain.study import cell_of

INSTRUCTIONS = "treatment.instructions"
WORDING = "wording"
SILENT = "where nobody speaks"
UNSURVEYED = "where nobody is surveyed"
BARE = "where the topic has no background"
OTHER_NETWORK = "where the network is no small world"
_SETTINGS = read_data("settings.yaml")
OF_TURNS: tuple[str, ...] = _SETTINGS["without_turns"]
"""Settings of the turns, and of what surveys show of the turns before them."""
OF_SURVEYS: tuple[str, ...] = _SETTINGS["without_surveys"]
"""Settings of surveys alone."""
OF_RATERS = "rater_"
"""The prefix of the texts of a wording that no participant of a session reads."""

PARTS = tuple(of.name for of in fields(Session) if of.name not in ("id", "seed", "replicate"))
"""What the sessions of a cell have alike."""

Declared = Callable[..., Collection[str]]
"""The settings that a plug-in declares to be without effect on it: by its kind, and by its kind and
a circumstance, as `plugins.without_effect` gives them."""
Dropped = Mapping[str, Mapping[str, Collection[str]]]
"""The parameters that were requested and dropped, by session and by model."""


@dataclass(frozen=True)
class NoEffect:
    """A setting that sessions vary, its values as texts, and the models it has no effect on.

    `where` is the circumstance in which it has none; "": always.
    """

    setting: str
    values: tuple[str, ...]
    models: tuple[str, ...]
    where: str = ""

    def __str__(self) -> str:
        """In words.

        >>> str(NoEffect("temperature", ("0", "0.7"), ("citizen",)))
        'temperature (0, 0.7) has no effect on citizen'
        """
        values, models = ", ".join(self.values), ", ".join(self.models)
        return f"{self.setting} ({values}) has no effect on {models} {self.where}".rstrip()


def no_effects(sessions: Iterable[Session], declared: Declared) -> tuple[NoEffect, ...]:
    """What sessions vary without effect on some of their models, in the order of the sessions.

    Instructions that no model reads are named even where they do not vary.
    """
    values: dict[tuple[str, str, str], dict[Any, str]] = defaultdict(dict)
    cells: dict[str, Session] = {}
    for session in sessions:
        cells.setdefault(cell_of(session), session)
    for session in cells.values():
        shared = dict(shared_settings(session))
        for model, without in _without_effect(session, declared, {}).items():
            settings = shared | dict(settings_of_model(session, model))
            for setting in sorted(without):
                value = _value(setting, session, settings)
                if value is not None:
                    values[setting, model, without[setting]].setdefault(*value)
    models: dict[tuple[str, tuple[str, ...], str], list[str]] = defaultdict(list)
    for (setting, model, where), own in values.items():
        always = values.get((setting, model, ""), {})
        if where and own.keys() <= always.keys():
            continue
        unread = setting == INSTRUCTIONS and where
        if len(own) > 1 or unread:
            models[setting, tuple(own.values()), where].append(model)
    found = []
    for (setting, texts, where), names in models.items():
        found.append(NoEffect(setting, texts, tuple(names), where))
    return tuple(found)


@dataclass(frozen=True)
class Drop:
    """A parameter that runs vary, and that a model dropped in `n` of the `runs` it sat in."""

    setting: str
    values: tuple[str, ...]
    model: str
    n: int
    runs: int

    def __str__(self) -> str:
        """In words.

        >>> str(Drop("temperature", ("0", "0.7"), "local", 2, 4))
        'temperature (0, 0.7) was dropped by local in 2 of 4 runs'
        """
        varied = f"{self.setting} ({', '.join(self.values)})"
        return f"{varied} was dropped by {self.model} in {self.n} of {self.runs} runs"


def drops(held: Iterable[Session], declared: Declared, dropped: Dropped) -> tuple[Drop, ...]:
    """The parameters that held sessions vary and that their record says were dropped.

    What a plug-in declares to be without effect on it is left out: it is known without a record.
    """
    values: dict[tuple[str, str], dict[Any, str]] = defaultdict(dict)
    was_dropped: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for session in held:
        for model, settings in session.models.items():
            known = declared(str(settings.get("kind", "")))
            names = dropped.get(session.id, {}).get(model, ())
            for key, value in settings_of_model(session, model):
                setting = key.rpartition(".")[2]
                if setting not in known:
                    values[setting, model][value] = as_text(value)
                    was_dropped[setting, model].append(setting in names)
    found = []
    for (setting, model), varied in values.items():
        marks = was_dropped[setting, model]
        if len(varied) > 1 and any(marks):
            found.append(Drop(setting, tuple(varied.values()), model, sum(marks), len(marks)))
    return tuple(found)


def same_cells(
    sessions: Iterable[Session],
    declared: Declared,
    dropped: Dropped | None = None,
) -> dict[str, str]:
    """The cells that are the same condition as another, each with the first of these by name.

    Two cells are the same where their sessions of equal replicate differ in nothing but settings
    without effect on every model of the session: by declaration of its plug-in, or because they
    are among those that were `dropped`. Cells without a replicate in common are not compared. The
    seeds of such sessions are equal too (Session.seed_for), so a model that answers equal prompts
    with equal seeds alike gives equal runs.
    """
    contents: dict[str, dict[int, Any]] = defaultdict(dict)
    known: dict[Any, Any] = {}  # replicates have the same content, which is kept once
    read: dict[Any, tuple[Session, Any]] = {}  # those that were read together share their parts
    for session in sessions:
        gone = (dropped or {}).get(session.id, {})
        parts = (*(id(getattr(session, name)) for name in PARTS), repr(gone))
        if parts not in read:
            read[parts] = session, _content(session, _without_effect(session, declared, gone))
        content = read[parts][1]
        seeded = (session.seed, known.setdefault(content, content))
        contents[cell_of(session)][session.replicate] = known.setdefault(seeded, seeded)
    firsts: dict[Any, list[str]] = defaultdict(list)
    found: dict[str, str] = {}
    for cell in sorted(contents):
        own = contents[cell]
        different = set(own.values())
        near = {name for content in different for name in firsts[content]}
        first = next((name for name in sorted(near) if _agree(contents[name], own)), None)
        if first is not None:
            found[cell] = first
            continue
        for content in different:
            firsts[content].append(cell)
    return found


def _agree(one: Mapping[int, Any], other: Mapping[int, Any]) -> bool:
    """Whether two cells have replicates in common, and the same content in each of these."""
    both = one.keys() & other.keys()
    return bool(both) and all(one[replicate] == other[replicate] for replicate in both)


def _content(session: Session, without: Mapping[str, Collection[str]]) -> tuple[Any, ...]:
    """All of a session, replicate and seed aside, that has an effect on some model of it; hashable.

    `without` gives the settings without effect, by model.
    """
    by_all = set.intersection(*map(set, without.values()))
    topic, treatment, models = family_of(session)
    if INSTRUCTIONS in by_all:
        treatment = ""
    kept = {(key, value) for key, value in shared_settings(session) if key not in by_all}
    if WORDING not in by_all:
        texts = session.wording.texts.items()
        read = frozenset((name, text) for name, text in texts if not name.startswith(OF_RATERS))
        kept = {pair for pair in kept if pair[0] != WORDING} | {(WORDING, read)}
    for name in session.models:
        for key, value in settings_of_model(session, name):
            # A parameter that is not sent, and one that is dropped, are asked alike.
            if value is not None and key.rpartition(".")[2] not in without[name]:
                kept.add((f"models.{name}.{key}", value))
    seats = session.participants
    people = tuple((person.id, person.role, person.model, person.persona) for person in seats)
    return topic, treatment, models, people, frozenset(kept)


def circumstances(session: Session) -> dict[str, str]:
    """The settings without effect on all models of a session, each with the circumstance."""
    procedure = session.procedure
    found = {}
    if procedure.audience.network != "small_world":
        found["procedure.audience.neighbours"] = OTHER_NETWORK
        found["procedure.audience.rewiring"] = OTHER_NETWORK
    if not session.topic.background.strip():
        found["procedure.background"] = BARE
    if not session.respondents:
        found |= dict.fromkeys(OF_SURVEYS, UNSURVEYED)
    if _silent(session):
        found |= dict.fromkeys(OF_TURNS, SILENT)
        if procedure.instructions == "turns":
            found[INSTRUCTIONS] = SILENT
    return found


def _silent(session: Session) -> bool:
    return not session.treatment.interaction or session.treatment.rounds == 0


def _without_effect(
    session: Session, declared: Declared, dropped: Mapping[str, Collection[str]]
) -> dict[str, dict[str, str]]:
    """The settings without effect in a session, by model, each with the circumstance.

    "" for settings that never have an effect.
    """
    where = [SILENT] if _silent(session) else []
    where.append(session.kind.circumstance)
    found = {}
    for model, settings in session.models.items():
        kind = str(settings.get("kind", ""))
        always = {*declared(kind), *dropped.get(model, ())}
        # A model that finds its way by blocks would read one that a text of the user's opens.
        if _opens_a_block([session.treatment.instructions]):
            always.discard(INSTRUCTIONS)
        if _opens_a_block(session.wording.texts.values()):
            always.discard(WORDING)
        own = circumstances(session)
        for circumstance in where:
            own |= dict.fromkeys(declared(kind, circumstance), circumstance)
        found[model] = dict.fromkeys(always, "") | own
    return found


def _value(setting: str, session: Session, values: Mapping[str, Any]) -> tuple[Any, str] | None:
    """The value of a setting and how it is named; None for a session that has no such setting."""
    if setting == INSTRUCTIONS:
        instructions = session.treatment.instructions
        return (instructions, session.treatment.name) if instructions.strip() else None
    if setting not in values:
        return None
    return values[setting], as_text(values[setting])


def as_text(value: Any) -> str:
    """The value of a setting in a sentence.

    >>> as_text(1.0), as_text(None), as_text("half")
    ('1', 'None', 'half')
    """
    return f"{value:g}" if isinstance(value, float) else str(value)


def _opens_a_block(texts: Iterable[str]) -> bool:
    lines = (line for text in texts for line in text.splitlines())
    return any(line.lstrip().startswith("<") for line in lines)


OF_THE_DEBATE = ("survey", "seats", "group.size", WORDING)
"""Settings that follow from motion and debaters, or are named otherwise here."""


def differing(sessions: Iterable[Session]) -> dict[str, tuple[str, ...]]:
    """The settings in which debates differ beyond motion and debaters, with their values as texts.

    The settings of a model are compared between the debates in which it sat; what one model has
    otherwise than another belongs to the debaters.
    """
    values: dict[tuple[str, str], dict[Any, str]] = defaultdict(dict)
    for session in sessions:
        for key, value, text in _shared(session):
            values[key, ""][value] = text
        for model in session.models:
            for key, value in settings_of_model(session, model):
                values[key, model][value] = as_text(value)
    found: dict[str, dict[Any, str]] = defaultdict(dict)
    for (key, _), own in values.items():
        if len(own) > 1:
            found[key] |= own
    return {key: _distinct(own) for key, own in found.items()}


def _shared(session: Session) -> Iterator[tuple[str, Any, str]]:
    """The settings of a debate that are no model's: name, value and the value as text."""
    treatment, wording = session.treatment, session.wording
    content = json.dumps([treatment.instructions, treatment.interaction])
    yield "treatment", (treatment.name, content), treatment.name
    yield WORDING, (wording.id, digest_of(wording.texts)), wording.id
    people = session.participants
    listeners = [person for person in people if person.role == AUDIENCE]
    yield AUDIENCE, len(listeners), str(len(listeners))
    sides = tuple(person for person in people if person.role in SIDES)
    for key, value in shared_settings(replace(session, participants=sides)):
        if key not in OF_THE_DEBATE:
            yield key, value, as_text(value)


def _distinct(values: Mapping[Any, str]) -> tuple[str, ...]:
    """The texts of values; equal texts of different values are marked with a hash of the value."""
    texts = list(values.values())
    distinct = []
    for value, text in values.items():
        mark = hashlib.sha256(repr(value).encode()).hexdigest()[:8]
        distinct.append(text if texts.count(text) == 1 else f"{text} ({mark})")
    return tuple(distinct)


def digest_of(texts: Mapping[str, str]) -> str:
    """SHA-256 of texts by name, in whichever order they stand."""
    return hashlib.sha256(json.dumps(dict(texts), sort_keys=True).encode()).hexdigest()
