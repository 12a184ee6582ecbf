"""The debates of a study with their ratings: read, chosen, and what a report of them pools."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from delibsim.domain.annotation import AnnotatedRun
from delibsim.domain.effect import same_cells
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.participant import SIDES
from delibsim.domain.pooled import differing
from delibsim.domain.rating import Rating, debated
from delibsim.domain.run import Run, Session
from delibsim.domain.study import cell_of
from delibsim.domain.text import study_named
from delibsim.plugins import without_effect
from delibsim.store.ratings import rater
from delibsim.store.runs import Runs

SOURCES = {"model": "models", "human": "people"}
"""The sources of ratings as they are called in commands and print."""


def debates_of(runs: Runs, lost: list[str] | None = None) -> tuple[list[Run], list[str]]:
    """The debates of a study with their ratings, and the faults of runs that cannot be read; files
    of ratings with damaged lines are told in `lost`.

    WrongInput if the study has no debate.
    """
    held, faults = runs.all()
    debates = [run for run in map(rater(runs, lost), held) if run.session.kind.sides]
    if not debates and faults:
        raise WrongInput(f"no debate of {study_named(runs.study)} can be read: {faults[0]}")
    if not debates:
        advice = "debates are held with: delibsim run format=debate motion=voting"
        raise WrongInput(f"{study_named(runs.study)} holds no debate; {advice}")
    return debates, faults


def edited(debates: Iterable[Run]) -> list[str]:
    """A line for every debate whose speeches are others than those that were rated."""
    told = "the debate was edited after it was rated; its ratings judge another text"
    rated = [run for run in debates if isinstance(run, AnnotatedRun)]
    return [f"{run.session.id}: {told}" for run in rated if run.edited]


def chosen(debates: Iterable[Run], panels: Sequence[str], source: str | None) -> list[AnnotatedRun]:
    """Debates with the ratings of these panels (of all where none is named) and of this source.

    `source` is "models", "people" or None for both. WrongInput for an unknown panel.
    """
    rated = [run for run in debates if isinstance(run, AnnotatedRun)]
    known: set[str] = set()
    for run in rated:
        known |= set(run.panels)
    for name in panels:
        if name not in known:
            raise unknown("panel", name, sorted(known))

    def kept(rating: Rating) -> bool:
        wanted = source is None or SOURCES[rating.source] == source
        return wanted and (not panels or rating.panel in panels)

    return [replace(run, ratings=tuple(filter(kept, run.ratings))) for run in rated]


def ids_of(debates: Iterable[Run]) -> set[str]:
    """The names of all debaters and raters."""
    ids = set()
    for run in debates:
        ids |= {p.model for p in run.session.participants if p.role in SIDES}
        ids |= {rating.rater for rating in run.ratings} if isinstance(run, AnnotatedRun) else set()
    return ids


@dataclass(frozen=True)
class Share:
    """Source and number of the ratings of a panel or pack, and what its raters read ("": not
    kept).
    """

    source: str
    ratings: int
    wording: str

    @property
    def described(self) -> str:
        """The share in words."""
        wording = f"wording {self.wording}" if self.wording else "wording not kept"
        return f"{self.source}, {self.ratings}, {wording}"


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
    def of(cls, rated: Iterable[AnnotatedRun]) -> "Pooled":
        """What is pooled in these debates with their ratings."""
        kept = [run for run in rated if run.ratings and debated(run)]
        sessions = [run.session for run in kept]
        shares, unlike = _shares(kept), differing(sessions)
        same = same_cells(sessions, without_effect) if sessions else {}
        warnings = (*_of_wordings(shares), *_of_conditions(sessions, unlike, same))
        return cls(shares, unlike, same, warnings)

    def whose(self) -> str:
        """Whose ratings are pooled, in words."""
        parts = [f"{name} ({share.described})" for name, share in self.shares.items()]
        end = ", pooled" if len(parts) > 1 else ""
        return f"Ratings of {', '.join(parts) or 'nobody'}{end}"

    def warned(self) -> list[str]:
        """What speaks against pooling, as warnings."""
        return [f"warning: {line}" for line in self.warnings]

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "pooled": {name: asdict(share) for name, share in self.shares.items()},
            "differing": {name: list(values) for name, values in self.unlike.items()},
            "same_conditions": dict(self.same),
            "warnings": list(self.warnings),
        }


def _shares(rated: Iterable[AnnotatedRun]) -> dict[str, Share]:
    """The share of every panel and pack, in order of name."""
    counts: Counter[tuple[str, str]] = Counter()
    wordings: dict[str, str] = {}
    for run in rated:
        wordings |= run.wordings
        counts.update((rating.panel, SOURCES[rating.source]) for rating in run.ratings)
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
    advice = "report each by itself with panel=NAME"
    warnings = []
    if len(readers) > 1:
        listed = "; ".join(f"{wording}: {', '.join(names)}" for wording, names in readers.items())
        risk = "the ends of their scales may differ"
        warnings.append(f"ratings under different wordings are pooled ({listed}): {risk}; {advice}")
    if unknown:
        risk = "whether they read what the others read is not known"
        warnings.append(f"the wording was not kept for {', '.join(unknown)}: {risk}; {advice}")
    return warnings


def _of_conditions(
    sessions: Sequence[Session],
    unlike: Mapping[str, Sequence[str]],
    same: Mapping[str, str],
) -> list[str]:
    """Warnings where debates were held under different conditions, and where these are the same."""
    warnings = []
    if unlike:
        listed = "; ".join(f"{name} ({', '.join(values)})" for name, values in unlike.items())
        advice = "no table tells them apart; the column cell of ratings.csv does"
        warnings.append(f"debates held under different conditions are pooled: {listed}; {advice}")
    if same:
        cells = {cell_of(session) for session in sessions}
        debates = sum(cell_of(session) in same for session in sessions)
        cell, first = next(iter(same.items()))
        count = f"{len(same)} of {len(cells)} conditions are the same as another by construction"
        risk = f"their {debates} debates are counted as if they were independent"
        warnings.append(f"{count}, such as {cell} = {first}: {risk}")
    return warnings
