"""Topics, motions, surveys, schemes, dimensions and personas from YAML files: beside the user
first, then from the installed package.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BeforeValidator, Field, StringConstraints

from delibsim.domain.errors import NotImported, WrongInput, refused, unknown
from delibsim.domain.participant import Personas, Seating
from delibsim.domain.phases import Briefing
from delibsim.domain.scheme import QualityDimension, Scheme
from delibsim.domain.secret import refuse_key
from delibsim.domain.study import is_file_name
from delibsim.domain.survey import LABEL, Item, Motion, Rank1, Survey, Topic, fault_of_distribution
from delibsim.store.files import write_atomically
from delibsim.store.instruments import scheme_files
from delibsim.store.instruments.faults import Faults, Part, checked_fields, fields_of, read_checked
from delibsim.store.reading import file_text, read_yaml

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Spaced = Annotated[str, StringConstraints(strip_whitespace=True)]
Label = Annotated[str, StringConstraints(pattern=f"^{LABEL.pattern}$")]

PUBLISHED = "deliberr."
"""What the ids of imported instruments of the R package deliberr begin with."""
IMPORT = "import it with: delibsim import PATH --as deliberr (survey=null takes the short forms)"


class _TopicFile(Part):
    noun = Topic
    id: Text
    question: Text
    background: Spaced = ""
    survey: str = ""


class _MotionFile(Part):
    id: Text
    motion: Text
    theme: str = ""
    tournament: bool = True

    def build(self, **known: Any) -> Motion:
        return Motion(self.id, self.motion, self.theme, self.tournament)


class _ItemLine(Part):
    noun = Item
    id: Label
    text: Text
    reverse: bool = False


class _SurveyFile(Part):
    noun = Survey
    id: Text
    considerations: list[_ItemLine] = Field(min_length=2, exclude=True)
    preferences: list[_ItemLine] = Field(min_length=2, exclude=True)
    scale_min: int = 1
    scale_max: int = 7
    forced_distribution: list[int] | None = None
    rank_1_in_source: Rank1 | None = Field(default=None, exclude=True)
    validated: bool = False
    source: Spaced = ""

    def build(self, **known: Any) -> Survey:
        items = [line.build(kind="consideration") for line in self.considerations]
        items += [line.build(kind="preference") for line in self.preferences]
        return super().build(items=tuple(items))


def package_data(name: str) -> Path:
    """A folder of data (conf, topics, surveys, schemes) of the installed package, or of the
    checkout it is installed from.
    """
    package = Path(__file__).parents[2]
    return package / name if (package / name).is_dir() else package.parent / name


class Library:
    """The topics, surveys, schemes and dimensions a user can name: those in `topics/`, `surveys/`
    and `schemes/` under `home`, then those of the package.

    Surveys imported into `surveys/imported/<source>/<name>.yaml` are named `<source>.<name>`.
    """

    def __init__(self, home: Path | None = None) -> None:
        self.home = home or Path.cwd()

    def topics(self) -> dict[str, Path]:
        """The files of topics and motions by id."""
        return self._files("topics")

    def surveys(self) -> dict[str, Path]:
        """The files of surveys by id."""
        found: dict[str, Path] = {}
        for folder in self._folders("surveys"):
            found |= {path.stem: path for path in sorted(folder.glob("*.yaml"))}
            found |= {
                f"{path.parent.name}.{path.stem}": path
                for path in sorted(folder.glob("imported/*/*.yaml"))
            }
        return found

    def schemes(self) -> dict[str, Path]:
        """The files of schemes by id; files that say that they are of another kind are left out."""
        return {id: path for id, path in self._in_schemes().items() if scheme_files.is_scheme(path)}

    def dimensions(self) -> dict[str, Path]:
        """The files of dimensions of argument quality by id; they lie in `schemes/` as well."""
        return {
            id: path for id, path in self._in_schemes().items() if scheme_files.is_dimension(path)
        }

    def _in_schemes(self) -> dict[str, Path]:
        """All files of the folders `schemes/`, by name."""
        return self._files("schemes")

    def _files(self, kind: str) -> dict[str, Path]:
        """All files of the folders of a kind, by name; the user's take precedence."""
        found: dict[str, Path] = {}
        for folder in self._folders(kind):
            found |= {path.stem: path for path in sorted(folder.glob("*.yaml"))}
        return found

    def entry(self, id: str) -> Topic | Motion:
        """A topic or a motion; WrongInput if there is none of that id or its file is broken."""
        return self._entry(id, "topic", (_TopicFile, _MotionFile))

    def topic(self, id: str) -> Topic:
        """A topic; WrongInput if there is none of that id, its file is broken, or it is a
        motion.
        """
        entry = self._entry(id, "topic", (_TopicFile,))
        if isinstance(entry, Motion):
            raise refused("a_motion_no_topic", id=id)
        return entry

    def motion(self, id: str) -> Motion:
        """A motion; WrongInput if there is none of that id, its file is broken, or it is a
        topic.
        """
        entry = self._entry(id, "motion", (_MotionFile,))
        if isinstance(entry, Topic):
            raise refused("a_topic_no_motion", id=id)
        return entry

    def _entry(self, id: str, what: str, kinds: Collection[type[Part]]) -> Topic | Motion:
        """A topic or a motion; the refusal of another id names only what is of these kinds."""
        files = self.topics()
        if id not in files:
            known = [name for name, path in files.items() if _kind_of(path) in kinds]
            place = f"files in {self.home / 'topics'} or in the package"
            raise unknown(what, id, known, f"{what.capitalize()}s are {place}")
        return read_checked(files[id], id, _kind_of(files[id]) or _TopicFile)

    def survey(self, id: str) -> Survey:
        """A survey; WrongInput if there is none of that id or its file is broken."""
        files = self.surveys()
        if id not in files:
            anything = any(name.startswith(PUBLISHED) for name in files)
            of_a_topic = id.removeprefix(PUBLISHED) in self.topics()
            if id.startswith(PUBLISHED) and (of_a_topic or not anything):
                raise NotImported("not imported: survey", id, IMPORT)
            raise unknown("survey", id, files)
        return read_checked(files[id], id, _SurveyFile, _check_parts)

    def scheme(self, id: str) -> Scheme:
        """A scheme; WrongInput if there is none of that id or its file is broken."""
        files = self.schemes()
        if id not in files:
            place = f"Schemes are files in {self.home / 'schemes'} or in the package"
            raise unknown("scheme", id, files, place)
        return scheme_files.read_scheme(files[id], id)

    def dimension(self, id: str) -> QualityDimension:
        """A dimension of argument quality; WrongInput if there is none of that id or its file is
        broken.
        """
        files = self.dimensions()
        if id not in files:
            place = f"Dimensions are files in {self.home / 'schemes'} (kind: dimension)"
            raise unknown("dimension", id, files, f"{place} or in the package")
        return scheme_files.read_dimension(files[id], id)

    def rank_1_in_source(self, id: str) -> Rank1 | None:
        """What rank 1 was in answers imported with a survey; None where its file does not say."""
        self.survey(id)
        return read_yaml(self.surveys()[id]).get("rank_1_in_source")

    def _folders(self, kind: str) -> Iterator[Path]:
        """Folders from the last to be asked to the first, so that later entries take precedence."""
        ours, theirs = package_data(kind), self.home / kind
        yield ours
        if theirs.resolve() != ours.resolve():
            yield theirs


