"""Packs for human raters: handed out from a study, and their answers brought back to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from delibsim.analysis.debates.rated import debates_of
from delibsim.asking.handing_out import Online, new_folder, pack_name
from delibsim.asking.kinds.rating_form import Line, conflicts, form, read_form
from delibsim.asking.kinds.rating_sheets import Sheet, key_of, page, sheets_of
from delibsim.conduct.score import score_all
from delibsim.domain.errors import WrongInput
from delibsim.domain.rating import Rating, debated
from delibsim.domain.text import study_named
from delibsim.domain.treatment import Wording
from delibsim.prompts.rating import check_rater_texts
from delibsim.store.files import write_atomically
from delibsim.store.ratings import Ratings
from delibsim.store.runs import Runs

KEPT = (
    "Nothing was imported: ratings are never overwritten. To go on, put these lines back as they"
    " were; or give the corrected answers to another pack (delibsim rate handout STUDY), by its"
    " own pages, where A and B may be the other way round, and have it alone reported:"
    " panel=PACK."
)
"""What is said of a form whose answers contradict those that were imported before."""


@dataclass(frozen=True)
class Pack:
    """A pack that was handed out: where its files are (None: on pages), how many debates it is
    about, and its name.
    """

    folder: Path | None
    debates: int
    name: str


@dataclass(frozen=True)
class Imported:
    """What came of a form: how many ratings it held, how many of them are new or have something
    missing, and how many of its sheets were left empty.
    """

    given: int
    new: int
    partial: int
    empty: int

    @property
    def whole(self) -> bool:
        """Whether every sheet was filled in, and every cell of it."""
        return not self.empty and not self.partial


def export_pack(
    runs: Runs,
    wording: Wording,
    raters: int,
    each: int | None = None,
    folder: Path | None = None,
) -> Pack:
    """Write the pages of a new pack and its form, by default into pack-NAME; the study keeps the
    key.

    `each` is the number of debates that each rater rates, None for all. Raises WrongInput where no
    debate is complete, or the folder exists.
    """
    named = pack_name(runs, "pack", len(Ratings.of(runs).packs()) + 1)
    folder = new_folder(folder, f"pack-{named}")
    name, sheets, debates = _new_pack(runs, wording, raters, each)
    for k, own in enumerate(sheets.values(), 1):
        write_atomically(folder / f"rater-{k}.html", page(own, wording))
    write_atomically(folder / "form.csv", form(sheets, name))
    return Pack(folder, debates, name)


def open_pack(runs: Runs, wording: Wording, raters: int, each: int | None, online: Online) -> Pack:
    """Hand a pack out on pages: the same draw and key as on paper, and nothing to print.

    Raises WrongInput where no debate is complete.
    """
    name, _, debates = _new_pack(runs, wording, raters, each, online)
    return Pack(None, debates, name)


def _new_pack(
    runs: Runs, wording: Wording, raters: int, each: int | None, online: Online | None = None
) -> tuple[str, Mapping[str, Sequence[Sheet]], int]:
    """The name of a new pack, its sheets by rater, and how many debates there are; the study keeps
    the key.
    """
    check_rater_texts(wording)
    ratings = Ratings.of(runs)
    debates = [run for run in debates_of(runs)[0] if debated(run)]
    if not debates:
        raise WrongInput(f"{study_named(runs.study)} has no complete debate to rate")
    name = pack_name(runs, "pack", len(ratings.packs()) + 1)
    sheets = sheets_of(debates, name, raters, each)
    ratings.add_pack(name, key_of(sheets), wording, None if online is None else online.plain())
    return name, sheets, len(debates)


def import_form(file: Path, root: Path) -> Imported:
    """Keep the ratings in a form that was filled in, each with its study below `root`, and score
    them.

    WrongInput, and nothing is kept, where a line is wrong or contradicts what was imported before.
    """
    owners, keys = {}, {}
    for folder in sorted(path.parent for path in root.glob("*/study.json")):
        ratings = Ratings(folder)
        for pack in ratings.packs():
            keys[pack], owners[pack] = ratings.key(pack), ratings
    lines, empty = read_form(file, keys)
    waiting, clashes = {}, []
    for pack, ratings in owners.items():
        own = [line for line in lines if line.rating.panel == pack]
        waiting[pack], found = _new(own, ratings)
        clashes += found
    if clashes:
        raise WrongInput("\n".join([*clashes, KEPT]))
    for pack, new in waiting.items():
        _keep(new, owners[pack])
    kept = sum(map(len, waiting.values()))
    partial = sum(bool(line.rating.missing) for line in lines)
    return Imported(len(lines), kept, partial, empty)


def _new(lines: Sequence[Line], ratings: Ratings) -> tuple[list[Rating], list[str]]:
    """The ratings of a pack that its study does not hold yet, and the lines that contradict it."""
    known = {}
    for debate in {line.rating.session for line in lines}:
        for rating in ratings.read(debate):
            known[rating.session, rating.rater] = rating
    return conflicts(lines, known)


def _keep(new: Sequence[Rating], ratings: Ratings) -> None:
    """Keep ratings with their study, and score them."""
    if not new:
        return
    runs = Runs.at(ratings.folder)
    with runs.lock():
        for rating in new:
            ratings.add(rating)
    score_all(runs, ["ratings"])
