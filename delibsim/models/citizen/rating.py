"""How the citizen rates a debate: it listens for what a speech does, and knows nothing of who
speaks.

    heard_ds     for each dimension d, the mean over the speeches of side s of what was heard, in
                 [0, 1]: marks of that art (see MARKS), each counted up to the number that fills it;
                 `performance` is the mean of the other ten
    rating_ds    25 + 60 * heard_ds + severity of the rater ~ N(0, SEVERITY) + N(0, 7), rounded and
                 kept between 0 and 100
    winner       the sign of  performance_A - performance_B + 0.05 * (own stance toward A's side)
                 + N(0, 4)
    stance after before + 0.25 * (performance for - performance against) + N(0, 3)

The rater's stance before is 50 + 25 times its attitude toward the motion (opinion.py). Who opens
the debate is for the motion.
"""

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from delibsim.domain.rating import DIMENSIONS
from delibsim.domain.transcript import Statement
from delibsim.prompts.forms.ballot import SPEAKERS

SEVERITY = 6.0
"""The standard deviation between raters of how severe they are, in points."""
MARKS: dict[str, tuple[str, int]] = {
    "knowledge": (r"\bexperience shows|\bin practice|\bprinciple", 2),
    "confidence": (
        r"\bwe (?:support|oppose|have answered)|\bstill stands|\bit holds|\bjudge everything",
        1,
    ),
    "clarity": (r"\bfirst\b|\bsecond(?:ly)?\b|\bfinally\b|\bfor two reasons", 2),
    "logic": (r"\bbecause\b|\btherefore\b|\bsince\b|\bit follows\b|\bdoes not follow", 2),
    "evidence": (r"\bfor example\b|\bexperience\b|\bconsider\b", 1),
    "engaging": (r"\bimagine\b|\bpicture\b|\bcompare\b|\byou\b", 2),
    "rebuttal": (r"\bmy opponent|\bthe other side|“[^”]{15,}”|\bwe have answered", 1),
    "convincing": (r"\boutweighs?\b|\bweigh\b|\bpoint the same way\b|\bmeasure\b", 1),
}
"""What is listened for, and how often it must be heard in one speech to count in full."""
VAGUE = re.compile(
    r"\bperhaps\b|\bmaybe\b|\bI suppose\b|\bI guess\b|\bmore or less\b|\brather\b|\bsome\b",
    re.IGNORECASE,
)
CASUAL = re.compile(r"\b\w+(?:n't|['’](?:s|re|ll|d)) |!|\banyway\b", re.IGNORECASE)


def heard(speech: str) -> dict[str, float]:
    """What is heard in one speech, by dimension without the overall one; each in [0, 1]."""
    found = {
        name: min(len(re.findall(pattern, speech, re.IGNORECASE)) / full, 1.0)
        for name, (pattern, full) in MARKS.items()
    }
    vague = min(len(VAGUE.findall(speech)) / 4, 1.0)
    words = re.findall(r"\w+", speech.lower())
    found["confidence"] = max(found["confidence"] - vague / 2, 0.0)
    found["formality"] = 1 - min(len(CASUAL.findall(speech)) / 3, 1.0) / 2 - vague / 2
    found["originality"] = min(len(set(words)) / max(len(words), 1), 1.0) * (1 - vague / 2)
    return found


def judge(
    speeches: Sequence[Statement], before: int, check: int, seed: int, severity: float
) -> str:
    """A ballot on the speeches of A and B, as text; who opens the debate is for the motion."""
    rng = np.random.default_rng(seed)
    lines, overall = [], []
    for speaker in SPEAKERS:
        quality = _quality([said for said in speeches if said.turn.speaker == f"Speaker {speaker}"])
        points = {
            name: 25 + 60 * quality[name] + severity + rng.normal(0, 7) for name in DIMENSIONS
        }
        lines += [f"{speaker}{i}: {whole(points[name])}" for i, name in enumerate(DIMENSIONS, 1)]
        overall.append(points["performance"])
    favours = 1 if speeches and speeches[0].turn.speaker == "Speaker A" else -1
    lead = overall[0] - overall[1]
    verdict = lead + 0.05 * (before - 50) * favours + rng.normal(0, 4)
    after = before + 0.25 * lead * favours + rng.normal(0, 3)
    lines.append(f"WINNER: {SPEAKERS[0] if verdict > 0 else SPEAKERS[1]}")
    lines.append(f"S1: {whole(after)}")
    lines.append(f"C1: {check}")
    return "\n".join(lines)


def _quality(speeches: Sequence[Statement]) -> dict[str, float]:
    """What is heard in the speeches of one side, by dimension; each in [0, 1]."""
    found = [heard(said.text) for said in speeches]
    quality = {name: _mean(name, found) for name in DIMENSIONS[:-1]}
    quality["performance"] = float(np.mean(list(quality.values())))
    return quality


def _mean(name: str, found: Sequence[Mapping[str, float]]) -> float:
    return float(np.mean([one[name] for one in found])) if found else 0.0


def whole(value: float) -> int:
    """A value as a whole number from 0 to 100."""
    return min(max(math.floor(value + 0.5), 0), 100)
