"""Checking a package as a reviewer would: check sums, every run replayed from its record, every
table made again and compared.
"""

import asyncio
import csv
import math
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import ValidationError

from delibsim.analysis.pages.folder import write_csv
from delibsim.analysis.report import Report
from delibsim.analysis.study.study_table import DrawCounts
from delibsim.conduct.analyse import analyse, source_of
from delibsim.conduct.export import export_tables
from delibsim.conduct.score import Watch
from delibsim.conduct.scored import scored_study
from delibsim.conduct.verify import EQUAL, verify_study
from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.text import counted
from delibsim.store.own_folder import MANIFEST, foreign_in, names_in
from delibsim.store.reading import adapter, read_json
from delibsim.store.runs import Runs
from delibsim.store.session_files import SUMS
from delibsim.store.study_texts import StudyTexts
from delibsim.store.tables.sheets import sha256_of

LAYOUT = "delibsim package 1"
RECORD, DATA, RESULTS, REBUILT = "data/record", "data", "results", "rebuilt"
SAME = 1e-9
"""The relative difference up to which two numbers are the same."""


@dataclass(frozen=True)
class PackagedStudy:
    """A study of a package: its name, the `key` in names of files, the folder of its record, and
    how its tables are made.

    `tables` are the exported tables by file. Without `texts` the record is not there. `redacted`
    are sessions that cannot be replayed, since something in their record was replaced.
    """

    name: str
    key: str
    record: str
    tables: Mapping[str, str]
    draws: int
    outcomes: Sequence[str] = ()
    texts: bool = True
    redacted: Sequence[str] = ()

    @property
    def wide(self) -> str:
        """The file of the study table; "" where none is named."""
        wide = (file for file, table in self.tables.items() if table in ("runs_wide", "texts"))
        return next(wide, "")

    @property
    def places(self) -> list[str]:
        """Every path in a package that the manifest names."""
        return [self.key, self.record, *self.tables]


@dataclass(frozen=True)
class _File:
    """A file of a package, as it was when it was packaged."""

    bytes: int
    sha256: str


@dataclass(frozen=True)
class _Manifest:
    """What the manifest of a package says: the check sum of each file, and the studies."""

    files: Mapping[str, _File]
    studies: Sequence[PackagedStudy]

    @property
    def sums(self) -> str:
        """What SHA256SUMS holds, but for the line of the manifest itself."""
        lines = [f"{own.sha256}  {name}\n" for name, own in self.files.items()]
        return "".join(lines)


@dataclass(frozen=True)
class CheckedPackage:
    """What came of checking a package: what is not equal, what could not be checked, and what was
    found equal, each in sentences.
    """

    folder: Path
    faults: Sequence[str]
    unchecked: Sequence[str]
    equal: Sequence[str]


