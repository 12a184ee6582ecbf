"""Two runs beside each other, for reading: tables and sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from delibsim.analysis.run.beside import Beside, Cost, ItemAnswers, TurnPair, Value, ValuePair
from delibsim.analysis.run.tables import RATERS
from delibsim.analysis.table import (
    DisplayColumn,
    DisplayTable,
    number,
    numbers,
    of_participants,
    texts,
)
from delibsim.domain.reason import in_words
from delibsim.domain.score import HEADINGS, SCORE_PHASES, IndividualChange
from delibsim.domain.text import counted
from delibsim.domain.word_differences import Piece, alike, word_differences

SHORT = 30
"""Characters of settings that stand in a table; longer ones are shown in words."""
BESIDE = 5
"""Participants in one table of answers."""
ALIKE = 0.5
"""Share of its words that two texts must have in common to be shown as one."""
NONE = "-"
TWO_DRAWS = (
    "Two runs are two draws: a difference between them is no effect. `delibsim analyze` compares"
    " conditions over many runs."
)
"""What is said of the measures of two runs."""


@dataclass(frozen=True)
class TextsBeside:
    """Two texts for reading: what stands above them, the texts (None where a run has none), and
    both as one in `pieces`, None where they have little in common.
    """

    heading: str
    a: str | None
    b: str | None
    pieces: tuple[Piece, ...] | None
    same: bool = False


def words_of(heading: str, a: str | None, b: str | None) -> TextsBeside:
    """Two texts, as one where they have enough in common."""
    pieces = None if a is None or b is None else word_differences(a, b)
    # Two pieces: something was added or left out.
    if pieces is not None and alike(pieces) < ALIKE and len(pieces) > 2:
        pieces = None
    return TextsBeside(heading, a, b, pieces)


def long_settings(found: Beside) -> Iterator[TextsBeside]:
    """The settings that differ and are long, by name ("-" for none)."""
    for pair in found.settings:
        if _is_long(pair):
            yield words_of(pair.of["name"], _setting(pair.a), _setting(pair.b))


def short_settings(found: Beside) -> DisplayTable:
    """The settings that differ and are short; the others are for `long_settings`."""
    rows = []
    for pair in found.settings:
        if not _is_long(pair):
            rows.append([pair.of["name"], _setting(pair.a), _setting(pair.b)])
    return DisplayTable(texts("setting", "A", "B"), rows, "Settings that differ")


def _is_long(pair: ValuePair) -> bool:
    return any(value is not None and len(value) > SHORT for value in (pair.a, pair.b))


def _setting(value: str | None) -> str:
    if value is None:
        return NONE
    return value or "(empty)"


def in_turn(pairs: Sequence[TurnPair]) -> Iterator[list[TextsBeside]]:
    """Turns in parts: neighbours that are the same in both runs together, every other alone."""
    part: list[TextsBeside] = []
    for pair in pairs:
        a, b = (None if line is None else line.text for line in (pair.a, pair.b))
        shown = TextsBeside(heading_of(pair), a, b, None, pair.same)
        if pair.same:
            part.append(shown)
            continue
        if part:
            yield part
        yield [words_of(shown.heading, a, b) if pair.pieces else shown]
        part = []
    if part:
        yield part


def heading_of(pair: TurnPair) -> str:
    """Which turn it is, and who had it, in which of the runs."""
    a, b = pair.a, pair.b
    one = a or b
    if one is None:
        return ""
    told = []
    if a is None or b is None:
        told.append(f"in {'A' if b is None else 'B'} alone")
    elif a.turn.index != b.turn.index:
        told.append(f"turn {b.turn.index} of B")
    given = [run for run, said in (("A", a), ("B", b)) if said is not None and said.given]
    told += [f"given by the fork {run}" for run in given]
    speaker = f"{one.turn.index:>3}  {one.turn.shown}"
    return f"{speaker} ({', '.join(told)})" if told else speaker


def answers_that_differ(found: Beside, whole: bool = False) -> list[DisplayTable]:
    """The items with other answers in one run than in the other, a column a participant; all items
    if `whole`. An answer is before > after, of A | of B.
    """
    people = list(dict.fromkeys(pair.of["participant"] for pair in found.answers))
    by_item: dict[str, dict[str, ValuePair]] = {}
    for pair in found.answers:
        item = f"{pair.of['item']} {pair.of['text']}"
        by_item.setdefault(item, {})[pair.of["participant"]] = pair
    shown = {}
    for item, own in by_item.items():
        if whole or not all(pair.same for pair in own.values()):
            shown[item] = own
    title = "Answers that differ, before>after of A | of B (=: the same)"
    if whole:
        title = "Answers, before>after of A | of B"
    tables = []
    parts = ceil(len(people) / BESIDE) if shown else 0
    for k in range(parts):  # of nearly the same size
        beside = people[k * len(people) // parts : (k + 1) * len(people) // parts]
        rows = []
        for item, own in shown.items():
            rows.append([item, *(_cell(own.get(person), whole) for person in beside)])
        tables.append(DisplayTable([*texts("item"), *of_participants(beside)], rows, title))
    return tables


def _cell(pair: ValuePair | None, whole: bool) -> str:
    if pair is None:
        return ""
    if pair.same and not whole:
        return "="
    return f"{_of_run(pair.a)} | {_of_run(pair.b)}"


def _of_run(answers: ItemAnswers | None) -> str:
    if answers is None:
        return NONE
    shown = ["?" if one is None else str(one) for one in (answers.before, answers.after)]
    return ">".join(shown)


def who_moved_in_both(found: Beside) -> DisplayTable:
    """How everybody's answers changed in both runs."""
    headings = ("changed", "ratings", "ranks", "DRI after")
    columns = [*texts("participant"), *numbers(headings, "A"), *numbers(headings, "B")]
    rows = []
    for pair in found.people:
        rows.append([pair.of["participant"], *_change(pair.a), *_change(pair.b)])
    return DisplayTable(columns, rows, "Who moved")


