"""The ratings of a study's debates: panels, exchanges with raters, ratings, keys of packs.

They lie beside the runs: ratings/<debate>/ratings.jsonl (a rating a line) and exchanges.jsonl
(every call to a rater), ratings/panels.json; packs lie in annotations/rating-people/packs/.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from delibsim.domain.allocation import Allocation, Showing
from delibsim.domain.annotation import Coder, Panel
from delibsim.domain.errors import WrongInput
from delibsim.domain.pooled import digest_of
from delibsim.domain.rating import Rated, Rating
from delibsim.domain.run import Run
from delibsim.domain.text import counted
from delibsim.domain.treatment import Wording
from delibsim.store import codec
from delibsim.store.annotations import ANNOTATIONS, TaskFolder
from delibsim.store.files import append_line, json_text, read_lines, sorted_lines, write_atomically
from delibsim.store.packs import packs_of
from delibsim.store.reading import adapter, read_json
from delibsim.store.runs import Runs

RATINGS = "ratings"
OF_PEOPLE = "rating-people"
"""The task of packs for people."""
MODELS: Any = Mapping[str, Mapping[str, Any]]
ALLOCATION = dict[str, tuple[Showing, ...]]
RATER = re.compile(rb'"rater": ?"([^"\\]+)"')
"""Who gave a rating, as far as a damaged line still shows it."""


def panel_and_index(rater: str) -> tuple[str, int]:
    """The panel or pack of a rater, and its place there, from its name on disk.

    >>> panel_and_index("gpt_5_versus_human_judge 3"), panel_and_index("judge")
    (('gpt_5_versus_human_judge', 3), ('', 0))
    """
    panel, _, index = rater.rpartition(" ")
    return panel, int(index) if index.isdigit() else 0


@dataclass(frozen=True)
class Ratings:
    """The ratings of one study; `folder` is that of the study."""

    folder: Path

    @classmethod
    def of(cls, runs: Runs) -> "Ratings":
        """Those of a study's runs."""
        return cls(runs.folder)

    def path(self, debate: str) -> Path:
        """The folder of a debate's ratings."""
        return self.folder / RATINGS / debate

    def read(self, debate: str) -> tuple[Rating, ...]:
        """The ratings of a debate that can be read, in the order in which they came.

        Damaged lines are left out and counted by `lost`. Raises Damaged, naming the file, for a
        whole line that is no rating.
        """
        path = self.path(debate) / "ratings.jsonl"
        ratings = []
        for record in read_lines(path)[0]:
            try:
                plain = dict(record)
                plain["missing"] = codec.reasons_from_plain(plain.get("missing", {}))
                rating = adapter(Rating).validate_json(json.dumps(plain), strict=True)
            except ValidationError as error:
                raise codec.Damaged(f"{path}: {error.errors()[0]['msg']}") from None
            except ValueError as error:
                raise codec.Damaged(f"{path}: {error}") from None
            ratings.append(replace(rating, panel=panel_and_index(rating.rater)[0]))
        return tuple(ratings)

    def lost(self, debate: str) -> int:
        """How many ratings are lost to damaged lines.

        A line whose rater can still be read, and has rated since, is no loss.
        """
        _, damaged = sorted_lines(self.path(debate) / "ratings.jsonl")
        known = {rating.rater for rating in self.read(debate)} if damaged else set()
        lost = 0
        for line in damaged:
            found = RATER.search(line)
            lost += found is None or found[1].decode(errors="replace") not in known
        return lost

    def losses(self, debates: Iterable[str]) -> list[str]:
        """A line for every debate with lost ratings: how many, where, and what to do."""
        advice = (
            "models are asked again by delibsim rate ask, people's forms are collected again;"
            " then delete what is damaged"
        )
        lines = []
        for debate in debates:
            file, n = self.path(debate) / "ratings.jsonl", self.lost(debate)
            if n:
                lines.append(
                    f"{file}: {counted(n, 'damaged line')}, as many ratings lost; {advice}"
                )
        return lines

    def add(self, rating: Rating) -> None:
        """Keep a rating; WrongInput if its rater has rated that debate already."""
        if any(known.rater == rating.rater for known in self.read(rating.session)):
            raise WrongInput(
                f"{rating.rater} has rated {rating.session} already; ratings are never overwritten"
            )
        folder = self.path(rating.session)
        folder.mkdir(parents=True, exist_ok=True)
        plain = adapter(Rating).dump_python(rating, mode="json", exclude={"panel"})
        plain["missing"] = codec.reasons_to_plain(rating.missing)
        append_line(folder / "ratings.jsonl", plain)

    def rated(self, runs: Iterable[Run]) -> list[Run]:
        """Runs, with their ratings where they are debates."""
        return list(map(self.rater(), runs))

    def rater(self) -> Callable[[Run], Run]:
        """What makes of a run one with its ratings where it is a debate."""
        wordings = self.wordings()

        def rated(run: Run) -> Run:
            if not run.session.kind.sides:
                return run
            fields = {name: getattr(run, name) for name in run.__dataclass_fields__}
            return Rated(**fields, ratings=self.read(run.session.id), wordings=wordings)

        return rated

    def wordings(self) -> dict[str, str]:
        """What the raters of every panel and pack read, by name, where it was kept.

        The id of the wording; where several have one id and say other things to raters, with the
        first digits of the SHA-256 of what they say.
        """
        kept = {name: self.wording_of_panel(name) for name in self.panels()}
        kept |= {pack: self.wording_of_pack(pack) for pack in self.packs()}
        read = {}
        for name, wording in kept.items():
            if wording is not None:
                read[name] = wording.id, digest_of(_to_raters(wording))
        versions = Counter(id for id, _ in set(read.values()))
        found = {}
        for name, (id, digest) in read.items():
            found[name] = id if versions[id] == 1 else f"{id} ({digest[:8]})"
        return found

    def exchanges_file(self, debate: str) -> Path:
        """The log of every call to the raters of a debate."""
        return self.path(debate) / "exchanges.jsonl"

    def models(self) -> dict[str, Any]:
        """The settings of the models of all panels, by name."""
        found: dict[str, Any] = {}
        for panel in self._panels().values():
            found |= panel["models"]
        return found

    def _panels(self) -> dict[str, Any]:
        path = self.folder / RATINGS / "panels.json"
        return read_json(path) if path.is_file() else {}

    def allocation(self, name: str) -> dict[str, tuple[Showing, ...]]:
        """The debates of every rater of a panel that rates so many each; empty where there is no
        such panel.

        Raises Damaged, naming the file, where the allocation cannot be read.
        """
        path = self.folder / RATINGS / "panels.json"
        plain = self._panels().get(name, {}).get("allocation", {})
        try:
            return adapter(ALLOCATION).validate_json(json.dumps(plain), strict=True)
        except ValidationError as error:
            fault = error.errors()[0]["msg"]
            raise codec.Damaged(f"{path}: the allocation of panel '{name}': {fault}") from None

    def debates_per_rater(self, name: str) -> int | None:
        """How many debates each rater of a panel rates; None where all rate all. KeyError if there
        is no such panel.
        """
        return self._panels()[name].get("debates_per_rater")

    def wording_of_panel(self, name: str) -> Wording | None:
        """What the raters of a panel of language models read; None where there is no such panel."""
        kept = self._panels().get(name, {}).get("wording")
        return None if kept is None else _wording(kept)

    def panels(self) -> list[str]:
        """The names of the panels of language models."""
        return sorted(self._panels())

    def panels_kept(self) -> dict[str, Panel]:
        """The panels of language models as they were kept, by name."""
        found = {}
        for name, plain in self._panels().items():
            coders = []
            for index, seat in enumerate(plain["raters"], 1):
                coders.append(Coder(name, index, seat["model"], seat["persona"]))
            wording, reasks = _wording(plain["wording"]), plain["reasks"]
            found[name] = Panel(name, tuple(coders), plain["models"], wording, reasks)
        return found

    def settle_panel(self, panel: Panel, allocation: Allocation | None = None) -> None:
        """Keep what a panel is made of, once; it may grow.

        WrongInput with the differences if another panel is kept under its name. The allocation is
        not compared: it is drawn from the one that is kept.
        """
        path = self.folder / RATINGS / "panels.json"
        panels, plain = self._panels(), panel_to_plain(panel, allocation)
        old = panels.get(panel.name)
        if old:
            shared = min(len(old["raters"]), len(plain["raters"]))
            changed = codec.differences(_compared(old, shared), _compared(plain, shared))
            if changed:
                lines = "\n".join(f"  {line}" for line in changed[:20])
                raise WrongInput(
                    f"panel '{panel.name}' is another; it is left as it is:\n{lines}\n"
                    "Give the new one a name: panel=NAME"
                )
            if len(old["raters"]) >= len(plain["raters"]):
                return
        write_atomically(path, json_text(panels | {panel.name: plain}, indent=1) + "\n")

    @property
    def files(self) -> TaskFolder:
        """The folder of what was handed out to people."""
        return TaskFolder(self.folder / ANNOTATIONS / OF_PEOPLE)

    def key(self, pack: str) -> dict[str, Any]:
        """The key of a pack by sheet; KeyError: no such pack."""
        return self.packs()[pack]["sheets"]

    def wording_of_pack(self, pack: str) -> Wording:
        """What the raters of a pack read. KeyError: no such pack."""
        return _wording(self.packs()[pack]["wording"])

    def packs(self) -> dict[str, dict[str, Any]]:
        """The packs that were handed out, by name."""
        return packs_of(self.files)


