"""`delibsim judge`: summaries judged by language models, by people, or by a trained judge."""

from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import typer

from delibsim.analysis.table import DisplayTable
from delibsim.asking.kinds.judgment import JUDGMENTS, counts_of, judge_rows
from delibsim.asking.kinds.judgment_people import export_summaries, plan_judging
from delibsim.asking.nouns import Plan
from delibsim.asking.people import HandedOut
from delibsim.asking.settings import task_name
from delibsim.cli.asking import (
    AskingCommand,
    AskingOptions,
    CommandLine,
    Handing,
    add,
    answers_table,
    commands_of,
)
from delibsim.cli.options import RUNS, Words, parted, settings_of, settings_of_kind
from delibsim.cli.summarise import OfSummaries
from delibsim.cli.terminal import console, echo_json, exit_code, print_each, say, shown, study_at
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted, quoted, study_named
from delibsim.planning.estimate import CostEstimate

PACK, TRAINED = settings_of_kind("judge_handout"), settings_of_kind("judge_score")
OF_TRAINING = ("base", "by", "scale", "leave_out", "activation", "longest")
"""The settings that say what is trained, and not how."""


class JudgeCommand(OfSummaries):
    """Ratings of summaries, and comparisons of two, beside an opinion."""

    command = "judge"
    kind = JUDGMENTS
    following = "judge report"
    raters = "6"
    handed = TRAINED

    def ask(self, call: CommandLine, asked: AskingOptions) -> NoReturn:
        """Have language models judge, or a trained judge."""
        if any(word.startswith("checkpoint=") for word in call.words):
            _score(call, asked)
        super().ask(call, asked)

    def plan(self, call: CommandLine, n: int | None = None) -> Plan:
        """The judgments that are asked for."""
        return plan_judging(call.runs, call.words)

    def before(self, plan: Plan, found: CostEstimate) -> list[str]:
        """How many sittings there are of which kind."""
        listed = ", ".join(f"{n:,} {kind}" for kind, n in counts_of(plan).items())
        judgments = f"{listed} a judge; {counted(found.planned, 'judgment')}"
        told = f"{found.held:,} there already, {found.waiting:,} to be asked for"
        return [f"{study_named(plan.runs.study)}: {judgments}", told]

    def values(self, plan: Plan, found: CostEstimate) -> dict[str, Any]:
        """The same as plain values."""
        return {"sittings": counts_of(plan)}

    def tables(self, plan: Plan) -> list[DisplayTable]:
        """Judgments by judge."""
        return [answers_table("judgments", judge_rows(plan))]

    def hand_out(self, call: CommandLine, handing: Handing) -> HandedOut:
        """Hand out summaries to be judged."""
        if handing.n:
            raise WrongInput("all summaries are handed out, each to --raters people; leave --n out")
        people = len(Handing(handing.raters).people(self.raters, "rater"))
        own, others = parted(call.words, PACK)
        name = task_name("pack", settings_of(own, PACK)["pack"] or "people")
        planned = plan_judging(call.runs, others)
        return export_summaries(planned, name, people, handing.out, handing.online)


def _score(call: CommandLine, asked: AskingOptions) -> NoReturn:
    """Have every summary of a study scored by a trained judge."""
    from delibsim.conduct.trained.score import score_summaries

    given = settings_of(call.words, TRAINED)
    if asked.only:
        raise WrongInput("a trained judge costs nothing; leave --estimate out")
    folder, device = Path(given["checkpoint"]), given["device"]
    notify = asked.notify(console(stderr=True))
    found = score_summaries(
        call.runs, folder, given["summaries"], device, notify, given["controls"]
    )
    if asked.as_json:
        echo_json(vars(found))
    else:
        both = f"{counted(found.summaries, 'summary')}, {found.planned:,} opinions beside them"
        say(f"{found.judge}: {both}; {found.new:,} scores now, {found.before:,} before")
        if found.outside:
            say(f"{counted(found.outside, 'score')} outside 0..1, kept as they are")
        if found.cut:
            say(f"{counted(found.cut, 'summary')} cut at the end to fit")
        print_each([f"note: {line}" for line in found.notes], console(stderr=True))
        say(f"Next       delibsim judge report {quoted(call.study)}")
    raise typer.Exit(exit_code(True, not found.interrupted))


def train(
    kind: AskingCommand,
    records: str,
    settings: Words = None,
    resume: bool = False,
    out: Path | None = None,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """Train a judge of summaries on judgments."""
    from delibsim.conduct.trained.records import records_of_file, records_of_study
    from delibsim.conduct.trained.train import Training, described, train_judge

    given, file = settings_of(settings, settings_of_kind("judge_train")), Path(records)
    if not given["base"]:
        raise WrongInput("name the folder of an encoder: base=FOLDER")
    if file.is_file():
        found = records_of_file(file, given["scale"])
    else:
        found = records_of_study(study_at(records, root), given["by"] or "people")
    own = {name: value for name, value in given.items() if name not in OF_TRAINING}
    training = Training(
        records=found,
        base=Path(given["base"]),
        folder=out or Path("judges") / (file.stem if file.is_file() else records),
        settings={name: value for name, value in own.items() if value not in (None, "")},
        activation=given["activation"],
        longest=given["longest"],
        left_out=given["leave_out"],
    )
    notify = partial(console(stderr=True).print, soft_wrap=True, markup=False)
    made = train_judge(training, resume, notify)
    if made.record is None:
        say(
            f"interrupted at step {made.step:,}; a checkpoint is kept. Go on with --resume",
            err=True,
        )
        raise typer.Exit(3)
    if as_json:
        echo_json({"folder": shown(made.folder), **vars(made.record)})
        return
    print_each(described(made.record), console())
    say(f"Next       delibsim judge ask STUDY checkpoint={shown(made.folder)}")


app = commands_of(JudgeCommand())
add(app, JudgeCommand(), "train", train)
