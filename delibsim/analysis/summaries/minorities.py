"""Who is left out: gaps of groups of opinions with their controls, the least represented."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.result import said, with_holm
from delibsim.analysis.summaries.judged import JudgedSet
from delibsim.domain.seed import seed_of
from delibsim.domain.summary import flags_of as flags_of_text
from delibsim.domain.summary import spoken
from delibsim.domain.text import prevailing, sentences
from delibsim.measures.summaries.gaps import TOO_SMALL, gap, overlap, random_gaps, within
from delibsim.measures.summaries.texts import (
    SMALLEST,
    TFIDF,
    Embedding,
    NoSharedWord,
    clusters,
    local_outliers,
    nearest,
    sentence_vectors,
    stability,
)

Row = dict[str, Any]
DRAWS, FOR_A_ROW = 1_000, 100
"""Random groups, and the fewest for each row of the table."""
ALPHA = 0.05
LESS, MORE = "less", "more"
WORD, MEANING = "own word", "meaning"
ALL = "all"
LISTED = 20
"""Opinions that the list of the least represented holds."""
SEEDS = range(10)


@dataclass(frozen=True, eq=False)
class OpinionGroups:
    """Groups of opinions: `marks` by name (index: opinion; True in the group), and what must be
    known of them.
    """

    marks: Mapping[str, pd.Series]
    notes: Sequence[str]


def flags_of(
    judged: JudgedSet, by: Sequence[str] = (), embedding: Embedding = TFIDF
) -> OpinionGroups:
    """The groups of a set: by own word, by meaning (local outliers within stances or clusters), by
    each stance, and by each value of the columns in `by`. `embedding` makes texts points.
    """
    opinions = judged.opinions
    marks: dict[str, pd.Series] = {}
    notes: list[str] = []
    said = opinions["minority"]
    if (said == "yes").any():
        marks[WORD] = (said == "yes")[said != ""]
    far = _far(judged, notes, embedding)
    if far is not None:
        marks[MEANING] = far
    stances = opinions["stance"]
    for stance in ("positive", "negative", "not sure"):
        if (stances == stance).any():
            marks[f"stance {stance}"] = (stances == stance)[stances != ""]
    for column in by:
        values = opinions[column].astype(str)
        for value in sorted(values[values != ""].unique()):
            marks[f"{column} {value}"] = (values == value)[values != ""]
    return OpinionGroups(marks, notes)


def _far(judged: JudgedSet, notes: list[str], embedding: Embedding) -> pd.Series | None:
    """Who is far from the opinions of the same stance or cluster; None where nobody can be."""
    known = judged.opinions[judged.opinions["text"].map(spoken)]
    try:
        points = embedding.points(known["text"].tolist())
    except NoSharedWord as fault:
        notes.append(f"no groups by meaning: {fault}.")
        return None
    if embedding.source:
        notes.append(said("summaries/embedding", source=embedding.source))
    if (known["stance"] != "").any():
        groups = known["stance"].replace("", "none given").to_numpy()
    else:
        seed = seed_of(judged.study, "clusters")
        groups = np.array([f"cluster {code + 1}" for code in clusters(points, seed).tolist()])
        notes.append(said("summaries/clusters", index=stability(points, list(SEEDS))))
    found = local_outliers(points, groups)
    for name in found.notes:
        notes.append(said("summaries/too_few", group=name, smallest=SMALLEST, code=TOO_SMALL))
    few = [f"{name} {k}" for name, k in found.neighbours.items() if k < 20]
    if few:
        notes.append(said("summaries/neighbours", few=", ".join(few)))
    if not found.neighbours:
        return None
    marks = pd.Series(found.flagged, index=known.index)
    flagged, others = (known["words"][own].mean() for own in (marks, ~marks))
    notes.append(said("summaries/lengths", flagged=flagged, others=others))
    return marks[~np.isnan(found.factors)]


def represented(judged: JudgedSet, model: str = ALL) -> pd.Series:
    """How far each opinion is represented (index: opinion), from 0 to 1, in the summaries of the
    largest size: for each judge and summariser the mean over its summaries, then over these.

    Smaller sizes are left out, since an opinion that is in them is one of few.
    """
    return _mean_rep(judged, judged.scored, model)


def placebo_represented(judged: JudgedSet, model: str = ALL) -> pd.Series:
    """The same of summaries of any size that were written from other opinions."""
    return _mean_rep(judged, judged.placebo, model, largest=False)


def _mean_rep(
    judged: JudgedSet, ratings: pd.DataFrame, model: str, largest: bool = True
) -> pd.Series:
    models, sizes = judged.summaries["model"], judged.summaries["size"]
    whole = judged.summaries["group"] == ""
    if largest:
        whole &= sizes == sizes[whole].max()
    known = ratings[ratings["summary"].map(whole).fillna(False).astype(bool)]
    # Raters write opinions of their own.
    known = known[known["opinion"].isin(judged.opinions.index)]
    known = known.assign(model=known["summary"].map(models))
    if model != ALL:
        known = known[known["model"] == model]
    each = known.groupby(["judge", "model", "opinion"], sort=False)["rep"].mean()
    return each.groupby(level="opinion", sort=False).mean()


def gaps(judged: JudgedSet, flags: OpinionGroups, draws: int = DRAWS) -> list[Row]:
    """The gap of every group in the summaries of every model, with interval, random control and the
    three controls; called one (`verb`) where it exceeds those of random groups.
    """
    models = [ALL, *judged.summaries["model"].unique().tolist()]
    scores = {}
    for model in models if len(models) > 2 else models[1:]:
        scores[model] = represented(judged, model), placebo_represented(judged, model)
    rows = []
    # p of so many rows after Holm can come below .05 only with so many random groups.
    draws = max(draws, FOR_A_ROW * len(scores) * len(flags.marks))
    for group, marks in flags.marks.items():
        for model, given in scores.items():
            control = draws, seed_of(judged.study, "random", group, model)
            row = _gap(judged.opinions, marks, group, given, control)
            rows.append({"study": judged.study, "group": group, "model": model} | row)
    for row in with_holm(rows, p="p_control"):
        side = LESS if row["estimate"] > 0 else MORE
        row["verb"] = side if row["p_control_holm"] < ALPHA else ""
    return rows


def notes_on_gaps(judged: JudgedSet, flags: OpinionGroups) -> list[str]:
    """What must be known of the groups of a set and of its controls."""
    if judged.ratings["control"].any():
        return list(flags.notes)
    return [*flags.notes, said("summaries/no_placebo", study=judged.study)]


def _gap(
    opinions: pd.DataFrame,
    marks: pd.Series,
    group: str,
    scores: tuple[pd.Series, pd.Series],
    control: tuple[int, int],
) -> Row:
    """One row of the table; `scores` are those of summaries and of placebos, `control` the number
    of random groups and their seed.
    """
    score, other = (one[one.index.isin(marks.index)] for one in scores)
    own = marks.reindex(score.index).to_numpy(dtype=bool)
    values = score.to_numpy(dtype=float)
    row: Row = vars(gap(values, own)).copy()
    drawn = random_gaps(values, own, *control)
    row |= {"control": drawn.mean, "control_low": drawn.low, "control_high": drawn.high}
    row["p_control"] = drawn.p
    row["mean"] = float(values[own].mean()) if own.any() else np.nan
    opinions = opinions.loc[score.index]
    stances = opinions["stance"].to_numpy()
    if not group.startswith("stance") and (stances != "").any():
        row["within_stance"], row["within_stance_se"], _ = within(values, own, stances, None)
    words = np.log(opinions["words"].clip(lower=1).to_numpy(dtype=float))
    row["at_equal_length"] = within(values, own, None, words)[0]
    if len(other):
        same = gap(other.to_numpy(float), marks.reindex(other.index).to_numpy(bool))
        row |= {"placebo": same.estimate, "placebo_p": same.p}
    return row


def overlaps(judged: JudgedSet, flags: OpinionGroups) -> Iterator[Row]:
    """How far the flags by own word and by meaning meet, and what chance gives."""
    if {WORD, MEANING} <= flags.marks.keys():
        one, other = flags.marks[WORD], flags.marks[MEANING]
        shared = one.index.intersection(other.index)
        a, b = one[shared].to_numpy(bool), other[shared].to_numpy(bool)
        found = overlap(len(shared), int(a.sum()), int(b.sum()), int((a & b).sum()))
        yield {"study": judged.study, "one": WORD, "other": MEANING} | vars(found)


def least(judged: JudgedSet, flags: OpinionGroups) -> Iterator[Row]:
    """The least represented opinions, with their text and the nearest sentence of any summary."""
    score = represented(judged).sort_values(kind="stable")
    chosen = score.iloc[:LISTED].index.tolist()
    close = nearest_sentences(judged, chosen)
    for id in chosen:
        opinion = judged.opinions.loc[id]
        marks = {name: flags.marks.get(name, pd.Series(dtype=bool)) for name in (WORD, MEANING)}
        groups = [name for name, own in marks.items() if own.get(id, False)]
        sentence, summary, likeness = close.get(id, ("", "", np.nan))
        row: Row = {"study": judged.study, "opinion": id, "score": float(score[id])}
        row |= {"stance": opinion["stance"], "text": opinion["text"]}
        row |= {"minority_by": ", ".join(groups), "nearest": sentence}
        yield row | {"summary": summary, "similarity": likeness}


def nearest_sentences(
    judged: JudgedSet, opinions: Sequence[str]
) -> dict[str, tuple[str, str, float]]:
    """For each opinion the most similar sentence of the summaries of the largest size, the summary
    that it stands in, and the cosine of their TF-IDF.
    """
    whole = judged.summaries[(judged.summaries["group"] == "") & (judged.summaries["text"] != "")]
    whole = whole[whole["size"] == whole["size"].max()]
    said: dict[str, str] = {}
    for id, text in whole["text"].items():
        for sentence in sentences(text):
            said.setdefault(sentence.strip(), str(id))
    if not said or not len(opinions):
        return {}
    texts = judged.opinions.loc[list(opinions), "text"].tolist()
    vectors = sentence_vectors([*texts, *said]).toarray()
    places, cosines = nearest(vectors[: len(texts)], vectors[len(texts) :])
    listed = list(said)
    found = {}
    for id, place, cosine in zip(opinions, places.tolist(), cosines.tolist(), strict=True):
        found[id] = (listed[place], said[listed[place]], cosine)
    return found


def listed(judged: JudgedSet) -> list[dict[str, Any]]:
    """Every summary that was planned: opinions, words, and flags or why it is missing."""
    spoken = prevailing(judged.opinions["text"])
    rows = []
    for id, row in judged.summaries.iterrows():
        flags = flags_of_text(row["text"], spoken) if row["text"] else []
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
