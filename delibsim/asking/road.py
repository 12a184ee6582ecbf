"""The road of asking: what of a task may change, asking and resuming, replaying, estimating.

It is the same for every kind. Resume is replay: what is on record is answered from there, and only
what is not kept yet is asked.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from delibsim.asking.nouns import Key, Kind, Outcome, Plan, Question, Round
from delibsim.asking.record import (
    AskingProgress,
    ExchangeRecord,
    Standing,
    ask_in_turn,
    could_not_be_asked,
)
from delibsim.domain.annotation import Annotation
from delibsim.domain.cost import OUTCOMES
from delibsim.domain.errors import WrongInput
from delibsim.domain.reason import Reason
from delibsim.domain.text import plural_of, study_named
from delibsim.models.ask import Settled, format_in, models_settled, settled_in
from delibsim.models.base import LanguageModel
from delibsim.models.pool import ModelPool, few_sweeps
from delibsim.models.replay import Replay, exchanges_in
from delibsim.planning.estimate import CostEstimate, estimate_loads
from delibsim.planning.load import Load
from delibsim.prompts.prompt import Prompt, SchemaFormat
from delibsim.store.codec import differences

SHOWN = 12
"""How many differences a refusal lists."""
Notify = Callable[[str], None]
"""Shows one line to the user."""
Open = Callable[[], Awaitable[ModelPool]]
"""Opens the models of a plan, after what has to be known before anything is paid."""


def merge(kind: Kind, answers: Any, new: Mapping[str, Any]) -> dict[str, Any]:
    """What a study keeps of a task after a command that goes on with it; nobody is bound to the
    settings of a command that got no answer.

    WrongInput, naming what differs, where other settings or texts would stand under the answers
    that there are.
    """
    begun = answers.files.task() if answers.bound else {}
    if not begun:
        return dict(new)
    settled_before = settled_in(begun["models"].values())
    new = dict[str, Any](new, models=models_settled(new["models"], settled_before))
    growth, changed = kind.growth, []
    for name in growth.fixed:
        changed += differences(begun.get(name), new.get(name), name)
    for name in growth.named:
        known = begun.get(name, {})
        for key, own in new.get(name, {}).items():
            if key in known:
                changed += differences(known[key], own, f"{name}.{key}")
    where = f"{study_named(begun['study'])}, {answers.called} {answers.name}"
    given, other = f"the {plural_of(kind.noun)} that there are", f"{answers.key}=NAME"
    refuse_if(
        changed,
        f"{where}: these settings are not those of {given}",
        f"go on with the settings as they were, or name another task: {other}; other settings of a"
        " model need another model.name, other sentences another wording",
    )
    refuse_if(
        changed_texts(begun[growth.texts], new[growth.texts], growth.come, growth.go),
        f"{where}: the texts are not those of {given}",
        f"nobody was asked; put the texts back as they were, or name another task: {other}",
    )
    found = dict(new)
    for name in (*growth.named, *growth.joined):
        if name in begun or name in new:
            found[name] = _joined(begun.get(name), new.get(name))
    for name in growth.larger:
        found[name] = _larger(begun[name], new[name])
    for name in growth.kept:
        if name in begun:
            found[name] = begun[name]
    return found


def settled(plan: Plan, found: Settled) -> Plan:
    """A plan in whose coders `auto` is replaced by what it turned out to be."""
    task = dict(plan.task)
    if "models" in task:
        task["models"] = models_settled(task["models"], found)
    return replace(plan, models=models_settled(plan.models, found), task=task)


def _joined(begun: Any, new: Any) -> Any:
    """A table or list with what is new behind what was there; sizes in order."""
    if isinstance(begun or new, Mapping):
        return {**(begun or {}), **(new or {})}
    found = [*(begun or ()), *(one for one in new or () if one not in (begun or ()))]
    return sorted(found) if all(isinstance(one, int) for one in found) else found


def _larger(begun: Any, new: Any) -> Any:
    """The larger of two numbers, by name where there are several; of numbers that were asked for
    one after the other all of them, where the new one is larger.
    """
    if isinstance(begun, Mapping):
        return {**begun, **{name: max(begun.get(name, 0), n) for name, n in new.items()}}
    if isinstance(begun, list):
        return [*begun, *new] if new[-1] > begun[-1] else begun
    return max(begun, new)


def changed_texts(
    begun: Mapping[str, str], new: Mapping[str, str], come: bool = False, go: bool = False
) -> list[str]:
    """The texts that are not the ones that were asked about: edited and, unless they may `come` and
    `go`, new or lost.
    """
    found = [f"{id}: edited" for id in begun if new.get(id, begun[id]) != begun[id]]
    if not go:
        found += [f"{id}: no longer there" for id in begun if id not in new]
    if not come:
        found += [f"{id}: new" for id in new if id not in begun]
    return found


def refuse_if(changed: Sequence[str], problem: str, advice: str) -> None:
    """WrongInput with what differs, a line each, and what to do; nothing where nothing does."""
    if not changed:
        return
    more = [f"  and {len(changed) - SHOWN} more"] if len(changed) > SHOWN else []
    shown = [f"  {line}" for line in changed[:SHOWN]]
    raise WrongInput("\n".join([f"{problem}:", *shown, *more, advice]))


IMPORTED = "imported"
"""What a task keeps of the files of which its answers came."""


def refuse_imported(task: Mapping[str, Any], what: str) -> None:
    """WrongInput for a task whose answers were imported: nobody was asked, so nothing is replayed
    or asked further.
    """
    if IMPORTED in task:
        raise WrongInput(f"{what} were imported, so there is no record; name others: name=NAME")


class Asking:
    """One command that asks coders: the answers that there are, the record, and what could not be
    asked, by coder.
    """

    def __init__(self, plan: Plan, pool: ModelPool, notify: Notify, done: dict[Key, Any]) -> None:
        self.plan, self.pool, self.done = plan, pool, done
        self.wanted = plan.answer_keys()
        waiting = [key for key in self.wanted if key not in done]
        needed = None
        if waiting and plan.kind.occasion(waiting[0]) is not None:
            needed = {(self.wanted[key], str(plan.kind.occasion(key))) for key in waiting}
        self.record = ExchangeRecord(plan.answers.files.exchanges, pool.limits.durable, needed)
        self.progress = AskingProgress(len(waiting), pool, notify, plan.kind.noun)
        self.new = 0
        self._faults: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def model(self, coder: str, one: Round) -> LanguageModel:
        """Who speaks for a coder in a round, behind the record."""
        name = self.plan.kind.model(self.plan, coder)
        own = self.plan.models.get(name, {})
        settings = {**own, **{k: v for k, v in one.changed.items() if own.get(k) is not None}}
        seed = self.plan.task.get("seed") if one.population is None else one.population
        voice = self.plan.kind.voice(coder)
        return self.record.before(voice or self.pool.model(name, settings, seed))

    async def ask(self, coder: str, rounds: Iterable[Round]) -> str:
        """Ask one coder round by round; why it was given up, "" where all was asked."""
        at_once, standing = self.pool.limits.concurrency, Standing()
        for one in rounds:
            model, keep = self.model(coder, one), partial(self._keep, coder)
            asked = in_json(one.questions, self.plan, coder)
            await ask_in_turn(asked, model, keep, at_once, standing)
            if standing.given_up:
                break
        return standing.given_up

    def keep(self, answers: Iterable[Any]) -> None:
        """Keep answers that there are not yet."""
        for answer in answers:
            if answer.key in self.done:
                continue
            self.plan.answers.add([answer])
            self.done[answer.key] = answer
            if answer.key in self.wanted:
                self.new += 1
                missing = self.plan.kind.missing(answer)
                self.progress.note(missing.code if missing else "")

    def _keep(self, coder: str, question: Question, reply: Annotation) -> None:
        """Keep what a reply gives; a call that failed is made again when the command is given
        again.
        """
        if could_not_be_asked(reply):
            self._faults[coder][_fault(reply)] += 1
        else:
            self.keep(question.read(reply))

    def told(self, coder: str, given_up: str, missed: int) -> list[str]:
        """Why a coder gave no answer to some questions, in sentences."""
        told = [f"{coder}: {fault} ({n:,})" for fault, n in self._faults[coder].items()]
        if given_up:
            rest = f"{missed:,} {plural_of(self.plan.kind.noun)} are still to be given"
            told.append(f"{coder} was given up: {given_up}; {rest}")
        return told

    async def one(self, coder: str) -> list[str]:
        """Ask one coder for all that is waiting; why some of it could not be."""
        kind, faults = self.plan.kind, []
        keys = {key for key in kind.keys(self.plan, coder) if key not in self.done}
        if not keys:
            return []
        given_up = await self.ask(coder, kind.rounds(self.plan, coder, keys, self.done, faults))
        missed = sum(key not in self.done for key in keys)
        return [*faults, *self.told(coder, given_up, missed)]

    async def all(self) -> list[str]:
        """Ask all coders at once; why some of it could not be asked."""
        found = await asyncio.gather(*map(self.one, self.plan.coders))
        return [fault for own in found for fault in own]


def in_json(questions: Iterable[Question], plan: Plan, coder: str) -> Iterable[Question]:
    """Questions to a coder as they are asked where its model is sent schemas."""
    enforced = format_in(plan.models.get(plan.kind.model(plan, coder), {}))
    if not enforced:
        return questions
    return (replace(one, prompt=partial(_asked, one.prompt, enforced)) for one in questions)


def _asked(prompt: Callable[[], Prompt], enforced: SchemaFormat) -> Prompt:
    return prompt().in_json(enforced)


def _fault(reply: Annotation) -> str:
    """Why a call gave no answer, without what differs from text to text."""
    reason = reply.reason
    if reason.code in ("context_overflow", "truncated_prompt"):
        return f"{reply.unit}: the text is too long for it: {reason}"
    return str(reason)


async def ask(plan: Plan, opened: Open, notify: Notify) -> Outcome:
    """Have the answers of a plan given that there are not yet; each is kept as soon as it is there.

    `opened` gives the models, while the study is locked; WrongInput, before anything is asked or
    paid, where it cannot be done. `notify` is called with lines of progress.
    """
    runs, kind = plan.runs, plan.kind
    if unfit := kind.unfit(plan):
        raise WrongInput("; ".join(unfit))
    runs.durable = runs.durable or plan.limits.durable
    done = kept_answers(plan)
    asking, faults = None, []
    with runs.lock():
        if not kind.waits(plan, done):
            plan.answers.files.settle(plan.task)
            kind.ended(plan, done)
        else:
            pool = await opened()
            plan = settled(plan, pool.settled)
            try:
                plan.answers.files.settle(plan.task)
                asking = Asking(plan, pool, notify, done)
                with closing(asking.record), few_sweeps():
                    faults = await kind.course(asking)
                for line in asking.record.unchecked():
                    notify(line)
            finally:
                await pool.close()
    return _outcome(kind.now(plan), done, asking, faults)


def kept_answers(plan: Plan) -> dict[Key, Any]:
    """The answers of language models that there are, by key."""
    return {answer.key: answer for answer in plan.answers.kept()}


def _outcome(
    plan: Plan, done: Mapping[Key, Any], asking: Asking | None, faults: Sequence[str]
) -> Outcome:
    """What came of a command, counted over the answers that it was to give."""
    own = [done[key] for key in plan.answer_keys() if key in done]
    missing = Counter(why.code for why in map(plan.kind.missing, own) if why)
    usable = sum(map(plan.kind.usable, own))
    new = asking.new if asking else 0
    calls = asking.record.asked if asking else 0
    return Outcome(new, len(own) - new, calls, +missing, tuple(faults), usable)


@dataclass(frozen=True)
class Replayed:
    """What came of a replay: how many answers were computed again, and what differs."""

    task: str
    answers: int
    differences: tuple[str, ...]

    @property
    def verdict(self) -> Literal["equal", "different"]:
        """Whether all answers are those that were recorded."""
        return "different" if self.differences else "equal"


async def replay(plan: Plan) -> Replayed:
    """Compute the answers of a task as it was kept (`Kind.kept`) again from the recorded exchanges
    alone, and compare them with those that were kept; nobody is asked.
    """
    kind, name = plan.kind, plan.answers.name
    if lost := kind.lost(plan):
        return Replayed(name, 0, tuple(lost))
    recorded = kept_answers(plan)
    computed: dict[Key, Any] = {}
    faults: dict[Key, str] = {}

    def keep(question: Question, reply: Annotation) -> None:
        if could_not_be_asked(reply):
            faults.update(dict.fromkeys(question.keys, reply.detail))
        else:
            computed.update({answer.key: answer for answer in question.read(reply)})

    files = plan.answers.files
    exchanges = [
        one
        for one in exchanges_in(files.read(files.exchanges)[0])[0]
        if one.completion.status in OUTCOMES
    ]
    wanted = plan.answer_keys()
    for coder in plan.coders:
        own = {key for key in wanted if wanted[key] == coder}
        # What was never asked for comes last: after some of it the record is given up.
        for keys in (own & recorded.keys(), own - recorded.keys()):
            voice = Replay(kind.model(plan, coder), exchanges)
            for one in kind.rounds(plan, coder, keys, computed, []):
                await ask_in_turn(in_json(one.questions, plan, coder), voice, keep, at_once=1)
    found = list(_compared(kind, recorded, computed, faults, wanted))
    found += kind.differs(plan, [computed[key] for key in recorded if key in computed])
    return Replayed(name, sum(key in wanted for key in computed), tuple(found))


def _compared(
    kind: Kind,
    recorded: Mapping[Key, Any],
    computed: Mapping[Key, Any],
    faults: Mapping[Key, str],
    wanted: Collection[Key],
) -> Iterator[str]:
    """What differs between the answers that were kept and those that the record gives. Of steps on
    the way, which are not `wanted`, it is enough that those that were kept are equal.
    """
    for key, answer in recorded.items():
        again = computed.get(key)
        if again is None:
            why = faults.get(key, "the record holds no such call")
            yield f"{kind.named(answer)}: {why}"
        elif again != answer:
            said = f"kept {kind.said(answer)}, the record says {kind.said(again)}"
            yield f"{kind.named(answer)}: {said}"
    for key, answer in computed.items():
        if key not in recorded and key in wanted:
            said = f"on record ({kind.said(answer)}), but not kept as a {kind.noun}"
            yield f"{kind.named(answer)}: {said}"


def estimate(plan: Plan) -> CostEstimate:
    """What the answers of a plan will take that are still to be asked for; nobody is asked."""
    plan = plan.kind.at_most(plan)
    done = set(kept_answers(plan))
    loads, held = dict.fromkeys(plan.models, Load()), 0
    for coder in plan.coders:
        model = plan.kind.model(plan, coder)
        if model not in loads:
            continue
        keys = set(plan.kind.keys(plan, coder))
        waiting = keys - done
        held += len(keys) - len(waiting)
        loads[model] += plan.kind.load(plan, coder, waiting)
    return estimate_loads(loads, plan.models, plan.limits, plan.addresses, held=held)


def missing_reason(reply: Annotation) -> Reason | None:
    """Why a reply has no value; None where it has one."""
    return reply.reason if reply.value is None else None
