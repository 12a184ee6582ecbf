"""Hypothesis strategies for domain objects: valid by construction, as varied as the domain allows.

Import them with `from strategies import ...`: pytest puts this folder on the path (`pythonpath` in
pyproject.toml).
"""

import math

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from delibsim.domain.participant import Participant
from delibsim.domain.reason import Reason
from delibsim.domain.run import Run, Session
from delibsim.domain.score import Score
from delibsim.domain.study import slug
from delibsim.domain.survey import PHASES, Item, Response, Survey, Topic
from delibsim.domain.transcript import Silence, Statement, Turn
from delibsim.domain.treatment import Network, Procedure, Treatment, Wording

SLOW = [HealthCheck.too_slow]
quick = settings(deadline=None, max_examples=40, suppress_health_check=SLOW)
"""For properties of whole objects: without a deadline, because two busy cores are no fault of the
code.
"""

thorough = settings(deadline=None, max_examples=150, suppress_health_check=SLOW)
"""For properties of short texts."""

texts = st.text(max_size=80)
"""Any text at all."""

lines = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")),
    min_size=1,
    max_size=60,
).filter(str.strip)
"""One line of any script, not blank."""

names = lines.filter(lambda name: name == name.strip() and not name.startswith(("<", ">")))
"""Names that participants can have: they stand on a line of their own above what was said."""

words = st.lists(
    st.sampled_from(
        "river forest market church school garden engine harbour winter custom village doctor"
        " energy library".split()
    ),
    min_size=3,
    max_size=8,
).map(" ".join)
"""A few English words of content."""

speeches = (
    st.lists(st.one_of(lines, words, st.just("")), min_size=1, max_size=6)
    .map("\n".join)
    .filter(str.strip)
)
"""Speech of several lines, blank ones among them."""

either = st.booleans()

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
"""Plain JSON values."""


@st.composite
def surveys(draw, max_considerations=8, max_preferences=5, text=lines, forced=either):
    """Surveys of any size and scale, Q sorts among them; the items of both kinds may come mixed."""
    c, p = draw(st.integers(2, max_considerations)), draw(st.integers(2, max_preferences))
    low = draw(st.integers(-10, 10))
    high = low + draw(st.integers(1, 11))
    items = [
        Item(f"C{k}", "consideration", draw(text), draw(st.booleans())) for k in range(1, c + 1)
    ]
    items += [Item(f"P{k}", "preference", draw(text)) for k in range(1, p + 1)]
    distribution = None
    if draw(forced):
        places = draw(st.lists(st.integers(low, high), min_size=c, max_size=c))
        distribution = tuple(places.count(value) for value in range(low, high + 1))
    return Survey(
        id=draw(st.sampled_from(["ccps", "deliberr.acp", "tea"])),
        items=tuple(draw(st.permutations(items))),
        scale_min=low,
        scale_max=high,
        forced_distribution=distribution,
        validated=draw(st.booleans()),
        source=draw(texts),
    )


@st.composite
def answers_to(draw, survey):
    """Complete, valid answers to a survey: ratings on its scale (or in its distribution), ranks a
    permutation.
    """
    if survey.forced_distribution is None:
        ratings = [draw(st.sampled_from(survey.scale)) for _ in survey.considerations]
    else:
        slots = [
            value
            for value, n in zip(survey.scale, survey.forced_distribution, strict=True)
            for _ in range(n)
        ]
        ratings = draw(st.permutations(slots))
    ranks = draw(st.permutations(range(1, len(survey.preferences) + 1)))
    return {
        item.id: n
        for item, n in zip(
            [*survey.considerations, *survey.preferences], [*ratings, *ranks], strict=True
        )
    }


@st.composite
def answered_surveys(draw, **sizes):
    """A survey and valid answers to it."""
    survey = draw(surveys(**sizes))
    return survey, draw(answers_to(survey))


