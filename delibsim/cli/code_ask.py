"""`delibsim code ask`: have the texts of a study coded by language models."""

from dataclasses import replace
from typing import Annotated, Any

import typer
from rich.console import Console

from delibsim.analysis.table import numbers, texts
from delibsim.asking.kinds.code_outcome import (
    Measured,
    coding_plain,
    coding_told,
    measured,
    uncoded_told,
)
from delibsim.asking.kinds.code_plan import plan_coding, tried
from delibsim.asking.nouns import Outcome, Plan
from delibsim.cli.asking import View, carry_out
from delibsim.cli.estimate import EstimateOnly
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.table import print_table
from delibsim.cli.terminal import print_each, shown, study_at
from delibsim.conduct.texts import rescore_codes
from delibsim.domain.text import counted, quoted, study_named
from delibsim.planning.estimate import Estimate
from delibsim.planning.load import Range

CODERS = "Scheme, coders and limits: scheme=dqi3 'group.models=[A,B]' samples=5 temperature=0.7 ..."
TRY = "Code so many texts, drawn by the seed, and say what all will take by what these used."
EPILOG = (
    "For example: delibsim code ask first scheme=dqi3 group.size=4 samples=5 --estimate. Settings:"
    " scheme, samples (5), temperature (0.7), max_tokens (400), dimensions=[A,B] (all), context=N"
    " (0 earlier statements), by=speaker, same=once, wordings=[coding,coding_a],"
    " rules=lower|mean|mode|pooled, and those of models and limits."
)


def ask(
    study: StudyName,
    overrides: Annotated[list[str] | None, typer.Argument(metavar="settings", help=CODERS)] = None,
    only: EstimateOnly = False,
    trial: Annotated[int, typer.Option("--try", min=0, help=TRY)] = 0,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Have the texts of a study coded by a scheme, by language models that see each text alone.

    Every model is asked once for its steps on a dimension, and then, for every text, for so many
    samples of its level. The same command again asks only for what is not there yet; more samples,
    models, dimensions or texts are added. The codes are scored at the end. Exit code 0; 3 if
    samples are missing, 4 if no text could be coded.
    """
    planned = plan_coding(study_at(study, root), overrides or [])
    if not trial:
        carry_out(planned, VIEW, only, as_json)
    else:
        carry_out(tried(planned, trial), _trying(planned), only, as_json)


def _show(planned: Plan, outcome: Outcome, screen: Console) -> None:
    """Print what came of coding, and what follows."""
    _print_coded(planned, outcome, screen)
    _print_next(planned, screen)


def _print_coded(planned: Plan, outcome: Outcome, screen: Console) -> None:
    print_each(coding_told(planned, outcome), screen)
    steps = planned.answers.files.steps
    if steps.is_file():
        screen.print(f"Steps      {shown(steps.resolve())}")


def _print_next(planned: Plan, screen: Console) -> None:
    screen.print(f"Next       delibsim code report {quoted(planned.runs.study)}")


def _trying(whole: Plan) -> View:
    """How a coding of some texts is shown: with what all texts will take by what these used."""

    def plain(planned: Plan, outcome: Outcome) -> dict[str, Any]:
        more = {"measured": [vars(one) for one in measured(whole)]}
        return coding_plain(planned, outcome) | more

    def show(planned: Plan, outcome: Outcome, screen: Console) -> None:
        _print_coded(planned, outcome, screen)
        heads = ["calls", "input", "of it cached", "output", "to come", "USD a call", "USD to come"]
        rows = [_row(one) for one in measured(whole)]
        print_table("Measured", [*texts("coder"), *numbers(heads)], rows, screen)
        _print_next(planned, screen)

    return replace(VIEW, plain=plain, show=show)


def _row(one: Measured) -> list[str]:
    """What the calls of one coder used, as a row of a table."""
    means = [one.input_tokens, one.cached_tokens, one.output_tokens]
    tokens = ["unknown" if mean is None else f"{mean:,.0f}" for mean in means]
    usd = ["unknown" if one.usd is None else f"{one.usd:.5f}"]
    usd.append("unknown" if one.usd_to_come is None else f"{one.usd_to_come:,.2f}")
    return [one.coder, f"{one.calls:,}", *tokens, f"{one.to_come:,}", *usd]


def _before(planned: Plan, found: Estimate) -> list[str]:
    """How many samples there are, and which texts are not coded."""
    samples = counted(found.planned, "sample")
    counts = f"{samples}, {found.held} there already, {found.waiting} to be asked for"
    return [f"{study_named(planned.runs.study)}: {counts}", *uncoded_told(planned)]


def _values(planned: Plan, found: Estimate) -> dict[str, Any]:
    """What an estimate says of texts."""
    coded = _coded(planned)
    usd = _a_text(found.usd, coded)
    return {"texts": coded, "usd_a_text": {"low": usd.low, "high": usd.high}}


def _after(planned: Plan, found: Estimate) -> list[str]:
    """What a text costs."""
    if not (found.waiting and found.usd.high):
        return []
    coded = _coded(planned)
    usd = _a_text(found.usd, coded)
    return [f"A text     {usd.low:.4f} - {usd.high:.4f} USD, of {counted(coded, 'text')}"]


def _coded(planned: Plan) -> int:
    """How many texts are coded on any dimension."""
    about = planned.about
    return len({text.id for one in about.dimensions for text in about.coded(one)})


def _rescore(planned: Plan, outcome: Outcome) -> None:
    """Write the scores of codes anew."""
    if outcome.new or outcome.before:
        rescore_codes(planned.runs)


def _a_text(usd: Range, n: int) -> Range:
    """US dollars a text."""
    return Range(usd.low / n, usd.high / n) if n else Range()


VIEW = View("samples", _before, _values, coding_plain, _show, after=_after, rescore=_rescore)
