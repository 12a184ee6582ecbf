"""The pages of two runs beside each other and what leads to them, and forks on pages: as a tree,
with the effect of what each has otherwise.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from delibsim.analysis.run import beside_tables
from delibsim.analysis.run.beside import Beside
from delibsim.analysis.table import DisplayTable
from delibsim.conduct.reading.branch_links import RunPair, RunPairs, labels_of, twins_of
from delibsim.conduct.view import beside_each_other
from delibsim.domain.errors import WrongInput, phrase
from delibsim.domain.run import Session
from delibsim.domain.text import brief
from delibsim.store.places import is_of_branches
from delibsim.store.runs import Runs
from delibsim.store.session_files import FORKS
from delibsim.web.render import page, part
from delibsim.web.site import BRANCH, NotFound, Site, address_of, has_forks, what_is_left_out

UNREADABLE = "One of the two cannot be read; its own page says why."


@dataclass(frozen=True)
class ComparisonLinks:
    """What leads from the page of a run to its comparisons: addresses by fork, that with the run it
    branches off ("" without), each other run with its treatment and address, and what is not there.
    """

    forks: dict[str, str]
    parent: str
    others: Sequence[tuple[str, str, str]]
    left_out: Sequence[str]


def compared(site: Site, runs: Runs, session: Session) -> ComparisonLinks:
    """What leads from a run to its comparisons: to pages in a folder, or to those that a server
    makes.
    """
    forked = is_of_branches(runs)
    of = (runs.folder.parent if forked else runs.folder).name
    if site.alone or site.private:
        return ComparisonLinks({}, "", (), ())
    if not site.static:
        return _served(site, runs, session, of)
    known = site.comparisons(of) if of in site.folders() else RunPairs()
    forks: dict[str, str] = {}
    parent, others = "", []
    for n, pair in enumerate(known.pairs, 1):
        address = f"../../{part(of)}/{part(pair.a)}/{name_of(n)}"
        if pair.forked and forked and pair.b == session.id:
            parent = address
        elif pair.forked and not forked and pair.a == session.id:
            forks[pair.b] = address
        elif not (pair.forked or forked) and session.id in (pair.a, pair.b):
            at = int(pair.a == session.id)
            others.append(((pair.a, pair.b)[at], pair.treatments[at], address))
    return ComparisonLinks(forks, parent, others, () if forked else what_is_left_out(known))


def _served(site: Site, runs: Runs, session: Session, of: str) -> ComparisonLinks:
    """The comparisons of a run that a server makes."""
    if session.parentage is None:
        index = site.session(address_of(runs), session.id)
        making = site.making(index)
        twins = [] if making else twins_of(index, session)
        others = [(name, treatment, f"beside.html?with={part(name)}") for name, treatment in twins]
        forks = site.folders().get(f"{of}{BRANCH}{FORKS}")
        held = [] if forks is None else Runs.at(forks.resolve()).sessions()
        beside = {name: f"beside.html?with={part(f'{of}{BRANCH}{FORKS}/{name}')}" for name in held}
        return ComparisonLinks(beside, "", others, (phrase("index_being_made"),) if making else ())
    origin = f"{session.parentage.study.replace('/', BRANCH)}/{session.parentage.session}"
    there = origin.partition("/")[0] in site.folders()
    return ComparisonLinks({}, f"beside.html?with={part(origin)}" if there else "", (), ())


def comparison_pages(site: Site, folder: str) -> Iterator[tuple[str, str]]:
    """The comparisons of a study, each with the name of its file below the folder of the study."""
    for n, pair in enumerate(site.comparisons(folder).pairs, 1):
        yield f"{pair.a}/{name_of(n)}", _page_of(site, folder, pair)


def name_of(number: int) -> str:
    """The file of a comparison, counted from 1 within its study.

    >>> name_of(3)
    'beside-3.html'
    """
    return f"beside-{number}.html"


def _page_of(site: Site, folder: str, pair: RunPair) -> str:
    other = f"{folder}{BRANCH}{FORKS}/{pair.b}" if pair.forked else pair.b
    try:
        return comparison_page(site, folder, pair.a, other)
    except WrongInput:
        values = {"title": "These runs cannot be compared", "said": UNREADABLE}
        return page(site, "error.html", "../../", _trail(site.runs(folder), pair.a, pair.b), values)


def comparison_page(site: Site, folder: str, session: str, other: str) -> str:
    """A run beside another, which is named as session or study/session; NotFound where there is
    none of that name, WrongInput where it is the same.
    """
    of_other, _, name = other.strip().rpartition("/")
    first = site.session(folder, session).runs
    second = site.session(of_other or folder, name).runs
    if (of_other or folder, name) == (folder, session):
        raise WrongInput("these are one run; name another")
    if site.private:
        raise NotFound("runs are not compared where personas and answers of people are left out")
    found = beside_each_other((first, session), (second, name))
    trail = _trail(first, session, name)
    return page(site, "beside.html", "../../", trail, _values(found))


def _trail(runs: Runs, session: str, other: str) -> list[tuple[str, str]]:
    return [
        ("Studies", "../../index.html"),
        (runs.study, "../index.html"),
        ("Runs", "../runs.html"),
        (session, "index.html"),
        (f"beside {other}", ""),
    ]


def _values(found: Beside) -> dict[str, Any]:
    parts = []
    for some in beside_tables.in_turn(found.turns):
        parts.append([_cut(words) for words in some])
    return {
        "found": found,
        "settings": beside_tables.short_settings(found),
        "words": [_cut(words) for words in beside_tables.long_settings(found)],
        "parts": parts,
        "answers": beside_tables.answers_that_differ(found),
        "moved": beside_tables.who_moved_in_both(found),
        "measures": beside_tables.measures_beside(found),
        "others": beside_tables.other_measures(found),
        "ratings": beside_tables.ratings_beside(found),
        "why": [*beside_tables.why_no_value(found), beside_tables.TWO_DRAWS],
        "costs": [beside_tables.cost_in_words(cost) for cost in found.costs],
    }


def _cut(words: beside_tables.TextsBeside) -> beside_tables.TextsBeside:
    """Two texts, cut where they are very long."""
    a, b = (None if text is None else " ".join(brief(text)).strip() for text in (words.a, words.b))
    return replace(words, heading=words.heading.strip(), a=a, b=b)


NOTHING: dict[str, Any] = {
    "trees": (),
    "names": {},
    "here": {},
    "effects": (),
    "over_runs": (),
    "effect_notes": (),
}
"""What a page shows of forks where there are none."""


def forks_shown(site: Site, runs: Runs, session: Session | None = None) -> dict[str, Any]:
    """What the page of a study of forks, of a run or of a fork shows of forks: the tree, and the
    tables of their effects; of a run those of its forks, of a fork those at its turn.
    """
    own = has_forks(runs)
    folder = address_of(runs) if own else f"{address_of(runs)}{BRANCH}{FORKS}"
    shown = NOTHING | {"fork_folder": folder, "this": "", "pending": ""}
    if site.alone or folder not in site.folders() or (session is None and not own):
        return shown
    index = site.index(folder)
    found, trees = site.effects(index), site.tree(index)
    place, at = "", None
    if session is not None:
        origin = session.parentage if own else None
        place = f"{runs.study}/{session.id}" if origin is None else origin.place
        at = None if origin is None else origin.at
    names = labels_of(trees)
    shown |= {
        "trees": [tree for tree in trees if place in ("", tree.place)],
        "names": names,
        "here": {study: name for name, study in _studies(site)},
        "this": session.id if session is not None and own else "",
        "pending": site.making(index) if found is None else "",
    }
    if found is not None and shown["trees"]:
        over = found.over_runs if session is None else ()
        again = {tree.place: names[tree.session] for tree in trees if tree.session in names}
        tables, notes = found.told(place, at)
        effects = [_titled(table, again) for table in tables]
        shown |= {"effects": effects, "over_runs": over, "effect_notes": notes}
    return shown


def _titled(table: DisplayTable, forks: Mapping[str, str]) -> DisplayTable:
    """A table of effects whose title tells a fork that was forked again in words."""
    place, _, rest = table.title.partition(" at ")
    return replace(table, title=f"{forks[place]}; at {rest}") if place in forks else table


def _studies(site: Site) -> list[tuple[str, str]]:
    """The studies that are read, by their addresses, with their names."""
    return [(name, name.replace(BRANCH, "/")) for name in site.folders()]
