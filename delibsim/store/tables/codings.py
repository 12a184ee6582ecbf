"""The codes of a study and the samples behind them as tables, and how sure an ensemble is."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from delibsim.domain.coding import Code, Sample
from delibsim.domain.scheme import Scheme
from delibsim.measures.ensemble import entropies, flips, level_shares, margin, stability
from delibsim.store.answers import Codings, schemes_of
from delibsim.store.coded import DimensionSamples, SchemeCodes
from delibsim.store.runs import Runs
from delibsim.store.tables.asked import table_of
from delibsim.store.tables.sheets import Table

Row = dict[str, Any]
CERTAINTY = ("margin", "entropy", "entropy_within", "entropy_between", "stability", "flips")
"""What is computed of the ensemble's level on a text, beside the share of each level."""


def coding_tables(runs: Runs, faults: list[str] | None = None) -> list[Table]:
    """The tables `codes` and `samples` of a study; none where nothing was coded.

    Damaged lines are left out and told in `faults`; Damaged for a level that the scheme lacks.
    """
    ids = schemes_of(runs)
    if not ids:
        return []
    coded = [SchemeCodes.of(Codings.of(runs, id), faults) for id in ids]
    place = _Places(runs)
    codes = (row for own in coded for row in _code_rows(own, place))
    samples = (row for own in coded for row in _sample_rows(own, place))
    return [table_of("codes", codes), table_of("samples", samples)]


def certainty(own: DimensionSamples) -> dict[str, np.ndarray]:
    """How sure the ensemble is of each text's level: an array (texts,) by name, NaN without one.

    `p` holds the shares of all levels, (texts, levels).
    """
    decided = own.ensemble()
    settings = own.rule, own.values, own.ordered
    whole, within, between = entropies(own.counts, own.levels)
    shares = level_shares(own.counts, own.levels)
    found = {
        "margin": margin(shares),
        "entropy": whole,
        "entropy_within": within,
        "entropy_between": between,
        "stability": stability(own.counts, own.levels, *settings),
        "flips": flips(own.counts, own.levels, *settings),
    }
    without = np.isnan(decided)
    for values in found.values():
        values[without] = np.nan
    return found | {"p": shares}


class _Places:
    """Which session, participant and turn a text is of, from its id."""

    def __init__(self, runs: Runs) -> None:
        self.study, self._sessions = runs.study, frozenset(runs.sessions())

    def of(self, scheme: Scheme, dimension: str, text: str, sha256: str) -> Row:
        """The columns that say which text a row is about."""
        session, _, rest = text.partition("/")
        row = {"study": self.study, "scheme": scheme.id, "dimension": dimension, "text": text}
        row["text_sha256"] = sha256
        if session not in self._sessions:
            return row
        of_turn = rest.isdecimal()
        of = {"turn": int(rest)} if of_turn else {"participant": rest}
        return row | {"session": session} | of


def _code_rows(coded: SchemeCodes, place: _Places) -> Iterator[Row]:
    for own in coded.by_dimension.values():
        sure = certainty(own)
        rows = {text: i for i, text in enumerate(own.texts)}
        for code in own.codes(coded.asked.texts):
            row = _code_row(coded, code, place)
            if code.kind == "ensemble":
                row |= _of_ensemble(own, sure, rows[code.text], row["place"])
            yield row
    for code in (*coded.not_coded, *coded.people):
        yield _code_row(coded, code, place)


def _code_row(coded: SchemeCodes, code: Code, place: _Places) -> Row:
    row = place.of(coded.scheme, code.dimension, code.text, code.text_sha256)
    return row | {
        "coder": code.coder,
        "coder_kind": code.kind,
        **_level(coded.scheme, code),
        "votes": code.votes,
        "training": code.training,
        "pack": code.pack,
    }


def _of_ensemble(
    own: DimensionSamples, sure: Mapping[str, np.ndarray], i: int, place: int | None
) -> Row:
    row: Row = {"rule": own.rule}
    for name in CERTAINTY:
        value = float(sure[name][i])
        row[name] = None if np.isnan(value) else value
    if row["flips"] is not None:
        row["flips"] = int(row["flips"])
    if place is not None:
        row["p"] = float(sure["p"][i, place - 1])
    return row


def _sample_rows(coded: SchemeCodes, place: _Places) -> Iterator[Row]:
    for sample in coded.samples:
        row = place.of(coded.scheme, sample.dimension, sample.text, sample.text_sha256)
        yield row | {
            "model": sample.model,
            "wording": sample.wording,
            "sample": sample.index,
            **_level(coded.scheme, sample),
            "rationale": sample.rationale,
        }


def _level(scheme: Scheme, given: Code | Sample) -> Row:
    """The level as text and as place, which a dimension that the scheme does not know gives to
    none; or why there is none.
    """
    place = None
    for dimension in scheme.dimensions:
        if dimension.id == given.dimension and given.level is not None:
            place = dimension.values.index(given.level) + 1
    missing = None if given.missing is None else str(given.missing)
    level = None if given.level is None else str(given.level)
    return {"level": level, "place": place, "missing": missing}
