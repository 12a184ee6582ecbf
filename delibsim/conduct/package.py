"""A replication package: record, tables, report, scripts and what describes them, in one folder
that a stranger can check.
"""

import asyncio
import csv
import platform
import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import BadZipFile, ZipFile

from delibsim.analysis.study.methods import StudyRecord, record_of
from delibsim.conduct.package_check import (
    DATA,
    LAYOUT,
    RECORD,
    RESULTS,
    PackagedStudy,
    tables_again,
)
from delibsim.conduct.package_metadata import (
    Described,
    actions_of,
    columns_of,
    locked_versions,
    write_metadata,
)
from delibsim.conduct.package_record import (
    LeftOut,
    Trace,
    Traces,
    copy_record,
    left_out,
    places_of,
    redact,
    scan,
    traces_of,
    unlicensed,
)
from delibsim.conduct.r_report import ReportPlaces, write_r_report
from delibsim.conduct.score import Watch
from delibsim.conduct.verify import Verified, verify_study
from delibsim.domain.data import DATA as SHIPPED
from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.study import slug
from delibsim.domain.text import counted, study_named
from delibsim.planning.preregistered import written
from delibsim.store.codec import SCHEMA
from delibsim.store.files import staged
from delibsim.store.own_folder import MANIFEST, names_in, refuse_others
from delibsim.store.publication import Publication
from delibsim.store.runs import TEXTS, Runs
from delibsim.store.session_files import PLAN, SUMS, sum_of, sums_in
from delibsim.store.tables.sheets import sha256_of, write_manifest

SERVICES: Mapping[str, str] = read_data("package.yaml")["services"]
TEMPLATES = SHIPPED / "templates" / "package"
SCRIPTS = {"rebuild.py": "analysis", "rebuild.R": "analysis", "Makefile": ""}
IGNORED = ("data/record/", "rebuilt/", "data/parquet/", "results/", "analysis/", "environment/")
"""What the Psych-DS validator need not look at."""
BLANK = "[FILL IN"
LATE = re.compile(r"^.*\bIt began at .*$", re.MULTILINE)
"""What a plan says that was written after its study had begun."""


@dataclass(frozen=True)
class Wishes:
    """How a package is made: for which service, with `texts` or without; whose sessions of `people`
    may be in it ("all", or QUESTION=ANSWER); whether instruments without a stated licence may;
    whether what the scan finds is redacted, and what of it may be `kept`; how it is analysed, and
    the kinds of files of its figures.
    """

    service: str
    texts: bool = True
    people: str = ""
    instruments: bool = False
    redact: bool = False
    kept: Sequence[str] = ()
    draws: int = 10_000
    outcomes: Sequence[str] = ()
    figures: Sequence[str] | None = None


@dataclass(frozen=True)
class Packaged:
    """What was packaged: the folder, its zip, how many files, what was left out of each study, what
    was redacted, and which runs differ from their record all the same.
    """

    folder: Path
    archive: Path
    files: int
    left_out: Mapping[str, Sequence[LeftOut]]
    redacted: Sequence[Trace]
    differing: Sequence[str]

    @property
    def whole(self) -> bool:
        """Whether nothing was left out but on request, and every run is equal to its record."""
        out = [one for own in self.left_out.values() for one in own if one.why != "texts"]
        return not (self.differing or out or self.redacted)


class Unclean(WrongInput):
    """A package would hold what it must not."""

    def __init__(self, traces: Sequence[Trace]) -> None:
        super().__init__(
            f"{counted(len(traces), 'text')} must not stand in a package, so nothing was written;"
            " --redact takes them out, --keep TEXT lets one stand"
        )
        self.traces = traces


