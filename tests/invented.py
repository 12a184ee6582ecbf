"""Invented people and their survey, for tests."""

from pathlib import Path

import numpy as np

from delibsim.domain.survey import Item, Survey
from delibsim.store.instruments.answers import Answers


def people(rated, ranked=None, scale_max=7):
    """Answers of people with these ratings before, and their survey."""
    rated = np.array(rated)
    n, c = rated.shape
    ranked = np.array(ranked if ranked is not None else [[1, 2, 3]] * n)
    items = [Item(f"C{k + 1}", "consideration", f"Reason number {k + 1}.") for k in range(c)]
    items += [Item(f"P{k}", "preference", f"Way {k}.") for k in (1, 2, 3)]
    names = tuple(f"person {k}" for k in range(n))
    phases = ("pre", "post")
    answers = Answers(
        "ways",
        names,
        ("only",) * n,
        dict.fromkeys(phases, rated),
        dict.fromkeys(phases, ranked),
        Path("a"),
        {},
    )
    return answers, Survey("ways", tuple(items), 1, scale_max)
