"""How the citizen codes a text: by counting marks of reasons, groups and objections, which is no
evidence.

    share        what is heard of the kind that the dimension names, in [0, 1]: marks of reasons or
                 objections, each counted up to the number that fills it; for groups 1/2, more where
                 more words affirm than derogate, less where fewer do
    level        share * (levels - 1) + severity of the coder ~ N(0, SEVERITY) + N(0, noise),
                 rounded and kept on the scale
    named level  that whose name and anchor share most words with the text, + N(0, noise) each

A dimension that names none of the three, and levels that are names, are coded by shared words.
"""

import json
import math
import re
from collections.abc import Sequence

import numpy as np

from delibsim.domain.scheme import LevelValue
from delibsim.domain.seed import seed_of
from delibsim.models.citizen.meaning import FILLER, words
from delibsim.prompts.blocks import read_block, unquoted
from delibsim.prompts.forms.code import APPLIES, RATIONALE, SCORE, CodeForm

SEVERITY = 0.3
"""The standard deviation between coders of how severe they are, in levels."""
KINDS = {
    "objections": r"oppos|counter|objection",
    "groups": r"group|respect|dignity",
    "reasons": r"reason|justif|argument|premise",
}
"""What is counted on a dimension, by words of its name or, if that has none, of its definition."""
MARKS = {
    "reasons": (
        r"\b(?:because|since|therefore|thus|hence|so that|for this reason|as a result|due to"
        r"|it follows|which means|if|weil|denn|deshalb|daher|damit)\b",
        3,
    ),
    "objections": (
        r"\b(?:however|although|opponents?|critics?|objections?|on the other hand|granted"
        r"|admittedly|it is true that|but|nevertheless|still|fear that|jedoch|aber|zwar)\b",
        3,
    ),
}
"""What is listened for, and how often it must be heard in a text to count in full."""
AFFIRMED = r"\b(?:deserves?|dignity|respect|contribut\w*|equal\w*|rights?|proud|valued?|thank\w*)\b"
DEROGATED = r"\b(?:lazy|stupid|criminals?|dirty|liars?|parasites?|inferior|worthless|scum|never)\b"
CLAIM = (
    r"\b(?:should|must|ought|need\w*|want\w*|is|are|has|have|will|would|can|sollte\w*|muss|ist)\b"
)
STEPS = "\n".join(
    (
        "1. Read the text once, without the context.",
        "2. Count the marks of reasons, of groups or of objections that the rules of the citizen"
        " list.",
        "3. Divide the count by the number at which it is full.",
        "4. Place the result between the lowest and the highest anchor.",
        "5. Add the severity of this coder and round to a level; the anchors are not read.",
    )
)
"""The procedure of every citizen; it says what it does, and that it reads no anchor."""


def code_reply(form: CodeForm, prompt: str, coder: str, noise: float, seed: int) -> str:
    """The reply of the citizen of this name, as the form wants it, from what the prompt shows."""
    text = unquoted(read_block("text", prompt) or "")
    rng = np.random.default_rng(seed_of(seed, coder))
    if form.filtered and not re.search(CLAIM, text, re.IGNORECASE):
        why = "Rule-based and no evidence: the text has no verb of claiming or demanding."
        return json.dumps({APPLIES: "no", RATIONALE: why, SCORE: None})
    kind = _kind(prompt)
    named = isinstance(form.levels[0], str)
    if named or not kind:
        level, heard = _by_words(form.levels, prompt, text, noise, rng)
    else:
        share, heard = _heard(kind, text)
        name = read_block("dimension", prompt) or ""
        severity = np.random.default_rng(seed_of("coder", coder, name)).normal(0, SEVERITY)
        place = share * (len(form.levels) - 1) + severity + rng.normal(0, noise)
        level = form.levels[min(max(math.floor(place + 0.5), 0), len(form.levels) - 1)]
    rationale = f"Rule-based and no evidence: {heard}. The anchors were not read."
    first = {APPLIES: "yes"} if form.filtered else {}
    return json.dumps({**first, RATIONALE: rationale, SCORE: level}, ensure_ascii=False)


def _kind(prompt: str) -> str:
    """What is counted on the dimension of a prompt; "" where it names none of the kinds."""
    for tag in ("dimension", "definition"):
        entry = read_block(tag, prompt) or ""
        for kind, pattern in KINDS.items():
            if re.search(pattern, entry, re.IGNORECASE):
                return kind
    return ""


def _heard(kind: str, text: str) -> tuple[float, str]:
    """The share of a kind that is heard in a text, and what was counted, in words."""
    if kind == "groups":
        good = len(re.findall(AFFIRMED, text, re.IGNORECASE))
        bad = len(re.findall(DEROGATED, text, re.IGNORECASE))
        share = 0.5 + 0.5 * (good - bad) / max(good + bad, 1)
        return share, f"{good} words that affirm and {bad} that derogate were counted"
    pattern, full = MARKS[kind]
    count = len(re.findall(pattern, text, re.IGNORECASE))
    return min(count / full, 1.0), f"{count} marks of {kind} were counted"


def _by_words(
    levels: Sequence[LevelValue],
    prompt: str,
    text: str,
    noise: float,
    rng: np.random.Generator,
) -> tuple[LevelValue, str]:
    """The level whose line in the prompt shares most words with a text, and that in words."""
    lines = (read_block("levels", prompt) or "").split("\n")
    said = _content(text)
    shared = [len(said & _content(line)) for line in lines][: len(levels)]
    felt = np.array(shared) + rng.normal(0, noise, len(shared))
    best = int(np.argmax(felt)) if len(shared) else 0
    return levels[best], f"{shared[best] if shared else 0} words of the anchor stand in the text"


def _content(text: str) -> set[str]:
    """The words of a text that say something."""
    return {word for word in words(text) if len(word) > 3 and word not in FILLER}
