"""`delibsim rate`: debates rated blind, by language models or by people, and what ratings say."""

from pathlib import Path

from delibsim.asking.kinds.rating import RATINGS, WORDING, plan_ratings
from delibsim.asking.kinds.rating_people import export_debates
from delibsim.asking.nouns import Outcome, Plan
from delibsim.asking.people import HandedOut
from delibsim.cli.asking import AskingCommand, CommandLine, Handing, Reported, commands_of
from delibsim.cli.options import settings_of, settings_of_kind
from delibsim.conduct.score import score_all
from delibsim.domain.text import counted, quoted, study_named
from delibsim.planning.compose import plan

HANDED, REPORTED = settings_of_kind("rate_handout"), settings_of_kind("rate_report")


class Rate(AskingCommand):
    """Stances and ballots on debates."""

    command = "rate"
    kind = RATINGS
    key = "panel"
    following = "rate report"
    raters = "5"
    handed = HANDED
    reported = REPORTED

    def plan(self, call: CommandLine, n: int | None = None) -> Plan:
        """The ratings that are asked for."""
        return plan_ratings(call.runs, call.words)

    def rescore(self, plan: Plan, outcome: Outcome) -> None:
        """Write the scores of ratings anew."""
        score_all(plan.runs, ["ratings"])

    def hand_out(self, call: CommandLine, handing: Handing) -> HandedOut:
        """Hand out debates to be rated."""
        runs = call.runs
        wording = settings_of(call.words, HANDED)["wording"] or WORDING
        texts = plan([f"wording={wording}"]).session.wording
        raters, each = len(handing.people(self.raters, "rater")), handing.n
        return export_debates(runs, texts, raters, each, handing.out, handing.online)

    def report(self, call: CommandLine) -> Reported:
        """The analysis of a tournament."""
        from delibsim.analysis.debates.report import study_report  # pandas is slow to import

        given = settings_of(call.words, REPORTED)
        panels, source = list(given["panel"]), given["source"] or None
        people = Path(given["people"]) if given["people"] else None
        found = study_report(call.runs, panels, source, given["focus"] or None, people)
        what = "no ratings of those asked for" if panels or source else "no ratings"
        study = quoted(call.study)
        nothing = [
            f"{study_named(found.title)}: {counted(found.data, 'debate')}, {what}",
            *found.told[1:],
            f"next: delibsim rate ask {study} (models rate)",
            f"      delibsim rate handout {study} (people rate)",
        ]
        return Reported(found, nothing, tables="all")


app = commands_of(Rate())
