"""`delibsim import`: conversations of people, texts, opinions, answers, codes, judgments of pairs,
summaries and judgments of them, personas and published instruments of one's own.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from delibsim.cli.options import RUNS, declared, parted, settings_of, settings_of_kind, told
from delibsim.cli.terminal import (
    console,
    echo_json,
    exit_code,
    print_each,
    progress,
    say,
    shown,
    study_at,
    tell_folder,
)
from delibsim.domain.errors import WrongInput, refused, unknown
from delibsim.domain.text import counted, quoted, safe, study_named
from delibsim.plugins import load, names

if TYPE_CHECKING:
    from delibsim.asking.kinds.imported import AnswersImported

app = typer.Typer(add_completion=False)


@dataclass(frozen=True)
class Order:
    """What is to be imported: the words, the settings, others, and the options of the command."""

    words: list[str]
    given: Mapping[str, Any]
    others: list[str]
    root: Path
    out: Path | None
    replace: bool
    only: bool
    yes: bool
    kind: str = ""
    answers: Path | None = None
    keep_names: bool = False

    def study_and(self, what: str) -> tuple[str, str]:
        """The study and what stands behind it."""
        if len(self.words) != 2:
            raise WrongInput(f"name the study and {what}: delibsim import STUDY {what} ...")
        return self.words[0], self.words[1]


@dataclass(frozen=True)
class ImportResult:
    """What came of an import: in sentences, as plain values, what was left out, the exit code."""

    lines: Sequence[str]
    plain: Mapping[str, Any]
    left_out: Sequence[str] = ()
    code: int = 0


def _texts(order: Order) -> ImportResult:
    """The texts of a CSV file."""
    from delibsim.analysis.texts_described import described
    from delibsim.conduct.import_texts import Columns, OpinionColumns, Portions, import_texts
    from delibsim.store.study_texts import example

    given, question = order.given, order.given["question"]
    if given["example"]:
        if len(order.words) != 1:
            raise WrongInput("example= stands in the place of a file: name the study alone")
        study, (file, usual) = order.words[0], example(given["example"])
        question = question or usual
    else:
        study, name = order.study_and("FILE")
        file = Path(name)
    found = import_texts(
        file,
        study,
        order.root,
        Columns(given["column"], given["id"], given["group"]),
        OpinionColumns(
            question=question,
            kind=given["kind"],
            stance=given["stance"],
            minority=given["minority"],
            author=given["author"],
            drop_authors=not given["authors"],
        ),
        Portions(given["most_words"], given["sample"], given["stratify"]),
    )
    tell_folder(found.runs)
    description = described(found.texts)
    following = f"Next       delibsim list texts {quoted(found.runs.study)}"
    lines = [*found.lines(), *description.lines(), following]
    return ImportResult(lines, found.plain() | {"described": description.plain()})


def _opinions(order: Order) -> ImportResult:
    """The opinions of participants, from the runs of a study."""
    from delibsim.analysis.texts_described import described
    from delibsim.conduct.take_opinions import Taking, missing_told, take_opinions

    target, source = order.study_and("STUDY")
    given, faults = order.given, []
    taking = Taking(given["take"], given["item"], given["phase"], given["topic"])
    rows, lines = [], []
    for one in take_opinions(study_at(source, order.root), target, order.root, taking, faults):
        tell_folder(one.runs)
        about, held = described(one.texts), len(one.texts)
        row: dict[str, Any] = {"study": one.runs.study, "question": one.question, "new": one.new}
        row |= {"texts": held, "missing": dict(one.missing), "described": about.plain()}
        rows.append(row)
        lines.append(f"{study_named(one.runs.study)}: {one.question}")
        lines.append(f"{counted(one.new, 'opinion')} new; it holds {held:,}")
        if one.missing:
            without = counted(sum(one.missing.values()), "participant")
            lines.append(f"{without} without an opinion: {missing_told(one.missing)}")
        lines += about.lines()
    left_out = [f"left out: {fault}" for fault in faults]
    return ImportResult(
        lines, {"taken": rows, "faults": faults}, left_out, exit_code(True, not faults)
    )


def _answers(order: Order) -> ImportResult:
    """People's answers to a survey."""
    from delibsim.store.instruments.library import Library
    from delibsim.store.instruments.own_answers import (
        are_kept,
        check_answers,  # numpy is slow to import
        keep_answers,
    )

    given = order.given
    if len(order.words) != 1 or not given["survey"]:
        raise refused("import_one_file")
    path, survey, home = Path(order.words[0]), Library().survey(given["survey"]), Path.cwd()
    columns = given["participant"] or None, given["phase"] or None
    checked = check_answers(path, survey, *columns, given["only"], given["rank_1"] or None)
    faults = safe(checked.listed())
    if checked.answers is None or (faults and not given["leave_out"]):
        notes = "".join(f"note: {note}\n" for note in checked.notes)
        raise WrongInput(f"{notes}{checked.refusal(path)}:\n{faults}")
    lines = [f"note: {note}" for note in checked.notes]
    if are_kept(checked.answers, survey, home):
        lines.append("already there, nothing changed:")
    kept = keep_answers(checked.answers, survey, home, order.replace)
    people = len(checked.answers.participants)
    who = counted(people, "person", "people")
    lines.append(f"answers: {who}, before and after, to survey {survey.id}, in {shown(kept)}")
    lines.append("next: delibsim list people answers")
    left_out, names = [], list(checked.left_out)
    if faults:
        who = counted(len(names), "person", "people")
        left_out.append(f"left out: {who} ({safe(', '.join(names))})")
        left_out += faults.splitlines()
    plain = {"survey": survey.id, "people": people, "file": shown(kept), "left_out": names}
    return ImportResult(lines, plain, left_out, exit_code(True, not faults))


