"""Planning a comparison from settings: its own ones (dimension, design ...), texts and judges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

from delibsim.asking.designs import chain_of, groups_of
from delibsim.asking.kinds import pair_texts
from delibsim.asking.kinds.pair import PAIRS, compared_in, task_sheets
from delibsim.asking.nouns import Plan
from delibsim.asking.road import changed_texts, merge, refuse_if
from delibsim.asking.settings import (
    CodersAsked,
    KindSettings,
    called,
    coders_asked,
    roles,
    setting,
    settings_in,
    task_name,
)
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
from delibsim.domain.comparison import ORDERS, SCHEMES, UNTIL, Orders, Pair, Rule, Scheme, Sheet
from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput
from delibsim.domain.scheme import QualityDimension
from delibsim.domain.text import counted, study_named
from delibsim.domain.transcript import CITIZEN
from delibsim.domain.treatment import Wording, wording_plain
from delibsim.measures.bradley_terry.problem import DENSE
from delibsim.planning.config import names, one_name, one_of, temperature, whole, yes_or_no
from delibsim.prompts.compare import Criteria, check_judge_texts
from delibsim.store.annotations import packs_of
from delibsim.store.answers import Comparisons, dimension_to_plain, gathered_and_own
from delibsim.store.instruments.library import Library
from delibsim.store.runs import Runs
from delibsim.store.study_texts import StudyTexts

UNITS = ("statement", "speech", "participant")
WITHIN = ("session", "topic")
JUDGES = called("pair")
EXAMPLES = 3
"""How many examples of a dimension judges are shown, where they are shown any."""
_ASKED = read_data("asked.yaml")["pair"]
OF_DESIGNS: Mapping[str, tuple[str, ...]] = _ASKED["designs"]
"""The designs that each setting of a design is of."""
PER_TEXT, PER_TEXT_UNTIL = 10, 30
"""Comparisons a text; of an adaptive design at most, where a rule may end it before."""
WANTED = "expected rules such as r:0.9, or several of them as [r:0.9,usd:5]"
BOUNDS: Mapping[str, tuple[float, str]] = _ASKED["bounds"]
"""The largest limit of every rule, and what it is."""


def share(name: str, value: Any) -> float:
    """A share from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise WrongInput(f"{name}={value}: expected a share from 0 to 1")
    return float(value)


def rules(name: str, value: Any) -> dict[Rule, float]:
    """The limits of rules, in the order in which they were given.

    >>> rules("design.until", ["r:0.9", "usd:5"])
    {'r': 0.9, 'usd': 5.0}
    """
    found: dict[Rule, float] = {}
    for one in value if isinstance(value, list) and value else [value]:
        kind, _, text = str(one).partition(":")
        if not text:
            raise WrongInput(f"{name}={one}: {WANTED}")
        rule: Rule = one_of(UNTIL)(name, kind)
        if rule in found:
            raise WrongInput(f"{name} has two limits of {rule}; give one")
        most, wanted = BOUNDS[rule]
        try:
            limit = float(text)
        except ValueError:
            limit = 0.0
        if not 0 < limit <= most:
            raise WrongInput(f"{name}={one}: expected {wanted}")
        found[rule] = limit
    return found


def _examples(name: str, value: Any) -> int:
    if isinstance(value, bool) or value not in (0, EXAMPLES):
        raise WrongInput(f"{name}={value}: expected 0, or {EXAMPLES}: one each for A, B and Tie")
    return value


@dataclass(frozen=True)
class ComparingSettings(KindSettings):
    """What is set for a comparison beside models and limits.

    `within` is "" where it is not set. `temperature` None: none is sent. `max_tokens` bounds every
    reply. `examples_of` names a comparison whose judged pairs are the examples. `file` lists the
    pairs of design=list; `probe`, `batch` and `until` are of design=adaptive: the share of pairs
    drawn at random, the pairs asked about together, and the limits of the rules that end it.
    """

    dimensions: tuple[str, ...] = setting((), names, "dimension")
    name: str = setting("main", task_name)
    design: Scheme = setting("random", one_of(SCHEMES))
    per_text: int = setting(PER_TEXT, whole(1, 100_000), "design.per_text")
    g: int = setting(8, whole(2, 1_000), "design.g")
    file: str = setting("", one_name, "design.file")
    probe: float = setting(0.3, share, "design.probe")
    batch: int = setting(50, whole(1, 10_000), "design.batch")
    until: Mapping[Rule, float] = setting(dict, rules, "design.until")
    order: Orders = setting("one", one_of(ORDERS))
    runs: int = setting(1, whole(1, 1_000))
    criteria: Criteria = setting("none", one_of(get_args(Criteria)))
    ties: bool = setting(True, yes_or_no)
    reasons: bool = setting(False, yes_or_no)
    topic: bool = setting(False, yes_or_no)
    unit: str = setting("statement", one_of(UNITS))
    within: str = setting("", one_of(WITHIN))
    roles: tuple[str, ...] = setting((CITIZEN,), roles)
    examples: int = setting(0, _examples)
    examples_of: str = setting("", task_name)
    temperature: float | None = setting(0.7, temperature)
    max_tokens: int = setting(400, whole(1, 1_000_000))
    wording: str = setting("compare", one_name)

    @property
    def adaptive(self) -> bool:
        """Whether pairs are chosen by what is known so far."""
        return self.design == "adaptive"

    @property
    def grows(self) -> bool:
        """Whether the design has so many comparisons a text, to which more can be added."""
        return self.design in ("random", "ring", "adaptive")


