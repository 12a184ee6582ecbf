"""The embedded citizen: a seeded, rule-based participant that reads the prompts language models
read, and is none itself.

It is a null model of opinion dynamics (docs/citizen.md gives the equations):

    position     x_i ~ N(0, I) in `dimensions` dimensions, seeded by the population and the name, moved toward the persona,
                 or where a real participant's answers put it
    a text       v_s = the unit vector of its words, each word a fixed random direction; negations flip the sign
    attitude     a_is = x_i . v_s + u_is,   u_is ~ N(0, idiosyncrasy), seeded by the population, the name and the text
    hearing      for each sentence asserted by another, in order:  d = CONVICTION - x_i . v_s;
                 if |d| <= openness:  x_i += susceptibility * d * v_s              (bounded confidence, delta rule)
    rating       the scale's middle + half its width * (a_is + e) / 2, e ~ N(0, noise), rounded and kept on the scale
    rank         options ordered by a_is + e, the highest first
"""

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from delibsim.domain.seed import seed_of
from delibsim.domain.survey import Survey
from delibsim.domain.transcript import Statement
from delibsim.models.base import Completion, Status, Usage
from delibsim.models.citizen.debating import contribution
from delibsim.prompts.blocks import read_block, read_items, read_starting_answers, read_transcript
from delibsim.prompts.forms.survey import SurveyAnswers
from delibsim.prompts.prompt import Prompt

Vector = NDArray[np.float64]

CONVICTION = 1.5  # the attitude, in standard deviations, that an assertion expresses
NEGATIONS = frozenset(
    "not no never nor without neither cannot doubt against oppose reject disagree".split()
)
SINGLE = str.maketrans("“”", "‘’")
FILLER = frozenset(
    "about also another around because been being between both could does each even every first"
    " from have into just like made make many mind more most much must only option options other"
    " others ought over people place policy position really right said same say seen seems should"
    " since some still such than that their them then there these they thing think this those"
    " though through under until upon very want well were what when where which while will with"
    " would your yours agree believe consider convinced participant persuaded prefer what's don't"
    " can't isn't".split()
)


