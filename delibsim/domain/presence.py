"""Presence: who gave a reply in a seat for people, as records call them."""

PERSON = "person"
"""The kind of a model that is a person in a browser."""
A_PERSON = "a person"
"""What records call who answered, where it was a person."""
STAND_IN = "stand-in: "
"""What begins the name of a model that answered for a person."""
STOOD_IN = "stood_in"
"""The reason code of answers that a stand-in gave to a survey after a person."""


def named_stand_in(model: str) -> str:
    """What records call a model that answers for a person.

    >>> named_stand_in("citizen")
    'stand-in: citizen'
    """
    return f"{STAND_IN}{model}"


def stand_in_of(given_by: str | None) -> str:
    """The model that answered for a person; "" where none did.

    >>> stand_in_of("stand-in: citizen"), stand_in_of("a person"), stand_in_of(None)
    ('citizen', '', '')
    """
    given_by = given_by or ""
    return given_by.removeprefix(STAND_IN) if given_by.startswith(STAND_IN) else ""
