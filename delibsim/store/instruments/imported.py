"""Imported surveys and people's answers to them, kept in one folder: a YAML file a survey, one CSV
file of answers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np
from ruamel.yaml import YAML

from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.survey import PHASES, Item, Survey
from delibsim.domain.text import counted
from delibsim.store.files import write_atomically
from delibsim.store.instruments import deliberr
from delibsim.store.instruments.answers import Answers, Rank1, answers_csv, in_source, read_answers
from delibsim.store.instruments.library import Library
from delibsim.store.instruments.own_answers import FOLDER, kept_answers
from delibsim.store.reading import read_yaml

ANSWERS = "answers.csv"
"""The file of answers in a folder of imported surveys."""

Scale = tuple[int, int]


@dataclass(frozen=True)
class Imported:
    """What was imported into a folder, and whether the answers are those of an earlier import."""

    folder: Path
    published: deliberr.PublishedSurveys
    earlier_answers: bool

    def told(self) -> list[str]:
        """What was imported, and what can be done next, in sentences."""
        people = sum(len(own.participants) for own in self.published.answers)
        lines = [f"instruments: {len(self.published.surveys)}, in {self.folder}"]
        if people:
            lines.append(f"answers: {counted(people, 'person', 'people')}, {self._origin()}")
        lines += [f"note: {note}" for note in self.published.notes]
        if people:
            lines.append("next: delibsim list people")
        topics = Library().topics()
        names = [deliberr.local_name(survey) for survey in self.published.surveys]
        known = [name for name in names if name in topics]
        following = f"run topic={known[0]} survey=deliberr.{known[0]}" if known else "surveys"
        return [*lines, f"next: delibsim {following}"]

    def _origin(self) -> str:
        if self.earlier_answers:
            return "kept from an earlier import"
        cases = sum(len(set(own.cases)) for own in self.published.answers)
        return f"before and after, in {self.folder / ANSWERS}; deliberations: {cases}"


def import_published(paths: Iterable[Path], into: Path, version: str) -> Imported:
    """Read the published files of the R package deliberr, and keep them in the folder `deliberr` of
    `into`; `version` is that of the package.

    Answers of an earlier import stay where the files hold none. Raises WrongInput, with nothing
    written, where a file is broken or the folder cannot be made.
    """
    folder = into / "deliberr"
    for part in (folder, *folder.parents):
        if part.exists() and not part.is_dir():
            raise refused("file_in_the_way", folder=folder)
    files = deliberr.find_files(paths)
    earlier = folder / ANSWERS
    kept: tuple[Answers, ...] = ()
    if deliberr.HUMAN not in files and earlier.is_file():
        kept = tuple(read_answers(earlier).values())
    published = deliberr.read_published(files, version, kept)
    keep(published.surveys, published.answers, folder)
    return Imported(folder, published, bool(kept))


def keep(surveys: Iterable[Survey], answers: Sequence[Answers], folder: Path) -> None:
    """Write surveys and answers into `folder`; files of an earlier import are replaced, one at a
    time and each as a whole.
    """
    answered = {own.survey for own in answers}
    for survey in surveys:
        name = deliberr.local_name(survey)
        text = survey_yaml(survey, in_source(survey.id) if name in answered else None)
        write_atomically(folder / f"{name}.yaml", text)
    if answers:
        write_atomically(folder / ANSWERS, answers_csv(answers))


def survey_yaml(survey: Survey, rank_1_in_source: Rank1 | None = None) -> str:
    """A survey as the text of a YAML file of the library; `rank_1_in_source`: before the import."""
    fields: dict[str, object] = {
        "id": survey.id,
        "source": survey.source,
        "validated": survey.validated,
        "scale_min": survey.scale_min,
        "scale_max": survey.scale_max,
    }
    if rank_1_in_source is not None:
        fields["rank_1_in_source"] = rank_1_in_source
    if survey.forced_distribution is not None:
        fields["forced_distribution"] = list(survey.forced_distribution)
    fields["considerations"] = [_item(item) for item in survey.considerations]
    fields["preferences"] = [_item(item) for item in survey.preferences]
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False
    yaml.allow_unicode = True
    yaml.width = 140
    text = StringIO()
    yaml.dump(fields, text)
    return text.getvalue()


def _item(item: Item) -> dict[str, object]:
    plain: dict[str, object] = {"id": item.id, "text": item.text}
    return plain | {"reverse": True} if item.reverse else plain


def read_people(folder: Path) -> tuple[tuple[Answers, ...], dict[str, Scale]]:
    """The answers in a folder (imported, of the user's own, or as published), and the lowest and
    highest rating of each survey's scale.

    Raises WrongInput where the folder holds no answers or they are broken.
    """
    advice = "import the published answers with: delibsim import PATH --as deliberr"
    if not folder.is_dir():
        raise WrongInput(f"{folder}: there is no such folder; {advice}")
    if (folder / ANSWERS).is_file():
        kept = tuple(read_answers(folder / ANSWERS).values())
        return kept, {own.survey: _kept_scale(folder / f"{own.survey}.yaml") for own in kept}
    if not (folder / deliberr.HUMAN).is_file():
        own = sorted(folder.glob("*.csv")) if folder.name == FOLDER else []
        if not own:
            raise WrongInput(
                f"{folder}: neither {ANSWERS} nor {deliberr.HUMAN} is in this folder; {advice}"
            )
        return _own(own, Library(folder.absolute().parent))
    files = deliberr.find_files([folder])
    if deliberr.LONG in files or deliberr.SHEETS in files:
        published = deliberr.read_published(files, version="")
        scales = {deliberr.local_name(survey): _scale(survey) for survey in published.surveys}
        return published.answers, scales
    alone = deliberr.published_answers(files[deliberr.HUMAN])
    return alone, {answers.survey: _scale_without_instrument(answers) for answers in alone}


def _own(paths: Sequence[Path], library: Library) -> tuple[tuple[Answers, ...], dict[str, Scale]]:
    """The answers of the user's own in these files, each named after its survey, and the scales."""
    surveys = [library.survey(path.stem) for path in paths]
    answers = [kept_answers(path, survey) for path, survey in zip(paths, surveys, strict=True)]
    return tuple(answers), {survey.id: _scale(survey) for survey in surveys}


def _scale(survey: Survey) -> Scale:
    return survey.scale_min, survey.scale_max


def _kept_scale(path: Path) -> Scale:
    if not path.is_file():
        raise WrongInput(f"{path}: the instrument of these answers is missing; import both again")
    fields = read_yaml(path)
    if not isinstance(fields, dict) or not {"scale_min", "scale_max"} <= fields.keys():
        raise WrongInput(f"{path}: no readable scale_min and scale_max in it; import it again")
    low, high = fields["scale_min"], fields["scale_max"]
    if not (isinstance(low, int) and isinstance(high, int) and low < high):
        raise WrongInput(
            f"{path}: expected whole numbers scale_min < scale_max, got {low!r} and {high!r}"
        )
    return low, high


def _scale_without_instrument(answers: Answers) -> Scale:
    """What the answers alone show: from 1 to the highest rating, or centred on 0 where ratings
    below 1 occur.
    """
    ratings = np.concatenate([answers.considerations[phase] for phase in PHASES])
    low, high = int(ratings.min()), int(ratings.max())
    return (1, max(high, 2)) if low >= 1 else (-max(-low, high), max(-low, high, 1))