def package(
    studies: Sequence[Runs],
    publication: Publication,
    wishes: Wishes,
    to: Path,
    watch: Watch,
) -> Packaged:
    """Write a package of studies into a folder, which takes its place as a whole, and as a zip
    beside it. WrongInput for a folder that holds anything but a package; Unclean where the package
    would hold what it must not.
    """
    refuse_others(to, "package")
    archive = _archive_of(to)
    studies = list({runs.folder.resolve(): runs for runs in studies}.values())
    if not any(runs.sessions() or (runs.folder / TEXTS).is_file() for runs in studies):
        raise WrongInput(f"{study_named(studies[0].study)} holds nothing to package yet")
    with staged(to) as new, TemporaryDirectory() as made:
        folders = [Path.home(), Path.cwd(), new, Path(made), *(runs.folder for runs in studies)]
        traces = traces_of(studies, folders, wishes.kept)
        done = []
        for n, runs in enumerate(studies):
            key = _key(runs.study, [one.packaged.key for one in done])
            work = Path(made) / str(n)
            work.mkdir()
            done.append(_add_study(runs, key, new, work, wishes, traces, watch))
        _write_around(new, publication, done, wishes)
        redacted = {(one.kind, one.text): one for study in done for one in study.redacted}
        for one in scan(new, traces):
            redacted.setdefault((one.kind, one.text), one)
        if redacted and not wishes.redact:
            raise Unclean(list(redacted.values()))
        redact(new, traces)
        _write_sums(new, publication, done, wishes)
        files = sum(1 for _ in names_in(new))
        archive.unlink(missing_ok=True)
    place = to.resolve()
    part = f"{place.parent}/.{place.name}.part"
    Path(shutil.make_archive(part, "zip", place.parent, place.name)).replace(archive)
    return Packaged(
        folder=to,
        archive=archive,
        files=files,
        left_out={one.packaged.name: one.left_out for one in done},
        redacted=list(redacted.values()),
        differing=[name for one in done for name in one.differing],
    )


def _archive_of(to: Path) -> Path:
    """The zip beside the folder of a package; WrongInput where another file has its name."""
    place = to.resolve()
    archive = place.with_name(f"{place.name}.zip")
    if not archive.exists():
        return archive
    try:
        with ZipFile(archive) as held:
            ours = f"{place.name}/{MANIFEST}" in held.namelist()
    except (OSError, BadZipFile):
        ours = False
    if not ours:
        raise refused("zip_in_the_way", named=archive.name, to=to)
    return archive


def _key(name: str, taken: Sequence[str]) -> str:
    """A study in names of files, as Psych-DS takes them: letters and digits.

    >>> _key("my pilot_2", []), _key("pilot", ["pilot"])
    ('myPilot2', 'pilot2')
    """
    first, *others = re.findall(r"[A-Za-z0-9]+", name) or ["study"]
    key = first + "".join(one[0].upper() + one[1:] for one in others)
    n = 2
    while key in taken:
        key, n = f"{key.rstrip('0123456789')}{n}", n + 1
    return key


def _add_study(
    runs: Runs, key: str, new: Path, work: Path, wishes: Wishes, traces: Traces, watch: Watch
) -> Described:
    """Put a study into a package: its record as far as it may be, and what is made of it."""
    verified = asyncio.run(verify_study(runs, watch))
    instruments = [] if wishes.instruments else unlicensed(runs)
    without = left_out(runs, verified, wishes.people)
    record = new / RECORD / slug(runs.study)
    copy_record(runs, record, without)
    texts = wishes.texts and not instruments
    found = scan(record, traces) if texts else []  # else it is not packaged
    if found and not wishes.redact:
        raise Unclean(found)
    redacted = _redacted(record, redact(record, traces)) if found else []
    asked = {"draws": wishes.draws, "outcomes": tuple(wishes.outcomes), "texts": texts}
    study = PackagedStudy(runs.study, key, record.name, {}, **asked, redacted=redacted)
    report = tables_again(record, work, study, ("csv", "parquet"), watch)
    study = replace(study, tables=_move_tables(work / "tables", new, study))
    packed = Runs.at(work / "record" / record.name)
    shutil.rmtree(record)
    with suppress(OSError):  # the record of another study lies there
        record.parent.rmdir()
    if texts:
        copy_record(packed, record, ())
    else:
        without += instruments or [LeftOut.because("record", "texts")]
    if report is not None:
        report.write(new / RESULTS / key, wishes.figures)
        (new / RESULTS / key / "manifest.json").unlink()
        _write_r(packed, study, new)
    _write_left_out(runs, without, study, new / "documentation" / key)
    about, counts = record_of(packed), report.about["runs"] if report is not None else {}
    return Described(
        packaged=study,
        began=str(about.manifest.begun.get("at", "")) if about is not None else "",
        entities=actions_of(packed, about, study),
        columns=columns_of(new / "documentation" / key / "codebook.csv"),
        left_out=without,
        runs=counts,
        within={at: sum(map(one.held, one.sessions())) for at, one in places_of(packed) if at},
        preregistered=_write_plan(packed, about, counts, without, new / "materials" / key),
        redacted=found,
        differing=_differing(runs, verified, without),
    )


