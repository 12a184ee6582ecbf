"""Planning summaries from settings: sizes, orders, groups and summarisers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from delibsim.asking.embedding import embedding_named
from delibsim.asking.kinds.opinion_material import FEWEST, named_in_parts, slots_of
from delibsim.asking.kinds.summary import JOINING, SUMMARIES, summarised_in
from delibsim.asking.kinds.summary_settings import (
    ALL,
    SummarisingAsked,
    SummarisingSettings,
    summarising_asked,
)
from delibsim.asking.nouns import Plan
from delibsim.asking.road import answered, merge
from delibsim.asking.texts import checked_wording, plain, wording_plain
from delibsim.domain.errors import WrongInput
from delibsim.domain.seed import seed_of
from delibsim.domain.summary import OpinionSet, alike
from delibsim.domain.text import counted, study_named
from delibsim.domain.treatment import Wording
from delibsim.measures.summaries.texts import NoSharedWord, clusters
from delibsim.prompts.verdict import check_summary_texts
from delibsim.store.opinions import opinions_of
from delibsim.store.runs import Runs
from delibsim.store.summaries import Summaries


def plan_summaries(runs: Runs, overrides: Sequence[str]) -> Plan:
    """The summaries that these settings describe; nobody is asked.

    WrongInput for opinions that cannot be summarised, a size beyond the set, and for other settings
    or opinions under a name that has begun.
    """
    asked = _named(summarising_asked(overrides))
    settings = asked.settings
    opinions = opinions_of(runs)
    spoken = {text.id: text.text for text in opinions.spoken}
    if len(spoken) < FEWEST:
        raise WrongInput(
            f"{study_named(runs.study)} has {counted(len(spoken), 'opinion')} with a word; a"
            " summary needs two"
        )
    sizes = _sizes(settings, len(spoken), runs)
    wording = checked_wording(settings.wording, check_summary_texts)
    summaries = Summaries.of(runs, settings.name)
    new = _task(runs, asked, opinions, sizes, wording)
    task = _merged(summaries, plain(new))
    about = summarised_in(task, opinions)
    models = asked.models.models
    every = [*models, *asked.floors]
    slots = slots_of(about.material, every, sizes, settings.draws, settings.runs)
    return Plan(
        kind=SUMMARIES,
        runs=runs,
        answers=summaries,
        settings=settings,
        models=models,
        limits=asked.models.plan.limits,
        addresses=asked.models.plan.addresses,
        task=task,
        about=replace(about, slots=tuple(slots), floors=asked.floors),
        notes=(*asked.models.ignored, *_notes(opinions, task)),
    )


def _named(asked: SummarisingAsked) -> SummarisingAsked:
    """With the models under the names of those who summarise in parts, where they do."""
    if asked.settings.plan != "chunks":
        return asked
    own, plan = asked.models.models, asked.models.plan
    names = {name: named_in_parts(name, asked.settings.part) for name in own}
    models = {names[name]: {**settings, "name": names[name]} for name, settings in own.items()}
    addresses = {names.get(name, name): at for name, at in plan.addresses.items()}
    renamed = replace(asked.models, models=models, plan=replace(plan, addresses=addresses))
    return replace(asked, models=renamed)


def _of_parts(asked: SummarisingAsked) -> dict[str, Any]:
    """What a study keeps of summaries in two steps; nothing without them."""
    if asked.settings.plan != "chunks":
        return {}
    joining = checked_wording(JOINING, check_summary_texts)
    return {
        "parts": dict.fromkeys(asked.models.models, asked.settings.part),
        "joining": wording_plain(joining),
    }


def _sizes(settings: SummarisingSettings, most: int, runs: Runs) -> tuple[int, ...]:
    """The sizes as numbers; WrongInput for one beyond the set."""
    for size in settings.sizes:
        if size > most:
            raise WrongInput(
                f"size {size:,} is beyond the {counted(most, 'opinion')} with a word of"
                f" {study_named(runs.study)}; take sizes=all, or {most:,} at most"
            )
    return tuple(sorted({most if size == ALL else size for size in settings.sizes}))


def _notes(opinions: OpinionSet, task: Mapping[str, Any]) -> Iterator[str]:
    """What must be known of the opinions before they are summarised."""
    silent = len(opinions.texts) - len(opinions.spoken)
    if silent:
        yield f"{counted(silent, 'opinion')} without a word: kept, and not summarised"
    different = len({alike(text.text) for text in opinions.spoken})
    if different < len(opinions.spoken):
        repeated = len(opinions.spoken) - different
        yield f"{counted(repeated, 'opinion')} in the words of another: summarised as they came"
    if different == 1:
        yield "all opinions are alike, so every summary of them is a copy"
    without = [id for id in task["texts"] if task["grouped"] and not task["grouped"].get(id)]
    if without:
        yield f"{counted(len(without), 'opinion')} of no group: in the whole only"


def _task(
    runs: Runs,
    asked: SummarisingAsked,
    opinions: OpinionSet,
    sizes: Sequence[int],
    wording: Wording,
) -> dict[str, Any]:
    """What a study keeps of its summaries: everything that decides on what is asked."""
    settings, session = asked.settings, asked.models.plan.session
    return {
        "study": runs.study,
        "seed": session.seed,
        "question": opinions.question,
        "groups": settings.groups,
        "embedding": settings.embedding,
        **_grouped(opinions, settings, (runs.study, session.seed)),
        "sizes": list(sizes),
        "draws": settings.draws,
        "runs": settings.runs,
        "temperature": settings.temperature,
        "reasks": session.procedure.reasks,
        "wording": wording_plain(wording),
        "models": {name: dict(own) for name, own in asked.models.models.items()},
        "floors": list(asked.floors),
        "texts": {text.id: text.sha256 for text in opinions.spoken},
        **_of_parts(asked),
    }


def _grouped(
    opinions: OpinionSet, settings: SummarisingSettings, names: tuple[str, int]
) -> dict[str, Any]:
    """The group of each opinion (`grouped`), none without groups, and of themes by a model, which
    (`embedded`).
    """
    if settings.groups == "none":
        return {"grouped": {}}
    if settings.groups == "stance":
        found = {text.id: f"stance {text.stance}" for text in opinions.spoken if text.stance}
        if not found:
            raise WrongInput(
                "no opinion has a stance, so there are no groups by stance; take --groups themes"
            )
        return {"grouped": found}
    embedding = embedding_named(settings.embedding)
    try:
        points = embedding.points([text.text for text in opinions.spoken])
    except NoSharedWord as fault:
        raise WrongInput(f"there are no themes: {fault}; leave --groups out") from None
    codes = clusters(points, seed_of(*names, "themes"))
    found = {
        text.id: f"theme {code + 1}"
        for text, code in zip(opinions.spoken, codes.tolist(), strict=True)
    }
    kept = {"grouped": found}
    return kept | {"embedded": embedding.source} if embedding.source else kept


def _merged(summaries: Summaries, new: Mapping[str, Any]) -> dict[str, Any]:
    """What a study keeps of its summaries after this command.

    Nobody is bound to the settings of a command that got no answer.
    """
    if not answered(summaries.files):
        return dict(new)
    begun = summaries.files.task()
    growth = SUMMARIES.growth
    if "joining" in begun and "joining" in new:
        growth = replace(growth, fixed=(*growth.fixed, "joining"))
    where = f"{study_named(begun['study'])}, summaries {summaries.name}"
    return merge(begun, new, growth, where, SUMMARIES.noun)
