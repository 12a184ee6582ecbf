"""The design of a study: its factors and their levels, replicates, tournaments, settings without
effect.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from delibsim.domain.effect import no_effects, same_cells
from delibsim.domain.participant import SIDES
from delibsim.domain.run import Session
from delibsim.domain.text import counted
from delibsim.planning.preregistration.markdown import table
from delibsim.planning.preregistration.plans import Plans
from delibsim.plugins import without_effect

SEEDS = (
    "Seed of the study: {}. Every draw is seeded by the study's seed, the topic, the replicate and"
    " its own name: treatments and models of one replicate share people, orders of speakers and"
    " orders of items (common random numbers)."
)


def design(plans: Plans) -> str:
    """The section on the design."""
    sessions, manifest = plans.sessions, plans.manifest
    counts = Counter(cell_of_name(session) for session in manifest.sessions)
    covered = ""
    if len(sessions) != len(manifest.sessions):
        covered = (
            f" The tables here and in sections 4 and 5 cover the {len(sessions)} whose plans are at"
            " hand."
        )
    size = f"{counted(len(manifest.sessions), 'session')} in {counted(len(counts), 'cell')}."
    paragraphs = [
        f"{size} {_balance(counts)}{covered} Section 13 lists the cells.",
        table(("factor", "levels", "", "in this study"), _levels(plans)),
        *_without_effect(sessions),
        *_tournament(sessions),
        SEEDS.format(manifest.settings.get("seed")),
    ]
    return "\n\n".join(paragraphs)


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
        }
        for factor, level in levels.items():
            found.setdefault(factor, []).append(level)
    return found


def _temperature(model: Mapping[str, Any]) -> str:
    stated = model.get("temperature")
    return "none sent" if stated is None else f"{stated}"


def _balance(counts: Mapping[str, int]) -> str:
    """How many replicates the cells have."""
    sizes = Counter(counts.values())
    if len(sizes) == 1:
        return f"Every cell has {counted(next(iter(sizes)), 'replicate')}."
    numbers = [f"{cells} of {n}" for n, cells in sorted(sizes.items())]
    return f"Cells differ in replicates: {', '.join(numbers)}."


def _without_effect(sessions: Sequence[Session]) -> list[str]:
    """What is varied without effect on some models, and how many cells are the same; or nothing."""
    lines = [f"{one}." for one in no_effects(sessions, without_effect)]
    same = same_cells(sessions, without_effect)
    if same:
        lines.append(
            f"{len(same)} cells are the same condition as another by construction (section 13);"
            " that they agree is no result."
        )
    return [" ".join(lines)] if lines else []


def _tournament(sessions: Sequence[Session]) -> list[str]:
    """Who debates whom, how often, and on which side, as it was drawn; nothing without debates."""
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
    if not motions:
        return []
    proposition, opposition = (places[side] for side in SIDES)
    names = sorted({*proposition, *opposition})
    rows = [(name, proposition[name], opposition[name]) for name in names]
    return [
        (
            f"{motions.total()} debates of six speeches: {len(names)} debaters, {len(pairs)} pairs,"
            f" {len(motions)} motions."
        ),
        table(("debater", "debates as proposition", "as opposition"), rows),
        table(("pair", "debates"), sorted(pairs.items())),
        table(("motion", "debates"), sorted(motions.items())),
    ]
