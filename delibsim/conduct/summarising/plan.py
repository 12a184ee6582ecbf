"""What is to be summarised by whom: opinions, sizes, orders, groups and summarisers of a set."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from delibsim.annotation.summaries import (
    FEWEST,
    OpinionMaterial,
    SummaryTask,
    slots_of,
)
from delibsim.annotation.summary_parts import named_in_parts, prompts_of
from delibsim.conduct.asking.begun import answered, changed_settings, edited_texts, refuse_if
from delibsim.conduct.asking.texts import checked_wording, plain
from delibsim.conduct.embedding import embedding_named
from delibsim.domain.errors import WrongInput
from delibsim.domain.opinion import OpinionSet, alike
from delibsim.domain.seed import seed_of
from delibsim.domain.summary import Slot
from delibsim.domain.text import counted, study_named
from delibsim.domain.treatment import Wording
from delibsim.measures.summaries.texts import NoSharedWord, clusters
from delibsim.models.clients.prices import context_window
from delibsim.models.retry import estimated_tokens
from delibsim.planning.compose import Plan
from delibsim.planning.summarising import (
    ALL,
    SummarisingAsked,
    SummarisingSettings,
    summarising_asked,
)
from delibsim.prompts.summary import check_summary_texts
from delibsim.store.opinions import opinions_of
from delibsim.store.runs import Runs
from delibsim.store.summaries import Summaries

FIXED = ("question", "groups", "embedding", "temperature", "reasks", "seed", "wording")
"""Settings that are the same for all summaries of a task."""
JOINING = "summary_parts"
"""The wording in which the summaries of parts are summarised."""
SHORT, LONG = 133, 435
"""Words of a summary in 5 and 95 per cent of those that people rated."""


@dataclass(frozen=True)
class SummaryPlan:
    """Which summaries a command asks for, with its limits.

    `models` are the settings of the language models by name, `floors` the extractive summarisers,
    `task` what the study keeps, `notes` what must be known.
    """

    runs: Runs
    settings: SummarisingSettings
    summaries: Summaries
    opinions: OpinionSet
    material: OpinionMaterial
    slots: tuple[Slot, ...]
    wording: Wording
    models: Mapping[str, Mapping[str, Any]]
    floors: tuple[str, ...]
    plan: Plan
    task: Mapping[str, Any]
    notes: tuple[str, ...] = ()

    @property
    def summarisers(self) -> list[str]:
        """Everybody who is asked: language models, then the extractive ones."""
        return [*self.models, *self.floors]

    def of(self, model: str) -> list[Slot]:
        """The summaries that a summariser is to give."""
        return [slot for slot in self.slots if slot.model == model]

    @property
    def asking(self) -> SummaryTask:
        """What summarisers are asked."""
        return task_asked(self.task, self.material, self.slots)

    def too_long(self) -> Iterator[str]:
        """The sizes that do not fit a model, in sentences."""
        for model, settings in self.models.items():
            window = context_window(str(settings.get("model", "")))
            told = set()
            for slot in self.of(model):
                place = slot.size
                if window is None or slot.group or place in told:
                    continue
                prompts = prompts_of(self.asking, slot, LONG)
                tokens = max(estimated_tokens(prompt.messages) for prompt in prompts)
                tokens += int(settings.get("max_tokens") or 0)
                if tokens > window:
                    told.add(place)
                    yield (
                        f"size {place:,} does not fit {model}: up to {tokens:,} tokens, and it"
                        f" takes {window:,}"
                    )


def plan_summaries(runs: Runs, overrides: Sequence[str]) -> SummaryPlan:
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
    task = _merged(summaries, plain(new), runs)
    material = material_of(task, opinions)
    models = asked.models.models
    slots = slots_of(material, [*models, *asked.floors], sizes, settings.draws, settings.runs)
    return SummaryPlan(
        runs=runs,
        settings=settings,
        summaries=summaries,
        opinions=opinions,
        material=material,
        slots=tuple(slots),
        wording=wording,
        models=models,
        floors=asked.floors,
        plan=asked.models.plan,
        task=task,
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
        "joining": {"id": joining.id, "texts": dict(joining.texts)},
    }


def _sizes(settings: SummarisingSettings, most: int, runs: Runs) -> tuple[int, ...]:
    """The sizes as numbers; WrongInput for one beyond the set."""
    for size in settings.sizes:
        if size > most:
            raise WrongInput(
                f"size {size:,} is beyond the {counted(most, 'opinion')} with a word of"
                f" {study_named(runs.study)}; take --sizes all, or {most:,} at most"
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
        "wording": {"id": wording.id, "texts": dict(wording.texts)},
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


def _merged(summaries: Summaries, new: Mapping[str, Any], runs: Runs) -> dict[str, Any]:
    """What a study keeps of its summaries after this command.

    Nobody is bound to the settings of a command that got no answer. WrongInput, naming what
    differs, where other settings or opinions would stand under the summaries that there are.
    """
    files = summaries.files
    if not answered(files):
        return dict(new)
    begun = files.task()
    fixed = (*FIXED, "joining") if "joining" in begun and "joining" in new else FIXED
    where = f"{study_named(runs.study)}, summaries {summaries.name}"
    refuse_if(
        changed_settings(begun, new, fixed, ("models",)),
        f"{where}: these settings are not those of the summaries that there are",
        "go on with the settings as they were, or name others: name=NAME; other settings of a"
        " model need another model.name",
    )
    added = [f"{id}: new" for id in new["texts"] if id not in begun["texts"]]
    lost = [f"{id}: no longer there" for id in begun["texts"] if id not in new["texts"]]
    edited = [f"{id}: edited" for id in edited_texts(begun["texts"], new["texts"])]
    refuse_if(
        [*edited, *lost, *added],
        f"{where}: the opinions are not those that were summarised",
        "nobody was asked; name other summaries: name=NAME",
    )
    found = {**new, "study": begun["study"], "grouped": begun["grouped"]}
    found["models"] = {**begun["models"], **new["models"]}
    found["sizes"] = sorted({*begun["sizes"], *new["sizes"]})
    for name in ("draws", "runs"):
        found[name] = max(begun[name], new[name])
    found |= {"embedded": begun["embedded"]} if "embedded" in begun else {}
    if "parts" in begun:
        found["parts"] = {**begun["parts"], **new.get("parts", {})}
        found["joining"] = begun["joining"]
    return found


def material_of(task: Mapping[str, Any], opinions: OpinionSet) -> OpinionMaterial:
    """The opinions of a task as summarisers see them, in the order in which they were kept."""
    texts = {text.id: text.text for text in opinions.texts}
    own = {id: texts[id] for id in task["texts"] if id in texts}
    names = task["study"], task["seed"]
    return OpinionMaterial(names, task["question"], own, task["grouped"])


def task_asked(
    task: Mapping[str, Any], material: OpinionMaterial, slots: Sequence[Slot]
) -> SummaryTask:
    """What summarisers of a task as it was kept are asked."""
    wording = Wording(task["wording"]["id"], task["wording"]["texts"])
    joining = task.get("joining")
    return SummaryTask(
        material=material,
        wording=wording,
        slots={slot.id: slot for slot in slots},
        reasks=task["reasks"],
        chunks=task.get("parts", {}),
        joining=joining and Wording(joining["id"], joining["texts"]),
    )


def task_slots(task: Mapping[str, Any], material: OpinionMaterial) -> list[Slot]:
    """All summaries that are planned in a task as it was kept."""
    models = [*task["models"], *task["floors"]]
    return slots_of(material, models, task["sizes"], task["draws"], task["runs"])
