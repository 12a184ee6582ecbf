"""Training a judge of summaries: parts, network, baseline, what came of it, all in one folder."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from delibsim.analysis.summaries.score_files import calibrations, evaluation, scores_said
from delibsim.conduct.trained.records import hash_of
from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.summary import (
    DIMENSIONS,
    PARTS,
    Part,
    Record,
    parts_by_rater,
    parts_without,
    questions_of,
    seed_of_parts,
)
from delibsim.domain.text import counted
from delibsim.measures.summaries.texts import fit_ridge
from delibsim.scorers.judge.checkpoint import (
    CheckpointRecord,
    InputForm,
    base_tokenizer,
    hashes,
    need_extra,
    save_judge,
    write_record,
)
from delibsim.store.files import json_text, locked, staged, write_atomically
from delibsim.store.reading import read_json

CHECKPOINTS = "checkpoints"
SETTINGS = "training.json"
FINISHED = "judge"
"""Within the folder of a training: checkpoints and curve, settings, and the finished judge."""
EACH = "each"
Told = Callable[[str], None]


@dataclass(frozen=True)
class Training:
    """What is trained: records, an encoder to begin with, settings, and where it goes.

    `left_out` is "" for parts by rater, a question that is the test part, or "each".
    """

    records: Sequence[Record]
    base: Path
    folder: Path
    settings: Mapping[str, Any]
    activation: str = "sigmoid"
    longest: int = 4096
    left_out: str = ""


@dataclass(frozen=True)
class Finished:
    """What came of a training: the folder of the judge and its record; None where it was
    interrupted, at a step.
    """

    folder: Path
    record: CheckpointRecord | None
    step: int


def train_judge(training: Training, resume: bool, told: Told = lambda line: None) -> Finished:
    """Train a judge, or go on.

    WrongInput, before anything is trained, for other settings, records or base than the folder was
    begun with, for a training that is going on there, and where the extra is not installed.
    """
    need_extra()
    questions = questions_of(training.records)
    if training.left_out not in ("", EACH, *questions):
        known = "; ".join(questions)
        raise WrongInput(f"there is no question '{training.left_out}' to leave out, but: {known}")
    training.folder.mkdir(parents=True, exist_ok=True)
    with locked(training.folder):
        _settle(training, resume)
        left_out: dict[str, Any] = {}
        if training.left_out == EACH:
            for n, question in enumerate(questions, 1):
                told(f"left out: {question}")
                place = training.folder / "left_out" / str(n)
                own = replace(training, folder=place, left_out=question)
                found = _train(own, question, {}, told)
                if found.record is None:
                    return found
                left_out[question] = found.record.metrics
        question = "" if training.left_out == EACH else training.left_out
        return _train(training, question, left_out, told)


def _train(training: Training, question: str, left_out: Mapping[str, Any], told: Told) -> Finished:
    """One training, from its last whole checkpoint on if there is one."""
    from delibsim.scorers.judge.checkpoint import read_record

    done = training.folder / FINISHED
    if (done / "judge.json").is_file():
        return Finished(done, read_record(done), 0)
    parts = parts_of(training, question)
    sizes = ", ".join(f"{len(parts[name]):,} {name}" for name in PARTS)
    told(f"records: {sizes}")
    from delibsim.scorers.judge.training import TrainingSettings, begun, plain_settings, train

    settings = TrainingSettings(**training.settings)
    tokenizer = base_tokenizer(training.base)
    form = InputForm(longest=training.longest)
    judge = begun(training.base, training.activation, settings.seed)
    checkpoints = training.folder / CHECKPOINTS
    found = train(judge, tokenizer, form, parts, settings, checkpoints, True, told)
    if found.interrupted:
        return Finished(training.folder, None, found.step)
    record = CheckpointRecord(
        name=training.folder.name,
        activation=training.activation,
        form=form,
        questions=tuple(questions_of([*parts["train"], *parts["validation"]])),
        base=_hash_of_base(training.base),
        data=hash_of(training.records),
        settings=plain_settings(settings) | {"left_out": question, "step": found.step},
        counts={name: len(parts[name]) for name in PARTS} | {"cut": found.cut},
        left_out=left_out,
    )
    record = _judged(record, judge, tokenizer, parts)
    return Finished(done, _keep(record, judge, tokenizer, training.base, done), found.step)


def parts_of(training: Training, question: str) -> dict[Part, list[Record]]:
    """The parts of a training: by rater, or with a question left out."""
    seed = seed_of_parts("judge", int(training.settings.get("seed", 42)))
    if question:
        return parts_without(training.records, question, seed)
    return parts_by_rater(training.records, seed)


def _judged(
    record: CheckpointRecord, judge: Any, tokenizer: Any, parts: Mapping[Part, Sequence[Record]]
) -> CheckpointRecord:
    """The record with what the judge, and the baseline on the same parts, are worth."""
    from delibsim.scorers.judge.checkpoint import Predictor

    predictor = Predictor(judge, tokenizer, record)
    test, validation = parts["test"], parts["validation"]
    ridge = fit_ridge(_texts(parts["train"]), scores_said(parts["train"]))
    baseline = ridge.predict(_texts(test))
    return replace(
        record,
        metrics=evaluation(test, predicted(predictor, test)),
        baseline=evaluation(test, baseline),
        calibration=calibrations(validation, predicted(predictor, validation)),
    )


def _texts(records: Sequence[Record]) -> list[tuple[str, str, str]]:
    return [(one.triple.question, one.triple.opinion, one.triple.summary) for one in records]


def predicted(predictor: Any, records: Sequence[Record]) -> np.ndarray:
    """What a network says of records (records x dimensions)."""
    found = np.full((len(records), len(DIMENSIONS)), np.nan)
    for place, values in predictor.scores([one.triple for one in records]):
        found[place] = values
    return found


def _keep(
    record: CheckpointRecord, judge: Any, tokenizer: Any, base: Path, to: Path
) -> CheckpointRecord:
    """Write a judge whole, or not at all; its record with the hashes of its files."""
    with staged(to) as folder:
        save_judge(judge, tokenizer, base, folder)
        kept = replace(record, files=hashes(folder))
        write_record(folder, kept)
    return kept


def _settle(training: Training, resume: bool) -> None:
    """Write what a training was begun with; WrongInput where a folder was begun with another."""
    now = {
        "settings": dict(training.settings),
        "activation": training.activation,
        "longest": training.longest,
        "left_out": training.left_out,
        "data": hash_of(training.records),
        "base": _hash_of_base(training.base),
    }
    file = training.folder / SETTINGS
    if not file.is_file():
        write_atomically(file, json_text(now, indent=1) + "\n")
        return
    begun = read_json(file)
    changed = [name for name, value in now.items() if begun.get(name) != value]
    if changed:
        raise refused(
            "training_began_otherwise", folder=training.folder, changed=", ".join(changed)
        )
    if not resume:
        raise refused("training_there_already", folder=training.folder)


def _hash_of_base(base: Path) -> str:
    """Twelve characters that change with any file of the encoder."""
    from delibsim.scorers.neural import key_of

    files = hashes(base) if base.is_dir() else {}
    if not files:
        raise WrongInput(f"{base} is no folder with an encoder: base=FOLDER")
    return key_of(*(f"{name} {digest}" for name, digest in sorted(files.items())))[:12]


def described(record: CheckpointRecord) -> list[str]:
    """What a checkpoint is worth, in lines."""
    lines = []
    if record.counts:
        parts = ", ".join(f"{record.counts[name]:,} {name}" for name in PARTS)
        lines.append(f"records    {parts}; {counted(record.counts['cut'], 'summary')} cut")
    for name, figures in (("judge", record.metrics), ("ridge", record.baseline)):
        if figures:
            rows = (f"{key} {_figure(figures[key]['spearman'])}" for key in (*DIMENSIONS, "mean"))
            lines.append(f"{name:9}  Spearman with raters of the test part: {', '.join(rows)}")
    for question, figures in record.left_out.items():
        lines.append(f"left out   {_figure(figures['mean']['spearman'])} on: {question}")
    return lines


def _figure(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
