"""Whether a plug-in does what it must: checks of scorers, models, exporters and importers."""

import asyncio
import copy
import math
from collections.abc import Collection, Sequence
from pathlib import Path, PurePosixPath
from typing import get_args

from delibsim.domain.corpora import Comment, ExportedSession, Exporter, Importer, Record, Utterance
from delibsim.domain.errors import WrongInput
from delibsim.domain.run import Run
from delibsim.domain.score import MEASURES, Measure, Score, Scorer, Unit, compared, run_by_run
from delibsim.models.base import STATUSES, Completion, LanguageModel
from delibsim.prompts.blocks import block, items_block
from delibsim.prompts.forms.survey import SurveyAnswers
from delibsim.prompts.forms.words import Words
from delibsim.prompts.prompt import Form, Message, Prompt, Purpose
from delibsim.testing.runs import a_coded_run, a_debate, a_run, a_run_with_consensus

UNITS = get_args(Unit)


def check_scorer(scorer: Scorer) -> None:
    """Raise AssertionError, saying what is wrong, unless the scorer keeps its contract.

    It is shown deliberations, one of them with missing answers, and debates, one of which broke
    off; it may leave out runs it does not measure, but not all of them. What is checked: a name
    and a version; scores with a known unit, about one of the runs; the same scores whatever the
    order of the runs; runs left unchanged; a reason wherever a value is undefined. An error that
    the scorer itself raises is passed on. Where the class declares `measures`, every score belongs
    to one of them, lies in its range and has one of its phases, and no id of a built-in measure
    stands for another measure.
    """
    _require(isinstance(scorer, Scorer), "a scorer has a name, a version and score(runs)")
    named = isinstance(scorer.name, str) and bool(scorer.name)
    _require(named, "name must be a text that is not empty")
    counted = isinstance(scorer.version, int) and scorer.version >= 1
    _require(counted, "version must be a whole number from 1")
    _require(scorer.score([]) == [], "no runs give no scores")
    runs = _runs()
    before = copy.deepcopy(runs)
    scores = scorer.score(runs)
    _require(runs == before, "score must leave the runs as they are")
    _require(bool(scores), "no score of any run, neither of deliberations nor of debates")
    _require(_plain(scorer.score(runs)) == _plain(scores), "the same runs must get the same scores")
    turned = scorer.score(runs[::-1])
    _require(_plain(turned) == _plain(scores), "the order of runs must not matter")
    if (comparison := run_by_run(scorer)) is not None:
        alone = _plain(compared(comparison, runs))
        _require(alone == _plain(scores), "by_run or compare must give the scores of score(runs)")
    known = {run.session.id for run in runs}
    for score in scores:
        _check_score(score, known)
    _check_measures(scorer, scores)


def _check_measures(scorer: Scorer, scores: Sequence[Score]) -> None:
    """Raise AssertionError unless the scores are those of the measures that the class declares."""
    measures = getattr(type(scorer), "measures", ())
    _require(isinstance(measures, tuple), "measures is a tuple of Measure objects, on the class")
    for measure in measures:
        _require(isinstance(measure, Measure), "measures is a tuple of Measure objects")
        same = MEASURES.get(measure.id, measure) == measure
        _require(same, f"{measure.id}: the id of another, built-in measure")
    declared = {measure.id: measure for measure in measures}
    _require(len(declared) == len(measures), "measures declares an id twice")
    for score in scores if measures else ():
        _require(score.measure in declared, f"{score.measure}: not among the declared measures")
        measure = declared[score.measure]
        phases = measure.phases or ("",)
        _require(score.phase in phases, f"{score.measure}: phase {score.phase!r} is not declared")
        fits = math.isnan(score.value) or measure.holds(score.value, score.phase)
        _require(fits, f"{score.measure}: {score.value} lies outside the declared range")


def _runs() -> list[Run]:
    """What a scorer may be given: deliberations and debates, whole ones and others, one coded."""
    return [
        a_coded_run("one"),
        a_run("two", participants=3, seed=2),
        a_run_with_consensus("six"),
        a_run("three", missing=["Participant 2"]),
        a_debate("four"),
        a_debate("five", speeches=3),
    ]


def _check_score(score: Score, known: Collection[str]) -> None:
    """Raise AssertionError unless this is a score about one of the runs with these ids."""
    _require(isinstance(score, Score), f"score returns Score objects, not {type(score).__name__}")
    name, value = score.measure, score.value
    units = f"units are {', '.join(UNITS)}"
    _require(score.unit in UNITS, f"{name}: unknown unit {score.unit!r}; {units}")
    _require(isinstance(value, float), f"{name}: the value is a float, not {type(value).__name__}")
    _require(not math.isinf(value), f"{name}: infinite; an undefined value is NaN with a note")
    explained = not math.isnan(value) or bool(score.note)
    _require(explained, f"{name}: NaN without a note that gives the reason")
    _require(score.target.split("/")[0] in known, f"{name}: target {score.target!r} names no run")


