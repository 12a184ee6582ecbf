"""Whether a model can hold a study: its window, the longest prompt, one answer and its speed."""

import time

from delibsim.conduct.study import Notify, proven_pool
from delibsim.models.base import capabilities_of, read
from delibsim.models.clients.prices import context_window
from delibsim.models.planned import PlannedCalls
from delibsim.models.retry import estimated_tokens
from delibsim.planning.compose import StudyPlan
from delibsim.planning.dry_run import dry_run
from delibsim.planning.settled import settled
from delibsim.prompts.session import longest_prompt


async def check_models(plan: StudyPlan, notify: Notify) -> bool:
    """Ask the models of the first session of a plan what they are asked first in it, one call each,
    and say what came; whether all answers can be read. Nothing is written.

    WrongInput where a model fails its preflight.
    """
    session = plan.sessions[0]
    longest = longest_prompt(session)
    calls = PlannedCalls(session.id, session.voices, longest)
    pool = await proven_pool([calls], plan.limits, plan.addresses, notify=notify)
    session = settled(plan, pool.settled).sessions[0]
    whole, asked = True, {call.model: call.prompt for call in reversed(await dry_run(session))}
    try:
        for name, model in pool.of(session).items():
            settings = str(session.voices[name].get("model", ""))
            window = capabilities_of(model).window or context_window(settings)
            told = f"{window:,} tokens" if window else "not known; the server does not tell it"
            notify(f"{name}: window: {told}")
            tokens = estimated_tokens(longest.messages)
            notify(f"{name}: longest prompt: at most {tokens:,} tokens")
            begun = time.monotonic()
            _, answer = read(asked[name], await model.complete(asked[name], session.seed))
            seconds, used = time.monotonic() - begun, answer.usage
            whole = whole and answer.status == "ok"
            sent, said = used.input_tokens, used.output_tokens
            counts = f"{sent} tokens in, {said} out" if sent is not None else "tokens not counted"
            speed = f", {said / seconds:.1f} a second" if said else ""
            detail = f" ({answer.detail})" if answer.detail else ""
            if "response_format" in answer.parameters_sent:
                detail += ", with a schema"
            notify(
                f"{name}: {asked[name].purpose.occasion}: {answer.status}{detail}, {counts}"
                f" in {seconds:.1f} s{speed}"
            )
    finally:
        await pool.close()
    return whole
