"""Reading labelled numbers out of a reply: what is unambiguous is read, everything else is a named fault."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from delibsim.domain.survey import Survey

LINE = re.compile(r"""^[\s>*+\-•"'`{,|]*([A-Za-z][A-Za-z_]*[0-9]+)["'`*|]*\s*[:=|]\s*(.+?)[\s,;}*"'`|]*$""", re.ASCII)
WHOLE = re.compile(r"[+-]?[0-9]+\Z", re.ASCII)
QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "\ufeff": ""})


def labelled_values(text: str, labels: Sequence[str]) -> tuple[dict[str, int], list[str]]:
    r"""Whole numbers by label, and the faults of labels that have none, two, or one that is no whole number.

    >>> labelled_values("Here you are:\nC1: 5\nP1 = 2", ["C1", "P1"])
    ({'C1': 5, 'P1': 2}, [])
    >>> labelled_values("C1: 5\nC1: 6", ["C1", "P1"])[1]
    ['C1 is given twice with different values (5, 6)', 'P1 is missing']
    """
    text = text.translate(QUOTES)
    known = set(labels)
    pairs = list(_in_json(text, known)) or list(_in_lines(text))
    given: dict[str, list[str]] = {}
    for label, value in pairs:
        raw = value.strip().removesuffix(".") if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        seen = given.setdefault(label, [])
        if raw not in seen:
            seen.append(raw)
    values: dict[str, int] = {}
    faults: list[str] = []
    for label in labels:
        raws = given.pop(label, [])
        if not raws:
            faults.append(f"{label} is missing")
        elif len(raws) > 1:
            faults.append(f"{label} is given twice with different values ({', '.join(raws)})")
        elif not WHOLE.match(raws[0]):
            faults.append(f"{label} has '{raws[0][:40]}', which is not a whole number in plain digits")
        else:
            values[label] = int(raws[0])
    faults += [f"{label} is not a label of this survey" for label in given]
    return values, faults


def faults_of(values: Mapping[str, int], survey: Survey) -> list[str]:
    """What makes whole numbers no answer to this survey: ratings off the scale, ranks that are no permutation."""
    faults = [
        f"{item.id} has {values[item.id]}, outside {survey.scale_min} to {survey.scale_max}"
        for item in survey.considerations
        if item.id in values and values[item.id] not in survey.scale
    ]
    ranks = {item.id: values[item.id] for item in survey.preferences if item.id in values}
    m = len(survey.preferences)
    if len(ranks) == m and sorted(ranks.values()) != list(range(1, m + 1)):
        faults.append(f"the ranks {', '.join(f'{k}: {v}' for k, v in ranks.items())} do not use each of 1 to {m} exactly once")
    ratings = [values[item.id] for item in survey.considerations if item.id in values]
    if survey.forced_distribution is not None and not faults and len(ratings) == len(survey.considerations):
        counts = Counter(ratings)
        faults += [
            f"the value {value} is used {counts[value]} times instead of {n}"
            for value, n in zip(survey.scale, survey.forced_distribution, strict=True)
            if counts[value] != n
        ]
    return faults


def _in_lines(text: str) -> Iterable[tuple[str, str]]:
    for line in text.splitlines():
        if match := LINE.match(line):
            yield match[1], match[2]


def _in_json(text: str, known: set[str]) -> Iterable[tuple[str, Any]]:
    """The members of every flat JSON object in the text that speaks of a known label, repeated names included."""
    decoder = json.JSONDecoder(object_pairs_hook=lambda pairs: pairs)
    for candidate in (text, text.replace("'", '"')):
        found: list[tuple[str, Any]] = []
        start = candidate.find("{")
        while start >= 0:
            try:
                pairs, end = decoder.raw_decode(candidate, start)
            except json.JSONDecodeError:
                end = start + 1
            else:
                if any(name in known and not isinstance(value, list) for name, value in pairs):
                    found += pairs
            start = candidate.find("{", end)
        if found:
            return found
    return []
