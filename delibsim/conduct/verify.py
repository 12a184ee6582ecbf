"""Verifying a study: runs against their records, files and plans against their hashes, what was
asked about its texts against the records of that.
"""

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from delibsim.asking.kinds.code import CODES
from delibsim.asking.kinds.judgment import JUDGMENTS
from delibsim.asking.kinds.pair import PAIRS
from delibsim.asking.kinds.rating import RATINGS
from delibsim.asking.kinds.summary import SUMMARIES
from delibsim.asking.nouns import Kind
from delibsim.asking.road import Replayed, replay
from delibsim.conduct.replay import compare, compare_on_record
from delibsim.domain.errors import WrongInput
from delibsim.domain.format import DEBATE
from delibsim.domain.run import Session
from delibsim.domain.study import cell_of, natural
from delibsim.engine.check import prompt_hash
from delibsim.planning.cell import digest
from delibsim.store.annotations import TaskFolder, tasks_of
from delibsim.store.answers import Codings, Comparisons, Judgments, PanelRatings, Summaries
from delibsim.store.manifest import Manifest
from delibsim.store.own_folder import foreign_in
from delibsim.store.runs import Runs
from delibsim.store.session_files import (
    BRANCHES,
    PLAN,
    RECORD,
    RUN,
    WITHIN,
    changed_files,
    lost_run,
    sum_of,
    sums_in,
)

Watch = Callable[[str, int, int], None]
EQUAL, NO_RUN, WITHDRAWN, NO_RECORD = "equal", "no run", "withdrawn", "no record"
IMPORTED = "imported"
WHOLE = (EQUAL, NO_RUN, WITHDRAWN, NO_RECORD, IMPORTED)
"""The verdicts under which nothing differs."""
KINDS: Mapping[str, Kind] = {
    Codings.prefix: CODES,
    Comparisons.prefix: PAIRS,
    Summaries.prefix: SUMMARIES,
    Judgments.prefix: JUDGMENTS,
    PanelRatings.prefix: RATINGS,
}
"""The kind of a task whose answers can be computed again, by the beginning of its name."""


@dataclass(frozen=True)
class Finding:
    """What came of verifying one session or task: its name, the verdict, what differs.

    Of a session the verdicts are those of a replay, and: changed (a file, or what study.json says
    of the plan), lost (its run is gone), no run, withdrawn, imported (people held it elsewhere: its
    files are compared with their check sums alone). `summed` says whether its check sums
    are known. Of a task `answers` were computed again; "no record" and "imported" (others gave
    them) say that none can be.
    """

    name: str
    verdict: str
    changed: tuple[str, ...] = ()
    summed: bool = True
    answers: int = 0

    @property
    def whole(self) -> bool:
        """Whether nothing differs."""
        return self.verdict in WHOLE


@dataclass(frozen=True)
class Verified:
    """What came of verifying a study, or one of its runs.

    `not_begun` are sessions that are planned and of which nothing is there.
    """

    study: str
    sessions: Sequence[Finding]
    tasks: Sequence[Finding] = ()
    not_begun: Sequence[str] = ()

    @property
    def differing(self) -> list[Finding]:
        """What is not as it was written, or not what its record gives."""
        return [one for one in (*self.sessions, *self.tasks) if not one.whole]

    @property
    def counts(self) -> Counter[str]:
        """How many sessions have each verdict."""
        return Counter(one.verdict for one in self.sessions)

    @property
    def within(self) -> Counter[str]:
        """How many of those that are equal lie in each folder of branches or of the null twin."""
        equal = [one.name.partition("/") for one in self.sessions if one.verdict == EQUAL]
        return Counter(kind for kind, _, name in equal if name and kind in WITHIN)

    @property
    def without_sums(self) -> list[str]:
        """The runs whose check sums are not known."""
        return [one.name for one in self.sessions if not one.summed]

    @property
    def something(self) -> bool:
        """Whether there was anything to compare."""
        compared = EQUAL, IMPORTED
        replayed = [one for one in (*self.sessions, *self.tasks) if one.verdict in compared]
        return bool(replayed or self.differing)

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        tasks = []
        for one in self.tasks:
            tasks.append({"task": one.name, "answers": one.answers, "verdict": one.verdict})
        differing = []
        for one in self.differing:
            told = {"name": one.name, "verdict": one.verdict, "changed": list(one.changed)}
            differing.append(told)
        return {
            "study": self.study,
            "verdict": "different" if self.differing else EQUAL,
            "sessions": dict(self.counts),
            "not_begun": len(self.not_begun),
            "without_check_sums": len(self.without_sums),
            "tasks": tasks,
            "differing": differing,
        }


