"""Packs of texts for people who code: drawn from a study, and written as pages and a form."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delibsim.asking.handing_out import Online, new_folder, pack_name
from delibsim.asking.kinds.codable import dimensions_for
from delibsim.asking.kinds.code_sheets import (
    coding_form,
    coding_key,
    coding_page,
    coding_sheets,
)
from delibsim.asking.kinds.coding import Coding
from delibsim.domain.annotation import Coder, Text
from delibsim.domain.coding import ENSEMBLE
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.secret import refuse_key
from delibsim.domain.seed import seed_of
from delibsim.domain.text import counted, study_named
from delibsim.measures.designs import sizes_of
from delibsim.store.codings import scheme_to_plain
from delibsim.store.files import write_atomically
from delibsim.store.packs import add_pack, handed_out, packs_of

GROUP = "group"
"""What stands in the place of a column where texts are drawn by the session they belong to."""


ROUND = ("pack", "review")
TRAINING = ("training",)
"""The kinds of packs whose texts are coded for good, and those whose codes are kept apart."""


@dataclass(frozen=True)
class Draw:
    """Texts that were drawn: the chance of each by id, and those drawn at random.

    `among` is how many texts were drawn from. Of `read` a person has given codes before, so they
    are not read again.
    """

    texts: Mapping[str, float]
    random: tuple[str, ...]
    among: int
    read: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """As it is kept."""
        return {
            "texts": dict(self.texts),
            "random": list(self.random),
            "among": self.among,
            "read": list(self.read),
        }


@dataclass(frozen=True)
class CodingPack:
    """A pack that was handed out: its name, its folder (None: on pages), its coders, how many texts
    it holds.

    `before` counts by coder the texts of the draw that the coder has from an earlier pack, and is
    not handed again.
    """

    name: str
    kind: str
    folder: Path | None
    coders: tuple[str, ...]
    texts: int
    strata: Mapping[str, int]
    not_codable: int
    before: Mapping[str, int]

    def plain(self) -> dict[str, Any]:
        """As JSON prints it."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        folder = None if self.folder is None else str(self.folder)
        return fields | {"folder": folder, "coders": list(self.coders)}


def refuse_names(coding: Coding, coders: Sequence[str]) -> None:
    """WrongInput for a person who would have the name of a model or of the ensemble."""
    models = coding.codings.files.task().get("models", {})
    for coder in coders:
        refuse_key("coder", coder)
        if coder == ENSEMBLE or coder in models:
            raise WrongInput(
                f"'{coder}' cannot be the name of a person: a model or the ensemble has it; give"
                " the coder another name"
            )


