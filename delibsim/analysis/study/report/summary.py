"""The findings of a study in sentences, each of which says only what its table holds."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from delibsim.analysis.study.result import Result
from delibsim.domain.measure import MEASURES
from delibsim.domain.text import counted

MAIN = "dri"
"""The measure that the summary is about, where a study has it."""
LEVEL = 0.05
"""The level at which a change is called one, after Holm's correction."""
NULL_ONLY = (
    "This is the null model: all participants are embedded citizens, which compute with numbers and"
    " understand no language. Nothing here is a finding about language models, or about people."
)
"""What stands before everything else where a study has no other participants."""
INSTRUCTIONS = ("basic", "normative", "procedural")
"""Treatments that are instructions, which the summary calls so."""
Results = Mapping[str, Result]


def summary(results: Results) -> list[str]:
    """The sentences of the summary: effects, for whom, beside people, beside the null model."""
    found = _main_contrasts(results)
    if found is None:
        return list(_without_contrasts(results))
    contrasts, null_only = found
    sentences = []
    null = _null_contrasts(results)
    for row in contrasts:
        whom = _for_whom(row, results, "kinds of citizen" if null_only else "models")
        sentences.append(effect(row, results, null_only) + whom)
        if not null_only and null is not None:
            sentences += _beside_null(row, null)
    sentences += _equivalent(results)
    sentences += _people(results, null_only)
    sentences += _noise(results)
    return sentences


def effect(row: Mapping[str, Any], results: Results, null_only: bool = False) -> str:
    """What a contrast of two treatments says of the index.

    A difference is "raised" or "lowered" only where its interval excludes zero and its p value,
    after Holm's correction, is below .05; otherwise there is "no clear change".
    """
    a, b, label = named(row["a"]), named(row["b"]), measured(str(row["outcome"]))
    who = " of the citizens" if null_only else ""
    basis = _basis(row, null_only)
    if missing(row["estimate"]):
        why = row.get("note") or "there is no value"
        return f"{sentence(a)} against {b}: no estimate of the change in the {label} ({why})."
    numbers = with_interval(row["estimate"], row.get("low"), row.get("high"))
    tests = _tests(row)
    if exactly_equal(row):
        return f"{sentence(a)} and {b} gave the same {label}{who} in every pair{basis}."
    if missing(row.get("low")) or missing(row.get("high")):
        size = short(row["estimate"])
        return (
            f"{sentence(a)} against {b}: the change in the {label}{who} differed by"
            f" {size}{basis}{tests}; without an interval over topics no direction is claimed."
        )
    clear = is_clear(row)
    if clear:
        verb = "raised" if row["estimate"] > 0 else "lowered"
        said = f"{sentence(a)} {verb} the {label}{who} by {numbers} against {b}{basis}{tests}"
    else:
        said = (
            f"{sentence(a)} against {b}: no clear change in the {label}{who},"
            f" {numbers}{basis}{tests}"
        )
    return said + _left_out(row, results) + "."


def is_clear(row: Mapping[str, Any]) -> bool:
    """Whether a difference may be called one: interval without zero, and p after Holm below .05."""
    low, high, p = row.get("low"), row.get("high"), row.get("p_holm", row.get("p"))
    if low is None or high is None or p is None or any(map(missing, (low, high, p))):
        return False
    return bool((low > 0 or high < 0) and p < LEVEL)


def exactly_equal(row: Mapping[str, Any]) -> bool:
    """Whether two treatments gave the same in every block, by construction or in fact."""
    ends = (row["estimate"], row.get("low"), row.get("high"))
    known = [end for end in ends if not missing(end)]
    return bool(known) and all(end == 0 for end in known) and row.get("p") == 1


def short(value: float) -> str:
    """A number in a sentence: three decimals, no zero before the point, a true minus.

    >>> short(0.0286), short(-0.004), short(1.25), short(0.0)
    ('.029', '−.004', '1.250', '.000')
    """
    text = f"{abs(value):.3f}"
    text = text.removeprefix("0")
    return f"−{text}" if value < 0 and float(text) else text


