"""What of a study is shown: files that lie in it, and a report and figures as delibsim writes them.

A study may come from somebody else, and its pages may go to others. So no link of it is followed.
What stands in the folder of the analysis is read as text of others: it is shown only where every
element and every attribute is one that a report or a figure has, so that nothing in it can run,
load or lead elsewhere, whoever wrote it and whatever its manifest says.
"""

import os
import re
from functools import lru_cache
from html import unescape
from pathlib import Path

from delibsim.domain.errors import refused
from delibsim.domain.text import counted, safe
from delibsim.store.annotations import ANNOTATIONS
from delibsim.store.own_folder import foreign_in, names_in, own_bytes, own_stamp
from delibsim.store.reading import read_yaml
from delibsim.store.runs import SCORES, Runs
from delibsim.store.session_files import WITHIN

ANALYSIS = "analysis"
"""The folder of the report that `delibsim analyze` writes, within that of the study."""
PAGES, FIGURES = ("finding", "report"), f"{ANALYSIS}/figures"
"""The pages that `delibsim analyze` writes, by their names, the shorter first; and its figures."""
LARGEST = 2**26
"""Bytes of a report or a figure that is shown."""
TOKEN = re.compile(
    r"""<(/?)([A-Za-z][A-Za-z0-9]*)((?:\s+[A-Za-z][A-Za-z0-9:-]*(?:="[^"<]*")?)*)\s*(/?)>|[^<]+"""
)
ATTRIBUTE = re.compile(r'([A-Za-z][A-Za-z0-9:-]*)(?:="([^"<]*)")?')
DOCTYPE = "<!doctype html>"
DATA = Path(__file__).parents[2] / "data"
ALLOWED = read_yaml(DATA / "reader" / "allowed.yaml")
NAMED = re.compile(r"^(\w+):", re.MULTILINE)
ORDER = NAMED.findall((DATA / "figures" / "study.yaml").read_text(encoding="utf-8"))
"""The figures of a study in the order of its report."""
OF_REPORT, OF_FIGURE = (frozenset(ALLOWED[kind].split()) for kind in ("report", "figure"))
"""The elements of either."""
PLAIN, OF_LOOKS = (frozenset(ALLOWED[kind].split()) for kind in ("attributes", "looks"))
"""The attributes of either that have any value."""
LOOK = re.compile(r"(?:fill|stroke|font|text|clip|color|stop|dominant|alignment)-[a-z-]+")
"""Attributes of a figure; their values load nothing."""
NAMESPACES = ("http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink")
BESIDE = re.compile(r"(?:finding|report)\.html(?:#[A-Za-z0-9-]+)?")
"""Where a page of the analysis may lead: to the other one."""
IN_WORDS = (re.compile("<title>([^<]*)</title>"), re.compile("<desc>([^<]*)</desc>"))
"""The title of a figure, and what it shows."""
IMAGE = re.compile(r"data:image/(?:svg\+xml|png);base64,[A-Za-z0-9+/=\s]*")
OUTSIDE = re.compile(
    r"""url\(\s*['"]?(?!['"\s#])|//|\\|@(?!media\b|page\b)|image-set|expression|script""", re.I
)
"""What a style says that loads or runs something, or could hide that it does."""


READ = (SCORES, ANNOTATIONS, *WITHIN)
"""The folders of a study that are read besides those of its sessions."""


def refuse_links(folder: Path, session: str = "") -> None:
    """WrongInput where a link, a pipe or a device lies among the files of a study that are read: of
    all its sessions, or of the one that is named.
    """
    found = ""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False) or entry.name == ANALYSIS:
                continue
            if not entry.is_dir(follow_symlinks=False):
                found = entry.name
                break
            wanted = entry.name == session or entry.name in READ
            wanted |= not session and os.path.exists(f"{entry.path}/session.json")
            within = next(foreign_in(entry.path), "") if wanted else ""
            if within:
                found = f"{entry.name}/{within}"
                break
    if found:
        raise refused("not_a_plain_file", found=safe(found), named=folder.name)


def page_of(runs: Runs, name: str) -> bytes | None:
    """The finding or the report of a study; None where there is none, or one that is not shown."""
    return _content(runs.folder, _page(name)) if name in PAGES else None


def pages_of(runs: Runs) -> list[str]:
    """Which of the finding and the report are there and shown."""
    found = [name for name in PAGES if _is_there(runs.folder / _page(name))]
    return [name for name in found if not _why_not(runs.folder, _page(name))]


def figure_of(runs: Runs, name: str) -> bytes | None:
    """A figure of a study by its name; None where there is none, or one that is not shown."""
    return _content(runs.folder, f"{FIGURES}/{name}.svg")