def draw_texts(
    coding: Coding, n: int, stratify: str, training: bool
) -> tuple[Draw, dict[str, int]]:
    """At most `n` texts drawn at random, within the strata of a column, and the size of each part.

    The order of the draw comes from the names of study, scheme and text: a larger `n` adds texts
    to those that a smaller one draws. Texts of a training round are never drawn for another pack,
    nor the other way round.
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
    strata: dict[str, list[Text]] = {}
    for text in texts:
        strata.setdefault(stratum_of(text, stratify), []).append(text)
    names = sorted(strata)
    purpose = "training" if training else "pack"
    sizes = sizes_of([len(strata[name]) for name in names], min(n, len(texts)))
    chances, parts = {}, {}
    for name, size in zip(names, sizes, strict=True):
        own = sorted(strata[name], key=lambda text: _place(coding, purpose, text))
        chances |= {text.id: size / len(own) for text in own[:size]}
        parts[name] = size
    return Draw(chances, tuple(chances), len(texts)), parts if stratify else {}


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


def _place(coding: Coding, purpose: str, text: Text) -> int:
    """The place of a text in the order of a draw, by names alone."""
    return seed_of(coding.runs.study, coding.scheme.id, purpose, text.id)


def export_codes(
    coding: Coding,
    coders: Sequence[str],
    n: int,
    stratify: str = "",
    training: bool = False,
    folder: Path | None = None,
    online: Online | None = None,
) -> CodingPack:
    """Write the pages and the form of a new pack, by default into codes-NAME; none where it is
    answered `online`, by as many people as there are `coders`.

    The study keeps the key. Raises WrongInput where no text can be drawn, or the folder exists.
    """
    draw, parts = draw_texts(coding, n, stratify, training)
    kind = "training" if training else "pack"
    return hand_out(coding, draw, coders, kind, folder, parts, online)


def hand_out(
    coding: Coding,
    draw: Draw,
    coders: Sequence[str],
    kind: str,
    folder: Path | None = None,
    strata: Mapping[str, int] | None = None,
    online: Online | None = None,
) -> CodingPack:
    """Write pages and form of the texts that were drawn and not read yet; keep draw and key.

    A coder is not handed a text again. Coders who answer `online` are named after the pack.
    WrongInput where nothing is left, or the folder exists.
    """
    refuse_names(coding, coders)
    scheme, files = coding.scheme, coding.codings.files
    packs = packs_of(files)
    name = pack_name(coding.runs, scheme.id, kind, len(packs) + 1)
    if online is None:
        folder = new_folder(folder, f"codes-{name}")
    else:
        coders = [Coder(name, number).id for number in range(1, len(coders) + 1)]
    every = coding.texts()
    wanted = draw.texts.keys() - set(draw.read)
    texts = [text for text in every if text.id in wanted]
    before = handed_out(packs, TRAINING if kind == "training" else ROUND)
    shown = coding.shown(texts)
    own, again = {}, {}
    for coder in coders:
        have = before.get(coder, set())
        own[coder] = [shown[text.id] for text in texts if text.id not in have]
        again[coder] = len(texts) - len(own[coder])
    own = {coder: theirs for coder, theirs in own.items() if theirs}
    if not own:
        raise WrongInput(
            f"{', '.join(coders)}: all {counted(len(draw.texts), 'text')} of this draw were handed"
            " out before; draw more of them, or name other coders with --raters"
        )
    asked = {text.id: dimensions_for(scheme, text) for text in texts}
    sheets = coding_sheets(own, name)
    hashes = {text.id: text.sha256 for text in texts}
    pack = {
        "kind": kind,
        "scheme": scheme_to_plain(scheme),
        "scheme_sha256": scheme.sha256,
        "unit": coding.unit,
        "context": coding.context,
        "coders": list(own),
        **draw.plain(),
        "sheets": coding_key(sheets, hashes),
    }
    if online is not None:
        pack["online"] = online.plain()
    add_pack(files, name, pack)
    if folder is not None:
        for k, theirs in enumerate(sheets.values(), 1):
            page = coding_page(theirs, scheme, asked, kind == "training")
            write_atomically(folder / f"coder-{k}.html", page)
        write_atomically(folder / "form.csv", coding_form(sheets, name, asked))
    left_out = sum(not dimensions_for(scheme, text) for text in every)
    handed = {text.id for text in itertools.chain.from_iterable(own.values())}
    again = {coder: n for coder, n in again.items() if n}
    parts = dict(strata or {})
    return CodingPack(name, kind, folder, tuple(own), len(handed), parts, left_out, again)


def told(pack: CodingPack) -> list[str]:
    """What was handed out, in sentences."""
    among = f"{counted(pack.texts, 'text')} for {counted(len(pack.coders), 'coder')}"
    printed = "coder-1.html and so on to print, form.csv to fill in"
    lines = [f"{among}: {printed if pack.folder else 'on pages'}"]
    if pack.strata:
        parts = [f"{name or '(empty)'} {size}" for name, size in pack.strata.items()]
        lines.append(f"by column: {', '.join(parts)}")
    if pack.before:
        had = ", ".join(f"{coder} {n}" for coder, n in pack.before.items())
        lines.append(f"not handed out again, because an earlier pack holds them: {had}")
    if pack.not_codable:
        lines.append(
            f"not drawn, because the scheme is not meant for texts of their length:"
            f" {pack.not_codable}"
        )
    return lines
