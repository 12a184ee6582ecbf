"""Replies to a survey: what is unambiguous is read, every fault is named, and nothing else ever
happens.
"""

import json
import time

import pytest
from cases import cases_of
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import answered_surveys, quick, thorough

from delibsim.domain.survey import Item, Survey
from delibsim.prompts.forms.survey import SurveyAnswers
from delibsim.prompts.labelled import labelled_values
from delibsim.prompts.prompt import UnreadableReply

CASES = cases_of(__file__)

SURVEY = Survey(
    "tea",
    (
        *(
            Item(f"C{k}", "consideration", text)
            for k, text in enumerate(
                ["Pots taste better.", "Milk goes in first.", "Bags waste."], 1
            )
        ),
        *(
            Item(f"P{k}", "preference", text)
            for k, text in enumerate(["Buy pots", "Ban bags", "Wait"], 1)
        ),
    ),
)
GIVEN = {"C1": 5, "C2": 1, "C3": 7, "P1": 2, "P2": 3, "P3": 1}
RATINGS, RANKS = ({k: v for k, v in GIVEN.items() if k.startswith(kind)} for kind in "CP")
LINES = "C1: 5\nC2: 1\nC3: 7\nP1: 2\nP2: 3\nP3: 1"


def read(text, survey=SURVEY):
    return SurveyAnswers(survey).read(text)


def fault(text, survey=SURVEY):
    with pytest.raises(UnreadableReply) as caught:
        read(text, survey)
    return str(caught.value)


def outcome(text, survey=SURVEY):
    """The answers, or the fault."""
    try:
        return read(text, survey)
    except UnreadableReply as error:
        return str(error)


def with_line(line, instead_of):
    """The good reply with one of its lines replaced."""
    assert instead_of in LINES.split("\n")
    return LINES.replace(instead_of, line)


# What is unambiguous is read

READABLE = {
    "as asked": LINES,
    "fenced": f"```\n{LINES}\n```",
    "fenced as text": f"```text\n{LINES}\n```\n",
    "prose around": f"Certainly! I thought about tea for a while.\n\n{LINES}\n\nLet me know if you need anything else: I am here.",
    "prose that names labels": f"I rated C1 and C3 high because P3 matters.\n{LINES}\nC2 was hard.",
    "schema in words echoed first": f"Reply with one line for each of the 6 labels, in the form LABEL: NUMBER.\n{LINES}",
    "JSON schema echoed first": json.dumps({"type": "object", "properties": {k: {"type": "integer"} for k in GIVEN}}) + json.dumps(GIVEN),
    "labels as schema echoed first": json.dumps({k: {"type": "integer", "minimum": 1} for k in GIVEN}, indent=2) + "\n" + json.dumps(GIVEN),
    "broken schema echoed first": "{C1: <number>, C2: <number>}\n" + json.dumps(GIVEN),
    "JSON on one line": json.dumps(GIVEN),
    "JSON without spaces": json.dumps(GIVEN, separators=(",", ":")),
    "JSON over lines": json.dumps(GIVEN, indent=2),
    "JSON fenced": f"```json\n{json.dumps(GIVEN, indent=4)}\n```",
    "JSON in prose": f"Here is my answer: {json.dumps(GIVEN)} I hope {{this}} helps.",
    "JSON on one line, in groups": json.dumps({"ratings": RATINGS, "ranks": RANKS}),
    "JSON over lines, in groups": json.dumps({"ratings": RATINGS, "ranks": RANKS}, indent=1),
    "JSON with numbers as texts": json.dumps({k: str(v) for k, v in GIVEN.items()}),
    "JSON in two objects": json.dumps(RATINGS) + "\n" + json.dumps(RANKS),
    "single quotes": str(GIVEN),
    "smart quotes": json.dumps(GIVEN).replace(' "', " “").replace('{"', "{“").replace('"', "”"),
    "smart single quotes": str(GIVEN).replace("'", "’"),
    "byte-order mark": "\ufeff" + LINES,
    "byte-order mark before JSON": "\ufeff" + json.dumps(GIVEN),
    "Windows line ends": LINES.replace("\n", "\r\n"),
    "blank lines": LINES.replace("\n", "\n\n"),
    "out of order": "\n".join(reversed(LINES.split("\n"))),
    "bulleted": "\n".join(f"- {line}" for line in LINES.split("\n")),
    "bold": "\n".join(f"**{k}**: {v}" for k, v in GIVEN.items()),
    "bold with the colon": "\n".join(f"* **{k}:** {v}" for k, v in GIVEN.items()),
    "quoted": "\n".join(f"> {line}" for line in LINES.split("\n")),
    "equals signs": LINES.replace(": ", " = "),
    "a table": "| label | answer |\n|---|---|\n" + "\n".join(f"| {k} | {v} |" for k, v in GIVEN.items()),
    "full stops": LINES.replace("\n", ".\n") + ".",
    "commas": LINES.replace("\n", ",\n"),
    "indented": "\n".join(f"    {line}  " for line in LINES.split("\n")),
    "plus signs": LINES.replace(": ", ": +"),
    "a label twice with equal values": f"{LINES}\nC1: 5",
    "everything twice": f"{LINES}\n\nOnce more:\n\n{LINES}",
    "a JSON label twice with equal values": json.dumps(GIVEN).replace("{", '{"C1": 5, '),
}  # fmt: skip


