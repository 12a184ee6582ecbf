"""People who code texts by a scheme: which texts are drawn, their packs, and what a sheet asks.

Texts are drawn at random, spread over conditions and sessions, or half by the doubt of the models
(a review). Nothing of who said a text is shown.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar

import numpy as np

from delibsim.asking import people
from delibsim.asking.kinds.coding import (
    Coding,
    coded_by_models,
    coding_of,
    dimensions_for,
    given_by,
    level_of,
)
from delibsim.asking.paper import hand_out
from delibsim.asking.texts import checked_wording
from delibsim.domain.annotation import Coder, Text
from delibsim.domain.coding import CODES, ENSEMBLE, Code
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.reason import Reason
from delibsim.domain.scheme import Scheme
from delibsim.domain.seed import seed_of
from delibsim.domain.text import counted, study_named
from delibsim.domain.treatment import Wording
from delibsim.measures.designs import (
    chances_by_doubt,
    drawn_by_doubt,
    even_sizes,
    sizes_of,
    spread_chances,
)
from delibsim.measures.ensemble import entropies
from delibsim.models.person.fields import Field
from delibsim.prompts.coding import check_coder_texts, code_form, coding_prompt
from delibsim.prompts.forms.code import SCORE
from delibsim.prompts.prompt import Purpose
from delibsim.store.annotations import handed_out, packs_of
from delibsim.store.answers import scheme_from_plain, scheme_to_plain
from delibsim.store.coded import DimensionSamples

GROUP = "group"
"""What stands in the place of a column where texts are drawn by the session they belong to."""
REVIEW = "review"
SPREAD = "spread"
ROUND = ("pack", REVIEW)
TRAINING = ("training",)
"""The kinds of packs whose texts are coded for good, and those whose codes are kept apart."""
WORDING = "coding"
"""The wording in which people read what models are asked."""


@dataclass(frozen=True)
class DrawnTexts:
    """Texts that were drawn: the chance of each by id, and those drawn at random.

    `chances` are those of all texts that could have been drawn, `design` says how they were: draws
    of one design hold each other. `strata` is how many of each part are drawn. Of `read` a person
    has given codes before, so they are not read again.
    """

    texts: Mapping[str, float]
    random: tuple[str, ...]
    chances: Mapping[str, float]
    design: str
    read: tuple[str, ...] = ()
    strata: Mapping[str, int] = field(default_factory=dict)

    @property
    def among(self) -> int:
        """How many texts were drawn from."""
        return len(self.chances)

    def plain(self) -> dict[str, Any]:
        """As it is kept."""
        plain = {"texts": dict(self.texts), "random": list(self.random)}
        kept = {"among": self.among, "read": list(self.read), "design": self.design}
        return plain | kept | {"chances": dict(self.chances)}


@dataclass
class TextPack(people.Pack):
    """A pack of texts for coders by one scheme: the level on each dimension, one after the other.

    `plain["kind"]` says which texts they are: "pack", "review" or "training".
    """

    kind: ClassVar[people.Given] = "texts"
    scorer: ClassVar[str] = CODES
    noun: ClassVar[str] = "code"
    person: ClassVar[str] = "coder"
    wording: Wording = field(default_factory=lambda: checked_wording(WORDING, check_coder_texts))

    def unit(self, sheet: str) -> str:
        """The text, under this scheme."""
        return f"text {self.plain['scheme']['id']} {self.sheets[sheet]['text']}"

    def step(self, sheet: str, given: people.Replies) -> people.SheetStep | None:
        """The level on the next dimension that is asked of the text."""
        scheme, text = self._scheme, self._text(sheet)
        for id in dimensions_for(scheme, text):
            if id not in given:
                dimension = scheme.dimension(id)
                lower, purpose = scheme.lower_in_doubt, Purpose("Coder", id)
                shown, steps = self._shown[text.id], dimension.steps
                asked = coding_prompt(dimension, lower, self.wording, steps, shown, purpose)
                return people.SheetStep(id, asked)
        return None

    def titles(self, words: Mapping[str, str]) -> tuple[str, str]:
        """The same; of a training round with a word on that."""
        title, intro = super().titles(words)
        apart = " This is a training round: it is kept apart."
        return title, intro + (apart if self.plain["kind"] == "training" else "")

    def level(self, step: people.SheetStep, asked: Field, cell: str) -> Any:
        """The level that a cell names, None where the dimension does not apply."""
        return level_of(self._scheme.dimension(step.name), cell)[0]

    def given(self, sheet: str, given: people.Replies) -> list[Code]:
        """A code for each dimension that was answered."""
        scheme, key = self._scheme, self.sheets[sheet]
        found = []
        for id, reply in given.items():
            if reply is None:
                continue
            on_page = isinstance(reply, str)
            level = code_form(scheme.dimension(id)).read(reply).level if on_page else reply[SCORE]
            missing = Reason("not_applicable") if level is None else None
            training = self.plain["kind"] == "training"
            own = (key["text"], id, key["coder"], "human", level, missing)
            digest = key["text_sha256"]
            found.append(Code(*own, training=training, pack=self.name, text_sha256=digest))
        return found

    def same(self, old: Code, new: Code) -> bool:
        """Whether two codes say the same of the same text, whichever table they came by."""
        said = old.level, old.missing, old.text_sha256
        return said == (new.level, new.missing, new.text_sha256)

    def said(self, answer: Code) -> str:
        """The level."""
        return given_by(answer)

    def told(self, answers: Sequence[Code]) -> list[str]:
        """How many codes are of training."""
        n = sum(code.training for code in answers)
        return [f"{counted(n, 'code')} of training, kept apart"] if n else []

    def add(self, answers: Sequence[Any]) -> None:
        """The same, with what people code by."""
        plain = self.plain
        cut = {name: plain[name] for name in ("unit", "context", "roles") if name in plain}
        self.answers.keep_scheme(self._scheme, cut)
        super().add(answers)

    @cached_property
    def _scheme(self) -> Scheme:
        """The scheme as it was handed out."""
        return scheme_from_plain(self.plain["scheme"])

    def _text(self, sheet: str) -> Text:
        """The text of a sheet, word for word; WrongInput where it was edited since."""
        key = self.sheets[sheet]
        return self.refuse_other(key["text"], self._texts.get(key["text"]), key["text_sha256"])

    @cached_property
    def _coding(self) -> Coding:
        return coding_of(self.runs, self.plain["scheme"]["id"])

    @cached_property
    def _texts(self) -> Mapping[str, Text]:
        """The texts of the pack, word for word, read once."""
        wanted = {sheet["text"] for sheet in self.sheets.values()}
        return {text.id: text for text in self._coding.texts() if text.id in wanted}

    @cached_property
    def _shown(self) -> Mapping[str, Text]:
        """The same as coders see them."""
        return self._coding.shown(list(self._texts.values()))


def draw_texts(coding: Coding, n: int, stratify: str = "", training: bool = False) -> DrawnTexts:
    """At most `n` texts drawn at random, within the strata of a column.

    The order of the draw comes from the names of study, scheme and text: a larger `n` adds texts
    to those that a smaller one draws. Texts of a training round are never drawn for another pack,
    nor the other way round.
    """
    texts = _to_draw(coding, training)
    strata = _parted(texts, lambda text: stratum_of(text, stratify))
    seeds = (coding.runs.study, coding.scheme.id, "training" if training else "pack")
    sizes = sizes_of([len(own) for own in strata.values()], min(n, len(texts)))
    chosen: list[str] = []
    chances: dict[str, float] = {}
    for own, size in zip(strata.values(), sizes, strict=True):
        ids = sorted((text.id for text in own), key=lambda id: seed_of(*seeds, id))
        chosen += ids[:size]
        chances |= dict.fromkeys(ids if size else (), size / len(ids))
    parts = dict(zip(strata, sizes, strict=True)) if stratify else {}
    design = f"random by {stratify}" if stratify else "random"
    return _drawn(chosen, chances, design, parts)


def draw_spread(coding: Coding, n: int, stratify: str = "") -> DrawnTexts:
    """At most `n` texts, as many of each treatment and topic as of any other, or of each value of
    a column; within them in turn from each session, in a drawn order.

    A contrast has its least error by such a draw where sessions differ. A larger `n` adds texts.
    """
    texts = _to_draw(coding)
    strata = _parted(texts, partial(_condition, column=stratify))
    seeds = (coding.runs.study, coding.scheme.id, SPREAD)
    sizes = even_sizes([len(own) for own in strata.values()], n)
    chosen: list[str] = []
    chances: dict[str, float] = {}
    for own, size in zip(strata.values(), sizes, strict=True):
        groups = _parted(own, lambda text: text.group or text.id)
        names = sorted(groups, key=lambda name: seed_of(*seeds, "session", name))
        lengths = [len(groups[name]) for name in names]
        counts, each = even_sizes(lengths, size), spread_chances(lengths, size)
        for name, count, chance in zip(names, counts, each, strict=True):
            ids = sorted((text.id for text in groups[name]), key=lambda id: seed_of(*seeds, id))
            chosen += ids[:count]
            chances |= dict.fromkeys(ids if chance else (), float(chance))
    parts = dict(zip(strata, sizes, strict=True))
    design = f"{SPREAD} by {stratify}" if stratify else SPREAD
    return _drawn(chosen, chances, design, parts)


def _to_draw(coding: Coding, training: bool = False) -> list[Text]:
    """The texts that the scheme is meant for, without those that were handed out in training; for
    training without those that were handed out for good. WrongInput where there is none.
    """
    apart = ROUND if training else TRAINING
    excluded = set().union(*handed_out(packs_of(coding.codings.files), apart).values())
    texts = [text for text in coding.texts() if dimensions_for(coding.scheme, text)]
    texts = [text for text in texts if text.id not in excluded]
    if not texts:
        raise WrongInput(
            f"{study_named(coding.runs.study)} has no text that scheme {coding.scheme.id} is meant"
            " for, and that is not in another pack already"
        )
    return texts


def _parted(texts: Sequence[Text], by: Callable[[Text], str]) -> dict[str, list[Text]]:
    """The texts by part, in the order of the names of parts."""
    found: dict[str, list[Text]] = {}
    for text in texts:
        found.setdefault(by(text), []).append(text)
    return {name: found[name] for name in sorted(found)}


def _drawn(
    chosen: Sequence[str], chances: Mapping[str, float], design: str, parts: Mapping[str, int]
) -> DrawnTexts:
    texts = {id: chances[id] for id in chosen}
    return DrawnTexts(texts, tuple(chosen), chances, design, strata=parts)


def _condition(text: Text, column: str) -> str:
    """The value of a text in a column; without one its treatment and topic, as far as known."""
    if column:
        return stratum_of(text, column)
    return ", ".join(text.facts[name] for name in ("treatment", "topic") if text.facts.get(name))


def stratum_of(text: Text, column: str) -> str:
    """The value of a text in the column by which it is drawn, "" without one."""
    if not column:
        return ""
    if column == GROUP:
        return text.group
    if column not in text.facts:
        known = [GROUP, *text.facts]
        raise unknown("column", column, known, "Columns are those of the file of texts")
    return text.facts[column]


def doubts(coding: Coding, dimension: str = "") -> dict[str, float]:
    """The doubt of the models about each text, in bits: the entropy of its levels (see
    `measures.certainty`), the mean over dimensions, or that of one `dimension`.

    Texts that no model has coded are left out.
    """
    chosen = coding.scheme.dimensions
    if dimension:
        chosen = tuple(one for one in chosen if one.id == dimension)
    if not chosen:
        raise unknown("dimension", dimension, [one.id for one in coding.scheme.dimensions])
    by_dimension = coded_by_models(coding).by_dimension
    by_text: defaultdict[str, list[float]] = defaultdict(list)
    for one in chosen:
        if one.id in by_dimension:
            for text, bits in doubt_of(by_dimension[one.id]).items():
                by_text[text].append(bits)
    return {text: fmean(bits) for text, bits in by_text.items()}


def doubt_of(own: DimensionSamples) -> dict[str, float]:
    """The entropy of each text in bits, of the texts that have a level."""
    whole = entropies(own.counts, own.levels)[0]
    known = zip(own.texts, whole, strict=True)
    return {text: float(bits) for text, bits in known if not np.isnan(bits)}


def draw_review(coding: Coding, n: int, dimension: str = "") -> DrawnTexts:
    """A draw of about `n` texts of those that models have coded: half at random, half by doubt.

    Texts that a person has coded before are part of the draw with the chance 1, and are not read
    again; texts of a training round are left out of it. The chances hold for all that is left.
    """
    packs = packs_of(coding.codings.files)
    training = set().union(*handed_out(packs, TRAINING).values())
    doubt = {id: u for id, u in doubts(coding, dimension).items() if id not in training}
    coded = {code.text for code in coding.codings.people() if not code.training}
    read = [id for id in doubt if id in coded]
    number = sum(pack["kind"] == REVIEW for pack in packs.values()) + 1
    names = coding.runs.study, coding.scheme.id, REVIEW, number
    waiting = [id for id in doubt if id not in coded]
    if not waiting:
        raise WrongInput(
            f"{study_named(coding.runs.study)}: people have coded every text that models have"
        )
    waiting.sort(key=lambda id: seed_of(*names, id))
    if n >= len(waiting):
        chances = np.ones(len(waiting))
    else:
        chances = chances_by_doubt([doubt[id] for id in waiting], n)
    drawn, at_random = drawn_by_doubt(chances, n, random.Random(seed_of(*names)).random())
    every = dict(zip(waiting, map(float, chances), strict=True)) | dict.fromkeys(read, 1.0)
    texts = {waiting[i]: every[waiting[i]] for i in drawn} | dict.fromkeys(read, 1.0)
    chosen = tuple(waiting[i] for i in at_random)
    return DrawnTexts(texts, chosen, every, REVIEW, tuple(read))


def export_codes(
    coding: Coding,
    coders: Sequence[str],
    draw: DrawnTexts,
    kind: str = "pack",
    folder: Path | None = None,
    online: people.Online | None = None,
) -> people.HandedOut:
    """Hand the texts of a draw out that were not read yet; the study keeps draw and key.

    A coder is not handed a text again. Coders who answer `online` are named after the pack.
    WrongInput where nothing is left, or the folder exists.
    """
    scheme, files = coding.scheme, coding.codings.files
    people.refuse_names(coders, {ENSEMBLE, *files.task().get("models", {})}, "coder")
    packs = packs_of(files)
    name = people.pack_name(coding.runs, scheme.id, kind, len(packs) + 1)
    folder = people.new_folder(folder, f"codes-{name}", online)
    if online is not None:
        coders = [Coder(name, number).id for number in range(1, len(coders) + 1)]
    every = coding.texts()
    wanted = draw.texts.keys() - set(draw.read)
    texts = {text.id: text for text in every if text.id in wanted}
    before = handed_out(packs, TRAINING if kind == "training" else ROUND)
    sheets: dict[str, dict[str, Any]] = {}
    again: dict[str, int] = {}
    taken: set[str] = set()
    for coder in coders:
        own = [id for id in texts if id not in before.get(coder, set())]
        if len(own) < len(texts):
            again[coder] = len(texts) - len(own)
        for code, id in people.in_own_order(own, name, coder, taken):
            sheets[code] = {"text": id, "coder": coder, "text_sha256": texts[id].sha256}
    if not sheets:
        raise WrongInput(
            f"{', '.join(coders)}: all {counted(len(draw.texts), 'text')} of this draw were handed"
            " out before; draw more of them, or name other coders with --raters"
        )
    named = tuple(dict.fromkeys(sheet["coder"] for sheet in sheets.values()))
    plain = {
        "kind": kind,
        "scheme": scheme_to_plain(scheme),
        "scheme_sha256": scheme.sha256,
        **coding.cut,
        "coders": list(named),
        **draw.plain(),
    }
    pack = TextPack(coding.runs, name, sheets, answers=coding.codings, plain=plain)
    hand_out(pack, folder, online)
    facts: dict[str, Any] = {
        "kind": kind,
        "coders": list(named),
        "texts": len({sheet["text"] for sheet in sheets.values()}),
        "strata": draw.strata,
        "not_codable": sum(not dimensions_for(scheme, text) for text in every),
        "before": again,
    }
    review = kind == REVIEW
    lines = [*(_told_of_review(name, draw) if review else ()), *_told(facts, folder)]
    return people.HandedOut(name, folder, facts | ({"draw": draw.plain()} if review else {}), lines)


def _told(facts: Mapping[str, Any], folder: Path | None) -> Iterator[str]:
    """What was handed out, in sentences."""
    texts, coders = counted(facts["texts"], "text"), counted(len(facts["coders"]), "coder")
    yield f"{texts} for {coders}: {people.where('coder', folder)}"
    if facts["strata"]:
        parts = [f"{name or '(empty)'} {size}" for name, size in facts["strata"].items()]
        yield f"by column: {', '.join(parts)}"
    if facts["before"]:
        had = ", ".join(f"{coder} {n}" for coder, n in facts["before"].items())
        yield f"not handed out again, because an earlier pack holds them: {had}"
    if facts["not_codable"]:
        yield (
            "not drawn, because the scheme is not meant for texts of their length:"
            f" {facts['not_codable']}"
        )


def _told_of_review(name: str, draw: DrawnTexts) -> Iterator[str]:
    """What was drawn of the texts that models have coded."""
    new = len(draw.texts) - len(draw.read)
    yield (
        f"drawn from {draw.among} texts that models have coded: {new}, of them {len(draw.random)}"
        f" at random and {new - len(draw.random)} by doubt"
    )
    if draw.read:
        yield f"read by people before, and part of the draw: {len(draw.read)}"
    yield (
        "agreement holds for all texts on those drawn at random only; means weigh each text by its"
        f" chance, which is kept in packs/{name}.json"
    )
