"""`delibsim judge train|setup|score`: a judge of summaries that is trained on judgments."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from delibsim.cli.code_options import values_of
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.terminal import console, echo_json, exit_code, print_each, say, shown, study_at
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted, quoted

BASE = "The folder of an encoder, such as a copy of microsoft/deberta-v3-base. Nothing is fetched."
TO = "The folder of the training. Default: judges/NAME, after the records."
LEFT_OUT = "Test on this question, and train on the others; each: on every one in turn as well."
RESUME = "Go on with the training in that folder, from its last whole checkpoint."
RECORDS = "A study with judgments, or a CSV file: question, opinion, summary, rep, inf, neu, pol."
SETTINGS = "by=NAME (whose judgments: people, or a judge), scale=labels|unit, epochs=30 ..."
TRAINING_EPILOG = (
    "Settings, as published: epochs=30 batch=8 accumulated=2 rate=4e-5 decay=0.01 warmup=0.15"
    " clipped=1; patience=5 evaluations without a gain end it; every=N steps between evaluations"
    " (0: an epoch); seed=42; activation=sigmoid|none; longest=4096 tokens; device=auto|cpu|cuda."
)
CHECKPOINT = "The folder of a checkpoint: judges/NAME/judge after delibsim judge train."
ACTIVATION = "sigmoid or none: how a checkpoint that was made elsewhere answers."
FORM = 'The input form of one made elsewhere: "question=Question: ;opinion=Opinion: ;summary=".'
LONGEST = "The most tokens that a checkpoint made elsewhere reads."
SCALE = "How one made elsewhere answers: unit (0 to 1; the default) or labels (-1 to 7)."
OF_BASE = "The encoder whose config.json and tokeniser a checkpoint of weights alone lacks."
CONTROLS = "Also score placebos: summaries by opinions that they were not written from."
DEVICE = "What computes: auto, cpu or cuda."
INTEGERS = ("batch", "accumulated", "patience", "every", "seed", "longest")
DECIMALS = ("epochs", "rate", "decay", "warmup", "clipped")
WORDS = ("by", "scale", "activation", "device")


def train(
    records: Annotated[str, typer.Argument(help=RECORDS)],
    base: Annotated[Path, typer.Option(help=BASE)],
    settings: Annotated[list[str] | None, typer.Argument(metavar="settings", help=SETTINGS)] = None,
    to: Annotated[Path | None, typer.Option("--to", help=TO)] = None,
    left_out: Annotated[str, typer.Option("--leave-out", help=LEFT_OUT)] = "",
    resume: Annotated[bool, typer.Option("--resume", help=RESUME)] = False,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Train a judge of summaries on judgments: in parts by rater, stopping early, beside a ridge
    regression on the same parts that it must beat.

    Exit code 0; 3 where it was interrupted, with a checkpoint to go on from.
    """
    from delibsim.conduct.trained.records import records_of_file, records_of_study
    from delibsim.conduct.trained.train import Training, described, train_judge

    given = values_of(settings, [*INTEGERS, *DECIMALS, *WORDS])
    numbers = {**_numbers(given, INTEGERS, int), **_numbers(given, DECIMALS, float)}
    file = Path(records)
    if file.is_file():
        found = records_of_file(file, given["scale"])
    else:
        found = records_of_study(study_at(records, root), given["by"] or "people")
    longest = int(numbers.pop("longest", 4096))
    own = {**numbers, "device": given["device"]} if given["device"] else numbers
    name = file.stem if file.is_file() else records
    training = Training(
        records=found,
        base=base,
        folder=to or Path("judges") / name,
        settings=own,
        activation=given["activation"] or "sigmoid",
        longest=longest,
        left_out=left_out,
    )
    screen = console(stderr=True)
    made = train_judge(training, resume, partial(screen.print, soft_wrap=True, markup=False))
    if made.record is None:
        told = f"interrupted at step {made.step:,}; a checkpoint is kept. Go on with --resume"
        say(told, err=True)
        raise typer.Exit(3)
    if as_json:
        echo_json({"folder": shown(made.folder), **vars(made.record)})
        return
    print_each(described(made.record), console())
    say(f"Next       delibsim judge score STUDY {shown(made.folder)}")


