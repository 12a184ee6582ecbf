"""The page for the ethics board: what becomes of people's data, from the settings of a study.

What the program does not know is invented nowhere: it stands there as a field to be filled in.
"""

import ipaddress
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from delibsim.conduct.people.rater_reception import rater_reception
from delibsim.conduct.people.rater_tasks import rater_tasks
from delibsim.domain.errors import unknown
from delibsim.domain.hosting import Hosting
from delibsim.domain.presence import PERSON
from delibsim.domain.run import Session
from delibsim.store.people.entry import DAY, STAYS
from delibsim.store.people.register import ADDRESS, FILE
from delibsim.store.reading import read_yaml
from delibsim.store.runs import Runs

TEXTS = Path(__file__).parents[2] / "data" / "protection"
COMPUTED = ("citizen",)
"""The kinds of models that are computed here."""
LITELLM = "litellm"


@dataclass(frozen=True)
class Facts:
    """What the program knows of a study: the settings, its sessions, and where models are reached,
    as far as the researcher says it, by name.
    """

    runs: Runs
    hosting: Hosting
    sessions: Sequence[Session]
    addresses: Mapping[str, str]


@cache
def texts_in(code: str) -> Mapping[str, str]:
    """The texts in a language; WrongInput, with those there are, for another."""
    known = sorted(path.stem for path in TEXTS.glob("*.yaml"))
    if code not in known:
        raise unknown("language", code, known)
    return {key: str(text) for key, text in read_yaml(TEXTS / f"{code}.yaml").items()}


def protection(facts: Facts, code: str) -> str:
    """The page as Markdown, in a language."""
    texts = texts_in(code)
    made = datetime.now(UTC).date().isoformat()
    told = {"version": version("delibsim"), "date": made, "mark": texts["mark"]}
    lines = [f"# {texts['title'].format(study=facts.runs.study)}", "", texts["made"].format(**told)]
    parts = (
        ("responsible", _responsible(facts)),
        ("study", _study(facts)),
        ("collected", _collected(facts)),
        ("where", _where(facts)),
        ("who", _who(facts)),
        ("providers", _providers(facts)),
        ("long", _long(facts)),
        ("withdrawal", _withdrawal(facts)),
        ("pseudonyms", iter([("codes", {}), ("codes_said", {})])),
        ("security", _security()),
    )
    for heading, entries in parts:
        lines += ["", f"## {texts[heading]}", ""]
        for key, values in entries:
            lines += _entry(texts, key, values)
    receptions = {"consent": facts.hosting.participants}
    if rater_tasks(facts.runs):
        receptions["consent_raters"] = rater_reception(facts.hosting, code)
    for heading, own in receptions.items():
        lines += ["", f"## {texts[heading]}", ""]
        lines += [texts["version"].format(version=own.consent_version), ""]
        lines += [re.sub("^#+ ", "### ", line) for line in own.consent.split("\n")]
    return "\n".join(lines).rstrip() + "\n"


Entry = tuple[str, Mapping[str, Any]]


def _entry(texts: Mapping[str, str], key: str, values: Mapping[str, Any]) -> list[str]:
    """One item of a list; what is to be filled in is marked, and a list within has its texts."""
    safe = {name: _line(value) for name, value in values.items() if name != "list"}
    text = texts[key].format(**safe)
    if key.startswith("fill_"):
        text = f"**{texts['mark']}** {text}"
    return [f"- {text}", *(f"  - “{_line(one)}”" for one in values.get("list", ()))]


def _line(value: Any) -> str:
    """A value in one line, in which nothing is a mark of Markdown."""
    return " ".join(str(value).split()).replace("*", "∗")


def _responsible(facts: Facts) -> Iterator[Entry]:
    yield "fill_responsible", {}
    yield "fill_officer", {}
    yield "fill_law", {}
    if facts.hosting.contact:
        yield "contact", {"contact": facts.hosting.contact}
    else:
        yield "fill_contact", {}


