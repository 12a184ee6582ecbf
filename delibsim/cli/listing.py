"""`delibsim list`: what a setting can be, with its file; texts, personas and people."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import typer

from delibsim.analysis.table import DisplayColumn, DisplayTable, numbers, texts
from delibsim.cli.options import RUNS, Words, declared, settings_of
from delibsim.cli.table import print_text, show_table
from delibsim.cli.terminal import console, echo_json, progress, readable, report, safe, say, shown
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.score import MEASURES
from delibsim.domain.study import natural
from delibsim.domain.survey import Motion
from delibsim.store.files import write_atomically
from delibsim.store.instruments.library import Library
from delibsim.store.instruments.scheme_files import read_dimension, read_scheme

app = typer.Typer(add_completion=False)
SCORER = ("scorer", "version", "measures")
RANKS = {
    None: "",
    "most_preferred": "as published",
    "least_preferred": "turned round: in the published answers rank 1 is the least preferred",
}
"""What was done to the ranks of the answers that were imported with a survey."""


@dataclass(frozen=True)
class ListedKind:
    """A kind of thing that a file says: the files by name, how one is read (WrongInput with its
    faults), its columns and cells, its plain values, and what is told of one beside its file.
    """

    files: Callable[[], Mapping[str, Path]]
    read: Callable[[str], Any]
    columns: Sequence[DisplayColumn]
    cells: Callable[[Any], Sequence[str]]
    plain: Callable[[Any], Mapping[str, Any]]
    beside: Callable[[Any], Sequence[str]] = lambda one: ()
    check: Callable[[Path], Any] | None = None


def _instruments() -> dict[str, ListedKind]:
    """What lies in topics/, surveys/ and schemes/, the user's own among it."""
    library = Library()

    def entry(one: Any) -> list[str]:
        kind = type(one).__name__.lower()
        if not isinstance(one, Motion):
            return [one.id, kind, safe(one.question), one.survey, ""]
        taken = "by default" if one.tournament else "if named"
        return [one.id, kind, safe(one.text), one.theme, taken]

    def survey(one: Any) -> list[str]:
        counts = str(len(one.considerations)), str(len(one.preferences))
        scale = f"{one.scale_min} to {one.scale_max}"
        sort = "yes" if one.forced_distribution else ""
        ranks = RANKS[library.rank_1_in_source(one.id)].partition(":")[0]
        return [one.id, *counts, scale, sort, "yes" if one.validated else "no", ranks]

    def ranks(one: Any) -> list[str]:
        told = RANKS[library.rank_1_in_source(one.id)]
        return [f"Rank 1 is the most preferred{f'; {told}' if told else ''}."]

    def scheme(one: Any) -> list[str]:
        ids = ", ".join(dimension.id for dimension in one.dimensions)
        scales = dict.fromkeys(dimension.scale for dimension in one.dimensions)
        return [one.id, safe(one.name), ids, ", ".join(scales)]

    def sha256(one: Any) -> list[str]:
        return [f"SHA-256 {one.sha256}"]

    of_entry = texts("id", "kind", "question or motion", "survey or theme", "tournament")
    counts = numbers(("considerations", "preferences"))
    of_survey = [*texts("id"), *counts, *texts("scale", "Q sort", "validated", "ranks")]
    return {
        "topics": ListedKind(
            library.topics,
            library.entry,
            of_entry,
            entry,
            lambda one: {"kind": type(one).__name__.lower(), **asdict(one)},
        ),
        "surveys": ListedKind(
            library.surveys,
            library.survey,
            of_survey,
            survey,
            lambda one: {**asdict(one), "rank_1_in_source": library.rank_1_in_source(one.id)},
            ranks,
        ),
        "schemes": ListedKind(
            library.schemes,
            library.scheme,
            texts("id", "name", "dimensions", "scales"),
            scheme,
            lambda one: asdict(one) | {"sha256": one.sha256},
            sha256,
            read_scheme,
        ),
        "dimensions": ListedKind(
            library.dimensions,
            library.dimension,
            texts("id", "name", "asks"),
            lambda one: [one.id, safe(one.name), f"which text argues better {safe(one.adverb)}"],
            lambda one: one.plain() | {"sha256": one.sha256},
            sha256,
            read_dimension,
        ),
    }


