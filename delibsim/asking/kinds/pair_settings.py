"""The settings of a comparison: its own ones (dimension, design ...), and those of models and
limits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from delibsim.asking.settings import (
    CodersAsked,
    KindSettings,
    called,
    coders_asked,
    roles,
    setting,
    settings_in,
    task_name,
)
from delibsim.domain.comparison import ORDERS, SCHEMES, UNTIL, Orders, Rule, Scheme
from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput
from delibsim.domain.transcript import CITIZEN
from delibsim.planning.config import names, one_name, one_of, temperature, whole, yes_or_no
from delibsim.prompts.compare import Criteria

UNITS = ("statement", "speech", "participant")
WITHIN = ("session", "topic")
JUDGES = called("pair")
EXAMPLES = 3
"""How many examples of a dimension judges are shown, where they are shown any."""
_ASKED = read_data("asked.yaml")["pair"]
OF_DESIGNS: Mapping[str, tuple[str, ...]] = _ASKED["designs"]
"""The designs that each setting of a design is of."""
PER_TEXT, PER_TEXT_UNTIL = 10, 30
"""Comparisons a text; of an adaptive design at most, where a rule may end it before."""
WANTED = "expected rules such as r:0.9, or several of them as [r:0.9,usd:5]"
BOUNDS: Mapping[str, tuple[float, str]] = _ASKED["bounds"]
"""The largest limit of every rule, and what it is."""


def share(name: str, value: Any) -> float:
    """A share from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise WrongInput(f"{name}={value}: expected a share from 0 to 1")
    return float(value)


def rules(name: str, value: Any) -> dict[Rule, float]:
    """The limits of rules, in the order in which they were given.

    >>> rules("design.until", ["r:0.9", "usd:5"])
    {'r': 0.9, 'usd': 5.0}
    """
    found: dict[Rule, float] = {}
    for one in value if isinstance(value, list) and value else [value]:
        kind, _, text = str(one).partition(":")
        if not text:
            raise WrongInput(f"{name}={one}: {WANTED}")
        rule: Rule = one_of(UNTIL)(name, kind)
        if rule in found:
            raise WrongInput(f"{name} has two limits of {rule}; give one")
        most, wanted = BOUNDS[rule]
        try:
            limit = float(text)
        except ValueError:
            limit = 0.0
        if not 0 < limit <= most:
            raise WrongInput(f"{name}={one}: expected {wanted}")
        found[rule] = limit
    return found


def _examples(name: str, value: Any) -> int:
    if isinstance(value, bool) or value not in (0, EXAMPLES):
        raise WrongInput(f"{name}={value}: expected 0, or {EXAMPLES}: one each for A, B and Tie")
    return value


@dataclass(frozen=True)
class ComparingSettings(KindSettings):
    """What is set for a comparison beside models and limits.

    `within` is "" where it is not set. `temperature` None: none is sent. `max_tokens` bounds every
    reply. `examples_of` names a comparison whose judged pairs are the examples. `file` lists the
    pairs of design=list; `probe`, `batch` and `until` are of design=adaptive: the share of pairs
    drawn at random, the pairs asked about together, and the limits of the rules that end it.
    """

    dimensions: tuple[str, ...] = setting((), names, "dimension")
    name: str = setting("main", task_name)
    design: Scheme = setting("random", one_of(SCHEMES))
    per_text: int = setting(PER_TEXT, whole(1, 100_000), "design.per_text")
    g: int = setting(8, whole(2, 1_000), "design.g")
    file: str = setting("", one_name, "design.file")
    probe: float = setting(0.3, share, "design.probe")
    batch: int = setting(50, whole(1, 10_000), "design.batch")
    until: Mapping[Rule, float] = setting(dict, rules, "design.until")
    order: Orders = setting("one", one_of(ORDERS))
    runs: int = setting(1, whole(1, 1_000))
    criteria: Criteria = setting("none", one_of(get_args(Criteria)))
    ties: bool = setting(True, yes_or_no)
    reasons: bool = setting(False, yes_or_no)
    topic: bool = setting(False, yes_or_no)
    unit: str = setting("statement", one_of(UNITS))
    within: str = setting("", one_of(WITHIN))
    roles: tuple[str, ...] = setting((CITIZEN,), roles)
    examples: int = setting(0, _examples)
    examples_of: str = setting("", task_name)
    temperature: float | None = setting(0.7, temperature)
    max_tokens: int = setting(400, whole(1, 1_000_000))
    wording: str = setting("compare", one_name)

    @property
    def adaptive(self) -> bool:
        """Whether pairs are chosen by what is known so far."""
        return self.design == "adaptive"

    @property
    def grows(self) -> bool:
        """Whether the design has so many comparisons a text, to which more can be added."""
        return self.design in ("random", "ring", "adaptive")


def comparing_asked(overrides: Sequence[str]) -> tuple[ComparingSettings, CodersAsked]:
    """What settings ask for, and the judges; WrongInput for a key or value that cannot be."""
    settings, others = settings_in(ComparingSettings, overrides, "setting of a comparison")
    if settings.until and "design.per_text" not in settings.keys:
        settings = replace(settings, per_text=PER_TEXT_UNTIL)
    if not settings.dimensions:
        raise WrongInput(
            "name the dimension: dimension=logical (delibsim list dimensions lists them)"
        )
    _refuse_design(settings)
    if settings.examples_of and not settings.examples:
        raise WrongInput(f"examples_of={settings.examples_of} is of examples=3; add it")
    if settings.examples and not settings.ties:
        raise WrongInput(
            "examples=3 shows a tie, and ties=false allows none; leave one of both out"
        )
    return settings, coders_asked(others, settings.temperature, settings.max_tokens, JUDGES)


def _refuse_design(settings: ComparingSettings) -> None:
    """WrongInput for a design that cannot be, or a setting that another design has."""
    kind, per_text = settings.design, settings.per_text
    if kind == "ring" and per_text % 2:
        near = f"{per_text - 1} or {per_text + 1}" if per_text > 1 else f"{per_text + 1}"
        raise WrongInput(
            f"design.per_text={per_text} cannot be with design=ring: every text is compared with as"
            f" many neighbours on either side; take {near}"
        )
    if kind == "adaptive" and per_text < 2:
        raise WrongInput(
            f"design.per_text={per_text} cannot be with design=adaptive, which begins with a ring:"
            " every text is compared with two others; take 2 or more"
        )
    for name, kinds in OF_DESIGNS.items():
        if f"design.{name}" in settings.keys and kind not in kinds:
            listed = " or ".join(f"design={one}" for one in kinds)
            raise WrongInput(f"design.{name} has no effect with design={kind}; it is of {listed}")
    by_errors = sorted({"se", "apart"} & settings.until.keys())
    if kind == "adaptive" and settings.probe == 0 and by_errors:
        raise WrongInput(
            f"design.until={by_errors[-1]} rests on errors, and only pairs drawn at random give"
            " errors that hold; take design.probe=0.3, or another rule"
        )
    if kind == "list" and not settings.file:
        raise WrongInput("design=list needs the file with the pairs: design.file=pairs.csv")