@dataclass(frozen=True, eq=False)
class Start:
    """Where a citizen begins: its position, by text what is its own in an attitude and not drawn,
    and the labels it answered before.
    """

    position: Vector
    own: Mapping[str, float]
    answered: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Citizen:
    """A rule-based participant, behind the same door as every language model; its equations are in
    docs/citizen.md.

    `population` seeds the people: the same number gives the same persons; None leaves it to the
    session. `susceptibility` (0 to 1) is how far one assertion moves a hearer, `openness` how
    distant an assertion may be (in standard deviations of attitude) to be considered at all,
    `noise` the error of one answer, `idiosyncrasy` what is a person's own in each attitude,
    `persona_weight` the pull of a persona, `skill` (0 to 1) how well it debates (orator.py).
    `temperature` has no meaning here and is reported as dropped.
    """

    # It reads the blocks of a prompt and no sentence around them, and draws and orders by label.
    without_effect: ClassVar[frozenset[str]] = frozenset({
        "temperature", "treatment.instructions", "wording",
        "procedure.instructions", "procedure.words", "procedure.shuffle_items", "procedure.reverse_scale",
        "procedure.show_answers",
    })  # fmt: skip

    # It debates by its skill, and moves by what others say.
    without_effect_where: ClassVar[Mapping[str, frozenset[str]]] = {
        "in a deliberation": frozenset({"skill"}),
        "where nobody speaks": frozenset({"susceptibility", "openness"}),
    }

    name: str = "citizen"
    population: int | None = None
    susceptibility: float = 0.1
    openness: float = 2.0
    noise: float = 0.4
    idiosyncrasy: float = 0.5
    persona_weight: float = 1.5
    dimensions: int = 4
    temperature: float | None = None
    skill: float = 0.5

    def __post_init__(self) -> None:
        """Refuse parameters outside their range."""
        if not isinstance(self.susceptibility, (int, float)) or not 0 <= self.susceptibility <= 1:
            raise ValueError(f"susceptibility lies between 0 and 1; given: {self.susceptibility}")
        if not isinstance(self.skill, (int, float)) or not 0 <= self.skill <= 1:
            raise ValueError(f"skill lies between 0 and 1; given: {self.skill}")
        widths = (self.openness, self.noise, self.idiosyncrasy, self.persona_weight)
        if not all(isinstance(width, (int, float)) and 0 <= width <= 1e12 for width in widths):
            raise ValueError(
                "openness, noise, idiosyncrasy and persona_weight are numbers from 0 to 1e12"
            )
        if not isinstance(self.dimensions, int) or self.dimensions < 1:
            raise ValueError(f"dimensions is a whole number from 1; given: {self.dimensions}")

    async def complete(self, prompt: Prompt, seed: int) -> Completion:
        """Answer the survey or speak, from what the messages say and nothing else."""
        text = "\n".join(
            message.content for message in prompt.messages if message.role != "assistant"
        )
        me = read_block("you", text)
        if me is None:
            return self._completion(
                "",
                "bad_request",
                "the prompt has no <you> block, so the citizen does not know who it is",
            )
        start = self._start(me, text)
        attitude = self._attitude(me, self._position(me, text, start.position), start.own)
        if isinstance(prompt.reply, SurveyAnswers):
            return self._completion(
                self._answer(prompt.reply, text, attitude, seed, start.answered)
            )
        if (motion := read_block("motion", text)) is not None:
            return self._completion(
                contribution(
                    me, motion, text, attitude, self.skill, prompt.reply, seed_of(seed, self.name)
                )
            )
        return self._completion(self._speak(me, text, attitude))

    def _completion(self, text: str, status: Status = "ok", detail: str = "") -> Completion:
        return Completion(
            text=text,
            status=status,
            detail=detail,
            usage=Usage(
                input_tokens=0, cached_tokens=0, output_tokens=0, reasoning_tokens=0, cost_usd=0.0
            ),
            model_requested=self.name,
            model_returned="delibsim.citizen (rule-based)",
            parameters_dropped=() if self.temperature is None else ("temperature",),
            finish_reason="stop",
        )

    def _start(self, me: str, text: str) -> "Start":
        """Where this person stands before it hears anybody: drawn, and moved by a persona; or
        fitted to a real participant's answers.
        """
        persona = read_block("persona", text) or ""
        items = read_items("considerations", text) | read_items("preferences", text)
        if (given := read_starting_answers(persona)) and (
            known := {k: v for k, v in given[0].items() if k in items}
        ):
            options = read_items("preferences", text)
            return self._fitted(
                {k: v for k, v in known.items() if k not in options},
                {k: known[k] for k in options},
                given[1],
                items,
            )
        x = _rng(self.population or 0, me).standard_normal(self.dimensions)
        if not persona:
            return Start(x, {})
        stances = quoted_stances(persona)
        x = x + self.persona_weight * (
            _leaning(stances, self.dimensions) if stances else meaning(persona, self.dimensions)
        )
        # What a persona says of a text, it feels about that text, whatever words the text shares
        # with others.
        taken = {item: stances[_bare(item)] for item in items.values() if _bare(item) in stances}
        return Start(
            x,
            {
                item: self.persona_weight * sign + self._idiosyncrasy(me, item)
                for item, sign in taken.items()
            },
        )

    def _fitted(
        self,
        ratings: Mapping[str, int],
        ranks: Mapping[str, int],
        scale: tuple[int, int],
        items: Mapping[str, str],
    ) -> "Start":
        """The position most probable under answers without error, and what is left of each attitude
        as the person's own.
        """
        middle, half = (scale[0] + scale[1]) / 2, (scale[1] - scale[0]) / 2
        attitudes = {label: 2 * (rating - middle) / half for label, rating in ratings.items()}
        attitudes |= {
            label: 2 * (1 - 2 * (rank - 1) / max(len(ranks) - 1, 1))
            for label, rank in ranks.items()
        }
        v = np.array([meaning(items[label], self.dimensions) for label in attitudes])
        a = np.array(list(attitudes.values()))
        # Ridge regression: the posterior mean under x ~ N(0, I) and what is one's own ~ N(0,
        # idiosyncrasy).
        x = np.linalg.solve(
            v.T @ v + max(self.idiosyncrasy, 1e-3) ** 2 * np.eye(self.dimensions), v.T @ a
        )
        own = {
            items[label]: float(felt - x @ meaning(items[label], self.dimensions))
            for label, felt in attitudes.items()
        }
        return Start(x, own, frozenset(attitudes))

    def _position(self, me: str, text: str, start: Vector) -> Vector:
        """Where this person stands after everything it has heard."""
        x = start
        for statement in read_transcript(text):
            if statement.turn.speaker != me:
                for sentence in sentences(statement.text):
                    v = meaning(sentence, self.dimensions)
                    distance = CONVICTION - x @ v
                    if v.any() and abs(distance) <= self.openness:
                        x = x + self.susceptibility * distance * v
        return x

    def _idiosyncrasy(self, me: str, text: str) -> float:
        return float(_rng(self.population or 0, me, text).normal(0, self.idiosyncrasy))

    def _attitude(
        self, me: str, position: Vector, own: Mapping[str, float]
    ) -> Callable[[str], float]:
        """The attitude of a person in this position toward a text; `own` is what is its own where
        that is not drawn.
        """

        def attitude(text: str) -> float:
            return float(
                position @ meaning(text, self.dimensions)
                + (own[text] if text in own else self._idiosyncrasy(me, text))
            )

        return attitude

    def _answer(
        self,
        form: SurveyAnswers,
        text: str,
        attitude: Callable[[str], float],
        seed: int,
        answered: frozenset[str],
    ) -> str:
        survey, rng = form.survey, np.random.default_rng(seed)
        # Noise is drawn by label, so that the order in which items are shown changes no answer.
        errors = dict(
            zip(
                sorted(item.id for item in survey.items),
                rng.normal(0, self.noise, len(survey.items)),
                strict=True,
            )
        )
        # A real participant's answers hold that person's error already.
        errors |= dict.fromkeys(answered, 0.0)
        felt = {k: attitude(v) + errors[k] for k, v in read_items("considerations", text).items()}
        wanted = {k: attitude(v) + errors[k] for k, v in read_items("preferences", text).items()}
        ranked = sorted(wanted, key=lambda label: (-wanted[label], label))
        answers = {
            **_ratings(felt, survey),
            **{label: rank for rank, label in enumerate(ranked, 1)},
        }
        answers = survey.mirrored(answers) if form.reversed else answers
        return "\n".join(f"{label}: {answers[label]}" for label in [*felt, *wanted])

    def _speak(self, me: str, text: str, attitude: Callable[[str], float]) -> str:
        """A reply to the last other speaker, the two strongest considerations not yet spoken for,
        and the favourite option.
        """
        considerations = list(read_items("considerations", text).values()) or sentences(
            read_block("topic", text) or ""
        )
        heard = read_transcript(text)
        said = " ".join(statement.text for statement in heard if statement.turn.speaker == me)
        lines = _replies([s for s in heard if s.turn.speaker != me], considerations, attitude)
        fresh = [c for c in considerations if _quote(c) not in said + "".join(lines)]
        for opening, c in zip(
            ("To my mind", "What is more,"),
            sorted(fresh, key=lambda c: (-abs(attitude(c)), c))[:2],
            strict=False,
        ):
            lines.append(
                f"{opening} {'it is true that' if attitude(c) >= 0 else 'it is not true that'}"
                f" {_quote(c)}."
            )
        if options := list(read_items("preferences", text).values()):
            lines.append(
                f"Of the options I would put first {_quote(max(sorted(options), key=attitude))}."
            )
        return " ".join(lines) or "I have nothing to add."