async def verify_study(
    runs: Runs, watch: Watch = lambda what, done, of: None, on_record: bool = False
) -> Verified:
    """Verify a study with its forks, probes and null twin, and what was asked about its texts.

    The folder may be reached through a link; what lies in it are files and folders alone.
    With `on_record` recorded answers stand although this version words a prompt otherwise. Nobody
    is asked. WrongInput where study.json cannot be read.
    """
    places = [(runs, "")]
    for kind in WITHIN:
        if (runs.folder / kind / "study.json").is_file():
            places.append((Runs.at(runs.folder / kind), f"{kind}/"))
    found: list[Finding] = []
    tasks: list[Finding] = []
    not_begun: list[str] = []
    for place, prefix in places:
        manifest = place.manifest()
        begun = _begun(place)
        planned = manifest.sessions if manifest else ()
        not_begun += [f"{prefix}{name}" for name in planned if name not in begun]
        for number, name in enumerate(sorted(begun, key=natural), 1):
            found.append(await _verified(place, name, manifest, on_record, prefix))
            watch(f"verifying {place.study}:", number, len(begun))
        async for task in _tasks(place):
            tasks.append(replace(task, name=f"{prefix}{task.name}"))
    found = _with_foreign(found, runs)
    return Verified(runs.study, found, tasks, not_begun)


def _with_foreign(found: Sequence[Finding], runs: Runs) -> list[Finding]:
    """The findings on sessions, with the links, pipes and devices that lie in their folders or
    elsewhere in the study.
    """
    foreign: defaultdict[str, list[str]] = defaultdict(list)
    for path in foreign_in(runs.folder):
        parts = path.split("/")
        name = "/".join(parts[: 2 if parts[0] in WITHIN else 1])
        foreign[name].append(path)
    told = []
    for one in found:
        told.append(_beside_foreign(one, foreign.pop(one.name, ())))
    told += [_beside_foreign(Finding(name, EQUAL), paths) for name, paths in foreign.items()]
    return told


def _beside_foreign(found: Finding, paths: Sequence[str]) -> Finding:
    """A finding, with these paths of links, pipes and devices."""
    if not paths:
        return found
    changed = [f"{path} is a link, a pipe or a device: only regular files count" for path in paths]
    verdict = "changed" if found.whole else found.verdict
    return replace(found, verdict=verdict, changed=(*changed, *found.changed))


async def verify_run(runs: Runs, session: str, on_record: bool = False) -> Verified:
    """Verify one run of a study."""
    found = await _verified(runs, session, runs.manifest(), on_record, "")
    paths = list(foreign_in(runs.path(session)))
    return Verified(runs.study, [_beside_foreign(found, paths)])


def _begun(runs: Runs) -> set[str]:
    """The sessions of which anything is there, those whose plan is gone among them."""
    found = set(runs.sessions())
    for kind in (RUN, RECORD):
        found |= {path.parent.name for path in runs.folder.glob(f"*/{kind}")}
    return found


