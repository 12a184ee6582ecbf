"""What a researcher declares before people come: people.yaml, kept word for word in the study."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationError

from delibsim.domain import hosting
from delibsim.domain.data import DATA, read_data
from delibsim.domain.errors import WrongInput, refused
from delibsim.store.files import json_text, write_atomically
from delibsim.store.instruments.faults import Part
from delibsim.store.places import TOLD
from delibsim.store.reading import adapter, file_text, read_yaml
from delibsim.store.runs import Runs

SERVED = "served.json"
"""The file of how a study was served last."""

CHOOSE: str = read_data("messages.yaml")["withdrawal"]

TEXTS = DATA / "people"
"""Where the texts of pages are, a file a language."""


@cache
def languages() -> tuple[str, ...]:
    """The codes of the languages that pages can be in."""
    return tuple(sorted(path.stem for path in TEXTS.glob("*.yaml")))


def _translated(code: str) -> str:
    """A code of a language that pages can be in; ValueError for another."""
    if code not in languages():
        raise ValueError(f"one of {', '.join(languages())}, not {code}")
    return code


ADDRESS = r"^(https?://\S+)?$"
Earned = Literal[
    "done", "ended", "screened_out", "timed_out", "left", "statement", "sheet", "waiting_minute"
]
"""What a bonus can be for."""
Amount = Annotated[float, Field(ge=0, le=1_000, allow_inf_nan=False)]


class _LimitPart(Part):
    noun = hosting.Limit
    minutes: float | None = Field(default=None, gt=0)
    binds: bool = False


class _QuestionPart(Part):
    noun = hosting.HostingQuestion
    id: str = Field(pattern=r"^[a-z][a-z0-9_]{0,40}$")
    text: str = Field(min_length=1)
    kind: hosting.QuestionKind = "choice"
    options: list[str] = Field(default=[])
    right: list[str] = Field(default=[])
    low: int | None = None
    high: int | None = None
    required: bool = True


class _CompletionPart(Part):
    noun = hosting.CompletionCode
    code: str = ""
    url: str = Field(default="", pattern=ADDRESS)


class _QuotaPart(Part):
    noun = hosting.Quota
    question: str
    most: int = Field(ge=0)
    answer: str = ""
    low: int | None = None
    high: int | None = None


class _ReceptionPart(Part):
    noun = hosting.Reception
    consent: str = Field(min_length=1)
    information: str = ""
    debriefing: str = ""
    checks: list[_QuestionPart] = Field(default=[])
    questions: list[_QuestionPart] = Field(default=[])


class _HostingFile(_ReceptionPart):
    noun = hosting.Hosting
    language: Annotated[str, AfterValidator(_translated)] = "en"
    attempts: int = Field(default=2, ge=1)
    nobody_comes: hosting.NobodyComes = "wait"
    lobby: _LimitPart = _LimitPart()
    drop_out: hosting.DropOut = "silent"
    away: _LimitPart = _LimitPart()
    survey: _LimitPart = _LimitPart()
    turn: _LimitPart = _LimitPart()
    stand_in: str = "citizen"
    typing: float | None = Field(default=40.0, gt=0)
    models_known: bool = False
    instructions: hosting.Instructions = "fold"
    withdrawal: hosting.Withdrawal | None = None
    keep_days: int = Field(default=180, ge=1)
    expires_days: int = Field(default=30, ge=1)
    completion_code: str = ""
    completion_url: str = Field(default="", pattern=ADDRESS)
    codes: dict[Literal["screened_out", "timed_out", "left"], _CompletionPart] = Field(default={})
    quotas: list[_QuotaPart] = Field(default=[])
    bonus: dict[Earned, Amount] = Field(default={})
    contact: str = ""
    panel: str = Field(default="", pattern=r"^[A-Za-z0-9_.-]{0,40}$")
    address: str = Field(default="", pattern=r"^(https?://[A-Za-z0-9.:\[\]-]+)?$")
    raters: _ReceptionPart | None = None


def read_hosting(path: Path, real: bool = False) -> hosting.Hosting:
    """What a file declares; WrongInput names the fields that are wrong.

    Where people are `real`, and not those of a demo, a dry run or a preview, a withdrawal must be
    declared.
    """
    plain = read_yaml(path)
    try:
        found = _HostingFile.model_validate(plain)
    except ValidationError as error:
        told = [_told(path, fault) for fault in error.errors()]
        raise WrongInput("\n".join(told)) from None
    if real and found.withdrawal is None:
        raise WrongInput(f"{path}, {CHOOSE}")
    parts = {"": found} | ({"raters.": found.raters} if found.raters is not None else {})
    for within, part in parts.items():
        for name in ("checks", "questions"):
            for question in getattr(part, name):
                _refuse_question(path, f"{within}{name}", question)
    for quota in found.quotas:
        _refuse_quota(path, quota, found.questions)
    bonus = {name: Decimal(str(one)) for name, one in found.bonus.items()}
    return found.build(bonus=bonus, withdrawal=found.withdrawal or hosting.Hosting.withdrawal)


def declared(runs: Runs, path: Path | None) -> hosting.Hosting:
    """What is declared for a study, or would be if it began now; nothing is written.

    WrongInput where nothing is declared.
    """
    kept = runs.folder / TOLD
    file = path or (kept if kept.is_file() else Path(TOLD))
    if not file.is_file():
        raise refused("nothing_declared", file=TOLD)
    return read_hosting(file)


def settled_hosting(runs: Runs, path: Path | None) -> hosting.Hosting:
    """What was declared for a study: as it began, or now, where it begins.

    WrongInput where nothing is declared or no withdrawal is, and where another file is given than
    the study began with.
    """
    kept = runs.folder / TOLD
    given = path or (Path(TOLD) if Path(TOLD).is_file() and not kept.is_file() else None)
    if given is None and not kept.is_file():
        raise refused("nothing_declared", file=TOLD)
    if given is None:
        return read_hosting(kept, real=True)
    found = read_hosting(given, real=True)
    text = file_text(given)
    if kept.is_file() and file_text(kept) != text:
        raise refused("told_otherwise_before", given=given, kept=kept)
    runs.folder.mkdir(parents=True, exist_ok=True)
    write_atomically(kept, text)
    return found


@dataclass(frozen=True)
class Served:
    """How a study was served last, which is in no other record: at what address people reach it,
    "" where that is not known, and with which settings that may change (base_url, limits).
    """

    address: str
    settings: tuple[str, ...]


def served_before(runs: Runs) -> Served:
    """How a study was served last; WrongInput for a file that is damaged."""
    path = runs.folder / SERVED
    if not path.is_file():
        return Served("", ())
    try:
        return adapter(Served).validate_json(path.read_bytes())
    except ValueError:
        raise WrongInput(
            f"{path} is damaged; delete it, and serve the study with all its settings"
        ) from None


def note_served(runs: Runs, served: Served) -> None:
    """Keep how a study is served, for the next time and for links."""
    if served != served_before(runs):
        write_atomically(runs.folder / SERVED, json_text(asdict(served), indent=1) + "\n")


def _refuse_question(path: Path, name: str, part: _QuestionPart) -> None:
    """WrongInput for a question that nobody can answer."""
    place = f"{path}, {name}, question {part.id}"
    if part.kind in ("choice", "several") and len(part.options) < 2:
        raise WrongInput(f"{place}: a choice needs two options")
    if part.kind == "scale" and (part.low is None or part.high is None or part.low >= part.high):
        raise WrongInput(f"{place}: a scale needs low and high")
    if name.endswith("checks") and not part.right:
        raise WrongInput(f"{place}: a check needs the answers that are right")


def _refuse_quota(path: Path, part: _QuotaPart, questions: Sequence[_QuestionPart]) -> None:
    """WrongInput for a quota that nobody could fill."""
    place = f"{path}, quotas, {part.question}"
    known = {question.id: question for question in questions}
    if part.question not in known:
        listed = ", ".join(known) or "none"
        raise WrongInput(f"{place}: there is no such question; questions are: {listed}")
    question = known[part.question]
    if not question.required:
        raise WrongInput(
            f"{place}: a quota needs a question that everybody answers; it is not required"
        )
    bounded = part.low is not None or part.high is not None
    if question.kind in ("choice", "several"):
        if part.answer not in question.options or bounded:
            listed = ", ".join(question.options)
            raise WrongInput(f"{place}: a quota of this question names an answer: {listed}")
    elif question.kind in ("number", "scale"):
        if part.answer or not bounded:
            raise WrongInput(f"{place}: a quota of this question names low, high or both")
    else:
        raise WrongInput(f"{place}: a quota needs a choice, several, a number or a scale")


def _told(path: Path, fault: object) -> str:
    assert isinstance(fault, dict)
    place = ".".join(map(str, fault["loc"])) or "the file"
    return f"{path}, {place}: {fault['msg']}"