def with_interval(estimate: float, low: Any, high: Any) -> str:
    """An estimate with its interval.

    >>> with_interval(0.029, -0.004, 0.076)
    '.029 [−.004, .076]'
    """
    if missing(low) or missing(high):
        return f"{short(estimate)} (no interval)"
    return f"{short(estimate)} [{short(low)}, {short(high)}]"


def p_in_words(p: float) -> str:
    """A p value in a sentence.

    >>> p_in_words(0.0001), p_in_words(0.0212)
    ('p < .001', 'p = .021')
    """
    if p < 0.001:
        return "p < .001"
    return f"p = {p:.3f}".replace("= 0", "= ")


def named(treatment: str) -> str:
    """A treatment as a sentence names it.

    >>> named("none"), named("normative"), named("my own")
    ('no deliberation', 'normative instructions', 'the treatment my own')
    """
    if treatment == "none":
        return "no deliberation"
    if treatment in INSTRUCTIONS:
        return f"{treatment} instructions"
    return f"the treatment {treatment}"


def measured(outcome: str) -> str:
    """The name of a measure for readers."""
    measure = MEASURES.get(outcome)
    return measure.label if measure else outcome.replace("_", " ")


def sentence(text: str) -> str:
    """A text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def missing(value: Any) -> bool:
    """Whether there is no number."""
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def rows_of(results: Results, name: str, **wanted: Any) -> list[dict[str, Any]]:
    """The rows of a table that have these values; none where the study does not give it."""
    result = results.get(name)
    if result is None or not result.given:
        return []
    rows = []
    for row in result.plain():
        if all(row.get(key) == value for key, value in wanted.items()):
            rows.append(row)
    return rows


def _main_contrasts(results: Results) -> tuple[list[dict[str, Any]], bool] | None:
    """The contrasts that the summary is about, and whether they are those of the null model."""
    for population in ("models", "null citizen"):
        rows = rows_of(results, "contrasts", population=population, scale="absolute")
        for outcome in (MAIN, *dict.fromkeys(row["outcome"] for row in rows)):
            own = [row for row in rows if row["outcome"] == outcome]
            if own:
                return own, population == "null citizen"
    return None


def _null_contrasts(results: Results) -> list[dict[str, Any]] | None:
    rows = rows_of(results, "contrasts", population="null citizen", scale="absolute")
    return rows or None


def _without_contrasts(results: Results) -> Iterator[str]:
    """What is said where no two treatments can be compared."""
    if result := results.get("contrasts"):
        why = result.detail or "There are no two treatments with values in one block."
        yield f"No treatments can be compared. {why}"
    people = rows_of(results, "people", population="models", outcome=MAIN, phase="change")
    yield from _people(results, null_only=not people)
    yield from _noise(results)


def _basis(row: Mapping[str, Any], null: bool = False) -> str:
    """On how many topics and models an estimate rests."""
    parts = []
    models = ("kind of citizen", "kinds of citizen") if null else ("model", "models")
    for key, one, many in (("topics", "topic", "topics"), ("models", *models)):
        n = row.get(key)
        if not missing(n) and n is not None:
            parts.append(f"{int(n)} {one if n == 1 else many}")
    return f" over {' and '.join(parts)}" if parts else ""


def _tests(row: Mapping[str, Any]) -> str:
    """The p value and that after Holm's correction, in brackets."""
    p, holm = row.get("p"), row.get("p_holm")
    if missing(p) or p is None:
        return ""
    said = p_in_words(p)
    if not missing(holm) and holm is not None:
        said += f", Holm {p_in_words(holm).removeprefix('p ').removeprefix('= ')}"
    return f" ({said})"


def _left_out(row: Mapping[str, Any], results: Results) -> str:
    """The topic without which the estimate moves most, and where it moves to."""
    wanted = {key: row[key] for key in ("outcome", "scale", "a", "b")}
    every = rows_of(results, "leave_one_out", **wanted)
    rows = [one for one in every if not missing(one["estimate"])]
    if len(rows) < 3:
        return ""

    def moved(one: Mapping[str, Any]) -> float:
        return abs(one["estimate"] - row["estimate"])

    most = max(rows, key=moved)
    return f"; without {most['left_out']} {short(most['estimate'])}"


