"""The finding of a study: what its first page, the terminal and a notebook say that was found.

Every number and verb is taken from the tables of the analysis; nothing is computed a second time.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from delibsim.analysis.figures.drawing import Drawing
from delibsim.analysis.pages.cells import interval, p_value
from delibsim.analysis.pages.folder import PAGE as REPORT
from delibsim.analysis.pages.page import Entry, PagePart, Picture, data_uri, standalone
from delibsim.analysis.result import Result, said
from delibsim.analysis.study.blocks import NONE
from delibsim.analysis.study.counts import told_of_attrition
from delibsim.analysis.study.effects import (
    ENOUGH,
    HERE,
    LOWERED,
    NOT_VALID,
    OVER_TOPICS,
    RAISED,
    verb,
)
from delibsim.analysis.study.effects import NONE as UNCLEAR
from delibsim.analysis.study.factors import varied_in_words
from delibsim.analysis.study.methods import StudyRecord
from delibsim.analysis.study.outcomes import (
    CHANGE,
    VALUE,
    gloss,
    listed,
    measured,
    missing,
    named,
    quantity,
    sentence,
    short,
    with_interval,
)
from delibsim.analysis.study.sample import (
    CITIZENS,
    MIXED,
    MODELS,
    PEOPLE,
    participants_in,
    treatments_of,
)
from delibsim.analysis.study.study_table import HELD
from delibsim.analysis.study.summary import (
    beside_null,
    effect,
    exactly_equal,
    least_found,
    main_contrasts,
    numbers_of,
    of_draws,
    of_people,
    unclear,
    without_contrasts,
)
from delibsim.domain.reason import for_readers
from delibsim.domain.text import counted

if TYPE_CHECKING:
    from delibsim.analysis.study.report import Findings

ON_TEXTS = "effects_on_texts"
"""The table of effects on what was said of texts, by people, by models, and corrected."""
FIGURES = ("effects", "before_after")
"""The figures of the page: the first of them that the study gives."""
ACROSS = 3
"""Contrasts that stand side by side and are each told in the first answer; of more than these the
clear ones are told.
"""
MOST = 12
"""Topics and models that are named; of more their number is told."""
NULL = "citizens of the null model"
SIZES = 3
"""Sizes of groups that are named one by one."""
WITH = {CITIZENS: "citizens", MIXED: "groups"}
"""Of whom an answer on these topics speaks, where not as the population is called."""
IN_SHORT = {
    RAISED: RAISED,
    LOWERED: LOWERED,
    HERE: "on these topics alone",
    UNCLEAR: "not clear",
    NOT_VALID: "not valid by models alone",
}
"""What may be said of an effect, by the verb of the analysis."""
HEADLINE = (
    "a", "b", "question", "unit", "estimate", "low", "high", "df", "p", "p_holm", "null_citizen",
    "note",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class StudyFinding:
    """What a study found, in the words and numbers of its analysis.

    `outcome` is the id of the measure that decides. `topics` are the ids of topics, each with its
    question ("" where none is recorded). `compared` says in one sentence what was compared.
    `sentences` answer the headline question (over topics like these), then that on these topics,
    then stand beside people and the null citizen; where nothing can be compared they say why.
    `table` has a row for each contrast and question, as the table `questions` of the report; None
    without a contrast. `figure` is None where the study gives none. `held` says how much was held,
    `cost` what it cost, `limits` what it does not show; `warnings` must be read first.
    `effects` are its contrasts in short, a row each, `sessions` is how many were held by then.
    """

    study: str
    outcome: str
    topics: Sequence[Entry]
    compared: str
    sentences: Sequence[str]
    table: Result | None
    figure: Drawing | None
    held: str
    cost: str
    limits: str
    warnings: Sequence[str] = ()
    effects: Sequence[Mapping[str, Any]] = ()
    sessions: int = 0
    file: ClassVar[str] = "finding.html"

    def __str__(self) -> str:
        """The finding in sentences, a line each."""
        facts = [f"{term}: {told}" for term, told in self.facts.items()]
        return "\n".join([*self.warnings, self.compared, *self.sentences, *facts])

    def _repr_html_(self) -> str:
        """The finding as a notebook shows it."""
        svg = "" if self.figure is None else self.figure.svg(1)
        return _filled("finding_part.html", (), finding=self, parts=(), svg=svg)

    def html(self, pictures: Sequence[Picture] = (), parts: Sequence[PagePart] = ()) -> str:
        """The page as an HTML document; the `pictures` and `parts` of the report beside it."""
        drawn = {picture.name: picture.svg for picture in pictures}
        svg = drawn.get(self.figure.name, "") if self.figure is not None else ""
        values = {"finding": self, "parts": parts, "svg": svg, "report": REPORT}
        return _filled("finding.html", ("page.css", "finding.css"), **values)

    def plain(self) -> dict[str, Any]:
        """What it says in words, as plain values, and its effects in short; all numbers are in the
        tables of the report.
        """
        topics = {topic.term: topic.said for topic in self.topics}
        own: dict[str, Any] = {"outcome": self.outcome, "topics": topics, "compared": self.compared}
        own |= {name: getattr(self, name) for name in ("sessions", "held", "cost", "limits")}
        return {**own, "sentences": list(self.sentences), "effects": list(self.effects)}

    @property
    def facts(self) -> dict[str, str]:
        """What stands below the answers, each under its name."""
        return {"Held": self.held, "Cost": self.cost, "Not shown here": self.limits}

    @property
    def grid(self) -> "AnswerGrid":
        """The table as it is read: each question with a cell for each contrast; of more than three
        contrasts each contrast with a cell for each question.
        """
        rows = [] if self.table is None else self.table.plain()
        names = list(dict.fromkeys(map(_pair, rows)))
        units, cells = {}, []
        for question in dict.fromkeys(row["question"] for row in rows):
            own = {_pair(row): row for row in rows if row["question"] == question}
            units[sentence(question)] = _unit(own.values())
            cells.append([_cell(own.get(name)) for name in names])
        if len(names) <= ACROSS:
            asked = list(units.items())
            return AnswerGrid("question", names, list(zip(asked, cells, strict=True)))
        heads = [f"{question} ({unit})" for question, unit in units.items()]
        turned = list(map(list, zip(*cells, strict=True)))
        return AnswerGrid(
            "contrast", heads, [((name, ""), own) for name, own in zip(names, turned, strict=True)]
        )


@dataclass(frozen=True)
class AnswerGrid:
    """The answers to questions about contrasts: what a row is, the heads of the other columns, and
    of each row its name with the unit taken as independent, and the lines of its cells.

    A cell has the estimate, its interval and p after Holm's correction, or says why not.
    """

    of: str
    heads: Sequence[str]
    rows: Sequence[tuple[tuple[str, str], Sequence[Sequence[str]]]]


def finding(
    found: "Findings", record: StudyRecord | None = None, drawn: Sequence[Drawing] = ()
) -> StudyFinding:
    """What a study found; `drawn` are the figures of its report."""
    rows = (main_contrasts(found.results) or ([],))[0]
    first = rows[0] if rows else {"outcome": found.study.primary, "scale": CHANGE}
    figures = {one.name: one for one in drawn}
    own = (ON_TEXTS, *FIGURES) if first.get("verb") == NOT_VALID else FIGURES
    named_first = [figures[name] for name in own if name in figures]
    return StudyFinding(
        study=found.study.study,
        outcome=str(first["outcome"]),
        topics=_topics(found, record),
        compared=_compared(found, record, first),
        sentences=_sentences(found, rows),
        table=headline(found.results),
        figure=named_first[0] if named_first else None,
        held=" ".join([how_much(found), *told_of_attrition(found.results)]),
        cost=_cost(found, record),
        limits=_limits(found),
        warnings=found.warnings,
        effects=[_in_short(row) for row in rows],
        sessions=found.runs["held"],
    )


def headline(results: Mapping[str, Result]) -> Result | None:
    """The effects on the primary outcome, three questions each; None without contrasts."""
    result, own = results.get("questions"), main_contrasts(results)
    if result is None or not result.given or own is None:
        return None
    first, rows = own[0][0], result.rows
    for name in ("population", "outcome", "scale"):
        rows = rows[rows[name] == first[name]]
    meanings = {name: result.meanings.get(name, "") for name in HEADLINE}
    title = f"Difference in the {quantity(str(first['outcome']), str(first['scale']))}"
    definition = "Each effect under three questions, for the primary outcome alone."
    shown = rows[list(HEADLINE)].reset_index(drop=True)
    return Result("questions", title, definition, result.source, shown, meanings)


def how_much(found: "Findings") -> str:
    """How much was planned, held and analysed, in a sentence."""
    rows, runs = found.study.rows, found.runs
    factors = []
    joined = rows["model"].dropna().astype(str).str.contains("+", regex=False).any()
    for column in ("topic", "model", "treatment"):
        noun = "set-up" if column == "model" and joined else column
        factors.append(counted(rows[column].nunique(), noun))
    varied = varied_in_words(rows[rows["treatment"].notna()])
    factors += [f"{len(levels)} levels of {factor}" for factor, levels in varied.items()]
    told = {**runs, "planned": counted(runs["planned"], "session"), "factors": ", ".join(factors)}
    return said("study/size", were="was" if runs["planned"] == 1 else "were", **told)


def _topics(found: "Findings", record: StudyRecord | None) -> list[Entry]:
    """The topics with their questions."""
    questions = record.questions if record is not None else {}
    topics = found.study.rows["topic"].dropna().astype(str).unique()
    return [Entry(topic, questions.get(topic, "")) for topic in topics]


def _compared(found: "Findings", record: StudyRecord | None, first: Mapping[str, Any]) -> str:
    """What was compared, in a sentence for readers outside the field."""
    rows = found.study.rows
    held = rows[rows["status"].isin(HELD)] if "status" in rows else rows
    if held.empty:
        return said("study/nothing_held", planned=counted(len(rows), "session"))
    debates = "format" in held and (held["format"] == "debate").all()
    topics, outcome = held["topic"].nunique(), str(first["outcome"])
    told = {
        "verb": "debated" if debates else "talked about",
        "sessions": counted(len(held), "session"),
        "who": _who(held, participants_in(found.study), record),
        "topics": f"{topics} topics" if topics > 1 else "a topic",
        "did": _did(held),
        "what": quantity(outcome, str(first["scale"])),
        "gloss": gloss(outcome),
    }
    asked = not debates and ("answers_expected" not in held or held["answers_expected"].any())
    return said("study/compared" if asked else "study/compared_talks", **told)


def _who(held: pd.DataFrame, kind: str, record: StudyRecord | None) -> str:
    """Who took part, in groups of how many."""
    models = [] if record is None else record.models
    people = [one.name for one in models if one.people]
    joined = held["model"].dropna().astype(str).str.split("+").explode()
    names = [name for name in joined.unique() if name not in people]
    who = {CITIZENS: NULL, MODELS: "language models"}.get(kind, kind)
    if kind == MIXED and models and all(one.people or one.embedded for one in models):
        who = f"people and {NULL}"
    if names:
        who += f" ({listed(names)})" if len(names) <= MOST // 2 else f" of {len(names)} kinds"
    sizes = sorted(held["group_size"].dropna().unique()) if "group_size" in held else []
    few = listed([f"{size:g}" for size in sizes], "or")
    many = f"{sizes[0]:g} to {sizes[-1]:g}" if len(sizes) > SIZES else few
    return f"{'a group' if len(held) == 1 else 'groups'} of {f'{many} {who}'.strip()}"


def _did(held: pd.DataFrame) -> str:
    """What groups did between both surveys, by treatment, and with which parts."""
    spoke = held["interaction"] if "interaction" in held else held["treatment"] != NONE
    spoke = spoke.fillna(True).astype(bool)
    speaking = list(map(named, treatments_of(held[spoke])))
    parts = [f"deliberated under {listed(speaking, 'or')}"] if speaking else []
    parts += [] if spoke.all() else ["did not speak with each other"]
    varied = [f"{name} ({listed(own, 'or')})" for name, own in varied_in_words(held).items()]
    return ", or ".join(parts) + (f", with {listed(varied)}" if varied else "")


def _sentences(found: "Findings", rows: Sequence[Mapping[str, Any]]) -> Sequence[str]:
    """The three answers; without a contrast what can be said all the same."""
    if not rows:
        own = without_contrasts(found.results, found.of_citizens)
        told = (*found.ahead, *own, found.study.no_twin)
        return [text for text in told if text]
    if rows[0]["verb"] == NOT_VALID:
        by_models = [effect(row, found.results) for row in rows]
        return [*found.ahead, *by_models, *found.told]
    null_only, whom = rows[0]["population"] == CITIZENS, participants_in(found.study)
    beside = [*of_people(found.results, null_only, str(rows[0]["outcome"]))]
    unlike = [row for row in rows if not exactly_equal(row)]
    beside += [] if null_only else beside_null(unlike, found.results)
    beside += [found.study.no_twin]
    answers = [
        *found.ahead,
        _over_topics(rows, found.results),
        _on_these(rows, WITH.get(whom, whom)),
        " ".join(filter(None, beside)),
    ]
    return [answer for answer in answers if answer]


def _over_topics(rows: Sequence[Mapping[str, Any]], results: Mapping[str, Result]) -> str:
    """The answer to the headline question: over topics like these."""
    known = [row for row in rows if not missing(row["estimate"])]
    enough = [row for row in known if row["topics"] >= ENOUGH]
    told = [f"{sentence(OVER_TOPICS)}: {'; '.join(_clauses(enough, results))}."] if enough else []
    if few := [row for row in known if row not in enough]:
        topics = int(max(row["topics"] for row in few))
        own = {"topics": counted(topics, "topic"), "are": "is" if topics == 1 else "are"}
        names = listed([_pair(row) for row in few])
        what = f" of {names}" if enough else ""
        told.append(said("study/few_topics", what=what, **own))
    for row in rows:
        if row not in known:
            why = for_readers(str(row.get("note") or "")).partition(";")[0] or "there is no value"
            told.append(f"No estimate of {_pair(row)}: {why}.")
    return " ".join(told)


def _pair(row: Mapping[str, Any]) -> str:
    return f"{row['a']} − {row['b']}"


def _clauses(rows: Sequence[Mapping[str, Any]], results: Mapping[str, Result]) -> list[str]:
    """A clause on each contrast, of which the first names the outcome; of many those that are
    clear. Then the effect that would have been found where none is clear.
    """
    parts: list[str] = []
    label = f"the {measured(str(rows[0]['outcome']))}"
    what = "difference" if rows[0]["scale"] == VALUE else "change"
    for row in rows:
        a, b = named(row["a"]), named(row["b"])
        of = "it" if any(label in part for part in parts) else label
        if row["verb"] in (RAISED, LOWERED):
            parts.append(f"{a} {row['verb']} {of} compared with {b}, {numbers_of(row)}")
        elif len(rows) > ACROSS:
            continue
        elif exactly_equal(row):
            parts.append(f"{a} and {b} gave the same in every pair")
        else:
            parts.append(f"{a} against {b}, no clear {what} in {of}, {unclear(row)}")
    if others := len(rows) - len(parts):
        parts.append(f"no clear {what} in {label} in {counted(others, 'contrast')}")
    if least := least_found([row for row in rows if row["verb"] == UNCLEAR], results):
        parts.append(f"an effect of {least} would be found in 80% of such studies")
    return parts


def _on_these(rows: Sequence[Mapping[str, Any]], whom: str) -> str:
    """The answer to the second question: on these topics, with these models."""
    own = [row for row in rows if not missing(row["estimate"]) and not exactly_equal(row)]
    equal = [_pair(row) for row in rows if row["topics"] < ENOUGH and exactly_equal(row)]
    if not own:
        return said("study/equal_here", pairs=listed(equal)) if equal else ""
    topics = int(max(row["topics"] for row in own))
    these = "this topic" if topics == 1 else f"these {topics} topics"
    parts, label = [], measured(str(own[0]["outcome"]))
    for row in own:
        a, b = named(row["a"]), named(row["b"])
        if verb({**row, "topics": 0}) == HERE:  # what it says of the second question alone
            here = of_draws(row)
            higher = "higher" if here[0] > 0 else "lower"
            parts.append(f"{a} went with a {higher} {label} than {b}, {with_interval(*here)}")
            label = "one"
        elif len(own) <= ACROSS:
            parts.append(f"{a} against {b}, no clear difference, {unclear(row, here=True)}")
    if others := len(own) - len(parts):
        parts.append(f"no clear difference in {counted(others, 'contrast')}")
    parts += [f"{name}, the same in every pair" for name in equal]
    return f"On {these}, with these {whom}: {'; '.join(parts)}."


def _cost(found: "Findings", record: StudyRecord | None) -> str:
    """What the study cost."""
    rows = found.study.rows
    if record is None or record.money is None:
        return said("study/cost_unknown")
    calls = counted(int(rows["calls"].sum()) if "calls" in rows else 0, "recorded call")
    return said("study/cost", money=record.money, calls=calls)


def _limits(found: "Findings") -> str:
    """What the study does not show."""
    own = {CITIZENS: "study/limits_null", PEOPLE: "study/limits_people"}
    return said(own.get(participants_in(found.study), "study/limits"))


def _in_short(row: Mapping[str, Any]) -> dict[str, Any]:
    """A contrast in a few words, as the list of all studies shows it."""
    known, topics = not missing(row["estimate"]), int(row["topics"] or 0)
    if not known:
        told = "no estimate"
    elif exactly_equal(row):
        told = "equal in every pair"
    else:
        told = with_interval(row["estimate"], row["low"], row["high"])
        few = topics < ENOUGH and row["verb"] == UNCLEAR
        verdict = "too few to tell" if few else IN_SHORT[row["verb"]]
        told += f" on {counted(topics, 'topic')}, {verdict}"
    estimate = row["estimate"] if known else None
    return {"contrast": _pair(row), "outcome": row["outcome"], "estimate": estimate, "told": told}


def _cell(row: Mapping[str, Any] | None) -> list[str]:
    """An answer as lines: estimate, interval, p."""
    if row is None:
        return ["–"]
    if missing(row["estimate"]):
        return ["no estimate"]
    if exactly_equal(row):
        return ["equal in every pair"]
    lines = [short(row["estimate"])]
    if not missing(row["low"]):
        lines.append(interval(row["low"], row["high"]))
    p, name = (row["p"], "p") if missing(row["p_holm"]) else (row["p_holm"], "Holm p")
    if not missing(p):
        lines.append(f"{name} {p_value(p)}")
    elif missing(row["low"]):
        lines.append(for_readers(str(row["note"] or "")) or "no interval")
    return lines


def _unit(rows: Iterable[Mapping[str, Any]]) -> str:
    """What an answer takes as independent, with its degrees of freedom."""
    own = list(rows)
    units = listed(list(dict.fromkeys(str(row["unit"]) for row in own)), "or")
    known = sorted({f"{row['df']:.0f}" for row in own if not missing(row["df"])}, key=int)
    return units + (f"; t({' or '.join(known)})" if known else "")


def _filled(template: str, styles: Sequence[str], **values: Any) -> str:
    return standalone(template, styles, {"data_uri": data_uri}, **values)