def _study(facts: Facts) -> Iterator[Entry]:
    yield "fill_purpose", {}
    for topic in dict.fromkeys(session.topic.question for session in facts.sessions):
        yield "topic", {"topic": topic}
    if facts.sessions:
        people = models = 0
        for session in facts.sessions:
            kinds = [_kind(session, one.model) for one in session.participants]
            people += kinds.count(PERSON)
            models += len(kinds) - kinds.count(PERSON)
        counts = {"sessions": len(facts.sessions), "seats": people, "models": models}
        yield "groups", counts
        yield ("known_yes" if facts.hosting.models_known else "known_no"), {}
        yield "consent_told", {}
    if tasks := rater_tasks(facts.runs):
        yield "raters", {"tasks": ", ".join(tasks)}


def _collected(facts: Facts) -> Iterator[Entry]:
    hosting = facts.hosting
    yield "identity", {}
    if hosting.panel:
        yield "panel", {"panel": hosting.panel}
    else:
        yield "panel_any", {}
    yield "consent_kept", {}
    if hosting.questions:
        yield "questions", {"list": [one.text for one in hosting.questions]}
    if hosting.checks:
        yield "checks", {"list": [one.text for one in hosting.checks]}
    surveys = {one.survey.id: one.survey for one in facts.sessions if one.respondents}
    for survey in surveys.values():
        yield "survey", {"survey": survey.id, "items": len(survey.items)}
    if not surveys:
        yield "no_survey", {}
    yield "said", {}
    yield "times", {}
    yield "language", {}
    yield "cookie", {"days": round(STAYS / DAY)}
    yield "no_ip", {}
    yield "fill_proxy", {}


def _where(facts: Facts) -> Iterator[Entry]:
    address = os.environ.get(ADDRESS, "")
    if address:
        yield "where_postgres", {"host": _host(address) or "?"}
    else:
        yield "where_sqlite", {"file": facts.runs.folder / FILE}
    yield "where_runs", {"folder": facts.runs.folder}
    yield "fill_where", {}


def _who(facts: Facts) -> Iterator[Entry]:
    yield "see_group", {}
    networks = {session.procedure.audience.network for session in facts.sessions}
    for network in sorted(networks - {"complete"}):
        yield "see_network", {"network": network}
    yield "see_researcher", {}
    yield "fill_who", {}
    yield "fill_share", {}


def _providers(facts: Facts) -> Iterator[Entry]:
    voices: dict[str, Mapping[str, Any]] = {}
    for session in facts.sessions:
        for name, settings in session.voices.items():
            if settings.get("kind") != PERSON:
                voices[name] = settings
    if not voices:
        yield "no_models", {}
    else:
        yield "sent", {}
    for name, settings in sorted(voices.items()):
        yield _provider(name, settings, facts.addresses.get(name, ""))
    if any(settings.get("kind") not in COMPUTED for settings in voices.values()):
        yield "fill_transfer", {}
    hosting = facts.hosting
    if facts.sessions and "stand_in" in (hosting.drop_out, hosting.nobody_comes):
        yield "stand_in", {"name": hosting.stand_in}
    yield "fill_after", {}


def _provider(name: str, settings: Mapping[str, Any], address: str) -> Entry:
    """Who gets what is said: known for what is computed here and for named providers, and for any
    other only where the researcher says the address.
    """
    model = str(settings.get("model", name))
    if settings.get("kind") in COMPUTED:
        return "local", {"name": name}
    if address:
        host = _host(address)
        key = "this_machine" if _is_here(host) else "addressed"
        return key, {"name": name, "model": model, "host": host}
    if settings.get("kind") == LITELLM and "/" in model:
        provider, _, rest = model.partition("/")
        return "hosted", {"name": name, "model": rest, "provider": provider}
    return "fill_address", {"name": name, "model": model}


def _long(facts: Facts) -> Iterator[Entry]:
    yield "keep", {"days": facts.hosting.keep_days}
    yield "links", {"days": facts.hosting.expires_days}
    yield "fill_long", {}


def _withdrawal(facts: Facts) -> Iterator[Entry]:
    yield "withdraw_how", {}
    yield f"withdraw_{facts.hosting.withdrawal}", {}
    yield "withdraw_left", {}
    yield "withdraw_copies", {}
    yield "fill_copies", {}


def _security() -> Iterator[Entry]:
    for key in ("sec_links", "sec_forms", "sec_rates", "sec_files", "sec_tls", "fill_tls"):
        yield key, {}


def _kind(session: Session, model: str) -> str:
    return str(session.models[model].get("kind", ""))


def _host(address: str) -> str:
    """The host of an address, without what may be secret in it."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