def draw_counts(draws: int) -> DrawCounts:
    """The draws of an analysis, as `delibsim analyze --draws` takes them."""
    return DrawCounts(draws, draws, max(1, draws // 5), 0)


def tables_again(
    record: Path, to: Path, study: PackagedStudy, formats: Collection[str], watch: Watch
) -> Report | None:
    """Make the tables of a study from a copy of its record: its scores anew, its tables in
    `to`/tables, and its report, which is not written yet; None for a study of texts.
    """
    place = to / "record" / record.name
    shutil.copytree(record, place, symlinks=True)
    runs = Runs.at(place)
    with chdir(to):  # where nobody's imported instruments lie
        if StudyTexts(runs).held():
            export_tables(runs, to / "tables", formats, texts=study.texts)
            return None
        scored_study(runs, (), watch)
        export_tables(runs, to / "tables", formats, texts=study.texts)
        return _report(str(place), to, study, watch)


def _report(place: str, to: Path, study: PackagedStudy, watch: Watch) -> Report:
    source = source_of(place, to, watch, to / "report", True, study.outcomes)
    return analyse(source, draw_counts(study.draws), None, watch)


def write_tables(report: Report, folder: Path) -> None:
    """Write the tables of a report alone, as its folder has them."""
    for result in [*report.beside, *report.given]:
        write_csv(result, folder)


def rebuild(package: Path, study: PackagedStudy, to: Path, watch: Watch) -> None:
    """Make the tables of a study again and put them where a package has them, below `to`: from its
    record, or without it those that the study table gives.
    """
    results = to / RESULTS / study.key / "tables"
    with TemporaryDirectory() as made:
        work = Path(made)
        if study.texts:
            record = package / RECORD / study.record
            report = tables_again(record, work, study, ("csv",), watch)
            (to / DATA).mkdir(parents=True, exist_ok=True)
            for file, table in study.tables.items():
                if (made_again := work / "tables" / f"{table}.csv").is_file():
                    shutil.copyfile(made_again, to / file)
        elif study.wide and study.tables[study.wide] == "runs_wide":
            with chdir(work):
                report = _report(str(package / study.wide), work, study, watch)
        else:
            report = None
    if report is not None:
        write_tables(report, results)


def rebuild_all(package: Path, to: Path, watch: Watch = lambda *_: None) -> list[str]:
    """Make all tables of a package again below `to`, which is written anew; what is not equal."""
    faults, studies = [], studies_of(package)
    shutil.rmtree(to, ignore_errors=True)
    for study in studies:
        rebuild(package, study, to, watch)
        faults += differences(package, to, study)
    return faults


def studies_of(package: Path) -> list[PackagedStudy]:
    """The studies of a package; WrongInput for a folder that is none."""
    return list(_manifest(package).studies)


def _manifest(package: Path) -> _Manifest:
    """The manifest of a package, which may come from anybody: it names places within alone."""
    path = package / MANIFEST
    facts = read_json(path) if path.is_file() else {}
    if not isinstance(facts, dict) or facts.get("layout") != LAYOUT:
        zipped = "; unpack it first" if package.suffix == ".zip" and package.is_file() else ""
        raise refused("no_package_there", package=package, manifest=MANIFEST, zipped=zipped)
    try:
        found = adapter(_Manifest).validate_python(facts)
    except ValidationError as error:
        first = error.errors()[0]
        at = ".".join(map(str, first["loc"]))
        raise refused("manifest_damaged", path=path, at=at, first=first["msg"]) from None
    for name in (name for study in found.studies for name in study.places):
        if name.startswith("/") or ".." in name.split("/"):
            raise WrongInput(f"{path} names a place that is not in the package: {name}")
    return found


def check(package: Path, watch: Watch) -> CheckedPackage:
    """Check a package; nothing is written into it, and nobody is asked."""
    package = package.resolve()
    manifest = _manifest(package)
    faults: list[str] = []
    unchecked: list[str] = []
    equal: list[str] = []
    changed = list(_changed_files(package, manifest))
    faults += changed
    if not changed:
        equal.append(f"{counted(len(manifest.files) + 2, 'file')} equal to their check sums")
    for study in manifest.studies:
        if not study.texts:
            unchecked.append(f"{study.name}: without its record nothing is replayed")
        else:
            different, told = _replayed(package, study, watch)
            faults += different
            equal += [told] if told else []
            for session in study.redacted:
                unchecked.append(f"{study.name}/{session}: redacted, so it cannot be replayed")
        with TemporaryDirectory() as made:
            to = Path(made)
            try:
                rebuild(package, study, to, watch)
            except (WrongInput, OSError, KeyError, ValueError) as error:
                faults.append(f"{study.name}: its tables cannot be made again: {error}")
                continue
            different = differences(package, to, study)
            faults += different
            n = sum(1 for name, _ in names_in(to) if (package / name).is_file())
            if n and not different:
                equal.append(f"{study.name}: {counted(n, 'table')} made again, equal")
    return CheckedPackage(package, faults, unchecked, equal)


def _changed_files(package: Path, manifest: _Manifest) -> Iterator[str]:
    """What is not as it was packaged, a sentence a file."""
    there, listed = set(), manifest.files
    for name, path in names_in(package):
        there.add(name)
        own = name in (MANIFEST, SUMS) or name.startswith(f"{REBUILT}/")
        if name not in listed and not own:
            yield f"{name} is not of the package"
        elif name in listed and not path.is_symlink() and sha256_of(path) != listed[name].sha256:
            yield f"{name} is not what was packaged (its check sum differs)"
    for name in (*listed, SUMS):
        if name not in there:
            yield f"{name} is missing"
    if SUMS in there:
        *lines, last = (package / SUMS).read_text("utf-8", "replace").splitlines(True) or [""]
        if last != f"{sha256_of(package / MANIFEST)}  {MANIFEST}\n":
            yield f"{MANIFEST} is not what was packaged (its check sum differs)"
        if "".join(lines) != manifest.sums:
            yield f"{SUMS} is not what was packaged: it differs from {MANIFEST}"
    for name in foreign_in(package):
        yield f"{name} is a link, a pipe or a device"


def _replayed(package: Path, study: PackagedStudy, watch: Watch) -> tuple[list[str], str]:
    """What differs where every run of a study is replayed, and how many are equal."""
    with TemporaryDirectory() as made:
        place = Path(made) / study.record
        shutil.copytree(package / RECORD / study.record, place, symlinks=True)
        try:
            found = asyncio.run(verify_study(Runs.at(place), watch))
        except WrongInput as error:
            return [f"{study.name}: {str(error).replace(str(place), study.record)}"], ""
    faults = []
    for one in found.differing:
        if one.name not in study.redacted:
            what = "; ".join(one.changed[:3]).replace(str(place), study.record)
            faults.append(f"{RECORD}/{study.record}/{one.name}: {one.verdict}: {what}")
    replayed = found.counts[EQUAL]
    told = f"{study.name}: {counted(replayed, 'run')} replayed, equal to their record"
    return faults, told if replayed else ""


def differences(package: Path, to: Path, study: PackagedStudy) -> list[str]:
    """Where the tables of a study that were made again are not those of the package, a sentence a
    file.
    """
    made = {name for name, _ in names_in(to)}
    results = f"{RESULTS}/{study.key}/tables"
    shipped = [f"{results}/{path.name}" for path in sorted((package / results).glob("*.csv"))]
    faults = []
    for name in [*(study.tables if study.texts else ()), *shipped]:
        if name not in made:
            if study.texts:
                faults.append(f"{name} cannot be made again")
        elif not (package / name).is_file():
            faults.append(f"{name} is missing")
        elif where := first_difference(package / name, to / name):
            faults.append(f"{name} is not what the record gives: {where}")
    return faults


def first_difference(shipped: Path, made: Path) -> str:
    """The first cell in which two CSV files differ, in words; "" where they are equal, numbers to
    nine digits.
    """
    if shipped.read_bytes() == made.read_bytes():
        return ""
    rows = [_rows(path) for path in (shipped, made)]
    heads = [next(one, []) for one in rows]
    if heads[0] != heads[1]:
        return f"columns {', '.join(heads[0])} here, {', '.join(heads[1])} made again"
    for n, (here, again) in enumerate(zip(*rows, strict=False), 2):
        for column, a, b in zip(heads[0], here, again, strict=False):
            if not _same(a, b):
                return f"line {n}, {column}: {a or 'nothing'} here, {b or 'nothing'} made again"
    here, again = (len(list(_rows(path))) for path in (shipped, made))
    return "" if here == again else f"{here} lines here, {again} made again"


def _rows(path: Path) -> Iterator[list[str]]:
    csv.field_size_limit(2**31 - 1)
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.reader(file)


def _same(a: str, b: str) -> bool:
    if a == b:
        return True
    try:
        return math.isclose(float(a), float(b), rel_tol=SAME, abs_tol=SAME / 1000)
    except ValueError:
        return False
