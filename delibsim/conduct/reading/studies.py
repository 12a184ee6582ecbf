"""All studies at a glance: what the first page says of each, from files that are quick to read; and
how a study stands that is being held now.

Nothing is analysed here: an effect is that of the finding which `delibsim analyze` wrote.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from delibsim.analysis.causes import causes_in
from delibsim.conduct.cost import log_of
from delibsim.conduct.reading.written import ANALYSIS
from delibsim.domain.cost import Money, sum_of, total_of
from delibsim.domain.errors import WrongInput
from delibsim.domain.hosting import PERSON
from delibsim.domain.study import natural
from delibsim.domain.text import counted
from delibsim.store.files import each_line
from delibsim.store.manifest import Manifest
from delibsim.store.own_folder import own_bytes, own_stamp
from delibsim.store.places import account_of
from delibsim.store.reading import adapter, file_bytes, json_value
from delibsim.store.runs import Runs
from delibsim.store.sent import calls_or_fault
from delibsim.store.session_notes import FILE, begun_sessions
from delibsim.store.study_texts import StudyTexts

FINDING = f"{ANALYSIS}/finding.json"
LARGEST = 1_000_000
"""Bytes of a finding in short."""
ASKED = 3
"""Topics whose question is read from a plan where no finding tells it."""
LOOKED = 200
"""Logs that are read of a study that is being held."""
SORTED_BY = ("study", "began", "sessions", "cost", "effect")
"""What the list of studies can be sorted by."""


@dataclass(frozen=True)
class EffectInShort:
    """A contrast of a finding: its treatments, the outcome, the estimate (None without one), and
    the estimate with its interval and its verb in words.
    """

    contrast: str
    outcome: str
    estimate: float | None
    told: str


@dataclass(frozen=True)
class FindingInShort:
    """What a study found, as the list of studies shows it: questions of topics by id, effects, and
    how many sessions were held by then.
    """

    topics: Mapping[str, str]
    effects: Sequence[EffectInShort]
    sessions: int


@dataclass(frozen=True)
class HeldNow:
    """A study that is being held: what was spent, why calls are not ok, one line a cause, and the
    newest statement: its session, who made it when, and the reply as it came.
    """

    money: str
    causes: Sequence[str]
    session: str = ""
    who: str = ""
    said: str = ""


@dataclass(frozen=True)
class ListedStudy:
    """A study on the first page.

    `topics` are ids with questions ("" where no more are read). `cost_usd` is what its held
    sessions cost, None where that is not known of each. `finding` is None where the study was not
    analysed, or what was written cannot be read. `people` says whether people take part, `now` what
    a process does with it.
    """

    study: str
    folder: str
    began: str
    topics: Mapping[str, str]
    models: Sequence[str]
    treatments: Sequence[str]
    sessions: int
    held: int
    texts: int | None
    cost_usd: float | None
    finding: FindingInShort | None
    people: bool
    now: HeldNow | None

    def holds(self, words: Iterable[str]) -> bool:
        """Whether it is named by all these words, in small letters."""
        named = (self.study, *self.topics, *self.topics.values(), *self.models, *self.treatments)
        text = " ".join(named).casefold()
        return all(word in text for word in words)

    def sorted_by(self, name: str) -> Any:
        """What it is sorted by; None where that is missing, which comes last."""
        if name == "effect":
            effects = self.finding.effects if self.finding is not None else ()
            return effects[0].estimate if effects else None
        values = {"study": natural(self.study), "began": self.began or None}
        return (values | {"sessions": self.held, "cost": self.cost_usd})[name]


def listed_study(runs: Runs, folder: str, private: bool, live: bool) -> ListedStudy:
    """What the first page says of a study; WrongInput where its study.json is damaged.

    Where it is `private`, nothing of a finding or of what is being said, which may hold personas;
    where it is not `live`, nothing of what a process does with it now.
    """
    manifest, texts = runs.manifest(), StudyTexts(runs)
    if manifest is None:
        raise WrongInput(f"{folder} has no study.json")
    begun = begun_sessions(runs)
    held = [name for name, stamp in begun.items() if stamp]
    finding = None if private else finding_of(runs)
    return ListedStudy(
        study=runs.study,
        folder=folder,
        began=str(manifest.begun.get("at", ""))[:10],
        topics=_topics(runs, manifest, begun, finding),
        models=list(manifest.components.get("models", ())),
        treatments=list(manifest.components.get("treatments", ())),
        sessions=len({*begun, *manifest.sessions}),
        held=len(held),
        texts=texts.count() if texts.held() else None,
        cost_usd=_cost(runs, held),
        finding=finding,
        people=any(_kind(one) == PERSON for one in manifest.components.get("models", {}).values()),
        now=progress_of(runs, private) if live and runs.holder() else None,
    )


def chosen(
    studies: Iterable[ListedStudy], words: str, by: str, descending: bool
) -> list[ListedStudy]:
    """The studies that hold all these words, sorted; by name where no column is named."""
    wanted = words.casefold().split()
    found = [one for one in studies if one.holds(wanted)]
    if by not in SORTED_BY:
        return found
    known = [one for one in found if one.sorted_by(by) is not None]
    known.sort(key=lambda one: one.sorted_by(by), reverse=descending)
    return [*known, *(one for one in found if one.sorted_by(by) is None)]


def finding_of(runs: Runs) -> FindingInShort | None:
    """What `delibsim analyze` found; None where it wrote nothing that can be read."""
    with suppress(OSError, ValueError):
        return _finding(runs.folder, own_stamp(runs.folder, FINDING))
    return None


@lru_cache(maxsize=1_000)
def _finding(folder: Path, _: tuple[int, ...]) -> FindingInShort | None:
    plain = json_value(own_bytes(folder, FINDING, LARGEST))
    try:
        return adapter(FindingInShort).validate_python(plain)
    except ValidationError:
        return None


def _kind(settings: Any) -> str:
    return str(settings.get("kind", "")) if isinstance(settings, Mapping) else ""


def _topics(
    runs: Runs, manifest: Manifest, begun: Iterable[str], finding: FindingInShort | None
) -> dict[str, str]:
    """The topics of a study with their questions, of the first ones from a plan."""
    names = list(manifest.components.get("topics", ()))
    known = dict(finding.topics) if finding is not None else {}
    if not known:
        sessions = list(begun)
        for name in names[:ASKED]:
            of_topic = (one for one in sessions if one.partition(".")[0] == name)
            known[name] = _question(runs.folder, next(of_topic, ""))
    return {name: known.get(name, "") for name in names}


def _question(folder: Path, session: str) -> str:
    with suppress(OSError, ValueError, LookupError, TypeError):
        return str(json_value(file_bytes(folder / session / "session.json"))["topic"]["question"])
    return ""


def _cost(runs: Runs, held: Sequence[str]) -> float | None:
    """What the held sessions cost, None where it is not known of one of them."""
    known = _kept(runs)
    unknown = KeptCost(None, 0)
    return sum_of(known.get(name, unknown).cost_usd for name in held)


@dataclass(frozen=True, slots=True)
class KeptCost:
    """What is kept of the cost of a session, None where it is unknown, and of its failed calls."""

    cost_usd: float | None
    calls_not_ok: int


def _kept(runs: Runs) -> Mapping[str, KeptCost]:
    """The costs of sessions that are kept beside them; nothing where that file cannot be read."""
    with suppress(OSError):
        return _costs(runs.folder, own_stamp(runs.folder, FILE))
    return {}


@lru_cache(maxsize=1_000)
def _costs(folder: Path, _: tuple[int, ...]) -> Mapping[str, KeptCost]:
    found = {}
    for _line, record in each_line(folder / FILE):
        with suppress(AttributeError, LookupError, TypeError, ValueError, OverflowError):
            facts = (record or {})["facts"]
            usd = facts.get("cost_usd")
            known = None if usd is None else float(usd)
            found[str((record or {})["session"])] = KeptCost(known, int(facts["calls_not_ok"]))
    return found


def progress_of(runs: Runs, private: bool) -> HeldNow:
    """How a study stands that is being held, by what is kept of its sessions, and by the logs of
    those that have no run yet, or in which calls failed; of many of these the newest are read.
    Where it is `private`, money alone.
    """
    account, kept = account_of(runs), _kept(runs)
    known = {name: kept[name] for name in account.held if name in kept}
    well = {
        name for name, one in known.items() if one.cost_usd is not None and not one.calls_not_ok
    }
    others = [name for name in account.begun if name not in well]
    newest = sorted(others, key=lambda name: _changed(runs, name))[-LOOKED:]
    money, failed = [Money(known[name].cost_usd or 0.0) for name in well], []
    for name in newest:
        with suppress(WrongInput):
            log = log_of(runs, runs.planned(name))
            money.append(log.money)
            failed += [(name, cause) for cause, _ in log.failed]
    told = total_of(money).told(in_flight=True)
    if unread := len(others) - len(newest):
        told = f"{told}, without {counted(unread, 'session')}"
    if private:
        return HeldNow(told, ())
    causes = [str(one) for one in causes_in(failed)]
    return HeldNow(told, causes, *next(_said(runs, reversed(newest)), ("", "", "")))


def _changed(runs: Runs, session: str) -> int:
    with suppress(OSError):
        return (runs.path(session) / "exchanges.jsonl").stat().st_mtime_ns
    return 0


def _said(runs: Runs, sessions: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """The last reply of a turn in each of these sessions."""
    for name in sessions:
        (records, _, _), _ = calls_or_fault(runs, name)
        for record in reversed(records):
            purpose, done = record.get("purpose", {}), record.get("completion", {})
            occasion = str(purpose.get("occasion", ""))
            if occasion.startswith("turn ") and done.get("status") == "ok":
                yield name, f"{purpose.get('participant')}, {occasion}", str(done.get("text", ""))
                break
