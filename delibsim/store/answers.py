"""The answers of a task about finished texts on disk: one folder a task, one answer a line; what
each kind of task keeps beside them; and studies of texts that were gathered from other studies, to
be compared in pairs.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Self

from delibsim.domain.annotation import Rating, annotated
from delibsim.domain.coding import (
    CODES,
    ENSEMBLE,
    Code,
    FailureKind,
    Sample,
    Steps,
    Verdict,
    measures_of_scheme,
)
from delibsim.domain.comparison import PAIRS, Batch, Sheet, Stop, Vote, measure_of_pairs
from delibsim.domain.effect import digest_of
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.reason import reason_from_text
from delibsim.domain.run import Run
from delibsim.domain.scheme import QualityDimension, Scheme
from delibsim.domain.score import Measure
from delibsim.domain.summary import Judgment, Sitting, Slot, Summary
from delibsim.domain.text import plural_of, study_named
from delibsim.domain.treatment import Wording, wording_kept
from delibsim.store.annotations import (
    ANNOTATIONS,
    Flat,
    K,
    TaskFolder,
    built,
    first_of_each,
    packs_of,
    plain_record,
    read_records,
    tasks_of,
)
from delibsim.store.codec import Damaged
from delibsim.store.files import each_line, json_text, make_folder, write_atomically
from delibsim.store.reading import adapter, read_json
from delibsim.store.runs import TEXTS, Runs


@dataclass(frozen=True)
class TaskAnswers(Generic[K]):
    """The answers of one task of a study: those of language models, and those of people.

    A kind of answers says with what the names of its folders begin (`prefix`), what one task is
    called (`called`, and `many` of them), by which setting it is named (`key`), and which command
    asks for it (`command`).
    """

    files: TaskFolder
    prefix: ClassVar[str]
    called: ClassVar[str]
    many: ClassVar[str] = ""
    key: ClassVar[str] = "name"
    command: ClassVar[str]
    packs_bind: ClassVar[bool] = False
    """Whether what people were handed may not be asked about otherwise."""
    of_models: ClassVar[type[Any]]
    """What a language model answers."""
    of_persons: ClassVar[type[Any] | None] = None
    """What a person answers, where it is something else."""
    flat: ClassVar[Flat | None] = None

    @classmethod
    def of(cls, runs: Runs, name: str) -> Self:
        """Those of this name, whether they were begun or not."""
        return cls(TaskFolder.of(runs, f"{cls.prefix}{name}"))

    @classmethod
    def names(cls, runs: Runs) -> list[str]:
        """The names of the tasks of a study that have begun."""
        return [task.removeprefix(cls.prefix) for task in tasks_of(runs, cls.prefix)]

    @classmethod
    def begun(cls, runs: Runs, name: str = "") -> Self:
        """Those that are named, or the only ones of a study; WrongInput where there are none or
        several.
        """
        known, study = cls.names(runs), study_named(runs.study)
        if not known:
            raise WrongInput(f"{study} has no {cls.called}; ask: {cls.command} {runs.study}")
        if name and name not in known:
            raise unknown(f"{cls.called} of {study}", name, known)
        if not name and len(known) > 1:
            many = cls.many or plural_of(cls.called)
            raise WrongInput(f"{study} has several {many}; name one: {cls.key}={known[0]}")
        return cls.of(runs, name or known[0])

    @property
    def name(self) -> str:
        """The name of the task."""
        return self.files.folder.name.removeprefix(self.prefix)

    @property
    def bound(self) -> bool:
        """Whether its settings and texts stand: somebody has answered, or was handed a pack that
        binds.
        """
        files = self.files
        kept = (files.annotations, files.steps, files.people)
        handed_out = self.packs_bind and files.packs.is_dir()
        return any(file.is_file() for file in kept) or handed_out or files.answered()

    def all(self, faults: list[str] | None = None) -> list[K]:
        """Every answer of language models that can be read, in the order in which they came.

        Damaged lines are left out and told in `faults`; what is missing there is found again in the
        exchanges.
        """
        return self._read(self.files.annotations, faults)

    def people(self, faults: list[str] | None = None) -> list[K]:
        """Every answer of people; faults as in `all`."""
        return self._read(self.files.people, faults)

    def kept(self) -> list[Any]:
        """All that was kept of what language models were asked, steps on the way too."""
        return self.all()

    def add(self, answers: Iterable[K], people: bool = False) -> None:
        """Keep answers; who calls it has refused those that are known."""
        file = self.files.people if people else self.files.annotations
        self.files.add(file, (plain_record(answer, self.flat) for answer in answers))

    def every(self, faults: list[str] | None = None) -> list[K]:
        """Every answer, those of language models first; faults as in `all`."""
        return [*self.all(faults), *self.people(faults)]

    def _read(self, file: Path, faults: list[str] | None) -> list[K]:
        """The answers in a file, each of them once."""
        own = self.of_persons if file == self.files.people else None
        found = read_records(own or self.of_models, file, faults, self.flat)
        return first_of_each(found, file, faults)


@dataclass(frozen=True)
class Summaries(TaskAnswers[Summary]):
    """The summaries of one task of a study."""

    prefix = "summaries-"
    called = "summaries"
    many = "sets of summaries"
    command = "delibsim summarise ask"
    of_models = Summary
    flat = ("slot", Slot)


OPINIONS = "opinions.json"
"""The file of a task that holds what people wrote before they judged, by the id of the opinion."""


@dataclass(frozen=True)
class Judgments(TaskAnswers[Judgment]):
    """The judgments of one task of a study."""

    prefix = "judge-"
    called = "judgments"
    many = "sets of judgments"
    command = "delibsim judge ask"
    of_models = Judgment
    flat = ("sitting", Sitting)

    def opinions_of_people(self) -> dict[str, str]:
        """The opinions that people wrote before they judged, by id."""
        file = self.files.folder / OPINIONS
        return read_json(file) if file.is_file() else {}

    def keep_opinions(self, opinions: Mapping[str, str]) -> None:
        """Keep opinions beside those that were written before, in order of their ids."""
        kept = dict(sorted({**self.opinions_of_people(), **opinions}.items()))
        text = json_text(kept, indent=1)
        write_atomically(self.files.folder / OPINIONS, text, self.files.durable)


@dataclass(frozen=True)
class Correction:
    """The kind that a person gives a disagreement between the ensemble and a coder."""

    text: str
    dimension: str
    person: str
    kind: FailureKind


@dataclass(frozen=True)
class Audits(TaskAnswers[Verdict]):
    """The audit of the codes of one study by one scheme; kinds.jsonl has what people corrected."""

    prefix = "audit-"
    called = "audit"
    key = "scheme"
    command = "delibsim code ask kind=rationale"
    of_models = Verdict

    def corrections(self) -> dict[tuple[str, str, str], FailureKind]:
        """The kinds that people gave, by text, dimension and coder; the last of each counts."""
        found = {}
        for line in self.files.read(self._kinds)[0]:
            one = built(Correction, line, str(self._kinds))
            found[one.text, one.dimension, one.person] = one.kind
        return found

    def correct(self, corrections: Iterable[Correction]) -> None:
        """Keep kinds that people gave."""
        self.files.add(self._kinds, map(asdict, corrections))

    @property
    def _kinds(self) -> Path:
        return self.files.folder / "kinds.jsonl"


OF_PEOPLE = "people"
"""The task of debates that people were handed, and of what they say of them."""


@dataclass(frozen=True)
class PanelRatings(TaskAnswers[Rating]):
    """The ratings of one panel of language models, or those of people."""

    prefix = "rating-"
    called = "panel"
    key = "panel"
    command = "delibsim rate ask"
    of_models = Rating


def rater(runs: Runs, faults: list[str] | None = None) -> Callable[[Run], Run]:
    """What makes of a run one with its ratings where it is a debate: those of language models by
    panel, then those of people. Damaged lines are left out, and told in `faults`.
    """
    by_debate: dict[str, list[Rating]] = {}
    tasks = [PanelRatings.of(runs, name) for name in _names(runs)]
    for own in tasks:
        for rating in (*own.all(faults), *own.people(faults)):
            by_debate.setdefault(rating.session, []).append(rating)
    wordings = _wordings(tasks)

    def rated(run: Run) -> Run:
        if not run.session.kind.sides:
            return run
        own = tuple(by_debate.get(run.session.id, ()))
        return annotated(run, ratings=own, wordings=wordings)

    return rated


def _names(runs: Runs) -> list[str]:
    """The names of the panels of a study, and that of people where they were handed anything."""
    folders = (runs.folder / ANNOTATIONS).glob(f"{PanelRatings.prefix}*/")
    return sorted(folder.name.removeprefix(PanelRatings.prefix) for folder in folders)


def _wordings(tasks: list[PanelRatings]) -> dict[str, str]:
    """What the raters of every panel and pack read, by name: the id of the wording; where several
    have one id and say other things to raters, with the first digits of the SHA-256 of that.
    """
    kept = {}
    for own in tasks:
        if task := own.files.task():
            kept[own.name] = wording_kept(task["wording"])
        for pack, plain in packs_of(own.files).items():
            kept[pack] = wording_kept(plain["wording"])
    read = {name: (one.id, digest_of(_to_raters(one))) for name, one in kept.items()}
    versions = Counter(id for id, _ in set(read.values()))
    found = {}
    for name, (id, digest) in read.items():
        found[name] = id if versions[id] == 1 else f"{id} ({digest[:8]})"
    return found


def _to_raters(wording: Wording) -> dict[str, str]:
    """Those texts of a wording that are for raters alone."""
    return {name: text for name, text in wording.texts.items() if name.startswith("rater_")}


SCHEME_FILE = "scheme.json"
"""The file with what people code by, in the folder of a scheme's codes."""