def _replies(
    others: list[Statement], considerations: list[str], attitude: Callable[[str], float]
) -> list[str]:
    """One sentence to the last other speaker, by name, about a consideration it named, if it named
    one.
    """
    if not others:
        return []
    last = others[-1]
    named = {
        c: before
        for c in considerations
        for before, found, _ in [last.text.partition(_quote(c))]
        if found
    }
    if not named:
        return [f"I have listened to {last.turn.speaker}."]
    point = max(sorted(named), key=lambda c: abs(attitude(c)))
    holds, held = (
        attitude(point) >= 0,
        not NEGATIONS & set(_words(re.split(r"[.!?]\s", named[point])[-1])),
    )
    verdict = f"Like {last.turn.speaker}," if holds == held else f"Unlike {last.turn.speaker},"
    return [f"{verdict} I {'hold' if holds else 'do not hold'} that {_quote(point)}."]


def _ratings(felt: Mapping[str, float], survey: Survey) -> dict[str, int]:
    """Attitudes on the survey's scale, or sorted into its forced distribution."""
    if survey.forced_distribution is not None:
        slots = [
            value
            for value, n in zip(survey.scale, survey.forced_distribution, strict=True)
            for _ in range(n)
        ]
        return dict(zip(sorted(felt, key=lambda label: (felt[label], label)), slots, strict=False))
    middle, half = (
        (survey.scale_min + survey.scale_max) / 2,
        (survey.scale_max - survey.scale_min) / 2,
    )
    return {
        k: int(np.clip(np.floor(middle + half * a / 2 + 0.5), survey.scale_min, survey.scale_max))
        for k, a in felt.items()
    }


