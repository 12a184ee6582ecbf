"""Whether a model is asked for JSON by a schema: what is set (`structured`), and what its server
turns out to enforce, which is asked once before a study begins.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, get_args

from delibsim.models.base import FATAL, TRANSIENT, PreflightIssue, read
from delibsim.models.retry import RetryingModel
from delibsim.prompts.forms.ballot import Choice
from delibsim.prompts.prompt import SAID, Message, Prompt, Purpose, SchemaFormat

AUTO = "auto"
FORMATS: tuple[SchemaFormat, ...] = get_args(SchemaFormat)[1:]
"""Those of a schema, the usual one first."""


def format_in(settings: Mapping[str, Any]) -> SchemaFormat:
    """The format in which a model with these settings is sent schemas; "" for none.

    That is what was settled. Neither `auto` of a model that nobody has asked yet counts, nor a
    record of `true`, under which prompts did not ask for JSON.
    """
    settled = settings.get("structured")
    return settled if settled in FORMATS else ""


def as_format(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a model in which `structured=true` names the usual format."""
    meant = {"structured": FORMATS[0]} if settings.get("structured") is True else {}
    return {**settings, **meant}


def server_of(settings: Mapping[str, Any]) -> str:
    """What of the settings of a model decides on what its server enforces."""
    own = {k: v for k, v in settings.items() if k not in ("temperature", "structured")}
    return json.dumps(own, sort_keys=True)


Settled = Mapping[str, Any]
"""What `structured` turned out to be, by `server_of`."""


def settled_in(models: Iterable[Mapping[str, Any]]) -> Settled:
    """What was settled of these models."""
    return {server_of(own): own.get("structured", AUTO) for own in models}


def with_settled(settings: Mapping[str, Any], found: Settled) -> Mapping[str, Any]:
    """The settings of a model in which `auto` is replaced by what it turned out to be."""
    if settings.get("structured") != AUTO:
        return settings
    return {**settings, "structured": found.get(server_of(settings), AUTO)}


def models_settled(
    models: Mapping[str, Mapping[str, Any]], found: Settled
) -> dict[str, Mapping[str, Any]]:
    """The settings of models by name, in which `auto` is replaced."""
    return {name: with_settled(own, found) for name, own in models.items()}


PROBE = Prompt(
    (Message("user", SAID["probe"]),),
    Choice("colour", ("red", "blue")),
    Purpose("preflight", "schema"),
)
"""A question whose prompt does not ask for JSON."""


async def settle(model: RetryingModel, wanted: Any) -> tuple[SchemaFormat, list[PreflightIssue]]:
    """The format in which a model is sent schemas where `wanted` stands in its settings (auto, or a
    format), and what has to be known of it.

    Its server is asked where nobody knows and a call costs nothing.
    """
    given: SchemaFormat = "" if wanted == AUTO else wanted
    known = model.capabilities.enforces
    if known is not None:
        found: SchemaFormat | None = FORMATS[0] if known else ""
    elif not model.price.free:
        said = [] if given else [_issue("note", model, "not_asked")]
        return given, said
    else:
        found, fault = await _enforced(model, given or FORMATS[0])
        if found is None:
            return given, [_issue("error", model, "unanswered", fault=fault)]
    if given:
        if found == given:
            return given, [_issue("note", model, given)]
        return given, [_issue("warning", model, f"as_set_{found or 'nothing'}", given=given)]
    return found, [_issue("note", model, found or "nothing")]


def _issue(level: Any, model: RetryingModel, name: str, **told: str) -> PreflightIssue:
    return PreflightIssue(level, model.name, SAID["settled"][name].format(**told))


async def _enforced(model: RetryingModel, first: SchemaFormat) -> tuple[SchemaFormat | None, str]:
    """The format that a server enforces, "" for none; None with a fault where it did not answer."""
    for kind in sorted(FORMATS, key=lambda one: one != first):
        completion = await model.complete(replace(PROBE, enforced=kind), seed=1)
        if completion.status in FATAL | TRANSIENT | {"bad_request", "internal", "budget"}:
            return None, f"{completion.status}: {completion.detail}"
        sent = completion.parameters_sent.get("response_format", {}).get("type", "")
        value, _ = read(PROBE, completion)
        if value is not None and "response_format" not in completion.parameters_dropped:
            return sent, ""
        if sent != kind:  # it was refused, and so was the other one, or is ignored
            break
    return "", ""


def apart(models: Iterable[Mapping[str, Any]]) -> Iterator[PreflightIssue]:
    """A warning where some models are sent schemas and others, which could be, are not; and where
    that may turn out so, because of some of them it is not settled yet.
    """
    names: dict[str, list[str]] = {"sent": [], "free": [], "open": []}
    for settings in models:
        if "structured" in settings:
            way = "sent" if format_in(settings) else "free"
            way = "open" if settings["structured"] == AUTO else way
            names[way].append(str(settings["name"]))
    found = "apart" if names["sent"] and names["free"] else "perhaps_apart"
    needed = ("sent", "free") if found == "apart" else ("open", "free")
    if all(names[way] for way in needed):
        told = {way: ", ".join(own) for way, own in names.items()}
        said = SAID["settled"][found].format(**told)
        yield PreflightIssue("warning", names[needed[0]][0], said)
