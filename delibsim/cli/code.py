"""`delibsim code`: texts coded by a scheme, and an audit of the rationales (kind=rationale)."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from delibsim.analysis.table import DisplayTable
from delibsim.asking.kinds.code import CODES, uncoded_told
from delibsim.asking.kinds.code_plan import measured, plan_coding, tried
from delibsim.asking.kinds.coding import coding_of
from delibsim.asking.nouns import Outcome, Plan
from delibsim.asking.people import HandedOut
from delibsim.asking.settings import roles
from delibsim.cli.asking import (
    AskingCommand,
    CommandLine,
    Handing,
    Reported,
    answers_table,
    commands_of,
)
from delibsim.cli.options import (
    RUNS,
    TEXT,
    Words,
    choice,
    declared,
    parted,
    settings_of,
    settings_of_kind,
)
from delibsim.cli.results import end_with_report
from delibsim.cli.terminal import say, shown, study_at
from delibsim.conduct.texts import rescore_codes
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted, quoted
from delibsim.planning.estimate import CostEstimate
from delibsim.planning.load import Range

KINDS = ("code", "rationale")
HANDED, REPORTED = settings_of_kind("code_handout"), settings_of_kind("code_report")
TEXTS, REVIEWED = 200, 100
"""How many texts are drawn for people at random, and by doubt."""


class CodeCommand(AskingCommand):
    """Levels of texts on the dimensions of a scheme."""

    command = "code"
    kind = CODES
    key = "scheme"
    following = "code report"
    some = True
    handed = HANDED
    reported = REPORTED

    def chosen(self, words: Sequence[str]) -> tuple[AskingCommand, list[str]]:
        """Codes, or with kind=rationale what their rationales say."""
        own, others = parted(words, {"kind": TEXT})
        kind = settings_of(own, {"kind": choice(*KINDS)})["kind"]
        if kind == "code":
            return self, others
        from delibsim.cli.rationale import Rationale  # pandas is slow to import

        return Rationale(), others

    def plan(self, call: CommandLine, n: int | None = None) -> Plan:
        """The coding that is asked for."""
        planned = plan_coding(call.runs, call.words)
        return tried(planned, n) if n else planned

    def measured(self, call: CommandLine) -> tuple[list[DisplayTable], dict[str, Any]]:
        """What all texts will take by what some of them took."""
        rows = [vars(one) for one in measured(self.plan(call))]
        return [answers_table("measured", rows)], {"measured": rows}

    def before(self, plan: Plan, found: CostEstimate) -> list[str]:
        """How many samples there are, and which texts are not coded."""
        return [*super().before(plan, found), *uncoded_told(plan)]

    def after(self, plan: Plan, found: CostEstimate) -> list[str]:
        """What a text costs."""
        if not (found.waiting and found.usd.high):
            return []
        coded = _coded(plan)
        usd = _a_text(found.usd, coded)
        return [f"A text     {usd.low:.4f} - {usd.high:.4f} USD, of {counted(coded, 'text')}"]

    def values(self, plan: Plan, found: CostEstimate) -> dict[str, Any]:
        """The same as plain values."""
        coded = _coded(plan)
        usd = _a_text(found.usd, coded)
        return {"texts": coded, "usd_a_text": {"low": usd.low, "high": usd.high}}

    def told(self, plan: Plan, outcome: Outcome) -> list[str]:
        """The same in sentences, and where the steps lie."""
        steps = plan.answers.files.steps
        where = [f"Steps      {shown(steps.resolve())}"] if steps.is_file() else []
        return [*super().told(plan, outcome), *where]

    def rescore(self, plan: Plan, outcome: Outcome) -> None:
        """Write the scores of codes anew."""
        if outcome.new or outcome.before:
            rescore_codes(plan.runs)

    def hand_out(self, call: CommandLine, handing: Handing) -> HandedOut:
        """Hand out texts to be coded."""
        from delibsim.asking.kinds import code_people as people  # numpy is slow to import

        given = settings_of(call.words, HANDED)
        heard = roles("roles", given["roles"].split(",")) if given["roles"] else ()
        by, context = given["by"], given["context"]
        coding = coding_of(call.runs, given["scheme"], by, context, roles=heard)
        if given["draw"] == "doubt":
            kind, usual = people.REVIEW, "1"
            draw = people.draw_review(coding, handing.n or REVIEWED, given["dimension"])
        elif given["dimension"]:
            raise WrongInput("dimension= is of draw=doubt; leave it out")
        else:
            kind, usual = "training" if given["training"] else "pack", self.raters
            parts, n = given["stratify"], handing.n or TEXTS
            if given["draw"] == people.SPREAD and given["training"]:
                raise WrongInput("a training round is drawn at random; leave draw= out")
            if given["draw"] == people.SPREAD:
                draw = people.draw_spread(coding, n, parts)
            else:
                draw = people.draw_texts(coding, n, parts, given["training"])
        coders = handing.people(usual, "coder")
        return people.export_codes(coding, coders, draw, kind, handing.out, handing.online)

    def report(self, call: CommandLine) -> Reported:
        """How far coders agree."""
        from delibsim.analysis.coding.report import (  # pandas is slow
            CodeReportSettings,
            why_not_coded,
        )
        from delibsim.conduct.code_report import report_on_codes

        own = settings_of(call.words, REPORTED)
        settings = CodeReportSettings(own["bound"], own["least"], own["against"], own["by"])
        found = report_on_codes(call.runs, own["scheme"], settings)
        nothing = f"nothing has been coded yet; give: delibsim code ask {quoted(call.study)}"
        return Reported(found, list(why_not_coded(found)) or [nothing])


def _coded(plan: Plan) -> int:
    """How many texts are coded on any dimension."""
    about = plan.about
    return len({text.id for one in about.dimensions for text in about.coded(one)})


def _a_text(usd: Range, n: int) -> Range:
    """US dollars a text."""
    return Range(usd.low / n, usd.high / n) if n else Range()


app = commands_of(CodeCommand())

ROLES = ("session", "treatment", "human", "chance", "text", "models")
COLUMNS = dict.fromkeys(ROLES, TEXT)
"""The columns that may be named otherwise, and which are of models, parted by commas."""
SCHEME = {"scheme": TEXT}


@declared(app, "code", "effect")
def effect(
    source: str | None = None,
    settings: Words = None,
    dimension: str = "",
    contrast: Words = None,
    example: bool = False,
    out: Path | None = None,
    tables: str = "",
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """What a treatment did to what was coded: by people alone, by models alone, and corrected.

    Models code every text and are biased, people code a drawn sample and are few. The corrected
    row uses both, and is right whatever the models are worth. Exit code 0; 3 if codes are missing,
    4 if nothing can be said.
    """
    from delibsim.analysis.coding.effect import effects  # pandas is slow to import
    from delibsim.analysis.coding.effect_files import example as example_lines
    from delibsim.analysis.coding.effect_plan import multiverse

    if example:
        say("\n".join(example_lines()))
        return
    if source is None:
        raise WrongInput("name a study or a table; a table to begin with: --example > codes.csv")
    found = _outcomes(source, settings or [], dimension, root)
    pairs = _contrasts(contrast)
    gold = [found.gold] if found.gold is not None and found.gold.given else []
    more = [*gold, *multiverse(found.worded, pairs)]
    end_with_report(effects(found.scored, found.notes, pairs, more), out, as_json, tables)


@declared(app, "code", "plan")
def plan(
    source: str,
    settings: Words = None,
    error: float | None = None,
    dimension: str = "",
    contrast: Words = None,
    out: Path | None = None,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """How many texts people must still code for a wanted error of `code effect`.

    The table says what more codes in these sessions bring, and as many codes in twice the
    sessions. Exit code 0; 4 if people coded nothing from which it could be foretold.
    """
    from delibsim.analysis.coding.effect_plan import plan_of  # pandas is slow to import

    if error is not None and not 0 < error < math.inf:
        raise WrongInput(f"--error is a number above 0, not {error:g}")
    outcomes = _outcomes(source, settings or [], dimension, root).scored
    end_with_report(plan_of(outcomes, error, _contrasts(contrast)), out, as_json)


def _outcomes(source: str, words: Sequence[str], dimension: str, root: Path) -> Any:
    """The outcomes of a file or of a study, and what must be known of them."""
    from delibsim.analysis.coding.effect_files import texts_in
    from delibsim.conduct.code_report import CodedOutcomes, outcomes_of_codes

    if Path(source).is_file():
        if dimension:
            raise WrongInput("--dimension is of a study; a file has the codes of one")
        texts, notes = texts_in(Path(source), _named(words))
        return CodedOutcomes({"": [texts]}, notes)
    own, columns = parted(words, SCHEME)
    scheme = settings_of(own, SCHEME)["scheme"]
    return outcomes_of_codes(study_at(source, root), scheme, dimension, _named(columns))


def _named(words: Sequence[str]) -> dict[str, str]:
    """The columns that are named, by role."""
    return {role: name for role, name in settings_of(words, COLUMNS).items() if name}


def _contrasts(words: Words) -> list[tuple[str, str]]:
    return [_contrast(word) for word in words or []]


def _contrast(word: str) -> tuple[str, str]:
    a, colon, b = word.partition(":")
    if not (a and colon and b) or a == b:
        raise WrongInput(f"--contrast is two treatments, as normative:none, not '{word}'")
    return a, b
