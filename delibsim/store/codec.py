"""Domain objects to JSON and back, checked on the way in, under a schema number."""

import functools
import itertools
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, field, fields, make_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, from_json, to_json

from delibsim.domain.errors import WrongInput
from delibsim.domain.reason import Reason, reason_from_text
from delibsim.domain.run import Run, Session
from delibsim.domain.score import Score
from delibsim.domain.study import shared
from delibsim.domain.treatment import DEMANDS, OFF
from delibsim.store.files import each_line
from delibsim.store.reading import LEVELS, adapter, json_value, refuse_depth

T = TypeVar("T")

SCHEMA = 1
CELLS = 64
"""Of so many cells, and plans of one run, what their sessions have in common is remembered."""
HELD: type[Any] = make_dataclass(
    "Held",
    [
        (of.name, of.type, field(default=of.default, default_factory=of.default_factory))
        for of in fields(Run)
        if of.name != "session"
    ],
)
"""All of a run but its session."""
SAID = ("instructions", "words")
"""Settings of the procedure that every file says, because their absence would not mean what they
are by default.
"""
UNUSED = ("consensus", "parentage", "before", "conversation", "facilitator", "briefing")
"""Parts of a session that files name only where it has them."""
NAMES = {"id": str, "seed": int, "replicate": int}
"""What tells the sessions of one cell apart, in files."""
SCORED = tuple(of.name for of in fields(Score))


class Damaged(WrongInput):
    """A file that cannot be read as what it should be; the message says which, and what is wrong
    with it. It is left alone.
    """


def run_to_json(run: Run) -> str:
    """A run as JSON text; ValueError where a setting of a model is no JSON number."""
    _finite(run.session)
    return _text({"schema": SCHEMA, **run_to_plain(run)})


def run_to_plain(run: Run) -> dict[str, Any]:
    """A run as plain JSON values."""
    plain = adapter(Run).dump_python(run, mode="json")
    plain["session"] = _brief_session(plain["session"])
    plain["responses"] = [_without(response, reversed=False) for response in plain["responses"]]
    for response, held in zip(plain["responses"], run.responses, strict=True):
        response["missing"] = reasons_to_plain(held.missing)
    unsaid = {"cut": False, "given": False, "names": ""}
    plain["transcript"] = [_without(statement, **unsaid) for statement in plain["transcript"]]
    for said in (*plain["transcript"], *plain["silences"]):
        said["turn"] = _without(said["turn"], role="", group=0)
    return _without(plain, dropped=None, consensus=None)


def run_from_json(text: str | bytes) -> Run:
    """A run from its JSON text; Damaged if it is none. Runs of one design share its parts."""
    try:
        return _quick_run(_quick_plain(text))
    except (ValueError, TypeError, LookupError):
        return sharing(_read(Run, text))  # slower; it says what is wrong


def sharing(run: Run) -> Run:
    """An equal run whose session shares its parts."""
    return replace(run, session=shared(run.session))


def session_to_json(session: Session) -> str:
    """A planned session as JSON text; ValueError where a setting of a model is no JSON number."""
    _finite(session)
    return _text({"schema": SCHEMA, **session_to_plain(session)})


def session_from_json(text: str | bytes) -> Session:
    """A planned session from its JSON text; Damaged if it is none. Sessions of one design share
    its parts.
    """
    try:
        return _quick_session(_quick_plain(text))
    except (ValueError, TypeError, LookupError):
        return shared(_read(Session, text))  # slower; it says what is wrong


def _quick_plain(text: str | bytes) -> dict[str, Any]:
    """The plain values of a file; some error, which says nothing, where it may not be one."""
    plain = from_json(text)
    if not isinstance(plain, dict) or plain.pop("schema") != SCHEMA:
        raise ValueError
    return plain


def _quick_session(plain: dict[str, Any]) -> Session:
    """A session from its plain values; some error, which says nothing, where it may be none."""
    names = {name: plain[name] for name in NAMES}
    if any(type(names[name]) is not kind for name, kind in NAMES.items()):
        raise ValueError
    in_common = {name: value for name, value in plain.items() if name not in NAMES}
    return replace(_cell(to_json(in_common, inf_nan_mode="constants")), **names)


def _quick_run(plain: dict[str, Any]) -> Run:
    """A run from its plain values; some error, which says nothing, where it may be none."""
    session = _quick_session(plain.pop("session"))
    _read_reasons(plain)
    text = to_json(plain, inf_nan_mode="constants")
    held = adapter(HELD).validate_json(text, strict=True, extra="forbid")
    return Run(session, **vars(held))


@functools.lru_cache(maxsize=CELLS)
def _cell(text: bytes) -> Session:
    """What the sessions of a cell have in common, checked once; their names are left open."""
    plain = from_json(text) | {"id": "", "seed": 0, "replicate": 1}
    _refuse_unsaid(plain)
    session = adapter(Session).validate_json(_json(plain), strict=True, extra="forbid")
    refuse_depth(dict(session.models), LEVELS - 3)  # no other part can be nested too deep
    return shared(session)


def session_to_plain(session: Session) -> dict[str, Any]:
    """A planned session as plain JSON values."""
    return _brief_session(adapter(Session).dump_python(session, mode="json"))


def score_to_plain(score: Score) -> dict[str, Any]:
    """A score as plain JSON values; an undefined value is null."""
    plain = {name: getattr(score, name) for name in SCORED}
    if math.isnan(score.value):
        plain["value"] = None
    return plain


def score_to_json(score: Score) -> str:
    """A score as JSON text, what `score_to_plain` gives; ValueError for an infinite value."""
    try:
        if not math.isinf(score.value):  # which would be written as null
            return adapter(Score).dump_json(score).decode()
    except PydanticSerializationError:  # half a character
        pass
    return json.dumps(score_to_plain(score), allow_nan=False)


