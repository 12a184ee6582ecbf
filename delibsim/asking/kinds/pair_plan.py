"""Planning a comparison from settings: texts, dimensions, design and judges; what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from delibsim.asking.designs import chain_of, groups_of
from delibsim.asking.kinds import pair_texts
from delibsim.asking.kinds.pair import PAIRS, compared_in, task_sheets
from delibsim.asking.kinds.pair_settings import ComparingSettings, comparing_asked
from delibsim.asking.nouns import Plan
from delibsim.asking.road import changed_texts, merge, refuse_if
from delibsim.asking.settings import CodersAsked
from delibsim.asking.texts import (
    IMPORTED,
    checked_wording,
    kin_among,
    of_roles,
    plain,
    shown_texts,
    speaking_in,
)
from delibsim.domain.annotation import Text
from delibsim.domain.comparison import Pair, Sheet
from delibsim.domain.errors import WrongInput
from delibsim.domain.scheme import QualityDimension
from delibsim.domain.text import counted, study_named
from delibsim.domain.treatment import Wording, wording_plain
from delibsim.measures.bradley_terry.problem import DENSE
from delibsim.prompts.compare import check_judge_texts
from delibsim.store.annotations import packs_of
from delibsim.store.answers import Comparisons, dimension_to_plain, gathered_and_own
from delibsim.store.instruments.library import Library
from delibsim.store.runs import Runs

FEW = 5
"""How many ids a message names."""


def plan_pairs(
    runs: Runs,
    overrides: Sequence[str],
    keep_equal: bool = False,
    home: Path | None = None,
    sources: Sequence[Runs] = (),
    people: bool = False,
) -> Plan:
    """The comparison that these settings describe, of the texts of a study; nobody is asked.

    With `sources` the texts are gathered from them, and `runs` is the study of their own. With
    `people` no language model is a judge. With `keep_equal` texts that are word for word alike are
    compared as they are. WrongInput for texts that cannot be compared, for a design or setting that
    cannot be, and for other settings or texts under a comparison that has begun.
    """
    settings, judges = comparing_asked(overrides)
    if people:
        judges = replace(judges, models={})
    dimensions = _dimensions(Library(home), settings)
    check = partial(check_judge_texts, examples=settings.examples > 0)
    wording = checked_wording(settings.wording, check)
    faults: list[str] = []
    if sources:
        unit, within = IMPORTED, ""
        _refuse_sessions(settings, sources)
        texts = pair_texts.gathered_texts(sources, settings.unit, faults, settings.roles)
    else:
        unit, within = pair_texts.unit_and_group(runs, settings)
        texts = pair_texts.texts_to_compare(runs, unit, within, faults, settings.roles)
    refuse_texts(list(shown_texts(runs, texts).values()), keep_equal)
    by_id = {text.id: text for text in texts}
    listed = pair_texts.pairs_in(Path(settings.file), by_id) if settings.design == "list" else ()
    notes = [*judges.ignored, *_notes(texts, settings)]
    comparisons = Comparisons.of(runs, settings.name)
    _refuse_people(judges, comparisons)
    _refuse_imported(comparisons)
    new = _task(runs, settings, judges, dimensions, wording, texts, listed)
    task = merge(PAIRS, comparisons, plain(new | {"unit": unit, "within": within}))
    about = compared_in(runs, task, texts, dimensions)
    chains = []
    for id in settings.dimensions if settings.adaptive else ():
        chains.append(replace(chain_of(task, texts, id), per_text=settings.per_text))
    about = replace(
        about,
        wording=wording,
        repeats=settings.runs,
        sheets=_chosen(about.sheets, texts, task, settings),
        chains=tuple(chains),
        sources=tuple(sources),
    )
    spoken = speaking_in(sources or gathered_and_own(runs))
    planned = judges.planned(
        PAIRS,
        runs,
        comparisons,
        settings,
        task=task,
        about=about,
        notes=tuple(notes),
        warnings=tuple(kin_among(judges.models, spoken, ("judge", "speaker"))),
        faults=tuple(faults),
        most_usd=settings.until.get("usd"),
    )
    return PAIRS.now(planned)


def _refuse_imported(comparisons: Comparisons) -> None:
    """WrongInput for a comparison whose votes were imported."""
    begun = comparisons.files.task() if comparisons.bound else {}
    if begun.get("imported"):
        refuse_if(
            [f"{len(begun['texts']):,} texts known by id only"],
            f"{study_named(begun['study'])}, comparison {comparisons.name} was imported, and"
            " language models cannot go on with it",
            "name another comparison: name=NAME",
        )


def refuse_edited(comparisons: Comparisons, texts: Sequence[Text]) -> None:
    """WrongInput where texts are not those that were compared."""
    begun, now = comparisons.files.task()["texts"], {text.id: text.sha256 for text in texts}
    for changed in changed_texts(begun, now):
        raise WrongInput(
            f"comparison {comparisons.name}: text {changed.partition(':')[0]} is not the one that"
            " was compared before; name another comparison: name=NAME"
        )


def _refuse_people(judges: CodersAsked, comparisons: Comparisons) -> None:
    """WrongInput for a judge that has the name of a person who was handed a pack."""
    for pack in packs_of(comparisons.files).values():
        for key in pack["sheets"].values():
            if key["rater"] in judges.models:
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
        written = settings.examples and not settings.examples_of
        if written and not dimension.examples:
            raise WrongInput(
                f"dimension {id} has no examples; write three into its file (examples:, one each"
                " with answer: A, B and Tie), or leave examples= out"
            )
        found.append(dimension if written else replace(dimension, examples=()))
    return tuple(found)


def _refuse_sessions(settings: ComparingSettings, sources: Sequence[Runs]) -> None:
    """WrongInput where texts of several studies were to be compared within their sessions."""
    if settings.within not in ("", pair_texts.TOPIC):
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
            " have them judged as they are: keep_equal=true"
        )
    if max(map(len, groups_of(texts).values()), default=0) < 2:
        raise WrongInput(
            "no group has two texts, and texts are compared within their group only; import them"
            " with another group=COLUMN, or with none; of sessions, compare them within=topic"
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


def _task(
    runs: Runs,
    settings: ComparingSettings,
    judges: CodersAsked,
    dimensions: Sequence[QualityDimension],
    wording: Wording,
    texts: Sequence[Text],
    listed: Sequence[Pair],
) -> dict[str, Any]:
    """What a study keeps of a comparison: everything that decides on what is asked."""
    session = judges.plan.session
    design: dict[str, Any] = {"kind": settings.design, "order": settings.order}
    if settings.design == "groups":
        design["g"] = settings.g
    if settings.design == "list":
        design["pairs"] = [[pair.one, pair.other] for pair in listed]
    if settings.adaptive:
        design |= {"probe": settings.probe, "batch": settings.batch}
    until = {"until": dict(settings.until)} if settings.adaptive else {}
    names = ("runs", "criteria", "examples", "ties", "reasons", "topic", "temperature")
    return {
        "study": runs.study,
        "seed": session.seed,
        "design": design,
        "per_text": [settings.per_text] if settings.grows else [0],
        **until,
        **{name: getattr(settings, name) for name in names},
        **of_roles(settings.roles),
        "reasks": session.procedure.reasks,
        "wording": wording_plain(wording),
        "dimensions": {one.id: dimension_to_plain(one) for one in dimensions},
        "models": {name: dict(own) for name, own in judges.models.items()},
        "texts": {text.id: text.sha256 for text in texts},
        **_judged(runs, settings, texts),
    }


def _judged(
    runs: Runs, settings: ComparingSettings, texts: Sequence[Text]
) -> dict[str, Mapping[str, Any]]:
    """The judged pairs that are shown as examples, where they are taken from a comparison."""
    if not settings.examples_of:
        return {}
    if settings.examples_of == settings.name:
        raise WrongInput("a comparison cannot take examples from itself; name another")
    found = pair_texts.judged_examples(runs, settings.examples_of, settings.dimensions, texts)
    return {"judged_examples": found}


def _chosen(
    sheets: tuple[Sheet, ...],
    texts: Sequence[Text],
    task: Mapping[str, Any],
    settings: ComparingSettings,
) -> tuple[Sheet, ...]:
    """The sheets that a command asks for: with fewer comparisons a text than were asked for before,
    the first of those that there are.
    """
    if settings.per_text >= max(task["per_text"]) or not settings.grows:
        return sheets
    fewer = {**task, "per_text": [settings.per_text]}
    pairs = {one.pair for one in task_sheets(fewer, texts)}
    return tuple(one for one in sheets if one.pair in pairs)


def _few(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    more = f" and {len(names) - FEW:,} more" if len(names) > FEW else ""
    return ", ".join(names[:FEW]) + more
