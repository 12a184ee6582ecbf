"""Debates rated on pages: the sheets of a pack of ratings, asked as language models are asked."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from delibsim.asking.blinding import blinded
from delibsim.asking.kinds.rating import ON_THE_BALLOT, judged, motion_of
from delibsim.asking.kinds.rating_form import NOT_GIVEN
from delibsim.conduct.score import score_all
from delibsim.domain.annotation import Coder, Panel, Text
from delibsim.domain.errors import WrongInput
from delibsim.domain.rating import Rating, digest
from delibsim.domain.run import Run
from delibsim.domain.treatment import Wording
from delibsim.people.rater_packs import Kind, RaterPack, Replies, Step, new_among
from delibsim.prompts.blocks import transcript_block
from delibsim.prompts.forms.ballot import Ballot, Stance
from delibsim.prompts.prompt import Prompt, Purpose
from delibsim.prompts.rating import ballot_prompt, stance_prompt
from delibsim.store.ratings import Ratings, panel_and_index
from delibsim.store.runs import Runs

BEFORE, BALLOT = "before", "ballot"


@dataclass
class DebatePack(RaterPack):
    """A pack of debates: a stance before each is read, and the ballot after it."""

    kind: ClassVar[Kind] = "debates"
    wording: Wording = Wording("", {})

    def unit(self, sheet: str) -> str:
        """The debate."""
        return f"debate {self.sheets[sheet]['debate']}"

    def step(self, sheet: str, given: Replies) -> Step | None:
        """The stance, then the ballot."""
        if BEFORE not in given:
            return Step(BEFORE, self._stance(sheet))
        if BALLOT not in given:
            return Step(BALLOT, self._ballot(sheet, given[BEFORE]))
        return None

    def _asked(self, sheet: str) -> tuple[Run, Panel, Coder]:
        """The debate of a sheet, and its rater under a name that says nothing."""
        key = self.sheets[sheet]
        run = self.known.get(key["debate"])
        if run is None:
            run = self.runs.run(key["debate"])
            if digest(run) != key["debate_sha256"]:
                raise WrongInput(
                    f"{run.session.id}: the debate was edited after pack {self.name} was handed"
                    " out; hand another out"
                )
            self.known[key["debate"]] = run
        rater = Coder("Rater", panel_and_index(key["rater"])[1])
        return run, Panel("Rater", (rater,), {}, self.wording), rater

    def _stance(self, sheet: str) -> Prompt:
        run, panel, rater = self._asked(sheet)
        return _neutral(stance_prompt(panel, rater, motion_of(run.session)), rater, BEFORE)

    def _ballot(self, sheet: str, before: str | None) -> Prompt:
        run, panel, rater = self._asked(sheet)
        key = self.sheets[sheet]
        shown = f"{key['debate']} {key['first']}"
        if shown not in self.known:
            self.known[shown] = transcript_block(blinded(run, key["first"]))
        text = Text(sheet, self.known[shown])
        stance = None if before is None else Stance().read(before)
        motion = run.session.topic.question
        asked = ballot_prompt(panel, rater, motion, text, stance, key["check"])
        return _neutral(asked, rater, BALLOT)

    def given(self, sheet: str, given: Replies) -> list[Rating]:
        """The rating, without what was declined."""
        key = self.sheets[sheet]
        before, ballot = given.get(BEFORE), given.get(BALLOT)
        if before is None and ballot is None:
            return []
        missing = {} if before is not None else {"before": NOT_GIVEN}
        if ballot is None:
            missing |= {name: NOT_GIVEN for name in ON_THE_BALLOT if name != "attentive"}
        values = None if ballot is None else Ballot().read(ballot)
        rating = Rating(
            session=key["debate"],
            rater=key["rater"],
            first=key["first"],
            before=None if before is None else Stance().read(before),
            **judged(values, key["first"], key["check"]),
            missing=missing,
            debate_sha256=key["debate_sha256"],
            panel=self.name,
        )
        return [rating]

    def handed_out(self) -> Collection[str]:
        """The sheets that stand in the key of the pack now."""
        return Ratings.of(self.runs).key(self.name)

    def keep(self, answers: Sequence[Rating]) -> None:
        """Each rating with its debate."""
        ratings = Ratings.of(self.runs)
        for debate in {one.session for one in answers}:
            own = [one for one in answers if one.session == debate]
            for one in new_among(ratings.read(debate), own):
                ratings.add(one)

    def rescore(self) -> None:
        """The scores of ratings."""
        score_all(self.runs, ["ratings"])

    def _extend(self, sheets: Mapping[str, Any]) -> None:
        Ratings.of(self.runs).extend_pack(self.name, sheets)


def _neutral(prompt: Prompt, rater: Coder, step: str) -> Prompt:
    """A prompt whose purpose names no debate: names of sessions say who debates."""
    return replace(prompt, purpose=Purpose(rater.neutral_name, step))


def debate_packs(runs: Runs) -> list[str]:
    """The names of the packs of a study that are rated on pages."""
    ratings = Ratings.of(runs)
    return [pack for pack in ratings.packs() if ratings.online(pack) is not None]


def debate_pack(runs: Runs, name: str) -> DebatePack:
    """A pack of ratings by its name; KeyError for one on paper."""
    ratings = Ratings.of(runs)
    online, wording = ratings.online(name), ratings.wording_of_pack(name)
    if online is None or wording is None:
        raise KeyError(name)
    sheets = {}
    for code, sheet in ratings.key(name).items():
        sheets[code] = {part: value for part, value in sheet.items() if part != "index"}
    return DebatePack(runs, name, sheets, float(online["hand_on"]), wording=wording)
