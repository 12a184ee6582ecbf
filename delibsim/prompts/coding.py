"""What coders of texts are asked: steps for a dimension, then the level of one text on it.

The system message (role, rules, entry of the dimension, steps, form of the reply) is the same for
every text, so that providers can reuse it; the user message holds the quoted context and, last, the
quoted text.
"""

import functools
from collections.abc import Sequence

from delibsim.domain.annotation import Text
from delibsim.domain.data import read_data
from delibsim.domain.scheme import Dimension, Example
from delibsim.domain.treatment import Wording
from delibsim.prompts.blocks import TEXTS, block, quoted, refuse_unfilled, worded
from delibsim.prompts.forms.ballot import Choice
from delibsim.prompts.forms.code import CodeForm
from delibsim.prompts.forms.words import StepsForm
from delibsim.prompts.prompt import Message, Prompt, Purpose

CODER_TEXTS = TEXTS["coders"]
"""The texts of a wording that coders of texts read."""
FIELDS = {"reask": ("fault",)}
Steps = tuple[str, ...]


def code_form(dimension: Dimension) -> CodeForm:
    """The form of the reply on a dimension."""
    return CodeForm(dimension.values, bool(dimension.applies))


def steps_prompt(dimension: Dimension, lower: bool, wording: Wording, coder: str) -> Prompt:
    """Ask a coder how it will apply a dimension; `lower`: in doubt the lower level is given."""
    form = StepsForm()
    task = f"{worded(wording, 'coder_steps_task')}\n\n{form.describe()}"
    entry = "\n\n".join(_rules_and_entry(dimension, lower, wording))
    messages = (Message("system", entry), Message("user", task))
    return Prompt(messages, form, Purpose(coder, f"steps for {dimension.id}"))


def coding_prompt(
    dimension: Dimension,
    lower: bool,
    wording: Wording,
    steps: Steps,
    text: Text,
    purpose: Purpose,
) -> Prompt:
    """Ask for the level of one text on one dimension, by these steps."""
    parts = []
    if text.context:
        earlier = "\n\n".join(quoted(said) for said in text.context)
        parts.append(f"{worded(wording, 'coder_context')}\n{block('context', earlier)}")
    parts.append(f"{worded(wording, 'coder_text')}\n{block('text', quoted(text.text))}")
    system = Message("system", coding_setting(dimension, lower, wording, steps))
    return Prompt((system, Message("user", "\n\n".join(parts))), code_form(dimension), purpose)


def coding_setting(dimension: Dimension, lower: bool, wording: Wording, steps: Steps) -> str:
    """What is alike in the prompts of all texts: the part that providers can cache."""
    texts = tuple(sorted(wording.texts.items()))
    return _setting(dimension, lower, texts, steps)


@functools.lru_cache(maxsize=256)  # thousands of texts are coded on the same few dimensions
def _setting(
    dimension: Dimension, lower: bool, texts: tuple[tuple[str, str], ...], steps: Steps
) -> str:
    wording = Wording("", dict(texts))
    parts = _rules_and_entry(dimension, lower, wording)
    numbered = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
    if steps:  # people on pages go by the entry alone, as on paper
        parts.append(f"{worded(wording, 'coder_steps')}\n{block('steps', numbered)}")
    parts.append(code_form(dimension).describe())
    return "\n\n".join(parts)


def coding_reask(wording: Wording, fault: str) -> str:
    """What a coder is told after an unreadable reply, with the concrete fault."""
    return worded(wording, "reask", fault=fault)


def check_coder_texts(wording: Wording) -> None:
    """Refuse a wording that lacks what coders of texts read; WrongInput."""
    refuse_unfilled(wording, CODER_TEXTS, FIELDS)


def _rules_and_entry(dimension: Dimension, lower: bool, wording: Wording) -> list[str]:
    """Role and rules, and the entry of a dimension in its six parts."""
    parts = [worded(wording, "coder_setting")]
    if lower and dimension.scale != "nominal":
        parts.append(worded(wording, "coder_lower"))
    parts.append(f"{worded(wording, 'coder_entry')}\n{block('dimension', _line(dimension.name))}")
    definition = f"{dimension.brief}\n{dimension.full}".strip()
    named = {"definition": definition, "use": dimension.use, "not_use": dimension.not_use}
    parts += [block(tag, _lines(said)) for tag, said in named.items() if said.strip()]
    parts.append(block("levels", levels_of(dimension)))
    if dimension.examples:
        shown = "\n\n".join(_example(example) for example in dimension.examples)
        parts.append(f"{worded(wording, 'coder_examples')}\n{block('examples', shown)}")
    if dimension.applies:
        question = block("question", _line(dimension.applies))
        parts.append(f"{worded(wording, 'coder_applies')}\n{question}")
    return parts


def levels_of(dimension: Dimension) -> str:
    """The levels of a dimension, one a line: value, name, anchor."""
    lines = []
    for level in dimension.levels:
        same = str(level.value) == level.name or not level.name
        name = "" if same else f" ({_line(level.name)})"
        lines.append(f"{level.value}{name}: {_line(level.anchor)}")
    return "\n".join(lines)


def _example(example: Example) -> str:
    """A coded text, quoted, with its level and why it has it."""
    why = f" ({_line(example.why)})" if example.why.strip() else ""
    return f"{quoted(example.text)}\nlevel {example.level}{why}"


def _lines(text: str) -> str:
    """A text without empty lines and space around its lines."""
    return "\n".join(filter(None, map(_line, text.splitlines())))


def _line(text: str) -> str:
    """A text in one line."""
    return " ".join(text.split())


def longest_coding_prompt(
    dimensions: Sequence[Dimension], lower: bool, wording: Wording, text: Text
) -> Prompt:
    """The longest prompt about a text, with steps of usual length."""
    steps = tuple(StepsForm().read(StepsForm().example("")))
    prompts = []
    for dimension in dimensions:
        purpose = Purpose("coder", f"{text.id} {dimension.id}")
        prompts.append(coding_prompt(dimension, lower, wording, steps, text, purpose))
    return max(prompts, key=lambda prompt: len(prompt.text))


NO_LEVEL = "NO_LEVEL"
"""What the reader says of a rationale that concludes no level; no level is called so."""
AUDIT = read_data("prompts.yaml")["audit"]
"""What the reader of a rationale is told."""


def audit_prompt(dimension: Dimension, rationale: Text, reader: str) -> Prompt:
    """Ask which level a rationale concludes; its lines are quoted and cannot close their block."""
    levels = []
    for level in dimension.levels:
        levels.append(f"{level.value} ({level.name}): {level.anchor}")
    form = Choice("LEVEL", (*map(str, dimension.values), NO_LEVEL))
    system = "\n\n".join(
        [
            AUDIT["task"],
            block("dimension", f"{dimension.name}. {dimension.brief}".strip()),
            block("levels", "\n".join(levels)),
        ]
    )
    user = "\n\n".join(
        [block("explanation", quoted(rationale.text)), AUDIT["order"], form.describe()]
    )
    messages = (Message("system", system), Message("user", user))
    return Prompt(messages, form, Purpose(reader, f"audit {rationale.id}"))


def audit_reask(fault: str) -> str:
    """What is said after an unreadable reply."""
    return AUDIT["again"].format(fault=fault)
