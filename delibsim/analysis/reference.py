"""The measures of real citizen deliberations on the benchmark's topics, to stand beside those of a run; figures only, no answers."""

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def _groups() -> dict[str, dict[str, Any]]:
    text = files("delibsim.analysis").joinpath("human_reference.json").read_text(encoding="utf-8")
    return {group["id"]: group for group in json.loads(text)["groups"]}


def reference(topic_id: str) -> dict[str, Any] | None:
    """What `delibsim human --json` gives for a topic: {"id", "n", "pre", "post", "change"}; None where no real people are known.

    >>> round(reference("ccps")["change"]["dri"], 3)
    0.104
    """
    group = _groups().get(topic_id)
    return None if group is None else {**group, **{part: dict(group[part]) for part in ("pre", "post", "change")}}
