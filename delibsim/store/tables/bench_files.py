"""What lies beside the seven tables: codebook, loaders, datasheet, metadata, manifest."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from delibsim.domain.text import counted
from delibsim.store.codec import SCHEMA
from delibsim.store.files import json_text
from delibsim.store.manifest import Manifest
from delibsim.store.reading import read_yaml
from delibsim.store.runs import Runs
from delibsim.store.tables.sheets import Column, Table, sha256_of, write_codebook, write_manifest
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
    write_codebook(folder, {table.name: table.columns for table in tables})
    for name, source in LOADERS.items():
        text = (DATA / source).read_text(encoding="utf-8")
        (folder / name).write_text(text, encoding="utf-8")
    manifest = runs.manifest()
    sheet = _datasheet(runs.study, manifest, tables, written)
    (folder / DATASHEET).write_text(sheet, encoding="utf-8")
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
    }
    write_manifest(folder, facts)


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
) -> str:
    """A datasheet (Gebru et al. 2021, doi:10.1145/3458723) of what the record tells."""
    from jinja2 import Template

    parts = {}
    for kind in ("topics", "surveys", "treatments", "models", "wordings", "personas"):
        if names := manifest.components.get(kind, {}) if manifest else {}:
            parts[kind] = sorted(names)
    template = Template(
        (DATA / "datasheet.md.txt").read_text(encoding="utf-8"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return template.render(
        study=study,
        tables=tables,
        written=written,
        counted=counted,
        manifest=manifest,
        begun=_begun(manifest),
        versions=manifest.begun.get("versions", {}) if manifest else {},
        parts=parts,
        version=version("delibsim"),
        licence=UNSTATED,
    )
