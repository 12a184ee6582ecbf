"""People who compare texts in pairs: which pairs each is given, and what a sheet asks.

People read what language models are asked, and nothing of who wrote a text.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from delibsim.asking import people
from delibsim.asking.kinds.pair import ComparisonMaterial, compared_in, task_sheets
from delibsim.asking.kinds.pair_batches import batches_of, sheets_in
from delibsim.asking.kinds.pair_plan import plan_pairs, refuse_edited
from delibsim.asking.kinds.pair_texts import keep_gathered, kept_texts
from delibsim.asking.paper import hand_out
from delibsim.domain.annotation import Coder, Text
from delibsim.domain.comparison import PAIRS, Sheet, Vote
from delibsim.domain.errors import WrongInput
from delibsim.domain.seed import seed_of
from delibsim.domain.text import counted, quoted, study_named
from delibsim.prompts.forms.choice import ANSWER, LABELS
from delibsim.prompts.prompt import Purpose
from delibsim.store.annotations import packs_of
from delibsim.store.answers import Comparisons
from delibsim.store.runs import Runs

CHOICE = "choice"
CHECKED = 20
"""Of so many sheets of a rater, or fewer, one is repeated."""
AGAIN = " again"
"""What the name of a repeated sheet ends with."""
OF_MODELS = ("model", "group", "base_url", "limits")
"""The first words of settings that have no effect on people."""
Asked = tuple[str, str, str]
"""The texts of a pair, in order of their ids, and a dimension: what a rater is asked once."""


@dataclass
class PairPack(people.Pack):
    """A pack of pairs of one comparison: one choice a sheet."""

    kind: ClassVar[people.Given] = "pairs"
    scorer: ClassVar[str] = PAIRS
    noun: ClassVar[str] = "vote"

    def unit(self, sheet: str) -> str:
        """Pair and dimension; the repeat of a sheet is another one of its own."""
        key = self.sheets[sheet]
        pair = Sheet(key["a"], key["b"]).pair
        return f"pair {self.answers.name} {pair.one} {pair.other} {key['dimension']} {key['run']}"

    def step(self, sheet: str, given: people.Replies) -> people.SheetStep | None:
        """The choice."""
        if CHOICE in given:
            return None
        key, about = self.sheets[sheet], self._about
        texts = {text.id: text for text in about.texts}
        for side in ("a", "b"):
            self.refuse_other(key[side], texts.get(key[side]), key[f"{side}_sha256"])
        dimension = next(one for one in about.dimensions if one.id == key["dimension"])
        shown = Sheet(key["a"], key["b"], key["group"])
        return people.SheetStep(CHOICE, about.prompt(dimension, shown, Purpose("Rater", CHOICE)))

    def given(self, sheet: str, given: people.Replies) -> list[Vote]:
        """The vote."""
        key, reply = self.sheets[sheet], given.get(CHOICE)
        if reply is None:
            return []
        form, on_page = self._about.manner.form, isinstance(reply, str)
        outcome = form.read(reply).outcome if on_page else LABELS[reply[ANSWER]]
        shown = Sheet(key["a"], key["b"], key["group"])
        return [Vote(shown, key["rater"], key["dimension"], outcome, key["run"])]

    def said(self, answer: Vote) -> str:
        """The outcome."""
        return str(answer.outcome)

    def told(self, answers: Sequence[Vote]) -> list[str]:
        """How many repeated sheets of each rater were answered alike."""
        lines = []
        for rater, n, same in alike(answers):
            lines.append(f"{rater}: {same} of {counted(n, 'repeated sheet')} answered alike")
        return lines

    def handed_on(self, undone: Sequence[str]) -> list[str]:
        """All but the repeats of sheets that the rater before has judged: the second judgment is a
        check of the same person alone.
        """
        first = {self.unit(code)[:-2] for code in undone if self.sheets[code]["run"] == 1}
        kept = []
        for code in undone:
            if self.sheets[code]["run"] == 1 or self.unit(code)[:-2] in first:
                kept.append(code)
        return kept

    @cached_property
    def _about(self) -> ComparisonMaterial:
        """What raters read, read once."""
        task = self.answers.files.task()
        dimensions = tuple(self.answers.dimensions().values())
        return compared_in(self.runs, task, kept_texts(self.runs, task), dimensions)


def alike(votes: Iterable[Vote]) -> Iterator[tuple[str, int, int]]:
    """Of every rater with a repeated sheet: the name, how many were repeated and answered twice,
    and how many of them with the same answer.
    """
    votes = list(votes)
    first = {(*vote.key[:4],): vote.outcome for vote in votes if vote.run == 1}
    counts: dict[str, tuple[int, int]] = {}
    for vote in votes:
        if vote.run == 2 and vote.key[:4] in first:
            n, same = counts.get(vote.judge, (0, 0))
            counts[vote.judge] = n + 1, same + (first[vote.key[:4]] == vote.outcome)
    for rater, (n, same) in counts.items():
        yield rater, n, same


@dataclass(frozen=True)
class ForPeople:
    """A comparison as people are given it: what is asked (`task`), its sheets by dimension and its
    texts, and the studies from which these are gathered.
    """

    comparisons: Comparisons
    runs: Runs
    task: Mapping[str, Any]
    sheets: Mapping[str, Sequence[Sheet]]
    texts: Sequence[Text]
    notes: Sequence[str] = ()
    sources: Sequence[Runs] = ()
    unit: str = ""


def for_people(
    runs: Runs,
    overrides: Sequence[str],
    keep_equal: bool = False,
    sources: Sequence[Runs] = (),
) -> ForPeople:
    """The comparison that is named, or begun with these settings, for people to judge.

    WrongInput for settings of models, for imported judgments, and as for those who ask models.
    """
    for override in overrides:
        key = override.partition("=")[0].lstrip("+")
        if key.partition(".")[0] in OF_MODELS:
            raise WrongInput(f"{override}: a pack is for people; leave settings of models out")
    named = [word for word in overrides if word.partition("=")[0] == "name"]
    name = named[-1].partition("=")[2].strip("'\"") if named else "main"
    comparisons = Comparisons.of(runs, name)
    if len(named) == len(overrides) and comparisons.bound:
        task = comparisons.files.task()
        if task.get("imported"):
            raise WrongInput(
                f"comparison {name} of {study_named(runs.study)} was imported, and people cannot go"
                " on with it; name another: name=NAME"
            )
        texts = kept_texts(runs, task)
        refuse_edited(comparisons, texts)
        drawn, batches = task_sheets(task, texts), batches_of(comparisons.steps())
        found = {}
        for dimension in task["dimensions"]:
            found[dimension] = [*drawn, *sheets_in(batches.get(dimension, ()))]
        return ForPeople(comparisons, runs, task, found, texts)
    planned = plan_pairs(runs, overrides, keep_equal, sources=sources, people=True)
    about = planned.about
    return ForPeople(
        comparisons=comparisons,
        runs=runs,
        task=planned.task,
        sheets={one.id: about.sheets_on(one.id) for one in about.dimensions},
        texts=about.texts,
        notes=planned.notes,
        sources=about.sources,
        unit=planned.settings.unit,
    )


def export_pairs(
    asked: ForPeople,
    raters: Sequence[str],
    each: int | None = None,
    folder: Path | None = None,
    online: people.Online | None = None,
) -> people.HandedOut:
    """Hand sheets out to people, `each` of them so many on a dimension; the study keeps the key,
    and settings and texts of the comparison stand from then on.

    Raters who answer `online` are named after the pack. WrongInput for a rater with the name of a
    model, where no sheet is left, or the folder exists.
    """
    comparisons, task, runs = asked.comparisons, asked.task, asked.runs
    people.refuse_names(raters, task["models"], "rater")
    packs = packs_of(comparisons.files)
    name = people.pack_name(runs, Comparisons.prefix, comparisons.name, len(packs) + 1)
    folder = people.new_folder(folder, f"pairs-{name}", online)
    if online is not None:
        raters = [Coder(name, number).id for number in range(1, len(raters) + 1)]
    pairs = {sheet.pair for own in asked.sheets.values() for sheet in own}
    if not pairs:
        raise WrongInput(
            f"comparison {comparisons.name} has no pairs to hand out yet; have them chosen first:"
            f" delibsim compare ask {quoted(runs.study)}"
        )
    before = asked_before(packs.values())
    taken: set[str] = set()
    hashes = {text.id: text.sha256 for text in asked.texts}
    found: dict[str, dict[str, Any]] = {rater: {} for rater in raters}
    for dimension, sheets in asked.sheets.items():
        for rater, own in shares(sheets, raters, dimension, each, before).items():
            for code, sheet, run in rater_sheets(own, dimension, name, rater, taken):
                found[rater][code] = {
                    "rater": rater,
                    "a": sheet.a,
                    "b": sheet.b,
                    "group": sheet.group,
                    "dimension": dimension,
                    "run": run,
                    "a_sha256": hashes[sheet.a],
                    "b_sha256": hashes[sheet.b],
                }
    every = {code: key for own in found.values() for code, key in own.items()}
    if not every:
        raise WrongInput(
            f"{', '.join(raters)}: all sheets of comparison {comparisons.name} were handed out to"
            " them before; name other raters with --raters"
        )
    if asked.sources:
        keep_gathered(runs, asked.texts, asked.sources, comparisons.name, asked.unit)
    comparisons.files.settle(task)
    pack = PairPack(runs, name, every, answers=comparisons, plain={"ties": task["ties"]})
    hand_out(pack, folder, online)
    return _handed(pack, folder, list(found), len(pairs), asked.notes)


def _handed(
    pack: PairPack, folder: Path | None, raters: Sequence[str], among: int, notes: Sequence[str]
) -> people.HandedOut:
    """What was handed out of so many pairs, and to which of these raters nothing."""
    keys = pack.sheets.values()
    each = Counter(key["rater"] for key in keys)
    nothing = [rater for rater in raters if rater not in each]
    pairs = len({Sheet(key["a"], key["b"], key["group"]).pair for key in keys})
    repeated = sum(key["run"] == 2 for key in keys)
    facts = {
        "comparison": pack.answers.name,
        "raters": dict(each),
        "pairs": pairs,
        "among": among,
        "repeated": repeated,
        "nothing": nothing,
    }
    line = (
        f"{counted(pairs, 'pair')} for {counted(len(each), 'rater')}: {counted(len(keys), 'sheet')}"
        f", of which {repeated} repeated; {people.where('rater', folder)}"
    )
    told = [*notes]
    if nothing:
        had = ", ".join(nothing)
        told.append(f"{had}: all pairs were handed out before, so no pages were written")
    if pairs < among:
        told.append(f"{among - pairs:,} of {among:,} pairs are in no sheet of this pack")
    return people.HandedOut(pack.name, folder, facts, [line], told)


def shares(
    sheets: Sequence[Sheet],
    raters: Sequence[str],
    dimension: str,
    each: int | None,
    before: Mapping[str, Collection[Asked]],
) -> dict[str, list[Sheet]]:
    """The sheets of every rater on one dimension: all, or `each`, so that all sheets are judged
    equally often, give or take one. A rater is not asked again what stands in `before`.

    A pair is shown in the other order to every second rater, so that no text gains by its place;
    where the design has both orders, every rater judges both.
    """
    both = {sheet.turned for sheet in sheets} & set(sheets)
    found: dict[str, list[Sheet]] = {}
    for number, rater in enumerate(raters):
        own = []
        for sheet in sheets:
            pair = sheet.pair
            if (pair.one, pair.other, dimension) not in before.get(rater, ()):
                turned = (seed_of("first", pair.one, pair.other) + number) % 2
                own.append(sheet.turned if turned and sheet not in both else sheet)
        if each is not None and own:
            start = number * each % len(own)
            own = (own[start:] + own[:start])[:each]
        found[rater] = own
    return found


def rater_sheets(
    own: Sequence[Sheet], dimension: str, pack: str, rater: str, taken: set[str]
) -> Iterator[tuple[str, Sheet, int]]:
    """The sheets of a rater in an order of its own, each with its code and the run, which is 2
    where it is repeated as an attention check: of every 20 or fewer one of the first is repeated
    among the last.
    """
    by_name = {f"{sheet.id} | {dimension}": sheet for sheet in own}
    coded = people.in_own_order(by_name, pack, rater, taken)
    half = len(coded) // 2
    repeats = -(-len(coded) // CHECKED) if len(coded) > 2 else 0
    names = [f"{name}{AGAIN}" for _, name in coded[: min(repeats, half)]]
    last = [*coded[half:], *people.in_own_order(names, pack, rater, taken)]
    last.sort(key=lambda one: seed_of(pack, "order again", rater, one[1]))
    for code, name in [*coded[:half], *last]:
        yield code, by_name[name.removesuffix(AGAIN)], 2 if name.endswith(AGAIN) else 1


def asked_before(packs: Iterable[Mapping[str, Any]]) -> dict[str, set[Asked]]:
    """What was handed out to each rater: pairs with a dimension."""
    found: dict[str, set[Asked]] = {}
    for pack in packs:
        for key in pack["sheets"].values():
            pair = Sheet(key["a"], key["b"]).pair
            found.setdefault(key["rater"], set()).add((pair.one, pair.other, key["dimension"]))
    return found