def scheme_to_plain(scheme: Scheme) -> dict[str, Any]:
    """A scheme as plain values."""
    return adapter(Scheme).dump_python(scheme, mode="json")


def scheme_from_plain(plain: Mapping[str, Any]) -> Scheme:
    """A scheme from plain values; Damaged if they are none."""
    return built(Scheme, plain, "scheme")


@dataclass(frozen=True)
class Codings(TaskAnswers[Any]):
    """The codes of one study by one scheme: samples and steps of models, codes of people."""

    prefix = "code-"
    called = "scheme"
    key = "scheme"
    command = "delibsim code ask"
    of_models = Sample
    of_persons = Code

    def scheme(self) -> Scheme:
        """The scheme that was applied, as it was then; Damaged if it cannot be read."""
        return scheme_from_plain(self.settled()["scheme"])

    def settled(self) -> dict[str, Any]:
        """What texts are coded by (`scheme`, `scheme_sha256`, `unit`, `context`): as models were
        asked, else as people have coded; empty where nobody has.
        """
        return self.files.task() or self.of_people()

    def of_people(self) -> dict[str, Any]:
        """What people have coded by, as `settled` gives it; empty where none has."""
        file = self.files.folder / SCHEME_FILE
        return read_json(file) if file.is_file() else {}

    def keep_scheme(self, scheme: Scheme, cut: Mapping[str, Any]) -> None:
        """Keep what people code by, and how the texts are cut, unless it is kept."""
        if self.of_people():
            return
        plain = {
            "scheme": scheme_to_plain(scheme),
            "scheme_sha256": scheme.sha256,
            **cut,
        }
        make_folder(self.files.folder, self.files.durable)
        file = self.files.folder / SCHEME_FILE
        write_atomically(file, json_text(plain, indent=1), self.files.durable)

    def kept(self) -> list[Any]:
        """Every sample and the steps of every model."""
        return [*self.all(), *read_records(Steps, self.files.steps, None)]

    def add(self, answers: Iterable[Any], people: bool = False) -> None:
        """Keep samples, steps, or codes of people."""
        others = []
        for answer in answers:
            if isinstance(answer, Steps):
                self.files.add(self.files.steps, [plain_record(answer)])
            else:
                others.append(answer)
        super().add(others, people)

    def steps(self) -> list[dict[str, Any]]:
        """The steps of each model and dimension, as plain values: `dimension`, `model`, `wording`,
        `steps` (a list), and `missing` with the reason where there are none.
        """
        return self.files.read(self.files.steps)[0]

    def not_coded(self) -> list[Code]:
        """A code without a level for every text that is not put before coders, by dimension."""
        task = self.files.task()
        found = []
        for key, reason in task.get("not_coded", {}).items():
            text, _, dimension = key.rpartition(" ")
            said = (None, reason_from_text(reason), 0)
            digest = task["texts"].get(text, "")
            found.append(Code(text, dimension, ENSEMBLE, "ensemble", *said, text_sha256=digest))
        return found


