"""Scoring summaries by a trained judge: each opinion with each summary that was written from it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from delibsim.analysis.summaries.score_files import PUBLISHED_DROP
from delibsim.asking.designs import JudgedMaterial, rating_sittings
from delibsim.asking.kinds.judgment import judged_material
from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.summary import TrainedScore, Triple
from delibsim.domain.text import counted, study_named
from delibsim.scorers.judge.checkpoint import (
    SCALES,
    CheckpointRecord,
    InputForm,
    base_tokenizer,
    complete_from_base,
    hashes,
    load_judge,
    need_extra,
    read_record,
    write_record,
)
from delibsim.store.answers import Summaries
from delibsim.store.runs import Runs
from delibsim.store.study_texts import opinions_of
from delibsim.store.training import TrainedScores

Told = Callable[[str], None]
Pair = tuple[str, str]
EVERY = 1_000
"""Scores after which a line of progress is told."""


@dataclass(frozen=True)
class ScoredSummaries:
    """What came of scoring: how many scores were planned, are new, were known; how many leave 0..1,
    how many summaries were cut; the notes that a reader needs.
    """

    judge: str
    summaries: int
    planned: int
    new: int
    before: int
    outside: int
    cut: int
    notes: tuple[str, ...]
    interrupted: bool = False


def set_up_judge(
    folder: Path,
    activation: str = "",
    form: InputForm | None = None,
    scale: str = "",
    base: Path | None = None,
) -> CheckpointRecord:
    """Check and hash a checkpoint. Activation, form and scale ("unit" or "labels") are read from
    its record; of one that was made elsewhere they are stated. `base` is the folder of the encoder
    from which files are copied that a checkpoint of weights alone lacks.

    WrongInput for a checkpoint that is partial, foreign, or changed how it is read.
    """
    need_extra()
    if not folder.is_dir():
        raise WrongInput(f"{folder} is no folder; give the one of a checkpoint")
    if (folder / "judge.json").is_file():
        known = read_record(folder)
        if activation and activation != known.activation:
            raise refused(
                "another_activation",
                folder=folder,
                activation=known.activation,
                other=activation,
            )
        if form is not None and form != known.form:
            raise WrongInput(f"{folder}: its record has another input form: {known.form}")
        if scale and SCALES.get(scale) != known.scale:
            raise WrongInput(f"{folder}: its record says scale {known.scale}, not {scale}")
    else:
        if activation not in ("sigmoid", "none"):
            raise refused("activation_not_said", folder=folder)
        scale = scale or "unit"
        if scale not in SCALES:
            raise WrongInput(f"scale= is unit (0 to 1) or labels (-1 to 7), not '{scale}'")
        if scale == "labels" and activation == "sigmoid":
            raise WrongInput("scale=labels: a sigmoid gives 0 to 1, so it gives no labels")
        name = folder.resolve().name
        known = CheckpointRecord(name, activation, SCALES[scale], form or InputForm())
    if base is not None:
        complete_from_base(folder, base)
    base_tokenizer(folder)
    load_judge(folder, known)
    record = replace(known, files=hashes(folder))
    write_record(folder, record)
    return record


def score_summaries(
    runs: Runs,
    folder: Path,
    summaries: str = "",
    device: str = "auto",
    told: Told = lambda _: None,
    controls: bool = False,
) -> ScoredSummaries:
    """Score every summary of a study beside every opinion that it was written from, with `controls`
    also beside as many others; what is known is not computed again.

    WrongInput where there is nothing to score, or another checkpoint has that name.
    """
    need_extra()
    found = Summaries.begun(runs, summaries)
    made = [one for one in found.all() if one.missing is None]
    if not made:
        raise WrongInput(f"{study_named(runs.study)}: there is no summary to be scored")
    material = judged_material(runs, found, opinions_of(runs), made)
    from delibsim.scorers.judge.checkpoint import named, outside, trained_judge

    judge = trained_judge(folder, device)
    scores = TrainedScores.of(runs, judge.record.name)
    _settle(runs, scores, judge.record, found.name, controls)
    sittings = rating_sittings(material, controls=controls)
    pairs = [(one.summary, one.opinion) for one in sittings]
    triples = [_triple(material, *pair) for pair in pairs]
    keys = [judge.key(triple) for triple in triples]
    waiting = _Waiting.of(pairs, keys, scores)
    told(f"{waiting.told()} of {len(pairs):,} scores to compute")

    def as_they_come() -> Iterator[TrainedScore]:
        yield from waiting.copied()
        places = waiting.places
        computed = judge.scores([triples[place] for place in places])
        for done, (n, values) in enumerate(computed, 1):
            yield from waiting.scored(keys[places[n]], named(values))
            if done % EVERY == 0:
                told(f"{done:,} of {len(places):,}")

    interrupted, new = False, 0
    try:
        new = scores.add(as_they_come())
    except KeyboardInterrupt:
        interrupted = True
    wanted = set(keys)
    now = {one.key: one.values for one in scores.all() if one.key in wanted}
    return ScoredSummaries(
        judge=judge.record.name,
        summaries=len(made),
        planned=len(pairs),
        new=new,
        before=len(pairs) - waiting.pairs,
        outside=sum(outside(tuple(now[key].values())) for key in keys if key in now),
        cut=judge.cut,
        notes=tuple(notes_of(judge.record, material.question)),
        interrupted=interrupted,
    )


@dataclass(frozen=True)
class _Waiting:
    """The pairs without a score, by the key of their texts, and the values that are known by key.

    Texts that occur twice are scored once.
    """

    by_key: Mapping[str, list[tuple[int, Pair]]]
    known: Mapping[str, Mapping[str, float]]

    @classmethod
    def of(cls, pairs: Sequence[Pair], keys: Sequence[str], scores: TrainedScores) -> "_Waiting":
        """The pairs of a study that wait."""
        there: dict[Pair, str] = {}
        known: dict[str, Mapping[str, float]] = {}
        for one in scores.all():
            there[one.summary, one.opinion] = one.key
            known[one.key] = one.values
        found: dict[str, list[tuple[int, Pair]]] = {}
        for place, (pair, key) in enumerate(zip(pairs, keys, strict=True)):
            if there.get(pair) != key:
                found.setdefault(key, []).append((place, pair))
        return cls(found, known)

    @property
    def places(self) -> list[int]:
        """The places of the texts that are to be scored, each text once."""
        return [own[0][0] for key, own in self.by_key.items() if key not in self.known]

    @property
    def pairs(self) -> int:
        """How many pairs wait."""
        return sum(map(len, self.by_key.values()))

    def told(self) -> str:
        """How many wait, in words."""
        return f"{self.pairs:,} ({len(self.places):,} with texts of their own)"

    def copied(self) -> Iterator[TrainedScore]:
        """The scores of pairs whose texts have a score already."""
        for key in self.by_key.keys() & self.known.keys():
            yield from self.scored(key, self.known[key])

    def scored(self, key: str, values: Mapping[str, float]) -> Iterator[TrainedScore]:
        """The score of every pair with these texts."""
        for _, pair in self.by_key[key]:
            yield TrainedScore(*pair, key, values)


def notes_of(record: CheckpointRecord, question: str) -> list[str]:
    """What must be known before the scores of a checkpoint on a question are read."""
    if question in record.questions:
        return []
    if not record.questions:
        notes = ["the checkpoint does not say which questions it was trained on"]
    else:
        trained = counted(len(record.questions), "question")
        notes = [f"outside its domain: it was trained on {trained}, and not on this one"]
    notes.append(PUBLISHED_DROP)
    for name, figures in record.left_out.items():
        rho = figures["mean"]["spearman"]
        said = "undefined" if rho is None else f"{rho:.3f}"
        notes.append(f"this judge, with that question left out: Spearman {said} on: {name}")
    if record.questions and not record.left_out:
        notes.append(
            "this checkpoint has no figures by questions left out: delibsim judge train"
            " leave_out=each"
        )
    return notes


def _triple(material: JudgedMaterial, summary: str, opinion: str) -> Triple:
    words = material.opinions[opinion], material.summaries[summary]
    return Triple(material.question, *words)


def _settle(
    runs: Runs, scores: TrainedScores, record: CheckpointRecord, summaries: str, controls: bool
) -> None:
    """Keep which checkpoint scores which summaries; WrongInput where another has its name."""
    now = {"judge": record.name, "checkpoint": record.hash, "summaries": summaries}
    if scores.files.begun():
        begun = scores.files.task()
        changed = [name for name, value in now.items() if begun.get(name) != value]
        if changed:
            raise refused(
                "scores_of_another_judge",
                study=study_named(runs.study),
                named=record.name,
                changed=" and ".join(changed),
            )
        controls = controls or bool(begun.get("controls"))
    scores.files.settle({**now, "controls": controls})
