"""The parameters of citizens, which are read and checked without numpy."""

from dataclasses import dataclass


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
