"""Rating debates: a blind rater is asked for its stance, then for its ballot on the debate.

A unit is a debate of six speeches; a rater is one seat of a panel, and a language model speaks for
it. Seeds are those of the debate.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from delibsim.analysis.debates.rated import debates_of, edited
from delibsim.asking.blinding import blinded
from delibsim.asking.nouns import (
    Growth,
    Kind,
    Outcome,
    Plan,
    Question,
    Round,
    changed_since,
    missing_in_words,
)
from delibsim.asking.road import merge
from delibsim.asking.settings import KindSettings, setting, settings_in, task_name
from delibsim.asking.texts import kin_among, plain
from delibsim.domain.annotation import (
    DIMENSIONS,
    Annotation,
    Coder,
    Panel,
    Rating,
    Showing,
    Text,
    allocate,
    debated,
    digest,
    sides_by_letter,
)
from delibsim.domain.errors import WrongInput
from delibsim.domain.participant import SIDES, Side
from delibsim.domain.reason import Reason
from delibsim.domain.run import Run, Session
from delibsim.domain.secret import refuse_key
from delibsim.domain.text import counted
from delibsim.domain.treatment import wording_kept, wording_plain
from delibsim.planning.compose import plan
from delibsim.planning.config import key_of, whole
from delibsim.planning.dry_run import DryRunCall
from delibsim.planning.load import Load, load_of
from delibsim.prompts.blocks import transcript_block
from delibsim.prompts.prompt import Prompt
from delibsim.prompts.rating import (
    ballot_prompt,
    check_rater_texts,
    longest_rating_prompt,
    rating_reask,
    stance_prompt,
)
from delibsim.prompts.session import statement_words
from delibsim.store.answers import PanelRatings
from delibsim.store.runs import Runs

ON_THE_BALLOT = (
    "winner",
    "after",
    "attentive",
    *(f"{side}.{name}" for side in SIDES for name in DIMENSIONS),
)
"""What is missing from a rating where the ballot could not be read."""
PARTS = {"before": "stance", "winner": "ballot"}
"""What a rater is asked for, by a value that stands in each."""
Key = tuple[str, str]
"""A rating: debate, rater."""


@dataclass(frozen=True)
class RatedDebates:
    """What is put before raters: the complete debates by name, which of them each rater is shown
    (`shown`), and how many broke off.
    """

    panel: Panel
    debates: Mapping[str, Run]
    shown: Mapping[str, Sequence[Showing]]
    incomplete: int = 0

    def rater(self, id: str) -> Coder:
        """A rater by its name."""
        return next(coder for coder in self.panel.coders if coder.id == id)

    def counts(self) -> list[int]:
        """How many raters each debate has."""
        raters = Counter(one.debate for own in self.shown.values() for one in own)
        return [raters[debate] for debate in self.debates]


class RatingKind(Kind):
    """The kind: ratings of debates by the raters of a panel."""

    noun = "rating"
    called = "the panel"
    growth = Growth(
        fixed=("each", "wording", "reasks", "seed"),
        named=("raters", "models"),
        kept=("study", "allocation"),
        come=True,
        go=True,
    )

    def coders(self, plan: Plan) -> list[str]:
        """The raters."""
        return [coder.id for coder in plan.about.panel.coders]

    def model(self, plan: Plan, coder: str) -> str:
        """The model in the seat of a rater."""
        return plan.about.rater(coder).model

    def kept(self, runs: Runs, name: str) -> Plan:
        """The ratings of a panel as they were kept."""
        ratings = PanelRatings.begun(runs, name)
        task = ratings.files.task()
        debates = [run for run in debates_of(runs)[0] if run.session.id in task["texts"]]
        return self.as_kept(runs, ratings, rated_in(panel_kept(ratings.name, task), debates, task))

    def lost(self, plan: Plan) -> list[str]:
        """The debates that the study no longer holds as they were rated."""
        now = {name: digest(run) for name, run in plan.about.debates.items()}
        told = "the debate was edited or removed since it was rated"
        return changed_since(plan.task["texts"], now, told)

    def keys(self, plan: Plan, coder: str) -> Iterator[Key]:
        """One rating of each debate that a rater is shown."""
        return ((one.debate, coder) for one in plan.about.shown[coder])

    def rounds(
        self, plan: Plan, coder: str, keys: set[Key], done: Mapping[Key, Any], faults: list[str]
    ) -> Iterator[Round]:
        """For each debate the stance, then the ballot."""
        rater = plan.about.rater(coder)
        for one in plan.about.shown[coder]:
            if (one.debate, coder) in keys:
                run = plan.about.debates[one.debate]
                sitting = DebateSitting(plan.about.panel, rater, run, one.first)
                population = run.session.seed_for("population")
                stances: list[Annotation] = []
                yield Round([sitting.stance(stances)], population=population)
                yield Round((sitting.ballot(said) for said in stances), population=population)

    def longest(self, plan: Plan) -> Prompt:
        """A ballot, if every speech is as long as it may be."""
        debate = next(iter(plan.about.debates.values())).session
        words = statement_words(debate)[1]
        return longest_rating_prompt(plan.about.panel, motion_of(debate), words)

    def load(self, plan: Plan, coder: str, waiting: set[Key]) -> Load:
        """Two calls a rating, with placeholders for the replies."""
        found, rater = Load(), plan.about.rater(coder)
        for one in plan.about.shown[coder]:
            if (one.debate, coder) in waiting:
                run = plan.about.debates[one.debate]
                calls = DebateSitting(plan.about.panel, rater, run, one.first).calls()
                found += load_of(calls, calls, len(calls), repeated=False)
        return found

    def missing(self, answer: Rating) -> Reason | None:
        """The first reason why a value is missing."""
        return next(iter(answer.missing.values()), None)

    def usable(self, answer: Rating) -> bool:
        """Whether the ballot is there."""
        return answer.winner is not None

    def named(self, answer: Rating) -> str:
        """The debate and the rater."""
        return f"{answer.session}, {answer.rater}"

    def said(self, answer: Rating) -> str:
        """Winner, stances and numbers."""
        sides = []
        for side in SIDES:
            given = answer.of(side)
            sides.append("/".join(str(given.get(name, "-")) for name in DIMENSIONS))
        stance = f"stance {answer.before} to {answer.after}"
        return f"winner {answer.winner}, {stance}, {' and '.join(sides)}"

    def plain(self, plan: Plan, outcome: Outcome) -> dict[str, Any]:
        """What came of asking the raters, as plain values."""
        about, counts = plan.about, plan.about.counts()
        return {
            "study": plan.runs.study,
            "panel": about.panel.name,
            "debates": len(about.debates),
            "incomplete": about.incomplete,
            **outcome.plain(),
            "faults": [*outcome.faults, *plan.faults],
            "planned": sum(counts),
            "fewest_raters": min(counts, default=0),
            "most_raters": max(counts, default=0),
            "unallocated": counts.count(0),
            "debates_per_rater": plan.settings.each,
        }

    def told(self, plan: Plan, outcome: Outcome) -> list[str]:
        """How many ratings there are, and what was not to be rated, in sentences."""
        about, counts, each = plan.about, plan.about.counts(), plan.settings.each
        raters = counted(len(about.panel.coders), "rater")
        if each is not None:
            few, most = min(counts, default=0), max(counts, default=0)
            among = f"{few}" if few == most else f"{few} to {most}"
            word = "rater" if most == 1 else "raters"
            raters += f", {counted(each, 'debate')} each, {among} {word} a debate"
        head = f"{counted(len(about.debates), 'debate')}, {raters}"
        lines = replace(outcome, missing={}).told("rating", head)
        keys = plan.answer_keys()
        own = (answer for answer in plan.answers.kept() if answer.key in keys)
        gaps = (gap for answer in own for gap in answer.missing.items() if gap[0] in PARTS)
        lacking = Counter((PARTS[part], why.code) for part, why in gaps)
        lines += [missing_in_words(n, *gap) for gap, n in lacking.items()]
        if n := counts.count(0):
            nobody = f"allocated to nobody yet: {counted(n, 'debate')}"
            lines.append(f"{nobody}; raters whom a larger group.size adds will rate them")
        if about.incomplete:
            lines.append(f"not rated, because they broke off: {about.incomplete}")
        return lines


RATINGS = RatingKind()


@dataclass(frozen=True)
class DebateSitting:
    """A rater of a panel before one debate; `first` is the side shown as Speaker A."""

    panel: Panel
    rater: Coder
    run: Run
    first: Side

    @property
    def key(self) -> Key:
        """That of the rating."""
        return self.run.session.id, self.rater.id

    def _question(
        self, prompt: Callable[[], Prompt], read: Callable[[Annotation], Sequence[Rating]]
    ) -> Question:
        """One of the questions of the rater."""
        debate = self.run.session

        def seed(asked: Prompt) -> int:
            purpose = asked.purpose
            return debate.seed_for(purpose.participant, purpose.occasion, purpose.attempt)

        again = partial(rating_reask, self.panel)
        return Question(debate.id, prompt, seed, again, self.panel.reasks, (self.key,), read)

    def stance(self, stances: list[Annotation]) -> Question:
        """The rater's stance on the motion, from 0 to 100, before the debate is read; the reply is
        added to `stances`.
        """

        def read(reply: Annotation) -> Sequence[Rating]:
            stances.append(reply)
            return ()

        prompt = partial(stance_prompt, self.panel, self.rater, motion_of(self.run.session))
        return self._question(prompt, read)

    def ballot(self, stance: Annotation) -> Question:
        """The rater's ballot on the blinded debate, and with it the rating."""
        debate = self.run.session

        def prompt() -> Prompt:
            transcript = Text(debate.id, transcript_block(blinded(self.run, self.first)))
            own = (self.panel, self.rater, debate.topic.question, transcript, stance.value)
            return ballot_prompt(*own, check_number(debate, self.rater))

        return self._question(prompt, lambda reply: [self.rating(stance, reply)])

    def rating(self, stance: Annotation, ballot: Annotation) -> Rating:
        """The rating that two replies give; what is missing from it has its reason."""
        missing = {} if stance.value is not None else {"before": stance.reason}
        if ballot.value is None:
            missing |= dict.fromkeys(ON_THE_BALLOT, ballot.reason)
        return Rating(
            session=self.run.session.id,
            rater=self.rater.id,
            first=self.first,
            before=stance.value,
            **judged(ballot.value, self.first, check_number(self.run.session, self.rater)),
            missing=missing,
            source="model",
            model=self.rater.model,
            debate_sha256=digest(self.run),
            panel=self.panel.name,
        )

    def calls(self) -> list[DryRunCall]:
        """The two calls, with examples in the place of replies."""
        prompt = self.stance([]).prompt()
        said = prompt.reply.example("")
        stance = Annotation(self.run.session.id, self.rater.model, prompt.reply.read(said))
        ballot = self.ballot(stance).prompt()
        name = self.rater.model
        return [DryRunCall(name, prompt, said), DryRunCall(name, ballot, ballot.reply.example(""))]


