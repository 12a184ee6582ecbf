"""The texts of a researcher, in plain Markdown: paragraphs, headings, lists, emphasis, links."""

import re
from itertools import groupby

from markupsafe import Markup, escape

STRONG = re.compile(r"\*\*(.+?)\*\*")
EMPHASIS = re.compile(r"\*(.+?)\*")
LINK = re.compile(r"\[([^\]]+)\]\((https?://[^\s)]+|mailto:[^\s)]+)\)")
HEADING = re.compile(r"(#{1,3}) +(.*)")
ITEM = re.compile(r"[-*] +(.*)")


def html_of(text: str) -> Markup:
    r"""A text as HTML. Everything is escaped first, so nothing but these forms has an effect.

    >>> html_of("# Welcome\n\nYou *may* stop <b>any</b> time.")
    Markup('<h2>Welcome</h2>\n<p>You <em>may</em> stop &lt;b&gt;any&lt;/b&gt; time.</p>')
    """
    parts = [part for part in re.split(r"\n\s*\n", text.strip()) if part.strip()]
    return Markup("\n".join(map(_block, parts)))


def _block(part: str) -> str:
    """One part between empty lines."""
    found = []
    for is_item, lines in groupby(part.split("\n"), lambda line: bool(ITEM.match(line.strip()))):
        if is_item:
            items = [_line(ITEM.sub(r"\1", line.strip())) for line in lines]
            found.append("<ul>" + "".join([f"<li>{item}</li>" for item in items]) + "</ul>")
            continue
        words: list[str] = []
        for line in lines:
            heading = HEADING.fullmatch(line.strip())
            if heading:
                found += [f"<p>{' '.join(words)}</p>"] if words else []
                words = []
                level = len(heading[1]) + 1
                found.append(f"<h{level}>{_line(heading[2])}</h{level}>")
            else:
                words.append(_line(line.strip()))
        found += [f"<p>{' '.join(words)}</p>"] if words else []
    return "\n".join(found)


def _line(text: str) -> str:
    """One line, escaped, with emphasis and links."""
    plain = str(escape(text))
    linked = LINK.sub(r'<a href="\2" rel="noreferrer">\1</a>', plain)
    return EMPHASIS.sub(r"<em>\1</em>", STRONG.sub(r"<strong>\1</strong>", linked))