def score_from_plain(record: Mapping[str, Any]) -> Score:
    """A score from its plain JSON values; Damaged if it is none."""
    undefined = record.get("value", 0) is None
    defined = {**record, "value": 0.0} if undefined else record
    try:
        score = adapter(Score).validate_json(_json(defined), strict=True)
    except ValidationError as error:
        raise Damaged(_fault(error)) from None
    return replace(score, value=math.nan) if undefined else score


def differences(old: Any, new: Any, at: str = "") -> list[str]:
    """What differs between two plain JSON values, one line a difference: where, old, new."""
    if isinstance(old, dict) and isinstance(new, dict):
        found = []
        for key in {**old, **new}:
            place = f"{at}.{key}" if at else str(key)
            found += differences(old.get(key), new.get(key), place)
        return found
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        found = []
        for i, (before, after) in enumerate(zip(old, new, strict=True), 1):
            found += differences(before, after, f"{at}[{i}]")
        return found
    if isinstance(old, str) and isinstance(new, str) and old != new:
        # Of long texts the part is shown in which they begin to differ.
        pairs = zip(old, new, strict=False)
        same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
        if same > 40:
            old, new = f"...{old[same - 30 :]}", f"...{new[same - 30 :]}"
    return [] if old == new else [f"{at}: {_brief(old)} -> {_brief(new)}"]


def _brief_session(plain: dict[str, Any]) -> dict[str, Any]:
    unsaid = {"reverse_scale": None, "transcript_window": None, "rules": None, "background": True}
    procedure = _without(plain["procedure"], **unsaid, **OFF)
    if "rules" in procedure:
        procedure["rules"] = _without(procedure["rules"], **dict.fromkeys(DEMANDS, False))
    unused = {"personas": "", "witnesses": [], **dict.fromkeys(UNUSED)}
    treatment = _without(plain["treatment"], paraphrase_of="")
    brief = _without(plain | {"procedure": procedure, "treatment": treatment}, **unused)
    if "conversation" in brief:
        brief["conversation"] = _without(brief["conversation"], waves={})
    if "before" in brief:
        brief["before"] = _brief_session(brief["before"])
    return brief


def reasons_to_plain(missing: Mapping[str, Reason]) -> dict[str, str]:
    """Reasons by what is missing, each as the text that files hold."""
    return {name: str(reason) for name, reason in missing.items()}


def reasons_from_plain(missing: Mapping[str, Any]) -> dict[str, Any]:
    """Such texts as the fields of reasons; what is no text is left to the check that follows."""
    found = {}
    for name, text in missing.items():
        found[name] = asdict(reason_from_text(text)) if isinstance(text, str) else text
    return found


def _read_reasons(plain: dict[str, Any]) -> None:
    """Turn the reasons of a run's responses from texts into fields."""
    responses = plain.get("responses")
    for response in responses if isinstance(responses, list) else ():
        if isinstance(response, dict) and isinstance(response.get("missing"), dict):
            response["missing"] = reasons_from_plain(response["missing"])


def _without(plain: dict[str, Any], **unsaid: Any) -> dict[str, Any]:
    """Plain values without these fields where they say nothing: what schema 1 did not have at first
    is written only where used.
    """
    said = plain.items()
    return {name: value for name, value in said if name not in unsaid or value != unsaid[name]}


def _finite(session: Session) -> None:
    """Refuse settings that are NaN or infinite, which would be written as null."""
    json.dumps(dict(session.models), allow_nan=False, default=dict)


def _brief(value: Any) -> str:
    if isinstance(value, list):
        return f"{len(value)} entries"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "..."


def _text(plain: Mapping[str, Any]) -> str:
    return to_json(plain, indent=1).decode() + "\n"


def _read(kind: type[T], text: str | bytes) -> T:
    try:
        plain = json_value(text)
    except ValueError as error:
        raise Damaged(f"not JSON: {error}") from None
    if not isinstance(plain, dict) or "schema" not in plain:
        raise Damaged("no schema number: this is not a file of delibsim")
    if plain.pop("schema") != SCHEMA:
        raise Damaged(
            f"written under another schema than {SCHEMA}, the one this version of delibsim reads"
        )
    try:
        _refuse_unsaid(plain.get("session", plain))
        _read_reasons(plain)
        # What this version does not know may change the meaning of what it knows, so such a file is
        # refused.
        return adapter(kind).validate_json(_json(plain), strict=True, extra="forbid")
    except ValidationError as error:
        raise Damaged(_fault(error)) from None


def _json(plain: Any) -> bytes | str:
    """Plain values as JSON, to be read at once."""
    try:
        return to_json(plain, inf_nan_mode="constants")
    except PydanticSerializationError:  # half a character
        return json.dumps(plain)


def _refuse_unsaid(session: Any) -> None:
    """Refuse a planned session, or one that it branched off, whose procedure leaves a setting of
    `SAID` open.
    """
    while isinstance(session, dict):
        procedure = session.get("procedure")
        for name in SAID if isinstance(procedure, dict) else ():
            if name not in procedure:
                raise Damaged(f"procedure.{name} is missing")
        session = session.get("before")


def _fault(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc'])) or 'file'}: {first['msg']}"


def each_score(file: Path) -> Iterator[Score]:
    """The scores of a file; Damaged, at last, where a line is none."""
    damaged = 0
    try:
        for _, record in each_line(file):
            if record is None:
                damaged += 1
            else:
                yield score_from_plain(record)
    except Damaged as error:
        raise Damaged(f"{file}: {error}; score the study again") from None
    if damaged:
        raise Damaged(f"{file}: {damaged} damaged lines; score the study again")
