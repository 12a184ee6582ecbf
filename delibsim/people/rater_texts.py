"""Texts coded on pages: the sheets of a pack of texts, a dimension a page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from delibsim.asking.kinds.codable import dimensions_for
from delibsim.asking.kinds.coding import coding_of
from delibsim.asking.texts import checked_wording
from delibsim.conduct.texts import rescore_codes
from delibsim.domain.annotation import Text
from delibsim.domain.coding import Code
from delibsim.domain.errors import WrongInput
from delibsim.domain.reason import Reason
from delibsim.domain.treatment import Wording
from delibsim.people.rater_packs import Kind, RaterPack, Replies, Step
from delibsim.prompts.coding import check_coder_texts, code_form, coding_prompt
from delibsim.prompts.prompt import Purpose
from delibsim.store.codings import scheme_from_plain

WORDING = "coding"
"""The wording in which people read what models are asked."""


@dataclass
class TextPack(RaterPack):
    """A pack of texts for coders by one scheme."""

    kind: ClassVar[Kind] = "texts"
    person: ClassVar[str] = "coder"
    wording: Wording = field(default_factory=lambda: checked_wording(WORDING, check_coder_texts))

    def unit(self, sheet: str) -> str:
        """The text, under this scheme."""
        return f"text {self.plain['scheme']['id']} {self.sheets[sheet]['text']}"

    def step(self, sheet: str, given: Replies) -> Step | None:
        """The level on each dimension that is asked of the text, one after the other."""
        scheme, text = self._scheme(), self._text(sheet)
        for id in dimensions_for(scheme, text):
            if id not in given:
                dimension = scheme.dimension(id)
                lower, purpose = scheme.lower_in_doubt, Purpose("Coder", id)
                shown, steps = self._shown()[text.id], dimension.steps
                asked = coding_prompt(dimension, lower, self.wording, steps, shown, purpose)
                return Step(id, asked)
        return None

    def given(self, sheet: str, given: Replies) -> list[Code]:
        """A code for each dimension that was answered."""
        scheme, key = self._scheme(), self.sheets[sheet]
        found = []
        for id, reply in given.items():
            if reply is None:
                continue
            level = code_form(scheme.dimension(id)).read(reply).level
            missing = Reason("not_applicable") if level is None else None
            training = self.plain["kind"] == "training"
            own = (key["text"], id, key["coder"], "human", level, missing)
            digest = key["text_sha256"]
            found.append(Code(*own, training=training, pack=self.name, text_sha256=digest))
        return found

    def keep(self, answers: Sequence[Any]) -> None:
        """The same, with what people code by."""
        plain = self.plain
        self.answers.keep_scheme(self._scheme(), plain["unit"], plain["context"])
        super().keep(answers)

    def rescore(self) -> None:
        """The scores of codes."""
        rescore_codes(self.runs)

    def _scheme(self) -> Any:
        """The scheme as it was handed out."""
        if "scheme" not in self.known:
            self.known["scheme"] = scheme_from_plain(self.plain["scheme"])
        return self.known["scheme"]

    def _text(self, sheet: str) -> Text:
        """The text of a sheet, word for word; WrongInput where it was edited since."""
        self._shown()
        key = self.sheets[sheet]
        text = self.known["texts"].get(key["text"])
        if text is None or text.sha256 != key["text_sha256"]:
            raise WrongInput(
                f"text {key['text']} was edited after pack {self.name} was handed out; hand"
                " another out"
            )
        return text

    def _shown(self) -> Mapping[str, Text]:
        """The texts of the pack as coders see them, read once."""
        if "shown" not in self.known:
            coding = coding_of(self.runs, self.plain["scheme"]["id"])
            wanted = {sheet["text"] for sheet in self.sheets.values()}
            texts = [text for text in coding.texts() if text.id in wanted]
            self.known["texts"] = {text.id: text for text in texts}
            self.known["shown"] = coding.shown(texts)
        return self.known["shown"]
