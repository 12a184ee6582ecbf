"""The findings of a study in sentences, each of which says only what its table holds."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from delibsim.analysis.result import Result, said
from delibsim.analysis.study.contrasts import PRIMARY
from delibsim.analysis.study.counts import told_of_attrition
from delibsim.analysis.study.effects import ENOUGH, EQUAL, LEVEL
from delibsim.analysis.study.outcomes import (
    CHANGE,
    RELATIVE,
    listed,
    measured,
    missing,
    named,
    p_in_words,
    sentence,
    short,
    with_interval,
)
from delibsim.analysis.study.sample import CITIZENS, MODELS
from delibsim.domain.data import filled
from delibsim.domain.reason import for_readers
from delibsim.domain.text import counted
from delibsim.measures.inference.means import holm

MAIN = "dri"
"""The measure that the summary is about, unless another outcome is the primary one."""
CONTRAST = ("outcome", "scale", "a", "b")
"""The columns that say of which contrast a row is."""
Results = Mapping[str, Result]


def summary(results: Results, of_citizens: bool = False) -> list[str]:
    """The sentences of the summary: the effects, the null citizen beside the first of them, people,
    missing sessions, noise. `of_citizens`: the study has null citizens alone, and not only beside.
    """
    found = main_contrasts(results)
    if found is None:
        return list(without_contrasts(results, of_citizens))
    contrasts, null_only = found
    outcome = str(contrasts[0]["outcome"])
    sentences = []
    for row in contrasts:
        whom = _for_whom(row, results, null_only)
        sentences.append(effect(row, results, null_only) + whom)
        if not null_only and len(sentences) == 1:
            sentences += beside_null(contrasts, results)
    sentences += _equivalent(results, outcome)
    sentences += of_people(results, null_only, outcome)
    sentences += _noise(results, outcome)
    sentences += told_of_attrition(results)
    return sentences


def effect(row: Mapping[str, Any], results: Results, null_only: bool = False) -> str:
    """What a contrast of two treatments says of the index, by the verb of its row.

    "Raised" and "lowered" speak of topics like these; "went with" speaks of these topics alone.
    """
    a, known = named(row["a"]), not missing(row["estimate"])
    without = _with_estimate(results, "leave_one_out", row) if known else []
    kinds = ("kind of citizen", "kinds of citizen") if null_only else _models(results)
    counts = counted(int(row["topics"]), "topic"), counted(int(row["models"]), *kinds)
    told = {
        "row": defaultdict(type(None), row),
        "verb": row.get("verb", "none"),
        "a": a,
        "A": sentence(a),
        "b": named(row["b"]),
        "label": measured(str(row["outcome"])),
        "who": " of the citizens" if null_only else "",
        "why": for_readers(str(row.get("note") or "")) or "there is no value",
        "basis": ", ".join(counts),
        "equal": exactly_equal(row),
        "numbers": numbers_of(row) if known else "",
        "here": of_draws(row) if known else (math.nan,) * 3,
        "most": max(without, key=partial(_apart, row)) if len(without) > 2 else None,
        "sizes": rows_of(results, "sizes", **{key: row[key] for key in CONTRAST})[:1],
        "enough": ENOUGH,
    }
    words: dict[str, Any] = {"known": lambda value: not missing(value), "p_of": p_in_words}
    words |= {"short": short, "interval": with_interval}
    return " ".join(filled("effect.txt.j2", told | words, {}).split()).replace(" ;", ";")


def _apart(row: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """How far the estimate of another row is from that of a row."""
    return abs(other["estimate"] - row["estimate"])


def of_draws(row: Mapping[str, Any]) -> tuple[float, float, float]:
    """The estimate on these topics and the ends of its interval; NaN where there is none."""
    own = [row.get(f"{name}_draws") for name in ("estimate", "low", "high")]
    estimate, low, high = (math.nan if end is None else float(end) for end in own)
    return (row["estimate"] if math.isnan(estimate) else estimate), low, high


def numbers_of(row: Mapping[str, Any]) -> str:
    """The estimate of a contrast with the interval that its unit gives."""
    return with_interval(row["estimate"], row.get("low"), row.get("high"))


def unclear(row: Mapping[str, Any], here: bool = False) -> str:
    """The numbers of a contrast of which nothing clear is said, over topics like these or `here`;
    with the p that decides so where the interval leaves 0 out all the same.

    >>> unclear({"estimate": -0.424, "low": -0.583, "high": -0.265, "p_holm": 0.125})
    "−.424 [−.583, −.265] (p = .125 after Holm's correction)"
    """
    told: Any = of_draws(row) if here else (row["estimate"], row.get("low"), row.get("high"))
    p: Any = row.get("p_holm_draws" if here else "p_holm")
    numbers, (_, low, high) = with_interval(*told), told
    if missing(low) or missing(p) or low <= 0 <= high:
        return numbers
    return f"{numbers} ({p_in_words(float(p))} after Holm's correction)"


def clear_alone(results: Results, outcome: str, scale: str) -> set[tuple[str, ...]]:
    """The models and topics in which an effect is clear by itself: table, a, b and name of each.

    Holm's correction is over all models, topics and contrasts of the outcome. A model needs five
    topics.
    """
    found, tests = [], []
    for table, column in (("by_model", "model"), ("by_topic", "topic")):
        for row in rows_of(results, table, outcome=outcome, scale=scale):
            few = row.get("unit") == "topic" and row.get("n", ENOUGH) < ENOUGH
            found.append((table, str(row["a"]), str(row["b"]), str(row[column])))
            tests.append(math.nan if few or missing(row.get("p")) else row["p"])
    return {key for key, p in zip(found, holm(tests), strict=True) if p < LEVEL}


def exactly_equal(row: Mapping[str, Any]) -> bool:
    """Whether two treatments gave the same in every block, by construction or in fact."""
    return row["estimate"] == 0 and str(row.get("note") or "").startswith(EQUAL)


def rows_of(results: Results, name: str, **wanted: Any) -> list[dict[str, Any]]:
    """The rows of a table that have these values; none where the study does not give it."""
    result = results.get(name)
    rows = result.plain() if result is not None and result.given else []
    return [row for row in rows if wanted.items() <= row.items()]


def main_contrasts(results: Results) -> tuple[list[dict[str, Any]], bool] | None:
    """The contrasts that the summary is about, and whether they are those of the null model."""
    for population in (MODELS, CITIZENS):
        rows = rows_of(results, "contrasts", population=population)
        rows = [row for row in rows if row["scale"] != RELATIVE]
        primary = [row for row in rows if row.get("role") == PRIMARY]
        index = [row for row in rows if (row["outcome"], row["scale"]) == (MAIN, CHANGE)]
        first = next(iter((*primary, *index, *rows)), None)
        if first is not None:
            of = {name: first[name] for name in ("outcome", "scale")}
            return [row for row in rows if of.items() <= row.items()], population == CITIZENS
    return None


def without_contrasts(results: Results, of_citizens: bool) -> Iterator[str]:
    """What is said where no two treatments can be compared."""
    if result := results.get("contrasts"):
        why = result.detail or "There are no two treatments with values in one block."
        yield f"No treatments can be compared. {why}"
        if result.why_not == "debates":
            return
    levels: dict[str, dict[str, None]] = {}
    for row in rows_of(results, "ablations"):
        levels.setdefault(row["factor"], {}).update(dict.fromkeys((row["b"], row["a"])))
    if levels:
        varied = [f"{factor} ({', '.join(own)})" for factor, own in levels.items()]
        yield said("study/varies_else", factors=listed(varied))
    yield from of_people(results, null_only=of_citizens)
    yield from _noise(results)


def _models(results: Results) -> tuple[str, str]:
    """What the column `model` counts: models, or set-ups where a group has several."""
    names = [str(row["model"]) for row in rows_of(results, "by_model")]
    return ("set-up", "set-ups") if any("+" in name for name in names) else ("model", "models")


def least_found(rows: Sequence[Mapping[str, Any]], results: Results) -> str:
    """The effect that one test of any of these contrasts would have found; "" where not known."""
    found = []
    for row in rows:
        own = rows_of(results, "sizes", **{key: row[key] for key in CONTRAST})
        found += [one["smallest_effect"] for one in own if not missing(one["smallest_effect"])]
    return short(max(found)) if found else ""


def _for_whom(row: Mapping[str, Any], results: Results, null: bool) -> str:
    """In how many models and topics the difference is above zero, and in which it is clear."""
    models = "kinds of citizen" if null else _models(results)[1]
    parts, clear = [], []
    if exactly_equal(row):
        return ""
    alone = clear_alone(results, row["outcome"], row["scale"])
    for table, column, many in (("by_model", "model", models), ("by_topic", "topic", "topics")):
        rows = _with_estimate(results, table, row)
        if len(rows) > 1:
            above = sum(one["estimate"] > 0 for one in rows)
            parts.append(f"{above} of {len(rows)} {many}")
            names = [str(one[column]) for one in rows]
            clear += [name for name in names if (table, row["a"], row["b"], name) in alone]
    if not parts:
        return ""
    where = "clear by itself in none"
    if clear:
        listed = ", ".join(clear) if len(clear) <= 6 else f"{len(clear)}, see the table"
        where = f"clear by itself, after Holm over all of them, in {listed}"
    return f" The estimate is above zero in {' and in '.join(parts)}; {where}."


def _with_estimate(results: Results, table: str, row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a table on the contrast of this row that have an estimate."""
    own = rows_of(results, table, **{key: row[key] for key in CONTRAST})
    return [one for one in own if not missing(one["estimate"])]


