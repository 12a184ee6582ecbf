"""What a report of ratings pools: whose ratings, under which wordings, of which conditions."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console

from delibsim.cli.terminal import safe
from delibsim.domain.pooled import differing
from delibsim.domain.rating import Rated, debated, panel_of_rater
from delibsim.domain.run import Session
from delibsim.domain.study import cell_of
from delibsim.planning.effects import effects_of

SOURCES = {"model": "models", "human": "people"}


@dataclass(frozen=True)
class Share:
    """Source and number of the ratings of a panel or pack, and what its raters read ("": not
    kept).
    """

    source: str
    ratings: int
    wording: str


@dataclass(frozen=True)
class Pooled:
    """What is pooled: the share of each panel and pack, settings that differ, conditions alike.

    `unlike` holds, with their values, the settings in which rated debates differ beyond motion and
    debaters; `same` for each condition that is another by construction the first of these.
    """

    shares: Mapping[str, Share]
    unlike: Mapping[str, Sequence[str]]
    same: Mapping[str, str]
    warnings: tuple[str, ...]

    @classmethod
    def of(cls, rated: Iterable[Rated]) -> "Pooled":
        """What is pooled in these debates with their ratings."""
        kept = [run for run in rated if run.ratings and debated(run)]
        sessions = [run.session for run in kept]
        shares, unlike = _shares(kept), differing(sessions)
        same = effects_of(sessions).same if sessions else {}
        warnings = (*_of_wordings(shares), *_of_conditions(sessions, unlike, same))
        return cls(shares, unlike, same, warnings)

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "pooled": {name: asdict(share) for name, share in self.shares.items()},
            "differing": {name: list(values) for name, values in self.unlike.items()},
            "same_conditions": dict(self.same),
            "warnings": list(self.warnings),
        }

    def print(self, screen: Console) -> None:
        """Say whose ratings are pooled, and what speaks against pooling them."""
        parts = []
        for name, share in self.shares.items():
            wording = f"wording {share.wording}" if share.wording else "wording not kept"
            parts.append(f"{name} ({share.source}, {share.ratings}, {wording})")
        whose = safe(", ".join(parts)) or "nobody"
        screen.print(f"Ratings of {whose}{', pooled' if len(parts) > 1 else ''}", soft_wrap=True)
        self.warn(screen)

    def warn(self, screen: Console) -> None:
        """Say what speaks against pooling."""
        for line in self.warnings:
            screen.print(safe(f"warning: {line}"), soft_wrap=True)


def _shares(rated: Iterable[Rated]) -> dict[str, Share]:
    """The share of every panel and pack, in order of name."""
    counts: Counter[tuple[str, str]] = Counter()
    wordings: dict[str, str] = {}
    for run in rated:
        wordings |= run.wordings
        counts.update((panel_of_rater(r.rater), SOURCES[r.source]) for r in run.ratings)
    found = {}
    for (name, source), n in sorted(counts.items()):
        found[name] = Share(source, n, wordings.get(name, ""))
    return found


def _of_wordings(shares: Mapping[str, Share]) -> list[str]:
    """A warning where those pooled read different wordings, or may have."""
    if len(shares) < 2:
        return []
    readers: dict[str, list[str]] = defaultdict(list)
    for name, share in shares.items():
        readers[share.wording].append(name)
    unknown = readers.pop("", [])
    advice = "report each by itself with --panel NAME"
    said = []
    if len(readers) > 1:
        told = "; ".join(f"{wording}: {', '.join(names)}" for wording, names in readers.items())
        risk = "the ends of their scales may differ"
        said.append(f"ratings under different wordings are pooled ({told}): {risk}; {advice}")
    if unknown:
        risk = "whether they read what the others read is not known"
        said.append(f"the wording was not kept for {', '.join(unknown)}: {risk}; {advice}")
    return said


def _of_conditions(
    sessions: Sequence[Session],
    unlike: Mapping[str, Sequence[str]],
    same: Mapping[str, str],
) -> list[str]:
    """Warnings where debates were held under different conditions, and where these are the same."""
    said = []
    if unlike:
        told = "; ".join(f"{name} ({', '.join(values)})" for name, values in unlike.items())
        advice = "no table tells them apart; the column cell of ratings.csv does"
        said.append(f"debates held under different conditions are pooled: {told}; {advice}")
    if same:
        cells = {cell_of(session) for session in sessions}
        debates = sum(cell_of(session) in same for session in sessions)
        cell, first = next(iter(same.items()))
        count = f"{len(same)} of {len(cells)} conditions are the same as another by construction"
        risk = f"their {debates} debates are counted as if they were independent"
        said.append(f"{count}, such as {cell} = {first}: {risk}")
    return said