def _differing(runs: Runs, verified: Verified, without: Sequence[LeftOut]) -> list[str]:
    """The runs and tasks that are packaged although they are not equal to their record."""
    gone = {one.place for one in without}
    differing = [one for one in verified.differing if one.name not in gone]
    return [f"{runs.study}/{one.name}: {one.verdict}" for one in differing]


def _redacted(record: Path, changed: Sequence[str]) -> list[str]:
    """The sessions in whose files something was replaced, and those that branch off them; their
    check sums are those of the files as they are now.
    """
    sessions = {name.rpartition("/")[0] for name in changed if (record / name).parent != record}
    found = set()
    for session in sorted(sessions):
        folder = record / session
        if not (folder / PLAN).is_file():
            continue
        found.add(session)
        if sums := sums_in(folder):
            lines = [f"{sum_of(folder / name)}  {name}\n" for name in sums]
            (folder / SUMS).write_text("".join(lines), encoding="ascii")
    for prefix, place in places_of(Runs.at(record)):
        for name in place.sessions() if prefix else ():
            parentage = place.unchecked().planned(name).parentage
            if parentage is not None and parentage.session in found:
                found.add(f"{prefix}{name}")
    return sorted(found)


def _move_tables(made: Path, new: Path, study: PackagedStudy) -> dict[str, str]:
    """Put exported tables where Psych-DS has them, and their codebook with the documentation; the
    table of each file.
    """
    documentation, parquet = new / "documentation" / study.key, new / DATA / "parquet" / study.key
    documentation.mkdir(parents=True)
    parquet.mkdir(parents=True)
    found = {}
    for path in sorted(made.iterdir()):
        if path.stem == "codebook":
            shutil.copyfile(path, documentation / path.name)
        elif path.suffix == ".parquet":
            shutil.copyfile(path, parquet / path.name)
        elif path.suffix == ".csv":
            name = f"{DATA}/study-{study.key}_description-{_key(path.stem, ())}_data.csv"
            shutil.copyfile(path, new / name)
            found[name] = path.stem
    return found


def _write_r(packed: Runs, study: PackagedStudy, new: Path) -> None:
    """Write the document in R on a study; none where its outcome has no value."""
    places = ReportPlaces("..", study.wide, f"{RESULTS}/{study.key}/tables")
    with suppress(WrongInput):
        to = new / "analysis" / f"{study.key}.Rmd"
        write_r_report(str(packed.folder), packed.folder.parent, "rmarkdown", to, places)


def _write_plan(
    packed: Runs,
    about: StudyRecord | None,
    counts: Mapping[str, int],
    without: Sequence[LeftOut],
    to: Path,
) -> bool:
    """Write the preregistration of a study and how it departs from it; whether there is one."""
    plan = packed.folder / "preregistration.md"
    if not plan.is_file():
        return False
    to.mkdir(parents=True, exist_ok=True)
    text = plan.read_text(encoding="utf-8", errors="replace")
    shutil.copyfile(plan, to / plan.name)
    known = {
        "study": packed.study,
        "about": about,
        "blanks": text.count(BLANK),
        "late": LATE.findall(text),
        "counts": {"planned": 0, "held": 0, "analysed": 0, **counts},
        "left_out": Counter(one.detail for one in without).items(),
    }
    (to / "departures.md").write_text(written("package/departures", known), encoding="utf-8")
    return True


