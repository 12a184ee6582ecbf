"""Forks on pages: as a tree, with the effect of what each has otherwise."""

from typing import Any

from delibsim.conduct.reading.branch_links import labels_of
from delibsim.domain.run import Session
from delibsim.store.branch_folders import FORKS
from delibsim.store.runs import Runs
from delibsim.web.site import BRANCH, Site, address_of, has_forks

NOTHING: dict[str, Any] = {
    **dict.fromkeys(("trees", "effects", "over_runs", "effect_notes"), ()),
    **dict.fromkeys(("names", "here"), {}),
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
    shown |= {
        "trees": [tree for tree in trees if place in ("", tree.place)],
        "names": labels_of(trees),
        "here": {study: name for name, study in _studies(site)},
        "this": session.id if session is not None and own else "",
        "pending": site.making(index) if found is None else "",
    }
    if found is not None and shown["trees"]:
        over = found.over_runs if session is None else ()
        shown |= {"effects": found.tables(place, at), "over_runs": over}
        shown |= {"effect_notes": found.notes}
    return shown


def _studies(site: Site) -> list[tuple[str, str]]:
    """The studies that are read, by their addresses, with their names."""
    return [(name, name.replace(BRANCH, "/")) for name in site.folders()]
