"""What came of asking judges, as plain values and in sentences."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from delibsim.asking.kinds.pair_batches import batches_of, stops_of
from delibsim.asking.nouns import Outcome, Plan
from delibsim.domain.adaptive import RULES
from delibsim.domain.comparison import Vote
from delibsim.domain.text import counted

RULE_BASED = (
    "citizens are no language models: they count words by rule, so their votes are no evidence of"
    " quality"
)
IDENTICAL = (
    "gave the same label in all {} runs of every sheet, so its runs are no draws of their own"
    " (runs_identical)"
)


def comparison_plain(planned: Plan, outcome: Outcome) -> dict[str, Any]:
    """What came of a command, as plain values."""
    votes = votes_of(planned)
    return {
        "study": planned.runs.study,
        "name": planned.settings.name,
        "dimensions": [dimension.id for dimension in planned.about.dimensions],
        "judges": list(planned.models),
        "texts": len(planned.about.shown),
        "pairs": planned.about.pairs,
        "sheets": len(planned.about.sheets),
        "runs": planned.settings.runs,
        **outcome.plain(),
        "votes": judge_rows(planned, votes),
        **({"adaptive": stop_rows(planned)} if planned.about.chains else {}),
        "notes": notes_of(planned, votes),
        "faults": [*outcome.faults, *planned.faults],
    }


def comparison_told(planned: Plan, outcome: Outcome) -> list[str]:
    """How many votes there are, and which are missing and why."""
    texts = counted(len(planned.about.shown), "text")
    judges = counted(len(planned.models), "judge")
    dimensions = counted(len(planned.about.dimensions), "dimension")
    sheets = counted(len(planned.about.sheets), "sheet")
    pairs = f"{counted(planned.about.pairs, 'pair')} on {sheets}"
    return outcome.told("vote", f"{texts}, {pairs}, {dimensions}, {judges}")


def stop_rows(planned: Plan) -> list[dict[str, Any]]:
    """By dimension of an adaptive comparison: batches and pairs, which rule ended them, and what
    was known then; the rule is None where none did.
    """
    steps = planned.answers.steps()
    stops, rows = stops_of(steps), []
    for chain in planned.about.chains:
        batches = batches_of(steps).get(chain.dimension, [])
        stop, pairs = stops.get(chain.dimension), sum(len(batch.pairs) for batch in batches)
        row: dict[str, Any] = {"dimension": chain.dimension, "batches": len(batches)}
        row |= {"pairs": pairs, "per_text": 2 * pairs / len(chain.ids)}
        row |= {"most": chain.most, "stopped": stop.told if stop else None}
        row |= {name: getattr(stop, name, None) for name in ("se", "r", "r_fit", "r_probe")}
        rows.append(row | {"apart": stop.apart if stop else None})
    return rows


def votes_of(planned: Plan) -> list[Vote]:
    """The votes that there are of those that a command was to give."""
    wanted = planned.answer_keys()
    return [vote for vote in planned.answers.all() if vote.key in wanted]


def judge_rows(planned: Plan, votes: Sequence[Vote]) -> list[dict[str, Any]]:
    """By judge and dimension: votes that are planned and there, and what they say."""
    rows = []
    for judge in planned.models:
        for dimension in planned.about.dimensions:
            planned_each = len(planned.about.sheets_on(dimension.id)) * planned.settings.runs
            own = [vote for vote in votes if (vote.judge, vote.dimension) == (judge, dimension.id)]
            said = Counter(vote.outcome or "missing" for vote in own)
            row: dict[str, Any] = {"judge": judge, "dimension": dimension.id}
            row |= {"planned": planned_each, "answered": len(own) - said["missing"]}
            row |= {name: said[name] for name in ("a", "b", "tie", "missing")}
            rows.append(row)
    return rows


def notes_of(planned: Plan, votes: Sequence[Vote]) -> list[str]:
    """What must be known of the judges before their votes are read."""
    notes = []
    if any(settings["kind"] == "citizen" for settings in planned.models.values()):
        notes.append(RULE_BASED)
    for judge in planned.models:
        if _runs_identical(planned, [vote for vote in votes if vote.judge == judge]):
            notes.append(f"{judge} {IDENTICAL.format(planned.settings.runs)}")
    for row in stop_rows(planned) if votes else ():
        rule = str(row["stopped"]).partition(":")[0]
        if rule in RULES:
            notes.append(f"{row['dimension']} ended by {row['stopped']}: {RULES[rule]}")
        else:
            notes.append(f"{row['dimension']} has not ended: the same command goes on")
    return notes


def _runs_identical(planned: Plan, votes: Sequence[Vote]) -> bool:
    """Whether all runs of a judge agree on every sheet although its replies should be draws."""
    if planned.settings.runs < 2 or planned.settings.temperature == 0:
        return False
    labels: dict[tuple[str, ...], list[str]] = {}
    for vote in votes:
        if vote.outcome is not None:
            labels.setdefault(vote.key[:3], []).append(vote.outcome)
    whole = [own for own in labels.values() if len(own) == planned.settings.runs]
    return len(whole) > 1 and all(len(set(own)) == 1 for own in whole)