def setup(
    folder: Annotated[Path, typer.Argument(help=CHECKPOINT)],
    activation: Annotated[str, typer.Option(help=ACTIVATION)] = "",
    form: Annotated[str, typer.Option(help=FORM)] = "",
    longest: Annotated[int, typer.Option(min=16, help=LONGEST)] = 4096,
    scale: Annotated[str, typer.Option(help=SCALE)] = "",
    base: Annotated[Path | None, typer.Option(help=OF_BASE)] = None,
    as_json: Json = False,
) -> None:
    """Check a checkpoint whole, and keep the hashes of its files in its judge.json."""
    from delibsim.conduct.trained.score import set_up_judge
    from delibsim.conduct.trained.train import described
    from delibsim.scorers.judge.form import InputForm

    stated = None
    if form or longest != 4096:
        stated = InputForm(_labels(form) if form else InputForm().labels, longest)
    record = set_up_judge(folder, activation, stated, scale, base)
    if as_json:
        echo_json({"checkpoint": record.hash, **vars(record)})
        return
    answers = f"activation {record.activation}, scale {record.scale}"
    say(f"checkpoint {record.hash}: {record.name}, {answers}")
    print_each(described(record), console())
    say(f"Next       delibsim judge score STUDY {shown(folder)}")


def score(
    study: StudyName,
    folder: Annotated[Path, typer.Argument(help=CHECKPOINT)],
    settings: Annotated[
        list[str] | None, typer.Argument(metavar="[summaries=NAME]", help="Which summaries.")
    ] = None,
    device: Annotated[str, typer.Option(help=DEVICE)] = "auto",
    controls: Annotated[bool, typer.Option("--controls", help=CONTROLS)] = False,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Have every summary of a study scored by a trained judge, beside each opinion that it was
    written from.

    The same command again computes what is not there yet. Exit code 0; 3 where it was interrupted.
    """
    from delibsim.conduct.trained.score import score_summaries

    summaries = values_of(settings, ["summaries"])["summaries"]
    screen = console(stderr=True)
    told = partial(screen.print, soft_wrap=True, markup=False)
    runs = study_at(study, root)
    found = score_summaries(runs, folder, summaries, device, told, controls)
    if as_json:
        echo_json(vars(found))
    else:
        both = f"{counted(found.summaries, 'summary')}, {found.planned:,} opinions beside them"
        say(f"{found.judge}: {both}; {found.new:,} scores now, {found.before:,} before")
        if found.outside:
            say(f"{counted(found.outside, 'score')} outside 0..1, kept as they are")
        if found.cut:
            say(f"{counted(found.cut, 'summary')} cut at the end to fit")
        print_each([f"note: {line}" for line in found.notes], screen)
        say(f"Next       delibsim summaries report {quoted(study)}")
    raise typer.Exit(exit_code(True, not found.interrupted))


def _numbers(given: dict[str, str], names: tuple[str, ...], kind: type) -> dict[str, float]:
    """The settings among these that are given, as numbers; WrongInput for one that is none."""
    found = {}
    for name in names:
        if not given[name]:
            continue
        try:
            found[name] = kind(given[name])
        except ValueError:
            raise WrongInput(f"{name}={given[name]} is no number that it can have") from None
        if found[name] < 0 or found[name] != found[name]:
            raise WrongInput(f"{name}={given[name]}: it is not negative")
    return found


def _labels(form: str) -> tuple[tuple[str, str], ...]:
    """The labels of the parts, in their order."""
    found = []
    for part in form.split(";"):
        name, equals, label = part.partition("=")
        if not equals:
            raise WrongInput(f"--form names each part with its label, name=label, not '{part}'")
        found.append((name.strip(), label))
    return tuple(found)
