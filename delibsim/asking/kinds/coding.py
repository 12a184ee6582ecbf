"""Which scheme and texts a command about codes means, what is coded, and what models gave."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from delibsim.asking.texts import CITIZENS, of_roles, roles_in, shown_texts, texts_of, unit_in
from delibsim.domain.annotation import Text
from delibsim.domain.coding import Sample
from delibsim.domain.errors import WrongInput
from delibsim.domain.reason import Reason
from delibsim.domain.scheme import Dimension, LevelValue, Scheme
from delibsim.domain.text import quoted, study_named, word_count, wordless
from delibsim.measures.ensemble import entropies
from delibsim.store.annotations import ANNOTATIONS, packs_of
from delibsim.store.answers import Codings
from delibsim.store.coded import DimensionSamples, SchemeCodes
from delibsim.store.instruments.library import Library
from delibsim.store.runs import Runs


@dataclass(frozen=True)
class Coding:
    """The codes of a study by one scheme, and how its texts are cut: `unit`, `context`, and the
    `roles` of those who spoke.
    """

    runs: Runs
    scheme: Scheme
    codings: Codings
    unit: str
    context: int
    roles: Sequence[str] = CITIZENS

    @property
    def cut(self) -> dict[str, Any]:
        """How its texts are cut, as a study keeps it."""
        return {"unit": self.unit, "context": self.context, **of_roles(self.roles)}

    def texts(self) -> list[Text]:
        """Every text of the study, word for word."""
        return texts_of(self.runs, self.unit, self.context, roles=self.roles)

    def shown(self, texts: Sequence[Text]) -> dict[str, Text]:
        """Texts by id as coders see them; imported ones word for word."""
        return shown_texts(self.runs, texts)


def coding_of(
    runs: Runs,
    name: str = "",
    by: str = "",
    context: int | None = None,
    home: Path | None = None,
    roles: Sequence[str] = (),
) -> Coding:
    """The coding of a study by a scheme; by the only one that was applied where none is named.

    What was begun keeps its scheme, unit, context and roles. Raises WrongInput for others than
    these, for a scheme that was edited since a pack was handed out, and where no scheme or one of
    several has to be named.
    """
    name = name or _only_scheme(runs)
    codings = Codings.of(runs, name)
    kept = codings.settled()
    packs = packs_of(codings.files)
    scheme = codings.scheme() if kept else Library(home or Path.cwd()).scheme(name)
    for pack, plain in packs.items():
        if plain["scheme_sha256"] != scheme.sha256:
            raise WrongInput(
                f"scheme {name} is not the one by which pack {pack} is coded"
                f" ({codings.files.packs / pack}.json holds that one whole); put the file of the"
                " scheme back as it was, or give the new one an id of its own"
            )
    begun: dict[str, Any] = kept or next(iter(packs.values()), {})
    unit = _settled("by", by, begun.get("unit"), unit_in(runs, "statement"))
    shown_before = _settled("context", context, begun.get("context"), 0)
    heard = _settled("roles", roles or None, roles_in(begun) if begun else None, CITIZENS)
    return Coding(runs, scheme, codings, unit, shown_before, heard)


def _settled(name: str, given: Any, begun: Any, default: Any) -> Any:
    """A setting: as it was begun, else as it is given, else the default."""
    if given in ("", None):
        return default if begun is None else begun
    if begun is not None and begun != given:
        raise WrongInput(
            f"{name}={given}: this coding was begun with {name}={begun}; leave {name} out, or code"
            " another study"
        )
    return given


def _only_scheme(runs: Runs) -> str:
    """The scheme by which a study was coded, or a pack of it handed out, where it is one only."""
    folders = (runs.folder / ANNOTATIONS).glob(f"{Codings.prefix}*")
    names = sorted(path.name.removeprefix(Codings.prefix) for path in folders if path.is_dir())
    if len(names) == 1:
        return names[0]
    if names:
        listed = ", ".join(names)
        raise WrongInput(
            f"{study_named(runs.study)} is coded by several schemes; name one: scheme=NAME"
            f" ({listed})"
        )
    raise WrongInput(
        f"{study_named(runs.study)} is not coded yet; name a scheme: scheme=NAME. delibsim list"
        " schemes names them"
    )


@dataclass(frozen=True)
class Uncoded:
    """A text that is not put before coders on a dimension, and why."""

    text: str
    dimension: str
    reason: Reason


def occurrences_of(texts: Iterable[Text]) -> dict[str, int]:
    """How many texts before it, in this order, are word for word like each text, by id."""
    seen: Counter[str] = Counter()
    found = {}
    for text in texts:
        digest = text.sha256
        found[text.id] = seen[digest]
        seen[digest] += 1
    return found


def why_not_coded(text: str, scheme: Scheme, dimension: Dimension) -> Reason | None:
    """Why a text is not put before coders on a dimension; None if it is."""
    if not text.strip():
        return Reason("empty")
    if wordless(text):
        return Reason("wordless")
    words = word_count(text)
    least, most = max(scheme.least_words, dimension.least_words), scheme.most_words
    if words < least:
        return Reason("too_short", f"{words} words, and the scheme codes from {least} on")
    if most is not None and words > most:
        return Reason("too_long", f"{words} words, and the scheme codes up to {most}")
    return None


def dimensions_for(scheme: Scheme, text: Text) -> list[str]:
    """The ids of the dimensions on which a text is coded; none for one that is not coded at all."""
    found = []
    for dimension in scheme.dimensions:
        if why_not_coded(text.text, scheme, dimension) is None:
            found.append(dimension.id)
    return found


def uncoded_of(
    scheme: Scheme, dimensions: Sequence[Dimension], texts: Sequence[Text]
) -> tuple[Uncoded, ...]:
    """The texts that are not put before coders, by dimension."""
    found = []
    for dimension in dimensions:
        for text in texts:
            reason = why_not_coded(text.text, scheme, dimension)
            if reason is not None:
                found.append(Uncoded(text.id, dimension.id, reason))
    return tuple(found)


def twins_of(
    shown: Mapping[str, Text], occurrences: Mapping[str, int], texts: Sequence[Text]
) -> dict[str, tuple[str, ...]]:
    """By the id of the first of the texts that coders see alike, context included: all of them; by
    the id of any other: nothing.
    """
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for text in sorted(texts, key=lambda text: occurrences[text.id]):
        seen = shown[text.id]
        groups.setdefault((seen.text, seen.context), []).append(text.id)
    found: dict[str, tuple[str, ...]] = {}
    for ids in groups.values():
        found |= dict.fromkeys(ids[1:], ())
        found[ids[0]] = tuple(ids)
    return found


def coded_by_models(coding: Coding) -> SchemeCodes:
    """The codes of a coding; WrongInput where no model was asked."""
    found = SchemeCodes.of(coding.codings) if coding.codings.files.begun() else None
    if found is None or not found.by_dimension:
        raise WrongInput(
            f"{study_named(coding.runs.study)} has no codes of models by {coding.scheme.id}; ask"
            f" for them: delibsim code ask {quoted(coding.runs.study)} scheme={coding.scheme.id}"
        )
    return found


def scored(codes: SchemeCodes) -> list[Sample]:
    """The samples that make the codes: those of the scored wording."""
    return [sample for sample in codes.samples if sample.wording == codes.asked.wording]


def doubt_of(own: DimensionSamples) -> dict[str, float]:
    """The entropy of each text in bits, of the texts that have a level."""
    whole = entropies(own.counts, own.levels)[0]
    known = zip(own.texts, whole, strict=True)
    return {text: float(bits) for text, bits in known if not np.isnan(bits)}


def ensemble_of(own: DimensionSamples) -> dict[str, LevelValue]:
    """The level that the ensemble gives each text, of the texts to which it gives one."""
    found = {}
    for text, place in zip(own.texts, own.ensemble(), strict=True):
        level = own.level_at(place)
        if level is not None:
            found[text] = level
    return found
