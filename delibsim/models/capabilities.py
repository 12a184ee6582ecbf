"""What a language model can declare of itself beyond answering prompts."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from delibsim.models.base import LanguageModel


@dataclass(frozen=True)
class PreflightIssue:
    """One finding about one model: an "error" stops the study before it pays, a "warning" and a
    "note" do not.
    """

    level: Literal["error", "warning", "note"]
    model: str
    text: str


@dataclass(frozen=True)
class Capabilities:
    """What a language model declares in its attribute `capabilities`, all of it optional.

    The attribute belongs to the class or to the object, or is a property where its value changes.
    Nothing else is looked at: an attribute `max_tokens` or a method `close` of the model itself has
    no meaning. A model that declares nothing has the defaults: its calls pass the limits and the
    budget of the process, and it is its own provider.

    `provider`: whose limits the calls count against. Models of one provider share its limits. Empty
    stands for the name of the model.

    `max_tokens`: the most output tokens that one call can use. A budget needs it for every model
    that costs something.

    `preflight`: an async function without arguments. It finds out without paying whether the model
    can be asked, and returns a list of `PreflightIssue`.

    `answering`: True if a preflight has shown already that the model answers. Otherwise the first
    call is made alone, so that a wrong key costs one attempt and not many.

    `close`: an async function without arguments that closes connections. The model may be asked
    again afterwards.

    `for_population`: only for models that simulate persons on this machine. A function that takes
    the seed of a population and returns the model of those persons. It is called once for every
    session; sessions of one replicate have one seed. Calls to such a model pass neither limits nor
    budget.
    """

    provider: str = ""
    max_tokens: int | None = None
    preflight: Callable[[], Awaitable[Sequence[PreflightIssue]]] | None = None
    answering: bool = False
    close: Callable[[], Awaitable[None]] | None = None
    for_population: Callable[[int], LanguageModel] | None = None


NOTHING_DECLARED = Capabilities()


def capabilities_of(model: LanguageModel) -> Capabilities:
    """What a model declares; the defaults if its attribute `capabilities` is missing or is no
    `Capabilities`.
    """
    declared = getattr(model, "capabilities", NOTHING_DECLARED)
    return declared if isinstance(declared, Capabilities) else NOTHING_DECLARED
