"""Notes of tables in words, for pages and sentences."""

from delibsim.domain.reason import MEANINGS, for_readers


def in_sentences(note: str) -> str:
    """What a note says, in words without its codes, which are joined by semicolons or spaces.

    >>> in_sentences("few_motions no_variance")
    'fewer than five motions say nothing of other motions; the values do not vary'
    >>> in_sentences("collinear; without rater_age")
    'a predictor follows from the others; without rater age'
    """
    told = []
    for part in note.split("; "):
        codes = part.split()
        if codes and MEANINGS.keys() >= set(codes):
            told += [MEANINGS[code] for code in codes]
        elif part.startswith("without "):  # names of covariates
            told.append(part.replace("_", " "))
        else:
            told.append(for_readers(part))
    return "; ".join(told)
