"""The findings of a study in sentences, each of which says only what its table holds."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from delibsim.analysis.result import Result, said
from delibsim.analysis.study.contrasts import PRIMARY
from delibsim.analysis.study.counts import told_of_attrition
from delibsim.analysis.study.effects import ENOUGH, EQUAL, HERE, LEVEL, LOWERED, NOT_VALID, RAISED
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
    a, b, label = named(row["a"]), named(row["b"]), measured(str(row["outcome"]))
    who = " of the citizens" if null_only else ""
    if missing(row["estimate"]):
        why = for_readers(str(row.get("note") or "")) or "there is no value"
        return f"{sentence(a)} against {b}: no estimate of the change in the {label} ({why})."
    basis = _basis(row, results, null_only)
    if exactly_equal(row):
        return f"{sentence(a)} and {b} gave the same {label}{who} in every pair ({basis})."
    verb = row.get("verb", "none")
    if verb == NOT_VALID:
        told = {"a": sentence(a), "b": b, "label": label, "basis": basis}
        return said("study/by_models", numbers=numbers_of(row), **told)
    if verb == HERE:
        text = _here(row, f"{label}{who}", basis)
    elif verb in (RAISED, LOWERED):
        told = {"a": sentence(a), "b": b, "verb": verb, "label": f"{label}{who}", "basis": basis}
        tests = _tests(row, "p_topics", "p_holm")
        text = said("study/raised", **told, numbers=numbers_of(row), tests=tests, pairs=_pairs(row))
    else:
        where = "On this topic, " if row["topics"] == 1 else ""
        text = sentence(f"{where}{a if where else sentence(a)} against {b}: no clear change in the")
        text += f" {label}{who}, {numbers_of(row)} ({basis}; {_tests(row, *_asked(row))})"
    return text + _left_out(row, results) + size_of(row, results) + "."


def _here(row: Mapping[str, Any], label: str, basis: str) -> str:
    """What is said of an effect that is clear on these topics alone."""
    estimate, low, high = of_draws(row)
    higher = "higher" if estimate > 0 else "lower"
    topics = int(row["topics"])
    these = "this topic" if topics == 1 else f"these {topics} topics"
    p = "p_free" if missing(row.get("p_draws")) else "p_draws"
    tests = _tests(row, p, "p_holm_draws")
    holds_0 = low <= 0 <= high
    own = short(estimate) if holds_0 else with_interval(estimate, low, high)
    if holds_0:
        tests += f"; by t within topics [{short(low)}, {short(high)}], which holds 0"
    told = {"a": named(row["a"]), "b": named(row["b"]), "higher": higher, "basis": basis}
    text = said("study/here", these=these, label=label, own=own, tests=tests, **told)
    if topics == 1:
        return f"{text}; of other topics this study says nothing"
    if topics < ENOUGH:
        return f"{text}; {topics} topics are too few to say this of topics like these"
    if missing(row.get("low")):
        return f"{text}; over topics like these it is not clear"
    ends = f"[{short(row['low'])}, {short(row['high'])}]"
    return f"{text}; over topics like these it is not clear: {ends}"


def of_draws(row: Mapping[str, Any]) -> tuple[float, float, float]:
    """The estimate on these topics and the ends of its interval; NaN where there is none."""
    own = [row.get(f"{name}_draws") for name in ("estimate", "low", "high")]
    estimate, low, high = (math.nan if end is None else float(end) for end in own)
    return (row["estimate"] if math.isnan(estimate) else estimate), low, high


def _pairs(row: Mapping[str, Any]) -> str:
    """What pairs of runs of one draw give alone, where that is another number."""
    own = of_draws(row)[0]
    if not row.get("pairs") or abs(own - row["estimate"]) < 0.0005:
        return ""
    return f"; over pairs of one draw alone it is {short(own)}, as sessions are missing"


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


def _asked(row: Mapping[str, Any]) -> tuple[str, str]:
    """The p of the question that a sentence without a clear change speaks of, and Holm's."""
    if not missing(row.get("p_topics")):
        return "p_topics", "p_holm"
    return ("p_free" if missing(row.get("p_draws")) else "p_draws"), "p_holm_draws"


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


def _basis(row: Mapping[str, Any], results: Results, null: bool = False) -> str:
    """On how many topics and models an estimate rests."""
    topics, models = int(row["topics"]), int(row["models"])
    one, many = ("kind of citizen", "kinds of citizen") if null else _models(results)
    return f"{counted(topics, 'topic')}, {counted(models, one, many)}"


def _models(results: Results) -> tuple[str, str]:
    """What the column `model` counts: models, or set-ups where a group has several."""
    names = [str(row["model"]) for row in rows_of(results, "by_model")]
    return ("set-up", "set-ups") if any("+" in name for name in names) else ("model", "models")


def _tests(row: Mapping[str, Any], p: str, holm: str) -> str:
    """A p value and that after Holm's correction, or that there is none."""
    if missing(row.get(p)):
        return "undecided: no variance"
    found = p_in_words(row[p])
    if not missing(row.get(holm)):
        found += f", Holm {p_in_words(row[holm]).removeprefix('p ').removeprefix('= ')}"
    return found


def _left_out(row: Mapping[str, Any], results: Results) -> str:
    """The topic without which the estimate moves most, and where it moves to."""
    rows = _with_estimate(results, "leave_one_out", row)
    if len(rows) < 3:
        return ""
    most = max(rows, key=lambda one: abs(one["estimate"] - row["estimate"]))
    return f"; without {most['left_out']} it is {short(most['estimate'])}"


def size_of(row: Mapping[str, Any], results: Results) -> str:
    """How large an effect is beside the noise; of none, which effect would have been found."""
    for one in rows_of(results, "sizes", **{key: row[key] for key in CONTRAST}):
        if row.get("verb") == "none" and not missing(one["smallest_effect"]):
            least = short(one["smallest_effect"])
            return f"; one test would have found an effect of {least} with a power of .8"
        if row.get("verb") != "none" and not missing(one["in_noise_sd"]):
            return f"; the effect is {short(one['in_noise_sd'])} SD of the noise"
    return ""


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
