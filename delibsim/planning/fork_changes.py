"""What a fork asks for, from the words of a command: where runs branch, what is said otherwise, and
what differs from there on: treatment, wording, models, personas and seats.
"""

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from delibsim.domain.branching import Edit
from delibsim.domain.errors import WrongInput, refused, unknown
from delibsim.domain.participant import Participant
from delibsim.domain.phases import Facilitator
from delibsim.domain.run import Session
from delibsim.domain.treatment import Treatment, Wording
from delibsim.models.ask import as_format, settled_in, with_settled
from delibsim.models.clients.settings import check_settings
from delibsim.planning import debates
from delibsim.planning.cell import Composer
from delibsim.planning.config import Config, GroupConfig, built, validated
from delibsim.planning.model_settings import mediator_settings, model_settings
from delibsim.planning.overrides import Job
from delibsim.planning.seats import SessionContext, seated
from delibsim.store.reading import file_text

MOST_PLACES = 1_000
"""The most values that a list or range may name."""
LONGEST_FILE = 1_000_000
"""Bytes of a file that holds one statement."""
LIST = re.compile(r"\s*\d{1,9}\s*(,\s*\d{1,9}\s*)*")
RANGE = re.compile(r"\s*range\(\s*(\d{1,9})\s*,\s*(\d{1,9})\s*(?:,\s*(\d{1,9})\s*)?\)\s*")
SAY = re.compile(r"(?:(\d{1,9})=)?(.+)", re.DOTALL)
INSERT = re.compile(r"(\d{1,9}):(\d{1,9})=(.+)", re.DOTALL)


@dataclass(frozen=True)
class Spoken:
    """Words that are said in a turn (None: the one at which the run branches), and their file; a
    `seat` says them before that turn where they are inserted.
    """

    turn: int | None
    text: str
    file: str
    seat: int = 0


@dataclass(frozen=True)
class Places:
    """Where runs branch, which turns and seats are concerned, and how often.

    `said` and `inserted` hold for each edit its alternatives, of which every combination is held.
    `seats` are those whose model and persona change, counted from 1; () for all.
    """

    at: tuple[int, ...]
    said: tuple[tuple[Spoken, ...], ...] = ()
    inserted: tuple[tuple[Spoken, ...], ...] = ()
    removed: tuple[int, ...] = ()
    leave: tuple[int, ...] = ()
    join: int = 0
    seats: tuple[int, ...] = ()
    times: int = 1
    control: bool = False


@dataclass(frozen=True)
class Spot:
    """One place at which a run branches, and one combination of what is said otherwise."""

    at: int
    spoken: tuple[Spoken, ...]


def places_of(values: Mapping[str, Sequence[str]], home: Path, control: bool = False) -> Places:
    """The places that words name, by the option they were given with; WrongInput for others.

    Options: at, say, insert, remove, leave, join, seat, times. Files lie in `home` unless their
    path says otherwise.
    """
    said = tuple(_said(word, home) for word in values.get("say", ()))
    inserted = tuple(_inserted(word, home) for word in values.get("insert", ()))
    removed = _numbers(values, "remove")
    named = [one.turn for part in (*said, *inserted) for one in part if one.turn is not None]
    at = _numbers(values, "at") or tuple(sorted({*named, *removed})[:1])
    if not at:
        raise WrongInput("name the first turn that may differ: --at 6")
    return Places(
        at=at,
        said=said,
        inserted=inserted,
        removed=removed,
        leave=_numbers(values, "leave"),
        join=_number(values, "join", 0),
        seats=_numbers(values, "seat"),
        times=_number(values, "times", 1),
        control=control,
    )


def spots_of(places: Places) -> list[Spot]:
    """Every place with every combination of what is said otherwise, in order."""
    combinations = list(itertools.product(*places.said, *places.inserted))
    return [Spot(at, spoken) for at in places.at for spoken in combinations]


def edits_of(spot: Spot, removed: Iterable[int], speakers: Sequence[str]) -> tuple[Edit, ...]:
    """The edits of one spot; `speakers` are the participants in the order of seats."""
    edits = [Edit("remove", turn) for turn in removed]
    for one in spot.spoken:
        turn = spot.at if one.turn is None else one.turn
        if one.seat:
            edits.append(Edit("insert", turn, one.text, speakers[one.seat - 1]))
        else:
            edits.append(Edit("say", turn, one.text))
    return tuple(sorted(edits, key=lambda edit: edit.turn))


