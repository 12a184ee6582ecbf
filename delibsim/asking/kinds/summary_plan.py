"""Planning summaries from settings: sizes, orders, groups and summarisers; what came of asking."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from delibsim.asking.kinds.summary import JOINING, SUMMARIES, summarised_in
from delibsim.asking.nouns import Plan
from delibsim.asking.road import merge, refuse_imported
from delibsim.asking.settings import (
    MODELS,
    SIZE,
    CodersAsked,
    KindSettings,
    called,
    coders_asked,
    readers_of,
    setting,
    settings_in,
    task_name,
)
from delibsim.asking.texts import FEWEST, checked_wording, named_in_parts, plain, slots_of
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.seed import seed_of
from delibsim.domain.summary import FLOORS, OpinionSet, alike
from delibsim.domain.text import counted, study_named
from delibsim.domain.treatment import Wording, wording_plain
from delibsim.measures.summaries.texts import NoSharedWord, clusters
from delibsim.models.sentences import embedding_named
from delibsim.planning.config import key_of, one_name, one_of, read_values, temperature, whole
from delibsim.planning.overrides import values_by_key
from delibsim.planning.presets import Presets
from delibsim.prompts.verdict import check_summary_texts
from delibsim.store.answers import Summaries
from delibsim.store.runs import Runs
from delibsim.store.study_texts import opinions_of

PLANS = ("whole", "chunks")
"""Whether a summary is given in one step, or in two: of parts, and then of their summaries."""
GROUP = "summary"
"""The folder of conf/ that holds presets of these settings."""
ALL = 0
"""The size that stands for the whole set."""
SUMMARISERS = called("summary")


def sizes_read(name: str, value: Any) -> tuple[int, ...]:
    """Sizes from the least to the greatest, `all` as `ALL` at the end.

    >>> sizes_read("sizes", "30,all,10")
    (10, 30, 0)
    """
    listed = value if isinstance(value, list) else str(value).split(",")
    found = set()
    for one in listed:
        said = str(one).strip()
        if said == "all":
            found.add(ALL)
        elif said.isascii() and said.isdigit() and 2 <= int(said) <= 1_000_000:
            found.add(int(said))
        else:
            raise WrongInput(
                f"{name}={value}: give whole numbers of 2 or more, or all, such as sizes="
                "10,30,100,all"
            )
    return (*sorted(found - {ALL}), *([ALL] if ALL in found else []))


@dataclass(frozen=True)
class SummarisingSettings(KindSettings):
    """What is set for summaries beside models and limits; `ALL` among the `sizes` is the whole set.

    With `plan` "chunks", models summarise parts of at most `part` opinions, and then these
    summaries.
    `embedding` says how opinions become points, for themes. `temperature` None: none is sent.
    `max_tokens` bounds every reply.
    """

    name: str = setting("main", task_name)
    sizes: tuple[int, ...] = setting((ALL,), sizes_read)
    draws: int = setting(1, whole(1, 1_000))
    runs: int = setting(3, whole(1, 1_000))
    groups: str = setting("none", one_name)
    plan: str = setting("whole", one_of(PLANS))
    part: int = setting(100, whole(2, 1_000_000))
    embedding: str = setting("tfidf", one_name)
    temperature: float | None = setting(0.7, temperature)
    max_tokens: int = setting(2000, whole(1, 1_000_000))
    wording: str = setting("summary", one_name)


@dataclass(frozen=True)
class SummarisingAsked:
    """What a command asks for: the settings, the language models (None without one), and those of
    the extractive summarisers that are asked beside them.
    """

    settings: SummarisingSettings
    models: CodersAsked
    floors: tuple[str, ...]


def summarising_asked(overrides: Sequence[str]) -> SummarisingAsked:
    """What settings ask for; WrongInput for a key or value that cannot be.

    The extractive summarisers are asked in any case; without a model, they alone.
    """
    own = [override for override in overrides if key_of(override) == GROUP]
    others = [override for override in overrides if key_of(override) != GROUP]
    preset = _of_preset(values_by_key(own).get(GROUP))
    settings, others = settings_in(SummarisingSettings, others, "setting of summaries", preset)
    others, named = _without_floors(others)
    coders = coders_asked(others, settings.temperature, settings.max_tokens, SUMMARISERS)
    if not named:
        coders = replace(coders, models={})
    if settings.plan == "chunks" and not named:
        raise WrongInput("plan=chunks is for language models; name one: model=NAME")
    if "part" in settings.keys and settings.plan != "chunks":
        raise WrongInput("part is of plan=chunks; give both, or leave part out")
    return SummarisingAsked(settings, coders, FLOORS)


def _of_preset(name: Any) -> dict[str, Any]:
    """What conf/summary/NAME.yaml sets, beside the user first; nothing without a name."""
    if name is None:
        return {}
    found = Presets(Path()).values(GROUP, str(name))
    where = f"conf/{GROUP}/{name}.yaml"
    readers = readers_of(SummarisingSettings)
    for key in found:
        if key not in readers or key == "name":
            raise unknown(f"setting of {where}", str(key), sorted(readers.keys() - {"name"}))
    try:
        return read_values(found, readers)
    except WrongInput as fault:
        raise WrongInput(f"{where}: {fault}") from None


def _without_floors(overrides: Sequence[str]) -> tuple[list[str], bool]:
    """The settings without the extractive summarisers, and whether a model is left."""
    found, left = [], False
    for override in overrides:
        key = key_of(override)
        if key in ("model", MODELS):
            listed = values_by_key([override])[key]
            names = listed if isinstance(listed, list) else [listed]
            models = [name for name in names if name not in FLOORS]
            left = left or bool(models)
            if not models:
                continue
            if len(models) == 1:
                override = f"model={models[0]}"
            else:
                override = f"{MODELS}=[{','.join(map(str, models))}]"
        left = left or key == SIZE
        found.append(override)
    return found, left


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
    refuse_imported(summaries.files.task(), f"summaries {settings.name}")
    new = _task(runs, asked, opinions, sizes, wording)
    task = merge(SUMMARIES, summaries, plain(new))
    about = summarised_in(task, opinions)
    models = asked.models.models
    every = [*models, *asked.floors]
    slots = slots_of(about.material, every, sizes, settings.draws, settings.runs)
    return asked.models.planned(
        SUMMARIES,
        runs,
        summaries,
        settings,
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
                "no opinion has a stance, so there are no groups by stance; take groups=themes"
            )
        return {"grouped": found}
    if settings.groups != "themes":
        return {"grouped": _by_column(opinions, settings.groups)}
    embedding = embedding_named(settings.embedding)
    try:
        points = embedding.points([text.text for text in opinions.spoken])
    except NoSharedWord as fault:
        raise WrongInput(f"there are no themes: {fault}; leave groups= out") from None
    codes = clusters(points, seed_of(*names, "themes"))
    found = {
        text.id: f"theme {code + 1}"
        for text, code in zip(opinions.spoken, codes.tolist(), strict=True)
    }
    kept = {"grouped": found}
    return kept | {"embedded": embedding.source} if embedding.source else kept


def _by_column(opinions: OpinionSet, column: str) -> dict[str, str]:
    """The value of a column of the opinions as their group; WrongInput for one that has none."""
    cells = {text.id: text.facts.get(column, "").strip() for text in opinions.spoken}
    found = {id: f"{column} {cell}" for id, cell in cells.items() if cell}
    if not found:
        columns = dict.fromkeys(name for text in opinions.spoken for name in text.facts)
        raise unknown("value of groups", column, ["none", "stance", "themes", *columns])
    return found
