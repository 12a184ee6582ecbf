"""The report on a set of personas as a page: its clusters, the check of them, their texts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from delibsim.analysis.pages.folder import write_report
from delibsim.analysis.pages.page import Page, Part
from delibsim.analysis.personas.told import (
    check_in_words,
    origin_in_words,
    texts_of,
    warnings_of,
)
from delibsim.analysis.result import Result, make_table
from delibsim.domain.errors import WrongInput

Plain = Mapping[str, Any]
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
