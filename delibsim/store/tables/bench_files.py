"""What lies beside the seven tables: codebook, loaders, datasheet, metadata, manifest."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from delibsim.domain.text import counted
from delibsim.store.codec import SCHEMA
from delibsim.store.files import json_text
from delibsim.store.manifest import Manifest
from delibsim.store.own_folder import MANIFEST
from delibsim.store.reading import read_yaml
from delibsim.store.runs import Runs
from delibsim.store.tables.codebook import Column
from delibsim.store.tables.sheets import Table, sha256_of
from delibsim.store.tables.study import Export

CROISSANT, CRATE, DATASHEET = "croissant.json", "ro-crate-metadata.json", "datasheet.md"
LOADERS = {"load.R": "load.R.txt", "load.py": "load.py.txt"}
UNSTATED = "Not stated. Whoever publishes these files states the licence here."
DATA = Path(__file__).parents[2] / "data" / "bench"
REFERENCES = {"session": "runs", "configuration": "configurations"}
"""The tables in which a column of this name is the key."""


def write_metadata(
    folder: Path,
    runs: Runs,
    tables: Sequence[Table],
    written: Export,
    layout: str,
    spreadsheet_safe: bool,
) -> None:
    """Write everything beside the tables that lie in `folder`, the manifest last."""
    _write_codebook(folder / "codebook.csv", tables)
    for name, source in LOADERS.items():
        text = (DATA / source).read_text(encoding="utf-8")
        (folder / name).write_text(text, encoding="utf-8")
    manifest = runs.manifest()
    sheet = "\n".join(_datasheet(runs.study, manifest, tables, written))
    (folder / DATASHEET).write_text(f"{sheet}\n", encoding="utf-8")
    croissant = _croissant(folder, runs.study, manifest, tables)
    (folder / CROISSANT).write_text(f"{json_text(croissant, indent=1)}\n", encoding="utf-8")
    crate = _crate(folder, runs.study, manifest)
    (folder / CRATE).write_text(f"{json_text(crate, indent=1)}\n", encoding="utf-8")
    facts = {
        "schema": SCHEMA,
        "layout": layout,
        "study": runs.study,
        "delibsim": version("delibsim"),
        "spreadsheet_safe": spreadsheet_safe,
        "rows": dict(written.rows),
        "sessions": dict(written.sessions),
        "left_out": list(written.faults),
        "escaped": dict(written.escaped),
        "files": {path.name: _size_and_hash(path) for path in sorted(folder.iterdir())},
    }
    (folder / MANIFEST).write_text(f"{json_text(facts, indent=1)}\n", encoding="utf-8")


def _size_and_hash(path: Path) -> dict[str, Any]:
    return {"bytes": path.stat().st_size, "sha256": sha256_of(path)}


def _write_codebook(path: Path, tables: Sequence[Table]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["table", *Column.__dataclass_fields__])
        for table in tables:
            for column in table.columns:
                writer.writerow([table.name, *asdict(column).values()])


def _begun(manifest: Manifest | None) -> str:
    return str(manifest.begun.get("at", "")) if manifest else ""


def _described(study: str) -> dict[str, Any]:
    """What both descriptions say of a study."""
    said = f"The study {study} of deliberations among language-model agents."
    return {"@type": "Dataset", "name": study, "description": said, "license": UNSTATED}


def _croissant(
    folder: Path, study: str, manifest: Manifest | None, tables: Sequence[Table]
) -> dict[str, Any]:
    """The description of the tables in Croissant 1.0 (https://docs.mlcommons.org/croissant)."""
    formats = read_yaml(DATA / "metadata.yaml")
    files = []
    for path in sorted(folder.glob("*.csv")):
        one = {"@type": "cr:FileObject", "@id": path.name, "name": path.name}
        one |= {"contentUrl": path.name, "encodingFormat": "text/csv", "sha256": sha256_of(path)}
        files.append(one)
    sets = []
    for table in tables:
        fields = [_field(table.name, column, formats["kinds"]) for column in table.columns]
        one = {"@type": "cr:RecordSet", "@id": table.name, "name": table.name}
        sets.append(one | {"description": table.row, "field": fields})
    own = {"dateCreated": _begun(manifest) or None, "distribution": files, "recordSet": sets}
    return formats["croissant"] | _described(study) | {"@type": "sc:Dataset"} | own


def _field(table: str, column: Column, kinds: Mapping[str, str]) -> dict[str, Any]:
    unit = f" ({column.unit})" if column.unit else ""
    field: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"{table}/{column.name}",
        "name": column.name,
        "description": f"{column.meaning}{unit}",
        "dataType": kinds[column.kind],
        "source": {
            "fileObject": {"@id": f"{table}.csv"},
            "extract": {"column": column.name},
        },
    }
    home = REFERENCES.get(column.name, table)
    if home != table:
        field["references"] = {"field": {"@id": f"{home}/{column.name}"}}
    return field


