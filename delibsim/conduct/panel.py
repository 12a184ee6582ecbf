"""Panels of raters: who sits on one, before which debates, and whom a rater may know."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from delibsim.asking.texts import kin_among
from delibsim.domain.allocation import Allocation, Showing, allocate
from delibsim.domain.annotation import Coder, Panel
from delibsim.domain.errors import WrongInput
from delibsim.domain.participant import Side
from delibsim.domain.rating import debated
from delibsim.domain.run import Run, Session
from delibsim.domain.secret import refuse_key
from delibsim.domain.text import counted
from delibsim.prompts.rating import RATER_YOU
from delibsim.store.ratings import Ratings
from delibsim.store.runs import Runs


@dataclass(frozen=True)
class Balance:
    """How many ratings a panel is to give, by how many raters a debate, and how many debates by
    nobody.
    """

    planned: int
    fewest_raters: int
    most_raters: int
    unallocated: int

    @classmethod
    def of(cls, panel: Panel, debates: Iterable[Run], allocation: Allocation | None) -> "Balance":
        """That of the raters of a panel before the complete ones of these debates."""
        counts = [len(raters_before(panel, run, allocation)) for run in debates if debated(run)]
        return cls(sum(counts), min(counts, default=0), max(counts, default=0), counts.count(0))

    def describe(self, each: int | None) -> str:
        """In words; "" where every rater rates every debate."""
        if each is None:
            return ""
        few, most = self.fewest_raters, self.most_raters
        raters = f"{few}" if few == most else f"{few} to {most}"
        word = "rater" if most == 1 else "raters"
        return f", {counted(each, 'debate')} each, {raters} {word} a debate"


def panel_of(session: Session, name: str = "panel") -> Panel:
    """The participants of a planned session as a panel of raters, counted from 1.

    WrongInput for a name that looks like a key.
    """
    refuse_key("panel", name)
    coders = []
    for index, person in enumerate(session.participants, 1):
        coders.append(Coder(name, index, person.model, person.persona))
    return Panel(name, tuple(coders), session.models, session.wording, session.procedure.reasks)


def as_begun(panel: Panel, ratings: Ratings) -> Panel:
    """The panel under the wording it was begun with, where that lacks nothing but RATER_YOU.

    The prompts of its raters gave their names in full, so the record holds their answers.
    """
    begun = ratings.wording_of_panel(panel.name)
    texts = {name: text for name, text in panel.wording.texts.items() if name != RATER_YOU}
    if begun is None or (begun.id, dict(begun.texts)) != (panel.wording.id, texts):
        return panel
    return replace(panel, wording=begun)


def allocated(
    runs: Runs,
    panel: Panel,
    debates: Sequence[Run],
    each: int | None,
) -> dict[str, tuple[Showing, ...]] | None:
    """Which debates each rater of a panel rates, with what was allocated before; None where all
    rate all.

    Debates that were held since go to raters who join since. Raises WrongInput where the panel was
    begun with another number of debates for each, or a rater cannot have so many.
    """
    ratings, name = Ratings.of(runs), panel.name
    if name in ratings.panels():
        begun = ratings.debates_per_rater(name)
        if begun != each:
            was = "every debate" if begun is None else counted(begun, "debate")
            option = "each"
            same = f"without {option}" if begun is None else f"with {option}={begun}"
            advice = f"go on {same}, or name another panel: panel=NAME"
            raise WrongInput(f"each rater of panel '{name}' rates {was}: {advice}")
    if each is None:
        return None
    complete = [run for run in debates if debated(run)]
    motions = {run.session.id: run.session.topic.id for run in complete}
    raters = [coder.id for coder in panel.coders]
    seed = complete[0].session.seed if complete else 0
    return allocate(motions, raters, each, seed, ratings.allocation(name))


def raters_before(
    panel: Panel,
    run: Run,
    allocation: Allocation | None = None,
) -> list[tuple[Coder, Side | None]]:
    """The raters before whom a debate is to come, each with the side shown as Speaker A.

    Where there is no allocation a debate comes before every rater, and the side is None: as it is
    drawn.
    """
    if allocation is None:
        return [(rater, None) for rater in panel.coders]
    name = run.session.id
    sides = {}
    for rater, showings in allocation.items():
        own = {showing.debate: showing.first for showing in showings}
        if name in own:
            sides[rater] = own[name]
    return [(rater, sides[rater.id]) for rater in panel.coders if rater.id in sides]


def kin(panel: Panel, runs: Sequence[Run]) -> list[str]:
    """A warning for each rater's model that shares a family with a debater's: it may know, and
    favour, its own hand.
    """
    debating = {name: settings for run in runs for name, settings in run.session.models.items()}
    return kin_among(panel.models, debating, ("rater", "debater"))
