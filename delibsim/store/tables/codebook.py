"""The columns of the tables of a study: name, kind, unit, values and meaning of each, in the order
in which they are written.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["text", "integer", "number", "logical"]


@dataclass(frozen=True)
class Column:
    """One column: its `kind`, what it means, the unit of a quantity, and the values it can take. An
    empty cell is a missing value.
    """

    name: str
    kind: Kind
    meaning: str
    unit: str = ""
    values: str = ""

    def holds(self, value: Any) -> bool:
        """Whether a value can stand in this column; None always can.

        >>> Column("turn", "integer", "").holds(3), Column("turn", "integer", "").holds(True)
        (True, False)
        """
        if value is None or self.kind == "logical":
            return value is None or isinstance(value, bool)
        if self.kind == "text":
            return isinstance(value, str)
        whole = isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
        return whole or (
            self.kind == "number" and isinstance(value, float) and math.isfinite(value)
        )


TABLES = {
    "runs": "one row a session that was begun",
    "participants": "one row a participant of a session",
    "items": "one row an item of a survey that was used",
    "responses": "one row a participant, phase and item of every run",
    "statements": "one row a turn of every run, silences among them",
    "calls": "one row a recorded call to a model, of all sessions",
    "scores": "one row a score of every scorer and version",
    "measures": "one row a measure of every scorer and version that gave scores",
}
"""The tables, and what a row of each is."""

CONDITION = (
    Column("study", "text", "name of the study"),
    Column("session", "text", "name of the session, unique within the study"),
    Column("condition", "text", "name of the session without its replicate: what its replicates share. It holds all that differs from the "
           "presets, such as personas or parameters of a model"),
    Column("equal_to", "text", "the first condition of the study that this one is the same as by"
           " construction: what differs has no effect on its models; empty if there is none"),
    Column("topic", "text", "id of the topic"),
    Column("survey", "text", "id of the survey"),
    Column("treatment", "text", "name of the treatment"),
    Column("interaction", "logical", "whether participants speak at all under the treatment"),
    Column("rounds", "integer", "rounds of speech planned; 0 without interaction", "rounds"),
    Column("format", "text", "kind of session", values="deliberation; debate"),
    Column("wording", "text", "id of the wording of prompts"),
    Column("models", "text", "names of all models of the session, joined by +"),
    Column("model_kinds", "text", "plug-ins that voice these models, in the same order, joined by +", values="citizen; litellm; ..."),
    Column("size", "integer", "participants in the session", "participants"),
    Column("personas", "integer", "participants who have a persona", "participants"),
    Column("network", "text", "who hears whom", values="complete; star; ring; small_world; edges"),
    Column("replicate", "integer", "which group of people under this condition"),
    Column("seed", "text", "seed of the study: a name made of digits, no quantity"),
    Column("temperature_requested", "number", "temperature asked for in the settings; empty if none, or if models behind the row differ"),
    Column("temperature", "number", "temperature really sent with the calls behind the row; empty if it was not sent, dropped, or not the "
           "same in all. Behind a run and a score stand all calls of the session, behind an answer and a statement those it was asked "
           "with; of several those that ended ok, if any did"),
    Column("parameters_dropped", "text", "parameters that were requested and did not take effect in calls behind the row, joined by ;"),
)  # fmt: skip
"""What every table but `items` and `measures` begins with."""

SEAT = (
    Column("participant", "text", "name of the participant, unique within the session"),
    Column("seat", "integer", "place in the group, from 1"),
    Column("model", "text", "name of the model that voices the participant"),
)

ATTEMPTS = Column(
    "attempts", "integer", "how often it was asked until it was answered or given up: 1 unless it was re-asked; empty where the record "
    "does not tell", "times",
)  # fmt: skip

COLUMNS: dict[str, tuple[Column, ...]] = {
    "runs": (
        *CONDITION,
        Column("status", "text", "complete; partial: an answer or statement is missing; no run: cut off; damaged: a file cannot be read",
               values="complete; partial; no run; damaged"),
        Column("fault", "text", "what is damaged; empty otherwise"),
        Column("answers_expected", "integer", "answers the surveys ask for: those surveyed (in a debate the listeners) x 2 phases x items; "
               "0 where nobody is surveyed", "answers"),
        Column("answers_missing", "integer", "answers that are missing of those expected; empty without a run", "answers"),
        Column("turns", "integer", "turns that were held; empty without a run", "turns"),
        Column("statements_missing", "integer", "turns without a statement that counts; empty without a run", "turns"),
        Column("reasked", "integer", "surveys and turns that were asked more than once; empty without a run, or where the record does not "
               "tell", "surveys and turns"),
        Column("calls", "integer", "readable calls in the record", "calls"),
        Column("calls_not_ok", "integer", "of these, calls whose status is not ok", "calls"),
        Column("calls_damaged", "integer", "lines of the record that cannot be read", "lines"),
        Column("cost_usd", "number", "cost of all calls and their failed attempts; empty as soon as the cost of one call is unknown",
               "US dollars"),
        Column("possibly_billed", "integer", "calls of which an attempt may be billed although no usable answer came", "calls"),
        Column("started", "text", "when the first recorded call was ready to be sent; limits may have held it", "UTC, ISO 8601"),
        Column("neighbours", "integer", "mean degree of a small world; empty for other networks", "participants"),
        Column("rewiring", "number", "rewiring probability of a small world; empty for other networks", values="0 to 1"),
        Column("edges", "text", "pairs of seats that hear each other, such as 1-2;2-3; empty unless network is edges"),
        Column("instructions", "text", "where the treatment's text was told: in speaking turns, or in the surveys too",
               values="turns; everywhere"),
        Column("background", "logical", "the topic's background was told after its question, in surveys and turns"),
        Column("shuffle_items", "logical", "every participant saw the items in an order of its own"),
        Column("show_transcript", "logical", "the second survey showed what the participant had heard"),
        Column("show_answers", "logical", "the second survey showed the participant's own first answers"),
        Column("recall", "logical", "speakers saw their own first answers"),
        Column("reasks", "integer", "how often an unreadable answer is asked again at most", "times"),
        Column("words", "integer", "words a speaker was asked to keep to; empty where the procedure named none (in "
               "studies of edition 0.1 the wording does: 150)", "words"),
        Column("longest_statement", "integer", "longest statement that counts; empty for no limit", "words"),
        Column("reverse_scale", "text", "who sees the scale the other way round; empty for nobody", values="half"),
        Column("transcript_window", "integer", "last statements heard that a participant is shown; empty for all", "statements"),
        Column("proposition", "text", "name of the model that speaks for the motion; empty for what is no debate"),
        Column("opposition", "text", "name of the model that speaks against the motion; empty for what is no debate"),
        Column("speech_least", "integer", "fewest words asked for of a speech in a debate", "words"),
        Column("speech_most", "integer", "most words allowed in a speech in a debate", "words"),
        Column("speech_reasks", "integer", "how often a speech that breaks a rule is asked for again at most", "times"),
        Column("speech_then", "text", "what is done with a speech that is too long after that", values="accept; cut"),
        Column("preparation", "logical", "each debater made notes first that only it saw"),
        Column("diversity_wanted", "text", "diversity that the group was drawn for; empty if any", values="low; high; matched"),
        Column("diversity_target", "number", "the diversity before, by people's answers, that was aimed at"),
        Column("diversity_reached", "number", "the diversity before, by people's answers, of the group that was drawn"),
        Column("delibsim_version", "text", "version that held the run"),
        Column("python_version", "text", "version of Python that held the run"),
    ),
    "participants": (
        *CONDITION, *SEAT,
        Column("role", "text", "what the participant is in the session",
               values="citizen; proposition; opposition; audience"),
        Column("persona", "text", "description that only this participant saw; empty if none"),
        Column("persona_from", "text", "its number in the set of personas, or the person it is taken from; empty if none was drawn"),
    ),
    "items": (
        Column("study", "text", "name of the study"),
        Column("survey", "text", "id of the survey"),
        Column("item", "text", "id of the item, unique within the survey"),
        Column("item_kind", "text", "rated or ranked", values="consideration; preference"),
        Column("number", "integer", "place of the item in the survey, from 1"),
        Column("text", "text", "the item, word for word"),
        Column("reverse", "logical", "leans toward the other pole; answers are never recoded with it"),
        Column("lowest", "integer", "lowest value: end of the scale, or rank 1"),
        Column("highest", "integer", "highest value: end of the scale, or the number of preferences"),
        Column("validated", "logical", "whether the survey has been validated as an instrument"),
        Column("source", "text", "where the survey comes from"),
    ),
    "responses": (
        *CONDITION, *SEAT,
        Column("phase", "text", "before or after the deliberation", values="pre; post"),
        Column("item", "text", "id of the item"),
        Column("item_kind", "text", "rated or ranked", values="consideration; preference"),
        Column("value", "integer", "the answer as given, neither recoded nor shuffled; empty if missing", "point of the scale, or rank",
               "a whole number between lowest and highest of items; of ranks 1 is the most preferred"),
        Column("missing", "text", "why the answer is missing, beginning with the status of the call; empty if it is there"),
        Column("position", "integer", "place at which this participant was shown the item, from 1; empty where that was not recorded"),
        Column("reversed", "logical", "the scale was shown the other way round; the value is on the survey's own scale"),
        ATTEMPTS,
    ),
    "statements": (
        *CONDITION, *SEAT,
        Column("turn", "integer", "number of the turn in the session, from 1"),
        Column("round", "integer", "number of the round, from 1"),
        Column("task", "text", "what the speaker was asked to do", values="name of a text of the wording"),
        Column("status", "text", "ok, or the status of the call after which nothing counts as said",
               values="ok; refusal; length; content_filter; unreadable"),
        Column("reason", "text", "why nothing counts as said, in words; empty if something was"),
        Column("text", "text", "what was said, word for word; empty if nothing was"),
        Column("cut", "logical", "more was said than the rules of the debate allow, and was left out; empty if nothing was said"),
        ATTEMPTS,
    ),
    "calls": (
        *CONDITION, *SEAT,
        Column("call", "integer", "number of the call in the record of its session, from 1"),
        Column("occasion", "text", "when the participant was asked", values="pre; turn N; post"),
        Column("turn", "integer", "number of the turn; empty for surveys"),
        Column("attempt", "integer", "0 for the first question, 1 for the first re-ask, and so on"),
        Column("status", "text", "how the call ended; only ok yields data", values="ok; refusal; length; content_filter; unreadable; "
               "rate_limited; timeout; unavailable; authentication; quota; context_overflow; bad_request; budget; cancelled; internal"),
        Column("detail", "text", "what was wrong, in words"),
        Column("reply", "text", "the reply as it came"),
        Column("reasoning", "text", "thinking that the provider sent apart from the reply"),
        Column("finish_reason", "text", "why the model stopped, in the provider's words"),
        Column("model_requested", "text", "model asked for, by the provider's name"),
        Column("model_returned", "text", "model that says it answered"),
        Column("provider", "text", "address or name of who answered, without secrets"),
        Column("response_id", "text", "the provider's id of the response"),
        Column("fingerprint", "text", "the provider's fingerprint of its system"),
        Column("parameters_requested", "text", "settings of the model in the plan that say how to sample", "JSON object"),
        Column("parameters_sent", "text", "parameters that were sent with the call", "JSON object"),
        Column("input_tokens", "integer", "tokens of the prompt; empty if the provider did not say", "tokens"),
        Column("cached_tokens", "integer", "of these, tokens read from the provider's cache; empty if it did not say", "tokens"),
        Column("output_tokens", "integer", "tokens of the reply; empty if the provider did not say", "tokens"),
        Column("reasoning_tokens", "integer", "tokens of thinking; empty if the provider did not say", "tokens"),
        Column("cost_usd", "number", "cost of the answer; 0 for a call that failed and cannot have been billed; empty if unknown, never "
               "0 for that", "US dollars"),
        Column("started", "text", "when the call was ready to be sent; limits may have held it", "UTC, ISO 8601"),
        Column("seconds", "number", "from started to the answer; waiting for limits, and failed attempts, included", "seconds"),
        Column("retries", "integer", "attempts that failed on the way before this answer", "attempts"),
        Column("retry_statuses", "text", "how these attempts failed, joined by ;"),
        Column("retry_cost_usd", "number", "cost of these attempts; empty if there were none or the cost of one is unknown", "US dollars"),
        Column("possibly_billed", "logical", "an attempt may be billed although no usable answer came of it"),
        Column("hash", "text", "SHA-256 of the request; finds the call, with its messages, in exchanges.jsonl"),
    ),
    "scores": (
        *CONDITION,
        Column("scorer", "text", "name of the scorer, as in the name of its file"),
        Column("scorer_version", "integer", "version of the scorer; take one version, versions of one scorer stand side by side"),
        Column("measure", "text", "name of the measure"),
        Column("unit", "text", "what the score is about", values="run; participant; statement; pair"),
        Column("target", "text", "the session; for smaller units followed by / and the participant or the number of the turn"),
        Column("participant", "text", "the participant, where unit is participant"),
        Column("turn", "integer", "the turn, where unit is statement"),
        Column("phase", "text", "when it was measured; empty for what has no phase", values="pre; post; change"),
        Column("value", "number", "the score; empty where the measure is undefined"),
        Column("coder", "text", "who or what coded; empty for measures that need nobody"),
        Column("note", "text", "reason code of an undefined value"),
        Column("attempts", "integer", "the most attempts that a survey or turn behind the score took; empty without a run, or where the "
               "record does not tell", "times"),
    ),
    "measures": (
        Column("study", "text", "name of the study"),
        Column("scorer", "text", "name of the scorer, as in scores"),
        Column("scorer_version", "integer", "version of the scorer, as in scores"),
        Column("measure", "text", "name of the measure, as in scores; the columns behind it are"
               " empty where the installed version of the scorer does not declare the measure"),
        Column("label", "text", "name of the measure in tables for readers"),
        Column("definition", "text", "what it measures"),
        Column("value_unit", "text", "unit of its values; empty for a number without unit"),
        Column("lowest", "number", "lowest value; of the change only where there is nothing but"
               " a change; empty if there is none, or it depends on the instrument"),
        Column("highest", "number", "highest value, likewise"),
        Column("signed", "logical", "whether its change is a difference after less before"),
        Column("comparable", "logical", "whether values of different instruments may be compared"),
        Column("human_reference", "logical", "whether values of real people are known"),
        Column("source", "text", "where the formula stands: DOI, URL or page of the docs"),
    ),
}  # fmt: skip
"""The columns of every table, in order."""
