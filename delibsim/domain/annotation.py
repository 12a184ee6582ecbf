"""Annotation on paper: a finished text, the panel of coders who are asked about it, one reply, and
a run with what was said of it; and ratings of debates: what one rater, who does not know who
debates, says about one debate.
"""

import hashlib
import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from delibsim.domain.coding import Code
from delibsim.domain.comparison import TextScore
from delibsim.domain.errors import WrongInput
from delibsim.domain.participant import SIDES, Participant, Side
from delibsim.domain.reason import Reason
from delibsim.domain.run import Run
from delibsim.domain.scheme import Scheme
from delibsim.domain.seed import seed_of
from delibsim.domain.text import in_short
from delibsim.domain.transcript import PREPARATION, Statement
from delibsim.domain.treatment import Wording


@dataclass(frozen=True)
class Text:
    """A finished text under its name: a transcript, a profile, a statement, a row of a file.

    `group` names what it belongs to (a session, a topic, a speaker), so that texts of one group
    are drawn together; `context` holds what came before it, the oldest first; `source` says where
    it comes from ("statement", "speaker", the name of a file). `facts` are the other columns of its
    row, by name; coders are never shown them. An opinion may say who holds it (`author`), what the
    person is for (`stance`) and whether that is the view of few (`minority`); "" where it is not
    known.
    """

    id: str
    text: str
    group: str = ""
    context: tuple[str, ...] = ()
    source: str = ""
    facts: Mapping[str, str] = field(default_factory=dict, hash=False)
    author: str = ""
    stance: str = ""
    minority: str = ""

    __repr__ = in_short

    @property
    def sha256(self) -> str:
        """SHA-256 of the text, word for word.

        >>> Text("t1", "We should.").sha256[:8]
        'd243b1b6'
        """
        return hashlib.sha256(self.text.encode(errors="surrogatepass")).hexdigest()


Unit = Text
"""What a coder sees at once: so far one text in every task."""


@dataclass(frozen=True)
class Coder:
    """One member of a panel or pack; `index` counts from 1.

    `model` names the language model, "" for a person; `persona` is what the model is told it is.
    """

    panel: str
    index: int
    model: str = ""
    persona: str = ""

    @property
    def id(self) -> str:
        """The coder's name in records and tables, unique within a study.

        >>> Coder("gpt_5_versus_human_judge", 3).id
        'gpt_5_versus_human_judge 3'
        """
        return f"{self.panel} {self.index}"

    @property
    def neutral_name(self) -> str:
        """The coder's name in prompts and on paper, which says nothing of its panel.

        >>> Coder("gpt_5_versus_human_judge", 3).neutral_name
        'Rater 3'
        """
        return f"Rater {self.index}"


@dataclass(frozen=True)
class Panel:
    """Coders who are asked alike: under one wording, by models of these settings.

    `models` gives the settings of every model that a coder names. `reasks` says how often a coder
    is asked again after an unreadable reply. Raises ValueError for a name that could not stand in
    a prompt, and for coders of another panel.
    """

    name: str
    coders: tuple[Coder, ...]
    models: Mapping[str, Mapping[str, Any]]
    wording: Wording
    reasks: int = 3

    __repr__ = in_short

    def __post_init__(self) -> None:
        """Refuse a name that is no printable line, and coders that are not this panel's."""
        Participant(self.name)  # a coder's name heads its prompts like a participant's
        if any(coder.panel != self.name for coder in self.coders):
            raise ValueError(f"panel '{self.name}' holds coders of another panel")


@dataclass(frozen=True)
class Annotation:
    """The reply of one coder about one unit, as it was read.

    `value` is what was read from the reply. Where nothing could be read it is None; then `status`
    is that of the last completion, and `detail` says what was wrong.
    """

    unit: str
    model: str
    value: Any
    status: str = "ok"
    detail: str = ""

    __repr__ = in_short

    @property
    def reason(self) -> Reason:
        """Why there is no value.

        >>> str(Annotation("debate", "citizen", None, "refusal", "no").reason)
        'refusal: no'
        """
        return Reason.of_call(self.status, self.detail)


@dataclass(frozen=True)
class Showing:
    """One debate before one rater; `first` is the side that the rater knows as Speaker A."""

    debate: str
    first: Side


Allocation = Mapping[str, tuple[Showing, ...]]
"""The debates of every rater by name, in the order in which they are shown."""


