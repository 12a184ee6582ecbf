"""For authors of plug-ins: check_scorer and check_language_model say whether a plug-in keeps its contract; a_run makes a run."""

import asyncio
import dataclasses
import math
import random
from collections.abc import Collection, Mapping, Sequence

from delibsim.domain.measure import MEASURES, Measure
from delibsim.domain.participant import Participant
from delibsim.domain.run import Run, Session
from delibsim.domain.score import Score, Scorer
from delibsim.domain.seed import seed_of
from delibsim.domain.survey import PHASES, Item, Response, Survey
from delibsim.domain.topic import Topic
from delibsim.domain.transcript import Statement, Turn
from delibsim.domain.treatment import Treatment, Wording
from delibsim.models.base import STATUSES, Completion, LanguageModel
from delibsim.models.blocks import block, items_block
from delibsim.models.prompt import Form, Message, Prompt, Purpose, SurveyAnswers, Words

UNITS = ("run", "participant", "statement", "pair")


def a_run(name: str = "example", participants: int = 5, seed: int = 1, missing: Sequence[str] = ()) -> Run:
    """A small run with random answers and one statement a participant; those in `missing` left the second survey empty."""
    rng = random.Random(seed_of("a_run", name, seed))
    items = [Item(f"C{i}", "consideration", f"Consideration number {i} matters here.") for i in range(1, 7)]
    items += [Item(f"P{i}", "preference", f"Policy option number {i}.") for i in range(1, 5)]
    survey = Survey("example", tuple(items))
    people = tuple(Participant(f"Participant {i}") for i in range(1, participants + 1))
    session = Session(
        id=name,
        topic=Topic("example", "What should be done?", "There are four options.", "example"),
        survey=survey,
        participants=people,
        treatment=Treatment("basic", "Deliberate with the others.", rounds=1),
        format="deliberation",
        wording=Wording("example", {}),
        seed=seed,
    )

    def answers() -> Mapping[str, int]:
        ranks = rng.sample(range(1, 5), 4)
        ratings = rng.sample(range(1, 8), 6)
        return {item.id: value for item, value in zip(items, [*ratings, *ranks], strict=True)}

    order = tuple(item.id for item in items)
    responses = tuple(
        Response(p.id, phase, {}, dict.fromkeys(order, "refusal"), order)
        if phase == "post" and p.id in missing
        else Response(p.id, phase, answers(), {}, order)
        for phase in PHASES
        for p in people
    )
    transcript = tuple(Statement(Turn(i, 1, p.id), f"I speak as {p.id}.") for i, p in enumerate(people, 1))
    return Run(session, responses, transcript, "partial" if missing else "complete")


def check_scorer(scorer: Scorer) -> None:
    """Raise AssertionError, saying what is wrong, unless the scorer keeps its contract.

    A name and a version; scores with a known unit and a target in the run; the same scores whatever the order of runs;
    runs left unchanged; no error, and no number without a reason, where answers are missing.
    Where the class declares `measures`, every score belongs to one of them, lies in its range and
    has one of its phases, and no id of a built-in measure stands for another measure.
    """
    _require(isinstance(scorer, Scorer), "a scorer has a name, a version and score(runs)")
    _require(isinstance(scorer.name, str) and bool(scorer.name), "name must be a text that is not empty")
    _require(isinstance(scorer.version, int) and scorer.version >= 1, "version must be a whole number from 1")
    _require(scorer.score([]) == [], "no runs give no scores")
    runs = [a_run("one"), a_run("two", participants=3, seed=2), a_run("three", missing=["Participant 2"])]
    before = [dataclasses.replace(run) for run in runs]
    scores = scorer.score(runs)
    _require(runs == before, "score must leave the runs as they are")
    _require(_plain(scorer.score(runs)) == _plain(scores), "the same runs must get the same scores")
    _require(_plain(scorer.score(runs[::-1])) == _plain(scores), "the order of runs must not matter")
    for score in scores:
        _require(isinstance(score, Score), f"score returns Score objects, not {type(score).__name__}")
        _require(score.unit in UNITS, f"{score.measure}: unknown unit {score.unit!r}; units are {', '.join(UNITS)}")
        _require(isinstance(score.value, float), f"{score.measure}: the value is a float, not {type(score.value).__name__}")
        _require(not math.isinf(score.value), f"{score.measure}: infinite; an undefined value is NaN with a note")
        _require(not math.isnan(score.value) or bool(score.note), f"{score.measure}: NaN without a note that gives the reason")
        target = score.target.split("/")[0]
        _require(any(target == run.session.id for run in runs), f"{score.measure}: target {score.target!r} names no run")
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


def check_language_model(model: LanguageModel) -> None:
    """Raise AssertionError, saying what is wrong, unless the language model keeps its contract.

    Asks it for speech and for a survey: a completion with a known status, a text that can be read whenever the status is
    "ok" and the form is speech, and no exception.
    """
    _require(isinstance(model, LanguageModel), "a language model has a name and an async method complete(prompt, seed)")
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
        messages = (Message("system", session.topic.question), Message("user", f"{shown}\n\n{form.describe()}"))
        completion = asyncio.run(model.complete(Prompt(messages, form, Purpose("Participant 1", occasion)), seed=1))
        _require(isinstance(completion, Completion), f"complete returns a Completion, not {type(completion).__name__}")
        _require(completion.status in STATUSES, f"unknown status {completion.status!r}")
        _require(completion.status == "ok" or bool(completion.detail), f"status {completion.status} without a detail")
        _require(bool(completion.model_requested), "model_requested must name the model")
        if completion.status == "ok" and occasion != "pre":
            form.read(completion.text)


def _plain(scores: Sequence[Score]) -> list[str]:
    """Scores as sorted texts, in which NaN equals NaN."""
    return sorted(repr(score) for score in scores)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)
