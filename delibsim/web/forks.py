"""Forks on pages: as a tree, with the effect of what each has otherwise."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from delibsim.analysis.table import Table
from delibsim.conduct.reading.branch_links import labels_of
from delibsim.domain.run import Session
from delibsim.store.branch_folders import FORKS
from delibsim.store.runs import Runs
from delibsim.web.site import BRANCH, Site, address_of, has_forks

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


def _titled(table: Table, forks: Mapping[str, str]) -> Table:
    """A table of effects whose title tells a fork that was forked again in words."""
    place, _, rest = table.title.partition(" at ")
    return replace(table, title=f"{forks[place]}; at {rest}") if place in forks else table


def _studies(site: Site) -> list[tuple[str, str]]:
    """The studies that are read, by their addresses, with their names."""
    return [(name, name.replace(BRANCH, "/")) for name in site.folders()]
