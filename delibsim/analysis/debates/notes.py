"""Notes of tables in words, for pages and sentences."""

from delibsim.domain.reason import MEANINGS


def in_sentences(note: str) -> str:
    """What a note says, in words without its codes, for pages.

    >>> in_sentences("few_motions no_variance")
    'fewer than five motions say nothing of other motions; the values do not vary'
    >>> in_sentences("collinear; without rater_age")
    'a predictor follows from the others; without rater age'
    """
    said = []
    for part in note.split("; "):
        codes = part.split()
        known = bool(codes) and MEANINGS.keys() >= set(codes)
        said += [MEANINGS[code] for code in codes] if known else [part.replace("_", " ")]
    return "; ".join(said)
