"""Small studies held offline, and what can be wrong with some of their sessions."""

import asyncio
import shutil

from delibsim.conduct.hold import hold_all
from delibsim.planning.compose import plan
from delibsim.planning.freeze import frozen
from delibsim.store.runs import Runs

CROSSED = ("topic=ccps,acp", "treatment=none,normative", "replicate=1,2")
SMALL = ("group.size=3", "rounds=1")


def held_study(home, *settings, study="s"):
    """A study of these settings, by default a small crossed one, held in `home`/runs."""
    asked = plan([f"study={study}", *(settings or (*CROSSED, *SMALL))], home, sweep=True)
    runs = Runs(asked.root, study)
    runs.settle(frozen(asked))
    asyncio.run(hold_all(asked.sessions, runs))
    return runs


def copied(runs, folder):
    """The same study in another folder, to be changed there."""
    shutil.copytree(runs.folder, folder / runs.study)
    return Runs(folder, runs.study)


def break_sessions(runs):
    """Leave one session without its run, one with a damaged run, and one never begun; their names."""
    cut_off, damaged, never = runs.sessions()[:3]
    for name in ("run.json", "SHA256SUMS"):
        (runs.path(cut_off) / name).unlink()
    (runs.path(damaged) / "run.json").write_text("{", encoding="utf-8")
    shutil.rmtree(runs.path(never))
    return cut_off, damaged, never
