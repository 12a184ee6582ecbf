"""The ratings of a study's debates, beside its runs: panels, exchanges with raters, ratings, and
the keys of what was handed out.

ratings/<debate>/ratings.jsonl (a rating a line), exchanges.jsonl (every call to a rater),
ratings/panels.json, ratings/packs/<pack>.json
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from delibsim.domain.allocation import Showing
from delibsim.domain.errors import WrongInput
from delibsim.domain.pooled import digest_of
from delibsim.domain.rating import Rated, Rating
from delibsim.domain.run import Run
from delibsim.domain.treatment import Wording
from delibsim.store import codec
from delibsim.store.files import append_line, json_text, read_lines, sorted_lines, write_atomically
from delibsim.store.reading import read_json
from delibsim.store.runs import Runs

RATINGS = "ratings"
RATING = TypeAdapter(Rating)
ALLOCATION = TypeAdapter(dict[str, tuple[Showing, ...]])
RATER = re.compile(rb'"rater": ?"([^"\\]+)"')
"""Who gave a rating, as far as a damaged line still tells."""


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
        """The ratings of a debate that stand whole, in the order in which they came; Damaged,
        naming the file, if one is no rating.

        Lines that are damaged are left out and counted by `lost`.
        """
        path = self.path(debate) / "ratings.jsonl"
        records, _ = read_lines(path)
        try:
            return tuple(
                RATING.validate_json(json.dumps(record), strict=True) for record in records
            )
        except (ValidationError, ValueError) as error:
            first = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
            raise codec.Damaged(f"{path}: {first}") from None

    def lost(self, debate: str) -> int:
        """How many damaged lines hold a rating that is lost; one whose rater can be read and has
        rated since is not.
        """
        _, damaged = sorted_lines(self.path(debate) / "ratings.jsonl")
        known = {rating.rater for rating in self.read(debate)} if damaged else set()
        named = [RATER.search(line) for line in damaged]
        return sum(
            found is None or found[1].decode(errors="replace") not in known for found in named
        )

    def losses(self, debates: Iterable[str]) -> list[str]:
        """A line for every debate of which ratings are lost: how many, where, and how to mend
        it.
        """
        counts = {debate: self.lost(debate) for debate in debates}
        return [
            f"{self.path(debate) / 'ratings.jsonl'}: {n} damaged line(s), as many ratings lost;"
            " models are asked again by delibsim ratings ask, people's forms are imported again;"
            " then delete the line(s)"
            for debate, n in counts.items()
            if n
        ]

    def add(self, rating: Rating) -> None:
        """Keep a rating; WrongInput if its rater has rated that debate already."""
        if any(known.rater == rating.rater for known in self.read(rating.session)):
            raise WrongInput(
                f"{rating.rater} has rated {rating.session} already; ratings are never overwritten"
            )
        self.path(rating.session).mkdir(parents=True, exist_ok=True)
        append_line(
            self.path(rating.session) / "ratings.jsonl", RATING.dump_python(rating, mode="json")
        )

    def rated(self, runs: Iterable[Run]) -> list[Run]:
        """Runs, with their ratings where they are debates."""
        wordings = self.wordings()
        found = []
        for run in runs:
            debate = bool(run.session.kind.sides)
            found.append(self._rated(run, wordings) if debate else run)
        return found

    def _rated(self, run: Run, wordings: Mapping[str, str]) -> Rated:
        fields = {name: getattr(run, name) for name in run.__dataclass_fields__}
        return Rated(**fields, ratings=self.read(run.session.id), wordings=wordings)

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

    def record(self, debate: str, exchange: Mapping[str, Any]) -> None:
        """Append an exchange with a rater to the log of a debate."""
        self.path(debate).mkdir(parents=True, exist_ok=True)
        append_line(self.path(debate) / "exchanges.jsonl", exchange)

    def exchanges(self, debate: str) -> tuple[list[dict[str, Any]], int]:
        """The exchanges with the raters of a debate, and how many lines of their log are
        damaged.
        """
        return read_lines(self.path(debate) / "exchanges.jsonl")

    def asked(self) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Every exchange with a rater of the study as plain values, and the settings of the panels'
        models by name.
        """
        models = {
            name: settings
            for panel in self._panels().values()
            for name, settings in panel["models"].items()
        }
        logs = sorted((self.folder / RATINGS).glob("*/exchanges.jsonl"))
        return [record for log in logs for record in read_lines(log)[0]], models

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
            return ALLOCATION.validate_json(json.dumps(plain), strict=True)
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

    def settle_panel(self, name: str, plain: dict[str, Any]) -> None:
        """Keep what a panel is made of, once; it may grow. WrongInput with the differences if
        another is kept under its name.

        The allocation is not compared: it is drawn from the one that is kept.
        """
        path = self.folder / RATINGS / "panels.json"
        panels = self._panels()
        if old := panels.get(name):
            shared = min(len(old["raters"]), len(plain["raters"]))
            changed = codec.differences(_compared(old, shared), _compared(plain, shared))
            if changed:
                lines = "\n".join(f"  {line}" for line in changed[:20])
                raise WrongInput(
                    f"panel '{name}' is another; it is left as it is:\n{lines}\nGive the new one a"
                    " name: --panel NAME"
                )
            if len(old["raters"]) >= len(plain["raters"]):
                return
        write_atomically(path, json_text(panels | {name: plain}, indent=1) + "\n")

    def add_pack(self, pack: str, key: Mapping[str, Any], wording: Wording) -> None:
        """Keep the key of a pack that was handed out, and what its raters read; they stay here.

        The key says which sheet is which debate, and who is Speaker A.
        """
        path = self.folder / RATINGS / "packs" / f"{pack}.json"
        if path.exists():
            raise WrongInput(f"{path} exists: this pack was made before")
        plain = {"wording": asdict(wording), "sheets": dict(key)}
        write_atomically(path, json_text(plain, indent=1) + "\n")

    def key(self, pack: str) -> dict[str, Any]:
        """The key of a pack by sheet; KeyError if there is no such pack."""
        plain = read_json(self.packs()[pack])
        # A pack handed out before its wording was kept is its sheets alone.
        return plain.get("sheets", plain)

    def wording_of_pack(self, pack: str) -> Wording | None:
        """What the raters of a pack read; None where it was not kept. KeyError: no such pack."""
        kept = read_json(self.packs()[pack]).get("wording")
        return None if kept is None else _wording(kept)

    def packs(self) -> dict[str, Path]:
        """The keys of the packs that were handed out, by name."""
        return {
            path.stem: path for path in sorted((self.folder / RATINGS / "packs").glob("*.json"))
        }


def _wording(plain: Mapping[str, Any]) -> Wording:
    """A wording from plain values."""
    return Wording(str(plain["id"]), dict(plain["texts"]))


def _to_raters(wording: Wording) -> dict[str, str]:
    """Those texts of a wording that are for raters alone."""
    return {name: text for name, text in wording.texts.items() if name.startswith("rater_")}


def _compared(panel: Mapping[str, Any], raters: int) -> dict[str, Any]:
    """What of a panel must stay as it is: its first raters, and everything else but what it grows
    by.
    """
    fixed = {name: value for name, value in panel.items() if name != "allocation"}
    return fixed | {"raters": panel["raters"][:raters]}
