"""Comparing texts in pairs: which of two is the stronger on a dimension. The exemplar of a kind.

A unit is a sheet: two texts of one group in an order. What is planned comes from settings
(`plan_pairs`) or, for a replay, from what the study keeps (`Pairs.kept`); both make the same plan.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

from delibsim.asking.designs import (
    Chain,
    PairDesign,
    chain_of,
    further_sheets,
    groups_of,
    sheets_of,
)
from delibsim.asking.kinds import pair_batches
from delibsim.asking.kinds.pair_texts import kept_texts, topics_of
from delibsim.asking.nouns import Growth, Kind, Outcome, Plan, Question, Round, changed_since
from delibsim.asking.road import missing_reason
from delibsim.asking.texts import shown_texts
from delibsim.domain.annotation import Annotation, Text
from delibsim.domain.comparison import Outcome as PairOutcome
from delibsim.domain.comparison import Pair, Sheet, Vote
from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput
from delibsim.domain.scheme import PairExample, QualityDimension
from delibsim.domain.seed import seed_of
from delibsim.domain.text import counted
from delibsim.domain.treatment import Wording, wording_kept
from delibsim.planning.load import MESSAGE, Load, Range, tokens_of
from delibsim.prompts.blocks import quoted
from delibsim.prompts.compare import Manner, compare_prompt, compare_reask
from delibsim.prompts.prompt import Prompt, Purpose
from delibsim.store.answers import Comparisons
from delibsim.store.runs import Runs

ADAPTIVE = "adaptive"
REASON = (15, 60)
"""Words of a reason in one short sentence, and in two long ones."""
Key = tuple[str, str, str, str, int]
"""A vote: first text, second text, dimension, judge, run."""


_TOLD = read_data("asked.yaml")["pair"]


@dataclass(frozen=True)
class ComparisonMaterial:
    """What is put before judges: `texts` word for word and `shown` by id as judges see them, what
    each group is about (`topics`, "" where it is not shown), dimensions, and how judges are asked.

    `names` are what seeds begin with. The sheets of an adaptive comparison differ between
    dimensions, and are those of the batches that there are; `chains` say how further ones are
    chosen. `sources` are the studies from which texts are gathered. `judged` are the pairs that are
    shown as examples, as (a, b, outcome), by dimension and group.
    """

    names: tuple[str, int]
    texts: tuple[Text, ...]
    shown: Mapping[str, Text]
    topics: Mapping[str, str]
    dimensions: tuple[QualityDimension, ...]
    manner: Manner
    wording: Wording
    reasks: int
    repeats: int
    sheets: tuple[Sheet, ...]
    by_dimension: Mapping[str, tuple[Sheet, ...]] = field(default_factory=dict)
    chains: tuple[Chain, ...] = ()
    sources: tuple[Runs, ...] = ()
    judged: Mapping[str, Mapping[str, Sequence[Sequence[str]]]] = field(default_factory=dict)

    def sheets_on(self, dimension: str) -> tuple[Sheet, ...]:
        """The sheets of a dimension."""
        return self.by_dimension.get(dimension, self.sheets)

    def places(self) -> Iterator[tuple[QualityDimension, Sheet, int]]:
        """Every dimension, sheet and run, in the order of asking."""
        for dimension in self.dimensions:
            for sheet in self.sheets_on(dimension.id):
                for run in range(1, self.repeats + 1):
                    yield dimension, sheet, run

    @property
    def pairs(self) -> int:
        """How many pairs the sheets are of."""
        return len({sheet.pair for sheet in self.sheets})

    def with_sheets(self, by_dimension: Mapping[str, tuple[Sheet, ...]]) -> "ComparisonMaterial":
        """The same with these sheets on its dimensions."""
        every = tuple(dict.fromkeys(sheet for own in by_dimension.values() for sheet in own))
        return replace(self, sheets=every, by_dimension=dict(by_dimension))

    def prompt(self, dimension: QualityDimension, sheet: Sheet, purpose: Purpose) -> Prompt:
        """The prompt with the two texts of a sheet as judges see them."""
        texts = self.shown[sheet.a].text, self.shown[sheet.b].text
        topic = self.topics.get(sheet.group, "")
        own = self.with_examples(dimension, sheet.group)
        return compare_prompt(own, self.manner, self.wording, texts, topic, purpose)

    def with_examples(self, dimension: QualityDimension, group: str) -> QualityDimension:
        """A dimension with the judged pairs of a group as its examples, where there are some."""
        found = []
        for a, b, outcome in self.judged.get(dimension.id, {}).get(group, ()):
            texts = self.shown[a].text, self.shown[b].text
            found.append(PairExample(cast("PairOutcome", outcome), *texts, _TOLD["judged"]))
        return replace(dimension, examples=tuple(found)) if found else dimension


class PairKind(Kind):
    """The kind: votes of judges on sheets."""

    noun = "vote"
    called = "the comparison"
    growth = Growth(
        fixed=(
            "unit", "within", "roles", "examples", "design", "criteria", "ties", "reasons", "topic",
            "temperature", "reasks", "seed", "wording",
        ),
        named=("models", "dimensions", "judged_examples"),
        larger=("runs", "per_text"),
    )  # fmt: skip

    def kept(self, runs: Runs, name: str) -> Plan:
        """A comparison as it was kept; WrongInput for one whose votes were imported."""
        comparisons = Comparisons.begun(runs, name)
        task = comparisons.files.task()
        if task.get("imported"):
            raise WrongInput(f"comparison {comparisons.name} was imported, so it has no record")
        texts = [one for one in kept_texts(runs, task) if task["texts"].get(one.id) == one.sha256]
        dimensions = tuple(comparisons.dimensions().values())
        about = compared_in(runs, task, texts, dimensions)
        chains = [chain_of(task, texts, one.id) for one in dimensions if _is_adaptive(task)]
        planned = self.as_kept(runs, comparisons, replace(about, chains=tuple(chains)))
        return self.now(planned) if not self.lost(planned) else planned

    def lost(self, plan: Plan) -> list[str]:
        """The texts that the study no longer holds as they were compared."""
        now = {text.id: text.sha256 for text in plan.about.texts}
        told = "the text was edited or removed since it was compared"
        return changed_since(plan.task["texts"], now, told)

    def keys(self, plan: Plan, coder: str) -> Iterator[Key]:
        """One vote a dimension, sheet and run."""
        for dimension, sheet, run in plan.about.places():
            yield sheet.a, sheet.b, dimension.id, coder, run

    def rounds(
        self, plan: Plan, coder: str, keys: set[Key], done: Mapping[Key, Vote], faults: list[str]
    ) -> Iterator[Round]:
        """All votes at once, in the order of dimensions, sheets and runs."""
        yield Round(self._questions(plan, coder, keys))

    def _questions(self, plan: Plan, coder: str, keys: set[Key]) -> Iterator[Question]:
        for dimension, sheet, run in plan.about.places():
            if (sheet.a, sheet.b, dimension.id, coder, run) in keys:
                yield question(plan.about, dimension, sheet, coder, run)

    def longest(self, plan: Plan) -> Prompt:
        """The prompt with the longest two texts that may meet."""
        about, shown = plan.about, plan.about.shown
        among = about.sheets
        if about.chains:  # any two texts of a group may meet
            found = (_longest(ids, shown) for ids in about.chains[0].groups.values())
            among = tuple(sheet for sheet in found if sheet)

        def length(sheet: Sheet) -> int:
            return len(shown[sheet.a].text) + len(shown[sheet.b].text)

        sheet = max(among, key=length)
        prompts = []
        for one in about.dimensions:
            prompts.append(question(about, one, sheet, "judge", 1).prompt())
        return max(prompts, key=lambda prompt: len(prompt.text))

    def load(self, plan: Plan, coder: str, waiting: set[Key]) -> Load:
        """What is alike for all sheets is cacheable from its second use on, and all of a prompt
        from the second run of its sheet on; every text is counted once.
        """
        about, found = plan.about, Load()
        texts, reply = _tokens_of_texts(about), reply_of(about.manner)
        for dimension in about.dimensions:
            first = True
            group = about.sheets[0].group
            own = about.with_examples(dimension, group)
            alike, frame = around(own, about.manner, about.wording, about.topics.get(group, ""))
            for sheet in about.sheets_on(dimension.id):
                place = sheet.a, sheet.b, dimension.id, coder
                n = sum((*place, run) in waiting for run in range(1, about.repeats + 1))
                if not n:
                    continue
                whole = alike + frame + texts[sheet.a] + texts[sheet.b]
                prefix = whole.times(n - 1) + (Range() if first else alike)
                found += Load(0, n, whole.times(n), prefix, reply.times(n), 1)
                first = False
        return replace(found, sessions=len(waiting))

    def named(self, answer: Vote) -> str:
        """The sheet, the dimension, the judge and the run."""
        place = f"{answer.sheet.a} and {answer.sheet.b}, {answer.dimension}"
        return f"{place}, {answer.judge}, run {answer.run}"

    def said(self, answer: Vote) -> str:
        """The outcome."""
        return str(answer.missing) if answer.missing else str(answer.outcome)

    # Adaptive designs: pairs are chosen on the way.

    def now(self, plan: Plan) -> Plan:
        """The plan with the sheets of all batches that there are."""
        if not plan.about.chains:
            return plan
        kept = pair_batches.batches_of(plan.answers.steps())
        ids = [dimension.id for dimension in plan.about.dimensions]
        about = plan.about.with_sheets({id: pair_batches.sheets_in(kept.get(id, ())) for id in ids})
        return replace(plan, about=about)

    def at_most(self, plan: Plan) -> Plan:
        """The plan with as many sheets as there can be: those not chosen yet are drawn."""
        about, found = plan.about, {}
        for chain in about.chains:
            own = about.sheets_on(chain.dimension)
            found[chain.dimension] = (*own, *further_sheets(chain, {one.pair for one in own}))
        return replace(plan, about=about.with_sheets(found)) if found else plan

    def waits(self, plan: Plan, done: Mapping[Key, Vote]) -> bool:
        """Whether a vote is missing or, of an adaptive design, another batch follows."""
        return pair_batches.follows(plan, done) if plan.about.chains else super().waits(plan, done)

    def ended(self, plan: Plan, done: Mapping[Key, Vote]) -> None:
        """Keep which rules ended an adaptive design."""
        if plan.about.chains:
            pair_batches.keep_ends(plan, done)

    async def course(self, asking: Any) -> list[str]:
        """All judges at once or, of an adaptive design, batch after batch."""
        return await (
            pair_batches.ask_batches(asking) if asking.plan.about.chains else asking.all()
        )

    def differs(self, plan: Plan, answers: Sequence[Vote]) -> list[str]:
        """The batches that do not follow from the votes before them."""
        return pair_batches.other_batches(plan, answers)

    def plain(self, plan: Plan, outcome: Outcome) -> dict[str, Any]:
        """What came of a command, as plain values."""
        votes = votes_of(plan)
        return {
            "study": plan.runs.study,
            "name": plan.settings.name,
            "dimensions": [dimension.id for dimension in plan.about.dimensions],
            "judges": list(plan.models),
            "texts": len(plan.about.shown),
            "pairs": plan.about.pairs,
            "sheets": len(plan.about.sheets),
            "runs": plan.settings.runs,
            **outcome.plain(),
            "votes": judge_rows(plan, votes),
            **({"adaptive": stop_rows(plan)} if plan.about.chains else {}),
            "notes": self.notes(plan),
            "faults": [*outcome.faults, *plan.faults],
        }

    def told(self, plan: Plan, outcome: Outcome) -> list[str]:
        """How many votes there are, and which are missing and why."""
        texts = counted(len(plan.about.shown), "text")
        judges = counted(len(plan.models), "judge")
        dimensions = counted(len(plan.about.dimensions), "dimension")
        sheets = counted(len(plan.about.sheets), "sheet")
        pairs = f"{counted(plan.about.pairs, 'pair')} on {sheets}"
        return outcome.told("vote", f"{texts}, {pairs}, {dimensions}, {judges}")

    def notes(self, plan: Plan) -> list[str]:
        """What must be known of the judges before their votes are read."""
        notes, votes = [], votes_of(plan)
        if any(settings["kind"] == "citizen" for settings in plan.models.values()):
            notes.append(_TOLD["rule_based"])
        for judge in plan.models:
            if _runs_identical(plan, [vote for vote in votes if vote.judge == judge]):
                notes.append(f"{judge} {_TOLD['identical'].format(plan.settings.runs)}")
        for row in stop_rows(plan) if votes else ():
            why = _TOLD["ended"].get(str(row["stopped"]).partition(":")[0])
            told = f"ended by {row['stopped']}: {why}"
            on = "has not ended: the same command goes on"
            notes.append(f"{row['dimension']} {told if why else on}")
        return notes


PAIRS = PairKind()


def question(
    about: ComparisonMaterial, dimension: QualityDimension, sheet: Sheet, judge: str, run: int
) -> Question:
    """What one judge is asked about a sheet on a dimension, in one run."""
    key = sheet.a, sheet.b, dimension.id, judge, run
    purpose = Purpose(judge, f"{sheet.id} | {dimension.id} | {run}")

    def seed(prompt: Prompt) -> int:
        own = (sheet.a, sheet.b, dimension.id, judge, about.wording.id)
        return seed_of(*about.names, "pair", *own, run, prompt.purpose.attempt)

    def read(reply: Annotation) -> list[Vote]:
        choice = reply.value
        outcome, why = (None, "") if choice is None else (choice.outcome, choice.reason)
        return [Vote(sheet, judge, dimension.id, outcome, run, missing_reason(reply), why)]

    return Question(
        unit=sheet.id,
        prompt=partial(about.prompt, dimension, sheet, purpose),
        seed=seed,
        again=partial(compare_reask, about.wording),
        reasks=about.reasks,
        keys=(key,),
        read=read,
    )


def compared_in(
    runs: Runs,
    task: Mapping[str, Any],
    texts: Sequence[Text],
    dimensions: Sequence[QualityDimension],
) -> ComparisonMaterial:
    """What judges of a comparison are given, by what the study keeps of it."""
    return ComparisonMaterial(
        names=(task["study"], task["seed"]),
        texts=tuple(texts),
        shown=shown_texts(runs, texts),
        topics=topics_of(runs, texts) if task["topic"] else {},
        dimensions=tuple(dimensions),
        manner=Manner(task["criteria"], task["ties"], task["reasons"], task["examples"] > 0),
        wording=wording_kept(task["wording"]),
        reasks=task["reasks"],
        repeats=task["runs"],
        sheets=tuple(task_sheets(task, texts)),
        judged=task.get("judged_examples", {}),
    )


def task_sheets(task: Mapping[str, Any], texts: Sequence[Text]) -> list[Sheet]:
    """All sheets of a comparison as it was kept; those of an adaptive one are in its batches."""
    if _is_adaptive(task):
        return []
    kept, by_id = task["design"], {text.id: text for text in texts}
    listed = [(a, b) for a, b in kept.get("pairs", ()) if a in by_id and b in by_id]
    pairs = tuple(Pair(a, b, by_id[a].group) for a, b in listed)
    drawing = PairDesign(kept["kind"], size=kept.get("g", 0), order=kept["order"], listed=pairs)
    return sheets_of(groups_of(texts), drawing, task["per_text"], (task["study"], task["seed"]))


def _is_adaptive(task: Mapping[str, Any]) -> bool:
    return task["design"]["kind"] == ADAPTIVE


def around(
    dimension: QualityDimension, manner: Manner, wording: Wording, topic: str = ""
) -> tuple[Range, Range]:
    """Tokens of the system message, and of the user message without its two texts."""
    purpose = Purpose("judge", "estimate")
    system, user = compare_prompt(dimension, manner, wording, ("", ""), topic, purpose).messages
    return tokens_of(system.content), tokens_of(user.content) + Range(0, 3 * MESSAGE)


def reply_of(manner: Manner) -> Range:
    """Tokens of a reply."""
    short, long = (tokens_of(manner.form.example("", words)) for words in REASON)
    return Range(short.low, long.high)


def _tokens_of_texts(about: ComparisonMaterial) -> dict[str, Range]:
    """Tokens of every text that is shown, quoted."""
    used = {id for sheet in about.sheets for id in (sheet.a, sheet.b)}
    return {id: tokens_of(quoted(about.shown[id].text)) for id in sorted(used)}


def _longest(ids: Sequence[str], shown: Mapping[str, Text]) -> Sheet | None:
    """The two longest texts of a group; None where it has no two."""
    two = sorted(ids, key=lambda id: len(shown[id].text))[-2:]
    return Sheet(*two, shown[two[0]].group) if len(two) == 2 else None


def votes_of(planned: Plan) -> list[Vote]:
    """The votes that there are of those that a command was to give."""
    wanted = planned.answer_keys()
    return [vote for vote in planned.answers.all() if vote.key in wanted]


def judge_rows(planned: Plan, votes: Sequence[Vote]) -> list[dict[str, Any]]:
    """By judge and dimension: votes that are planned and there, and what they say."""
    rows = []
    for judge in planned.models:
        for dimension in planned.about.dimensions:
            planned_each = len(planned.about.sheets_on(dimension.id)) * planned.settings.runs
            own = [vote for vote in votes if (vote.judge, vote.dimension) == (judge, dimension.id)]
            said = Counter(vote.outcome or "missing" for vote in own)
            row: dict[str, Any] = {"judge": judge, "dimension": dimension.id}
            row |= {"planned": planned_each, "answered": len(own) - said["missing"]}
            row |= {name: said[name] for name in ("a", "b", "tie", "missing")}
            rows.append(row)
    return rows


def stop_rows(planned: Plan) -> list[dict[str, Any]]:
    """By dimension of an adaptive comparison: batches and pairs, which rule ended them, and what
    was known then; the rule is None where none did.
    """
    steps = planned.answers.steps()
    stops, rows = pair_batches.stops_of(steps), []
    for chain in planned.about.chains:
        batches = pair_batches.batches_of(steps).get(chain.dimension, [])
        stop, pairs = stops.get(chain.dimension), sum(len(batch.pairs) for batch in batches)
        row: dict[str, Any] = {"dimension": chain.dimension, "batches": len(batches)}
        row |= {"pairs": pairs, "per_text": 2 * pairs / len(chain.ids)}
        row |= {"most": chain.most, "stopped": stop.told if stop else None}
        row |= {name: getattr(stop, name, None) for name in ("se", "r", "r_fit", "r_probe")}
        rows.append(row | {"apart": stop.apart if stop else None})
    return rows


def _runs_identical(planned: Plan, votes: Sequence[Vote]) -> bool:
    """Whether all runs of a judge agree on every sheet although its replies should be draws."""
    if planned.settings.runs < 2 or planned.settings.temperature == 0:
        return False
    labels: dict[tuple[str, ...], list[str]] = {}
    for vote in votes:
        if vote.outcome is not None:
            labels.setdefault(vote.key[:3], []).append(vote.outcome)
    whole = [own for own in labels.values() if len(own) == planned.settings.runs]
    return len(whole) > 1 and all(len(set(own)) == 1 for own in whole)