def allocate(
    motions: Mapping[str, str],
    raters: Sequence[str],
    each: int,
    seed: int,
    earlier: Allocation | None = None,
) -> dict[str, tuple[Showing, ...]]:
    """So many debates for each rater, one after the other; a rater who has debates keeps them.

    `motions` holds the motion of every debate by the debate's name. Each rater gets the debates
    that the fewest raters have, so that these numbers never differ by more than one; among them one
    of each motion before a second of any; shown early where they were shown late so far; and
    Speaker A is each side in turn. A larger number of raters leaves the debates of the first ones
    as they are. The draw depends on the seed and on the names alone. Raises WrongInput for a number
    of debates that a rater cannot have.
    """
    if not 1 <= each <= len(motions):
        most = f"at most all {len(motions)} that are complete"
        raise WrongInput(f"each rater rates at least 1 debate and {most}, not {each}")
    allocation = dict(earlier or {})
    tally = _Tally()
    for showings in allocation.values():
        tally.add(showings)
    for rater in raters:
        if rater not in allocation:
            draw = random.Random(seed_of("allocation", seed, rater))
            chosen = _chosen(motions, each, tally, draw)
            allocation[rater] = _sided(_in_order(chosen, tally, draw), tally, draw)
            tally.add(allocation[rater])
    return allocation


class _Tally:
    """Of each debate: how often it was shown, how late, and by how much the proposition led."""

    def __init__(self) -> None:
        self.shown: Counter[str] = Counter()
        self.late: Counter[str] = Counter()
        self.lead: Counter[str] = Counter()

    def add(self, showings: Sequence[Showing]) -> None:
        """Count the debates of one more rater."""
        for place, showing in enumerate(showings):
            self.shown[showing.debate] += 1
            self.late[showing.debate] += 2 * place - len(showings) + 1
            self.lead[showing.debate] += 1 if showing.first == SIDES[0] else -1


def _chosen(motions: Mapping[str, str], each: int, tally: _Tally, draw: random.Random) -> list[str]:
    """The debates of one rater."""
    waiting = sorted(motions)
    draw.shuffle(waiting)
    chosen: list[str] = []
    seen: Counter[str] = Counter()
    lean = 0
    while len(chosen) < each:
        least = min(tally.shown[debate] for debate in waiting)
        pool = [debate for debate in waiting if tally.shown[debate] == least]
        left = Counter(motions[debate] for debate in pool)
        ranks = {}
        for debate in pool:
            motion, led = motions[debate], _sign(tally.lead[debate])
            # The side that has led less is to lead next, which should even out what this rater
            # sees.
            ranks[debate] = (seen[motion], -left[motion], abs(lean - led))
        best = min(pool, key=ranks.__getitem__)
        waiting.remove(best)
        chosen.append(best)
        seen[motions[best]] += 1
        lean -= _sign(tally.lead[best])
    return chosen


def _in_order(chosen: Sequence[str], tally: _Tally, draw: random.Random) -> list[str]:
    """Debates that were shown late so far come early, and the other way round."""
    drawn = draw.sample(chosen, len(chosen))
    return sorted(drawn, key=lambda debate: -tally.late[debate])


def _sided(debates: Sequence[str], tally: _Tally, draw: random.Random) -> tuple[Showing, ...]:
    """Who is shown first: the side that was so less often, or else what evens out the rater."""
    signs = {debate: -_sign(tally.lead[debate]) for debate in debates}
    lean = sum(signs.values())
    for debate in draw.sample(debates, len(debates)):
        if signs[debate] == 0:
            signs[debate] = -_sign(lean) or draw.choice((1, -1))
            lean += signs[debate]
    first = {1: SIDES[0], -1: SIDES[1]}
    return tuple(Showing(debate, first[signs[debate]]) for debate in debates)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


DIMENSIONS = (
    "knowledge", "confidence", "clarity", "logic", "formality", "evidence",
    "engaging", "originality", "rebuttal", "convincing", "performance",
)  # fmt: skip
"""What each side is rated on, from 0 to 100; `performance` is the overall judgment of the other
ten.
"""
SCALE = range(101)