def first_shown(debate: str, index: int, seed: int) -> Side:
    """The side that a rater knows as Speaker A.

    It is drawn for each debate, and every second rater sees the other one; `index` is the rater's
    place in its panel.
    """
    draw = random.Random(f"{seed}/{debate}").randrange(2)
    return SIDES[(draw + index) % 2]


def check_number(debate: Session, rater: Coder) -> int:
    """The number of the attention check.

    It has two digits, so that it is no rating that might be given anyway by habit.
    """
    return 11 + debate.seed_for(debate.id, rater.id, "check") % 79


def motion_of(debate: Session) -> Text:
    """The motion of a debate, under the name of the debate."""
    return Text(debate.id, debate.topic.question)


def judged(ballot: dict[str, Any] | None, first: Side, check: int) -> dict[str, Any]:
    """The fields of a rating that a ballot on Speakers A and B gives, by side; a person may leave
    some of it out.
    """
    if ballot is None:
        return {}
    sides = sides_by_letter(first)
    fields: dict[str, Any] = {}
    for letter, side in sides.items():
        labelled = [(f"{letter}{i}", name) for i, name in enumerate(DIMENSIONS, 1)]
        fields[side] = {name: ballot[label] for label, name in labelled if label in ballot}
    fields["winner"] = sides.get(ballot.get("WINNER", ""))
    fields["after"] = ballot.get("S1")
    fields["attentive"] = ballot["C1"] == check if "C1" in ballot else None
    return fields


