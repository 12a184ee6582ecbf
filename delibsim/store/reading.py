"""Reading files: regular ones only, of a limited size; texts in UTF-8; YAML and JSON with a limited
number of values and depth.
"""

import errno
import functools
import io
import json
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import yaml
from pydantic import TypeAdapter
from pydantic_core import from_json
from yaml.constructor import ConstructorError
from yaml.reader import ReaderError

from delibsim.domain.errors import WrongInput

JSON_BYTES = 2**28
"""A larger file of JSON is not read; the study.json of 100,000 sessions has some 10 MB."""
SMALL = 2**16
"""Most files have fewer bytes."""
YAML_BYTES = 2**22
"""A larger file of YAML is not read."""
BEGINNING = 10_000
"""Of so many characters the first line is looked at for NUL, which a cell may hold."""
VALUES = 50_000
"""A file of YAML may hold so many values, those that its aliases repeat counted each time."""
LEVELS = 64
"""Values may be nested so deep."""

FOREIGN = {
    b"\xff\xfe": "in UTF-16",
    b"\xfe\xff": "in UTF-16",
    b"PK\x03\x04": "a workbook or another archive",
    b"\xd0\xcf\x11\xe0": "a workbook of Excel",
    b"\x1f\x8b": "compressed",
    b"PAR1": "a Parquet file",
}
"""How files begin that are often taken for texts, and what they are."""

_Fast: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml, where PyYAML has it


class _Loader(_Fast):
    """Plain values by the core schema of YAML 1.2, in which `no` and `on` are texts; a key that
    occurs twice is an error.
    """

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """The values of a mapping by key."""
        seen = set()
        for key, _ in node.value:
            name = (key.tag, str(key.value))
            if name in seen:
                self.refuse(f'found duplicate key "{key.value}"', key.start_mark)
            seen.add(name)
        return super().construct_mapping(node, deep)

    def refuse(self, problem: str, mark: yaml.Mark) -> None:
        """Stop at a fault."""
        raise ConstructorError(None, None, problem, mark)


class _Lenient(_Loader):
    """Goes on after a key that occurs twice, and takes note of it."""

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self.faults: list[tuple[int, str]] = []

    def refuse(self, problem: str, mark: yaml.Mark) -> None:
        """Take note of a fault."""
        self.faults.append((mark.line + 1, problem))


_CORE_SCHEMA = (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    (
        "float",
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
    ("timestamp", r"[0-9]{4}-[0-9]{2}-[0-9]{2}", list("0123456789")),
    ("merge", r"<<", ["<"]),
)
"""Tag, pattern and first characters of what is no text where it stands without quotes: the core
schema (https://yaml.org/spec/1.2.2/#103-core-schema), dates and merge keys.
"""
for _name, _pattern, _first in _CORE_SCHEMA:
    _whole = re.compile(f"^(?:{_pattern})$")
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_name}", _whole, _first)


def _int(_: Any, node: yaml.ScalarNode) -> int:
    """A whole number; PyYAML itself would take 012 for an octal one."""
    return int(node.value, 16 if node.value.startswith("0x") else 10)


_Loader.add_constructor("tag:yaml.org,2002:int", _int)


adapter = functools.cache(TypeAdapter)
"""What checks and writes values of a type; built when it is first asked for, which takes 10 to 60
ms.
"""


def opened(path: Path) -> io.BufferedReader:
    """A regular file, opened for reading; OSError for a device, a pipe, a socket and a folder, of
    which the first two might never end, or never begin.
    """
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # waits for no pipe
    kind = os.fstat(handle).st_mode
    if stat.S_ISREG(kind):
        return os.fdopen(handle, "rb")
    os.close(handle)
    what = "a folder" if stat.S_ISDIR(kind) else "a device or a pipe"
    raise OSError(errno.EINVAL, f"it is {what}, not a file", str(path))


def file_bytes(path: Path, most: int = JSON_BYTES) -> bytes:
    """The content of a regular file; ValueError where it is larger than `most` bytes."""
    content = None
    with opened(path) as file:
        if os.fstat(file.fileno()).st_size <= most:
            content = file.read(SMALL)  # room is made for as much as is asked for
            if len(content) == SMALL:
                content += file.read()
    if content is None or len(content) > most:
        raise ValueError(f"larger than {most:,} bytes")
    return content


def file_text(path: Path, most: int = JSON_BYTES) -> str:
    """The text of a file in UTF-8, with or without a mark; WrongInput, which names the file and
    says how to mend it, where it cannot be read, is too large, or is no text.
    """
    try:
        content = file_bytes(path, most)
    except (OSError, ValueError) as error:
        problem = error.strerror if isinstance(error, OSError) else f"it is {error}"
        raise WrongInput(f"{path} cannot be read: {problem}") from None
    refuse_foreign(path, content)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise WrongInput(f"{path}: line {line} is not UTF-8; save the file as UTF-8") from None
    if "\0" in text[:BEGINNING].split("\n")[0]:
        raise WrongInput(f"{path}: line 1 holds NUL characters, as UTF-16 has; save it as UTF-8")
    return text


def refuse_foreign(path: Path, content: bytes) -> None:
    """WrongInput for a file that begins as one that is often taken for a text."""
    for begin, kind in FOREIGN.items():
        if content.startswith(begin):
            raise WrongInput(f"{path} is {kind}, no text; save it as UTF-8 (a table: CSV UTF-8)")


