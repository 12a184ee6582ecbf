"""Summarisers that copy sentences: no language model, no key, no network, in every comparison.

extractive   TF-IDF of the sentences of all opinions; sentences by maximal marginal relevance
             (0.7 relevance to the centroid, 0.3 novelty) up to 250 words
themes       k-means of the same vectors; of the largest clusters the sentence nearest the
             centre, with the share of the cluster in per cent, up to 250 words
"""

from dataclasses import dataclass

from delibsim.domain.language import sentences
from delibsim.models.base import NO_USE, Completion
from delibsim.prompts.prompt import Prompt
from delibsim.prompts.verdict import opinions_in

VERSION = "1"
"""Raised when a summary of the same opinions changes."""


@dataclass(frozen=True)
class Copying:
    """A summariser of this name, "extractive" or "themes", with the protocol of a model."""

    name: str

    async def complete(self, prompt: Prompt, seed: int) -> Completion:
        """Copy sentences of the opinions that the prompt shows."""
        shown = opinions_in(prompt.messages[0].content)
        text = by_themes(shown, seed) if self.name == "themes" else by_relevance(shown)
        return Completion(
            text=text,
            usage=NO_USE,
            model_requested=self.name,
            model_returned=f"delibsim.{self.name} {VERSION} (copies sentences)",
            finish_reason="stop",
        )


def by_relevance(opinions: list[str], jitter: "list[float] | None" = None) -> str:
    """The sentences that stand for most and repeat each other least; `jitter` is added to the worth
    of each sentence, in their order.

    >>> by_relevance(["Trams are quiet.", "Trams are quiet and clean.", "Rails are dear."])
    'Trams are quiet. Trams are quiet and clean. Rails are dear.'
    """
    from delibsim.measures.summaries.texts import marginal_relevance, relevance, sentence_vectors

    found = sentences_of(opinions)
    if not found:
        return ""
    vectors = sentence_vectors(found)
    worth = relevance(vectors)
    if jitter is not None:
        worth = worth + jitter[: len(worth)]
    words = [len(one.split()) for one in found]
    return " ".join(found[place] for place in marginal_relevance(vectors, worth, words))


def by_themes(opinions: list[str], seed: int) -> str:
    """The sentence nearest the centre of each theme, the largest first, with its share."""
    from delibsim.measures.summaries.texts import LONGEST, sentence_vectors, themes

    found = sentences_of(opinions)
    if not found:
        return ""
    said, words = [], 0
    for theme in themes(sentence_vectors(found), seed):
        bare = found[theme.sentence].rstrip(" .!?")
        line = f"{bare} ({100 * theme.share:.0f} % of what was said)."
        words += len(line.split())
        if said and words > LONGEST:
            break
        said.append(line)
    return " ".join(said)


def sentences_of(opinions: list[str]) -> list[str]:
    """The sentences of opinions that have a word, in their order."""
    found = []
    for opinion in opinions:
        for sentence in sentences(opinion):
            if any(map(str.isalnum, sentence)):
                found.append(sentence.strip())
    return found