def _codes(order: Order) -> ImportResult:
    """Codes of people, from any table of codes."""
    from delibsim.asking.kinds.coding import import_codes
    from delibsim.conduct.texts import rescore_codes

    study, name = order.study_and("FILE")
    given = order.given
    found = import_codes(Path(name), order.root, study, given["scheme"], given["training"])
    if found.given:
        rescore_codes(found.runs)
    apart = f", {found.training} of training" if found.training else ""
    lines = [
        f"{counted(found.new, 'code')} kept, {found.given - found.new} known before{apart},"
        f" {counted(found.empty, 'cell')} left empty"
    ]
    lines += [f"{coder}: {counted(n, 'code')}" for coder, n in found.coders.items()]
    if found.not_read:
        lines.append(f"note: columns that were not read: {', '.join(found.not_read)}")
    return ImportResult(lines, found.plain(), code=exit_code(bool(found.given), not found.empty))


def _pairs(order: Order) -> ImportResult:
    """Judgments of pairs, from a table with a row a judgment."""
    from delibsim.asking.kinds.imported import columns_of, import_pairs
    from delibsim.asking.settings import task_name
    from delibsim.conduct.texts import rescore_pairs
    from delibsim.store.answers import gathered_and_own
    from delibsim.store.runs import Runs

    study, name = order.study_and("FILE")
    given, runs = order.given, Runs(order.root, study)
    tell_folder(runs)
    task, dimension = task_name("name", given["name"]), task_name("dimension", given["dimension"])
    columns = columns_of(given["columns"], given["group"])
    found = import_pairs(Path(name), runs, columns, task, dimension)
    if found.new:
        rescore_pairs(gathered_and_own(runs))
    own = found.facts
    texts = f"{counted(own['texts'], 'text')} in {counted(own['groups'], 'group')}"
    lines = [
        f"{Path(name).name}: {counted(found.new, 'vote')} new, {found.before:,} known before",
        f"{study_named(runs.study)}, comparison {task}: {counted(own['pairs'], 'pair')} of {texts},"
        f" by {counted(own['judges'], 'judge')}",
        f"Next       delibsim compare report {quoted(runs.study)}",
    ]
    return ImportResult(lines, found.plain())


