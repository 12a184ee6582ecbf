"""Every disagreement gets one kind, by the first rule that takes it."""

import pytest

from delibsim.asking.kinds.audit import is_of_reasons, is_unstable, proposed_kind
from delibsim.domain.scheme import Dimension, Level


def ordinal(id, name, q):
    levels = tuple(Level(k, f"l{k}", f"A{k}.") for k in range(q))
    return Dimension(id, name, "ordinal", levels)


CA = ordinal("counterarguments", "Counterarguments", 3)
LJ = ordinal("justification", "Level of justification", 4)
TOPIC = Dimension("topic", "T", "nominal", (Level("a", "a", "A."), Level("b", "b", "B.")))


@pytest.mark.parametrize(
    ("dimension", "ensemble", "person", "rationale", "unstable", "kind"),
    [
        (CA, 0, 2, "No opposing view is named.", False, "strict"),
        (CA, 0, 2, "It doesn't mention the other side.", True, "strict"),
        (CA, 0, 2, "The other side is there.", False, "other"),
        (CA, 0, 2, "It says “no, never” and there is no doubt about it.", False, "other"),
        (CA, 0, 2, "The other side is there.", True, "unstable"),
        (CA, 0, 1, "No opposing view is named.", False, "acknowledged"),
        (CA, 1, 2, "", True, "acknowledged"),
        (CA, 2, 0, "", False, "over_read"),
        (LJ, 2, 1, "", False, "over_graded"),
        (LJ, 0, 2, "No reason is given.", False, "other"),
        (LJ, 0, 3, "No reason is given.", False, "strict"),
        (TOPIC, "a", "b", "Nothing.", False, "other"),
        (TOPIC, "b", "a", "", True, "unstable"),
    ],
)
def test_a_disagreement_has_one_kind(dimension, ensemble, person, rationale, unstable, kind):
    assert proposed_kind(dimension, ensemble, person, [rationale], unstable) == kind


def test_agreement_has_no_kind():
    with pytest.raises(ValueError, match="no disagreement"):
        proposed_kind(CA, 1, 1, [], False)


def test_a_dimension_of_reasons_is_known_by_its_names():
    assert is_of_reasons(LJ)
    assert is_of_reasons(ordinal("r", "Reasons given", 2))
    assert not is_of_reasons(CA)
    assert not is_of_reasons(ordinal("x", "Counterreasons", 2))


def test_models_are_unstable_that_give_three_levels_or_waver():
    assert is_unstable([0, 1, 2], [[0], [1], [2]])
    assert is_unstable([0, 0], [[0, 0, 1], [0]])
    assert not is_unstable([0, 1], [[0, 0], [1]])
