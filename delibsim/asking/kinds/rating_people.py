"""People who rate debates: which debates each is given, and what a sheet asks."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from delibsim.analysis.debates.rated import debates_of
from delibsim.asking.blinding import blinded
from delibsim.asking.kinds.rating import ON_THE_BALLOT, first_shown, judged, motion_of
from delibsim.asking.paper import hand_out
from delibsim.asking.people import (
    LETTERS,
    Given,
    HandedOut,
    Online,
    Pack,
    Replies,
    SheetStep,
    new_folder,
    pack_name,
    where,
)
from delibsim.domain.annotation import (
    Coder,
    Panel,
    Rating,
    Showing,
    Text,
    allocate,
    debated,
    digest,
)
from delibsim.domain.errors import WrongInput
from delibsim.domain.reason import Reason
from delibsim.domain.run import Run
from delibsim.domain.seed import seed_of
from delibsim.domain.text import counted, study_named
from delibsim.domain.treatment import Wording, wording_kept, wording_plain
from delibsim.prompts.blocks import transcript_block
from delibsim.prompts.forms.ballot import Ballot, Stance
from delibsim.prompts.prompt import Prompt, Purpose
from delibsim.prompts.rating import ballot_prompt, check_rater_texts, stance_prompt
from delibsim.store.annotations import packs_of
from delibsim.store.answers import OF_PEOPLE, PanelRatings
from delibsim.store.runs import Runs

BEFORE, BALLOT = "before", "ballot"
NOT_GIVEN = Reason("not_given")
"""The reason of a value that a person did not give."""


@dataclass
class DebatePack(Pack):
    """A pack of debates: a stance before each is read, and the ballot after it."""

    kind: ClassVar[Given] = "debates"
    scorer: ClassVar[str] = "ratings"
    noun: ClassVar[str] = "rating"

    def unit(self, sheet: str) -> str:
        """The debate."""
        return f"debate {self.sheets[sheet]['debate']}"

    def step(self, sheet: str, given: Replies) -> SheetStep | None:
        """The stance, then the ballot."""
        if BEFORE not in given:
            return SheetStep(BEFORE, self._stance(sheet))
        if BALLOT not in given:
            return SheetStep(BALLOT, self._ballot(sheet, given[BEFORE]))
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
        rater = Coder("Rater", int(key["rater"].rpartition(" ")[2]))
        wording = wording_kept(self.plain["wording"])
        return run, Panel("Rater", (rater,), {}, wording), rater

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
        motion = run.session.topic.question
        asked = ballot_prompt(panel, rater, motion, text, _stance_in(before), key["check"])
        return _neutral(asked, rater, BALLOT)

    def given(self, sheet: str, given: Replies) -> list[Rating]:
        """The rating, without what was not given."""
        key, ballot = self.sheets[sheet], given.get(BALLOT)
        before = _stance_in(given.get(BEFORE))
        if before is None and ballot is None:
            return []
        values = Ballot().read(ballot) if isinstance(ballot, str) else ballot
        rated = judged(values, key["first"], key["check"])
        missing = {} if before is not None else {"before": NOT_GIVEN}
        for name in ON_THE_BALLOT:
            side, _, point = name.partition(".")
            value = rated.get(side, {}).get(point) if point else rated.get(name)
            if value is None and name != "attentive":
                missing[name] = NOT_GIVEN
        own = (key["debate"], key["rater"], key["first"])
        digest, panel = key["debate_sha256"], self.name
        more = {"before": before, "missing": missing, "debate_sha256": digest, "panel": panel}
        return [Rating(*own, **rated, **more)]

    def said(self, answer: Rating) -> str:
        """Whom it names the winner."""
        return f"winner {answer.winner}"

    def told(self, answers: Sequence[Rating]) -> list[str]:
        """How many lack something."""
        n = sum(bool(one.missing) for one in answers)
        return [f"{n} with something missing"] if n else []


def _stance_in(reply: Any) -> int | None:
    """The stance of a page's reply, or as it was written."""
    if isinstance(reply, str):
        return Stance().read(reply)
    return None if reply is None else reply["S1"]


def _neutral(prompt: Prompt, rater: Coder, step: str) -> Prompt:
    """A prompt whose purpose names no debate: names of sessions say who debates."""
    return replace(prompt, purpose=Purpose(rater.neutral_name, step))


def export_debates(
    runs: Runs,
    wording: Wording,
    raters: int,
    each: int | None = None,
    folder: Path | None = None,
    online: Online | None = None,
) -> HandedOut:
    """Hand debates out to so many raters, `each` of them so many debates, None for all; by default
    into pack-NAME. The study keeps the key.

    Raises WrongInput where no debate is complete, or the folder exists.
    """
    check_rater_texts(wording)
    ratings = PanelRatings.of(runs, OF_PEOPLE)
    name = pack_name(runs, "pack", len(packs_of(ratings.files)) + 1)
    folder = new_folder(folder, f"pack-{name}", online)
    debates = [run for run in debates_of(runs)[0] if debated(run)]
    if not debates:
        raise WrongInput(f"{study_named(runs.study)} has no complete debate to rate")
    plain = {"wording": wording_plain(wording)}
    sheets = dict(sheets_of(debates, name, raters, each))
    pack = DebatePack(runs, name, sheets, answers=ratings, plain=plain)
    hand_out(pack, folder, online)
    facts = {"debates": len(debates), "raters": raters, "debates_per_rater": each}
    shares = "" if each is None else f", {each} each"
    among = f"{counted(len(debates), 'debate')} for {counted(raters, 'rater')}{shares}"
    return HandedOut(name, folder, facts, [f"{among}: {where('rater', folder)}"])


def sheets_of(
    debates: Sequence[Run], pack: str, raters: int, each: int | None = None
) -> Iterable[tuple[str, dict[str, Any]]]:
    """The sheets of all raters by code, all debates or `each` so many, in an order of their own.

    All follows from the pack's name. Raises WrongInput for a number of debates that a rater cannot
    have.
    """
    people = [Coder(pack, k) for k in range(1, raters + 1)]
    if each is None:
        shown = {rater.id: _all_of(debates, rater) for rater in people}
    else:
        motions = {run.session.id: run.session.topic.id for run in debates}
        seed = seed_of(pack, debates[0].session.seed)
        shown = allocate(motions, [rater.id for rater in people], each, seed)
    runs = {run.session.id: run for run in debates}
    for rater in people:
        for showing in shown[rater.id]:
            draw = random.Random(seed_of(pack, "sheet", rater.index, showing.debate))
            code = "".join(draw.choice(LETTERS) for _ in range(6))
            own = {"debate": showing.debate, "rater": rater.id, "first": showing.first}
            yield (
                code,
                own
                | {
                    "check": draw.randrange(11, 90),
                    "motion": runs[showing.debate].session.topic.id,
                    "debate_sha256": digest(runs[showing.debate]),
                },
            )


def _all_of(debates: Sequence[Run], rater: Coder) -> tuple[Showing, ...]:
    """All debates in the order of one rater."""
    draw = random.Random(seed_of(rater.panel, "order", rater.index))
    showings = []
    for run in draw.sample(list(debates), len(debates)):
        name = run.session.id
        showings.append(Showing(name, first_shown(name, rater.index, run.session.seed)))
    return tuple(showings)
