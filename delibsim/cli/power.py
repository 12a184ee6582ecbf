"""`delibsim power`: how many topics and replicates an effect needs, and what they cost."""

from pathlib import Path

import typer

from delibsim.cli.options import RUNS, Words, declared, study_first
from delibsim.cli.terminal import console, echo_json

app = typer.Typer(add_completion=False)


@declared(app, "power", "power")
def command(
    study: str | None = None,
    settings: Words = None,
    effect: float = 0.03,
    power: float = 0.8,
    alpha: float = 0.05,
    contrast: str = "dri",
    sd: Words = None,
    size: Words = None,
    correlation: float | None = None,
    multirun: bool = False,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """How many replicates and topics an effect needs, what effect a design finds, and its price.
    Nothing is called.
    """
    from delibsim.cli.power_answer import Asked, answered, print_answer  # pandas is slow to import

    pilot, words = study_first(study, settings)
    asked = Asked(effect, power, alpha, contrast, sd or [], size or [], correlation)
    found, price = answered(pilot, words, asked, root)
    if as_json:
        sample = found.sample
        sessions = sample.topics * sample.models * sample.replicates
        priced = price.plain(sessions * price.treatments) if price else None
        echo_json({**found.plain(), "price": priced})
        return
    print_answer(found, price, console())