def panel_kept(name: str, task: Mapping[str, Any]) -> Panel:
    """A panel as a study keeps it."""
    coders = []
    for index, seat in enumerate(task["raters"].values(), 1):
        coders.append(Coder(name, index, seat["model"], seat["persona"]))
    return Panel(name, tuple(coders), task["models"], wording_kept(task["wording"]), task["reasks"])


def showings(task: Mapping[str, Any]) -> dict[str, tuple[Showing, ...]]:
    """The debates of every rater of a panel that rates so many each."""
    found = {}
    for rater, own in task.get("allocation", {}).items():
        found[rater] = tuple(Showing(**one) for one in own)
    return found


def rated_in(panel: Panel, debates: Sequence[Run], task: Mapping[str, Any]) -> RatedDebates:
    """What the raters of a panel are given: all complete debates, or those allocated to each."""
    complete = {run.session.id: run for run in debates if debated(run)}
    allocated = showings(task)
    shown = {}
    for rater in panel.coders:
        if "allocation" in task:
            own = allocated[rater.id]
            shown[rater.id] = [one for one in own if one.debate in complete]
            continue
        shown[rater.id] = []
        for name, run in complete.items():
            first = first_shown(name, rater.index, run.session.seed)
            shown[rater.id].append(Showing(name, first))
    return RatedDebates(panel, complete, shown, len(debates) - len(complete))


