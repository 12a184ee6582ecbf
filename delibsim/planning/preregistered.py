"""The preregistration of a study: its design and what it is made of, from its plan, as a document
with blanks for what its author must say. The text stands in data/templates.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from delibsim.domain.data import filled, read_data
from delibsim.domain.effect import no_effects, same_cells
from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.hosting import PERSON
from delibsim.domain.participant import SIDES
from delibsim.domain.run import Session
from delibsim.domain.score import Scorer
from delibsim.domain.text import counted
from delibsim.domain.treatment import is_said
from delibsim.models.limits import Limits
from delibsim.planning.compose import StudyPlan
from delibsim.planning.estimate import CostEstimate, estimate
from delibsim.plugins import declared, load, names, without_effect
from delibsim.store.manifest import Manifest
from delibsim.store.reading import read_json
from delibsim.store.runs import Runs

BLANK = "**[FILL IN: {}]**"
"""What only the author of a study can write."""
KINDS = (
    *("treatments", "wordings", "personas", "procedures", "collective_statements"),
    *("facilitators", "witnesses", "briefings"),
)
RATED: str = read_data("messages.yaml")["rated"]


@dataclass(frozen=True)
class Plans:
    """What the document is made of.

    `sessions` are the plans at hand, of all or some of those the manifest names; `scorers` what
    will be measured; `size` lines on the size of the sample by what they count; `begun` says how
    far the study has come, "" if nothing was asked yet; `power` is the analysis of power, "" where
    there is none; `contrasts` those that the analysis will give, by family.
    """

    manifest: Manifest
    sessions: Sequence[Session]
    scorers: Sequence[Scorer]
    size: Mapping[str, str]
    limits: Limits | None = None
    begun: str = ""
    power: str = ""
    contrasts: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)


async def plans_of(planned: StudyPlan, frozen: Manifest, runs: Runs) -> Plans:
    """What overrides plan, with its frozen manifest.

    WrongInput, as for the run itself, where the study has other settings.
    """
    runs.compare(frozen, planned.sessions)
    for session in planned.sessions:
        runs.compare_plan(session)
    begun, size = progress(runs), _size(planned.sessions)
    if not begun:
        found = await estimate(planned.sessions, runs, planned.limits, planned.addresses)
        size |= _expected(found)
    old = runs.manifest()
    return Plans(
        manifest=frozen if old is None else old.amended(frozen),
        sessions=planned.sessions,
        scorers=_scorers(),
        size=size,
        limits=planned.limits,
        begun=begun,
    )


def plans_of_study(runs: Runs) -> Plans:
    """What is frozen in a study that exists; its sessions as far as they are planned on disk."""
    manifest = runs.manifest()
    if manifest is None:
        raise WrongInput(f"{runs.folder} has no study.json")
    sessions = [runs.planned(name) for name in runs.sessions()]
    return Plans(manifest, sessions, _scorers(), _size(sessions), None, progress(runs))


def progress(runs: Runs) -> str:
    """How far a study has come; "" if nothing was asked yet."""
    paths = [runs.path(name) / "exchanges.jsonl" for name in runs.sessions()]
    logs = [path for path in paths if path.is_file() and path.stat().st_size]
    held = sum(map(runs.held, runs.sessions()))
    gone = sum(map(runs.withdrawn, runs.sessions()))
    if not logs and not held and not gone:
        return ""
    manifest = runs.manifest()
    since = manifest.begun.get("at", "an unknown time") if manifest else "an unknown time"
    now = datetime.now(UTC).isoformat(timespec="seconds")
    asked = counted(len(logs) + gone, "session")
    over = f"{held} of them over" + (f", {gone} withdrawn" if gone else "")
    return f"It began at {since}. At {now}, {asked} had been asked something; {over}."


def _size(sessions: Sequence[Session]) -> dict[str, str]:
    """The size of the sample."""
    seats = sum(len(session.participants) for session in sessions)
    return {
        "sessions": f"{len(sessions):,}",
        "participants, over all sessions": f"{seats:,}",
        "surveys answered": f"{2 * seats:,}",
    }


def _expected(found: CostEstimate) -> dict[str, str]:
    """The calls and the cost that are expected."""
    cost = f"{found.usd.low:,.2f} to {found.usd.high:,.2f} USD"
    if found.unpriced:
        cost = "unknown: a price is unknown"
    return {
        "calls to models, re-asks not counted": f"{found.total.calls:,}",
        "estimated cost": cost,
    }


def _scorers() -> list[Scorer]:
    return [load("delibsim.scorers", name) for name in names("delibsim.scorers")]


def facts(plans: Plans) -> dict[str, Any]:
    """What the document says."""
    sessions, manifest = plans.sessions, plans.manifest
    replicates: dict[str, list[str]] = {}
    for session in manifest.sessions:
        cell = cell_of_name(session)
        replicates.setdefault(cell, []).append(session.removeprefix(cell).lstrip("."))
    models = dict(manifest.components.get("models", {}))
    for session in sessions:
        models |= session.voices
    procedures = [session.procedure for session in sessions]
    words = {procedure.longest_statement for procedure in procedures}
    surveys = {session.survey.id: session.survey for session in sessions if session.respondents}
    return vars(plans) | {
        "version": manifest.begun.get("versions", {}).get("delibsim", ""),
        "replicates": replicates,
        "sizes": Counter(map(len, replicates.values())),
        "levels": _levels(plans),
        "without_effect": [f"{one}." for one in no_effects(sessions, without_effect)],
        "same": same_cells(sessions, without_effect),
        "tournament": _tournament(sessions),
        "debates": [session for session in sessions if session.kind.own_survey],
        "rated": RATED,
        "digests": lambda kind: manifest.components.get(kind, {}),
        "surveys": list(surveys.values()),
        "topics": list({session.topic.id: session.topic for session in sessions}.values()),
        "materials": list(_materials(plans)),
        "models": models,
        "scorers": [(one, declared(one.name)[1]) for one in plans.scorers],
        "reasks": {procedure.reasks for procedure in procedures},
        "longest": {"any number of" if most is None else str(most) for most in words},
        "of_people": [one.id for one in sessions if {*one.models} == {PERSON}],
    }


def cell_of_name(session: str) -> str:
    """The cell of a session by its name, which is all that a manifest keeps.

    >>> cell_of_name("acp.none.citizen.r12")
    'acp.none.citizen'
    """
    return session.rpartition(".r")[0] or session


def _levels(plans: Plans) -> list[tuple[str, int, str, str]]:
    """A row for every factor: its levels, and whether it varies."""
    parts, rows = plans.manifest.components, []
    factors: dict[str, Iterable[Any]] = {
        **_of_sessions(plans.sessions),
        "personas": parts.get("personas", {}),
        "procedure": parts.get("procedures", {}),
    }
    for name, values in factors.items():
        levels = list(dict.fromkeys(values))
        varied = "varied" if len(levels) > 1 else "constant"
        rows.append((name, len(levels), ", ".join(map(str, levels)), varied))
    return rows


def _of_sessions(sessions: Sequence[Session]) -> dict[str, list[Any]]:
    """The level of every session, by factor."""
    found: dict[str, list[Any]] = {}
    for session in sessions:
        treatment = session.treatment
        temperatures = {_temperature(model) for model in session.models.values()}
        levels = {
            "topic": session.topic.id,
            "treatment": treatment.name,
            "models": " + ".join(session.models),
            "participants": len(session.participants),
            "rounds of speech": treatment.rounds if treatment.interaction else 0,
            "temperature": ", ".join(sorted(temperatures)),
            "wording": session.wording.id,
            "format": session.format,
            "replicate": session.replicate,
            "facilitation": session.procedure.facilitation or "none",
            "briefing": session.briefing.name if session.briefing else "none",
            "witnesses": " + ".join(one.name for one in session.witnesses) or "none",
            "small groups": session.procedure.small_groups or "none",
            "phases": " + ".join(session.procedure.phases or ()) or "none",
        }
        for factor, level in levels.items():
            found.setdefault(factor, []).append(level)
    for factor in ("facilitation", "briefing", "witnesses", "small groups", "phases"):
        if set(found.get(factor, ())) <= {"none"}:
            found.pop(factor, None)
    return found


def _temperature(model: Mapping[str, Any]) -> str:
    stated = model.get("temperature")
    return "none sent" if stated is None else f"{stated}"


def _tournament(sessions: Sequence[Session]) -> dict[str, Any] | None:
    """Who debates whom, how often, and on which side, as it was drawn; None without debates."""
    pairs: Counter[str] = Counter()
    motions: Counter[str] = Counter()
    places: dict[str, Counter[str]] = {side: Counter() for side in SIDES}
    for session in sessions:
        if session.kind.sides:
            models = {person.role: person.model for person in session.participants}
            pairs[" and ".join(sorted(models[side] for side in SIDES))] += 1
            motions[session.topic.id] += 1
            for side in SIDES:
                places[side][models[side]] += 1
    proposition, opposition = (places[side] for side in SIDES)
    names = sorted({*proposition, *opposition})
    debaters = [(name, proposition[name], opposition[name]) for name in names]
    return {"pairs": pairs, "motions": motions, "debaters": debaters} if motions else None


def _materials(plans: Plans) -> Iterator[tuple[str, Any]]:
    """Treatments, wordings, personas, procedures, what a facilitator is told and briefings, word
    for word, each under its heading.
    """
    for kind in KINDS:
        for name, content in plans.manifest.components.get(kind, {}).items():
            whole = _whole(content, plans.sessions) if kind == "procedures" else content
            yield f"{kind.removesuffix('s')} {name}", whole


def _whole(stated: Mapping[str, Any], sessions: Sequence[Session]) -> Mapping[str, Any]:
    """A procedure with what is null in it, as the sessions that are planned under it have it.

    A manifest leaves out what is null.
    """
    for procedure in {session.procedure for session in sessions}:
        whole = {key: value for key, value in asdict(procedure).items() if is_said(key, value)}
        whole |= {"phases": list(procedure.phases)} if procedure.phases else {}
        if all(
            isinstance(value, Mapping) or whole.get(key) == value for key, value in stated.items()
        ):
            return {**whole, **stated}
    return stated


SEAL = "<!-- delibsim: SHA-256 of all above: {} -->\n"


def document(plans: Plans) -> str:
    """The plan as Markdown, sealed at its end.

    The seal is a hash, by which a file that was filled in is known.
    """
    return sealed(written("preregistration", facts(plans)))


def written(name: str, said: Mapping[str, Any]) -> str:
    """A text of data/templates with what it says."""
    filters = {
        "blank": BLANK.format,
        "cell": plain,
        "counted": counted,
        "json": json.dumps,
        "number": _number,
        "settings": settings,
        "table": table,
        "whole": int,
    }
    file = name if name.endswith(".j2") else f"{name}.md.j2"
    return filled(file, said, filters)


def sealed(text: str) -> str:
    """A text and its hash."""
    text = text.rstrip("\n") + "\n\n"
    return text + SEAL.format(hashlib.sha256(text.encode()).hexdigest())


def untouched(text: str) -> bool:
    """Whether a file is as it was written: nothing was filled in."""
    body, mark, _ = text.rpartition(SEAL.partition("{")[0])
    return bool(mark) and sealed(body) == text


def refuse_if_filled_in(path: Path, begun: str) -> None:
    """WrongInput for a file that was filled in, or may have been registered: one of a study of
    which `begun` says that it has begun.
    """
    if not path.exists():
        return
    fault = ""
    if not path.is_file() or not untouched(path.read_text(encoding="utf-8", errors="replace")):
        fault = "exists and was filled in or changed"
    elif begun:
        fault = "exists, and the study has begun since"
    if fault:
        raise WrongInput(f"{path} {fault}; it is left as it is. Name another file: -o FILE")


def power_analysis(path: Path) -> str:
    """The analysis of power in a file as Markdown; WrongInput where the file is none."""
    from jinja2 import TemplateError

    if not path.is_file():
        raise WrongInput(f"{path} is no file; make it with delibsim power --json > {path}")
    try:
        return written("power", read_json(path)).strip("\n")
    except (KeyError, TypeError, ValueError, AttributeError, TemplateError) as error:
        raise refused("no_answer_of_power", path=path) from error


def _number(value: float | None) -> str:
    """Four digits; a dash where there is no value."""
    if value is None:
        return "-"
    if not math.isfinite(value):
        raise ValueError(f"{value} is no number of an answer")
    return f"{value:.4g}"


def table(rows: Iterable[Sequence[object]], *heads: str) -> str:
    r"""A table.

    >>> print(table([("a|b", 2)], "topic", "n"))
    | topic | n |
    | --- | --- |
    | a\|b | 2 |
    """
    lines = []
    for line in [list(heads), ["---"] * len(heads), *rows]:
        cells = [plain(str(cell)) for cell in line]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def plain(text: str) -> str:
    """Text that stays in its cell and is no markup of its own."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def settings(content: Any) -> str:
    """Settings word for word, in a block that nothing in them can close."""
    lines = json.dumps(content, ensure_ascii=False, indent=1, default=str).splitlines()
    return "\n".join(f"    {line}" for line in lines)