def figures_of(runs: Runs) -> dict[str, tuple[str, str]]:
    """The figures that are shown, in the order of the report: by name their title and what they
    show, in words.
    """
    found = {}
    for name in _drawn(runs):
        path = f"{FIGURES}/{name}.svg"
        if not _why_not(runs.folder, path):
            title, shows = _in_words(runs.folder, path, own_stamp(runs.folder, path))
            found[name] = (title or name.replace("_", " "), shows)
    return found


def not_shown(runs: Runs) -> list[str]:
    """Which files of the analysis are there and are not shown, and why, in sentences."""
    names = [_page(name) for name in PAGES if _is_there(runs.folder / _page(name))]
    names += [f"{FIGURES}/{name}.svg" for name in _drawn(runs)]
    whys = {name: _why_not(runs.folder, name) for name in names}
    found = [f"{name} is left out: {why}" for name, why in whys.items() if why]
    if len(found) > 3:
        found[3:] = [f"{counted(len(found) - 3, 'more file')} of {ANALYSIS} left out"]
    return [f"{line}; delibsim analyze writes them anew" for line in found[:1]] + found[1:]


def why_foreign(content: bytes, figure: bool) -> str:
    """Why a file is not such as `delibsim analyze` writes; "" where it is."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return "it is not UTF-8 text"
    if safe(text) != text:
        return "it holds control characters"
    elements = OF_FIGURE if figure else OF_REPORT
    at = 0
    if not figure and text[: len(DOCTYPE)].lower() == DOCTYPE:
        at = len(DOCTYPE)
    opened = ""
    while at < len(text):
        token = TOKEN.match(text, at)
        if token is None:
            return f"it holds what no report has: {_shown(text[at:])}"
        at = token.end()
        closes, name, attributes, _ = token.groups()
        if name is None:
            if opened == "style" and _reaches_out(token[0]):
                return "its style loads something"
            continue
        if name not in elements:
            return f"it holds the element {_shown(name)}"
        opened = "" if closes else name
        for attribute, value in ATTRIBUTE.findall(attributes):
            if not _is_plain(name, attribute, value, figure):
                return f"it holds the attribute {_shown(attribute)} of {name}"
    return ""


def _is_plain(element: str, attribute: str, value: str, figure: bool) -> bool:
    """Whether an attribute is one that loads, runs and leads to nothing outside the file."""
    said = unescape(value)
    if attribute in ("href", "xlink:href"):
        if element == "a" and not figure and BESIDE.fullmatch(said):
            return True
        return said.startswith("#") or (element == "image" and bool(IMAGE.fullmatch(said)))
    if attribute in ("src", "srcset"):
        return bool(IMAGE.fullmatch(said))
    if attribute.startswith("aria-"):
        return True
    if figure and attribute in ("xmlns", "xmlns:xlink"):
        return said in NAMESPACES
    if figure:
        known = attribute in OF_LOOKS or LOOK.fullmatch(attribute) is not None
        return known and not _reaches_out(said)
    return attribute in PLAIN or said.lower() == ALLOWED["one_value"].get(attribute)


def _reaches_out(style: str) -> bool:
    return OUTSIDE.search(unescape(style)) is not None


def _shown(text: str) -> str:
    return " ".join(text[:20].split())


def _drawn(runs: Runs) -> list[str]:
    folder = runs.folder / FIGURES
    names = [name[:-4] for name, _ in names_in(folder) if name.endswith(".svg")]
    places = {name: place for place, name in enumerate(ORDER)}
    return sorted(names, key=lambda name: (places.get(name, len(places)), name))


def _content(folder: Path, name: str) -> bytes | None:
    try:
        content = own_bytes(folder, name, LARGEST)
    except (OSError, ValueError):
        return None
    return None if why_foreign(content, name.endswith(".svg")) else content


def _page(name: str) -> str:
    return f"{ANALYSIS}/{name}.html"


def _is_there(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def _why_not(folder: Path, name: str) -> str:
    try:
        return _looked_at(folder, name, own_stamp(folder, name))
    except OSError:
        return "it is no plain file of the study"


@lru_cache(maxsize=1_000)
def _looked_at(folder: Path, name: str, _: tuple[int, ...]) -> str:
    """Why a file is not shown, found once for as long as it stays the same."""
    try:
        content = own_bytes(folder, name, LARGEST)
    except ValueError as error:
        return f"it is {error}"
    return why_foreign(content, name.endswith(".svg"))


@lru_cache(maxsize=1_000)
def _in_words(folder: Path, name: str, _: tuple[int, ...]) -> tuple[str, str]:
    """The title of a figure and what it shows, "" where it does not say."""
    text = own_bytes(folder, name, LARGEST).decode("utf-8")
    title, shows = (one.search(text) for one in IN_WORDS)
    return unescape(title[1]) if title else "", unescape(shows[1]) if shows else ""
