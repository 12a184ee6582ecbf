"""The report on a set of personas: clusters, the check of them, their texts."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from delibsim.analysis.pages.folder import write_report
from delibsim.analysis.pages.page import Page, Part
from delibsim.analysis.result import Result, make_table
from delibsim.analysis.table import Table, number, numbers, texts
from delibsim.domain.errors import WrongInput

Plain = Mapping[str, Any]
MOST = 5
"""The number of considerations that are shown of a cluster."""


def texts_of(plain: Plain) -> list[str]:
    """The personas one by one, numbered."""
    return [f"{n}  {' '.join(text.split())}" for n, text in enumerate(plain["personas"], 1)]


def origin_in_words(built: Plain) -> str:
    """Whose answers were clustered, how, and by whom the profiles were written and read."""
    people = f"{len(built['participants'])} people who answered {built['survey']}"
    made = f"{built['k']} clusters on {built['items']}, seed {built['seed']}"
    library = f"scikit-learn {built['versions']['scikit-learn']}"
    by = f"written by {built['writer']}, read by {built['reader']}"
    return f"{people}, {made}, {library}; {by}"


def table_of_clusters(plain: Plain, built: Plain) -> Table:
    """A row for each cluster: its size, what it departs on, and how well it was recognised."""
    columns = [
        *numbers(("cluster", "people")),
        *texts("departs most on (SD from the mean)"),
        *numbers(("r", "rho")),
        *texts("recognised"),
    ]
    cells = []
    sizes = plain.get("sizes") or [None] * len(plain["personas"])
    rows = zip(sizes, built["departures"], built["check"], strict=True)
    for n, (size, departures, check) in enumerate(rows, 1):
        signs = ", ".join(f"{entry['item']} {entry['z']:+.1f}" for entry in departures[:MOST])
        reason = check.get("reason", "-")
        recognised = {True: "yes", False: "no", None: reason}[check["recognised"]]
        agreement = (number(check["r"]), number(check["rho"]))
        cells.append([str(n), str(size), signs, *agreement, recognised])
    return Table(columns, cells)


def check_in_words(checks: Sequence[Plain]) -> str:
    """What the manipulation check says of all profiles together."""
    valid = [check["r"] for check in checks if check["r"] is not None]
    mean = number(sum(valid) / len(valid) if valid else None)
    recognised = sum(check["recognised"] is True for check in checks)
    return (
        f"Manipulation check: mean correlation of reading and centroid {mean} ({len(valid)} of"
        f" {len(checks)} profiles), {recognised} recognised as their own cluster. r is Pearson's,"
        " rho Spearman's."
    )


def warnings_of(built: Plain) -> list[str]:
    """What a reader of the personas must know."""
    found = []
    if built["writer"] == built["reader"]:
        found.append("the same model wrote and read the profiles, so the check says little")
    return found + list(built["warnings"])


CLUSTERS = {
    "cluster": "number of the cluster, and of its persona; 1 is the largest",
    "people": "number of people in the cluster",
    "r": "Pearson's correlation of the reader's answers with the mean answers of the cluster",
    "rho": "Spearman's correlation of the same",
    "recognised": "whether no other cluster's mean answers correlate more",
    "note": "why the answers could not be compared",
}
DEPARTURES = {
    "cluster": "number of the cluster",
    "item": "the consideration",
    "z": "mean of the cluster less the mean of all, in standard deviations of all",
}


def page_of_personas(plain: Plain) -> Page:
    """The page of a set of personas that was built from answers, from its file as plain values.

    WrongInput for a set that was not built.
    """
    built = plain.get("built")
    if not built:
        raise WrongInput(
            f"the personas '{plain['name']}' were not built from answers, so there is nothing to"
            " report on them; leave out -o"
        )
    return Page(
        title=f"Personas {plain['name']}",
        kind="Report on personas, by delibsim",
        summary=[f"{origin_in_words(built)}.", check_in_words(built["check"])],
        warnings=warnings_of(built),
        parts=[
            Part("clusters", "Clusters", tables=[_clusters(plain, built), _departures(built)]),
            Part("texts", "Personas", sentences=texts_of(plain)),
        ],
    )


def write_personas(plain: Plain, folder: Path) -> Path:
    """Write the page and its tables into a folder; the HTML file."""
    page = page_of_personas(plain)
    return write_report(page, list(page.tables()), folder)


def _clusters(plain: Plain, built: Plain) -> Result:
    """The size of each cluster, and how well a reader recognised its persona."""
    sizes = plain.get("sizes") or [None] * len(built["check"])
    rows = []
    for n, (size, check) in enumerate(zip(sizes, built["check"], strict=True), 1):
        row = {"cluster": n, "people": size, **check, "note": check.get("reason", "")}
        rows.append(row)

    frame = pd.DataFrame(rows, columns=list(CLUSTERS))
    return make_table("personas/clusters", frame)


def _departures(built: Plain) -> Result:
    """The considerations on which each cluster departs most from all people."""
    rows = []
    for n, found in enumerate(built["departures"], 1):
        rows += [{"cluster": n, **departure} for departure in found]

    frame = pd.DataFrame(rows, columns=list(DEPARTURES))

    return make_table("personas/departures", frame)
