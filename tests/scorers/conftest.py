"""Runs of three people with the answers that a test gives, small enough to be worked by hand."""

import math

import pytest

from delibsim.domain.participant import Participant
from delibsim.domain.reason import Reason
from delibsim.domain.run import Run, Session
from delibsim.domain.survey import Item, Response, Survey, Topic
from delibsim.domain.treatment import Treatment, Wording

NAMES = ("Ann", "Bob", "Cem", "Dao")


def run_of(pre, post, id="hand", survey="tea", transcript=(), **parts):
    """A run from (ratings, ranks) of everybody in each phase, items in order; None is a missing
    answer.
    """
    c, p = len(pre[0][0]), len(pre[0][1])
    items = [Item(f"C{k}", "consideration", "text") for k in range(1, c + 1)] + [
        Item(f"P{k}", "preference", "text") for k in range(1, p + 1)
    ]
    labels = [item.id for item in items]
    responses = []
    for phase, answers in (("pre", pre), ("post", post)):
        for name, (ratings, ranks) in zip(NAMES, answers, strict=False):
            given = dict(zip(labels, [*ratings, *ranks], strict=True))
            known = {label: value for label, value in given.items() if value is not None}
            missing = dict.fromkeys(sorted(set(labels) - set(known)), Reason("refusal"))
            responses.append(Response(name, phase, known, missing, tuple(labels)))
    session = Session(
        id=id,
        topic=Topic("tea", "Pots or bags?"),
        survey=Survey(survey, tuple(items)),
        participants=tuple(Participant(name) for name in NAMES[: len(pre)]),
        treatment=Treatment("basic"),
        format="deliberation",
        wording=Wording("w", {}),
        seed=1,
    )
    return Run(session, tuple(responses), tuple(transcript), "complete", **parts)


def table(scores):
    """Values by (measure, phase), for participants by (measure, phase, name); an undefined value by
    its note.
    """
    found = {}
    for score in scores:
        assert math.isnan(score.value) == bool(score.note)
        key = (score.measure, score.phase, *score.target.split("/")[1:])
        assert key not in found
        found[key] = score.note or score.value
    return found


@pytest.fixture(scope="session")
def by_hand():
    """Builds a run from answers."""
    return run_of


@pytest.fixture(scope="session")
def as_table():
    """Lays scores of one run out by what they are about."""
    return table


@pytest.fixture(scope="session")
def example():
    """Three people, three considerations, three options, before and after: the case worked by hand
    in every scorer's test.

    Spearman correlations of three items are 1 - d/4 with d the sum of squared rank differences: 1
    (d 0), 0.5 (d 2), -0.5 (d 6), -1 (d 8).

              considerations                         preferences
        pre   Ann 1 2 3   Bob 1 3 2   Cem 3 2 1      Ann 1 2 3   Bob 1 2 3   Cem 3 2 1
              RC: AB 0.5, AC -1, BC -0.5             RP: AB 1, AC -1, BC -1
        post  Ann 1 2 3   Bob 2 4 6   Cem 7 5 1      Ann 1 2 3   Bob 1 2 3   Cem 3 2 1
              RC: AB 1, AC -1, BC -1                 RP: AB 1, AC -1, BC -1
    """
    ranks = ((1, 2, 3), (1, 2, 3), (3, 2, 1))
    pre = tuple(zip(((1, 2, 3), (1, 3, 2), (3, 2, 1)), ranks, strict=True))
    post = tuple(zip(((1, 2, 3), (2, 4, 6), (7, 5, 1)), ranks, strict=True))
    return pre, post