def not_in_utf8(path: Path) -> int:
    """The first line of a file that is not UTF-8; 0 where all are."""
    with opened(path) as file:
        for n, line in enumerate(file, 1):
            try:
                line.decode()
            except UnicodeDecodeError:
                return n
    return 0


def json_value(text: str | bytes) -> Any:
    """The plain value of a JSON text; ValueError where it is no JSON or nested too deep."""
    try:
        value = from_json(text)  # twice as fast as json, which reads more: half a character, UTF-16
    except ValueError:
        value = _by_json(text)
    if _opened(text) > LEVELS:  # with fewer it cannot be too deep
        refuse_depth(value)
    return value


def _opened(text: str | bytes) -> int:
    """How many lists and objects a JSON text has at most: those of its texts count too."""
    if isinstance(text, bytes):
        return text.count(b"[") + text.count(b"{")
    return text.count("[") + text.count("{")


def _by_json(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(f"nested more than {LEVELS} levels deep") from None


def read_json(path: Path) -> Any:
    """The plain value of a JSON file; WrongInput, naming the file, where it cannot be read."""
    try:
        return json_value(file_bytes(path))
    except OSError as error:
        raise WrongInput(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        damaged = "the file is damaged; restore it from a copy"
        raise WrongInput(f"{path} cannot be read: {error}; {damaged}") from None


def refuse_depth(value: Any, levels: int = LEVELS) -> None:
    """ValueError for a plain value that is nested deeper than this."""
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(levels):
        inner = []
        for outer in level:
            values = outer.values() if isinstance(outer, dict) else outer
            inner += [one for one in values if isinstance(one, (dict, list))]
        if not inner:
            return
        level = inner
    raise ValueError(f"nested more than {levels} levels deep")


def read_yaml(path: Path) -> Any:
    """The plain value of a YAML 1.2 file without aliases; WrongInput, naming file and line, for
    anything else.
    """
    return _loaded(path, yaml.load)


def read_yaml_whole(path: Path) -> tuple[Any, list[tuple[int, str]]]:
    """As `read_yaml`, with every key that occurs twice as (line, problem); its last value counts.

    So whatever else is wrong with the file can be told together with them.
    """
    faults: list[tuple[int, str]] = []

    def load(text: str, **_: Any) -> Any:
        loader = _Lenient(text)
        try:
            return loader.get_single_data()
        finally:
            faults.extend(loader.faults)
            loader.dispose()

    return _loaded(path, load), faults


def yaml_nodes(path: Path) -> yaml.Node | None:
    """The nodes of a YAML file that `read_yaml` can read; each knows its line."""
    return _loaded(path, yaml.compose)


def check_yaml(path: Path) -> None:
    """Refuse a YAML file that another reader must not open: WrongInput, naming the file, where it
    is too large, nested too deep, or holds too many values once its aliases are replaced.

    A file that is not YAML passes: its reader says what is wrong with it.
    """
    try:
        _refuse_excess(path, file_bytes(path, YAML_BYTES).decode("utf-8-sig"))
    except WrongInput:
        raise
    except (FileNotFoundError, UnicodeDecodeError, yaml.YAMLError):
        return
    except OSError as error:
        raise WrongInput(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise WrongInput(f"{path}: {error}") from None


def _loaded(path: Path, load: Callable[..., Any]) -> Any:
    text = file_text(path, YAML_BYTES)
    try:
        _refuse_excess(path, text, aliases=False)
        return load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = (error.problem or error.context or "broken YAML").splitlines()[0]
        raise WrongInput(f"{path}, line {mark.line + 1 if mark else 1}: {problem}") from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise WrongInput(f"{path}, line {line}: {str(error).splitlines()[0]}") from None
    except yaml.YAMLError as error:
        raise WrongInput(f"{path}: {str(error).splitlines()[0]}") from None
    except WrongInput:
        raise
    except ValueError as error:  # a date that is none, a number of thousands of digits
        raise WrongInput(f"{path}: {error}") from None


def _refuse_excess(path: Path, text: str, aliases: bool = True) -> None:
    """Refuse too many values, aliases replaced by what they stand for, and too deep nesting.

    Unless `aliases` may stand in it, refuse these too, and the old version of YAML, in which `no`
    and `on` are no texts.

    The text is read event by event up to the first excess, so it is never built up in memory.
    """
    values = 0
    opened: list[tuple[str | None, int]] = []  # the anchor of each open list, and values before it
    sizes: dict[str, int] = {}  # how many values an anchor stands for
    for event in yaml.parse(text, Loader=_Fast):
        where = f"{path}, line {event.start_mark.line + 1}"
        if isinstance(event, yaml.DocumentStartEvent) and event.version == (1, 1) and not aliases:
            raise WrongInput(f"{where}: YAML 1.1 is not read here; leave the line %YAML out")
        if isinstance(event, yaml.AliasEvent) and not aliases:
            raise WrongInput(
                f"{where}: aliases (*{event.anchor}) are not allowed; write the value out"
            )
        if isinstance(event, yaml.AliasEvent):
            values += sizes.get(event.anchor, VALUES)  # within itself it stands for endless values
        elif isinstance(event, yaml.ScalarEvent):
            values += 1
            if event.anchor:
                sizes[event.anchor] = 1
        elif isinstance(event, yaml.CollectionStartEvent):
            opened.append((event.anchor, values))
            values += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = opened.pop()
            if anchor:
                sizes[anchor] = values - before
        if values > VALUES:
            raise WrongInput(f"{where}: more than {VALUES:,} values")
        if len(opened) > LEVELS:
            raise WrongInput(f"{where}: nested more than {LEVELS} levels deep")
