"""`delibsim setup`: check what a trained scorer needs (AQuA, a judge of summaries), and keep its
hashes.
"""

from pathlib import Path

import typer

from delibsim.cli.options import RUNS, Words, declared, settings_of, settings_of_kind, told
from delibsim.cli.terminal import console, echo_json, print_each, say, shown
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.text import quoted
from delibsim.store.drafts import KINDS, write_draft

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Check what a trained scorer needs, and keep the hashes of its files.",
)
AQUA, JUDGE = settings_of_kind("setup_aqua"), settings_of_kind("setup_judge")


@declared(app, "setup", "aqua", settings=told(AQUA))
def aqua(
    path: str | None = None, settings: Words = None, from_hub: bool = False, as_json: bool = False
) -> None:
    """Check adapters, encoder and translator of the scorer of discourse quality (AQuA), and record
    their hashes in aqua/setup.json, where delibsim score finds them.
    """
    from delibsim.conduct.aqua import Options, Sources, described, set_up

    words = [word for word in (path, *(settings or [])) if word is not None]
    folder = words.pop(0) if words and "=" not in words[0] else None
    given = settings_of(words, AQUA)
    sources = Sources(folder, from_hub, given["base"] or None, given["translator"] or None)
    options = Options(given["scale"], given["language"], given["precision"], given["device"])
    made, file = set_up(sources, options, lambda line: say(line, err=True))
    if as_json:
        echo_json(described(made))
        return
    for name, value in described(made).items():
        say(f"{name:11}  {value}")
    say(f"written: {shown(file)}\nnext: delibsim score STUDY --scorer aqua")


@declared(app, "setup", "judge", settings=told(JUDGE))
def judge(folder: Path, settings: Words = None, as_json: bool = False) -> None:
    """Check a checkpoint of a judge of summaries whole, and keep the hashes of its files in its
    judge.json.
    """
    from delibsim.conduct.trained.score import set_up_judge
    from delibsim.conduct.trained.train import described
    from delibsim.scorers.judge.checkpoint import InputForm

    given, stated = settings_of(settings, JUDGE), None
    form, longest, base = given["form"], given["longest"], given["base"]
    if form or longest != 4096:
        stated = InputForm(_labels(form) if form else InputForm().labels, longest)
    record = set_up_judge(
        folder, given["activation"], stated, given["scale"], Path(base) if base else None
    )
    if as_json:
        echo_json({"checkpoint": record.hash, **vars(record)})
        return
    answers = f"activation {record.activation}, scale {record.scale}"
    say(f"checkpoint {record.hash}: {record.name}, {answers}")
    print_each(described(record), console())
    say(f"Next       delibsim judge ask STUDY checkpoint={shown(folder)}")


def _labels(form: str) -> tuple[tuple[str, str], ...]:
    """The labels of the parts, in their order."""
    found = []
    for part in form.split(";"):
        name, equals, label = part.partition("=")
        if not equals:
            raise WrongInput(f"form= names each part with its label, name=label, not '{part}'")
        found.append((name.strip(), label))
    return tuple(found)


new_app = typer.Typer(add_completion=False)
REPORT = "report"
WRITTEN = {**KINDS, REPORT: "table, figure and mixed model of a study, made again in R"}
RENDERED = {"quarto": "quarto render {}", "rmarkdown": "Rscript -e 'rmarkdown::render(\"{}\")'"}
"""The command that makes a page of a document, by its form."""


@declared(new_app, "new", "new")
def new(
    kind: str | None = None,
    name: str | None = None,
    form: str = "",
    to: Path | None = None,
    root: Path = RUNS,
) -> None:
    """Write a commented topic, survey, treatment, set of personas or package of a scorer, which
    works as it is, into the folder you are in; or a report on a study in R. Nothing is overwritten.
    Without arguments, list what can be written.
    """
    if kind is None:
        for one, what in WRITTEN.items():
            say(f"{one:9}  {what}")
        say("next: delibsim new KIND NAME")
        return
    if kind not in WRITTEN:
        raise unknown("kind of draft", kind, WRITTEN)
    if name is None:
        raise WrongInput(f"give the {kind} a name: delibsim new {kind} NAME")
    if kind == REPORT:
        _new_report(name, root, form or "quarto", to)
        return
    if form or to:
        raise WrongInput(f"--as and -o are of delibsim new {REPORT}; leave them out")
    draft = write_draft(kind, name, Path.cwd())
    say(f"written: {shown(draft.path)}; edit it, every line is explained")
    for command in draft.following:
        say(f"next: {command}")


def _new_report(study: str, root: Path, form: str, to: Path | None) -> None:
    """Write a document in R on a study, and say what makes a page of it."""
    from delibsim.conduct.r_report import write_r_report  # pandas is slow to import

    path = write_r_report(study, root, form, to)
    say(f"written: {shown(path)}; fill in what is marked FILL IN")
    for command in ("analyze", "export"):
        say(f"next: delibsim {command} {quoted(study)}")
    say(f"next: {RENDERED[form].format(shown(path))}")
