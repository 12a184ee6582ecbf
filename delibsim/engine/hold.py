"""Holding a session: survey, turns, survey."""

import functools
import hashlib
import platform
from collections.abc import Mapping
from importlib.metadata import version

from delibsim.domain.format import DEBATE, DELIBERATION
from delibsim.domain.run import Run, Session
from delibsim.engine.debate import Debate
from delibsim.engine.deliberation import Deliberation
from delibsim.engine.forum import Forum, Watch
from delibsim.engine.network import network_of
from delibsim.models.base import LanguageModel
from delibsim.prompts.session import fixed_prompts
from delibsim.prompts.wording import rehearse

FORUMS: dict[str, type[Forum]] = {DELIBERATION.name: Deliberation, DEBATE.name: Debate}
"""The forum of every format."""


async def hold(
    session: Session, voices: Mapping[str, LanguageModel], watch: Watch = lambda event: None
) -> Run:
    """Hold a session and return the run.

    `voices` gives the language model of every name in `Participant.model`; `watch` is called with
    every event as it happens. Raises Interrupted when a model cannot be asked.
    """
    check(session)
    forum = FORUMS[session.format](session, voices, watch)
    try:
        before = await forum.survey("pre")
        for turn in forum.agenda():
            await forum.hold_turn(turn)
        after = await forum.survey("post")
    finally:
        forum.leave()
    responses = before + after
    unanswered = any(response.missing for response in responses)
    return Run(
        session=session,
        responses=responses,
        transcript=tuple(forum.statements),
        status="partial" if forum.silences or unanswered else "complete",
        provenance=provenance(),
        silences=tuple(forum.silences),
        dropped=forum.dropped(),
    )


def check(session: Session) -> None:
    """Refuse a session with an unusable format, network or wording; WrongInput."""
    FORUMS[session.kind.name].check(session)
    network_of(session)
    rehearse(session)


def prompt_hash(session: Session) -> str:
    """SHA-256 of what every replicate of a session is asked alike, forms of reply included."""
    asked = [f"{prompt.text}\f{prompt.reply.describe()}" for prompt in fixed_prompts(session)]
    return hashlib.sha256("\f".join(asked).encode(errors="surrogatepass")).hexdigest()


@functools.cache
def provenance() -> dict[str, str]:
    """The versions that held a run."""
    packages = {name: version(name) for name in ("delibsim", "mesa", "networkx", "numpy")}
    return {"python": platform.python_version(), **packages}
