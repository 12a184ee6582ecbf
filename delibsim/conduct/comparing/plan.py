"""What is to be compared by whom: texts, dimensions, sheets and judges of a comparison."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from delibsim.annotation.adaptive import Chain
from delibsim.annotation.pairs import Drawing, PairMaterial, groups_of, sheets_of
from delibsim.conduct.asking.texts import IMPORTED, checked_wording, plain, shown_texts
from delibsim.conduct.comparing.batches import ADAPTIVE, batches_of, chain_of, sheets_in
from delibsim.conduct.comparing.begun import merged
from delibsim.conduct.comparing.pair_list import pairs_in
from delibsim.conduct.comparing.texts import (
    TOPIC,
    gathered_texts,
    texts_to_compare,
    topics_of,
    unit_and_group,
)
from delibsim.domain.annotation import Text
from delibsim.domain.comparison import Pair, Sheet
from delibsim.domain.errors import WrongInput
from delibsim.domain.quality import QualityDimension
from delibsim.domain.text import counted
from delibsim.domain.treatment import Wording
from delibsim.measures.bradley_terry.problem import DENSE
from delibsim.planning.comparing import ComparingAsked, ComparingSettings, comparing_asked
from delibsim.planning.compose import Plan
from delibsim.prompts.compare import Manner, check_judge_texts
from delibsim.store.comparisons import Comparisons, dimension_to_plain
from delibsim.store.instruments.library import Library
from delibsim.store.packs import packs_of
from delibsim.store.runs import Runs

FEW = 5
"""How many ids a message names."""
Key = tuple[str, str, str, str, int]
"""A vote: first text, second text, dimension, judge, run."""


@dataclass(frozen=True)
class ComparisonPlan:
    """Who is to judge which sheets on which dimensions, with the limits of the command.

    `sheets` are those that this command asks for, `models` the settings of the judges by name,
    `task` what the study keeps, `notes` what must be known, `faults` runs that cannot be read. The
    sheets of an adaptive comparison differ between dimensions, and are those of the batches that
    there are; `chains` say how further ones are chosen. `sources` are the studies from which
    `texts` are gathered, none where they are those of a study.
    """

    runs: Runs
    settings: ComparingSettings
    comparisons: Comparisons
    dimensions: tuple[QualityDimension, ...]
    material: PairMaterial
    sheets: tuple[Sheet, ...]
    manner: Manner
    wording: Wording
    models: Mapping[str, Mapping[str, Any]]
    plan: Plan
    task: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    texts: tuple[Text, ...] = ()
    sources: tuple[Runs, ...] = ()
    by_dimension: Mapping[str, tuple[Sheet, ...]] = field(default_factory=dict)
    chains: tuple[Chain, ...] = ()

    def sheets_on(self, dimension: str) -> tuple[Sheet, ...]:
        """The sheets of a dimension."""
        return self.by_dimension.get(dimension, self.sheets)

    def keys_of(self, judge: str) -> Iterator[Key]:
        """The keys of all votes that a judge is to give, as `Vote.key` has them."""
        for dimension in self.dimensions:
            for sheet in self.sheets_on(dimension.id):
                for run in range(1, self.settings.runs + 1):
                    yield sheet.a, sheet.b, dimension.id, judge, run


def plan_comparison(
    runs: Runs,
    overrides: Sequence[str],
    keep_equal: bool = False,
    home: Path | None = None,
    sources: Sequence[Runs] = (),
    people: bool = False,
) -> ComparisonPlan:
    """The comparison that these settings describe, of the texts of a study; nobody is asked.

    With `sources` the texts are gathered from them, and `runs` is the study of their own. With
    `people` no language model is a judge. With `keep_equal` texts that are word for word alike are
    compared as they are. WrongInput for texts that cannot be compared, for a design or setting that
    cannot be, and for other settings or texts under a comparison that has begun.
    """
    asked = comparing_asked(overrides)
    if people:
        asked = replace(asked, judges=replace(asked.judges, models={}))
    settings = asked.settings
    library = Library(home)
    dimensions = _dimensions(library, settings)
    check = partial(check_judge_texts, examples=settings.examples > 0)
    wording = checked_wording(settings.wording, check)
    faults: list[str] = []
    if sources:
        unit, within = IMPORTED, ""
        _refuse_sessions(settings, sources)
        texts = gathered_texts(sources, settings.unit, faults)
    else:
        unit, within = unit_and_group(runs, settings)
        texts = texts_to_compare(runs, unit, within, faults)
    refuse_texts(list(shown_texts(runs, texts).values()), keep_equal)
    by_id = {text.id: text for text in texts}
    listed = pairs_in(Path(settings.file), by_id) if settings.design == "list" else ()
    notes = [*asked.judges.ignored, *_notes(texts, settings)]
    comparisons = Comparisons.of(runs, settings.name)
    _refuse_people(asked, comparisons)
    new = task_of(runs, asked, dimensions, wording, texts, listed)
    new |= {"unit": unit, "within": within}
    task = merged(comparisons, plain(new), runs)
    chosen = _chosen(texts, task, settings)
    chains = []
    for id in settings.dimensions if settings.adaptive else ():
        chains.append(replace(chain_of(task, texts, id), per_text=settings.per_text))
    planned = ComparisonPlan(
        runs=runs,
        settings=settings,
        comparisons=comparisons,
        dimensions=dimensions,
        material=material_of(runs, task, texts),
        sheets=chosen,
        manner=manner_of(task),
        wording=wording,
        models=asked.judges.models,
        plan=asked.judges.plan,
        task=task,
        notes=tuple(notes),
        faults=tuple(faults),
        texts=tuple(texts),
        sources=tuple(sources),
        chains=tuple(chains),
    )
    return with_batches(planned)


def with_batches(planned: ComparisonPlan) -> ComparisonPlan:
    """A plan with the sheets of all batches that there are now; as it is where none are chosen."""
    if not planned.chains:
        return planned
    kept = batches_of(planned.comparisons.steps())
    ids = [dimension.id for dimension in planned.dimensions]
    return of_sheets(planned, {id: sheets_in(kept.get(id, ())) for id in ids})


def of_sheets(
    planned: ComparisonPlan, by_dimension: Mapping[str, tuple[Sheet, ...]]
) -> ComparisonPlan:
    """A plan with these sheets on its dimensions."""
    every = tuple(dict.fromkeys(sheet for own in by_dimension.values() for sheet in own))
    material = replace(planned.material, sheets={sheet.id: sheet for sheet in every})
    return replace(planned, sheets=every, by_dimension=dict(by_dimension), material=material)


def _refuse_people(asked: ComparingAsked, comparisons: Comparisons) -> None:
    """WrongInput for a judge that has the name of a person who was handed a pack."""
    for pack in packs_of(comparisons.files).values():
        for key in pack["sheets"].values():
            if key["rater"] in asked.judges.models:
                raise WrongInput(
                    f"'{key['rater']}' is a rater of comparison {comparisons.name}; give the model"
                    " another model.name"
                )


def _dimensions(library: Library, settings: ComparingSettings) -> tuple[QualityDimension, ...]:
    """The dimensions that are asked for, without examples where none are shown; WrongInput for one
    that has none to show.
    """
    found = []
    for id in settings.dimensions:
        dimension = library.dimension(id)
        if settings.examples and not dimension.examples:
            raise WrongInput(
                f"dimension {id} has no examples; write three into its file (examples:, one each"
                " with answer: A, B and Tie), or leave examples= out"
            )
        found.append(dimension if settings.examples else replace(dimension, examples=()))
    return tuple(found)


def _refuse_sessions(settings: ComparingSettings, sources: Sequence[Runs]) -> None:
    """WrongInput where texts of several studies were to be compared within their sessions."""
    if settings.within not in ("", TOPIC):
        names = " and ".join(source.study for source in sources)
        raise WrongInput(f"texts of {names} share no session; compare them within=topic")


def refuse_texts(texts: Sequence[Text], keep_equal: bool) -> None:
    """WrongInput for texts, as judges see them, that are empty or, unless they are kept, word for
    word alike within their group, and where no group has two texts.
    """
    empty = [text.id for text in texts if not text.text.strip()]
    if empty:
        raise WrongInput(f"empty texts cannot be compared: {_few(empty)}")
    alike: dict[tuple[str, str], list[str]] = {}
    for text in texts:
        alike.setdefault((text.group, text.text.strip()), []).append(text.id)
    equal = [" and ".join(ids) for ids in alike.values() if len(ids) > 1]
    if equal and not keep_equal:
        raise WrongInput(
            f"texts of one group are word for word alike: {_few(equal)}; leave all but one out, or"
            " have them judged as they are: --keep-equal"
        )
    if max(map(len, groups_of(texts).values()), default=0) < 2:
        raise WrongInput(
            "no group has two texts, and texts are compared within their group only; import them"
            " with another --group, or with none; of sessions, compare them within=topic"
        )


def _notes(texts: Sequence[Text], settings: ComparingSettings) -> list[str]:
    """What must be known of groups that a design does not fit; WrongInput where it fits none."""
    sizes = {group: len(ids) for group, ids in groups_of(texts).items()}
    most = max(sizes.values())
    alone = [group or "(none)" for group, n in sizes.items() if n < 2]
    notes = []
    wordless = [text.id for text in texts if not any(map(str.isalnum, text.text))]
    if wordless:
        notes.append(f"texts without a letter or digit are judged as they are: {_few(wordless)}")
    if alone:
        notes.append(f"groups with one text are not compared: {_few(alone)}")
    if settings.design == "groups" and settings.g > most:
        raise WrongInput(
            f"design.g={settings.g} is more than the {most} texts of the largest group; take"
            f" design.g={most} at most, or design=all"
        )
    several = sum(n for n in sizes.values() if n > 1)
    if settings.adaptive and several > DENSE:
        raise WrongInput(
            f"design=adaptive chooses among {DENSE:,} texts at most, and there are {several:,};"
            " take design=random"
        )
    per_text = settings.per_text if settings.grows and not settings.adaptive else 0
    small = [group or "(none)" for group, n in sizes.items() if 2 <= n <= per_text]
    if small:
        notes.append(
            f"{counted(len(small), 'group')} of {per_text} texts or fewer: all pairs are judged"
            f" ({_few(small)})"
        )
    return notes


def task_of(
    runs: Runs,
    asked: ComparingAsked,
    dimensions: Sequence[QualityDimension],
    wording: Wording,
    texts: Sequence[Text],
    listed: Sequence[Pair],
) -> dict[str, Any]:
    """What a study keeps of a comparison: everything that decides on what is asked."""
    settings, session = asked.settings, asked.judges.plan.session
    design: dict[str, Any] = {"kind": settings.design, "order": settings.order}
    if settings.design == "groups":
        design["g"] = settings.g
    if settings.design == "list":
        design["pairs"] = [[pair.one, pair.other] for pair in listed]
    if settings.adaptive:
        design |= {"probe": settings.probe, "batch": settings.batch}
    until = {"until": dict(settings.until)} if settings.adaptive else {}
    return {
        "study": runs.study,
        "seed": session.seed,
        "design": design,
        "per_text": [settings.per_text] if settings.grows else [0],
        **until,
        "runs": settings.runs,
        "criteria": settings.criteria,
        "examples": settings.examples,
        "ties": settings.ties,
        "reasons": settings.reasons,
        "topic": settings.topic,
        "temperature": settings.temperature,
        "reasks": session.procedure.reasks,
        "wording": {"id": wording.id, "texts": dict(wording.texts)},
        "dimensions": {one.id: dimension_to_plain(one) for one in dimensions},
        "models": {name: dict(own) for name, own in asked.judges.models.items()},
        "texts": {text.id: text.sha256 for text in texts},
    }


def manner_of(task: Mapping[str, Any]) -> Manner:
    """How judges of a comparison are asked."""
    examples = task.get("examples", 0)
    return Manner(task["criteria"], task["ties"], task["reasons"], examples > 0)


def names_of(task: Mapping[str, Any]) -> tuple[str, int]:
    """What the seeds of a comparison begin with."""
    return task["study"], task["seed"]


def task_sheets(task: Mapping[str, Any], texts: Sequence[Text]) -> list[Sheet]:
    """All sheets of a comparison as it was kept; those of an adaptive one are in its batches."""
    kept = task["design"]
    if kept["kind"] == ADAPTIVE:
        return []
    by_id = {text.id: text for text in texts}
    pairs = tuple(Pair(a, b, by_id[a].group) for a, b in kept.get("pairs", ()))
    drawing = Drawing(kept["kind"], size=kept.get("g", 0), order=kept["order"], listed=pairs)
    return sheets_of(groups_of(texts), drawing, task["per_text"], names_of(task))


def material_of(runs: Runs, task: Mapping[str, Any], texts: Sequence[Text]) -> PairMaterial:
    """The texts and sheets of a comparison as judges see them."""
    topics = topics_of(runs, texts) if task["topic"] else {}
    sheets = {sheet.id: sheet for sheet in task_sheets(task, texts)}
    return PairMaterial(names_of(task), shown_texts(runs, texts), topics, sheets)


def _chosen(
    texts: Sequence[Text], task: Mapping[str, Any], settings: ComparingSettings
) -> tuple[Sheet, ...]:
    """The sheets that a command asks for: with fewer comparisons a text than were asked for before,
    the first of those that there are.
    """
    sheets = task_sheets(task, texts)
    if settings.per_text >= max(task["per_text"]) or not settings.grows:
        return tuple(sheets)
    fewer = {**task, "per_text": [settings.per_text]}
    pairs = {one.pair for one in task_sheets(fewer, texts)}
    return tuple(one for one in sheets if one.pair in pairs)


def _few(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    more = f" and {len(names) - FEW:,} more" if len(names) > FEW else ""
    return ", ".join(names[:FEW]) + more
