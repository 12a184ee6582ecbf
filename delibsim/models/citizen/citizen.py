"""The embedded citizen: a seeded, rule-based participant that reads the prompts language models
read, and is none itself.

It is a null model of opinion dynamics. docs/citizen.md gives the equations; opinion.py says what it
thinks, replies.py what it answers to which prompt, speaking.py how it debates.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from delibsim.models.base import NO_USE, Capabilities, Completion, Status
from delibsim.prompts.prompt import Prompt


@dataclass(frozen=True)
class Traits:
    """The parameters of the opinions of citizens.

    `population` seeds the people: the same number gives the same persons; None leaves it to the
    session. `susceptibility` (0 to 1) is how far one assertion moves a hearer, `openness` how
    distant an assertion may be (in standard deviations of attitude) to be considered at all,
    `noise` the error of one answer, `idiosyncrasy` what is a person's own in each attitude,
    `persona_weight` the pull of a persona. ValueError for parameters outside their range.
    """

    population: int | None = None
    susceptibility: float = 0.1
    openness: float = 2.0
    noise: float = 0.4
    idiosyncrasy: float = 0.5
    persona_weight: float = 1.5
    dimensions: int = 4

    def __post_init__(self) -> None:
        """Refuse parameters outside their range."""
        check_share("susceptibility", self.susceptibility)
        widths = (self.openness, self.noise, self.idiosyncrasy, self.persona_weight)
        if not all(isinstance(width, (int, float)) and 0 <= width <= 1e12 for width in widths):
            raise ValueError(
                "openness, noise, idiosyncrasy and persona_weight are numbers from 0 to 1e12"
            )
        if not isinstance(self.dimensions, int) or self.dimensions < 1:
            raise ValueError(f"dimensions is a whole number from 1; given: {self.dimensions}")


def check_share(name: str, value: float) -> None:
    """Raise ValueError unless a parameter is a number from 0 to 1."""
    check_between(name, value, 0, 1)


def check_between(name: str, value: float, low: float, high: float) -> None:
    """Raise ValueError unless a parameter is a number from `low` to `high`; NaN is none."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not low <= value <= high:
        raise ValueError(f"{name} lies between {low} and {high}; given: {value}")


MOST_BIAS = 100
"""The largest place bias and threshold of a judge of pairs, in strengths of texts."""


@dataclass(frozen=True)
class Citizen(Traits):
    """A rule-based participant with the protocol of a language model; docs/citizen.md gives its
    equations.

    Beside the parameters of its opinions (`Traits`) it has a `skill` (0 to 1), which is how well it
    debates. As a judge of pairs it favours the text shown first by `place`, says a tie where two
    texts are less than `threshold` apart, and tosses a coin in the share `coin` of its replies.
    `temperature` has no meaning here and is reported as dropped.
    """

    # It reads the blocks of a prompt and no sentence around them, and draws and orders by label.
    # No session asks it to compare texts in pairs.
    without_effect: ClassVar[frozenset[str]] = frozenset(
        {
            "temperature",
            "treatment.instructions",
            "wording",
            "procedure.instructions",
            "procedure.words",
            "procedure.shuffle_items",
            "procedure.reverse_scale",
            "procedure.show_answers",
            "place",
            "threshold",
            "coin",
        }
    )

    # It debates by its skill, and moves by what others say.
    without_effect_where: ClassVar[Mapping[str, frozenset[str]]] = {
        "in a deliberation": frozenset({"skill"}),
        "where nobody speaks": frozenset({"susceptibility", "openness"}),
    }

    name: str = "citizen"
    temperature: float | None = None
    skill: float = 0.5
    place: float = 0.0
    threshold: float = 0.2
    coin: float = 0.0

    def __post_init__(self) -> None:
        """Refuse parameters outside their range."""
        super().__post_init__()
        check_share("skill", self.skill)
        check_share("coin", self.coin)
        check_between("place", self.place, -MOST_BIAS, MOST_BIAS)
        check_between("threshold", self.threshold, 0, MOST_BIAS)

    @property
    def capabilities(self) -> Capabilities:
        """It simulates persons."""
        return Capabilities(for_population=self.for_population)

    def for_population(self, seed: int) -> "Citizen":
        """The citizens of a population; these citizens, where their settings name theirs."""
        return self if self.population is not None else replace(self, population=seed)

    async def complete(self, prompt: Prompt, seed: int) -> Completion:
        """Answer the survey or speak, from what the messages say and nothing else."""
        # numpy takes long to import, and who only reads what citizens declare does without it.
        from delibsim.models.citizen.replies import NoReply, reply_to

        judging = (self.place, self.threshold, self.coin)
        try:
            return self._completion(reply_to(prompt, seed, self.name, self.skill, self, judging))
        except NoReply as fault:
            return self._completion("", "bad_request", str(fault))

    def _completion(self, text: str, status: Status = "ok", detail: str = "") -> Completion:
        return Completion(
            text=text,
            status=status,
            detail=detail,
            usage=NO_USE,
            model_requested=self.name,
            model_returned="delibsim.citizen (rule-based)",
            parameters_dropped=() if self.temperature is None else ("temperature",),
            finish_reason="stop",
        )