def seat_and_model(word: str, session: Session) -> tuple[list[str], str]:
    """The seat, by its number, and the setting that `--seat "Speaker 3=MODEL"` names; WrongInput
    for a name that nobody has.
    """
    name, _, model = word.rpartition("=")
    if name not in session.seats:
        raise unknown("seat", name, session.seats)
    return [str(session.seats.index(name) + 1)], f"model={model}"


def numbers(text: str, option: str) -> tuple[int, ...]:
    """The whole numbers that a list or a range names, each once; WrongInput for anything else.

    >>> numbers("6", "at"), numbers("0,2,4", "at"), numbers("range(0,10,3)", "at")
    ((6,), (0, 2, 4), (0, 3, 6, 9))
    """
    text = text.strip().removeprefix("[").removesuffix("]")
    found: Sequence[int] = ()
    if LIST.fullmatch(text):
        found = [int(part) for part in text.split(",")]
    elif match := RANGE.fullmatch(text):
        step = int(match[3] or 1)
        found = range(int(match[1]), int(match[2]), step) if step else ()
    if not found or len(found) > MOST_PLACES:
        raise refused("no_list_of_turns", option=option, most_places=MOST_PLACES, text=text)
    return tuple(dict.fromkeys(found))


def _numbers(values: Mapping[str, Sequence[str]], option: str) -> tuple[int, ...]:
    found = [number for text in values.get(option, ()) for number in numbers(text, option)]
    if option in ("leave", "seat") and 0 in found:
        raise WrongInput(f"--{option}: seats are counted from 1")
    return tuple(dict.fromkeys(found))


def _number(values: Mapping[str, Sequence[str]], option: str, default: int) -> int:
    """One whole number above 0."""
    texts = values.get(option, ())
    if not texts:
        return default
    found = numbers(texts[-1], option)
    if len(found) != 1 or not 0 < found[0] <= MOST_PLACES:
        raise WrongInput(f"--{option} is one whole number from 1 to {MOST_PLACES}")
    return found[0]


def _said(word: str, home: Path) -> tuple[Spoken, ...]:
    """The alternatives of `--say 6=a.txt,b.txt`, or without a turn."""
    match = SAY.fullmatch(word)
    if match is None:
        raise WrongInput("--say names a turn and a file: --say 6=say.txt")
    turn = int(match[1]) if match[1] else None
    return tuple(Spoken(turn, _text(name, home), name) for name in match[2].split(","))


def _inserted(word: str, home: Path) -> tuple[Spoken, ...]:
    """The alternatives of `--insert 6:2=a.txt,b.txt`."""
    match = INSERT.fullmatch(word)
    if match is None or int(match[2]) == 0:
        raise refused("insert_unreadable", word=word)
    turn, seat = int(match[1]), int(match[2])
    return tuple(Spoken(turn, _text(name, home), name, seat) for name in match[3].split(","))


def _text(name: str, home: Path) -> str:
    """The text of a file; WrongInput where it cannot be said."""
    path = home / name.strip()
    text = file_text(path, LONGEST_FILE).strip()
    if not text:
        raise WrongInput(f"{path} is empty; a statement has words (to leave a turn out: --remove)")
    return text


ALLOWED = (
    *("treatment", "wording", "persona", "model", "rounds", "temperature", "group.models"),
    *("group.facilitator", "facilitator"),
)
"""Settings that a fork can change; each also with what stands below it (model.susceptibility)."""
ELSEWHERE = ("study", "runs", "seed", "limits", "base_url")
"""Settings that a fork can have and that change nothing of what is told."""


@dataclass(frozen=True)
class Changed:
    """The plan of a run with its changes, what differs in a few words, and what is for this process
    alone.
    """

    session: Session
    label: tuple[str, ...]
    config: Config
    addresses: Mapping[str, str]


