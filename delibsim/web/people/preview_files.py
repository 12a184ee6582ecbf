"""A preview as files: static pages and an index of them, which load nothing and keep nothing."""

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from markupsafe import Markup, escape

from delibsim.domain.run import Session
from delibsim.store.files import json_text, staged
from delibsim.store.own_folder import MANIFEST, refuse_others
from delibsim.web.people.preview import Shot
from delibsim.web.people.render import asset, language, render

WRITER, OPTION, INDEX = "preview", "-o", "index.html"
NEW = ".preview { position: sticky; top: 0; z-index: 3; margin: 0; padding: .4rem 1.25rem;"
STYLE = NEW + " background: var(--tint); font-size: .9rem; }"
SHEET = '<link rel="stylesheet" href="/~assets/people.css">'
FORMS = '<script src="/~assets/forms.js" defer></script>'
LIVE = re.compile(r'\n?<script src="/~assets/live.js" defer></script>|<noscript>.*?</noscript>')
SECRET = re.compile(r'(<input type="hidden" name="(?:csrf|key|tried)" value=")[^"]*"')
SKIP = re.compile(r'<a class="skip".*?</a>')
LINK = re.compile(r'href="/[^"]*"')
KNOWN = {"/me/leave": "leave", "/me/withdraw": "withdraw (delete)"}


@dataclass(frozen=True)
class Page:
    """One file: its name in the folder, its title in the index, and the page that it shows."""

    name: str
    title: str
    shot: Shot


def write_preview(
    study: str, sessions: Sequence[Session], shots: Sequence[Shot], folder: Path
) -> int:
    """Write the pages of a preview into a folder, which takes its place as a whole; how many.

    A folder of this name is replaced if it holds nothing but a preview; else WrongInput.
    """
    refuse_others(folder, WRITER, OPTION)
    pages = list(_pages(shots))
    with staged(folder) as stage:
        for number, page in enumerate(pages):
            before, after = pages[number - 1 : number] or [None], pages[number + 1 : number + 2]
            near = {"before": before[0], "after": after[0] if after else None}
            (stage / page.name).write_text(_file(page, pages, near), encoding="utf-8")
        (stage / INDEX).write_text(_index(study, sessions, pages), encoding="utf-8")
        names = [*(page.name for page in pages), INDEX]
        manifest = {"written_by": "delibsim", "files": names}
        (stage / MANIFEST).write_text(json_text(manifest, indent=1) + "\n", encoding="utf-8")
    return len(pages)


def _pages(shots: Sequence[Shot]) -> Iterator[Page]:
    """The pages that are written, by session and seat in the order in which they stood; of those
    that follow each other while a person waits the first.
    """
    order = {place: n for n, place in enumerate(dict.fromkeys(map(_place, shots)))}
    seats: dict[str, list[str]] = {}
    for session, seat in order:
        seats.setdefault(session, []).append(seat)
    numbers = {session: n for n, session in enumerate(seats)}
    for (session, seat), own in groupby(
        sorted(shots, key=lambda shot: order[_place(shot)]), _place
    ):
        waits = False
        for number, shot in enumerate(own):
            again = waits and shot.occasion.startswith("waiting")
            waits = shot.occasion.startswith("waiting")
            if again:
                continue
            place = f"{numbers[session]}-{seats[session].index(seat) + 1}-" if session else ""
            count = f"{number:02}-" if session else ""
            slug = re.sub(r"[^a-z0-9]+", "-", shot.occasion.lower()).strip("-")
            yield Page(f"{place}{count}{slug}.html", _title(shot), shot)


def _place(shot: Shot) -> tuple[str, str]:
    return shot.session, shot.seat


def _title(shot: Shot) -> str:
    known = {"pre": "survey before", "post": "survey after"}
    title = known.get(shot.occasion, shot.occasion)
    return f"{title[:1].upper()}{title[1:]}"


def _file(page: Page, pages: Sequence[Page], near: Mapping[str, Page | None]) -> str:
    """One page as a file: its style and its script stand in it, and its links lead to files."""
    style = f"{asset('people.css').decode()}\n{STYLE}"
    script = asset("forms.js").decode()
    text = LIVE.sub("", page.shot.html)
    text = text.replace(SHEET, f"<style>{style}</style>")
    text = SECRET.sub(r'\1"', text).replace(' data-draft="/me/draft"', "")
    for path, occasion in KNOWN.items():
        text = text.replace(f'href="{path}"', f'href="{_named(occasion, pages)}"')
    text = LINK.sub('href="#"', text)
    policy = _policy(style, script if FORMS in text else "")
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    text = text.replace('<meta name="viewport"', f'{head}<meta name="viewport"', 1)
    if FORMS in text:  # at the end, where the form is there
        text = text.replace(FORMS, "").replace("</body>", f"<script>{script}</script>\n</body>")
    skip, bar = SKIP.search(text), _bar(page, near)
    place = skip.end() if skip else text.index("<main")
    return text[:place] + bar + text[place:]


def _policy(style: str, script: str = "") -> str:
    """A content security policy that lets a page load nothing and send nothing."""
    allowed = f"script-src {_hash(script)}; " if script else ""
    return (
        f"default-src 'none'; {allowed}style-src {_hash(style)}; img-src data:; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _named(occasion: str, pages: Sequence[Page]) -> str:
    """The file of a page that all sessions share; "#" where there is none."""
    found = [one.name for one in pages if not one.shot.session and one.shot.occasion == occasion]
    return found[0] if found else "#"


def _bar(page: Page, near: Mapping[str, Page | None]) -> str:
    """The line above a page that says what it is."""
    shot = page.shot
    place = f"{shot.session}, {shot.seat}: " if shot.session else ""
    links = [Markup('<a href="{}">Preview</a>').format(INDEX)]
    for name, other in near.items():
        if other is not None:
            links.append(Markup('<a href="{}">{}</a>').format(other.name, name))
    said = escape(f"{place}{page.title}")
    line = f"{' · '.join(links)} · {said}"
    return f'\n<nav class="preview" aria-label="Preview" lang="en" dir="ltr">{line}</nav>'


def _index(study: str, sessions: Sequence[Session], pages: Sequence[Page]) -> str:
    """The page that lists all others, by session and participant."""
    style = f"{asset('people.css').decode()}\n{STYLE}"
    found = []
    for session in sessions:
        seats = []
        for seat in session.seats_of_people:
            own = [page for page in pages if _place(page.shot) == (session.id, seat)]
            seats.append((seat, own))
        known = {"treatment": session.treatment.name, "question": session.topic.question}
        found.append({"name": session.id, "seats": seats} | known)
    shared = [page for page in pages if not page.shot.session]
    values = {"study": study, "policy": _policy(style), "style": Markup(style)}
    return render("preview.html", language("en"), sessions=found, shared=shared, **values)
