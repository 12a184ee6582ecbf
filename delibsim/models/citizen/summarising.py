"""How the citizen summarises opinions: it copies sentences, and misjudges their worth a little.

worth      relevance of a sentence to the centroid of all + N(0, SLIP * noise)
summary    sentences by maximal marginal relevance, up to 250 words (models/extractive.py)
"""

import numpy as np

from delibsim.domain.seed import seed_of
from delibsim.models.extractive import by_relevance, sentences_of
from delibsim.prompts.summary import opinions_in

SLIP = 0.1
"""The standard deviation of the error of a worth, times the noise of the citizen."""


def summary_reply(prompt: str, summariser: str, noise: float, seed: int) -> str:
    """The summary of the citizen of this name, from what the prompt shows."""
    shown = opinions_in(prompt)
    rng = np.random.default_rng(seed_of(seed, summariser))
    errors = rng.normal(0, SLIP * noise, len(sentences_of(shown)))
    return by_relevance(shown, errors.tolist())
