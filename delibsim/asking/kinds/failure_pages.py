"""The page of failures: each disagreement of the ensemble with a person, linked to its text."""

from collections.abc import Mapping, Sequence

from delibsim.asking.pages import document, escaped, paragraphs, table
from delibsim.domain.annotation import Text
from delibsim.domain.audit import KINDS, Failure
from delibsim.domain.scheme import Scheme
from delibsim.domain.text import counted

HEADS = ("text", "dimension", "person", "given", "ensemble", "unstable", "kind")


def failures_page(failures: Sequence[Failure], texts: Mapping[str, Text], scheme: Scheme) -> str:
    """A table of failures as an HTML document, and below it their texts as coders see them.

    Each row links to its text, and each text back to the table. A text that the study no longer
    has (`texts` by id) is said to be missing.
    """
    anchors: dict[str, str] = {}
    for one in failures:
        anchors.setdefault(one.text, f"text-{len(anchors) + 1}")
    rows = [_row(one, anchors[one.text]) for one in failures]
    kinds = "".join([f"<li><b>{kind}</b>: {escaped(told)}</li>" for kind, told in KINDS.items()])
    parts = [
        f"<h1 id=failures>Failures: {escaped(scheme.name)}</h1>"
        f"<p>{counted(len(failures), 'disagreement')} of the ensemble with people. Correct the"
        f" kinds in failures.csv.</p><ul>{kinds}</ul>"
        f"{table(HEADS, rows)}"
    ]
    for id, anchor in anchors.items():
        said = "<p>The study no longer has this text.</p>"
        if id in texts:
            said = f"<div class=speech>{paragraphs(texts[id].text)}</div>"
        back = "<p><a href=#failures>back to the table</a></p>"
        parts.append(f"<section id={anchor}><h2>{escaped(id)}</h2>{said}{back}</section>")
    return document(f"Failures: {scheme.name}", parts)


def _row(one: Failure, anchor: str) -> list[str]:
    """A row of the table; the text is a link to where it stands on the page."""
    unstable = "yes" if one.unstable else "no"
    values = (one.dimension, one.person, one.given, one.ensemble, unstable, one.kind)
    link = f"<a href=#{anchor}>{escaped(one.text)}</a>"
    return [link, *(escaped(str(value)) for value in values)]