def beside_null(contrasts: Sequence[Mapping[str, Any]], results: Results) -> Iterator[str]:
    """What the null citizen shows for the same contrasts: what the procedure alone does."""
    if not contrasts:
        return
    parts = []
    null = rows_of(results, "contrasts", population=CITIZENS, scale=contrasts[0]["scale"])
    for row in contrasts:
        for other in null:
            same = all(other[key] == row[key] for key in CONTRAST)
            if same and not missing(other["estimate"]):
                parts.append(f"{numbers_of(other)} for {named(row['a'])} against {named(row['b'])}")
    if parts:
        outcome = measured(str(contrasts[0]["outcome"]))
        yield said("study/beside_null", outcome=outcome, parts=listed(parts))


def _equivalent(results: Results, outcome: str) -> Iterator[str]:
    """Which differences are shown to be smaller than the smallest effect of interest.

    Treatments that gave equal values in every pair are named where their contrast is.
    """
    for row in rows_of(results, "equivalence", outcome=outcome, scale="absolute", equivalent=True):
        if row["estimate"] == row["low_90"] == row["high_90"] == 0:
            continue
        ends = with_interval(row["estimate"], row["low_90"], row["high_90"])
        told = {"a": sentence(named(row["a"])), "b": named(row["b"]), "label": measured(outcome)}
        yield said("study/equivalent", **told, margin=short(row["margin"]), ends=ends)


