"""Pairs of texts compared on pages: the sheets of a pack of pairs, asked as models are asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from delibsim.asking.kinds.pair_packs import pair_pages
from delibsim.asking.kinds.pair_sheets import PairPages
from delibsim.asking.kinds.pair_texts import kept_texts
from delibsim.conduct.texts import rescore_pairs
from delibsim.domain.annotation import Text
from delibsim.domain.comparison import Sheet, Vote
from delibsim.domain.errors import WrongInput
from delibsim.people.rater_packs import Kind, RaterPack, Replies, Step
from delibsim.prompts.compare import compare_prompt
from delibsim.prompts.prompt import Purpose
from delibsim.store.gathered import gathered_and_own

CHOICE = "choice"


@dataclass
class PairPack(RaterPack):
    """A pack of pairs of one comparison: one choice a sheet."""

    kind: ClassVar[Kind] = "pairs"
    texts: Mapping[str, Text] = field(default_factory=dict)
    pages: PairPages | None = None

    def unit(self, sheet: str) -> str:
        """Pair and dimension; the repeat of a sheet is another one of its own."""
        key = self.sheets[sheet]
        pair = Sheet(key["a"], key["b"]).pair
        return f"pair {self.answers.name} {pair.one} {pair.other} {key['dimension']} {key['run']}"

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

    def given(self, sheet: str, given: Replies) -> list[Vote]:
        """The vote."""
        key, reply = self.sheets[sheet], given.get(CHOICE)
        if reply is None:
            return []
        outcome = self._pages().manner.form.read(reply).outcome
        shown = Sheet(key["a"], key["b"], key["group"])
        return [Vote(shown, key["rater"], key["dimension"], outcome, key["run"])]

    def rescore(self) -> None:
        """The scores of pairs."""
        rescore_pairs(gathered_and_own(self.runs))

    def _pages(self) -> PairPages:
        """What raters read, read once."""
        if self.pages is None:
            task = self.answers.files.task()
            texts = kept_texts(self.runs, task)
            self.texts = {text.id: text for text in texts}
            self.pages = pair_pages(self.runs, self.answers, texts, task)
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
