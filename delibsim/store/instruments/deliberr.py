"""The instruments and human answers published with the R package deliberr, as surveys and answers
of ours.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.survey import PHASES, Item, Survey
from delibsim.store.instruments.answers import Answers, Columns, Ratings, in_source, read_answers
from delibsim.store.instruments.library import PUBLISHED
from delibsim.store.instruments.published import LONG, SHEETS, Instrument, read_instruments

HUMAN = "human_data.csv"
"""The name of the file with the answers of people."""

COLUMNS = Columns(participant="pnum", phase="stage_id", phases={"1": "pre", "2": "post"})

ANSWERS_PER_POINT = 20
"""How many answers a scale point must have had on average before one that nobody used counts as no
part of the scale.
"""

REMARKS = {
    "auscj": "rank 1 is the least preferred in its answers, by what the options say: turned round",
    "zukunft": "its statements are about care for mental health, whatever the name suggests",
}
"""What the files do not say and a reader of them finds."""

UNDECLARED = (
    "the answers of an earlier import do not say what rank 1 is, and stay as they are; "
    f"import {HUMAN} again before personas are made of them"
)


@dataclass(frozen=True, eq=False)
class Published:
    """Surveys and answers read from the published files, with notes on everything that was decided
    or found on the way.
    """

    surveys: tuple[Survey, ...]
    answers: tuple[Answers, ...]
    notes: tuple[str, ...]


def find_files(paths: Iterable[Path]) -> dict[str, Path]:
    """The published files among files and folders, by name; WrongInput where there is none or two
    of one name.
    """
    found: dict[str, Path] = {}
    for path in paths:
        names = [LONG, SHEETS, HUMAN]
        if not path.exists():
            raise WrongInput(f"{path}: there is no such file or folder")
        if not path.is_dir() and path.name not in names:
            advice = f"{path} should be one of these, as the R package deliberr publishes them"
            raise unknown("file", path.name, names, advice)
        here = [path]
        if path.is_dir():
            here = [path / name for name in names if (path / name).is_file()]
        if not here:
            raise WrongInput(f"{path}: none of {', '.join(names)} is in this folder")
        for file in here:
            if file.name in found:
                raise WrongInput(
                    f"two files named {file.name}: {found[file.name]} and {file}; give one"
                )
            found[file.name] = file
    return found


def local_name(survey: Survey) -> str:
    """The name of a survey in the published files: ccps of deliberr.ccps."""
    return survey.id.removeprefix(PUBLISHED)


def read_published(
    files: Mapping[str, Path], version: str, answers: Sequence[Answers] = ()
) -> Published:
    """Surveys and answers from the published files as `find_files` gives them; `version` is that of
    the package.

    `answers` are those of an earlier import, which stand where the files hold none. Raises
    WrongInput naming file, line and column.
    """
    instruments, notes = read_instruments(files)
    if HUMAN in files:
        answers = published_answers(files[HUMAN])
    for own in answers:
        if own.survey not in instruments:
            raise WrongInput(
                f"{own.path}, line {own.lines['pre'][0]}, column survey:"
                f" {unknown('survey', own.survey, instruments)}"
            )
    by_survey = {own.survey: own for own in answers}
    surveys = []
    for instrument in instruments.values():
        survey, found = _survey(instrument, by_survey.get(instrument.id), version)
        surveys.append(survey)
        notes += found
    ordered = tuple(by_survey[name] for name in instruments if name in by_survey)
    return Published(tuple(surveys), ordered, tuple(notes))


def published_answers(path: Path) -> tuple[Answers, ...]:
    """The answers in the package's `human_data` table, with rank 1 as the most preferred."""
    found = read_answers(path, COLUMNS).values()
    return tuple(own.facing(in_source(PUBLISHED + own.survey)) for own in found)


def scale_shown(ratings: Ratings, scale_max: int) -> tuple[int, int] | None:
    """The scale from which people answered, given the instrument's `scale_max`; None where no such
    scale holds every rating.

    1 to scale_max, or as many points centred on 0 where ratings below 1 occur, or 1 to the highest
    rating where the points above were never used in `ANSWERS_PER_POINT` times as many answers as
    the scale has points.
    """
    low, high = int(ratings.min()), int(ratings.max())
    half = (scale_max - 1) // 2
    if low < 1:
        return (-half, half) if scale_max % 2 and -half <= low and high <= half else None
    if high > scale_max:
        return None
    enough = ratings.size >= ANSWERS_PER_POINT * scale_max and high > 1
    return 1, high if enough else scale_max


def sort_shared(ratings: Ratings, scale: tuple[int, int]) -> tuple[int, ...] | None:
    """How many items each scale point got in the majority of the sorts (rows); None where no
    distribution has one.
    """
    points = np.arange(scale[0], scale[1] + 1)
    counted = (ratings[:, :, None] == points).sum(axis=1)  # (sorts, points)
    distribution, sorts = Counter(map(tuple, counted.tolist())).most_common(1)[0]
    return distribution if sorts > len(ratings) / 2 else None