def check_language_model(model: LanguageModel) -> None:
    """Raise AssertionError, saying what is wrong, unless the language model keeps its contract.

    It is asked for a speech and for the answers to a survey. What is checked: a completion with a
    known status; a text that can be read wherever the form is speech and the status "ok"; a
    reason with every other status; the name of the model; and that it raises nothing.
    """
    is_model = isinstance(model, LanguageModel)
    _require(is_model, "a language model has a name and an async method complete(prompt, seed)")
    names = getattr(model, "without_effect", frozenset())
    listed = isinstance(names, Collection) and not isinstance(names, str)
    listed = listed and all(isinstance(name, str) for name in names)
    _require(listed, "without_effect is a set of names of settings")
    session = a_run().session
    survey = session.survey
    shown = "\n\n".join(
        [
            block("you", "Participant 1"),
            items_block("considerations", survey.considerations),
            items_block("preferences", survey.preferences),
        ]
    )
    forms: Sequence[tuple[Form, str]] = ((Words(), "turn 1"), (SurveyAnswers(survey), "pre"))
    for form, occasion in forms:
        asked = Message("user", f"{shown}\n\n{form.describe()}")
        messages = (Message("system", session.topic.question), asked)
        prompt = Prompt(messages, form, Purpose("Participant 1", occasion))
        completion = asyncio.run(model.complete(prompt, seed=1))
        given = type(completion).__name__
        _require(isinstance(completion, Completion), f"complete returns a Completion, not {given}")
        status = completion.status
        _require(status in STATUSES, f"unknown status {status!r}")
        explained = status == "ok" or bool(completion.detail)
        _require(explained, f"status {status} without a detail")
        _require(bool(completion.model_requested), "model_requested must name the model")
        if status == "ok" and occasion != "pre":
            form.read(completion.text)


def check_exporter(exporter: Exporter) -> None:
    """Raise AssertionError, saying what is wrong, unless the exporter keeps its contract.

    It is shown deliberations, one with missing answers and one with a collective statement, and
    debates, one of which broke off. What is checked: a name and a form; files whose paths stay in
    the folder, each once; texts in pieces; the same texts for the same sessions; runs left
    unchanged. An error that the exporter itself raises is passed on.
    """
    _require(isinstance(exporter, Exporter), "an exporter has a name, a form and files(...)")
    _require(bool(exporter.name and exporter.form), "name and form must not be empty")
    runs = _runs()
    before = copy.deepcopy(runs)
    found = _written(exporter, runs)
    _require(runs == before, "files must leave the runs as they are")
    _require(bool(found), "no file of any run")
    for name in found:
        path = PurePosixPath(name)
        stays = not path.is_absolute() and ".." not in path.parts and str(path) == name
        _require(stays and name != "manifest.json", f"{name!r} is no path of a file in the folder")
    _require(_written(exporter, runs) == found, "the same sessions must give the same files")


def _written(exporter: Exporter, runs: Sequence[Run]) -> dict[str, str]:
    """The texts of the files by path."""
    measures, undefined = {"dri_change": 0.25}, {"dri_relative": "zero_denominator"}
    sessions = []
    for run in runs:
        times = {(name, "turn 1"): "2026-01-31T12:30:59.000+00:00" for name in run.session.seats}
        sessions.append(ExportedSession(run, measures, undefined, times))
    found: dict[str, str] = {}
    for name, pieces in exporter.files("example", iter(sessions)):
        _require(name not in found, f"{name!r} is given twice")
        found[name] = "".join(pieces)
    return found


def check_importer(importer: Importer, path: Path) -> None:
    """Raise AssertionError, saying what is wrong, unless the importer keeps its contract.

    It reads the source that lies at `path`, which has a conversation of two or a comment. What is
    checked: a name; a stream of records, of which each says where it stands; the same records the
    second time; and WrongInput, as the first record is asked for, where there is no source.
    """
    is_importer = isinstance(importer, Importer) and bool(importer.name)
    _require(is_importer, "an importer has a name and read(path)")
    records = importer.read(path)
    _require(iter(records) is records, "read gives a stream (an iterator), not a list")
    found = list(records)
    for record in found:
        _require(isinstance(record, get_args(Record)), f"{record!r} is no record of an import")
        told = any(getattr(record, name, "") for name in ("where", "what", "id"))
        _require(told, f"{record!r} does not say where it stands, or what it is")
    said = [one for one in found if isinstance(one, Utterance)]
    comments = any(isinstance(one, Comment) for one in found)
    _require(bool(said) or comments, "no utterance and no comment was read")
    _require(all(one.conversation for one in said), "every utterance names its conversation")
    _require(list(importer.read(path)) == found, "the same source must give the same records")
    try:
        next(importer.read(path / "nothing"), None)
    except WrongInput:
        return
    raise AssertionError("a source that is not there must be a WrongInput")


def _plain(scores: Sequence[Score]) -> list[str]:
    """Scores as sorted texts, in which NaN equals NaN."""
    return sorted(repr(score) for score in scores)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)
