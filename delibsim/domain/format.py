"""Formats of sessions, and designs of tournaments: who debates whom on what, and on which side."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput, phrase, unknown
from delibsim.domain.participant import Participant
from delibsim.domain.seed import seed_of
from delibsim.domain.transcript import PREPARATION, Turn


@dataclass(frozen=True)
class Format:
    """What is known of a format by its `name`, which is `Session.format`.

    `subject` is the tag of the block that states the topic or the motion in a prompt; `tasks` are
    the tasks of its turns, each with a text of the wording. `sides` are the roles that speak
    against each other: they are not surveyed, their speeches keep to rules, and raters judge them;
    () where all participants are alike. `roles` have a text of the wording of their own.
    `own_survey`: the survey is the stance on the motion, so nobody chooses an instrument, and no
    measure of groups is defined on it. `texts` are those that a wording needs, `optional_texts`
    those that it may have, and `fields` the fields that are filled in, by text.
    """

    name: str
    subject: str
    tasks: tuple[str, ...]
    texts: tuple[str, ...]
    fields: Mapping[str, tuple[str, ...]]
    optional_texts: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    own_survey: bool = False

    @property
    def circumstance(self) -> str:
        """The circumstance under which models may declare settings to be without effect on them.

        >>> DEBATE.circumstance
        'in a debate'
        """
        return f"in a {self.name}"

    @property
    def speeches(self) -> int:
        """How many speeches the sides give: one for each task and side; 0 without sides.

        >>> DEBATE.speeches, DELIBERATION.speeches
        (6, 0)
        """
        return len(self.tasks) * len(self.sides)

    def turns(
        self, people: Sequence[Participant], rounds: int, preparation: bool = False
    ) -> tuple[Turn, ...]:
        """The turns that are planned, in order.

        Without sides everybody speaks once a round, here in the order of seats, which a session
        draws anew. With sides only they speak, once for each task, after notes of each where there
        is a `preparation`; `rounds` has no meaning there.
        """
        speakers = [person.id for person in people]
        numbered = [(round_, self.tasks[0]) for round_ in range(1, rounds + 1)]
        if self.sides:
            own = {person.role: person.id for person in people}
            speakers = [own[side] for side in self.sides if side in own]
            numbered = list(enumerate(self.tasks, 1))
            if preparation:
                numbered.insert(0, (0, PREPARATION))
        turns: list[Turn] = []
        for round_, task in numbered:
            for speaker in speakers:
                turns.append(Turn(len(turns) + 1, round_, speaker, task))
        return tuple(turns)

    def surveyed(self, role: str) -> bool:
        """Whether those in this role answer the survey."""
        return role not in self.sides

    def heading(self, turn: Turn) -> str:
        """The heading of the round that a turn belongs to.

        >>> DELIBERATION.heading(Turn(1, 2, "Ann")), DEBATE.heading(Turn(1, 1, "Ann", "opening"))
        ('Round 2', 'Opening')
        """
        if not self.sides and not turn.round:
            return "Before the rounds"
        return turn.task.capitalize() if self.sides else f"Round {turn.round}"


DELIBERATION, DEBATE = (Format(**entry) for entry in read_data("formats.yaml"))
FORMATS: Mapping[str, Format] = {known.name: known for known in (DELIBERATION, DEBATE)}


def format_named(name: str) -> Format:
    """What is known of a format; WrongInput, with the closest names, if there is none.

    >>> format_named("debate") is DEBATE
    True
    """
    if name not in FORMATS:
        raise unknown("format", name, FORMATS)
    return FORMATS[name]


DESIGNS = ("round_robin", "against_baseline")


@dataclass(frozen=True)
class Match:
    """One debate of a tournament: a motion and the debaters of both sides.

    `replicate` counts equal ones from 1.
    """

    motion: str
    proposition: str
    opposition: str
    replicate: int = 1


def round_robin(
    debaters: Sequence[str], motions: Sequence[str], meetings: int | None = None, seed: int = 0
) -> tuple[Match, ...]:
    """Everybody against everybody else, half of the `meetings` of a pair with sides exchanged.

    By default a pair meets once on every motion, or twice (on both sides) where the number of
    motions is odd. Every motion is debated equally often, and every debater is equally often on
    each side. The draw depends on the names and the seed alone. Raises WrongInput, naming the
    nearest numbers that can be balanced, where that is impossible.
    """
    _refuse_repeated("debaters", debaters, 2)
    return _balanced(list(combinations(sorted(debaters), 2)), motions, meetings, seed)


def against_baseline(
    baseline: str,
    challengers: Sequence[str],
    motions: Sequence[str],
    meetings: int | None = None,
    seed: int = 0,
) -> tuple[Match, ...]:
    """Every challenger against one baseline, and nobody else; balanced as in `round_robin`."""
    _refuse_repeated("challengers", challengers, 1)
    if baseline in challengers:
        raise WrongInput(
            f"the baseline '{baseline}' cannot challenge itself: take it out of the debaters"
        )
    return _balanced(
        [(baseline, challenger) for challenger in sorted(challengers)], motions, meetings, seed
    )


def _balanced(
    pairs: list[tuple[str, str]], motions: Sequence[str], meetings: int | None, seed: int
) -> tuple[Match, ...]:
    """Deal out the motions over the meetings in a circle, with the sides exchanged each time."""
    _refuse_repeated("motions", motions, 1)
    n = len(motions)
    if meetings is None:
        meetings = n if n % 2 == 0 else 2 * n
    if not _can_balance(meetings, len(pairs), n):
        raise WrongInput(_refusal(meetings, len(pairs), n))
    names = [name for pair in pairs for name in pair]
    rng = random.Random(seed_of("tournament", seed, *sorted(motions), *names))
    dealt = rng.sample(sorted(motions), n)
    rng.shuffle(pairs)
    counts: Counter[tuple[str, str, str]] = Counter()
    matches = []
    for i, pair in enumerate(pairs):
        turned = rng.randrange(2)
        for meeting in range(meetings):
            # A second pass over the motions takes the other side of each.
            first = (meeting % n + meeting // n + turned) % 2
            held = dealt[(i * meetings + meeting) % n], pair[first], pair[1 - first]
            counts[held] += 1
            matches.append(Match(*held, counts[held]))
    return tuple(matches)


def lopsided(matches: Sequence[Match]) -> str:
    """What is unbalanced in these debates, with the counts by motion and by side; else "".

    >>> lopsided([Match("voting", "a", "b"), Match("nuclear", "b", "a")])
    ''
    >>> lopsided([Match("voting", "a", "b")])
    'debates by side (proposition, opposition): a 1, 0; b 0, 1'
    """
    motions = Counter(match.motion for match in matches)
    proposing = Counter(match.proposition for match in matches)
    opposing = Counter(match.opposition for match in matches)
    found = []
    if len(set(motions.values())) > 1:
        counts = ", ".join(f"{name} {n}" for name, n in sorted(motions.items()))
        found.append(f"debates by motion: {counts}")
    if proposing != opposing:
        names = sorted({*proposing, *opposing})
        sides = "; ".join(f"{name} {proposing[name]}, {opposing[name]}" for name in names)
        found.append(f"debates by side (proposition, opposition): {sides}")
    return "; ".join(found)


def _can_balance(meetings: int, pairs: int, motions: int) -> bool:
    return meetings > 0 and meetings % 2 == 0 and pairs * meetings % motions == 0


def _refusal(meetings: int, pairs: int, motions: int) -> str:
    """Why a design cannot be balanced, and the nearest numbers of meetings that can."""
    start = max(meetings, 0)
    fewer = range(meetings - 1, 0, -1)
    more = range(start + 1, start + 2 * motions + 2)
    nearest = []
    for numbers in (fewer, more):
        possible = [k for k in numbers if _can_balance(k, pairs, motions)]
        nearest += [str(k) for k in possible[:1]]
    if meetings % 2 or meetings < 1:
        times = f"{meetings} meeting{'' if meetings == 1 else 's'} of a pair"
        why = f"{times} cannot be split evenly between the sides"
    else:
        counted = f"{pairs} pair{'' if pairs == 1 else 's'} meeting {meetings} times"
        debates = f"{counted} are {pairs * meetings} debates"
        why = f"{debates}, not equally many on each of {motions} motions"
    return phrase("tournament_unbalanced", why=why, listed=" or ".join(nearest))


def _refuse_repeated(what: str, names: Sequence[str], least: int) -> None:
    twice = sorted(name for name, n in Counter(names).items() if n > 1)
    if twice:
        raise WrongInput(f"{what}: '{twice[0]}' is named twice; name each once")
    if len(names) < least:
        raise WrongInput(f"{what}: at least {least} must be named, not {len(names)}")
