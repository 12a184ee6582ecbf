"""The materials of a study: instruments, treatments, wordings, personas, procedures, models."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from delibsim.domain.run import Session
from delibsim.planning.preregistration.markdown import plain, settings, table
from delibsim.planning.preregistration.plans import BLANK, Plans

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
