"""The measures of real citizen deliberations on the benchmark's topics, to stand beside those of a run; figures only, no answers."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

OF_THE_INSTRUMENT = ("diversity", "diversity_standardised", "opinion_change_c", "opinion_change_p")
"""Measures that depend on the number of items, the width of the scale or the people asked: to be compared on one instrument only."""


@cache
def _document() -> dict[str, Any]:
    return json.loads(files("delibsim.analysis").joinpath("human_reference.json").read_text(encoding="utf-8"))


def reference(topic_id: str) -> dict[str, Any] | None:
    """What `delibsim human --json` gives for a topic: {"id", "n", "pre", "post", "change"}; None where no real people are known.

    >>> round(reference("ccps")["change"]["dri"], 3)
    0.104
    """
    group = next((group for group in _document()["groups"] if group["id"] == topic_id), None)
    return None if group is None else {**group, **{part: dict(group[part]) for part in ("pre", "post", "change")}}


def groups_of_five(topic_id: str) -> dict[str, Any] | None:
    """The same people dealt out into groups of five: by measure and part, mean over partitions and spreads; None as above.

    >>> groups_of_five("ccps")["groups"]
    6
    """
    return next((dict(group) for group in _document()["groups_of_five"]["topics"] if group["id"] == topic_id), None)
