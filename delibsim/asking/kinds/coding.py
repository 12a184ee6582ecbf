"""Which scheme and which texts a command about codes means: as they were kept, else as named."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delibsim.asking.blinding import blinded_text
from delibsim.asking.units import texts_of
from delibsim.domain.annotation import Text
from delibsim.domain.errors import WrongInput
from delibsim.domain.scheme import Scheme
from delibsim.domain.text import study_named
from delibsim.store.annotations import ANNOTATIONS
from delibsim.store.codings import PREFIX, Codings
from delibsim.store.instruments.library import Library
from delibsim.store.packs import packs_of
from delibsim.store.runs import Runs
from delibsim.store.study_texts import StudyTexts


@dataclass(frozen=True)
class Coding:
    """The codes of a study by one scheme, and how its texts are cut: `unit` and `context`."""

    runs: Runs
    scheme: Scheme
    codings: Codings
    unit: str
    context: int

    def texts(self) -> list[Text]:
        """Every text of the study, word for word."""
        return texts_of(self.runs, self.unit, self.context)

    def shown(self, texts: Sequence[Text]) -> dict[str, Text]:
        """Texts by id as coders see them; imported ones word for word."""
        if StudyTexts(self.runs).held():
            return {text.id: text for text in texts}
        sessions = self.runs.plans_by_name()
        return {text.id: blinded_text(text, sessions[text.group]) for text in texts}


def coding_of(
    runs: Runs, name: str = "", by: str = "", context: int | None = None, home: Path | None = None
) -> Coding:
    """The coding of a study by a scheme; by the only one that was applied where none is named.

    What was begun keeps its scheme, unit and context. Raises WrongInput for another unit or context
    than that, for a scheme that was edited since a pack was handed out, and where no scheme or one
    of several has to be named.
    """
    name = name or _only_scheme(runs)
    codings = Codings.of(runs, name)
    kept = codings.settled()
    packs = packs_of(codings.files)
    scheme = codings.scheme() if kept else Library(home or Path.cwd()).scheme(name)
    for pack, plain in packs.items():
        if plain["scheme_sha256"] != scheme.sha256:
            raise WrongInput(
                f"scheme {name} is not the one by which pack {pack} is coded"
                f" ({codings.files.packs / pack}.json holds that one whole); put the file of the"
                " scheme back as it was, or give the new one an id of its own"
            )
    begun: dict[str, Any] = kept or next(iter(packs.values()), {})
    unit = _settled("by", by, begun.get("unit"), _unit_of(runs))
    shown_before = _settled("context", context, begun.get("context"), 0)
    return Coding(runs, scheme, codings, unit, shown_before)


def _settled(name: str, given: Any, begun: Any, default: Any) -> Any:
    """A setting: as it was begun, else as it is given, else the default."""
    if given in ("", None):
        return default if begun is None else begun
    if begun is not None and begun != given:
        raise WrongInput(
            f"{name}={given}: this coding was begun with {name}={begun}; leave {name} out, or code"
            " another study"
        )
    return given


def _unit_of(runs: Runs) -> str:
    """Imported texts where the study is one of texts, else statements."""
    return "text" if StudyTexts(runs).held() else "statement"


def _only_scheme(runs: Runs) -> str:
    """The scheme by which a study was coded, or a pack of it handed out, where it is one only."""
    folders = (runs.folder / ANNOTATIONS).glob(f"{PREFIX}*")
    names = sorted(path.name.removeprefix(PREFIX) for path in folders if path.is_dir())
    if len(names) == 1:
        return names[0]
    if names:
        listed = ", ".join(names)
        raise WrongInput(
            f"{study_named(runs.study)} is coded by several schemes; name one: scheme=NAME"
            f" ({listed})"
        )
    raise WrongInput(
        f"{study_named(runs.study)} is not coded yet; name a scheme: scheme=NAME. delibsim list"
        " schemes names them"
    )
