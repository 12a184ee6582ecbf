"""`delibsim compare`: texts judged two at a time, and how strong each is."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from delibsim.analysis.table import DisplayTable
from delibsim.asking.kinds.pair import PAIRS, judge_rows, stop_rows, votes_of
from delibsim.asking.kinds.pair_plan import plan_pairs
from delibsim.asking.kinds.pair_texts import study_of_several
from delibsim.asking.nouns import Outcome, Plan
from delibsim.asking.people import HandedOut
from delibsim.asking.settings import task_name
from delibsim.cli.asking import (
    AskingCommand,
    CommandLine,
    Handing,
    Reported,
    answers_table,
    commands_of,
)
from delibsim.cli.options import TEXT, Setting, parted, settings_of, settings_of_kind
from delibsim.cli.terminal import study_at
from delibsim.conduct.texts import rescore_pairs
from delibsim.domain.comparison import Vote
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.reason import in_words
from delibsim.domain.text import counted, quoted, study_named
from delibsim.planning.estimate import CostEstimate
from delibsim.store.answers import Comparisons, gathered_and_own
from delibsim.store.runs import Runs

WEIGHTS = (0.001, 1000.0)
"""The smallest and the largest number of a penalty."""
THRESHOLDS = (0.001, 20.0)
"""The smallest and the largest threshold of ties that may be set, in log odds."""


def _number(text: str, low: float, high: float, wanted: str) -> float:
    """A number between two ends."""
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not low <= number <= high:
        raise ValueError(f"{wanted} from {low:g} to {high:,g}")
    return number


def _threshold(text: str) -> float | None:
    """A threshold that is set; None for one that is estimated."""
    return None if text == "estimated" else _number(text, *THRESHOLDS, "estimated, or a number")


def _penalty(text: str) -> Any:
    """The penalty that a text names; None for none."""
    from delibsim.measures.bradley_terry.likelihood import Dummy, Normal

    kind, _, weight = text.partition(":")
    kinds: dict[str, Any] = {"dummy": Dummy, "normal": Normal}
    if text in ("none", "0", "dummy:0"):
        return None
    if kind not in kinds:
        raise ValueError("dummy:0.1, normal:2 or none")
    return kinds[kind](_number(weight, *WEIGHTS, f"{kind} with a number"))


KEPT_EQUAL = settings_of_kind("compare_ask")
REPORTED = {
    **settings_of_kind("compare_report"),
    "penalty": Setting("", _penalty, "dummy:0.1|normal:TAU|none"),
    "threshold": Setting(None, _threshold, "estimated|X"),
}


class Compare(AskingCommand):
    """Votes on which of two texts is the stronger on a dimension."""

    command = "compare"
    kind = PAIRS
    following = "compare report"
    raters = "5"
    reported = REPORTED

    def plan(self, call: CommandLine, n: int | None = None) -> Plan:
        """The comparison that is asked for."""
        runs, sources, settings = _studies(call)
        own, others = parted(settings, KEPT_EQUAL)
        keep_equal = settings_of(own, KEPT_EQUAL)["keep_equal"]
        return plan_pairs(runs, others, keep_equal, sources=sources)

    def before(self, plan: Plan, found: CostEstimate) -> list[str]:
        """How many votes there are, on how many pairs."""
        about = plan.about
        pairs = f"{counted(about.pairs, 'pair')} on {counted(len(about.sheets), 'sheet')}"
        votes = ("at most " if about.chains else "") + counted(found.planned, "vote")
        counts = f"{votes}, {found.held:,} there already, {found.waiting:,} to be asked for"
        return [f"{study_named(plan.runs.study)}: {pairs}; {counts}"]

    def values(self, plan: Plan, found: CostEstimate) -> dict[str, Any]:
        """What an estimate says of sheets, texts and pairs."""
        about = plan.about
        size = {"sheets": len(about.sheets), "texts": len(about.shown), "pairs": about.pairs}
        return size | {"at_most": bool(about.chains)}

    def tables(self, plan: Plan) -> list[DisplayTable]:
        """Votes by judge and, of an adaptive comparison, what ended its batches."""
        found = [answers_table("votes", judge_rows(plan, votes_of(plan)))]
        if plan.about.chains:
            found.append(answers_table("stops", stop_rows(plan)))
        return found

    def rescore(self, plan: Plan, outcome: Outcome) -> None:
        """Write the scores of pairs anew where there are new votes."""
        if outcome.new:
            rescore_pairs(gathered_and_own(plan.runs))

    def hand_out(self, call: CommandLine, handing: Handing) -> HandedOut:
        """Hand out pairs to be judged."""
        from delibsim.asking.kinds.pair_people import export_pairs, for_people

        people = handing.people(self.raters, "rater")
        runs, sources, settings = _studies(call)
        own, others = parted(settings, KEPT_EQUAL)
        asked = for_people(runs, others, settings_of(own, KEPT_EQUAL)["keep_equal"], sources)
        return export_pairs(asked, people, handing.n, handing.out, handing.online)

    def report(self, call: CommandLine) -> Reported:
        """How strong each text is."""
        from delibsim.conduct.compare_report import report_on_pairs  # pandas is slow to import

        given, runs = settings_of(call.words, REPORTED), call.runs
        several = [Comparisons.begun(runs, name) for name in given["name"].split(",")]
        pairs = _pairs(given["difference"], several[0])
        settings = replace(_settings(given, several[0]), top=given["top"], differences=pairs)
        found = report_on_pairs(runs, several, settings, given["against"])
        return Reported(found, [_nothing(found.data.votes, call.study)])


def _studies(call: CommandLine) -> tuple[Runs, tuple[Runs, ...], list[str]]:
    """The study of a comparison, the studies that its texts are gathered from where there are
    several, and the settings: words without = are further studies.
    """
    settings = [word for word in call.words if "=" in word]
    further = [word for word in call.words if "=" not in word]
    if not further:
        return call.runs, (), settings
    sources = tuple(study_at(name, call.root) for name in (call.study, *further))
    own, _ = parted(settings, {"name": TEXT})
    name = settings_of(own, {"name": TEXT})["name"]
    if not name:
        raise WrongInput("the texts of several studies are kept under a name of theirs: name=NAME")
    return study_of_several(call.root, task_name("name", name), sources), sources, settings


def _nothing(votes: Sequence[Vote], study: str) -> str:
    """Why there is nothing to report."""
    missing = Counter(in_words(vote.missing.code) for vote in votes if vote.missing)
    if not missing:
        return f"there is no vote yet; give: delibsim compare ask {quoted(study)}"
    told = "; ".join(f"{n:,} {why}" for why, n in missing.items())
    return f"no vote has an outcome, so there are no scores. Missing: {told}"


def _pairs(given: Sequence[str], comparisons: Comparisons) -> tuple[tuple[str, str], ...]:
    """The two texts of each difference; WrongInput for what is no two texts.

    An id may hold a comma itself, so a pair is parted where both sides are ids.
    """
    known = set(comparisons.files.task()["texts"])
    found = []
    for words in given:
        parts = words.split(",")
        ways = [(",".join(parts[:i]), ",".join(parts[i:])) for i in range(1, len(parts))]
        if not ways:
            raise WrongInput(f"difference={words}: give the ids of two texts, as ID,ID")
        both = [way for way in ways if known.issuperset(way) and way[0] != way[1]]
        if len(both) != 1:
            strange = [id for id in ways[0] if id not in known]
            if not both and strange and len(ways) == 1:
                raise unknown("text", strange[0], sorted(known))
            raise WrongInput(f"difference={words}: these are no two texts of the comparison")
        found += both
    return tuple(found)


def _settings(given: Mapping[str, Any], comparisons: Comparisons) -> Any:
    """How scores are computed.

    Place bias is estimated unless told otherwise, but not of imported judgments, of which nobody
    knows whether their order was drawn.
    """
    from delibsim.analysis.pairs.fitted import Settings
    from delibsim.measures.bradley_terry.fit import Model

    order, penalty = given["order"], given["penalty"]
    imported = "imported" in comparisons.files.task()
    model = Model(
        kind=given["model"],
        order=order == "estimated" or (not order and not imported),
        penalty=_penalty("dummy:0.1") if penalty == "" else penalty,
        theta=given["threshold"],
        judges=given["judges"],
    )
    return Settings(model, given["scale"], bootstrap=given["draws"])


app = commands_of(Compare())