PRESETS = {
    "models": "model",
    "treatments": "treatment",
    "wordings": "wording",
    "groups": "group",
    "experiments": "experiment",
    "personas": "persona",
}
"""The folders of conf/ whose files are what a setting can be."""
FOR_HYDRA = "# @package"
"""What a line begins with that says nothing to a reader."""


def _presets(kind: str) -> ListedKind:
    """What lies in a folder of conf/, the user's own among it."""
    from delibsim.planning.presets import Presets  # slow to import

    group, presets = PRESETS[kind], Presets(Path.cwd())

    def read(name: str) -> tuple[str, str]:
        if name not in presets.names(group):
            raise unknown(group, name, presets.names(group))
        lines = presets.file(group, name).read_text(encoding="utf-8").splitlines()
        first = next((line for line in lines if not line.startswith(FOR_HYDRA)), "")
        return name, first.lstrip("# ") if first.startswith("#") else ""

    return ListedKind(
        lambda: {name: presets.file(group, name) for name in presets.names(group)},
        read,
        texts("setting", "what it is"),
        lambda one: [f"{group}={one[0]}", safe(one[1])],
        lambda one: {
            "id": one[0],
            "about": one[1],
            "file": shown(presets.file(group, one[0])),
        },
    )


def _show_listed(kind: ListedKind, name: str | None, as_json: bool) -> None:
    """Print all of a kind as a table, or one with its file."""
    if name is None:
        found, faults = readable(sorted(kind.files(), key=natural), kind.read)
        if as_json:
            echo_json([kind.plain(one) for one in found])
        else:
            show_table(DisplayTable(kind.columns, [kind.cells(one) for one in found]), console())
        report(faults)
        return
    if kind.check is not None and (name.endswith((".yaml", ".yml")) or "/" in name):
        path = Path(name)
        one = kind.check(path)
    else:
        one = kind.read(name)
        path = kind.files()[name]
    if as_json:
        echo_json(kind.plain(one))
        return
    screen = console()
    screen.print(f"{name}: {shown(path)}", style="bold")
    for line in kind.beside(one):
        print_text(line, screen)
    for line in path.read_text(encoding="utf-8").rstrip().split("\n"):
        print_text(safe(line), screen)


def _measures(name: str | None, as_json: bool) -> None:
    """Print what every measure is, or one."""
    if name is not None and name not in MEASURES:
        raise unknown("measure", name, MEASURES)
    found = list(MEASURES.values()) if name is None else [MEASURES[name]]
    if as_json:
        plain = [asdict(one) for one in found]
        echo_json(plain if name is None else plain[0])
    elif name is None:
        rows = [[one.id, one.unit, safe(one.definition)] for one in found]
        show_table(DisplayTable(texts("id", "unit", "what it is"), rows), console())
    else:
        _show_fields(asdict(found[0]))


def _scorers(name: str | None, as_json: bool) -> None:
    """Print the scorers that are installed; one with its measures and, of AQuA, what was set up."""
    from delibsim import plugins

    installed = plugins.names("delibsim.scorers")
    if name is None:
        found = []
        for one in installed:
            version, measures = plugins.declared(one)
            found.append((one, version, [measure.id for measure in measures]))
        if as_json:
            echo_json([dict(zip(SCORER, row, strict=True)) for row in found])
            return
        cells = [[one, str(version), ", ".join(ids)] for one, version, ids in found]
        columns = [*texts("scorer"), *numbers(["version"]), *texts("measures")]
        show_table(DisplayTable(columns, cells), console())
        return
    if name not in installed:
        raise unknown("scorer", name, installed)
    version, measures = plugins.declared(name)
    plain = dict(zip(SCORER, (name, version, [one.id for one in measures]), strict=True))
    if name == "aqua":
        plain |= _aqua()
    if as_json:
        echo_json(plain)
    else:
        _show_fields(plain)


