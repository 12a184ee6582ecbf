"""What all pages of the reader have: where they stand, what they may load, who wrote them."""

from collections.abc import Mapping, Sequence
from typing import Any

from delibsim.web.render import installed_version, render
from delibsim.web.site import Site

Trail = Sequence[tuple[str, str]]
STATIC_POLICY = (
    "default-src 'none'; script-src 'self' file:; style-src 'self' file:;"
    " img-src 'self' file: data:; base-uri 'none'; form-action 'none'"
)
"""The content security policy within pages that are files."""


TURNS = 300
"""Turns on one page of a conversation."""


def page_name_of(turn: int) -> str:
    """The file of the page of a conversation that a turn stands on.

    >>> page_name_of(1), page_name_of(301)
    ('index.html', 'turns-301.html')
    """
    return page_name((max(turn, 1) - 1) // TURNS)


def page_name(number: int) -> str:
    """The file of a page of a conversation, counted from 0."""
    return "index.html" if number == 0 else f"turns-{number * TURNS + 1}.html"


def page(site: Site, template: str, up: str, trail: Trail, values: Mapping[str, Any]) -> str:
    """A page with what all have: where it is (`up` leads to the first page), who wrote it."""
    common = {
        "site": site,
        "up": up,
        "trail": trail,
        "version": installed_version(),
        "policy": STATIC_POLICY,
        "writes": not (site.read_only or site.static),
        "private": site.private,
    }
    return render(template, common | dict(values))