def _for_whom(row: Mapping[str, Any], results: Results, models: str) -> str:
    """In how many models and topics the difference is above zero, and in which it is clear."""
    wanted = {key: row[key] for key in ("outcome", "scale", "a", "b")}
    parts, clear = [], []
    if exactly_equal(row):
        return ""
    for table, column, many in (("by_model", "model", models), ("by_topic", "topic", "topics")):
        rows = [one for one in rows_of(results, table, **wanted) if not missing(one["estimate"])]
        if len(rows) > 1:
            above = sum(one["estimate"] > 0 for one in rows)
            parts.append(f"{above} of {len(rows)} {many}")
            clear += [str(one[column]) for one in rows if is_clear(one)]
    if not parts:
        return ""
    alone = (
        f"clear by itself, after Holm, in {_listed(clear)}" if clear else "clear by itself in none"
    )
    return f" The estimate is above zero in {' and in '.join(parts)}; {alone}."


def _listed(names: list[str]) -> str:
    if len(names) > 6:
        return f"{len(names)}, see the table"
    return ", ".join(names)


def _beside_null(row: Mapping[str, Any], null: list[dict[str, Any]]) -> Iterator[str]:
    """What the null citizen, which understands no language, shows for the same contrast."""
    for other in null:
        same = all(other[key] == row[key] for key in ("outcome", "a", "b"))
        if same and not missing(other["estimate"]):
            numbers = with_interval(other["estimate"], other.get("low"), other.get("high"))
            yield (
                f"The null citizen, which understands no language, gives {numbers} for"
                f" {named(row['a'])} against {named(row['b'])}{_basis(other, True)}."
            )


def _equivalent(results: Results) -> Iterator[str]:
    """Which differences are shown to be smaller than the smallest effect of interest.

    Treatments that gave equal values in every pair are named where their contrast is.
    """
    for row in rows_of(results, "equivalence", outcome=MAIN, scale="absolute", equivalent=True):
        if row["estimate"] == row["low_90"] == row["high_90"] == 0:
            continue
        ends = with_interval(row["estimate"], row["low_90"], row["high_90"])
        yield (
            f"{sentence(named(row['a']))} and {named(row['b'])} are equivalent within"
            f" ±{short(row['margin'])} in the {measured(MAIN)}: {ends}, 90 % interval."
        )


def _people(results: Results, null_only: bool) -> Iterator[str]:
    """The change beside people's, on the topics on which both are known."""
    population = "null citizen" if null_only else "models"
    rows = rows_of(results, "people", population=population, outcome=MAIN, phase="change")
    rows = [row for row in rows if not missing(row["difference"])]
    if not rows:
        result = results.get("people")
        if result is not None and not result.given:
            yield f"Compared with people: not possible here. {result.detail}"
        return
    first, parts = rows[0], []
    for row in rows:
        said = f"{short(row['here'])} with {named(row['treatment'])}"
        if not missing(row["low"]):
            difference = with_interval(row["difference"], row["low"], row["high"])
            said += f" (difference {difference})"
        parts.append(said)
    topics = int(first["topics"])
    where = counted(topics, "topic")
    yield (
        f"People's {measured(MAIN)} changed by {short(first['people'])} over {where};"
        f" here it changed by {_joined(parts)}."
    )


def _joined(parts: list[str]) -> str:
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def _noise(results: Results) -> Iterator[str]:
    """How much the index changes where nobody deliberates."""
    for row in rows_of(results, "noise_floor", outcome=MAIN)[:1]:
        if not missing(row["mean"]):
            mean = with_interval(row["mean"], row.get("low"), row.get("high"))
            yield (
                f"Noise floor: where nobody speaks between the two surveys, the {measured(MAIN)}"
                f" changes by {mean} on average of {counted(int(row['n']), 'session')}"
                f" (SD {short(row['sd'])})."
            )
