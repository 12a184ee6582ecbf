"""Pairs of texts compared on pages: the sheets of a pack of pairs, asked as models are asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from delibsim.asking.kinds.pair_packs import import_into, pair_pages
from delibsim.asking.kinds.pair_sheets import COLUMNS, PairPages
from delibsim.asking.kinds.pair_texts import kept_texts
from delibsim.conduct.people.rater_pack import Kind, RaterPack, Replies, Step
from delibsim.conduct.texts import rescore_pairs
from delibsim.domain.annotation import Text
from delibsim.domain.comparison import Sheet
from delibsim.domain.errors import WrongInput
from delibsim.prompts.compare import compare_prompt
from delibsim.prompts.forms.choice import LABELS
from delibsim.prompts.prompt import Purpose
from delibsim.store.annotations import ANNOTATIONS
from delibsim.store.comparisons import PREFIX, Comparisons
from delibsim.store.gathered import gathered_and_own
from delibsim.store.packs import extend_pack, packs_of
from delibsim.store.runs import Runs
from delibsim.store.tables.csv_cells import read_sheet

CHOICE = "choice"
NAMES = {outcome: label for label, outcome in LABELS.items()}


@dataclass
class PairPack(RaterPack):
    """A pack of pairs of one comparison: one choice a sheet."""

    kind: ClassVar[Kind] = "pairs"
    columns: ClassVar[tuple[str, ...]] = COLUMNS
    comparison: str = "main"
    texts: Mapping[str, Text] = field(default_factory=dict)
    pages: PairPages | None = None

    def unit(self, sheet: str) -> str:
        """Pair and dimension; the repeat of a sheet is another one of its own."""
        key = self.sheets[sheet]
        pair = Sheet(key["a"], key["b"]).pair
        return f"pair {self.comparison} {pair.one} {pair.other} {key['dimension']} {key['run']}"

    def step(self, sheet: str, given: Replies) -> Step | None:
        """The choice."""
        if CHOICE in given:
            return None
        key, pages = self.sheets[sheet], self._pages()
        for side in ("a", "b"):
            text = self.texts.get(key[side])
            if text is None or text.sha256 != key[f"{side}_sha256"]:
                raise WrongInput(
                    f"text {key[side]} was edited after pack {self.name} was handed out; hand"
                    " another out"
                )
        prompt = compare_prompt(
            pages.dimensions[key["dimension"]],
            pages.manner,
            pages.wording,
            (pages.shown[key["a"]].text, pages.shown[key["b"]].text),
            pages.topics.get(key["group"], ""),
            Purpose("Rater", CHOICE),
        )
        return Step(CHOICE, prompt)

    def lines(self, sheet: str, given: Replies) -> list[list[str]]:
        """One line with the label of the choice."""
        key, reply = self.sheets[sheet], given.get(CHOICE)
        if reply is None:
            return []
        answer = NAMES[self._pages().manner.form.read(reply).outcome]
        return [[self.name, sheet, key["rater"], key["dimension"], answer]]

    def keep(self, form: Path) -> None:
        """As `delibsim compare import` does."""
        own = Comparisons.of(self.runs, self.comparison)
        import_into([(self.runs, own)], form, read_sheet(form), within=True)

    def rescore(self) -> None:
        """The scores of pairs."""
        rescore_pairs(gathered_and_own(self.runs))

    def _pages(self) -> PairPages:
        """What raters read, read once."""
        if self.pages is None:
            own = Comparisons.of(self.runs, self.comparison)
            task = own.files.task()
            texts = kept_texts(self.runs, task)
            self.texts = {text.id: text for text in texts}
            self.pages = pair_pages(self.runs, own, texts, task)
        return self.pages

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

    def _extend(self, sheets: Mapping[str, Any]) -> None:
        extend_pack(Comparisons.of(self.runs, self.comparison).files, self.name, sheets)


def pair_packs(runs: Runs) -> dict[str, str]:
    """The packs of a study that are compared on pages, each with its comparison."""
    found = {}
    for folder in sorted((runs.folder / ANNOTATIONS).glob(f"{PREFIX}*/packs")):
        comparison = folder.parent.name.removeprefix(PREFIX)
        for name, pack in packs_of(Comparisons.of(runs, comparison).files).items():
            if "online" in pack:
                found[name] = comparison
    return found


def pair_pack(runs: Runs, comparison: str, name: str) -> PairPack:
    """A pack of a comparison by its name."""
    pack = packs_of(Comparisons.of(runs, comparison).files)[name]
    hours = float(pack["online"]["hand_on"])
    return PairPack(runs, name, pack["sheets"], hours, comparison=comparison)
