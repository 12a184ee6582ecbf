"""What people deliberate about: a topic, or a motion to be debated."""

from dataclasses import dataclass

from delibsim.domain.survey import Item, Survey


@dataclass(frozen=True)
class Topic:
    """A question put to an assembly, with its neutral background.

    `survey` is the id of the survey that goes with it by default.
    """

    id: str
    question: str
    background: str = ""
    survey: str = ""


@dataclass(frozen=True)
class Motion:
    """A sentence that one side of a debate proposes and the other opposes.

    `tournament`: whether a tournament that names no motions takes this one.
    """

    id: str
    text: str
    theme: str = ""
    tournament: bool = True

    @property
    def topic(self) -> Topic:
        """The motion as the topic of a session."""
        return Topic(self.id, self.text)

    @property
    def survey(self) -> Survey:
        """The stance survey of a debate: the motion as one consideration, rated from 0 to 100."""
        item = Item("S1", "consideration", self.text)
        return Survey(f"stance_{self.id}", (item,), 0, 100)
