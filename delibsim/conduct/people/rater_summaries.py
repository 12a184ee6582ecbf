"""Summaries judged on pages, one sheet a person: own opinion, a rating, a comparison."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from delibsim.asking.kinds.judgment import judged_material
from delibsim.asking.kinds.judgment_form import import_form
from delibsim.asking.kinds.judgment_packs import COLUMNS
from delibsim.asking.kinds.sittings import JudgedMaterial
from delibsim.conduct.people.rater_pack import Kind, RaterPack, Replies, Step
from delibsim.domain.errors import WrongInput
from delibsim.domain.judgment import DIMENSIONS
from delibsim.domain.opinion import spoken
from delibsim.domain.treatment import Wording
from delibsim.prompts.blocks import block, quoted
from delibsim.prompts.forms.verdict import VerdictForm
from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import Message, Prompt, Purpose, UnreadableReply
from delibsim.prompts.verdict import QUESTION, verdict_prompt
from delibsim.store.annotations import ANNOTATIONS
from delibsim.store.judgments import PREFIX, Judgments
from delibsim.store.opinions import opinions_of
from delibsim.store.packs import extend_pack, packs_of
from delibsim.store.runs import Runs
from delibsim.store.summaries import Summaries

OPINION, RATING, COMPARISON, CHECK = "opinion", "rating", "comparison", "check"
OWN = "Before you read on: write your own opinion on this question in two or three sentences."
LONGEST = 500
"""Words of an opinion."""


@dataclass(frozen=True)
class OpinionWords(Words):
    """The words of an opinion, which have a letter or a digit."""

    def read(self, text: str) -> str:
        """The words; UnreadableReply where there is none."""
        words = super().read(text)
        if not spoken(words):
            raise UnreadableReply("the opinion has no word")
        return words


@dataclass
class SummaryPack(RaterPack):
    """A pack of summaries: nobody sees two of its sheets."""

    kind: ClassVar[Kind] = "summaries"
    person: ClassVar[str] = ""
    columns: ClassVar[tuple[str, ...]] = COLUMNS
    judgments: str = "main"
    material: JudgedMaterial | None = None

    def unit(self, sheet: str) -> str:
        """All sheets of a set of judgments are one: whoever has seen one sees no other."""
        return f"summaries {self.judgments}"

    def step(self, sheet: str, given: Replies) -> Step | None:
        """The opinion; beside it the rating; then the comparison, and the check."""
        material, shown = self._material(), self.sheets[sheet]
        if OPINION not in given:
            asked = f"{block(QUESTION, quoted(material.question))}\n\n{OWN}"
            form = OpinionWords(LONGEST)
            said = Message("user", f"{asked}\n\n{form.describe()}")
            return Step(OPINION, Prompt((said,), form, Purpose("Rater", OPINION)))
        own = given[OPINION]
        if own is None:
            return None  # the rating is about her own opinion, so nothing else can be asked
        rated, other = (material.summaries[shown[one]] for one in ("rated", "other"))
        if RATING not in given:
            return Step(RATING, self._verdict(own, (rated,), RATING))
        if COMPARISON not in given:
            both = (rated, other) if shown["rated_is_a"] else (other, rated)
            return Step(COMPARISON, self._verdict(own, both, COMPARISON))
        if CHECK not in given:
            return Step(CHECK, check=int(shown["check"]))
        return None

    def _verdict(self, opinion: str, summaries: tuple[str, ...], step: str) -> Prompt:
        task = Judgments.of(self.runs, self.judgments).files.task()
        wording = Wording(task["wording"]["id"], task["wording"]["texts"])
        question, purpose = self._material().question, Purpose("Rater", step)
        return verdict_prompt(question, opinion, summaries, "author", wording, purpose)

    def lines(self, sheet: str, given: Replies) -> list[list[str]]:
        """One line; where the opinion was declined, none."""
        own = given.get(OPINION)
        if own is None:
            return []
        row = dict.fromkeys(COLUMNS, "")
        row |= {"pack": self.name, "sheet": sheet, "opinion": own}
        rating, comparison = given.get(RATING), given.get(COMPARISON)
        if rating is not None:
            values = VerdictForm().read(rating)
            row |= {name: str(values[name]) for name in DIMENSIONS}
        if comparison is not None:
            values = VerdictForm(two=True).read(comparison)
            row |= {f"c_{name}": str(values[name]) for name in DIMENSIONS}
        row["check"] = given.get(CHECK) or ""
        return [list(row.values())]

    def keep(self, form: Path) -> None:
        """As `delibsim judge import` does."""
        import_form(Judgments.of(self.runs, self.judgments), form)

    def rescore(self) -> None:
        """Nothing: summaries have no scorer."""

    def _material(self) -> JudgedMaterial:
        """Question and summaries, read once; WrongInput where a summary was edited since."""
        if self.material is None:
            task = Judgments.of(self.runs, self.judgments).files.task()
            summaries = Summaries.begun(self.runs, task["summaries"])
            made = [one for one in summaries.all() if one.missing is None]
            now = {one.id: one.sha256 for one in made}
            if any(now.get(id) != digest for id, digest in task["judged"].items()):
                raise WrongInput(f"a summary was edited after pack {self.name} was handed out")
            opinions = opinions_of(self.runs)
            self.material = judged_material(self.runs, summaries, opinions, made)
        return self.material

    def _extend(self, sheets: Mapping[str, Any]) -> None:
        extend_pack(Judgments.of(self.runs, self.judgments).files, self.name, sheets)


def summary_packs(runs: Runs) -> dict[str, str]:
    """The packs of a study that are judged on pages, each with its set of judgments."""
    found = {}
    for folder in sorted((runs.folder / ANNOTATIONS).glob(f"{PREFIX}*/packs")):
        judgments = folder.parent.name.removeprefix(PREFIX)
        for name, pack in packs_of(Judgments.of(runs, judgments).files).items():
            if "online" in pack:
                found[name] = judgments
    return found


def summary_pack(runs: Runs, judgments: str, name: str) -> SummaryPack:
    """A pack of summaries by its name."""
    pack = packs_of(Judgments.of(runs, judgments).files)[name]
    hours = float(pack["online"]["hand_on"])
    return SummaryPack(runs, name, pack["sheets"], hours, judgments=judgments)
