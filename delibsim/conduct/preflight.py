"""A pool of models that have passed their preflight, before anything is asked or paid."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

from delibsim.domain.errors import WrongInput
from delibsim.models.limits import Budget, Limits
from delibsim.models.planned import PlannedCalls
from delibsim.models.pool import ModelPool

Notify = Callable[[str], None]
"""Shows one line to the user."""


async def proven_pool(
    calls: Sequence[PlannedCalls],
    limits: Limits,
    addresses: Mapping[str, str],
    budget: Budget | None = None,
    notify: Notify = lambda line: None,
) -> ModelPool:
    """A pool for these calls; WrongInput if one of their models cannot be asked.

    `budget` is that of the limits with what it has been charged before; without it nothing was
    charged. Every issue that the preflight finds is handed to `notify`.
    """
    pool = ModelPool(limits, budget, addresses)
    async with closed_on_failure(pool):
        issues = await pool.check(calls)
        for issue in issues:
            notify(f"{issue.level}: {issue.model}: {issue.text}")
        if any(issue.level == "error" for issue in issues):
            raise WrongInput(
                "nothing was asked and nothing was paid; mend what is said above and give the"
                " command again"
            )
    return pool


@asynccontextmanager
async def closed_on_failure(pool: ModelPool) -> AsyncGenerator[None]:
    """Close the connections of a pool where what is done here fails, and nobody will ask it."""
    try:
        yield
    except BaseException:
        await pool.close()
        raise
