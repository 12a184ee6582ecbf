"""`delibsim summarise`: one statement for many opinions, and whom it leaves out; `delibsim judge`:
summaries judged by language models, by people, or by a trained judge.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import typer

from delibsim.analysis.table import DisplayTable
from delibsim.asking.kinds.judgment import JUDGMENTS, counts_of, judge_rows
from delibsim.asking.kinds.judgment_people import export_summaries, plan_judging
from delibsim.asking.kinds.summary import (
    SUMMARIES,
    ratings_of,
    summaries_of_plan,
    summariser_rows,
    too_long,
)
from delibsim.asking.kinds.summary_plan import plan_summaries
from delibsim.asking.nouns import Plan
from delibsim.asking.people import HandedOut
from delibsim.asking.settings import task_name
from delibsim.cli.asking import (
    AskingCommand,
    AskingOptions,
    CommandLine,
    Handing,
    Reported,
    add,
    answers_table,
    commands_of,
)
from delibsim.cli.options import (
    RUNS,
    TEXT,
    Words,
    parted,
    setting,
    settings_of,
    settings_of_kind,
    unquoted,
)
from delibsim.cli.table import print_text, show_table
from delibsim.cli.terminal import (
    console,
    echo_json,
    exit_code,
    print_each,
    safe,
    say,
    shown,
    study_at,
)
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.study import slug
from delibsim.domain.text import counted, quoted, study_named
from delibsim.models.sentences import embedding_named
from delibsim.planning.estimate import CostEstimate

NEAREST = 2
"""Opinions that are listed with a sentence."""
REPORTED = settings_of_kind("summaries_report")
ALL = "all"


class OfSummaries(AskingCommand):
    """A kind whose report is that on summaries."""

    reported = REPORTED

    def report(self, call: CommandLine) -> Reported:
        """How good summaries are."""
        return summaries_reported(call)

    def show_report(
        self,
        call: CommandLine,
        tables: str,
        out: Path | None,
        figures: Sequence[str] | None,
        as_json: bool,
    ) -> NoReturn:
        """Print the report, or a text with those most similar to it."""
        show_text(call, as_json)
        super().show_report(call, tables, out, figures, as_json)


class Summarise(OfSummaries):
    """Statements that stand for many opinions."""

    command = "summarise"
    kind = SUMMARIES
    following = "judge ask"

    def plan(self, call: CommandLine, n: int | None = None) -> Plan:
        """The summaries that are asked for."""
        sizes, others = parted(call.words, {"sizes": TEXT})
        quoted_sizes = [setting("sizes", unquoted(one.partition("=")[2])) for one in sizes]
        return plan_summaries(call.runs, [*others, *quoted_sizes])

    def before(self, plan: Plan, found: CostEstimate) -> list[str]:
        """How many summaries there are to be made by models."""
        own = counted(found.planned, "summary")
        told = f"{own} by models, {found.held:,} there already, {found.waiting:,} to be made"
        return [f"{study_named(plan.runs.study)}: {told}; the extractive ones cost nothing"]

    def after(self, plan: Plan, found: CostEstimate) -> list[str]:
        """What judging takes, and which sizes do not fit a model."""
        judging = (
            f"Judging    up to {counted(ratings_of(plan), 'call')} a judge, a rating by every"
            " opinion of each summary; fewer with per_summary=N"
        )
        return [judging, *too_long(plan)]

    def values(self, plan: Plan, found: CostEstimate) -> dict[str, Any]:
        """The same as plain values."""
        return {"ratings_a_judge": ratings_of(plan), "too_long": list(too_long(plan))}

    def tables(self, plan: Plan) -> list[DisplayTable]:
        """Summaries by summariser and size."""
        return [answers_table("summaries", summariser_rows(plan, summaries_of_plan(plan)))]


def summaries_reported(call: CommandLine) -> Reported:
    """The report on the summaries of studies, or on files of published scores."""
    from delibsim.analysis.summaries.report import summaries_report  # pandas is slow to import
    from delibsim.conduct.summaries_report import judged_sets

    given, studies = _given(call)
    nothing = [f"nothing was judged yet; give: delibsim judge ask {quoted(call.study)}"]
    if all(name.lower().endswith(".csv") for name in studies):
        from delibsim.analysis.summaries.score_files import report_on_files

        for name, value in given.items():
            if value and name != "intervals":
                told = f"{name}={value} is about a study; files take intervals=topics|cells"
                raise WrongInput(told)
        found = report_on_files([Path(name) for name in studies], given["intervals"])
        return Reported(found, nothing, Path(f"report_{slug(Path(studies[0]).stem)}"))
    faults: list[str] = []
    runs = [study_at(study, call.root) for study in studies]
    sets = judged_sets(runs, given["summaries"], given["judgments"], faults)
    by = [column for column in given["by"].split(",") if column]
    for one in sets:
        for column in by:
            if column not in one.opinions:
                raise unknown("column", column, one.opinions.columns, f"Columns of {one.study}")
    embedding = embedding_named(given["embedding"])
    found = summaries_report(sets, given["intervals"], by, faults, embedding)
    return Reported(found, nothing, runs[0].folder / "report_summaries")


def _given(call: CommandLine) -> tuple[dict[str, Any], Sequence[str]]:
    """The settings of a report, and its studies."""
    settings = settings_of([word for word in call.words if "=" in word], REPORTED)
    return settings, [call.study, *(word for word in call.words if "=" not in word)]


def show_text(call: CommandLine, as_json: bool) -> None:
    """Where a text is named: list the summaries, or show one with its most similar opinions, or an
    opinion with its most similar sentences, and exit.
    """
    given, studies = _given(call)
    if not given["text"]:
        return
    from delibsim.analysis.summaries.minorities import listed, of_opinion, of_summary
    from delibsim.conduct.summaries_report import judged_set

    if len(studies) > 1:
        raise WrongInput("text= is about one study; name one")
    judged, wanted, screen = judged_set(call.runs, given["summaries"]), given["text"], console()
    if wanted == ALL:
        rows = listed(judged)
        plain: dict[str, Any] = {"study": judged.study, "question": judged.question}
        if as_json:
            echo_json(plain | {"summaries": rows})
        else:
            show_table(answers_table("listed", rows, judged.question), screen)
        raise typer.Exit(exit_code(any(row["words"] for row in rows), whole=True))
    if wanted in judged.summaries.index:
        text, sentences = judged.summaries.loc[wanted, "text"], of_summary(judged, wanted, NEAREST)
        if as_json:
            echo_json({"summary": wanted, "text": text, "sentences": sentences})
            raise typer.Exit(0)
        if not sentences:
            screen.print(f"{safe(wanted)}: missing ({judged.summaries.loc[wanted, 'missing']})")
        for row in sentences:
            print_text(safe(row["sentence"]), screen)
            for near in row["nearest"]:
                told = f"  {near['opinion']} ({near['similarity']:.2f}): {near['text']}"
                screen.print(safe(told), style="dim", soft_wrap=True)
    elif wanted in judged.opinions.index:
        text, found = str(judged.opinions.loc[wanted, "text"]), of_opinion(judged, wanted)
        if as_json:
            echo_json({"opinion": wanted, "text": text, "nearest": found})
            raise typer.Exit(0)
        print_text(safe(text), screen)
        show_table(answers_table("nearest", found), screen)
    else:
        known = [*judged.summaries.index, *judged.opinions.index]
        raise unknown("summary or opinion", wanted, known)
    raise typer.Exit(0)


summarise_app = commands_of(Summarise())


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
