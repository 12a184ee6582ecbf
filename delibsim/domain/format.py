"""Formats of sessions: what tells a deliberation and a debate apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from delibsim.domain.errors import unknown
from delibsim.domain.participant import AUDIENCE, SIDES, Participant
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
        return turn.task.capitalize() if self.sides else f"Round {turn.round}"


DELIBERATION = Format(
    name="deliberation",
    subject="topic",
    tasks=("speak",),
    texts=(
        "setting",
        "persona",
        "you",
        "transcript",
        "survey_pre",
        "survey_post",
        "answers",
        "recall",
        "considerations",
        "preferences",
        "speak",
        "reask",
    ),
    optional_texts=("left_out", "words"),
    fields={
        "setting": ("group",),
        "speak": ("round", "rounds"),
        "words": ("words",),
        "reask": ("fault",),
        "left_out": ("omitted", "heard"),
    },
)
DEBATE = Format(
    name="debate",
    subject="motion",
    tasks=("opening", "rebuttal", "closing"),
    texts=(
        "setting",
        "persona",
        "you",
        *SIDES,
        AUDIENCE,
        "transcript",
        "preparation",
        "notes",
        "opening",
        "rebuttal",
        "closing",
        "survey_pre",
        "survey_post",
        "answers",
        "considerations",
        "reask",
    ),
    fields={
        "setting": ("least", "most"),
        "opening": ("least", "most"),
        "rebuttal": ("least", "most"),
        "closing": ("least", "most"),
        "reask": ("fault",),
    },
    sides=SIDES,
    roles=(*SIDES, AUDIENCE),
    own_survey=True,
)
FORMATS: Mapping[str, Format] = {known.name: known for known in (DELIBERATION, DEBATE)}


def format_named(name: str) -> Format:
    """What is known of a format; WrongInput, with the closest names, if there is none.

    >>> format_named("debate") is DEBATE
    True
    """
    if name not in FORMATS:
        raise unknown("format", name, FORMATS)
    return FORMATS[name]
