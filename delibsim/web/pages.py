"""The pages of the reader as HTML: the studies, a study, its runs; and all pages as files of a
folder, which need no server and no network.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from delibsim.conduct.reading import listing
from delibsim.conduct.reading.index import StudyIndex
from delibsim.conduct.reading.studies import chosen, progress_of
from delibsim.conduct.reading.written import ANALYSIS
from delibsim.domain.errors import WrongInput
from delibsim.domain.score import HEADINGS, heading_of
from delibsim.domain.study import natural
from delibsim.domain.survey import WAVE
from delibsim.domain.text import counted
from delibsim.models.clients.faults import scrub, secrets
from delibsim.store.files import json_text, staged
from delibsim.store.notes import Note, Notes
from delibsim.store.own_folder import MANIFEST, refuse_others
from delibsim.store.places import is_of_branches
from delibsim.store.runs import Runs
from delibsim.store.study_texts import StudyTexts
from delibsim.web.comparison import comparison_pages
from delibsim.web.conversation import call_pages, calls_page, conversation_page
from delibsim.web.render import ASSETS, asset, page, page_name, page_name_of
from delibsim.web.site import BRANCH, Site, address_of, has_forks, on_comparisons

TEXTS = ("topic", "treatment", "model", "setting", "status")
"""Columns of the list that hold text."""
NO_FORKS: dict[str, Any] = {"trees": ()}
ALL_RUNS = 100_000
"""Runs on the one page of a list that has no server."""


def studies_page(site: Site, given: Mapping[str, str] = MappingProxyType({})) -> str:
    """The studies that the fields of a form ask for; without one all of them."""
    studies, faults = site.listed()
    words, sort, descending = (given.get(name, "") for name in ("q", "sort", "order"))
    shown = chosen(studies, words, sort, descending == "desc")

    def query(**changes: str) -> str:
        fields = {"q": words, "sort": sort, "order": descending} | changes
        return "?" + urlencode({name: value for name, value in fields.items() if value})

    values = {
        "studies": shown,
        "all": len(studies),
        "faults": faults,
        "asked": {"q": words, "sort": sort, "descending": descending == "desc"},
        "query": query,
        "running": any(one.now is not None for one in shown) and not site.static,
    }
    return page(site, "studies.html", "", [("Studies", "")], values)


def models_page(site: Site) -> str:
    """All models side by side over the studies, each row with the studies that it is of."""
    found = site.model_results()
    values: dict[str, Any] = {"making": "", "read": None, "faults": ()}
    if found is None:
        values["making"] = "its studies are read"
    else:
        from delibsim.analysis.pages.cells import reading  # pandas is slow to import

        result, faults = found
        known, links = site.folders(), []
        for row in result.plain():
            named = [name for name in str(row["studies"] or "").split("; ") if name in known]
            links.append(
                (named, {"model": row["model"] or "", "treatment": row["treatment"] or ""})
            )
        shown = replace(result, rows=result.rows.drop(columns=["studies"]))
        read = reading(shown, ALL_RUNS) if result.given else None
        values |= {"result": result, "read": read, "links": links, "faults": faults}
    return page(site, "models.html", "", [("Studies", "index.html"), ("Models", "")], values)


def models_csv(site: Site) -> bytes | None:
    """The same table as CSV; None while it is made."""
    from delibsim.analysis.pages.folder import csv_of

    found = site.model_results()
    return None if found is None else csv_of(found[0]).encode()


def study_page(site: Site, folder: str) -> str:
    """One study: its measures, conditions, failures, figures and notes."""
    index = site.index(folder)
    runs = index.runs
    texts = StudyTexts(runs)
    seen = None if texts.held() else site.overview(index)
    process = "" if site.static else runs.holder()
    values: dict[str, Any] = {
        "study": runs.study,
        "texts": texts.count() if texts.held() else 0,
        "seen": seen,
        "making": site.making(index),
        "process": process,
        "now": progress_of(runs, site.private) if process else None,
        "standing": "" if seen is None else _standing(seen),
        "analysis": site.analysis_pages(folder),
        "figures": site.figures(folder),
        "not_shown": site.not_shown(folder),
        "analysed": (runs.folder / ANALYSIS).is_dir(),
        "notes": _notes(site, index),
        "branch": is_of_branches(runs),
        "branches": _branches(site, folder),
        **(_forks(site, runs) if has_forks(runs) else NO_FORKS),
        "compared": on_comparisons(site, folder),
    }
    trail = [("Studies", "../index.html"), (runs.study, "")]
    return page(site, "study.html", "../", trail, values)


def runs_page(site: Site, folder: str, given: Mapping[str, str]) -> str:
    """The runs of a study that are asked for by the fields of a form."""
    index = site.index(folder)
    runs = index.runs
    known_columns = site.columns(index)
    columns = known_columns or listing.ListColumns({}, (), {}, ("status",))
    names = _labels(site, index)
    if names:  # these say what the setting of a fork would
        choices = {name: values for name, values in columns.choices.items() if name != "setting"}
        listed = [name for name in columns.shown if name != "setting"]
        columns = replace(columns, choices=choices, shown=listed)
    asked = question(columns, given)
    shown = listing.Listing((), 0, 1, 1)
    if known_columns is not None:
        shown = (
            _whole(index, columns, asked) if site.static else listing.listing(index, columns, asked)
        )
    making = site.making(index)
    if making and known_columns is None:
        shown = _names(runs)
    measured = columns.measures.get(asked.measure, ())
    known = {name: measure.label for name, measure in listing.all_measures(runs).items()}

    def query(**changes: Any) -> str:
        fields = {**asked.only, "q": asked.text, "measure": asked.measure, "sort": asked.sort}
        fields |= {"order": "desc" if asked.descending else ""} | changes
        ends = {"least": asked.least, "most": asked.most}
        fields |= {name: f"{end:g}" for name, end in ends.items() if end is not None}
        return "?" + urlencode({name: value for name, value in fields.items() if value})

    values = {
        "study": runs.study,
        "columns": columns,
        "asked": asked,
        "listing": _with_pages(shown, site.private),
        "measured": measured,
        "labels": known,
        "headings": {name: _heading(name, asked.measure, known) for name in measured},
        "texts": TEXTS,
        "query": query,
        "found_in_words": _in_words(shown, asked),
        "names": names,
        "process": "" if site.static else runs.holder(),
        "making": making,
        "again": "runs.html" + query(page=asked.page if asked.page > 1 else ""),
    }
    trail = [("Studies", "../index.html"), (runs.study, "index.html"), ("Runs", "")]
    return page(site, "runs.html", "../", trail, values)


def question(columns: listing.ListColumns, given: Mapping[str, str]) -> listing.ListQuery:
    """What the fields of a form ask for; what they name that is not there is left out."""
    filters = (*columns.choices, *columns.typed)
    only = {name: value for name, value in given.items() if name in filters and value}
    measure = given.get("measure", "")
    if measure not in columns.measures:
        measure = (
            listing.DEFAULT
            if listing.DEFAULT in columns.measures
            else next(iter(columns.measures), "")
        )
    number = given.get("page", "1")
    return listing.ListQuery(
        only=only,
        measure=measure,
        sort=given.get("sort", ""),
        descending=given.get("order") == "desc",
        text=given.get("q", ""),
        page=int(number) if number.isdecimal() and len(number) < 9 else 1,
        least=_end(given.get("least", "")),
        most=_end(given.get("most", "")),
    )


def _end(typed: str) -> float | None:
    """The end of a range as it was typed, with a comma or a point; None where it is no number."""
    try:
        end = float(typed.strip().replace(",", ".").replace("−", "-"))
    except ValueError:
        return None
    return end if isfinite(end) else None


def error_page(site: Site, up: str, title: str, said: str) -> str:
    """Why there is no page."""
    trail = [("Studies", f"{up}index.html"), (title, "")]
    return page(site, "error.html", up, trail, {"title": title, "said": said})


def _whole(
    index: StudyIndex, columns: listing.ListColumns, asked: listing.ListQuery
) -> listing.Listing:
    """The list on one page."""
    found: list[listing.Listed] = []
    number = 1
    while len(found) < ALL_RUNS:
        part = listing.listing(
            index, columns, listing.ListQuery(measure=asked.measure, page=number)
        )
        found += part.runs
        if number >= part.pages:
            break
        number += 1
    return listing.Listing(found, len(found), 1, 1)


def _names(runs: Runs) -> listing.Listing:
    """The first runs of a study whose index is being made, by their names alone."""
    names = sorted(runs.sessions(), key=natural)
    listed = [listing.Listed(name, {"status": ""}) for name in names[: listing.ON_PAGE]]
    return listing.Listing(listed, len(names), 1, 1)


def _with_pages(shown: listing.Listing, private: bool) -> dict[str, Any]:
    """The list with the page of its run on which each hit stands; where personas are left out,
    without the words around it, which may be those of a persona.
    """
    runs = []
    for run in shown.runs:
        hits = [vars(hit) | {"page": page_name_of(hit.turn)} for hit in run.hits]
        for hit in hits if private else ():
            hit["parts"] = ()
        runs.append(vars(run) | {"hits": hits})
    return vars(shown) | {"runs": runs}


def _heading(column: str, measure: str, labels: Mapping[str, str]) -> str:
    phase = column.removeprefix(f"{measure}_")
    wave = heading_of(phase) if phase.startswith(WAVE) else labels.get(column, column)
    return HEADINGS.get(phase, wave)


def _in_words(shown: listing.Listing, asked: listing.ListQuery) -> str:
    chosen_some = bool(asked.only) or (asked.least, asked.most) != (None, None)
    if shown.found is None:
        return f"{counted(shown.total, 'session')}{' of this choice' if chosen_some else ''}."
    statements, runs = shown.found
    said = f"{counted(statements, 'statement')} in {counted(runs, 'run')}"
    if not statements:
        return "No statement holds these words."
    return f"{said}; {counted(shown.total, 'run')} of this choice." if chosen_some else f"{said}."


def _labels(site: Site, index: StudyIndex) -> dict[str, str]:
    """What stands for the names of forks; nothing for those of other runs."""
    if not has_forks(index.runs):
        return {}
    from delibsim.conduct.reading.branch_links import labels_of

    return labels_of(site.tree(index))


def _forks(site: Site, runs: Runs) -> dict[str, Any]:
    from delibsim.web.comparison import forks_shown  # what it needs is slow to import

    return forks_shown(site, runs)


def _notes(site: Site, index: StudyIndex) -> list[Note]:
    return [] if site.private else Notes(index.runs).all()


def _branches(site: Site, folder: str) -> list[tuple[str, str]]:
    """The forks and the probes of a study: their address, and how many there are."""
    found = []
    for name, path in site.folders().items():
        base, mark, kind = name.rpartition(BRANCH)
        if mark and base == folder:
            n = len(Runs.at(path.resolve()).sessions())
            found.append((name, counted(n, kind.removesuffix("s"))))
    return found


def _standing(seen: listing.Overview) -> str:
    held = sum(seen.states.get(state, 0) for state in listing.HELD)
    return f"{held} of {counted(sum(seen.states.values()), 'session')} held."


WRITER = "reader"
OPTION = "--static"
NOT_SERVED = ("htmx.min.js",)
"""Files that pages without a server do not load."""

File = tuple[str, bytes]
Watch = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Written:
    """How many files there are, what is to be known of them, in sentences, and which studies, or
    files and runs of them, are left out because they are no plain files, not such as delibsim
    writes, damaged, or were changed.
    """

    files: int
    notes: Sequence[str]
    left_out: Sequence[str] = ()


def write_static(site: Site, folder: Path, watch: Watch) -> Written:
    """Write every page into a folder, which takes its place as a whole.

    A folder of this name is replaced if it holds nothing but such pages; else WrongInput. Known
    keys are taken out of every text. A study that cannot be read is left out beside others.
    """
    refuse_others(folder, WRITER, OPTION)
    left_out = []
    for study in [] if site.alone else site.folders():
        try:
            left_out += [f"{study}: {line}" for line in site.not_shown(study)]
        except WrongInput as error:
            if site.only is not None:
                raise
            left_out.append(f"{study} is left out: {error}")
    hidden = secrets()
    written = []
    with staged(folder) as stage:
        for name, content in _files(site, watch):
            path = stage / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(scrub(content.decode("utf-8"), hidden).encode("utf-8"))
            written.append(name)
        manifest = {"written_by": "delibsim", "files": written}
        (stage / MANIFEST).write_text(json_text(manifest, indent=1) + "\n", encoding="utf-8")
        left_out += [f"left out: {why}" for why in site.damaged.values()]
    notes = []
    for study in [] if site.alone else site.readable():
        notes += [f"{study}: {line}" for line in on_comparisons(site, study)]
    return Written(len(written), notes, left_out)


def _files(site: Site, watch: Watch) -> Iterator[File]:
    for name in ASSETS:
        if name not in NOT_SERVED:
            yield f"~assets/{name}", asset(name)
    if site.alone and site.only is not None:
        yield from _session(site, address_of(site.only), site.alone, "")
        return
    yield "index.html", studies_page(site).encode()
    yield "models.html", models_page(site).encode()
    yield "models.csv", models_csv(site) or b""
    for folder in site.readable():
        yield from _study(site, folder, watch)


def _study(site: Site, folder: str, watch: Watch) -> Iterator[File]:
    yield f"{folder}/index.html", study_page(site, folder).encode()
    runs = site.runs(folder)
    if StudyTexts(runs).held():
        return
    yield f"{folder}/runs.html", runs_page(site, folder, {}).encode()
    for name in site.figures(folder):
        figure = site.figure(folder, name)
        if figure is not None:
            yield f"{folder}/~figures/{name}.svg", figure
    for name in site.analysis_pages(folder):
        content = site.analysis_page(folder, name)
        if content is not None:
            yield f"{folder}/~analysis/{name}.html", content
    sessions = runs.sessions()
    for n, session in enumerate(sessions):
        watch(f"writing the pages of {runs.study}", n, len(sessions))
        yield from _session(site, folder, session, f"{folder}/{session}/")
    for name, text in comparison_pages(site, folder):
        yield f"{folder}/{name}", text.encode()


def _session(site: Site, folder: str, session: str, at: str) -> Iterator[File]:
    first, pages = conversation_page(site, folder, session)
    yield f"{at}index.html", first.encode()
    for number in range(1, pages):
        page, _ = conversation_page(site, folder, session, number)
        yield f"{at}{page_name(number)}", page.encode()
    yield f"{at}calls/index.html", calls_page(site, folder, session).encode()
    for number, page in call_pages(site, folder, session):
        yield f"{at}calls/{number}.html", page.encode()