def sentences(text: str) -> list[str]:
    """The sentences of a text that say enough to be heard: three words of content or more.

    >>> sentences("I see. Rivers need wide banks with trees.")
    ['Rivers need wide banks with trees.']
    """
    found = (part.strip() for part in re.split(r"(?<=[.!?])\s+|\n+", text))
    return [part for part in found if len(_content(part)) >= 3]


def quoted_stances(persona: str) -> dict[str, int]:
    """What a persona quotes in “ ”, without its final stop: 1, or -1 where the words before it in
    its sentence say less, or negate.

    >>> quoted_stances("You agree more with “Rivers need banks.” You agree less with “Walls are safe.”")
    {'Rivers need banks': 1, 'Walls are safe': -1}
    """
    stances = {}
    for match in re.finditer(r"([^“”.!?]*)“([^“”]+)”", persona):
        before = _words(match[1])
        stances[_bare(match[2])] = -1 if "less" in before or NEGATIONS & set(before) else 1
    return stances


def _bare(text: str) -> str:
    """A text as it can be quoted: in one line, without its final stop, its own quotation marks made
    single ones.
    """
    return " ".join(text.split()).rstrip(".").translate(SINGLE)


def _leaning(stances: Mapping[str, int], dimensions: int) -> Vector:
    """The direction of several texts one is for (1) or against (-1): the unit sum of theirs."""
    total = np.sum([sign * meaning(text, dimensions) for text, sign in stances.items()], axis=0)
    length = float(np.linalg.norm(total))
    return total / length if length else total


@functools.lru_cache(maxsize=20_000)
def meaning(text: str, dimensions: int) -> Vector:
    """The direction of a text: the unit sum of its words' fixed random directions, reversed by an
    odd number of negations.

    A text without content words has the zero vector. Shape (dimensions,).
    """
    total = np.zeros(dimensions)
    for stem in _content(text):
        total = total + _direction(stem, dimensions)
    negated = sum(word in NEGATIONS for word in _words(text)) % 2
    length = float(np.linalg.norm(total))
    sign = -1 if negated else 1
    vector = total / length * sign if length else total
    vector.setflags(write=False)
    return vector


@functools.lru_cache(maxsize=50_000)
def _direction(stem: str, dimensions: int) -> Vector:
    return _rng("word", stem).standard_normal(dimensions)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?", text.lower())


def _content(text: str) -> list[str]:
    """Stems (first six letters) of the words that carry meaning; short words, filler and negations
    do not.
    """
    return [
        word[:6]
        for word in _words(text)
        if len(word) > 3 and word not in FILLER and word not in NEGATIONS
    ]


def _quote(sentence: str) -> str:
    """A sentence in quotation marks, without its final stop."""
    return f"“{' '.join(sentence.split()).rstrip('.')}”"


def _rng(*names: str | int) -> np.random.Generator:
    return np.random.default_rng(seed_of(*names))