def _survey(
    instrument: Instrument, answers: Answers | None, version: str
) -> tuple[Survey, list[str]]:
    """The instrument as a survey of ours, with notes on what the answers decided."""
    if answers is None:
        scale, forced, notes = (1, instrument.scale_max), None, _without_answers(instrument)
    else:
        scale, forced, notes = _by_answers(instrument, answers)
    if instrument.id in REMARKS:
        notes.append(REMARKS[instrument.id])
    items = []
    for k, text in enumerate(instrument.considerations, start=1):
        items.append(Item(f"C{k}", "consideration", text))
    for k, text in enumerate(instrument.preferences, start=1):
        items.append(Item(f"P{k}", "preference", text))
    try:
        survey = Survey(
            id=PUBLISHED + instrument.id,
            items=tuple(items),
            scale_min=scale[0],
            scale_max=scale[1],
            forced_distribution=forced,
            validated=True,
            source=(
                f"R package deliberr {version} (G. Kreia Umbelino and F. Veri; MIT licence), survey"
                f" {instrument.id}"
            ),
        )
    except ValueError as error:
        raise WrongInput(f"{instrument.where}: {error}") from error
    return survey, [f"{instrument.id}: {note}" for note in notes]


def _without_answers(instrument: Instrument) -> list[str]:
    """Notes on an instrument that nobody's answers came with."""
    notes = [f"no answers; the scale is taken from the instrument, 1 to {instrument.scale_max}"]
    if instrument.q_sort:
        notes.append("a Q sort without answers; its forced distribution is not known and left out")
    return notes


def _by_answers(
    instrument: Instrument, answers: Answers
) -> tuple[tuple[int, int], tuple[int, ...] | None, list[str]]:
    """The scale and the forced distribution that people's answers show, with notes."""
    _same_items(instrument, answers)
    notes = []
    if not answers.declared and in_source(PUBLISHED + instrument.id) == "least_preferred":
        notes.append(UNDECLARED)
    scale, note = _scale(instrument, answers)
    if note:
        notes.append(note)
    if not instrument.q_sort:
        return scale, None, notes
    forced, note = _forced_distribution(answers, scale)
    return scale, forced, [*notes, note]


def _same_items(instrument: Instrument, answers: Answers) -> None:
    for kind, items, ratings in (
        ("C", instrument.considerations, answers.considerations["pre"]),
        ("P", instrument.preferences, answers.preferences["pre"]),
    ):
        if len(items) != ratings.shape[1]:
            column = f"{kind}{min(len(items), ratings.shape[1]) + 1}"
            raise WrongInput(
                f"{answers.path}, line {answers.lines['pre'][0]}, column {column}: {answers.survey}"
                f" has answers to {ratings.shape[1]} {kind} items, and its instrument"
                f" ({instrument.where}) has {len(items)}"
            )


def _scale(instrument: Instrument, answers: Answers) -> tuple[tuple[int, int], str]:
    ratings = np.concatenate([answers.considerations[phase] for phase in PHASES])
    stated = (1, instrument.scale_max)
    scale = scale_shown(ratings, instrument.scale_max)
    if scale is None:
        lines = [line for phase in PHASES for line in answers.lines[phase]]
        row, item = np.argwhere((ratings > instrument.scale_max) | (ratings < 1))[0]
        raise WrongInput(
            f"{answers.path}, line {lines[row]}, column C{item + 1}: {ratings[row, item]} is"
            f" outside the scale of {answers.survey}, 1 to {instrument.scale_max}, and the answers"
            f" fit no scale of {instrument.scale_max} points around 0 either"
        )
    if scale == stated:
        return scale, ""
    found = f"the {ratings.size:,} answers run from {ratings.min()} to {ratings.max()}"
    taken = f"the scale is taken as {scale[0]} to {scale[1]}"
    return scale, f"the instrument says 1 to {instrument.scale_max}, {found}; {taken}"


def _forced_distribution(
    answers: Answers, scale: tuple[int, int]
) -> tuple[tuple[int, ...] | None, str]:
    """The distribution that the majority of sorts keep, None where none has one, and a note."""
    sorts = np.concatenate([answers.considerations[phase] for phase in PHASES])
    forced = sort_shared(sorts, scale)
    if forced is None:
        note = f"a Q sort, but no distribution has a majority of the {len(sorts)} sorts; left out"
        return None, note
    kept = sum(sort_shared(row[None], scale) == forced for row in sorts)
    note = (
        f"a Q sort; forced distribution {list(forced)}, as in {kept} of the {len(sorts)} sorts of"
        " people"
    )
    return forced, note