def changed(own: Session, job: Job, places: Places, composer: Composer) -> Changed:
    """The plan of a session with the changes of a job; what was not named stays as it is.

    WrongInput for a setting that a fork cannot change.
    """
    for key in (*job.choices, *job.values):
        if not _within(key, (*ALLOWED, *ELSEWHERE)):
            raise refused("no_change_of_a_fork", key=key, allowed=", ".join(ALLOWED))
    if own.kind.sides and "rounds" in job.values:
        raise WrongInput(f"'rounds' has no effect on a debate: {debates.MEANINGLESS['rounds']}")
    label = [*_label(job), *(f"leave{seat}" for seat in places.leave)]
    label += [f"seat{seat}" for seat in places.seats]
    values = {**job.values, "format": own.format}
    if "model" in job.choices or "group.models" in job.values:
        values |= _kept_temperature(own, job)
    job = Job(job.choices, values, job.added)
    config = validated(composer.configured(job))
    session = replace(own, seed=config.seed if "seed" in job.values else own.seed)
    session = _with_treatment(session, config, job)
    if _named(job, "wording"):
        session = replace(session, wording=built(Wording, "wording", config.wording))
    session = _with_seats(session, places)
    session, addresses = _with_models(session, config, job, places, composer)
    session, address = _with_facilitator(session, own, config, job, composer)
    session = _with_personas(session, config, job, places, composer)
    label += [f"join{places.join}"] * bool(places.join)
    label += [f"seed{session.seed}"] * (session.seed != own.seed)
    return Changed(session, tuple(label), config, {**addresses, **address})


def changes_any(own: Session, now: Session) -> bool:
    """Whether two plans differ in more than their seed."""
    return replace(now, seed=own.seed) != own


def _within(key: str, names: Sequence[str]) -> bool:
    return any(key == name or key.startswith(f"{name}.") for name in names)


def _named(job: Job, *names: str) -> bool:
    return any(_within(key, names) for key in (*job.choices, *job.values))


def _label(job: Job) -> list[str]:
    found = []
    for key, value in {**job.choices, **job.values}.items():
        if _within(key, ALLOWED):
            found.append(f"{key.rpartition('.')[2]}-{value}")
    return found


def _kept_temperature(own: Session, job: Job) -> dict[str, Any]:
    """The temperature of the run, where another model is named and no other temperature is."""
    if "temperature" in job.values:
        return {}
    if own.unasked:
        return {}
    known = {settings.get("temperature") for settings in own.models.values()}
    if len(known) > 1:
        raise refused("temperatures_differ")
    return {"temperature": known.pop()}


def _with_treatment(session: Session, config: Config, job: Job) -> Session:
    """Another treatment; the rounds stay those of the run unless others are named."""
    treatment = session.treatment
    if _named(job, "treatment"):
        rounds = treatment.rounds if treatment.interaction else None
        treatment = built(Treatment, "treatment", config.treatment)
        if rounds is not None and treatment.interaction:
            treatment = replace(treatment, rounds=rounds)
    if job.values.get("rounds") is not None:
        treatment = replace(treatment, rounds=job.values["rounds"])
    return replace(session, treatment=treatment)


def _with_seats(session: Session, places: Places) -> Session:
    """Without those who leave, and with those who join: they have the models of the others in
    turn.
    """
    if not places.leave and not places.join:
        return session
    if session.kind.sides:
        raise WrongInput("a debate has two sides and its listeners; nobody can leave or join it")
    if session.procedure.audience.network != "complete":
        raise refused("network_seats_fixed")
    people = list(session.participants)
    beyond = [seat for seat in places.leave if seat > len(people)]
    if beyond:
        raise WrongInput(f"--leave: there is no seat {beyond[0]}; there are {len(people)}")
    staying = [one for seat, one in enumerate(people, 1) if seat not in places.leave]
    if len(staying) + places.join < 2:
        raise WrongInput("a group needs at least 2 participants; too many leave")
    number = len(session.seats)
    for extra in range(places.join):
        model = people[extra % len(people)].model
        staying.append(Participant(f"Participant {number + extra + 1}", model=model))
    models = {one.model: session.models[one.model] for one in staying}
    return replace(session, participants=tuple(staying), models=models)


def _chosen(session: Session, places: Places) -> list[int]:
    """The places in the group whose model and persona change; WrongInput for a seat nobody has."""
    everyone = range(len(session.participants))
    if not places.seats:
        return list(everyone)
    by_seat = {}
    for place, person in enumerate(session.participants):
        by_seat[session.seats.index(person.id) + 1] = place
    missing = [seat for seat in places.seats if seat not in by_seat]
    if missing:
        seats = ", ".join(map(str, sorted(by_seat)))
        raise WrongInput(f"--seat: there is no seat {missing[0]}; there are {seats}")
    return [by_seat[seat] for seat in places.seats]