def schemes_of(runs: Runs) -> list[str]:
    """The ids of the schemes by which texts of a study were coded, by models or people."""
    found = {*tasks_of(runs, Codings.prefix), *tasks_of(runs, Codings.prefix, SCHEME_FILE)}
    return sorted(task.removeprefix(Codings.prefix) for task in found)


def measures_of_codes(runs: Runs) -> tuple[Measure, ...]:
    """The measures of the scorer `codes` for a study: those of the schemes that it was coded by."""
    found: list[Measure] = []
    for id in schemes_of(runs):
        found += measures_of_scheme(Codings.of(runs, id).scheme())
    return tuple(found)


STEP: Any = Batch | Stop


@dataclass(frozen=True)
class Comparisons(TaskAnswers[Vote]):
    """One comparison of a study."""

    prefix = "compare-"
    called = "comparison"
    command = "delibsim compare ask"
    packs_bind = True
    of_models = Vote
    flat = ("sheet", Sheet)

    def dimensions(self) -> dict[str, QualityDimension]:
        """The dimensions on which texts were compared, as they were then; Damaged if one cannot be
        read.
        """
        kept = self.files.task()["dimensions"]
        return {id: built(QualityDimension, plain, f"dimension {id}") for id, plain in kept.items()}

    @property
    def steps_file(self) -> Path:
        """The batches of an adaptive comparison and what ended them, one a line."""
        return self.files.folder / "batches.jsonl"

    def steps(self) -> list[Batch | Stop]:
        """The batches of an adaptive comparison, and what ended each run of them, in order; Damaged
        where one cannot be read, since later ones follow from it.

        There are none before the first vote, since nobody is bound by settings that got none.
        """
        if not self.files.annotations.is_file():
            return []
        found: list[Batch | Stop] = []
        number: dict[str, int] = {}
        for _, plain in each_line(self.steps_file):
            if plain is None:
                continue  # torn as it was written, so that nobody was asked; a gap shows below
            step = built(STEP, plain, str(self.steps_file))
            if isinstance(step, Batch):
                number[step.dimension] = number.get(step.dimension, 0) + 1
                if step.number != number[step.dimension]:
                    missing = f"batch {number[step.dimension]} of {step.dimension}"
                    raise Damaged(f"{self.steps_file}: {missing} is damaged or missing")
            found.append(step)
        return found

    def forget_steps(self) -> None:
        """Drop the batches on which nobody gave a vote, before others are chosen."""
        if not self.files.annotations.is_file():
            self.steps_file.unlink(missing_ok=True)

    def add_step(self, step: Batch | Stop) -> None:
        """Keep a batch, before anybody is asked about it, or what ended them."""
        self.files.add(self.steps_file, [adapter(STEP).dump_python(step, mode="json")])