def of_people(results: Results, null_only: bool, outcome: str = MAIN) -> Iterator[str]:
    """The change beside people's, on the topics on which both are known."""
    population = "null citizen" if null_only else "models"
    rows = rows_of(results, "people", population=population, outcome=outcome, phase="change")
    rows = [row for row in rows if not missing(row["difference"])]
    if not rows:
        result = results.get("people")
        if result is not None and not result.given:
            yield f"Compared with people: not possible here. {for_readers(result.detail)}"
        return
    first, parts = rows[0], []
    for row in rows:
        part = f"{short(row['here'])} with {named(row['treatment'])}"
        if not missing(row["low"]):
            difference = with_interval(row["difference"], row["low"], row["high"])
            part += f" (difference {difference})"
        parts.append(part)
    told = {"label": measured(outcome), "people": short(first["people"]), "parts": listed(parts)}
    yield said("study/of_people", **told, where=counted(int(first["topics"]), "topic"))


def _noise(results: Results, outcome: str = MAIN) -> Iterator[str]:
    """How much the index changes where nobody deliberates."""
    for row in rows_of(results, "noise_floor", outcome=outcome)[:1]:
        if not missing(row["mean"]):
            mean = with_interval(row["mean"], row.get("low"), row.get("high"))
            sd = "" if missing(row["sd"]) else f", SD {short(row['sd'])}"
            n = counted(int(row["n"]), "session")
            yield said("study/noise", label=measured(outcome), mean=mean, n=n, sd=sd)