def _with_models(
    session: Session, config: Config, job: Job, places: Places, composer: Composer
) -> tuple[Session, Mapping[str, str]]:
    """Other models, or other settings of those that are there, in all seats or in some."""
    if not _named(job, "model", "temperature", "group.models"):
        if places.seats and not _named(job, "persona"):
            raise WrongInput("--seat says whose model or persona differs; name one: model=NAME")
        return session, {}
    seats = _chosen(session, places)
    if _named(job, "group.models") or "model" in job.choices:
        found, addresses = model_settings(config, job, composer.chosen)
        own = [found[place % len(found)] for place in range(len(seats))]
    else:
        addresses = {}
        own = [_reset(session, place, job) for place in seats]
    kept = settled_in(session.models.values())
    own = [dict(with_settled(one, kept)) for one in own]
    return _seated(session, dict(zip(seats, own, strict=True))), addresses


def _reset(session: Session, place: int, job: Job) -> dict[str, Any]:
    """The settings of the model in a seat, with those that the job names."""
    settings = dict(session.models[session.participants[place].model])
    for key, value in job.values.items():
        if key == "temperature" or key.startswith("model."):
            name = key.removeprefix("model.")
            if "." in name:
                raise WrongInput(f"'{key}': name the model too, as model=NAME")
            settings[name] = value
    settings = as_format(settings)
    check_settings(str(settings.get("name", "")), settings)
    return settings


def _seated(session: Session, models: Mapping[int, dict[str, Any]]) -> Session:
    """The session with these models in these places; a model whose name stands for other settings
    in another seat gets a name of its own.
    """
    people = list(session.participants)
    kept = {people[place].model for place in range(len(people)) if place not in models}
    named = {name: session.models[name] for name in session.models if name in kept}
    for place, settings in models.items():
        name = str(settings.get("name", people[place].model))
        while name in named and dict(named[name]) != {**settings, "name": name}:
            name = f"{name}_fork"
        named[name] = {**settings, "name": name}
        people[place] = replace(people[place], model=name)
    return replace(session, participants=tuple(people), models=named)


def _with_facilitator(
    session: Session, own: Session, config: Config, job: Job, composer: Composer
) -> tuple[Session, Mapping[str, str]]:
    """Another facilitator, or another model of it; its model stays where that of the group changes,
    if it was named, and so do those of witnesses and of a mediator.
    """

    def kept(name: str, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        gone = name and name not in session.models and not settings
        return own.models[name] if gone else settings

    heard = [replace(one, settings=kept(one.model, one.settings)) for one in session.witnesses]
    rule = session.consensus
    if rule is not None:
        rule = replace(rule, model=kept(rule.mediator, rule.model))
    session = replace(session, witnesses=tuple(heard), consensus=rule)
    found, address = session.facilitator, ""
    if found is None:
        if _named(job, "group.facilitator", "facilitator"):
            raise WrongInput("nobody facilitates the run, and nobody can begin to from a turn on")
        return session, {}
    if _named(job, "facilitator"):
        preset = built(Facilitator, "facilitator", config.facilitator)
        found = replace(preset, model=found.model, settings=found.settings)
    if name := config.group.facilitator:
        settings, address = mediator_settings(name, config, job, composer.chosen)
        found = replace(found, model=name, settings=settings)
    else:
        found = replace(found, settings=kept(found.model, found.settings))
    addresses = {found.model: address} if address else {}
    return replace(session, facilitator=found), addresses


def _with_personas(
    session: Session, config: Config, job: Job, places: Places, composer: Composer
) -> Session:
    """Other personas in all seats or in some, as the set seats them in a group of that size."""
    if not _named(job, "persona"):
        return session
    texts = _personas(session, config, composer)
    people = list(session.participants)
    for place in _chosen(session, places):
        people[place] = replace(people[place], persona=texts[place])
    name = config.persona.name if any(one.persona for one in people) else ""
    if places.seats and session.personas and name:
        name = f"{session.personas}+{name}"
    return replace(session, participants=tuple(people), personas=name)


def _personas(session: Session, config: Config, composer: Composer) -> list[str]:
    """The persona of every place, drawn with the seed and the replicate of the run itself."""
    models = [{"name": "any"}]
    if session.kind.sides:
        group = debates.seats(models * 3, len(session.respondents), config.persona, "").group
        return [person.persona for person in group.participants]
    if config.persona.topic not in (None, session.topic.id):
        raise refused(
            "personas_of_another_topic",
            named=config.persona.name,
            topic=config.persona.topic,
            id=session.topic.id,
        )
    first = session
    while first.before is not None:
        first = first.before
    context = SessionContext(first.topic, first.survey, first.replicate, first.seed, composer.home)
    group = GroupConfig(size=len(session.participants))
    found = seated(group, config.persona, models, context).group
    return [person.persona for person in found.participants]