def _aqua() -> dict[str, Any]:
    """What AQuA was set up with, after checking that no file has changed."""
    from delibsim.conduct.aqua import FOLDER, described
    from delibsim.scorers.aqua.setup import read, unchanged

    made = read(FOLDER)
    unchanged(made)
    return described(made)


def _results(words: Sequence[str], out: Path | None, root: Path, as_json: bool) -> None:
    """Print all models of all studies side by side, or write them as a table."""
    from delibsim.analysis.pages.folder import csv_of
    from delibsim.cli.results import print_result
    from delibsim.conduct.model_results import results_of_models

    if words:
        raise WrongInput(f"list results takes no name ('{words[0]}'): it is about all studies")
    if out is not None and (out.suffix.lower() != ".csv" or out.is_dir()):
        raise WrongInput(f"-o {out}: name a file that ends in .csv")
    folders = [path.parent for path in sorted(root.glob("*/study.json"))]
    if not folders:
        raise WrongInput(f"there are no studies in {root}; hold one: delibsim run study=first")
    result, faults = results_of_models(folders, progress())
    if as_json:
        echo_json({"models": result.plain(), "faults": faults})
    elif not result.given:
        say(result.detail)
    else:
        print_result(result, console())
    if out is not None:
        write_atomically(out, csv_of(result))
        say(f"written: {shown(out.resolve())}", err=as_json)
    report(faults)


def _check(kind: str, words: Sequence[str]) -> None:
    """Ask a model one question of the study that settings plan, and print what the study takes."""
    from delibsim.cli.estimate import show_estimate
    from delibsim.conduct.study import check_models
    from delibsim.planning.compose import plan

    if kind != "models" or not words:
        raise WrongInput("--check is of one model: delibsim list models NAME --check topic=ccps")
    planned = plan([f"model={words[0]}", *words[1:]])
    screen = console()
    whole = asyncio.run(check_models(planned, lambda line: print_text(line, screen)))
    show_estimate(planned, as_json=False)
    raise typer.Exit(0 if whole else 3)


def _show_fields(plain: Mapping[str, Any]) -> None:
    """Print plain values, a line each."""
    screen = console()
    for name, value in plain.items():
        told = ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
        print_text(f"{name}: {safe(str(told))}", screen)


@declared(app, "list", "list")
def list_(
    kind: str,
    words: Words = None,
    out: Path | None = None,
    root: Path = RUNS,
    check: bool = False,
    as_json: bool = False,
) -> None:
    """List what a setting can be, or print one with its file: topics and motions, surveys, schemes,
    dimensions of quality, and what lies in conf/; measures and scorers; the texts of a study; the
    measures of real people, before and after deliberating; the results of models in all studies.

    With --check a model is asked the first question of a study. Exit code 3 if its answer cannot be
    read.

    Exit code 2, with every fault and its line, if the file of the one that is named is wrong; 3 if
    one of those listed is.
    """
    from delibsim.cli import list_people

    instruments = _instruments()
    known = [*instruments, *PRESETS, "measures", "scorers", "people", "texts", "results"]
    if kind not in known:
        raise unknown("kind of thing to list", kind, known)
    if kind == "people":
        list_people.people(words or [], out, as_json)
        return
    if kind == "texts":
        list_people.texts_of_study(words or [], root, as_json)
        return
    if kind == "results":
        _results(words or [], out, root, as_json)
        return
    if check:
        _check(kind, words or [])
        return
    name, *more = [*(words or []), None]
    settings_of([word for word in more if word is not None], {})
    if kind == "personas" and name is not None:
        list_people.personas(name, out, as_json)
        return
    if out is not None:
        raise WrongInput("-o is of delibsim list people, personas NAME and results; leave it out")
    if kind == "measures":
        _measures(name, as_json)
    elif kind == "scorers":
        _scorers(name, as_json)
    else:
        _show_listed(instruments[kind] if kind in instruments else _presets(kind), name, as_json)
