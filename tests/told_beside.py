"""A model's prompt and what is visible on a person's page, sentence by sentence beside each other."""

import re
from difflib import SequenceMatcher

TAG = re.compile(r"^</?[a-z_0-9]+>$")
SENTENCE = re.compile(r"(?<=[a-z\])\"][.?!])\s+|, (?=\d )|(?<=\?) (?=1 )")
"""Where a sentence ends; or the words for one number of a scale."""


def sentences(text):
    """The sentences of a text, line by line, without tags and marks of quotation."""
    found = []
    for line in text.splitlines():
        plain = line.strip().removeprefix(">").strip()
        if not TAG.match(plain):
            found += [one.strip() for one in SENTENCE.split(plain) if one.strip()]
    return found


def same(sentence):
    """What counts of a sentence: its words, not their case, the number before it, or the sign at its
    end.
    """
    words = re.sub(r"^(?:D\d:|\d+\.) ", "", re.sub(r"\s+", " ", sentence))
    return re.sub(r"[\s.:,]+$", "", words).casefold()


def beside(prompt, page):
    """Rows of what the prompt says and of what the page shows, in order; "" where one of them says
    nothing.
    """
    told, shown = sentences(prompt), sentences(page)
    matcher = SequenceMatcher(None, [*map(same, told)], [*map(same, shown)], autojunk=False)
    rows = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            rows += zip(told[a:b], shown[c:d], strict=True)
        else:
            rows += [(one, "") for one in told[a:b]] + [("", one) for one in shown[c:d]]
    return rows


def alone(prompt, page):
    """The sentences that only the prompt has, and those that only the page has."""
    told, shown = sentences(prompt), sentences(page)
    here, there = set(map(same, told)), set(map(same, shown))
    return (
        [one for one in told if same(one) not in there],
        [one for one in dict.fromkeys(shown) if same(one) not in here],
    )


def moved(rows):
    """The sentences that both have, each in another place."""
    theirs = {same(b) for _, b in rows if b}
    return [a for a, b in rows if not b and same(a) in theirs]


def table(rows):
    """The rows as a table in Markdown."""
    lines = ["| a language model is asked | a person sees |", "|---|---|"]
    lines += [f"| {cell(a)} | {cell(b)} |" for a, b in rows]
    return "\n".join(lines)


def cell(text):
    return text.replace("|", "\\|").replace("<", "\\<") or "–"
