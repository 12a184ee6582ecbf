"""Measure how much input is the beginning of an earlier prompt: .venv/bin/python bench/prefix.py

Providers' prefix caches count in this way. The base design has five participants of one model, two
rounds, and speeches padded to 150 words, the most that the wording asks for. The unit is
characters; there are about four to a token in every part of a prompt.
"""

import asyncio
from dataclasses import replace

from record import record

from delibsim import Completion, Prompt, compose, hold, models_for

WORDS = 150
ABOUT = """The share of all characters of prompts that is the beginning of an earlier prompt of the
session, as providers' prefix caches count it. Five citizens of one model, two rounds, speeches
padded to 150 words."""


class Listener:
    """Hands every prompt to the citizen, keeps it, and lets speeches have their full length."""

    def __init__(self, citizen, prompts):
        self.name, self._citizen, self._prompts = citizen.name, citizen, prompts

    async def complete(self, prompt: Prompt, seed: int) -> Completion:
        self._prompts.append(prompt.text)
        completion = await self._citizen.complete(prompt, seed)
        if not prompt.purpose.occasion.startswith("turn"):
            return completion
        missing = WORDS - len(completion.text.split())
        return replace(completion, text=completion.text + " and so on" * (missing // 3))


def common(a: str, b: str) -> int:
    """Length of the longest common beginning."""
    return next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )


def longest_shared(prompt: str, earlier: list[str]) -> int:
    """Length of the longest beginning that a prompt shares with an earlier one."""
    return max((common(other, prompt) for other in earlier), default=0)


def main() -> None:
    rows = []
    print(".venv/bin/python bench/prefix.py\n")
    print(f"{'design':44} {'calls':>6} {'characters':>11} {'of them prefix':>15}")
    for what, overrides in {
        "base": (),
        "base, no recall while speaking": ("procedure.recall=false",),
        "base, items not shuffled": ("procedure.shuffle_items=false",),
        "neither": ("procedure.recall=false", "procedure.shuffle_items=false"),
        "base, six rounds": ("rounds=6",),
    }.items():
        session = compose("topic=ccps", "seed=7", *overrides)
        prompts: list[str] = []
        voices = {name: Listener(voice, prompts) for name, voice in models_for(session).items()}
        asyncio.run(hold(session, voices))
        shared = sum(longest_shared(prompt, prompts[:i]) for i, prompt in enumerate(prompts))
        total = sum(map(len, prompts))
        print(f"{what:44} {len(prompts):6} {total:11,} {shared / total:15.1%}")
        counts = {"calls": len(prompts), "characters": total, "prefix_share": shared / total}
        rows.append({"design": what, **counts})
    print(record("prefix", ABOUT, rows))


if __name__ == "__main__":
    main()
