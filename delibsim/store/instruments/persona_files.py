"""Sets of personas as files: `conf/persona/NAME.yaml` beside the user, built from people's answers
or brought in from YAML or CSV.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BeforeValidator

from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.personas import Personas, Seating
from delibsim.domain.secret import refuse_key
from delibsim.domain.study import is_file_name
from delibsim.store.files import write_atomically
from delibsim.store.instruments.faults import Faults, Part, checked_fields, fields_of
from delibsim.store.instruments.library import package_data
from delibsim.store.reading import read_yaml

FOLDER = Path("conf") / "persona"


def _persona(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("expected a list of texts")
    if not value.strip():
        raise ValueError("a persona is a text that is not empty")
    return value


def _size(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("sizes are a list of whole numbers from 1")
    return value


class _PersonaFile(Part):
    name: str
    personas: list[Annotated[str, BeforeValidator(_persona)]]
    seating: Seating = "in_turn"
    sizes: list[Annotated[int, BeforeValidator(_size)]] | None = None
    topic: str | None = None
    people: str | None = None
    built: Any = None


class _Dumper(yaml.SafeDumper):
    """Quotes every text that begins like a number: readers of YAML differ in what they take for one
    (1e5).
    """


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "'" if text[:1] in "+-.0123456789" else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def persona_yaml(personas: Personas, built: Mapping[str, Any] | None = None) -> str:
    """A set of personas as the text of its file; `built` says where it comes from."""
    plain: dict[str, Any] = {
        "name": personas.name,
        "seating": personas.seating,
        "personas": [_escaped(text) for text in personas.texts],
    }
    plain |= {"sizes": list(personas.sizes)} if personas.sizes else {}
    plain |= {"topic": built["topic"]} if built and "topic" in built else {}
    plain |= {"built": _escaped_all(dict(built))} if built else {}
    return yaml.dump(
        plain,
        Dumper=_Dumper,
        allow_unicode=True,
        sort_keys=False,
        width=140,
        default_flow_style=None,
    )


def keep_personas(
    personas: Personas, home: Path, built: Mapping[str, Any] | None = None
) -> tuple[Path, bool]:
    """Write a set of personas beside the user; its file, and whether it is new or another than
    before.

    WrongInput where another set has that name, beside the user or in the package.
    """
    if not is_file_name(personas.name) or "." in personas.name:
        raise WrongInput(
            f"'{personas.name}' cannot name personas: use lower-case letters, digits, '-' and '_'"
        )
    refuse_key("personas", personas.name)
    path, text = home / FOLDER / f"{personas.name}.yaml", persona_yaml(personas, built)
    ours = package_data("conf")
    if (ours / "persona" / path.name).is_file() and ours.resolve() != (home / "conf").resolve():
        raise WrongInput(f"personas '{personas.name}' come with delibsim; take another name")
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return path, False
    if path.is_file():
        raise WrongInput(
            f"{path} holds other personas, which studies may have used; move it away, or take"
            " another name with name=NAME"
        )
    write_atomically(path, text)
    return path, True


def read_persona_file(name: str, home: Path) -> dict[str, Any]:
    """The plain values of a set of personas, beside the user first, then in the package; WrongInput
    where there is none or it is broken.
    """
    files: dict[str, Path] = {}
    for folder in (package_data("conf") / "persona", home / FOLDER):
        files |= {path.stem: path for path in folder.glob("*.yaml")}
    if name not in files:
        raise unknown("persona", name, files)
    path = files[name]
    plain = read_yaml(path)
    if not isinstance(plain, dict):
        raise WrongInput(f"{path}: expected fields name and personas")
    check_persona_file(path)
    return plain | {"personas": [str(text).replace("\\${", "${") for text in plain["personas"]]}


def read_own_personas(path: Path, name: str) -> Personas:
    """Personas of the user's own: a CSV file with a column persona (and sizes in a column size), or
    YAML, a list or the field personas.
    """
    if path.suffix.lower() in (".yaml", ".yml"):
        return _of_yaml(path, name)
    from delibsim.store.instruments.answers import read_rows, whole_number  # numpy is slow

    faults: list[str] = []
    rows = list(read_rows(path, ["persona"], faults))
    sizes = []
    for line, cells in rows:
        if not cells["persona"]:
            faults.append(f"{path}, line {line}, column persona: the cell is empty")
        if "size" not in cells:
            continue
        try:
            sizes.append(whole_number(cells["size"], f"{path}, line {line}, column size"))
        except WrongInput as error:
            faults.append(str(error))
            continue
        if sizes[-1] < 1:
            faults.append(f"{path}, line {line}, column size: sizes are whole numbers from 1")
    if faults:
        raise WrongInput("\n".join(faults))
    return _set(path, name, [cells["persona"] for _, cells in rows], sizes)


def _of_yaml(path: Path, name: str) -> Personas:
    plain = read_yaml(path)
    fields = plain if isinstance(plain, dict) else {"personas": plain}
    texts, sizes = fields.get("personas"), fields.get("sizes") or []
    if not isinstance(texts, list) or not texts:
        raise WrongInput(f"{path}: expected a list of texts, or a field personas that is one")
    _check({"name": name, "personas": texts, "sizes": sizes}, Faults(path))
    return _set(path, name, texts, sizes)


def check_persona_file(path: Path, content: Mapping[str, Any] | None = None) -> None:
    """WrongInput with every fault of a file of conf/persona.

    `content` is what the file holds, where it has been read already.
    """
    if content is None:
        _check(*fields_of(path, "personas: []"))
    else:
        _check(content, Faults(path))


def _check(plain: Mapping[str, Any], faults: Faults) -> None:
    """WrongInput with every fault of these fields."""
    checked_fields(plain, _PersonaFile, faults)
    texts, sizes = plain.get("personas"), plain.get("sizes")
    if isinstance(texts, list) and isinstance(sizes, list) and len(sizes) not in (0, len(texts)):
        faults.add(("sizes",), f"{len(sizes)} sizes for {len(texts)} personas")
    if plain.get("seating") == "proportional" and not sizes:
        faults.add(("seating",), "proportional needs sizes, one for each persona")
    faults.refuse()


def _set(path: Path, name: str, texts: Sequence[str], sizes: Sequence[int]) -> Personas:
    try:
        return Personas(name, tuple(text.strip() for text in texts), "balanced", tuple(sizes))
    except ValueError as error:
        raise WrongInput(f"{path}: {error}") from None


def _escaped(text: str) -> str:
    """Text in which the reader of the configuration finds no reference to another setting."""
    return text.replace("${", "\\${")


def _escaped_all(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _escaped_all(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_escaped_all(inner) for inner in value]
    return _escaped(value) if isinstance(value, str) else value
