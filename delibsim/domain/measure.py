"""What is known of a measure, and the catalogue of all measures that the built-in scorers give."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf

from delibsim.domain.rating import DIMENSIONS

SCORE_PHASES = ("pre", "post", "change")
"""The phases of scores; those of a survey are `domain.survey.PHASES`."""
HEADINGS = {"pre": "before", "post": "after", "change": "change"}
"""The phases as they are printed."""
CHANGE = ("change",)
BEFORE_AND_AFTER = ("pre", "post")
ANY = (-inf, inf)


@dataclass(frozen=True, kw_only=True)
class Measure:
    """One measure: what its scores are called, what they mean and how they may be shown.

    `id` is the name in scores, `label` the name in tables for readers, `definition` one sentence
    and `source` where a reader finds the formula: a DOI, a URL or a page of the docs, several
    joined by "; ". `unit` is that of the value, "" for a number without unit. `range` holds the
    lowest and the highest value, of the change only where there is nothing but a change; an end
    that is not known or depends on the instrument is infinite. `phases` are those of the scores,
    none for what has no phase. `signed` is False for a change that is no difference of two phases
    and is printed without a sign. `comparable` says whether values of different instruments may
    stand side by side, `human_reference` whether values of real people are known, `in_summary`
    whether `delibsim run` prints the measure in its table. Raises ValueError for an empty text,
    an unknown phase and a range whose ends are the wrong way round.
    """

    id: str
    label: str
    definition: str
    source: str
    unit: str = ""
    range: tuple[float, float] = ANY
    phases: tuple[str, ...] = SCORE_PHASES
    signed: bool = True
    comparable: bool = False
    human_reference: bool = False
    in_summary: bool = True

    def __post_init__(self) -> None:
        """Refuse what no table could show."""
        for name in ("id", "label", "definition", "source"):
            if not getattr(self, name).strip():
                raise ValueError(f"measure {self.id!r}: {name} is empty")
        unknown = [phase for phase in self.phases if phase not in SCORE_PHASES]
        if unknown:
            raise ValueError(f"measure {self.id!r}: unknown phase {unknown[0]!r}")
        low, high = self.range
        if not low < high:
            raise ValueError(f"measure {self.id!r}: the range {low:g} to {high:g} is empty")

    def holds(self, value: float, phase: str = "") -> bool:
        """Whether a value lies in the range; a change may be as large as the range is wide.

        >>> MEASURES["dri"].holds(1.5, "post"), MEASURES["dri"].holds(1.5, "change")
        (False, True)
        """
        low, high = self.range
        if phase == "change" and self.phases != CHANGE:
            low, high = low - high, high - low
        return low - ROUNDING <= value <= high + ROUNDING


ROUNDING = 1e-9
"""How far rounding may carry a value beyond its range."""

DRI = "docs/measures.md#deliberative-reason-index"
PLAIN = "Niemeyer and Veri 2022, doi:10.1093/oso/9780192848925.003.0007"
IN_USE = "Niemeyer et al. 2024, doi:10.1017/S0003055423000023"
ADJUSTED = "Kreia Umbelino and Veri 2025, doi:10.32614/CRAN.package.deliberr"
SPEARMAN = "Spearman 1904, doi:10.2307/1412159"
KENDALL = "Kendall 1945, doi:10.1093/biomet/33.3.239"
AGREEMENT = "docs/measures.md#agreement"
DIVERSITY = "docs/measures.md#perspective-diversity"
FLAGS = "docs/measures.md#flags"
DEBATES = "docs/measures.md#debates"
CONSENSUS = "docs/consensus.md#measures"
AQUA = "Behrendt et al. 2024, https://aclanthology.org/2024.delite-1.1"

_DRI = (
    Measure(
        id="dri",
        label="Deliberative Reason Index",
        definition="1 - 2 x mean over pairs of the absolute difference of both rank correlations.",
        source=f"{PLAIN}; {IN_USE}",
        range=(-3, 1),
        comparable=True,
        human_reference=True,
    ),
    Measure(
        id="dri_adjusted",
        label="adjusted DRI",
        definition="The index with pairs discounted whose rank correlations are both below 0.2.",
        source=ADJUSTED,
        range=(-3, 1),
        comparable=True,
        human_reference=True,
    ),
    Measure(
        id="dri_individual",
        label="individual DRI",
        definition="The Deliberative Reason Index over the pairs that hold one participant.",
        source=f"{PLAIN}; {IN_USE}",
        range=(-3, 1),
        phases=BEFORE_AND_AFTER,
        comparable=True,
        in_summary=False,
    ),
    Measure(
        id="dri_relative",
        label="relative DRI",
        definition="The change of the index as a share of the room there was for it.",
        source=DRI,
        phases=CHANGE,
        comparable=True,
        human_reference=True,
        in_summary=False,
    ),
)

_AGREEMENT = (
    Measure(
        id="consideration_agreement",
        label="agreement on considerations",
        definition="Mean Spearman correlation between the ratings of two participants, over pairs.",
        source=f"{SPEARMAN}; {AGREEMENT}",
        range=(-1, 1),
        comparable=True,
        human_reference=True,
    ),
    Measure(
        id="preference_agreement",
        label="agreement on preferences",
        definition="Mean Spearman correlation between the ranks of two participants, over pairs.",
        source=f"{SPEARMAN}; {AGREEMENT}",
        range=(-1, 1),
        comparable=True,
        human_reference=True,
    ),
)

_CHANGE = (
    Measure(
        id="opinion_change_c",
        label="opinion change, considerations",
        definition="Mean absolute difference of a rating after and before, over all ratings.",
        source=AGREEMENT,
        unit="points of the scale",
        range=(0, inf),
        phases=CHANGE,
        signed=False,
        human_reference=True,
    ),
    Measure(
        id="opinion_change_p",
        label="opinion change, preferences",
        definition="Mean absolute difference of a rank after and before, over all ranks.",
        source=AGREEMENT,
        unit="ranks",
        range=(0, inf),
        phases=CHANGE,
        signed=False,
        human_reference=True,
    ),
    Measure(
        id="rank_stability",
        label="stability of ranks",
        definition="Mean over participants of Kendall's tau-b between own ranks before and after.",
        source=f"{KENDALL}; {AGREEMENT}",
        range=(-1, 1),
        phases=CHANGE,
        signed=False,
        comparable=True,
        human_reference=True,
    ),
)

_DIVERSITY = (
    Measure(
        id="diversity",
        label="perspective diversity",
        definition="Mean over pairs of the Euclidean distance between their answers, raw.",
        source=DIVERSITY,
        unit="points of the scale and ranks",
        range=(0, inf),
        human_reference=True,
    ),
    Measure(
        id="diversity_range_normalised",
        label="range-normalised diversity",
        definition="Mean over pairs of the root mean square difference of answers / item range.",
        source=DIVERSITY,
        range=(0, 1),
        comparable=True,
        human_reference=True,
    ),
    Measure(
        id="diversity_standardised",
        label="standardised diversity",
        definition="Diversity on items divided by their SD in a reference population.",
        source=DIVERSITY,
        unit="standard deviations",
        range=(0, inf),
        phases=BEFORE_AND_AFTER,
        human_reference=True,
        in_summary=False,
    ),
)


def _of_speech(
    name: str,
    label: str,
    definition: str,
    source: str = DEBATES,
    unit: str = "",
    ends: tuple[float, float] = (0, inf),
) -> Measure:
    """A measure of what was said or rated, which knows no phases and no instrument."""
    return Measure(
        id=name,
        label=label,
        definition=definition,
        source=source,
        unit=unit,
        range=ends,
        phases=(),
        comparable=True,
        in_summary=False,
    )


_FLAGGED = {
    "instruction": "hold words that instruct the reader",
    "survey_answers": "hold three or more labelled numbers, like a filled-in survey",
    "other_speakers": "have lines in another participant's name",
    "markup": "have a line that begins with marks which prompts of delibsim use",
    "persona_leak": "repeat eight words running of the speaker's persona",
    "odd_characters": "hold invisible or direction-changing characters",
    "repeated": "are word for word an earlier statement of the run",
    "across_runs": "are word for word a statement of another run, at a temperature above 0",
}


def _flag(kind: str) -> Measure:
    label, definition = f"flag {kind}", f"Number of statements that {_FLAGGED[kind]}."
    return _of_speech(f"flags.{kind}", label, definition, FLAGS, "statements")


def _dimension(name: str) -> Measure:
    definition = f"How a rater judged a debater on the dimension {name}."
    return _of_speech(f"rating.{name}", f"rating of {name}", definition, ends=(0, 100))


WINNER = "1 if a rater named the debater the winner, otherwise 0."
ATTENTIVE = "1 if a rater passed the attention check, otherwise 0."
WINS = "Share of raters naming the proposition, of those attentive who named a winner."
_RATINGS = (
    *map(_dimension, DIMENSIONS),
    _of_speech("rating.winner", "named the winner", WINNER, ends=(0, 1)),
    _of_speech("rating.attentive", "attentive rater", ATTENTIVE, ends=(0, 1)),
    Measure(
        id="stance",
        label="stance",
        definition="How far a rater agrees with the motion before and after the debate.",
        source=DEBATES,
        range=(0, 100),
        comparable=True,
        in_summary=False,
    ),
    _of_speech("proposition_wins", "proposition wins", WINS, ends=(0, 1)),
)

_BROKEN = {
    "too_short": "are shorter than the rules allow",
    "too_long": "are longer than the rules allow",
    "link": "hold a link",
    "citation": "hold a citation",
    "disclosure": "say that the speaker is an AI",
}


def _broken(kind: str) -> Measure:
    label, definition = f"broken rule {kind}", f"Number of speeches that {_BROKEN[kind]}."
    return _of_speech(f"speech.broken.{kind}", label, definition, unit="speeches")


WORDS = "Words of a speech, or of all speeches of a debater."
DIFFERENCE = "Words of the proposition less words of the opposition."
CUT = "Number of speeches cut at the end of a sentence because they were too long."
_SPEECHES = (
    _of_speech("speech.words", "words", WORDS, unit="words"),
    _of_speech("speech.words_difference", "word difference", DIFFERENCE, DEBATES, "words", ANY),
    *map(_broken, _BROKEN),
    _of_speech("speech.cut", "speeches cut", CUT, unit="speeches"),
)

_INDICATORS = {
    "anrede": "form of address",
    "begründung": "justification",
    "beleidigung": "insult",
    "bezugform": "reference to form",
    "bezuginhalt": "reference to content",
    "bezugmedium": "reference to the medium",
    "bezugnutzer": "reference to users",
    "bezugpersönlich": "reference to persons",
    "diskriminierung": "discrimination",
    "frage": "question",
    "lösungsvorschlag": "proposed solution",
    "meinung": "opinion",
    "respekt": "respect",
    "sarkasmus": "sarcasm",
    "schreien": "shouting",
    "storytelling": "storytelling",
    "tatsache": "fact",
    "themenbezug": "relevance to the topic",
    "vulgär": "vulgarity",
    "zusatzwissen": "additional knowledge",
}


def _indicator(name: str) -> Measure:
    definition = f"How much {_INDICATORS[name]} a text shows, from 0 to 3."
    return _of_speech(f"aqua.{name}", f"AQuA {_INDICATORS[name]}", definition, AQUA, ends=(0, 3))


SUM = "Sum of the twenty indicators by their published weights."
SCORE = "The sum on a scale from 0 to 5, or from 0 to 4 where that was set up."
_SUM = _of_speech("aqua.sum", "AQuA sum", SUM, AQUA, ends=(-1.66928295, 4.98926754))
_SCORE = _of_speech("aqua.score", "AQuA score", SCORE, AQUA, ends=(0, 5))

COPIED = "1 less the cosine (TF-IDF) with sentences copied from the positions."
_CONSENSUS = tuple(
    _of_speech(f"consensus.{name}", label, definition, CONSENSUS, ends=ends)
    for name, label, definition, ends in (
        (
            "agreement",
            "agreement with the statement",
            "Mean agreement with the collective statement.",
            (1, 7),
        ),
        (
            "agreement_before",
            "agreement with the first winner",
            "The same in the first vote.",
            (1, 7),
        ),
        (
            "least",
            "least agreement with the statement",
            "Least agreement with the collective statement.",
            (1, 7),
        ),
        ("agreeing", "share agreeing", "Share of voters whose agreement is 5 or more.", (0, 1)),
        ("left_out", "share left out", "Share of voters whose agreement is 3 or less.", (0, 1)),
        ("concordance", "concordance of ranks", "Kendall's W of the ranks given.", (0, 1)),
        ("condorcet", "Condorcet winner", "1 if a candidate beats all others, else 0.", (0, 1)),
        ("extractive", "distance to the extractive statement", COPIED, (0, 1)),
    )
)
"""Each of the last vote but `agreement_before`."""

CATALOGUE: Mapping[str, tuple[Measure, ...]] = {
    "dri": _DRI,
    "agreement": (*_AGREEMENT, *_CHANGE),
    "diversity": _DIVERSITY,
    "flags": tuple(map(_flag, _FLAGGED)),
    "ratings": _RATINGS,
    "speeches": _SPEECHES,
    "consensus": _CONSENSUS,
    "aqua": (*map(_indicator, _INDICATORS), _SUM, replace(_SCORE, human_reference=True)),
}
"""The measures of each built-in scorer, by the name of the scorer."""

_OF_ANSWERS = (*_DRI, *_AGREEMENT, *_DIVERSITY, *_CHANGE)
_OF_TEXTS = (*CATALOGUE["flags"], *_RATINGS, *_SPEECHES, *_CONSENSUS, *CATALOGUE["aqua"])

MEASURES: Mapping[str, Measure] = {measure.id: measure for measure in (*_OF_ANSWERS, *_OF_TEXTS)}
"""All built-in measures by id, in the order in which tables show them."""


def in_order(declared: Mapping[str, Measure]) -> dict[str, Measure]:
    """Measures by id in the order of tables: built-in ones as in MEASURES, then all others.

    >>> list(in_order({"words": MEASURES["stance"], "dri": MEASURES["dri"]}))
    ['dri', 'words']
    """
    ours = {name: declared[name] for name in MEASURES if name in declared}
    return ours | dict(declared)
