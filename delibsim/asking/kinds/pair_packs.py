"""Packs of pairs for people: handed out from a comparison, and their answers brought back to it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delibsim.asking.forms import NOTHING, refuse
from delibsim.asking.handing_out import Online, new_folder, pack_name
from delibsim.asking.kinds.pair import compared_in, task_sheets
from delibsim.asking.kinds.pair_batches import batches_of, sheets_in
from delibsim.asking.kinds.pair_plan import plan_pairs, refuse_edited
from delibsim.asking.kinds.pair_sheets import (
    PairPages,
    RaterSheet,
    alike,
    asked_before,
    contradictions,
    pair_form,
    pair_key,
    pair_page,
    rater_sheets,
    read_pair_form,
    shares,
)
from delibsim.asking.kinds.pair_texts import keep_gathered, kept_texts
from delibsim.domain.annotation import Coder, Text
from delibsim.domain.comparison import Sheet
from delibsim.domain.errors import WrongInput
from delibsim.domain.secret import refuse_key
from delibsim.domain.text import quoted, study_named
from delibsim.store.annotations import ANNOTATIONS
from delibsim.store.comparisons import PREFIX, Comparisons
from delibsim.store.files import write_atomically
from delibsim.store.packs import add_pack, packs_of
from delibsim.store.runs import Runs
from delibsim.store.tables.csv_cells import Sheet as Cells

KEPT = (
    "Nothing was imported: votes are never overwritten. Put these lines back as they were, or hand"
    " out another pack to other raters: delibsim compare handout"
)
OF_MODELS = ("model", "group", "base_url", "limits")
"""The first words of settings that have no effect on people."""


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


@dataclass(frozen=True)
class PairPack:
    """A pack that was handed out: its folder (None: on pages), its raters with how many sheets each
    has, how many pairs it is about of how many (`among`), and how many sheets are repeated.
    `nothing` are raters to whom all was handed out before.
    """

    name: str
    comparison: str
    folder: Path | None
    raters: Mapping[str, int]
    pairs: int
    among: int
    repeated: int
    nothing: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """As JSON prints it."""
        folder = None if self.folder is None else str(self.folder)
        raters, nothing = dict(self.raters), list(self.nothing)
        return {**vars(self), "folder": folder, "raters": raters, "nothing": nothing}


@dataclass(frozen=True)
class VotesOfPeople:
    """What came of a form: how many votes it held, how many are new, sheets without an answer, and
    by rater how many repeated sheets there are, and how many of them were answered alike. `studies`
    are those whose votes are to be scored anew.
    """

    given: int
    new: int
    empty: int
    comparisons: tuple[str, ...]
    studies: tuple[Runs, ...]
    repeated: Mapping[str, tuple[int, int]]

    def plain(self) -> dict[str, Any]:
        """As JSON prints it."""
        checks = [
            {"rater": rater, "repeated": n, "alike": same}
            for rater, (n, same) in self.repeated.items()
        ]
        listed = {"comparisons": list(self.comparisons), "repeated": checks}
        own = {name: value for name, value in vars(self).items() if name != "studies"}
        return {**own, **listed, "known": self.given - self.new}


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
        return ForPeople(comparisons, runs, task, _sheets(comparisons, task, texts), texts)
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


def _sheets(
    comparisons: Comparisons, task: Mapping[str, Any], texts: Sequence[Text]
) -> dict[str, Sequence[Sheet]]:
    """The sheets of a comparison that was begun, by dimension; of an adaptive one those of the
    batches that there are.
    """
    drawn = task_sheets(task, texts)
    batches = batches_of(comparisons.steps())
    found: dict[str, Sequence[Sheet]] = {}
    for dimension in task["dimensions"]:
        found[dimension] = [*drawn, *sheets_in(batches.get(dimension, ()))]
    return found


def export_pairs(
    asked: ForPeople,
    raters: Sequence[str],
    each: int | None = None,
    folder: Path | None = None,
    online: Online | None = None,
) -> PairPack:
    """Write the pages of a new pack and its form, by default into pairs-NAME; none where it is
    answered `online`, by as many people as there are `raters`, who are named after the pack. The
    study keeps the key, and settings and texts of the comparison stand from then on.

    WrongInput for a rater with the name of a model, where no sheet is left, or the folder exists.
    """
    comparisons, task, runs = asked.comparisons, asked.task, asked.runs
    for rater in raters:
        refuse_key("rater", rater)
        if rater in task["models"]:
            raise WrongInput(
                f"'{rater}' is a model of this comparison; give the rater another name"
            )
    packs = packs_of(comparisons.files)
    name = pack_name(runs, PREFIX, comparisons.name, len(packs) + 1)
    if online is None:
        folder = new_folder(folder, f"pairs-{name}")
    else:
        raters = [Coder(name, number).id for number in range(1, len(raters) + 1)]
    pairs = {sheet.pair for own in asked.sheets.values() for sheet in own}
    if not pairs:
        raise WrongInput(
            f"comparison {comparisons.name} has no pairs to hand out yet; have them chosen first:"
            f" delibsim compare ask {quoted(runs.study)}"
        )
    before = asked_before(packs.values())
    taken: set[str] = set()
    found: dict[str, list[RaterSheet]] = {rater: [] for rater in raters}
    for dimension, sheets in asked.sheets.items():
        for rater, own in shares(sheets, raters, dimension, each, before).items():
            found[rater] += rater_sheets(own, dimension, name, rater, taken)
    nothing = tuple(rater for rater, own in found.items() if not own)
    found = {rater: own for rater, own in found.items() if own}
    if not found:
        raise WrongInput(
            f"{', '.join(raters)}: all sheets of comparison {comparisons.name} were handed out to"
            " them before; name other raters with --raters"
        )
    every = [one for own in found.values() for one in own]
    key = pair_key(every, {text.id: text.sha256 for text in asked.texts})
    if asked.sources:
        keep_gathered(runs, asked.texts, asked.sources, comparisons.name, asked.unit)
    comparisons.files.settle(task)
    pack: dict[str, Any] = {"kind": "pairs", "ties": task["ties"], "sheets": key}
    if online is not None:
        pack["online"] = online.plain()
    add_pack(comparisons.files, name, pack)
    if folder is not None:
        pages = pair_pages(runs, comparisons, asked.texts, task)
        for k, own in enumerate(found.values(), 1):
            write_atomically(folder / f"rater-{k}.html", pair_page(own, pages))
        write_atomically(folder / "form.csv", pair_form(every, name))
    return PairPack(
        name=name,
        comparison=comparisons.name,
        folder=folder,
        raters={rater: len(own) for rater, own in found.items()},
        pairs=len({one.sheet.pair for one in every}),
        among=len(pairs),
        repeated=sum(one.run == 2 for one in every),
        nothing=nothing,
    )


def pair_pages(
    runs: Runs, comparisons: Comparisons, texts: Sequence[Text], task: Mapping[str, Any]
) -> PairPages:
    """What raters of a comparison read: these texts, blinded, and how they are asked."""
    dimensions = comparisons.dimensions()
    about = compared_in(runs, task, texts, tuple(dimensions.values()))
    return PairPages(about.shown, about.topics, dimensions, about.manner, about.wording)


def import_pair_form(file: Path, cells: Cells, root: Path) -> VotesOfPeople:
    """Keep the votes in a form that was filled in, each with its comparison below `root`.

    WrongInput, and nothing is kept, where a line is wrong or contradicts what was imported before.
    """
    wanted = {row[cells.header.index("pack")].strip() for row in cells.rows}
    packs: dict[str, Mapping[str, Any]] = {}
    texts: dict[str, dict[str, str]] = {}
    owners: dict[str, tuple[Runs, Comparisons]] = {}
    for runs, comparisons in _comparisons_below(root):
        mine = {name: one for name, one in packs_of(comparisons.files).items() if name in wanted}
        if mine:
            now = kept_texts(runs, comparisons.files.task())
            packs |= mine
            for name in mine:
                texts[name] = {text.id: text.sha256 for text in now}
                owners[name] = runs, comparisons
    form = read_pair_form(cells, packs, texts)
    refuse(file, form.faults, NOTHING)
    waiting, clashes = [], []
    for runs, comparisons in dict.fromkeys(owners.values()):
        own = [one for one in form.votes if owners[one[2]][1] == comparisons]
        new, found = contradictions(own, comparisons.people())
        waiting.append((runs, comparisons, new))
        clashes += found
    refuse(file, clashes, KEPT)
    for runs, comparisons, new in waiting:
        if new:
            with runs.lock():
                comparisons.add(new, people=True)
    repeated = alike(vote for vote, *_ in form.votes)
    return VotesOfPeople(
        given=len(form.votes),
        new=sum(len(new) for *_, new in waiting),
        empty=form.empty,
        comparisons=tuple(f"{runs.study}, {one.name}" for runs, one, _ in waiting),
        studies=tuple(runs for runs, _, new in waiting if new),
        repeated={rater: (n, same) for rater, n, same in repeated},
    )


def _comparisons_below(root: Path) -> Iterator[tuple[Runs, Comparisons]]:
    """Every comparison below a folder of which people were given a pack, with its study."""
    for folder in sorted(root.glob(f"*/{ANNOTATIONS}/{PREFIX}*/packs")):
        study = folder.parent.parent.parent
        if (study / "study.json").is_file():
            runs = Runs.at(study)
            yield runs, Comparisons.of(runs, folder.parent.name.removeprefix(PREFIX))
