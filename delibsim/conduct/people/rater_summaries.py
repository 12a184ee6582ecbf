"""Summaries judged on pages, one sheet a person: own opinion, a rating, a comparison."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from delibsim.asking.kinds.judgment import judged_material
from delibsim.asking.kinds.judgment_form import judgments_on
from delibsim.asking.kinds.judgment_packs import COMPARED
from delibsim.asking.kinds.sittings import JudgedMaterial
from delibsim.conduct.people.rater_pack import Kind, RaterPack, Replies, Step, new_among
from delibsim.domain.errors import WrongInput
from delibsim.domain.judgment import DIMENSIONS
from delibsim.domain.summary import spoken
from delibsim.domain.treatment import Wording
from delibsim.prompts.blocks import block, quoted
from delibsim.prompts.forms.choice import VerdictForm
from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import Message, Prompt, Purpose, UnreadableReply
from delibsim.prompts.verdict import QUESTION, verdict_prompt
from delibsim.store.opinions import opinions_of
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
    material: JudgedMaterial | None = None

    def unit(self, sheet: str) -> str:
        """All sheets of a set of judgments are one: whoever has seen one sees no other."""
        return f"summaries {self.answers.name}"

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
        task = self.answers.files.task()
        wording = Wording(task["wording"]["id"], task["wording"]["texts"])
        question, purpose = self._material().question, Purpose("Rater", step)
        return verdict_prompt(question, opinion, summaries, "author", wording, purpose)

    def given(self, sheet: str, given: Replies) -> list[Any]:
        """The opinion, the rating and the comparison; where the opinion was declined, none."""
        own = given.get(OPINION)
        if own is None:
            return []
        answers: dict[str, int | None] = dict.fromkeys((*DIMENSIONS, *COMPARED))
        rating, comparison = given.get(RATING), given.get(COMPARISON)
        if rating is not None:
            answers |= VerdictForm().read(rating)
        if comparison is not None:
            values = VerdictForm(two=True).read(comparison)
            answers |= {f"c_{name}": values[name] for name in DIMENSIONS}
        shown, opinion = self.sheets[sheet], f"{self.name}/{sheet}"
        attentive = given.get(CHECK) == str(shown["check"])
        return [(opinion, own), *judgments_on(opinion, shown, answers, attentive)]

    def keep(self, answers: Sequence[Any]) -> None:
        """The judgments, with the opinions that people wrote before."""
        opinions = dict(one for one in answers if isinstance(one, tuple))
        judgments = [one for one in answers if not isinstance(one, tuple)]
        new = new_among(self.answers.people(), judgments)
        self.answers.keep_opinions(opinions)
        self.answers.add(new, people=True)

    def rescore(self) -> None:
        """Nothing: summaries have no scorer."""

    def _material(self) -> JudgedMaterial:
        """Question and summaries, read once; WrongInput where a summary was edited since."""
        if self.material is None:
            task = self.answers.files.task()
            summaries = Summaries.begun(self.runs, task["summaries"])
            made = [one for one in summaries.all() if one.missing is None]
            now = {one.id: one.sha256 for one in made}
            if any(now.get(id) != digest for id, digest in task["judged"].items()):
                raise WrongInput(f"a summary was edited after pack {self.name} was handed out")
            opinions = opinions_of(self.runs)
            self.material = judged_material(self.runs, summaries, opinions, made)
        return self.material
