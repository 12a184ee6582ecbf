"""What the summary of one run holds: its design, its measures beside people's, what is missing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from delibsim.analysis.calls import CallSummary, summary_of
from delibsim.analysis.collective_statement import on_consensus, statement_of
from delibsim.analysis.human.reference import on_their_instrument, people_of
from delibsim.domain.effect import INSTRUCTIONS, circumstances
from delibsim.domain.measure import Measure
from delibsim.domain.run import Run, Session
from delibsim.domain.score import Score
from delibsim.domain.survey import PHASES
from delibsim.domain.transcript import PREPARATION
from delibsim.plugins import without_effect
from delibsim.store.runs import Runs
from delibsim.store.session_log import calls_of

UNPHASED = "value"
"""The name of a value that belongs to no phase."""
FLAG = "flags."
"""What the measures begin with that count statements to look at."""
STANCE = "S1"
"""The item of the survey of a debate that asks for the stance on the motion."""


@dataclass(frozen=True)
class RunSummary:
    """What is said of one run.

    `values` are those of `in_summary` measures by measure and phase ("value" without a phase),
    `undefined` the reason codes by "measure.phase", `people` what `people_of` gives, `flags` the
    number of flagged statements by kind, `missing` the entries of `missing`.
    """

    study: str
    run: Run
    values: Mapping[str, Mapping[str, float]]
    undefined: Mapping[str, str]
    people: Mapping[str, Any] | None
    flags: Mapping[str, int]
    missing: Sequence[Mapping[str, Any]]
    calls: CallSummary

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        run, session = self.run, self.run.session
        debate = bool(session.kind.sides)
        return {
            "study": self.study,
            "session": session.id,
            "status": run.status,
            **design(session, self.calls),
            "speeches": speeches(run) if debate else [],
            "stances": stances(run) if debate else [],
            "scale_reversed": [r.participant for r in run.responses if _shown_reversed(r)],
            "measures": self.values,
            "undefined": self.undefined,
            "human": self.people,
            "same_instrument": on_their_instrument(session),
            "flags": self.flags,
            "missing": self.missing,
            "calls": asdict(self.calls),
            **self._of_consensus(),
        }

    def _of_consensus(self) -> dict[str, Any]:
        """The collective statement, by what it was chosen and whom it leaves out; nothing where
        none was sought.
        """
        found = self.run.consensus
        if found is None:
            return {}
        text, chosen = statement_of(found)
        said = {"statement": text, "chosen": chosen, "remarks": list(on_consensus(found))}
        return {"consensus": said}


def run_summary(
    runs: Runs,
    session_id: str,
    scores: Iterable[Score],
    measures: Mapping[str, Measure],
) -> RunSummary:
    """The summary of a run of a study, from the scores of this run and its log of calls.

    `measures` are those of the scorers that were used, by id.
    """
    run = runs.run(session_id)
    records, damaged, lost = calls_of(runs, session_id)
    found = [score for score in scores if score.unit == "run"]
    return RunSummary(
        study=runs.study,
        run=run,
        values=values_of(found, measures),
        undefined=undefined(found, measures),
        people=people_of(run.session),
        flags=flags_of(found),
        missing=missing(run),
        calls=summary_of(records, damaged, run.session.voices, lost),
    )


def design(session: Session, calls: CallSummary) -> dict[str, Any]:
    """How a session was planned, as plain values; a temperature without effect is None."""
    treatment, procedure = session.treatment, session.procedure
    personas = [participant.persona for participant in session.participants]
    return {
        "topic": {"id": session.topic.id, "question": session.topic.question},
        "survey": {"id": session.survey.id, "validated": session.survey.validated},
        "format": session.format,
        "treatment": treatment.name,
        "instructions_without_effect_on": not_instructed(session),
        "rounds": treatment.rounds if treatment.interaction else 0,
        "participants": len(session.participants),
        "personas": sum(map(bool, personas)),
        "wording": session.wording.id,
        "network": procedure.audience.network,
        "temperature": _temperatures(session, calls),
        "transcript_window": procedure.transcript_window,
        "models": {name: settings["kind"] for name, settings in session.models.items()},
        "seed": session.seed,
        "replicate": session.replicate,
    }


def _temperatures(session: Session, calls: CallSummary) -> dict[str, float | None]:
    """The temperature of each model; None where it is not set, or was requested without effect."""
    found = {}
    for name, settings in session.models.items():
        without = "temperature" in calls.parameters_dropped.get(name, ())
        found[name] = None if without else settings.get("temperature")
    return found


def _shown_reversed(response: Any) -> bool:
    return response.reversed and response.phase == "pre"


def values_of(
    scores: Iterable[Score],
    measures: Mapping[str, Measure],
) -> dict[str, dict[str, float]]:
    """The values of a run by measure of the summary and phase; "value" for what has no phase."""
    values: dict[str, dict[str, float]] = {name: {} for name in _in_summary(measures)}
    for score in scores:
        if score.unit == "run" and score.measure in values:
            values[score.measure][score.phase or UNPHASED] = score.value
    return values


def undefined(scores: Iterable[Score], measures: Mapping[str, Measure]) -> dict[str, str]:
    """Why a measure of the summary is undefined, by "measure.phase"."""
    shown = _in_summary(measures)
    reasons = {}
    for score in scores:
        if score.note and score.unit == "run" and score.measure in shown:
            name = f"{score.measure}.{score.phase}" if score.phase else score.measure
            reasons[name] = score.note
    return reasons


def flags_of(scores: Iterable[Score]) -> dict[str, int]:
    """How many statements of a run were flagged, by kind of flag; no kind without a statement."""
    found = {}
    for score in scores:
        if score.unit == "run" and score.measure.startswith(FLAG) and score.value:
            found[score.measure.removeprefix(FLAG)] = int(score.value)
    return found


def _in_summary(measures: Mapping[str, Measure]) -> list[str]:
    return [name for name, measure in measures.items() if measure.in_summary]


def not_instructed(session: Session) -> list[str]:
    """The models of a session on which the instructions of its treatment have no effect, by name.

    All of them where the wording or the format of the session does not show instructions.
    """
    if not session.treatment.instructions.strip():
        return []
    if INSTRUCTIONS in circumstances(session):
        return list(session.models)
    kinds = {name: str(settings["kind"]) for name, settings in session.models.items()}
    return [name for name, kind in kinds.items() if INSTRUCTIONS in without_effect(kind)]


def is_null(session: Session) -> bool:
    """Whether every participant is a citizen of ours: a null model and no language model."""
    return {str(settings["kind"]) for settings in session.models.values()} == {"citizen"}


def speeches(run: Run) -> list[dict[str, Any]]:
    """The speeches of a debate, with their words, whether each was cut, and the rules it breaks.

    Notes that a debater made while preparing are no speeches.
    """
    rules = run.session.procedure.rules
    found = []
    for statement in run.transcript:
        if statement.turn.task == PREPARATION:
            continue
        text = statement.text
        speech: dict[str, Any] = {"speaker": statement.turn.speaker, "task": statement.turn.task}
        speech |= {"words": len(text.split()), "text": text, "cut": statement.cut}
        found.append(speech | {"broken": list(rules.broken(text)) if rules else []})
    return found


def stances(run: Run) -> list[tuple[str, int | None, int | None]]:
    """Each respondent's name, and stance on the motion before and after; None where missing."""
    found = []
    for respondent in run.session.respondents:
        name = respondent.id
        before, after = (run.response(name, phase).answers.get(STANCE) for phase in PHASES)
        found.append((name, before, after))
    return found


def missing(run: Run) -> list[dict[str, Any]]:
    """What is missing from a run, and why: one entry a survey or turn and reason.

    An entry holds `participant`, `occasion` (pre, "turn 3", post), `answers` (how many; 0 for a
    statement) and `reason`.
    """
    found = []
    for gap in run.gaps:
        entry = {"participant": gap.participant, "occasion": gap.occasion}
        found.append(entry | {"answers": gap.answers, "reason": str(gap.reason)})
    return found