def _summaries(order: Order) -> ImportResult:
    """Summaries that others made of the opinions of a study."""
    from delibsim.asking.kinds.imported import import_summaries
    from delibsim.asking.settings import task_name

    study, name = order.study_and("FILE")
    runs = study_at(study, order.root)
    found = import_summaries(Path(name), runs, task_name("name", order.given["name"]))
    return _of_answers(found, "summary", "judge ask")


def _judgments(order: Order) -> ImportResult:
    """Judgments that others gave of the summaries of a study."""
    from delibsim.asking.kinds.imported import import_judgments
    from delibsim.asking.settings import task_name

    study, name = order.study_and("FILE")
    given, runs = order.given, study_at(study, order.root)
    task = task_name("name", given["name"])
    found = import_judgments(Path(name), runs, task, given["summaries"], given["people"])
    return _of_answers(found, "judgment", "judge report")


def _of_answers(found: "AnswersImported", noun: str, following: str) -> ImportResult:
    """What an import of summaries or judgments came to."""
    new = counted(found.new, noun)
    lines = [
        f"{new} new, {found.before:,} known before, by {', '.join(found.facts['by'])}",
        f"Next       delibsim {following} {quoted(found.runs.study)}",
    ]
    return ImportResult(lines, found.plain())


def _personas(order: Order) -> ImportResult:
    """Personas of a file, or of the people who answered a survey on a topic."""
    from delibsim.store.instruments.library import keep_personas, read_own_personas

    if len(order.words) != 1:
        raise WrongInput("name a file of personas, or a topic: delibsim import ccps --as personas")
    path = Path(order.words[0])
    if not path.suffix:
        return _built(order)
    personas = read_own_personas(path, order.given["name"] or path.stem)
    kept, _ = keep_personas(personas, Path.cwd())
    count = len(personas.texts)
    line = f"{counted(count, 'persona')} in {shown(kept)}; use them with persona={personas.name}"
    return ImportResult([line], {"name": personas.name, "personas": count, "file": shown(kept)})


def _built(order: Order) -> ImportResult:
    """Personas from people's answers: clusters, profiles, and a check of them."""
    from delibsim.cli.estimate import show_found
    from delibsim.cli.list_people import print_personas
    from delibsim.conduct.personas import NoProfile, Recipe, build_personas, estimate_personas
    from delibsim.store.instruments.library import read_persona_file

    given, home = order.given, Path.cwd()
    names = given["writer"], given["reader"], given["name"]
    recipe = Recipe(order.words[0], given["k"], given["items"], given["seed"], *names)
    if order.only:
        planned, found = asyncio.run(estimate_personas(recipe, order.others, home))
        calls = f"{counted(found.waiting, 'call')} to be made"
        before = [f"personas {recipe.label}: {calls}"]
        show_found(found, planned.limits, {}, False, before, "profiles")
        return ImportResult((), {})
    try:
        built = asyncio.run(build_personas(recipe, order.others, home, partial(say, err=True)))
    except NoProfile as error:
        kept = "What was recorded is kept; the same command goes on from there."
        return ImportResult((), {}, [f"no personas: {error}. {kept}"], 4)
    print_personas(read_persona_file(built.name, home))
    state = "written" if built.new else "unchanged"
    line = f"{state}: {shown(built.path)}; use them with persona={built.name}"
    plain = {"name": built.name, "file": shown(built.path), "checked": built.checked}
    return ImportResult([line], plain, code=0 if built.checked else 3)


def _deliberr(order: Order) -> ImportResult:
    """The surveys and human data of the R package deliberr."""
    from delibsim.store.instruments.imported import import_published  # numpy is slow to import

    if not order.words:
        raise WrongInput("name the folders or files as published: delibsim import PATH ...")
    to = order.out or Path("surveys/imported")
    found = import_published(list(map(Path, order.words)), to, order.given["version"])
    lines = list(found.told())
    return ImportResult(lines, {"told": lines})


