"""`delibsim code ask`: have the texts of a study coded by language models."""

import asyncio
from functools import partial
from typing import Annotated, Any

import typer

from delibsim.analysis.table import numbers, texts
from delibsim.cli.estimate import EstimateOnly, print_lines
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.table import print_table
from delibsim.cli.terminal import console, echo_json, exit_code, print_each, shown, study_at
from delibsim.conduct.asking.ask import Outcome
from delibsim.conduct.coding.ask import ask_coding, kin_of
from delibsim.conduct.coding.begun import fewer_samples
from delibsim.conduct.coding.estimate import Measured, estimate_coding, measured
from delibsim.conduct.coding.outcome import coding_plain, coding_told, uncoded_told
from delibsim.conduct.coding.plan import CodingPlan, plan_coding, tried
from delibsim.conduct.texts import rescore_codes
from delibsim.domain.text import counted, study_named
from delibsim.planning.estimate_tables import plain
from delibsim.planning.tokens import Range

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
    whole = planned
    if trial:
        planned = tried(planned, trial)
    screen = console(stderr=True)
    told = [*planned.ignored, *fewer_samples(planned.task)]
    notes = [f"note: {line}" for line in told]
    notes += [f"warning: {line}" for line in kin_of(planned)]
    print_each(notes, screen)
    if only:
        _print_estimate(planned, as_json)
        return
    notify = partial(screen.print, soft_wrap=True)
    outcome = asyncio.run(ask_coding(planned, notify))
    if outcome.new or outcome.before:
        rescore_codes(planned.runs)
    used = measured(whole) if trial else []
    if as_json:
        more = {"measured": [vars(one) for one in used]} if trial else {}
        echo_json(coding_plain(planned, outcome) | more)
    else:
        _print(planned, outcome, used)
        print_each([f"missing: {fault}" for fault in outcome.faults], screen)
        print_each([f"missing: {fault}" for fault in planned.faults], screen)
    complete = outcome.whole and not planned.faults
    raise typer.Exit(exit_code(bool(outcome.usable), complete))


def _print(planned: CodingPlan, outcome: Outcome, used: list[Measured]) -> None:
    """Print what came of coding, and what all texts will take where some were tried."""
    screen = console()
    print_each(coding_told(planned, outcome), screen)
    steps = planned.codings.files.steps
    if steps.is_file():
        screen.print(f"Steps      {shown(steps.resolve())}")
    if used:
        heads = ["calls", "input", "of it cached", "output", "to come", "USD a call", "USD to come"]
        rows = [_row(one) for one in used]
        print_table("Measured", [*texts("coder"), *numbers(heads)], rows, screen)
    screen.print(f"Next       delibsim code report {planned.runs.study}")


def _row(one: Measured) -> list[str]:
    """What the calls of one coder used, as a row of a table."""
    means = [one.input_tokens, one.cached_tokens, one.output_tokens]
    tokens = ["unknown" if mean is None else f"{mean:,.0f}" for mean in means]
    usd = ["unknown" if one.usd is None else f"{one.usd:.5f}"]
    usd.append("unknown" if one.usd_to_come is None else f"{one.usd_to_come:,.2f}")
    return [one.coder, f"{one.calls:,}", *tokens, f"{one.to_come:,}", *usd]


def _print_estimate(planned: CodingPlan, as_json: bool) -> None:
    """Say what the samples that are still to be asked for will take."""
    found = estimate_coding(planned)
    study = planned.runs.study
    coded = {text.id for dimension in planned.dimensions for text in planned.coded(dimension)}
    a_text = _a_text(found.usd, len(coded))
    if as_json:
        estimate: dict[str, Any] = plain(planned.plan, found)
        counts = estimate.pop("sessions")
        samples = {name: counts[name] for name in ("planned", "held", "waiting")}
        cost = {"texts": len(coded), "usd_a_text": {"low": a_text.low, "high": a_text.high}}
        echo_json(estimate | {"study": study, "samples": samples} | cost)
        return
    screen = console()
    samples = counted(found.planned, "sample")
    counts = f"{samples}, {found.held} there already, {found.waiting} to be asked for"
    screen.print(f"{study_named(study)}: {counts}")
    print_each(uncoded_told(planned), screen)
    print_lines(planned.plan, found, screen, "samples")
    if found.waiting and found.usd.high:
        usd = f"{a_text.low:.4f} - {a_text.high:.4f} USD"
        screen.print(f"A text     {usd}, of {counted(len(coded), 'text')}")


def _a_text(usd: Range, n: int) -> Range:
    """US dollars a text."""
    return Range(usd.low / n, usd.high / n) if n else Range()