def dimension_to_plain(dimension: QualityDimension) -> dict[str, object]:
    """A dimension as plain values."""
    found = adapter(QualityDimension).dump_python(dimension, mode="json")
    if not dimension.examples:
        del found["examples"]
    return found


GATHERED = "gathered"
"""What study.json calls the studies that texts were taken from."""
STUDY, ORIGINAL, QUESTION = "study", "original_sha256", "question"
"""What is kept of a gathered text: its study, the SHA-256 of what was said, before blinding, and
the question of its topic.
"""


def gathered_from(runs: Runs) -> list[str]:
    """The studies from which the texts of a study were gathered; none for any other study."""
    manifest = runs.manifest()
    return list(manifest.components.get(GATHERED, {})) if manifest else []


def gathered_and_own(runs: Runs) -> list[Runs]:
    """A study, and the studies beside it from which its texts were gathered, as far as they are
    there.
    """
    found = [runs]
    for name in gathered_from(runs):
        other = Runs(runs.folder.parent, name)
        if other.manifest() is not None:
            found.append(other)
    return found


def unit_gathered(runs: Runs, study: str) -> str:
    """The unit of the texts that were gathered from a study; "" where none were."""
    manifest = runs.manifest()
    parts = manifest.components.get(GATHERED, {}) if manifest else {}
    return parts[study]["unit"] if study in parts else ""


@dataclass(frozen=True)
class AboutStudy:
    """A comparison that is about texts of a study: its own, or one in a study of gathered texts.

    `coder` is its name in scores; `prefix` stands before the ids of the texts in it.
    """

    runs: Runs
    comparisons: Comparisons
    coder: str
    prefix: str = ""


def comparisons_about(runs: Runs) -> Iterator[AboutStudy]:
    """Every comparison about texts of a study: its own ones, then those of studies beside it whose
    texts were gathered from it.

    A comparison in a study of gathered texts goes by the name of that study where both have one
    name, else by both.
    """
    taken = set()
    for name in Comparisons.names(runs):
        taken.add(name)
        yield AboutStudy(runs, Comparisons.of(runs, name), name)
    for path in sorted(runs.folder.resolve().parent.glob(f"*/{TEXTS}")):
        other = Runs.at(path.parent)
        if runs.study not in gathered_from(other):
            continue
        for name in Comparisons.names(other):
            alone = name == other.study and name not in taken
            coder = name if alone else f"{other.study}/{name}"
            yield AboutStudy(other, Comparisons.of(other, name), coder, f"{runs.study}/")


def measures_of_comparisons(runs: Runs) -> tuple[Measure, ...]:
    """The measures of the scorer `pairs` for a study: one a comparison about it and dimension."""
    found = []
    for about in comparisons_about(runs):
        for dimension in about.comparisons.files.task().get("dimensions", {}):
            found.append(measure_of_pairs(about.coder, dimension))
    return tuple(found)


def measures_of_study(scorer: str, runs: Runs) -> tuple[Measure, ...]:
    """The measures that a scorer gives of a study because of what was asked about its texts."""
    if scorer == CODES:
        return measures_of_codes(runs)
    return measures_of_comparisons(runs) if scorer == PAIRS else ()