def comparing_asked(overrides: Sequence[str]) -> tuple[ComparingSettings, CodersAsked]:
    """What settings ask for, and the judges; WrongInput for a key or value that cannot be."""
    settings, others = settings_in(ComparingSettings, overrides, "setting of a comparison")
    if settings.until and "design.per_text" not in settings.keys:
        settings = replace(settings, per_text=PER_TEXT_UNTIL)
    if not settings.dimensions:
        raise WrongInput(
            "name the dimension: dimension=logical (delibsim list dimensions lists them)"
        )
    _refuse_design(settings)
    if settings.examples_of and not settings.examples:
        raise WrongInput(f"examples_of={settings.examples_of} is of examples=3; add it")
    if settings.examples and not settings.ties:
        raise WrongInput(
            "examples=3 shows a tie, and ties=false allows none; leave one of both out"
        )
    return settings, coders_asked(others, settings.temperature, settings.max_tokens, JUDGES)


def _refuse_design(settings: ComparingSettings) -> None:
    """WrongInput for a design that cannot be, or a setting that another design has."""
    kind, per_text = settings.design, settings.per_text
    if kind == "ring" and per_text % 2:
        near = f"{per_text - 1} or {per_text + 1}" if per_text > 1 else f"{per_text + 1}"
        raise WrongInput(
            f"design.per_text={per_text} cannot be with design=ring: every text is compared with as"
            f" many neighbours on either side; take {near}"
        )
    if kind == "adaptive" and per_text < 2:
        raise WrongInput(
            f"design.per_text={per_text} cannot be with design=adaptive, which begins with a ring:"
            " every text is compared with two others; take 2 or more"
        )
    for name, kinds in OF_DESIGNS.items():
        if f"design.{name}" in settings.keys and kind not in kinds:
            listed = " or ".join(f"design={one}" for one in kinds)
            raise WrongInput(f"design.{name} has no effect with design={kind}; it is of {listed}")
    by_errors = sorted({"se", "apart"} & settings.until.keys())
    if kind == "adaptive" and settings.probe == 0 and by_errors:
        raise WrongInput(
            f"design.until={by_errors[-1]} rests on errors, and only pairs drawn at random give"
            " errors that hold; take design.probe=0.3, or another rule"
        )
    if kind == "list" and not settings.file:
        raise WrongInput("design=list needs the file with the pairs: design.file=pairs.csv")


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
        unit, within = unit_and_group(runs, settings)
        texts = pair_texts.texts_to_compare(runs, unit, within, faults, settings.roles)
    pair_texts.refuse_texts(list(shown_texts(runs, texts).values()), keep_equal)
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


def unit_and_group(runs: Runs, settings: ComparingSettings) -> tuple[str, str]:
    """The unit of a comparison of one study, and what its texts are compared within, "" where the
    groups were named at an import; WrongInput for settings that imported texts do not have.
    """
    if not StudyTexts(runs).held():
        return settings.unit, settings.within or pair_texts.SESSION
    for name in ("unit", "within"):
        if name in settings.keys:
            raise WrongInput(
                f"{study_named(runs.study)} holds imported texts, which are compared as they are,"
                f" within the groups named at their import; leave {name}= out"
            )
    return IMPORTED, ""


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


def _notes(texts: Sequence[Text], settings: ComparingSettings) -> list[str]:
    """What must be known of groups that a design does not fit; WrongInput where it fits none."""
    sizes = {group: len(ids) for group, ids in groups_of(texts).items()}
    most = max(sizes.values())
    alone = [group or "(none)" for group, n in sizes.items() if n < 2]
    notes = []
    wordless = [text.id for text in texts if not any(map(str.isalnum, text.text))]
    if wordless:
        notes.append(
            f"texts without a letter or digit are judged as they are: {pair_texts.few(wordless)}"
        )
    if alone:
        notes.append(f"groups with one text are not compared: {pair_texts.few(alone)}")
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
            f" ({pair_texts.few(small)})"
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
