"""What a package says of itself for programs: Psych-DS, RO-Crate, Zenodo, Dataverse, citation; and
the versions that made it.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any

import yaml

from delibsim.analysis.study.methods import StudyRecord
from delibsim.conduct.package_check import PackagedStudy
from delibsim.conduct.package_record import LeftOut, Trace, places_of
from delibsim.domain.data import read_data
from delibsim.planning.preregistered import written
from delibsim.store.files import each_line, json_text
from delibsim.store.own_folder import names_in
from delibsim.store.publication import Publication
from delibsim.store.runs import Runs
from delibsim.store.session_files import PLAN, RECORD, RUN
from delibsim.store.tables.sheets import sha256_of

CRATE = "ro-crate-metadata.json"
SOFTWARE = {"@id": "#delibsim"}
CONTEXT = "https://w3id.org/ro/crate/1.1/context"
KINDS: Mapping[str, str] = read_data("bench/metadata.yaml")["media_types"]
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
LOCKED = re.compile(
    r"^([A-Za-z0-9._-]+)==(\S+) ?\\?\n((?:    --hash=\S+(?: \\)?\n)*)", re.MULTILINE
)
Plain = dict[str, Any]


@dataclass(frozen=True)
class Described:
    """A study in a package: when it began, the entities of its sessions in a crate, its columns by
    name, each with its meaning and unit; what was left out of it and redacted, how many `runs` were
    planned, held, analysed, how many are held in each folder `within`, and which differ from their
    record all the same.
    """

    packaged: PackagedStudy
    began: str
    entities: Sequence[Plain]
    columns: Mapping[str, tuple[str, str]]
    left_out: Sequence[LeftOut]
    runs: Mapping[str, int]
    within: Mapping[str, int]
    preregistered: bool
    redacted: Sequence[Trace]
    differing: Sequence[str]


def about(studies: Sequence[Described]) -> str:
    """What the package is, in a sentence."""
    names = ", ".join(one.packaged.name for one in studies)
    whole = all(one.packaged.texts for one in studies)
    again = " Every table can be made again from the record." if whole else ""
    return (
        f"{'Record, tables' if whole else 'Tables'}, report and scripts of {names}: group"
        f" deliberation, held or measured with delibsim {version('delibsim')}.{again}"
    )


def write_metadata(
    folder: Path, publication: Publication, studies: Sequence[Described], service: str
) -> None:
    """Write what describes the files of a package, which lie in `folder` already."""
    columns: dict[str, tuple[str, str]] = {}
    for study in studies:
        columns = {**study.columns, **columns}
    known = {"publication": publication, "columns": columns, "service": service}
    known |= {"version": version("delibsim"), "said": about(studies)}
    day = max((one.began for one in studies), default="")[:10]
    told = yaml.safe_load(written("package/metadata.yaml.j2", known | {"day": day}))
    crate = told.pop(CRATE)
    for name, plain in told.items():
        if name.endswith(".json"):
            text = f"{json_text(plain, indent=1)}\n"
        else:
            text = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True)
        (folder / name).write_text(text, encoding="utf-8")
    files = list(_files(folder))
    entities = [entity for study in studies for entity in study.entities]
    actions = [{"@id": one["@id"]} for one in entities if one["@type"] == "CreateAction"]
    crate[1] |= {"hasPart": [{"@id": one["@id"]} for one in files], "mentions": actions}
    graph = {"@context": CONTEXT, "@graph": [*crate, *files, *entities]}
    (folder / CRATE).write_text(f"{json_text(graph, indent=1)}\n", encoding="utf-8")


def _files(folder: Path) -> Iterator[Plain]:
    """The files of a package as entities of a crate."""
    for name, path in names_in(folder):
        one = {"@id": name, "@type": "File", "name": path.name}
        one |= {"contentSize": str(path.stat().st_size), "sha256": sha256_of(path)}
        kind = KINDS.get(path.suffix)
        yield one | ({"encodingFormat": kind} if kind else {})


def actions_of(runs: Runs, record: StudyRecord | None, study: PackagedStudy) -> list[Plain]:
    """The entities of a run crate on a study: its models, their parameters, the prompts of its
    cells, and an action a session, forks and probes too.
    """
    entities, models = [], {}
    for model in record.models if record is not None else ():
        at = f"#{study.key}-model-{model.name}"
        values = []
        for name, value in (model.sent or model.settings).items():
            parameter = {"@id": f"{at}-{name}", "@type": "PropertyValue", "name": name}
            plain = value if isinstance(value, int | float) else str(value)
            entities.append(parameter | {"value": plain})
            values.append({"@id": f"{at}-{name}"})
        models[model.name] = [{"@id": at}, *values]
        own = {"@id": at, "@type": "SoftwareApplication", "name": model.name}
        if model.returned:
            own["version"] = ", ".join(model.returned)
        entities.append(own)
    for prefix, place in places_of(runs):
        manifest = place.manifest()
        prompts = manifest.prompts if manifest else {}
        for cell, sha256 in prompts.items():
            one = {"@id": f"#{study.key}-prompts-{prefix}{cell}", "@type": "PropertyValue"}
            entities.append(one | {"name": f"SHA-256 of the prompts of {cell}", "value": sha256})
        for name in filter(place.held, place.sessions()):
            cell = next((one for one in prompts if name.startswith(f"{one}.")), "")
            asked = [{"@id": f"#{study.key}-prompts-{prefix}{cell}"}] if cell else []
            entities.append(_action(place, name, prefix, models, asked, study))
    return entities


def _action(
    runs: Runs,
    name: str,
    prefix: str,
    models: Mapping[str, Sequence[Plain]],
    asked: Sequence[Plain],
    study: PackagedStudy,
) -> Plain:
    """The action of a session: with which models and parameters, prompts `asked`, files, times."""
    session = runs.unchecked().planned(name)
    lines = [line for _, line in each_line(runs.path(name) / RECORD) if line]
    times = [str(line["started"]) for line in lines if line.get("started")]
    used = {one.model: models[one.model] for one in session.participants if one.model in models}
    action: Plain = {
        "@id": f"#{study.key}-session-{prefix}{name}",
        "@type": "CreateAction",
        "name": f"Session {prefix}{name} of {study.name}",
        "instrument": [SOFTWARE, *(own[0] for own in used.values())],
        "object": [*asked, *(value for own in used.values() for value in own[1:])],
    }
    if study.texts:
        base = f"data/record/{study.record}/{prefix}{name}"
        action["object"].append({"@id": f"{base}/{PLAN}"})
        there = [one for one in (RUN, RECORD) if (runs.path(name) / one).is_file()]
        action["result"] = [{"@id": f"{base}/{one}"} for one in there]
    else:
        action["description"] = f"run.json has the SHA-256 {sha256_of(runs.path(name) / RUN)}."
    return action | ({"startTime": min(times), "endTime": max(times)} if times else {})


def locked_versions(locks: Path) -> str:
    """The versions of all that is needed here, as requirements for pip, with the hashes that
    the files in `locks` know of them where they know all.
    """
    hashes = {}
    for path in sorted(locks.glob("*.txt")) if locks.is_dir() else ():
        for name, number, lines in LOCKED.findall(path.read_text(encoding="utf-8")):
            hashes[_normal(name), number] = lines.rstrip("\n")
    needed = sorted(_needed("delibsim").items())
    known = all(one in hashes for one in needed)
    ends = {one: f" \\\n{hashes[one]}" if known else "" for one in needed}
    return "".join(f"{name}=={number}{ends[name, number]}\n" for name, number in needed)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _needed(root: str) -> dict[str, str]:
    """The version of every distribution that one needs, directly or not; what is not installed (of
    extras, of other systems) is none.
    """
    found: dict[str, str] = {}
    waiting = [root]
    while waiting:
        for line in distribution(waiting.pop()).requires or ():
            match = NAME.match(line)
            if match is None or "extra ==" in line or _normal(match[0]) in found:
                continue
            with suppress(PackageNotFoundError):
                found[_normal(match[0])] = version(match[0])
                waiting.append(match[0])
    return found


def columns_of(codebook: Path) -> dict[str, tuple[str, str]]:
    """The columns in a codebook, each with its meaning and its unit."""
    found: dict[str, tuple[str, str]] = {}
    with codebook.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["name"], (row["meaning"], row["unit"]))
    return found
