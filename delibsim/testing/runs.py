"""Small runs with invented answers, speeches, ratings and codes, on which a scorer can be tried."""

import random
from collections.abc import Sequence
from dataclasses import replace

from delibsim.domain.annotation import DIMENSIONS, SCALE, AnnotatedRun, Rating, annotated
from delibsim.domain.coding import ENSEMBLE, Code, CoderKind
from delibsim.domain.consensus import Candidate, Consensus, ConsensusVote, Contribution, Ranking
from delibsim.domain.format import DEBATE, DELIBERATION
from delibsim.domain.participant import AUDIENCE, SIDES, Participant, Side
from delibsim.domain.reason import Reason
from delibsim.domain.run import Run, Session
from delibsim.domain.scheme import Dimension, Level, Scheme
from delibsim.domain.seed import seed_of
from delibsim.domain.survey import PHASES, Item, Motion, Response, Survey, Topic
from delibsim.domain.transcript import Silence, Statement, Turn
from delibsim.domain.treatment import Procedure, Rules, Treatment, Wording

TASKS = DEBATE.tasks
NAMES = {"proposition": "Proposition", "opposition": "Opposition"}
LISTENERS = ("Listener 1", "Listener 2")
BROKEN_OFF = Reason("debate_incomplete")
CODERS: dict[str, CoderKind] = {
    ENSEMBLE: "ensemble",
    "model a": "model",
    "model b": "model",
    "Ann": "human",
}
REASONS = (
    Level(0, "none", "No reason is given."),
    Level(1, "one", "One reason is given."),
    Level(2, "several", "Several reasons are given."),
)
TONES = (Level("calm", "calm", "It is calm."), Level("loud", "loud", "It is loud."))
DIMENSIONS_CODED = (
    Dimension("reasons", "reasons", "ordinal", REASONS),
    Dimension("tone", "tone", "nominal", TONES),
)
SCHEME = Scheme("example", "An example", "own", "1", DIMENSIONS_CODED)
"""The scheme of the codes of `a_coded_run`."""


def a_run(
    name: str = "example",
    participants: int = 5,
    seed: int = 1,
    missing: Sequence[str] = (),
) -> Run:
    """A deliberation with random answers to ten items and one statement by each participant.

    `name` is the id of the session. Those named in `missing` left the second survey empty; the
    run is then partial. The same arguments give the same run.
    """
    rng = random.Random(seed_of("a_run", name, seed))
    survey = _survey()
    order = tuple(item.id for item in survey.items)
    people = tuple(Participant(f"Participant {i}") for i in range(1, participants + 1))
    session = Session(
        id=name,
        topic=Topic("example", "What should be done?", "There are four options.", "example"),
        survey=survey,
        participants=people,
        treatment=Treatment("basic", "Deliberate with the others.", rounds=1),
        format=DELIBERATION.name,
        wording=Wording("example", {}),
        seed=seed,
    )
    responses = []
    for phase in PHASES:
        for person in people:
            if phase == "post" and person.id in missing:
                reasons = dict.fromkeys(order, Reason("refusal"))
                responses.append(Response(person.id, phase, {}, reasons, order))
                continue
            ranks = rng.sample(range(1, 5), 4)
            ratings = rng.sample(range(1, 8), 6)
            answers = dict(zip(order, [*ratings, *ranks], strict=True))
            responses.append(Response(person.id, phase, answers, {}, order))
    turns = [Turn(i, 1, person.id) for i, person in enumerate(people, 1)]
    transcript = tuple(Statement(turn, f"I speak as {turn.speaker}.") for turn in turns)
    return Run(session, tuple(responses), transcript, "partial" if missing else "complete")


def a_run_with_consensus(name: str = "agreed", seed: int = 1) -> Run:
    """A deliberation of five that voted on two statements, at random; one did not vote."""
    run = a_run(name, seed=seed)
    rng = random.Random(seed_of("a_consensus", name, seed))
    candidates = (Candidate("c1", "We do it."), Candidate("c2", "We leave it."))
    ids = [candidate.id for candidate in candidates]
    people = [person.id for person in run.session.participants]
    rankings = [Ranking(people[0], order=tuple(ids), missing=Reason("refusal"))]
    for person in people[1:]:
        ranks = dict(zip(ids, rng.sample((1, 2), 2), strict=True))
        agreement = {id: rng.randint(1, 7) for id in ids}
        rankings.append(Ranking(person, ranks, agreement, tuple(ids)))
    positions = tuple(Contribution(person, f"I am {person}.") for person in people)
    vote = ConsensusVote(candidates, tuple(rankings), "c1", "schulze")
    return replace(run, consensus=Consensus(positions, vote), status="partial")


