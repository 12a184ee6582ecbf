"""Sentences of summaries beside the opinions most similar to them: a lead for readers, no proof."""

from typing import Any

import numpy as np

from delibsim.analysis.summaries.judged import JudgedSet
from delibsim.domain.language import prevailing, sentences
from delibsim.domain.summary import flags_of
from delibsim.measures.summaries.texts import nearest, sentence_vectors


def listed(judged: JudgedSet) -> list[dict[str, Any]]:
    """Every summary that was planned: opinions, words, and flags or why it is missing."""
    spoken = prevailing(judged.opinions["text"])
    rows = []
    for id, row in judged.summaries.iterrows():
        flags = flags_of(row["text"], spoken) if row["text"] else []
        state = row["missing"] or ", ".join(flags)
        told = {"id": str(id), "opinions": len(judged.sources[str(id)]), "words": int(row["words"])}
        rows.append(told | {"state": state})
    return rows


def of_summary(judged: JudgedSet, id: str, most: int) -> list[dict[str, Any]]:
    """The sentences of a summary, each with so many of its opinions, the most similar first."""
    said = [one.strip() for one in sentences(judged.summaries.loc[id, "text"]) if one.strip()]
    ids = list(judged.sources[id])
    if not said or not ids:
        return []
    texts = judged.opinions.loc[ids, "text"].tolist()
    vectors = sentence_vectors([*said, *texts])
    cosines = (vectors[: len(said)] @ vectors[len(said) :].T).toarray()
    rows = []
    for sentence, own in zip(said, cosines, strict=True):
        order = np.argsort(-own, kind="stable")[:most].tolist()
        near = [
            {"opinion": ids[place], "similarity": float(own[place]), "text": texts[place]}
            for place in order
        ]
        rows.append({"sentence": sentence, "nearest": near})
    return rows


def of_opinion(judged: JudgedSet, id: str) -> list[dict[str, Any]]:
    """The most similar sentence of every summary that was written from an opinion."""
    text = str(judged.opinions.loc[id, "text"])
    rows = []
    for summary, sources in judged.sources.items():
        said = [one.strip() for one in sentences(judged.summaries.loc[summary, "text"])]
        if id not in sources or not any(said):
            continue
        vectors = sentence_vectors([text, *said]).toarray()
        (place,), (cosine,) = nearest(vectors[:1], vectors[1:])
        rows.append({"summary": summary, "similarity": float(cosine), "sentence": said[int(place)]})
    return rows
