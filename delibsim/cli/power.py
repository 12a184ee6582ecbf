"""`delibsim power`: how many topics and replicates an effect needs, and what they cost."""

from typing import Annotated

import typer

from delibsim.cli.options import RUNS, Dir, Json, Settings, study_first
from delibsim.cli.terminal import console, echo_json

app = typer.Typer(add_completion=False)

EPILOG = (
    "Without STUDY the spread is that of the published study. Settings, the same as for delibsim"
    " estimate, give the design and its price; -m is not needed. The answer goes into a"
    " preregistration: delibsim power --json > power.json, then delibsim preregister --power"
    " power.json [settings]."
)
PILOT = (
    "A pilot: a study by name or folder, or a CSV file with the columns topic, model, treatment,"
    " replicate, pre, post."
)
CORRELATION = (
    "Of the differences of two models that share people and order, from 0 to 1. Without a pilot .3"
)
CONTRAST = (
    "What is compared, as OUTCOME:A,B (the change of OUTCOME under A less that under B), such as"
    " dri:normative,none; with a pilot, its last treatment and its first where left out."
)
SD = (
    "A standard deviation that is assumed, as NAME=VALUE, instead of that of the pilot or the"
    " published study: topic (of the effect, between topics), residual (of a session in its block)."
    " Give it again for the other."
)
SIZE = (
    "The design, as NAME=NUMBER: topics, models, replicates, instead of those of the settings or"
    " the pilot. Give it again for another."
)
EFFECT = "The difference of changes that is to be found."
POWER = "The probability with which it is to be found."


@app.command("power", epilog=EPILOG)
def command(
    study: Annotated[str | None, typer.Argument(metavar="STUDY", help=PILOT)] = None,
    settings: Settings = None,
    effect: Annotated[float, typer.Option(help=EFFECT)] = 0.03,
    power: Annotated[float, typer.Option(min=0.01, max=0.999, help=POWER)] = 0.8,
    alpha: Annotated[float, typer.Option(min=0.0001, max=0.5, help="Level, two-sided.")] = 0.05,
    contrast: Annotated[str, typer.Option(help=CONTRAST)] = "dri",
    sd: Annotated[list[str] | None, typer.Option(help=SD)] = None,
    size: Annotated[list[str] | None, typer.Option(help=SIZE)] = None,
    correlation: Annotated[float | None, typer.Option(help=CORRELATION)] = None,
    multirun: Annotated[bool, typer.Option("--multirun", "-m", hidden=True)] = False,
    root: Dir = RUNS,
    as_json: Json = False,
) -> None:
    """How many replicates and topics an effect needs, what effect a design finds, and its price.
    Nothing is called.
    """
    from delibsim.cli.power_view import print_answer  # pandas is slow to import
    from delibsim.cli.power_words import Asked, answered

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
