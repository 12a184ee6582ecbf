"""The report on a set of personas: clusters, the check of them, their texts."""

from collections.abc import Mapping, Sequence
from typing import Any

from delibsim.analysis.pages.page import PagePart
from delibsim.analysis.report import Report
from delibsim.analysis.result import catalogue, make_table
from delibsim.analysis.table import DisplayTable, number, numbers, texts
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


def table_of_clusters(plain: Plain, built: Plain) -> DisplayTable:
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
    return DisplayTable(columns, cells)


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


def personas_report(plain: Plain) -> Report:
    """The report on a set of personas that was built from answers, from its file as plain values.

    WrongInput for a set that was not built.
    """
    built = plain.get("built")
    if not built:
        raise WrongInput(
            f"the personas '{plain['name']}' were not built from answers, so there is nothing to"
            " report on them; leave out -o"
        )
    sizes = plain.get("sizes") or [None] * len(built["check"])
    clusters, departures = [], []
    for n, (size, check) in enumerate(zip(sizes, built["check"], strict=True), 1):
        clusters.append({"cluster": n, "people": size, **check, "note": check.get("reason", "")})
        departures += [{"cluster": n, **departure} for departure in built["departures"][n - 1]]
    tables = [
        make_table("personas/clusters", clusters),
        make_table("personas/departures", departures),
    ]
    told = [f"{origin_in_words(built)}.", check_in_words(built["check"])]
    return Report(
        catalogue=catalogue("personas"),
        title=f"Personas {plain['name']}",
        results={one.name: one for one in tables},
        about={"name": plain["name"]},
        told=told,
        summary=told,
        warnings=warnings_of(built),
        last=[PagePart("texts", "Personas", sentences=texts_of(plain))],
        data=plain,
    )