def panel_to_plain(panel: Panel, allocation: Allocation | None = None) -> dict[str, Any]:
    """What a panel is made of, as plain values: its raters, models, wording and re-asks.

    With an allocation: how many debates each rater rates, and which.
    """
    raters = []
    for coder in panel.coders:
        seat = {"id": coder.id, "persona": coder.persona, "model": coder.model, "role": "rater"}
        raters.append(seat)
    plain = {
        "raters": raters,
        "models": adapter(MODELS).dump_python(panel.models, mode="json"),
        "wording": asdict(panel.wording),
        "reasks": panel.reasks,
    }
    if allocation is None:
        return plain
    shown = {}
    for rater, showings in allocation.items():
        shown[rater] = [asdict(showing) for showing in showings]
    each = len(next(iter(allocation.values())))
    return plain | {"debates_per_rater": each, "allocation": shown}


def _wording(plain: Mapping[str, Any]) -> Wording:
    """A wording from plain values."""
    return Wording(str(plain["id"]), dict(plain["texts"]))


def _to_raters(wording: Wording) -> dict[str, str]:
    """Those texts of a wording that are for raters alone."""
    return {name: text for name, text in wording.texts.items() if name.startswith("rater_")}


def _compared(panel: Mapping[str, Any], raters: int) -> dict[str, Any]:
    """What of a panel must stay as it is: its first raters, its models and its wording."""
    fixed = {name: value for name, value in panel.items() if name != "allocation"}
    return fixed | {"raters": panel["raters"][:raters]}
