"""Holding a session: survey, turns, survey."""

import functools
import hashlib
import platform
from collections.abc import Mapping
from importlib.metadata import version

from delibsim.domain.errors import unknown
from delibsim.domain.run import Run, Session
from delibsim.engine.audience import audience_of
from delibsim.engine.debate import Debate
from delibsim.engine.deliberation import Deliberation
from delibsim.engine.forum import Forum, Watch
from delibsim.models.base import LanguageModel
from delibsim.prompts.session import fixed_prompts
from delibsim.prompts.wording import rehearse

FORMATS: dict[str, type[Forum]] = {"deliberation": Deliberation, "debate": Debate}


async def hold(
    session: Session, voices: Mapping[str, LanguageModel], watch: Watch = lambda moment: None
) -> Run:
    """Hold a session with the voices of its models and return the run.

    `voices` gives a language model for every name in `Participant.model`; `watch` is told what
    happens as it happens. Raises Interrupted when a model cannot be asked.
    """
    check(session)
    forum = FORMATS[session.format](session, voices, watch)
    try:
        before = await forum.survey("pre")
        for turn in forum.agenda():
            await forum.hold_turn(turn)
        after = await forum.survey("post")
    finally:
        forum.leave()
    responses = before + after
    whole = not forum.silences and not any(response.missing for response in responses)
    return Run(
        session=session,
        responses=responses,
        transcript=tuple(forum.statements),
        status="complete" if whole else "partial",
        provenance=provenance(),
        silences=tuple(forum.silences),
        dropped=forum.dropped(),
    )


def check(session: Session) -> None:
    """Refuse, before anything is asked, a session whose format, audience or wording cannot be used;
    WrongInput.
    """
    if session.format not in FORMATS:
        raise unknown("format", session.format, FORMATS)
    FORMATS[session.format].check(session)
    audience_of(session)
    rehearse(session)


def prompt_hash(session: Session) -> str:
    """SHA-256 of what every replicate of a session is asked alike, forms of reply included."""
    asked = "\f".join(
        f"{prompt.text}\f{prompt.reply.describe()}" for prompt in fixed_prompts(session)
    )
    return hashlib.sha256(asked.encode(errors="surrogatepass")).hexdigest()


@functools.cache
def provenance() -> dict[str, str]:
    """The versions that held a run."""
    return {"python": platform.python_version()} | {
        name: version(name) for name in ("delibsim", "mesa", "networkx", "numpy")
    }
