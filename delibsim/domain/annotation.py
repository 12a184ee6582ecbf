"""Annotation on paper: a finished text, the panel of coders who are asked about it, one reply, and
a run with what was said of it.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from delibsim.domain.coding import Code
from delibsim.domain.comparison import TextScore
from delibsim.domain.participant import Participant
from delibsim.domain.rating import Rating, digest
from delibsim.domain.reason import Reason
from delibsim.domain.run import Run
from delibsim.domain.scheme import Scheme
from delibsim.domain.text import in_short
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
