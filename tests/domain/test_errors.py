"""An unknown name comes with the closest names there are."""

import pytest

from delibsim.domain.errors import SHOWN, WrongInput, unknown

TREATMENTS = ["none", "basic", "normative", "normative_a"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("normativ", "normative"), ("basik", "basic"), ("Normative", "normative"), ("non", "none")],
)
def test_the_closest_name_is_offered(typed, meant):
    error = unknown("treatment", typed, TREATMENTS)
    assert isinstance(error, WrongInput)
    offered = str(error).partition("did you mean ")[2].partition("?")[0]
    assert meant in offered.split(" or ")
    assert str(error).startswith(f"unknown treatment '{typed}'; ")


def test_names_are_listed_in_order_once_each():
    assert str(unknown("treatment", "zzz", [*TREATMENTS, "none"])) == (
        "unknown treatment 'zzz'. There are: basic, none, normative, normative_a"
    )


def test_advice_follows_the_names():
    assert (
        str(unknown("topic", "zzz", ["acp"], "Topics are files"))
        == "unknown topic 'zzz'. There are: acp. Topics are files"
    )


def test_without_any_name_nothing_is_offered():
    assert str(unknown("study", "demo", [])) == "unknown study 'demo'."


def test_a_long_list_is_cut_and_counted():
    message = str(unknown("topic", "zzz", [f"name{k:03}" for k in range(SHOWN + 12)]))
    assert message.endswith(f"name{SHOWN - 1:03} and 12 more")
    assert (
        unknown("topic", "zzz", [f"name{k:03}" for k in range(SHOWN)])
        .args[0]
        .endswith(f"name{SHOWN - 1:03}")
    )
