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
from delibsim.store.runs import Runs
from delibsim.store.tables.codebook import Column
from delibsim.store.tables.export import Export
from delibsim.store.tables.sheets import Table, sha256_of

CROISSANT, CRATE, DATASHEET = "croissant.json", "ro-crate-metadata.json", "datasheet.md"
LOADERS = {"load.R": "load.R.txt", "load.py": "load.py.txt"}
KINDS = {"text": "sc:Text", "integer": "sc:Integer", "number": "sc:Float", "logical": "sc:Boolean"}
FORMATS = {
    ".csv": "text/csv", ".parquet": "application/vnd.apache.parquet", ".md": "text/markdown",
    ".json": "application/json", ".jsonl": "application/jsonl", ".R": "text/x-r",
    ".py": "text/x-python",
}  # fmt: skip
CONTEXT = {
    "@language": "en", "@vocab": "https://schema.org/", "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/", "dct": "http://purl.org/dc/terms/",
    "column": "cr:column", "conformsTo": "dct:conformsTo", "dataType": {"@id": "cr:dataType",
    "@type": "@vocab"}, "extract": "cr:extract", "field": "cr:field", "fileObject": "cr:fileObject",
    "recordSet": "cr:recordSet", "source": "cr:source", "references": "cr:references",
    "key": "cr:key", "citeAs": "cr:citeAs", "isLiveDataset": "cr:isLiveDataset",
}  # fmt: skip
UNSTATED = "Not stated. Whoever publishes these files states the licence here."
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
        text = (Path(__file__).parents[2] / "data" / "bench" / source).read_text(encoding="utf-8")
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


def _croissant(
    folder: Path, study: str, manifest: Manifest | None, tables: Sequence[Table]
) -> dict[str, Any]:
    """The description of the tables in Croissant 1.0 (https://docs.mlcommons.org/croissant)."""
    files = []
    for path in sorted(folder.glob("*.csv")):
        one = {"@type": "cr:FileObject", "@id": path.name, "name": path.name}
        one |= {"contentUrl": path.name, "encodingFormat": "text/csv", "sha256": sha256_of(path)}
        files.append(one)
    sets = []
    for table in tables:
        fields = [_field(table.name, column) for column in table.columns]
        one = {"@type": "cr:RecordSet", "@id": table.name, "name": table.name}
        sets.append(one | {"description": table.row, "field": fields})
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": study,
        "description": f"The study {study} of deliberations among language-model agents.",
        "dateCreated": _begun(manifest) or None,
        "license": UNSTATED,
        "version": "1.0.0",
        "isLiveDataset": False,
        "distribution": files,
        "recordSet": sets,
    }


def _field(table: str, column: Column) -> dict[str, Any]:
    unit = f" ({column.unit})" if column.unit else ""
    field: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"{table}/{column.name}",
        "name": column.name,
        "description": f"{column.meaning}{unit}",
        "dataType": KINDS[column.kind],
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
    files: list[dict[str, Any]] = []
    for path in sorted(folder.iterdir()):
        one = {"@id": path.name, "@type": "File", "name": path.name}
        size = {"contentSize": str(path.stat().st_size), "sha256": sha256_of(path)}
        files.append(one | {"encodingFormat": FORMATS[path.suffix]} | size)
    about = {"@id": "./"}
    software = f"#delibsim-{version('delibsim')}"
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": study,
        "description": f"The study {study} of deliberations among language-model agents.",
        "datePublished": _begun(manifest) or None,
        "license": UNSTATED,
        "hasPart": [{"@id": file["@id"]} for file in files],
    }
    graph = [
        {
            "@id": CRATE,
            "@type": "CreativeWork",
            "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
            "about": about,
        },
        root,
        *files,
        {
            "@id": software,
            "@type": "SoftwareApplication",
            "name": "delibsim",
            "version": version("delibsim"),
        },
        {
            "@id": "#export",
            "@type": "CreateAction",
            "instrument": {"@id": software},
            "result": about,
        },
    ]
    return {"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": graph}


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
