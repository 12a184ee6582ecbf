"""Topics, motions, surveys, schemes and dimensions from YAML files: beside the user first, then
from the installed package.
"""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from delibsim.domain.errors import NotImported, WrongInput, unknown
from delibsim.domain.phases import Briefing
from delibsim.domain.scheme import QualityDimension, Scheme
from delibsim.domain.survey import LABEL, Item, Motion, Rank1, Survey, Topic, fault_of_distribution
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
            raise WrongInput(
                f"'{id}' is a motion for a debate, not a topic to deliberate on; topics are listed"
                " by: delibsim list topics"
            )
        return entry

    def motion(self, id: str) -> Motion:
        """A motion; WrongInput if there is none of that id, its file is broken, or it is a
        topic.
        """
        entry = self._entry(id, "motion", (_MotionFile,))
        if isinstance(entry, Topic):
            raise WrongInput(
                f"'{id}' is a topic to deliberate on, not a motion; motions are listed by: delibsim"
                " list topics"
            )
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
