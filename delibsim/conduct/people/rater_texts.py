"""Texts coded on pages: the sheets of a pack of texts, a dimension a page."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from delibsim.asking.kinds.code import dimensions_for
from delibsim.asking.kinds.code_import import import_into
from delibsim.asking.kinds.code_sheets import COLUMNS, NOT_APPLICABLE
from delibsim.asking.kinds.coding import coding_of
from delibsim.asking.texts import checked_wording
from delibsim.conduct.people.rater_pack import Kind, RaterPack, Replies, Step
from delibsim.conduct.texts import rescore_codes
from delibsim.domain.annotation import Text
from delibsim.domain.errors import WrongInput
from delibsim.domain.treatment import Wording
from delibsim.prompts.coding import check_coder_texts, code_form, coding_prompt
from delibsim.prompts.prompt import Purpose
from delibsim.store.annotations import ANNOTATIONS
from delibsim.store.codings import PREFIX, Codings, scheme_from_plain
from delibsim.store.packs import extend_pack, packs_of
from delibsim.store.runs import Runs

WORDING = "coding"
"""The wording in which people read what models are asked."""


@dataclass
class TextPack(RaterPack):
    """A pack of texts for coders by one scheme."""

    kind: ClassVar[Kind] = "texts"
    person: ClassVar[str] = "coder"
    columns: ClassVar[tuple[str, ...]] = COLUMNS
    plain: Mapping[str, Any] = field(default_factory=dict)
    wording: Wording = Wording("", {})

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

    def lines(self, sheet: str, given: Replies) -> list[list[str]]:
        """A line for each dimension that was answered."""
        scheme, coder = self._scheme(), self.sheets[sheet]["coder"]
        found = []
        for id, reply in given.items():
            if reply is not None:
                coded = code_form(scheme.dimension(id)).read(reply)
                level = NOT_APPLICABLE if coded.level is None else str(coded.level)
                found.append([self.name, sheet, coder, id, level])
        return found

    def keep(self, form: Path) -> None:
        """As `delibsim code import` does."""
        import_into([(self.runs, self.plain["scheme"]["id"])], form)

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

    def _extend(self, sheets: Mapping[str, Any]) -> None:
        files = Codings.of(self.runs, self.plain["scheme"]["id"]).files
        extend_pack(files, self.name, sheets)


def text_packs(runs: Runs) -> dict[str, str]:
    """The packs of a study that are coded on pages, each with its scheme."""
    found = {}
    for folder in sorted((runs.folder / ANNOTATIONS).glob(f"{PREFIX}*/packs")):
        scheme = folder.parent.name.removeprefix(PREFIX)
        for name, pack in packs_of(Codings.of(runs, scheme).files).items():
            if "online" in pack:
                found[name] = scheme
    return found


def text_pack(runs: Runs, scheme: str, name: str) -> TextPack:
    """A pack of texts by its name."""
    pack = packs_of(Codings.of(runs, scheme).files)[name]
    hours = float(pack["online"]["hand_on"])
    wording = checked_wording(WORDING, check_coder_texts)
    return TextPack(runs, name, pack["sheets"], hours, plain=pack, wording=wording)