def _change(row: IndividualChange | None) -> list[str]:
    if row is None:
        return [NONE] * 4
    values = [number(one) for one in (row.mean_change_c, row.mean_change_p, row.dri_after)]
    return [f"{row.items_changed}/{row.items}", *values]


def measures_beside(found: Beside) -> DisplayTable:
    """The measures of the table of a run, in A, in B and their difference, by phase."""
    by_measure: dict[str, dict[str, ValuePair]] = {}
    for pair in found.measures:
        if _in_summary(found, pair):
            by_measure.setdefault(pair.of["measure"], {})[pair.of["phase"]] = pair
    columns = [*texts("measure")]
    for phase in SCORE_PHASES:
        columns += [DisplayColumn(name, group=HEADINGS[phase]) for name in ("A", "B", "B - A")]
    rows = []
    for measure, own in by_measure.items():
        row = [found.known[measure].label]
        for phase in SCORE_PHASES:
            row += _values(own.get(phase))
        rows.append(row)
    return DisplayTable(columns, rows, "Measures")


def other_measures(found: Beside) -> DisplayTable:
    """All other measures of which the two runs have different values."""
    rows = []
    for pair in found.measures:
        if not pair.same and not _in_summary(found, pair):
            phase = HEADINGS.get(pair.of["phase"], pair.of["phase"])
            label = found.known[pair.of["measure"]].label
            rows.append([" ".join(filter(None, (label, phase, pair.of["coder"]))), *_values(pair)])
    return DisplayTable([*texts("measure"), *numbers(("A", "B", "B - A"))], rows, "Other measures")


def _in_summary(found: Beside, pair: ValuePair) -> bool:
    return bool(found.known[pair.of["measure"]].in_summary and pair.of["phase"])


def _values(pair: ValuePair | None) -> list[str]:
    if pair is None:
        return [NONE] * 3
    return [_value(pair.a), _value(pair.b), number(pair.difference, signed=True)]


def _value(value: Value | None) -> str:
    return NONE if value is None else number(value.value)


def ratings_beside(found: Beside) -> DisplayTable:
    """Mean ratings of two debates, and their difference where both have one."""
    rows = []
    for pair in found.ratings:
        difference = None if pair.a is None or pair.b is None else pair.b - pair.a
        cells = [number(pair.a), number(pair.b), number(difference, signed=True)]
        if pair.of["what"] == RATERS:
            cells = [NONE if n is None else f"{n:.0f}" for n in (pair.a, pair.b)] + [""]
        rows.append([pair.of["what"], *cells])
    columns = [*texts("mean over raters"), *numbers(("A", "B", "B - A"))]
    return DisplayTable(columns, rows, "Ratings")


def why_no_value(found: Beside) -> list[str]:
    """Why values or their differences are missing, a sentence for each run and reason."""
    named: dict[tuple[str, str], Mapping[str, None]] = {}
    for pair in found.measures:
        label = {found.known[pair.of["measure"]].label: None}
        for run, value in (("A", pair.a), ("B", pair.b)):
            if value is not None and value.value is None:
                key = (run, in_words(value.why_not))
                named[key] = {**named.get(key, {}), **label}
        if pair.why_not:
            key = ("B - A", "the measure depends on the survey, and the runs have two")
            named[key] = {**named.get(key, {}), **label}
    return [f"no value in {run}: {'; '.join(of)} ({why})" for (run, why), of in named.items()]


def cost_in_words(cost: Cost) -> str:
    """Calls, tokens and US dollars of a run in words."""
    tokens = []
    for n, which in ((cost.input_tokens, "in"), (cost.output_tokens, "out")):
        tokens.append(f"tokens {which} unknown" if n is None else f"{n:,} tokens {which}")
    usd = "cost unknown" if cost.usd is None else f"{cost.usd:.4f} USD"
    return f"{counted(cost.calls, 'call')}, {', '.join(tokens)}, {usd}"