WORDING = "oxford"
"""The wording that raters read by default."""


@dataclass(frozen=True)
class RatingSettings(KindSettings):
    """What is set for raters beside their group, models and limits: the name of the panel, and how
    many debates each rates (None: all).
    """

    name: str = setting("panel", task_name, "panel")
    each: int | None = setting(None, whole(1, 1_000_000))


def plan_ratings(runs: Runs, overrides: Sequence[str]) -> Plan:
    """The ratings of the panel that these settings describe; nobody is asked.

    WrongInput for a study without debates, for a debate that was edited after it was rated, for a
    number of debates that a rater cannot have, and for other settings of a panel that has begun.
    """
    settings, others = settings_in(RatingSettings, overrides, "setting of raters", strict=False)
    if not any(key_of(one) == "wording" for one in others):
        others.insert(0, f"wording={WORDING}")
    planned = plan(others)
    panel = panel_of(planned.session, settings.name)
    check_rater_texts(panel.wording)
    debates, faults = debates_of(runs)
    if changed := edited(debates):
        advice = (
            "Nobody was asked. Put the debate back as it was, or hold it anew in another study."
        )
        raise WrongInput("\n".join([*changed, advice]))
    ratings = PanelRatings.of(runs, panel.name)
    new = _task(runs, panel, planned.session.seed, settings.each, debates)
    task = merge(RATINGS, ratings, plain(new))
    if settings.each is not None:
        task["allocation"] = _allocated(panel, debates, settings.each, task)
    about = rated_in(panel, debates, task)
    debating = {name: own for run in debates for name, own in run.session.models.items()}
    return Plan(
        kind=RATINGS,
        runs=runs,
        answers=ratings,
        settings=settings,
        models=panel.models,
        limits=planned.limits,
        addresses=planned.addresses,
        task=task,
        about=about,
        warnings=tuple(kin_among(panel.models, debating, ("rater", "debater"))),
        faults=tuple(faults),
    )


def panel_of(session: Session, name: str = "panel") -> Panel:
    """The participants of a planned session as a panel of raters, counted from 1."""
    refuse_key("panel", name)
    coders = []
    for index, person in enumerate(session.participants, 1):
        coders.append(Coder(name, index, person.model, person.persona))
    return Panel(name, tuple(coders), session.models, session.wording, session.procedure.reasks)


def _task(
    runs: Runs, panel: Panel, seed: int, each: int | None, debates: Sequence[Run]
) -> dict[str, Any]:
    """What a study keeps of a panel: everything that decides on what is asked."""
    raters = {one.id: {"model": one.model, "persona": one.persona} for one in panel.coders}
    return {
        "study": runs.study,
        "seed": seed,
        "each": each,
        "reasks": panel.reasks,
        "wording": wording_plain(panel.wording),
        "raters": raters,
        "models": {name: dict(own) for name, own in panel.models.items()},
        "texts": {run.session.id: digest(run) for run in debates if debated(run)},
    }


def _allocated(
    panel: Panel, debates: Sequence[Run], each: int, task: Mapping[str, Any]
) -> dict[str, list[dict[str, str]]]:
    """Which debates each rater rates, with what was allocated before. Debates that were held since
    go to raters who join since.
    """
    complete = [run.session for run in debates if debated(run)]
    motions = {session.id: session.topic.id for session in complete}
    seed = complete[0].seed if complete else 0
    raters = [coder.id for coder in panel.coders]
    found = allocate(motions, raters, each, seed, showings(task))
    return plain({rater: list(map(asdict, own)) for rater, own in found.items()})