def _write_left_out(runs: Runs, without: Sequence[LeftOut], study: PackagedStudy, to: Path) -> None:
    """Write what was left out, and the hashes of the record that is not here."""
    if not without:
        return
    out = [["place", "why", "detail"], *([one.place, one.why, one.detail] for one in without)]
    gone = {one.place for one in without}
    record: list[Sequence[object]] = [["file", "bytes", "sha256"]]
    for prefix, place in places_of(runs):
        for session in place.sessions():
            if study.texts and f"{prefix}{session}" not in gone:
                continue
            for path in sorted((place.folder / session).glob("*.json*")):
                name = f"{prefix}{session}/{path.name}"
                record.append([name, path.stat().st_size, sha256_of(path)])
    for name, rows in (("left_out.csv", out), ("record.csv", record)):
        with (to / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)


def _write_around(
    new: Path, publication: Publication, done: Sequence[Described], wishes: Wishes
) -> None:
    """Write what stands around the studies: README, licence, scripts, versions, metadata."""
    for name, folder in SCRIPTS.items():
        (new / folder).mkdir(exist_ok=True)
        shutil.copyfile(TEMPLATES / f"{name}.txt", new / folder / name)
    locks = Path(__file__).parents[2] / "requirements"
    environment = new / "environment"
    environment.mkdir()
    (environment / "requirements.txt").write_text(locked_versions(locks), encoding="utf-8")
    (new / ".psychds-ignore").write_text("\n".join(IGNORED) + "\n", encoding="utf-8")
    day = datetime.now(UTC).date().isoformat()
    (new / "CHANGES.md").write_text(f"# Changes\n\n- {day}: first package.\n", encoding="utf-8")
    names = ", ".join(one.name for one in publication.creators)
    licence = f"{publication.license}\n\n{publication.url}\n\nBy {names}.\n"
    (new / "LICENSE.txt").write_text(licence, encoding="utf-8")
    (new / "README.md").write_text(_readme(publication, done, wishes), encoding="utf-8")
    write_metadata(new, publication, done, wishes.service)


def _readme(publication: Publication, done: Sequence[Described], wishes: Wishes) -> str:
    studies = []
    for one in done:
        own = one.packaged
        counts = Counter(left.detail for left in one.left_out)
        whys = {left.why for left in one.left_out}
        known = {
            "runs": one.runs,
            "within": one.within.items(),
            "preregistered": one.preregistered,
            "left_out": counts.items(),
            "sessions_out": whys - {"texts", "instrument", "raters"},
            "instruments": "instrument" in whys,
        }
        studies.append(asdict(own) | known)
    known = {
        "publication": publication,
        "studies": studies,
        "version": version("delibsim"),
        "python": platform.python_version(),
        "deposit": SERVICES[wishes.service],
    }
    return written("package/readme", known)


def _write_sums(
    new: Path, publication: Publication, done: Sequence[Described], wishes: Wishes
) -> None:
    """Write the check sums of all files, for sha256sum and for `delibsim package --check`."""
    facts: dict[str, Any] = {
        "schema": SCHEMA,
        "layout": LAYOUT,
        "delibsim": version("delibsim"),
        "for": wishes.service,
        "publication": asdict(publication),
        "studies": [asdict(one.packaged) for one in done],
        "left_out": {one.packaged.key: len(one.left_out) for one in done},
    }
    write_manifest(new, facts)
    paths = {name: path for name, path in names_in(new) if name != MANIFEST}
    paths[MANIFEST] = new / MANIFEST  # at last: its own line alone is not of what it lists
    lines = [f"{sha256_of(path)}  {name}\n" for name, path in paths.items()]
    (new / SUMS).write_text("".join(lines), encoding="utf-8")