def _crate(folder: Path, study: str, manifest: Manifest | None) -> dict[str, Any]:
    """The description of the folder in RO-Crate 1.1 (https://w3id.org/ro/crate/1.1)."""
    known = read_yaml(DATA / "metadata.yaml")
    files: list[dict[str, Any]] = []
    for path in sorted(folder.iterdir()):
        one = {"@id": path.name, "@type": "File", "name": path.name}
        size = {"contentSize": str(path.stat().st_size), "sha256": sha256_of(path)}
        files.append(one | {"encodingFormat": known["media_types"][path.suffix]} | size)
    parts = [{"@id": file["@id"]} for file in files]
    published = {"datePublished": _begun(manifest) or None, "hasPart": parts}
    root = {"@id": "./", **_described(study), **published}
    software = {"@id": f"#delibsim-{version('delibsim')}"}
    names = {"@type": "SoftwareApplication", "name": "delibsim", "version": version("delibsim")}
    export = {"instrument": software, "result": {"@id": "./"}}
    own = [known["crate"], root, *files, software | names, known["export"] | export]
    return {"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": own}


def _datasheet(
    study: str, manifest: Manifest | None, tables: Sequence[Table], written: Export
) -> Iterator[str]:
    """A datasheet (Gebru et al. 2021, doi:10.1145/3458723) of what the record tells."""
    yield f"# Datasheet of {study}\n"
    yield "Made from the record. What no record can tell is left to whoever publishes.\n"
    yield "## Motivation\n\nNot in the record: say why the study was held, by whom, and who paid.\n"
    yield "## Composition\n"
    for table in tables:
        yield f"- `{table.name}`: {counted(written.rows[table.name], 'row')}, {table.row}"
    told = [f"{n} {status}" for status, n in written.sessions.items()]
    yield f"\nSessions: {', '.join(told)}. Participants are language models or simulated citizens,"
    yield "unless a model named below stands for a person at the terminal.\n"
    yield "## Collection\n"
    if manifest is None:
        yield "The study has no settings of its own on disk (study.json).\n"
    else:
        yield from _collection(manifest)
    yield "\n## Preprocessing\n"
    yield (
        "Answers are as given; measures are computed by delibsim"
        f" {version('delibsim')}. Missing values are empty cells, with the reason beside them.\n"
    )
    yield "## What is missing or left out\n"
    yield "\n".join(f"- {fault}" for fault in written.faults) or "Nothing was left out."
    yield "\n## Uses, distribution, maintenance\n"
    yield f"Not in the record. Licence: {UNSTATED}"


def _collection(manifest: Manifest) -> Iterator[str]:
    if begun := _begun(manifest):
        yield f"Begun {begun}; {counted(len(manifest.amendments), 'amendment')} since."
    versions: Mapping[str, Any] = manifest.begun.get("versions", {})
    if versions:
        told = [f"{name} {number}" for name, number in versions.items()]
        yield f"Held with {', '.join(told)}.\n"
    for kind in ("topics", "surveys", "treatments", "models", "wordings", "personas"):
        names = manifest.components.get(kind, {})
        if names:
            yield f"- {kind}: {', '.join(sorted(names))}"