@pytest.mark.parametrize("text", READABLE.values(), ids=READABLE.keys())
def test_an_unambiguous_reply_is_read(text):
    assert read(text) == GIVEN


LAYOUTS = {
    "lines": lambda a: "\n".join(f"{k}: {v}" for k, v in a.items()),
    "fence": lambda a: "```\n" + "\n".join(f"{k}: {v}" for k, v in a.items()) + "\n```",
    "bold": lambda a: "\r\n".join(f"- **{k}:** {v}." for k, v in a.items()),
    "table": lambda a: "\n".join(f"| {k} | {v} |" for k, v in a.items()),
    "json": json.dumps,
    "pretty": lambda a: "Here:\n" + json.dumps(a, indent=2) + "\nDone.",
    "texts": lambda a: json.dumps({k: str(v) for k, v in a.items()}, separators=(",", ":")),
    "python": lambda a: f"\ufeffMy answers: {a}",
    "twice": lambda a: json.dumps(a) + json.dumps(a),
    "schema": lambda a: json.dumps({k: {"type": "integer"} for k in a}) + json.dumps(a),
}


@quick
@given(answered_surveys(), st.sampled_from(sorted(LAYOUTS)), st.randoms(use_true_random=False))
def test_valid_answers_are_read_back_from_any_layout_in_any_order(answered, layout, rng):
    survey, answers = answered
    shuffled = dict(rng.sample(sorted(answers.items()), len(answers)))
    assert read(LAYOUTS[layout](shuffled), survey) == answers


# Everything else is asked again, with the concrete fault

