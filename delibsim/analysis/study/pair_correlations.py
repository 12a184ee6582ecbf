"""Both rank correlations of every pair of participants, from runs and from people's answers.

They are what the Deliberative Reason Index is the mean of, and need the answers themselves: the
table of a study does not hold them.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.result import Result, entry, make_table
from delibsim.domain.run import Run
from delibsim.domain.survey import PHASES
from delibsim.measures.dri import Array, over_pairs, rank_correlations, why_undefined
from delibsim.scorers.arrays import considerations, preferences, surveyed
from delibsim.store.instruments.answers import Answers

PAIRS, OF_PEOPLE = "pair_correlations", "pair_correlations_people"
"""The names of both results."""


def pair_correlations(runs: Iterable[Run]) -> Result:
    """Both correlations of every pair, session by session; debates have none."""
    return pairs_told(map(pairs_of, runs))


def pairs_of(run: Run) -> list[dict[str, Any]]:
    """Both correlations of the pairs of a run, of each phase; none of a debate."""
    parts = []
    for one in surveyed([run]):
        for phase in PHASES:
            rated, ranked = considerations(one, phase), preferences(one, phase)
            parts.append(_of_group(one.session.id, phase, rated, ranked))
    return parts


def pairs_told(runs: Iterable[Sequence[dict[str, Any]]]) -> Result:
    """The table of these pairs of runs."""
    return _result(PAIRS, list(chain.from_iterable(runs)))


def people_pair_correlations(answers: Mapping[str, Answers], topics: Sequence[str]) -> Result:
    """Both correlations of every pair of people on these topics, all cases of a topic together."""
    parts = []
    for topic in topics:
        if topic not in answers:
            continue
        own = answers[topic]
        for phase in PHASES:
            rated, ranked = own.considerations[phase], own.preferences[phase]
            parts.append(_of_group(topic, phase, rated, ranked))
    return _result(OF_PEOPLE, parts)


def why_not_people(detail: str) -> Result:
    """The result of people whose answers are not there; `detail` says so in a sentence."""
    return _result(OF_PEOPLE, [], "no_answers", detail)


def _of_group(group: str, phase: str, rated: Any, ranked: Any) -> dict[str, Any]:
    note = why_undefined(rated, ranked)
    if note:
        nothing: Array = np.array([np.nan])
        return _part(group, phase, nothing, nothing, note)
    rc, rp = rank_correlations(rated), rank_correlations(ranked)
    return _part(group, phase, over_pairs(rc), over_pairs(rp), "")


def _part(group: str, phase: str, rc: Array, rp: Array, note: str) -> dict[str, Any]:
    names = {"group": group, "phase": phase, "note": note}
    return {**names, "considerations": rc, "preferences": rp}


def _result(
    name: str, parts: Sequence[Mapping[str, Any]], why_not: str = "", detail: str = ""
) -> Result:
    counts = [len(part["considerations"]) for part in parts]
    columns = {}
    for column in entry(f"study/{name}").columns:
        if column in ("considerations", "preferences"):
            values = [part[column] for part in parts]
            columns[column] = np.concatenate(values) if values else np.array([])
        else:
            columns[column] = np.repeat([part[column] for part in parts], counts)
    rows = pd.DataFrame(columns)
    if not why_not and not rows["considerations"].notna().any():
        why_not = "no_pairs"
    return make_table(f"study/{name}", rows, why=why_not, detail=detail)
