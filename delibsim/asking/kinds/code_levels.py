"""What the models of a coding gave: its samples, the level of the ensemble, and its doubt."""

import numpy as np

from delibsim.asking.kinds.coding import Coding
from delibsim.domain.coding import Sample
from delibsim.domain.errors import WrongInput
from delibsim.domain.scheme import LevelValue
from delibsim.domain.text import quoted, study_named
from delibsim.measures.ensemble import entropies
from delibsim.store.coded import DimensionSamples, SchemeCodes


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