@dataclass(frozen=True)
class Rating:
    """One rater's judgment of one debate.

    `rater` is the rater's name in the study, `panel` the panel or pack that it belongs to. `first`
    is the side that the rater knew as Speaker A. `before` and `after` are stances on the motion
    (0 to 100); `proposition` and `opposition` hold a whole number from 0 to 100 for each dimension.
    What was not given is None, or an absent key, and `missing` says why under its name ("before",
    "winner", "proposition.logic"). `attentive` is whether the attention check was passed, None
    where it was not answered. `source` is "model" or "human"; `model` names the language model.
    `debate_sha256` is the `digest` of what was rated, "" if it was not kept. Raises ValueError for
    what no rater can say.
    """

    session: str
    rater: str
    first: Side
    before: int | None = None
    proposition: Mapping[str, int] = field(default_factory=dict)
    opposition: Mapping[str, int] = field(default_factory=dict)
    winner: Side | None = None
    after: int | None = None
    attentive: bool | None = None
    missing: Mapping[str, Reason] = field(default_factory=dict)
    source: Literal["model", "human"] = "human"
    model: str = ""
    debate_sha256: str = ""
    panel: str = ""

    def __post_init__(self) -> None:
        """Refuse a value off the scale, an unknown dimension, and a gap without a reason."""
        values = {"before": self.before, "after": self.after}
        for side in SIDES:
            given = self.of(side)
            unknown = sorted(set(given) - set(DIMENSIONS))
            if unknown:
                known = ", ".join(DIMENSIONS)
                raise ValueError(f"{unknown[0]} is no dimension; dimensions are {known}")
            values |= {f"{side}.{dimension}": given.get(dimension) for dimension in DIMENSIONS}
        for name, value in values.items():
            if value is not None and value not in SCALE:
                raise ValueError(f"{name} is {value}, outside 0 to 100")
        absent = {name for name, value in values.items() if value is None}
        if self.winner is None:
            absent.add("winner")
        if absent != set(self.missing) - {"attentive"}:
            place, named = f"{self.session}, {self.rater}", sorted(absent)
            raise ValueError(
                f"{place}: what is missing must have a reason, and nothing else: {named}"
            )

    @property
    def key(self) -> tuple[str, str]:
        """What no two ratings of a study share."""
        return self.session, self.rater

    def of(self, side: Side) -> Mapping[str, int]:
        """The ratings of one side by dimension."""
        return self.proposition if side == "proposition" else self.opposition


def sides_by_letter(first: Side) -> dict[str, Side]:
    """The sides that a rater knows as Speaker A and Speaker B, where `first` is Speaker A.

    >>> sides_by_letter("opposition")
    {'A': 'opposition', 'B': 'proposition'}
    """
    second = SIDES[1] if first == SIDES[0] else SIDES[0]
    return {"A": first, "B": second}


def debated(run: Run) -> bool:
    """Whether a run is a debate in which all speeches were given: only these are rated."""
    expected = run.session.kind.speeches
    return expected > 0 and not run.silences and len(speeches_of(run)) == expected


def speeches_of(run: Run) -> list[Statement]:
    """The speeches of a debate in their order; the notes before it are left out."""
    return [said for said in run.transcript if said.turn.task != PREPARATION]


def digest(run: Run) -> str:
    """SHA-256 of what raters judge in a debate: the motion, and every speech with its side, as
    JSON.
    """
    sides = {participant.id: participant.role for participant in run.session.participants}
    speeches = [[sides[said.turn.speaker], said.text] for said in speeches_of(run)]
    return hashlib.sha256(json.dumps([run.session.topic.question, speeches]).encode()).hexdigest()


@dataclass(frozen=True)
class AnnotatedRun(Run):
    """A run together with what was said of its texts, as scorers and the analysis read it.

    Of a debate `ratings`, and in `wordings` what each panel and pack read, where it was kept;
    `codes` by every scheme, of which the text is the id of a statement, of a speaker or of the
    whole; and the scores of its texts in comparisons (`compared`).
    """

    ratings: tuple[Rating, ...] = ()
    wordings: Mapping[str, str] = field(default_factory=dict)
    codes: tuple[tuple[Scheme, tuple[Code, ...]], ...] = ()
    compared: tuple[TextScore, ...] = ()

    __repr__ = in_short

    def __post_init__(self) -> None:
        """Refuse a rating of another debate, and two of one rater."""
        super().__post_init__()
        raters = [rating.rater for rating in self.ratings]
        strange = any(rating.session != self.session.id for rating in self.ratings)
        if strange or len(set(raters)) < len(raters):
            raise ValueError(
                f"{self.session.id}: ratings must be of this debate, one from each rater"
            )

    @property
    def panels(self) -> dict[str, str]:
        """The panels and packs that rated this debate, each with its source."""
        return {rating.panel: rating.source for rating in self.ratings}

    @property
    def edited(self) -> bool:
        """Whether the debate is another than one that was rated."""
        return any(rating.debate_sha256 not in ("", digest(self)) for rating in self.ratings)


def annotated(run: Run, **answers: Any) -> AnnotatedRun:
    """A run with these answers, and with those that it has."""
    fields = {name: getattr(run, name) for name in run.__dataclass_fields__}
    return AnnotatedRun(**fields | answers)