async def _verified(
    runs: Runs, name: str, manifest: Manifest | None, on_record: bool, prefix: str
) -> Finding:
    """Verify one session."""
    place, folder = f"{prefix}{name}", runs.path(name)
    if runs.withdrawn(name):
        return Finding(place, WITHDRAWN)
    if not runs.held(name):
        return _without_run(runs, name, place)
    sums = sums_in(folder)
    summed = sums.keys() >= {PLAN, RUN}
    changed = changed_files(folder)
    try:
        session = runs.unchecked().planned(name)
        if not summed:
            changed += _against_run(runs, session)
        changed += _against_manifest(session, manifest, on_record)
        changed += _against_parent(runs, session)
        if on_record:
            verdict, differences, _ = await compare_on_record(runs, name)
        else:
            verdict, differences = await compare(runs, name)
    except Exception as error:  # noqa: BLE001 - files that anybody may have edited, and the others go on
        fault = str(error) if isinstance(error, WrongInput) else f"{type(error).__name__}: {error}"
        verdict, differences = "damaged", [f"it cannot be replayed: {fault}"]
    if changed and verdict in (EQUAL, IMPORTED):
        return Finding(place, "changed", tuple(changed), summed)
    return Finding(place, verdict, (*changed, *differences), summed)


def _without_run(runs: Runs, name: str, place: str) -> Finding:
    """What is known of a session that has no run."""
    if lost := lost_run(runs.path(name)):
        return Finding(place, "lost", tuple(lost))
    try:
        runs.planned(name)
    except WrongInput as error:
        return Finding(place, "damaged", (str(error),))
    return Finding(place, NO_RUN)


def _against_run(runs: Runs, session: Session) -> list[str]:
    """Whether the plan is not the one that the run was held under."""
    if runs.unchecked().run(session.id).session == session:
        return []
    return [f"session.json is not the plan that {RUN} was held under"]


def _against_manifest(session: Session, manifest: Manifest | None, on_record: bool) -> list[str]:
    """What of a plan is not what study.json says: its name, its topic and survey, its seed, its
    prompts.

    The hash of a motion covers more than plans hold, so it is not compared.
    """
    if manifest is None:
        return []
    found = []
    if manifest.sessions and session.id not in manifest.sessions:
        found.append("study.json plans no such session")
    for kind, entry in (("topics", session.topic), ("surveys", session.survey)):
        kept = manifest.components.get(kind, {}).get(entry.id)
        if kind == "topics" and session.format == DEBATE.name:
            continue
        if kept is not None and kept != _digest(entry):
            found.append(f"{kind}.{entry.id} is not the one that study.json has the hash of")
    seed = manifest.settings.get("seed", session.seed)
    if seed != session.seed:
        found.append(f"seed: {seed} in study.json, {session.seed} in the plan")
    kept = manifest.prompts.get(cell_of(session))
    if kept is not None and not on_record and kept != prompt_hash(session):
        found.append(f"prompts of {cell_of(session)}: not those that study.json has the hash of")
    return found


@cache
def _digest(entry: Any) -> str:
    return digest(entry)


def _against_parent(runs: Runs, session: Session) -> list[str]:
    """Whether the run that a branch comes from is another now; one that is gone is not looked
    for.
    """
    if session.parentage is None:
        return []
    kind = session.parentage.study.rpartition("/")[2]
    study = runs.folder.parent / kind if kind in BRANCHES else runs.folder.parent
    parent = study / session.parentage.session / RUN
    if not parent.is_file() or sum_of(parent) == session.parentage.run:
        return []
    return [f"the {RUN} of its parent, {session.parentage.session}, is not what it branched off"]


async def _tasks(runs: Runs) -> AsyncIterator[Finding]:
    """What was asked about the texts of a study, task by task."""
    for task in tasks_of(runs):
        prefix = next((one for one in KINDS if task.startswith(one)), "")
        if not prefix:
            yield Finding(task, NO_RECORD)
            continue
        try:
            if IMPORTED in TaskFolder.of(runs, task).task():
                yield Finding(task, IMPORTED)
                continue
            kept = KINDS[prefix].kept(runs, task.removeprefix(prefix))
            yield _of_task(task, await replay(kept))
        except Exception as error:  # noqa: BLE001 - as for sessions
            folder = TaskFolder.of(runs, task)
            asked = folder.exchanges.is_file() or folder.annotations.is_file()
            verdict = "damaged" if asked else NO_RECORD
            yield Finding(task, verdict, (f"{type(error).__name__}: {error}",))


def _of_task(task: str, replayed: Replayed) -> Finding:
    return Finding(task, replayed.verdict, replayed.differences, answers=replayed.answers)