def a_debate(name: str = "debate", seed: int = 1, speeches: int = 6) -> AnnotatedRun:
    """A debate of six turns before two listeners, whose stances are random, and its two ratings.

    `name` is the id of the session. The survey is the stance on the motion from 0 to 100, which
    the two sides are not asked: `run.response` has nothing of them. With fewer than six
    `speeches` the debate broke off: it has a silence, no ratings and no stances afterwards, each
    with its reason. Raises ValueError for a number of speeches that no debate has.
    """
    if speeches not in range(7):
        raise ValueError(f"a debate has 0 to 6 speeches, not {speeches}")
    rng = random.Random(seed_of("a_debate", name, seed))
    session = _debate(name, seed)
    order = [(task, side) for task in TASKS for side in SIDES]
    turns = []
    for index, (task, side) in enumerate(order, 1):
        turns.append(Turn(index, 1 + TASKS.index(task), NAMES[side], task))
    said = [f"Madam Speaker, turn {turn.index} is a short {turn.task}." for turn in turns]
    held = [Statement(turn, text) for turn, text in zip(turns, said, strict=True)]
    whole = speeches == len(turns)
    silences = () if whole else (Silence(turns[speeches], "refusal", "I would rather not."),)
    responses = []
    for phase in PHASES:
        for listener in LISTENERS:
            asked = whole or phase == "pre"
            answers = {"S1": rng.choice(SCALE)} if asked else {}
            reasons = {} if asked else {"S1": BROKEN_OFF}
            responses.append(Response(listener, phase, answers, reasons, ("S1",)))
    return AnnotatedRun(
        session=session,
        responses=tuple(responses),
        transcript=tuple(held[:speeches]),
        status="complete" if whole else "partial",
        silences=silences,
        ratings=tuple(_rating(name, side, rng) for side in SIDES) if whole else (),
    )


def a_coded_run(name: str = "coded", seed: int = 1) -> AnnotatedRun:
    """The run of `a_run`, with random codes of its statements by an example scheme.

    It has two dimensions. Coders are two models, their ensemble and a person, who left out the
    first statement.
    """
    rng = random.Random(seed_of("a_coded_run", name, seed))
    run = a_run(name, seed=seed)
    codes = []
    for statement in run.transcript:
        text = f"{name}/{statement.turn.index}"
        for dimension in SCHEME.dimensions:
            for coder, kind in CODERS.items():
                if kind == "human" and statement.turn.index == 1:
                    codes.append(_not_given(text, dimension.id, coder))
                else:
                    level = rng.choice(dimension.values)
                    codes.append(Code(text, dimension.id, coder, kind, level))
    return annotated(run, codes=((SCHEME, tuple(codes)),))


def _not_given(text: str, dimension: str, coder: str) -> Code:
    return Code(text, dimension, coder, "human", None, Reason("not_given"))


def _survey() -> Survey:
    items = []
    for i in range(1, 7):
        items.append(Item(f"C{i}", "consideration", f"Consideration number {i} matters here."))
    items += [Item(f"P{i}", "preference", f"Policy option number {i}.") for i in range(1, 5)]
    return Survey("example", tuple(items))


def _debate(name: str, seed: int) -> Session:
    motion = Motion("example", "This House would do what should be done.")
    sides = [Participant(NAMES[side], role=side) for side in SIDES]
    listeners = [Participant(listener, role=AUDIENCE) for listener in LISTENERS]
    return Session(
        id=name,
        topic=motion.topic,
        survey=motion.survey,
        participants=(*sides, *listeners),
        treatment=Treatment("oxford", "Debate the motion.", rounds=3),
        format=DEBATE.name,
        wording=Wording("example", {}),
        seed=seed,
        procedure=Procedure(rules=Rules(), words=None),
    )


def _rating(name: str, first: Side, rng: random.Random) -> Rating:
    """What a rater said who knew this side as Speaker A."""
    proposition = {dimension: rng.choice(SCALE) for dimension in DIMENSIONS}
    opposition = {dimension: rng.choice(SCALE) for dimension in DIMENSIONS}
    return Rating(
        session=name,
        rater=f"example {1 + SIDES.index(first)}",
        first=first,
        before=rng.choice(SCALE),
        proposition=proposition,
        opposition=opposition,
        winner=rng.choice(SIDES),
        after=rng.choice(SCALE),
        attentive=True,
    )
