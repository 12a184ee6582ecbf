"""The design of a study (factors and their levels, replicates, tournaments, settings without
effect), and what it is made of: topics, surveys, treatments, prompts, models.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from delibsim.domain.effect import no_effects, same_cells
from delibsim.domain.errors import WrongInput
from delibsim.domain.participant import SIDES
from delibsim.domain.run import Session
from delibsim.domain.score import Scorer
from delibsim.domain.text import counted
from delibsim.models.limits import Limits
from delibsim.planning.compose import Plan
from delibsim.planning.estimate import Estimate, estimate
from delibsim.plugins import load, names, without_effect
from delibsim.store.manifest import Manifest
from delibsim.store.runs import Runs

BLANK = "**[FILL IN: {}]**"
"""What only the author of a study can write."""


@dataclass(frozen=True)
class Plans:
    """What the document is made of.

    `sessions` are the plans at hand, of all or some of those the manifest names; `scorers` what
    will be measured; `size` lines on the size of the sample by what they count; `begun` says how
    far the study has come, "" if nothing was asked yet; `power` is the analysis of power, "" where
    there is none.
    """

    manifest: Manifest
    sessions: Sequence[Session]
    scorers: Sequence[Scorer]
    size: Mapping[str, str]
    limits: Limits | None = None
    begun: str = ""
    power: str = ""


async def plans_of(planned: Plan, frozen: Manifest, runs: Runs) -> Plans:
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


def _expected(found: Estimate) -> dict[str, str]:
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


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""A table.

    >>> print(table(["topic", "n"], [("a|b", 2)]))
    | topic | n |
    | --- | --- |
    | a\|b | 2 |
    """
    lines = []
    for line in [heads, ["---"] * len(heads), *rows]:
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


KINDS = ("treatments", "wordings", "personas", "procedures", "collective_statements")
SURVEYED = (
    "Each participant answers the survey before and after: ratings of considerations, ranks of"
    " policy options."
)
RATED = (
    "Debates are judged afterwards by blind raters, language models or people, who are planned"
    " separately and are no part of this plan: "
    + BLANK.format(
        "who rates, how many, how they are chosen; eleven ratings of each side, a winner, a stance"
        " before and after"
    )
)
DEBATED = (
    "The listeners of a debate say before and after how far they agree with the motion (0 to 100);"
    f" the two sides are not surveyed. {RATED}"
)
UNSURVEYED = f"No survey is held in the debates. {RATED}"
REQUESTED = (
    "As requested; what a model does not take is dropped and recorded. The version that answers is"
    " recorded with every call."
)
SURVEY = ("survey", "considerations", "scale", "options ranked", "validated", "source", "SHA-256")


def instruments(plans: Plans) -> str:
    """The section on what participants answer, and on what."""
    sessions, parts = plans.sessions, plans.manifest.components
    debates = [session for session in sessions if session.kind.own_survey]
    paragraphs = []
    if len(debates) < len(sessions):
        paragraphs.append(SURVEYED)
    if debates:
        surveyed = any(session.respondents for session in debates)
        paragraphs.append(DEBATED if surveyed else UNSURVEYED)
    surveys = _surveys(sessions, parts.get("surveys", {}))
    if surveys:
        paragraphs.append(table(SURVEY, surveys))
    questions = {session.topic.id: session.topic.question for session in sessions}
    digests = parts.get("topics", {})
    topics = [(name, question, digests.get(name, "")) for name, question in questions.items()]
    paragraphs.append(table(("topic", "question", "SHA-256"), topics))
    return "\n\n".join(paragraphs)


def _surveys(sessions: Sequence[Session], digests: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """A row for every survey that is held."""
    surveys = {session.survey.id: session.survey for session in sessions}
    held = {session.survey.id for session in sessions if session.respondents}
    rows = []
    for name, survey in surveys.items():
        if name not in held:
            continue
        forced = ", Q sort" if survey.forced_distribution else ""
        scale = f"{survey.scale_min} to {survey.scale_max}{forced}"
        considerations, preferences = len(survey.considerations), len(survey.preferences)
        validated = "yes" if survey.validated else "no"
        digest = digests.get(name, "")
        row = (name, considerations, scale, preferences, validated, survey.source, digest)
        rows.append(row)
    return rows


def materials(plans: Plans) -> str:
    """The section on treatments, wordings, personas and procedures, word for word."""
    blocks = []
    for kind in KINDS:
        for name, content in plans.manifest.components.get(kind, {}).items():
            whole = _whole(content, plans.sessions) if kind == "procedures" else content
            blocks.append(f"### {kind.removesuffix('s')} {plain(name)}\n\n{settings(whole)}")
    return "\n\n".join(blocks)


def _whole(stated: Mapping[str, Any], sessions: Sequence[Session]) -> Mapping[str, Any]:
    """A procedure with what is null in it, as the sessions that are planned under it have it.

    A manifest leaves out what is null.
    """
    for procedure in {session.procedure for session in sessions}:
        whole = asdict(procedure)
        if all(
            isinstance(value, Mapping) or whole.get(key) == value for key, value in stated.items()
        ):
            return {**whole, **stated}
    return stated


def models(plans: Plans) -> str:
    """The section on the models and their parameters."""
    found = dict(plans.manifest.components.get("models", {}))
    for session in plans.sessions:
        found |= session.voices
    blocks = [f"### model {plain(name)}\n\n{settings(own)}" for name, own in found.items()]
    return "\n\n".join([REQUESTED, *blocks])
