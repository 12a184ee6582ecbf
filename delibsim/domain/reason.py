"""Reasons: why an answer, a statement, a rating or a value is missing."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

SEPARATOR = ": "
CODED = re.compile(r"([a-z]+(?:_[a-z0-9]+)+|missing|unpaired|shared)(?:: ?(.+))?", re.DOTALL)
"""A part of a note that begins with a code, or is one."""
NAMED = re.compile(r"\b[a-z]+(?:_[a-z0-9]+)+\b")
"""What may be a code within a sentence."""
IN_GROUP = "_in_group"
"""What ends the code of a reason that lies with another of the group."""
MEANINGS: Mapping[str, str] = {
    "too_few_participants": "the group has too few participants",
    "missing_answer": "a participant has no readable answer to an item",
    "constant_considerations": "a participant rated all considerations alike",
    "constant_preferences": "a participant ranked all preferences alike",
    "constant_ratings": "a participant answered all items of one kind alike",
    "constant_item": "everybody in the reference population answered an item alike",
    "zero_denominator": "the index could not rise or fall any further",
    "no_statements": "nobody said anything",
    "no_positions": "no participant has a position",
    "no_candidates": "no statement was written",
    "no_votes": "nobody voted",
    "one_candidate": "there was one statement alone",
    "debate_incomplete": "the debate broke off",
    "not_rated": "nobody has rated the debate",
    "no_winner_named": "no attentive rater named a winner",
    "not_given": "it was not given",
    "inattentive": "the rater gave another number than the sheet asks for",
    "not_answered": "the question was not answered",
    "too_few_ratings": "there are too few ratings",
    "one_category": "all ratings are the same",
    "one_coder": "only one coder gave codes",
    "no_text_coded_twice": "no text has codes of two coders",
    "coder_absent": "one of the coders has no code",
    "no_clusters": "no two texts are of one cluster, or texts are of none",
    "one_cluster": "all texts are from one place",
    "one_text": "only one text has codes",
    "no_variance": "the values do not vary",
    "too_few_debates": "there are too few debates",
    "one_side_won_all": "one side won all debates",
    "one_rater": "there is only one rater",
    "one_debater": "there is only one debater",
    "few_motions": "fewer than five motions say nothing of other motions",
    "few_debates": "fewer than five debates give no interval",
    "few_raters": "fewer than five raters say nothing of other raters",
    "few_persons": "fewer than five persons of a group say nothing of others",
    "expertise_not_given": "the expertise of the debaters is not given",
    "collinear": "a predictor follows from the others",
    "separated": "the predictors name the winner without error, so that no estimate exists",
    "motions_left_out": "the effects of motions cannot be estimated, and are left out",
    "target_variance_zero": "the variance of what is rated is estimated as 0",
    "rater_variance_zero": "the variance of raters is estimated as 0",
    "residual_variance_zero": "the residual variance is estimated as 0",
    "no_residual_variance": "the fit leaves no variance over",
    "no_variance_between_debates": "the debates do not differ",
    "kind_left_out": "no debate had both kinds of debater, so the side of a kind is left out",
    "not_converged": "the fit did not converge",
    "not_converged_ols_clustered_by_rater": "the mixed model did not converge; least squares with"
    " errors clustered by rater stand here",
    "won_all": "the text won all of its comparisons",
    "lost_all": "the text lost all of its comparisons",
    "one_way": "between two parts of the texts all votes go one way",
    "not_connected": "no vote that is used joins the two parts",
    "no_ties": "nobody gave a tie",
    "no_control": "no fork branches there in which nothing differs but the seed",
    "too_few_runs": "fewer than two runs that were forked alike have an effect",
    "other_survey": "the measure depends on the survey, and the runs have several",
    "too_few_replicates": "fewer than two replicates have a value with the change and without",
    "equal_differences": "all replicates differ by the same amount",
    "all_ties": "every vote is a tie",
    "always_a": "every vote that is no tie names the text shown first",
    "always_b": "every vote that is no tie names the text shown second",
    "one_order": "all pairs were shown in the order of one sorted list",
    "judges_left_out": "a judge who says nothing of texts has no part in one of the two fits",
    "runs_identical": "all runs of every sheet have the same label, so they are no draws",
    "one_judge": "there is only one judge",
    "one_run": "every sheet was judged once",
    "no_parameters": "the model has no further parameter",
    "no_dimension": "people judged no dimension of the comparison",
    "alpha_zero": "the judge's votes have nothing to do with the scores",
    "no_maximum": "the likelihood has no clear maximum, so there are no errors",
    "no_replicates": "no topic has two sessions of one condition, so nothing says how far they"
    " vary",
    "one_condition": "no topic has texts of two conditions that were compared with each other",
    "no_random_part": "pairs were chosen by what was known of them and none was drawn at random, so"
    " that no interval holds",
    "few_pairs": "too few pairs for errors that are clustered by pair, which are too small",
    "starts_differ": "the fit has several maxima, of which the best is taken",
    "too_few_samples": "fewer than half of a model's samples can be read",
    "too_few_models": "fewer than half of the models have a level",
    "tied": "levels without an order were given equally often",
    "not_applicable": "the dimension does not apply to the text",
    "not_asked": "nobody was asked",
    "one_topic": "one topic alone says nothing of others",
    "few_topics": "fewer than five topics do not speak of topics like these",
    "few_models": "fewer than five models do not speak of models like these",
    "one_draw": "one replicate alone says nothing of others",
    "left_out": "left out of the model",
    "one_level": "the factor has one level only",
    "no_value": "there is no value",
    "no_people_on_this_topic": "no people are known on this topic",
    "no_common_block": "no topic and model occurs at all levels",
    "too_few_values": "a level has fewer than two values",
    "group_too_small": "the group has too few different opinions",
    "too_few_texts": "there are too few texts",
    "people_read_all": "people coded every text, so there is nothing to correct",
    "no_numbers": "the column holds no numbers",
    "no_models": "no language model has coded",
    "one_wording": "texts were coded in one wording only",
    "none_missing": "nothing is missing",
    "empty": "the text is empty",
    "wordless": "the text has no word",
    "too_short": "the text has fewer words than the scheme codes",
    "too_long": "the text has more words than the scheme codes",
    "no_steps": "the model wrote no steps for the dimension",
    "refusal": "the model refused",
    "length": "the reply was cut at the limit of its length",
    "content_filter": "the provider withheld the reply",
    "unreadable": "no answer could be read from the reply",
    "absent": "the person was not there, or did not answer in time",
    "stood_in": "a stand-in answered for a person who had left",
    "rate_limited": "the provider's limit of calls was reached",
    "timeout": "the reply took too long",
    "unavailable": "the provider could not be reached",
    "authentication": "the provider did not accept the key",
    "quota": "the account has no credit left",
    "context_overflow": "the prompt was longer than the model can read",
    "bad_request": "the provider did not accept the request",
    "budget": "the budget was spent",
    "withdrawn": "a person who took part had her words deleted",
    "cancelled": "it was stopped before the reply came",
    "internal": "delibsim itself failed",
}
"""The reason codes in words."""


@dataclass(frozen=True)
class Reason:
    """Why something is missing: a `code` that is counted, and the `detail` in words, "" if none.

    The code is the status of a call, such as "refusal" or "unreadable", or names what was not done,
    such as "debate_incomplete" or "not_given".
    """

    code: str
    detail: str = ""

    @classmethod
    def of_call(cls, status: str, detail: str) -> "Reason":
        """Why a call gave no answer: its status, and its detail without a colon at the end.

        >>> Reason.of_call("unreadable", "the reply is empty: ")
        Reason(code='unreadable', detail='the reply is empty')
        """
        return cls(status, detail.rstrip(SEPARATOR))

    def __str__(self) -> str:
        """As it stands in files, in tables and on the screen.

        >>> str(Reason("refusal", "the model declined")), str(Reason("not_given"))
        ('refusal: the model declined', 'not_given')
        """
        return f"{self.code}{SEPARATOR}{self.detail}" if self.detail else self.code


def reason_from_text(text: str) -> Reason:
    """The reason that a file gives as text; only the codecs of the store call this.

    >>> reason_from_text("unreadable: C1 is missing")
    Reason(code='unreadable', detail='C1 is missing')
    """
    code, _, detail = text.partition(SEPARATOR)
    return Reason(code, detail)


def for_readers(note: str) -> str:
    """A note without its codes, as pages print it: each part in words, with its detail.

    >>> for_readers("one_model: no test; unpaired: 1 session has no counterpart")
    'no test; 1 session has no counterpart'
    >>> for_readers("not_rated"), for_readers("the mean of 3 topics")
    ('nobody has rated the debate', 'the mean of 3 topics')
    """
    told = [_part_for_readers(part) for part in note.split("; ")]
    text = "; ".join(dict.fromkeys(told))
    return NAMED.sub(lambda code: MEANINGS.get(code[0], code[0]), text)


def _part_for_readers(part: str) -> str:
    codes = part.split()
    if codes and MEANINGS.keys() >= set(codes):
        return ", ".join(MEANINGS[code] for code in codes)
    coded = CODED.fullmatch(part)
    if coded is None:
        return part
    code, detail = coded[1], coded[2] or ""
    own = code.removesuffix(IN_GROUP)
    meaning = MEANINGS.get(own, "")
    if meaning and own != code:
        meaning = f"in the group: {meaning}"
    if not meaning and not detail:
        return part.replace("_", " ")
    return ": ".join(filter(None, (meaning, detail)))


def in_words(code: str) -> str:
    """A reason code and what it means; a code of a plug-in alone.

    >>> in_words("not_rated"), in_words("my_code")
    ('not_rated (nobody has rated the debate)', 'my_code')
    >>> in_words("constant_ratings_in_group")
    'constant_ratings_in_group (in the group: a participant answered all items of one kind alike)'

    Of several codes each is told.
    """
    several = code.split()
    if len(several) > 1 and MEANINGS.keys() >= set(several):
        return ", ".join(map(in_words, several))
    own = code.removesuffix(IN_GROUP)
    if own not in MEANINGS:
        return code
    meaning = MEANINGS[own]
    if own != code:
        meaning = f"in the group: {meaning}"
    return f"{code} ({meaning})"