@st.composite
def sessions(draw):
    """Planned sessions with any texts, two to five seats, one or two models."""
    people = draw(st.lists(names, min_size=2, max_size=5, unique=True))
    models = draw(
        st.dictionaries(
            lines, st.dictionaries(texts, json_values, max_size=3), min_size=1, max_size=2
        )
    )
    return Session(
        id=slug(draw(lines)),
        topic=draw(st.builds(Topic, id=lines, question=texts, background=texts, survey=texts)),
        survey=draw(surveys()),
        participants=tuple(
            Participant(name, draw(texts), draw(st.sampled_from(sorted(models)))) for name in people
        ),
        treatment=draw(
            st.builds(
                Treatment,
                name=lines,
                instructions=texts,
                rounds=st.integers(0, 4),
                interaction=st.booleans(),
                paraphrase_of=st.sampled_from(["", "another treatment"]),
            )
        ),
        format="deliberation",
        wording=draw(st.builds(Wording, id=lines, texts=st.dictionaries(lines, texts, max_size=3))),
        seed=draw(st.integers(0, 2**63 - 1)),
        replicate=draw(st.integers(1, 1000)),
        procedure=draw(procedures),
        models=models,
    )


procedures = st.builds(
    Procedure,
    audience=st.builds(
        Network,
        network=st.sampled_from(["complete", "star", "ring", "small_world", "edges"]),
        neighbours=st.integers(2, 6),
        rewiring=st.floats(0, 1),
        edges=st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), max_size=4).map(tuple),
    ),
    shuffle_items=st.booleans(),
    show_transcript=st.booleans(),
    show_answers=st.booleans(),
    recall=st.booleans(),
    reasks=st.integers(0, 5),
    longest_statement=st.none() | st.integers(100, 1000),
    instructions=st.sampled_from(["turns", "everywhere"]),
    background=st.booleans(),
    words=st.none() | st.integers(1, 100),
    reverse_scale=st.sampled_from([None, "half"]),
    transcript_window=st.none() | st.integers(1, 20),
)
"""Procedures of every kind; an audience need not fit a group."""


reasons = st.builds(
    Reason, code=st.sampled_from(["refusal", "length", "unreadable"]), detail=st.just("") | lines
)
"""Why something is missing, with and without words."""


@st.composite
def runs(draw):
    """Held sessions: complete or partial, with missing answers and silences."""
    session = draw(sessions())
    responses, said, silences = [], [], []
    for phase in PHASES:
        for participant in session.participants:
            order = tuple(draw(st.permutations([item.id for item in session.survey.items])))
            if draw(st.booleans()):
                responses.append(
                    Response(
                        participant.id,
                        phase,
                        draw(answers_to(session.survey)),
                        {},
                        order,
                        draw(st.booleans()),
                    )
                )
            else:
                responses.append(
                    Response(participant.id, phase, {}, dict.fromkeys(order, draw(reasons)), order)
                )
    for index in range(1, draw(st.integers(0, 4)) + 1):
        turn = Turn(index, draw(st.integers(1, 3)), draw(st.sampled_from(session.participants)).id)
        if draw(st.booleans()):
            said.append(Statement(turn, draw(speeches)))
        else:
            silences.append(
                Silence(
                    turn, draw(st.sampled_from(["refusal", "length", "unreadable"])), draw(texts)
                )
            )
    return Run(
        session=session,
        responses=tuple(responses),
        transcript=tuple(said),
        status=draw(st.sampled_from(["complete", "partial"])),
        provenance=draw(st.dictionaries(lines, lines, max_size=2)),
        silences=tuple(silences),
        dropped=draw(
            st.none() | st.dictionaries(lines, st.lists(lines, max_size=2).map(tuple), max_size=2)
        ),
    )


scores = st.builds(
    Score,
    measure=lines,
    unit=st.sampled_from(["run", "participant", "statement", "pair"]),
    target=lines,
    value=st.floats(allow_nan=False, allow_infinity=False) | st.just(math.nan),
    phase=st.sampled_from(["", "pre", "post", "change"]),
    coder=texts,
    note=texts,
)
"""Scores of any value that is no infinity; NaN is frequent."""