class _BriefingFile(Part):
    noun = Briefing
    background: Spaced = ""
    pro: Spaced = ""
    con: Spaced = ""


def briefing_of(path: Path) -> Briefing:
    """The briefing in a file: of YAML its background, pro and con, of any other the whole text.

    WrongInput where it cannot be read, has no text, or hears one side alone.
    """
    try:
        if path.suffix not in (".yaml", ".yml"):
            return Briefing(path.stem, background=file_text(path))
        plain, faults = fields_of(path, "pro: What speaks for it")
        found: Any = checked_fields(plain, _BriefingFile, faults)
        faults.refuse()
        return found.build(name=path.stem)
    except WrongInput:
        raise
    except ValueError as error:
        raise WrongInput(f"{path}: {error}") from None


def _kind_of(path: Path) -> type[_TopicFile | _MotionFile] | None:
    """Whether a file holds a topic or a motion; None where it cannot be read."""
    try:
        plain = read_yaml(path)
    except WrongInput:
        return None
    return _MotionFile if isinstance(plain, dict) and "motion" in plain else _TopicFile


def _check_parts(plain: Mapping[str, Any], faults: Faults) -> None:
    """Note where the parts of a survey contradict each other, as far as the parts are sound."""
    lines = {name: plain.get(name) for name in ("considerations", "preferences")}
    can_be_counted = not faults.concern("considerations", "forced_distribution")
    ids: dict[str, tuple[Any, ...]] = {}
    for name, items in lines.items():
        for n, item in enumerate(items if isinstance(items, list) else ()):
            label = item.get("id") if isinstance(item, dict) else None
            if isinstance(label, str) and label in ids:
                problem = f"item ids must be unique; used more than once: {label}"
                faults.add((name, n, "id"), problem)
            elif isinstance(label, str):
                ids[label] = (name, n)
    if faults.concern("scale_min", "scale_max"):
        return
    low, high = plain.get("scale_min", 1), plain.get("scale_max", 7)
    if low >= high:
        given = next((name for name in ("scale_min", "scale_max") if name in plain), "id")
        faults.add((given,), f"scale_min ({low}) must be smaller than scale_max ({high})")
    elif can_be_counted:
        problem = fault_of_distribution(
            plain.get("forced_distribution"), range(low, high + 1), len(plain["considerations"])
        )
        if problem:
            faults.add(("forced_distribution",), problem)


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
        raise refused("other_personas_there", path=path)
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