def _conversations(order: Order) -> ImportResult:
    """Conversations of people, by a plug-in that reads them; or comments on one question."""
    from delibsim.conduct.import_conversations import example, import_conversations
    from delibsim.conduct.import_texts import study_of_texts
    from delibsim.conduct.imported_run import ConversationSource

    given = order.given
    if not given["study"] or bool(given["example"]) + len(order.words) != 1:
        usage = f"delibsim import PATH --as {order.kind} study=NAME"
        raise WrongInput(f"name what is imported, and the study: {usage}")
    name = given["example"]
    path, answers = example(name) if name else (Path(order.words[0]), order.answers)
    own = {one: given[one] for one in ("topic", "treatment", "survey", "facts", "answers_in")}
    importer = load(GROUP, order.kind)
    source = ConversationSource(path, importer, **own, answers=answers, keep_names=order.keep_names)
    runs = study_of_texts(given["study"], order.root)
    found = import_conversations(source, runs, progress())
    tell_folder(found.runs)
    lines = found.lines()
    if found.key is not None:
        lines.append(f"who is who: {shown(found.key)} (for its owner alone; do not share it)")
    next_ = "score" if found.what == "conversation" else "list texts"
    lines.append(f"Next       delibsim {next_} {quoted(runs.study)}")
    kinds: dict[str, list[str]] = {}
    for what, n in found.unplaced.items():
        kind, _, name = what.partition(": ")
        kinds.setdefault(f"not placed: {n:,} x {kind}", []).append(name)
    left_out = [f"{kind}: {', '.join(of)}".removesuffix(": ") for kind, of in kinds.items()]
    return ImportResult(lines, found.plain(), left_out)


GROUP = "delibsim.importers"
IMPORTERS = {
    "texts": _texts,
    "opinions": _opinions,
    "answers": _answers,
    "codes": _codes,
    "pairs": _pairs,
    "summaries": _summaries,
    "judgments": _judgments,
    "personas": _personas,
    "deliberr": _deliberr,
}
TAKEN = {name: settings_of_kind(f"import_{name}") for name in IMPORTERS}
for _plugin in names(GROUP):
    IMPORTERS[_plugin] = _conversations
    TAKEN[_plugin] = settings_of_kind("import_conversations")
SETTINGS = "; ".join(f"of {name}: {told(one)}" for name, one in TAKEN.items())


@declared(app, "import", "import", settings=SETTINGS)
def import_(
    words: list[str],
    kind: str = "",
    replace: bool = False,
    out: Path | None = None,
    answers: Path | None = None,
    keep_names: bool = False,
    only: bool = False,
    yes: bool = False,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """Import what is your own or was published. Everything is checked before anything is written:
    all of a file is kept, or none, and every fault is named with its line. The same file again is
    known before.

    Exit code 0; 3 where something was left out, 4 where there was nothing, 2 if something is wrong.
    """
    if kind not in IMPORTERS:
        raise unknown("kind of import", kind, IMPORTERS, "Name it: --as texts")
    known = TAKEN[kind]
    _refuse_options(
        kind,
        replace=replace,
        out=out is not None,
        estimate=only,
        answers=answers is not None,
        keep_names=keep_names,
    )
    places = [word for word in words if "=" not in word or Path(word).exists()]
    own, others = parted([word for word in words if word not in places], known)
    if kind != "personas":  # which may name settings of models
        settings_of(others, known)
    given = settings_of(own, known)
    order = Order(places, given, others, root, out, replace, only, yes, kind, answers, keep_names)
    found = IMPORTERS[kind](order)
    if as_json:
        echo_json(found.plain)
    else:
        print_each(found.lines, console())
    print_each(found.left_out, console(stderr=True))
    raise typer.Exit(found.code)


def _refuse_options(kind: str, **given: bool) -> None:
    """WrongInput for an option that has no effect on what is imported."""
    of = {"replace": ["answers"], "out": ["deliberr"], "estimate": ["personas"]}
    of |= dict.fromkeys(("answers", "keep_names"), names(GROUP))
    named = {"out": "-o", "keep_names": "--keep-names"}
    for name, there in given.items():
        if there and kind not in of[name]:
            option = named.get(name, f"--{name}")
            raise WrongInput(f"{option} is of --as {' or '.join(of[name])}; leave it out")