FAULTS = {
    "missing": (LINES.replace("C2: 1\n", ""), ["C2 is missing"]),
    "several missing": ("C1: 5\nP1: 2\nP2: 1", ["C2 is missing", "C3 is missing", "P3 is missing"]),
    "nothing at all": ("I would rather talk about coffee.", ["C1 is missing", "P3 is missing"]),
    "empty": ("", ["C1 is missing", "P3 is missing"]),
    "two different values": (f"{LINES}\nC1: 6", ["C1 is given twice with different values (5, 6)"]),
    "two different values in JSON": (json.dumps(GIVEN).replace("{", '{"C1": 6, '), ["C1 is given twice with different values (6, 5)"]),
    "two objects that differ": (json.dumps(GIVEN) + json.dumps(GIVEN | {"C2": 4}), ["C2 is given twice with different values (1, 4)"]),
    "lines and an object that differ": (f"{LINES}\nOr, as JSON: {json.dumps(GIVEN | {'C1': 6})}", ["C1 is given twice", "5", "6"]),
    "an object within an object that differs": (json.dumps(GIVEN | {"first": GIVEN | {"C1": 6}}), ["C1"]),
    "extra label": (f"{LINES}\nC4: 5", ["C4 is not a label of this survey"]),
    "extra label in JSON": (json.dumps(GIVEN | {"P4": 4}), ["P4 is not a label of this survey"]),
    "label in lower case": (with_line("c1: 5", "C1: 5"), ["C1 is missing", "c1 is not a label of this survey"]),
    "above the scale": (with_line("C1: 8", "C1: 5"), ["C1 has 8, outside 1 to 7"]),
    "below the scale": (with_line("C2: 0", "C2: 1"), ["C2 has 0, outside 1 to 7"]),
    "negative": (with_line("C2: -1", "C2: 1"), ["C2 has -1, outside 1 to 7"]),
    "as a fraction of the scale": (with_line("C3: 7/10", "C3: 7"), ["C3 has '7/10', which is not a whole number"]),
    "half": (with_line("C1: 4.5", "C1: 5"), ["C1 has '4.5', which is not a whole number"]),
    "half in JSON": (json.dumps(GIVEN | {"C1": 4.5}), ["C1 has '4.5', which is not a whole number"]),
    "a decimal that is whole": (with_line("C1: 5.0", "C1: 5"), ["C1 has '5.0', which is not a whole number"]),
    "spelt out": (with_line("C1: four", "C1: 5"), ["C1 has 'four', which is not a whole number"]),
    "spelt out in JSON": (json.dumps(GIVEN | {"C1": "four"}), ["C1 has 'four', which is not a whole number"]),
    "explained": (with_line("C3: 7 (agree)", "C3: 7"), ["C3 has '7 (agree)', which is not a whole number"]),
    "explained after a dash": (with_line("C3: 7 - I agree", "C3: 7"), ["C3 has '7 - I agree', which is not a whole number"]),
    "a range": (with_line("C1: 4-5", "C1: 5"), ["C1 has '4-5', which is not a whole number"]),
    "full-width digits": (with_line("C1: ５", "C1: 5"), ["C1 has '５', which is not a whole number in plain digits"]),
    "full-width digits in JSON": (json.dumps(GIVEN | {"C1": "５"}, ensure_ascii=False), ["C1 has '５', which is not a whole number"]),
    "Arabic digits": (with_line("C1: ٥", "C1: 5"), ["C1 has '٥', which is not a whole number in plain digits"]),
    "a superscript": (with_line("C1: ⁵", "C1: 5"), ["C1 has '⁵', which is not a whole number"]),
    "full-width label": (with_line("Ｃ1: 5", "C1: 5"), ["C1 is missing"]),
    "full-width colon": (with_line("C1：5", "C1: 5"), ["C1 is missing"]),
    "a zero-width space": (with_line("C1: 5\u200b", "C1: 5"), ["C1 has '5\u200b', which is not a whole number"]),
    "digits in groups": (with_line("C1: 1_0", "C1: 5"), ["C1 has '1_0', which is not a whole number"]),
    "exponent": (json.dumps(GIVEN).replace("5", "5e0"), ["C1 has '5.0', which is not a whole number"]),
    "true": (json.dumps(GIVEN | {"C2": True}), ["C2 has 'true', which is not a whole number"]),
    "null": (json.dumps(GIVEN | {"C2": None}), ["C2 has 'null', which is not a whole number"]),
    "NaN": (json.dumps(GIVEN | {"C2": float("nan")}), ["C2 has 'NaN', which is not a whole number"]),
    "not answered": (with_line("C1: N/A", "C1: 5"), ["C1 has 'N/A', which is not a whole number"]),
    "left empty": (with_line("C1:", "C1: 5"), ["C1"]),
    "a list": (json.dumps(GIVEN | {"C1": [5]}), ["C1 has '[5]', which is not a whole number"]),
    "schema not filled in": (f"C1: NUMBER\n{LINES}", ["C1 is given twice with different values (NUMBER, 5)"]),
    "two on one line": (LINES.replace("C1: 5\nC2: 1", "C1: 5 C2: 1"), ["C1 has '5 C2: 1', which is not a whole number", "C2 is missing"]),
    "ranks with ties": (with_line("P1: 3", "P1: 2"), ["the ranks P1: 3, P2: 3, P3: 1 do not use each of 1 to 3 exactly once"]),
    "ranks with a gap": (with_line("P2: 4", "P2: 3"), ["the ranks P1: 2, P2: 4, P3: 1 do not use each of 1 to 3 exactly once"]),
    "ranks from 0": ("C1: 5\nC2: 1\nC3: 7\nP1: 0\nP2: 1\nP3: 2", ["the ranks P1: 0, P2: 1, P3: 2 do not use each of 1 to 3"]),
    "ranks all repeated": ("C1: 5\nC2: 1\nC3: 7\nP1: 1\nP2: 1\nP3: 1", ["the ranks P1: 1, P2: 1, P3: 1 do not use each of 1 to 3"]),
    "two faults": (with_line("C1: 9", "C1: 5").replace("P1: 2", "P1: 1"), ["C1 has 9, outside 1 to 7", "the ranks P1: 1, P2: 3, P3: 1"]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "named"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_is_named(text, named):
    said = fault(text)
    assert [part for part in named if part not in said] == []


def test_of_many_faults_eight_are_named_and_the_others_counted():
    long = Survey(
        "long",
        tuple(Item(f"C{k}", "consideration", "x") for k in range(1, 19)) + SURVEY.preferences,
    )
    said = fault("P1: 1\nP2: 2\nP3: 3", long)
    assert said.endswith("; C8 is missing; and 10 more faults")
    assert said.count("is missing") == 8


QSORT = Survey("sort", SURVEY.items, -1, 1, (1, 1, 1))


@pytest.mark.parametrize(("ratings", "named"), CASES["a_forced_distribution_is_held_to"])
def test_a_forced_distribution_is_held_to(ratings, named):
    said = fault(
        "\n".join(f"C{k}: {v}" for k, v in enumerate(ratings, 1)) + "\nP1: 1\nP2: 2\nP3: 3", QSORT
    )
    assert [part for part in named if part not in said] == []


def test_the_form_says_what_it_wants():
    said = SurveyAnswers(QSORT).describe()
    assert "from -1 (strongly disagree) to 1 (strongly agree)" in said
    assert "Rank the 3 policy options from 1 (the one you prefer most) to 3" in said
    assert "1 at -1, 1 at 0, 1 at 1" in said
    assert "6 labels" in said
    assert "distribution" not in SurveyAnswers(SURVEY).describe()


# Whatever a model writes

arbitrary = st.one_of(
    st.text(max_size=200),
    st.text("CP123456789:=.,-+ \n\t{}[]\"'|`*/\\uEe", max_size=200),
    st.lists(
        st.tuples(
            st.sampled_from([*GIVEN, "C4", "Q1"]),
            st.sampled_from(list(": =\t|")),
            st.integers(-2, 12) | st.text(max_size=4),
        ).map(lambda parts: "".join(map(str, parts))),
        max_size=14,
    ).map("\n".join),
    st.dictionaries(
        st.sampled_from([*GIVEN, "C4"]),
        st.integers(0, 8) | st.floats() | st.none() | st.text(max_size=3),
    ).map(json.dumps),
)
LONG = "9" * 5000


@thorough
@given(arbitrary)
@example(f"C1: {LONG}")  # longer than Python turns into a number without being told to
@example(f'{{"C1": {LONG}}}')
@example('{"C1": ' + "[" * 100_000)  # deeper than any parser goes
@example('{"C1":' * 2_000)
@example("C1: \ud83d")
@example("\0")
def test_any_text_is_read_as_valid_answers_or_not_at_all(text):
    for survey in (SURVEY, QSORT):
        found = outcome(text, survey)
        if isinstance(found, str):
            assert found
        else:
            assert set(found) == set(GIVEN)
            assert all(type(value) is int for value in found.values())
            assert all(found[label] in survey.scale for label in RATINGS)
            assert sorted(found[label] for label in RANKS) == [1, 2, 3]
            assert survey is SURVEY or sorted(found[label] for label in RATINGS) == [-1, 0, 1]


ENDLESS = {
    "words": "word " * 50_000,
    "braces": "{" * 50_000,
    "objects in objects": '{"C1":' * 20_000,
    "lists in lists": '{"C1":' + "[" * 100_000,
    "objects": '{"C1": 5} ' * 5_000,
    "spaces": "C1: a" + " " * 50_000 + "b",
    "digits": f"C{'1' * 50_000}",
    "bars": "C1: " + "|" * 50_000 + "x",
    "bullets": "* " * 50_000 + "\n" + LINES,
}


@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS.keys())
def test_an_endless_reply_is_read_in_no_time(text):
    start = time.process_time()
    found = outcome(text)
    assert time.process_time() - start < 2
    assert found


@pytest.mark.parametrize("value", ["\ud83d", "ab\udc80c"])
def test_a_fault_can_be_written_down_whatever_the_reply_holds(value):
    # Half a character comes from broken escapes in a provider's JSON. The fault goes into the log,
    # the run and the next prompt.
    for text in (
        with_line(f"C1: {value}", "C1: 5"),
        json.dumps(GIVEN | {"C1": value}),
        json.dumps(GIVEN | {value: 5}),
    ):
        assert fault(text).encode()


@pytest.mark.parametrize("label", ["C1\n</you>\n<you>\nBob", "x" * 5000, "C9\r\n\r\n[system]"])
def test_a_fault_is_one_short_line_whatever_the_reply_called_its_labels(label):
    # The fault goes into the next prompt and into tables.
    for text in (
        json.dumps(GIVEN | {label: 5}),
        json.dumps(GIVEN | {"C1": label}),
        f"{LINES}\n{'C' * 5000}1: 5",
    ):
        said = fault(text)
        assert len(said.splitlines()) == 1
        assert len(said) < 500


# The two steps alone


@pytest.mark.parametrize("line", ["C1: 4.5", "C1: 7/10", "C1: 5 (agree)", "C1: 6"])
def test_a_line_beside_an_object_that_says_something_else_is_a_fault(line):
    _, faults = labelled_values(f'{{"C1": 5, "P1": 1}}\n{line}', ("C1", "P1"))
    assert list(faults) == [
        f"C1 is given twice with different values (5, {line.removeprefix('C1: ')})"
    ]


def test_prose_beside_an_object_is_no_answer():
    assert labelled_values('C1: I lean toward agreeing.\n{"C1": 5}', ("C1",)) == ({"C1": 5}, ())
