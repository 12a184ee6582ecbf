"""What a provider's fault means: its status, how long to wait, and its text without secrets."""

import contextlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import parse_qsl, unquote, unquote_plus, urlencode, urlsplit, urlunsplit

from delibsim.domain.data import patterns
from delibsim.domain.secret import without_secrets
from delibsim.models.base import Completion, Status

_SAID = patterns("faults")
CONTEXT = re.compile(_SAID["context"], re.IGNORECASE)
MODERATION = re.compile(_SAID["moderation"], re.IGNORECASE)
EXHAUSTED = re.compile(_SAID["exhausted"], re.IGNORECASE)
MISSHAPEN = re.compile(_SAID["misshapen"], re.IGNORECASE)
REFUSED = re.compile(_SAID["refused"], re.IGNORECASE)
REJECTION = re.compile(f"{_SAID['rejection']}|{_SAID['refused']}", re.IGNORECASE)
SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
PASSING = (409, 424, 425)
"""HTTP codes below 500 that say nothing against the request: a conflict with another one, a
generation that failed (TGI), and a connection that is not trusted yet.
"""
LASTING = (501, 505, 506, 510, 511)
"""HTTP codes from 500 that no other attempt changes: what was asked is not known to the server, or
the network wants a login.
"""
LONGEST_FAULT = 2**16
"""Characters of a fault that are looked at; what follows is left out."""
ECHOING = ("detail", "model_returned", "finish_reason", "response_id", "fingerprint")
"""Fields of a completion in which a server may repeat what it was sent."""
DURATION = re.compile(
    r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?\Z"
)


def status_of(code: int, text: str) -> Status:
    """The status that an HTTP code and the text of its body stand for."""
    match code:
        case 401:
            return "authentication"
        case 402:
            return "quota"
        case 403 if not REFUSED.search(text):
            return "refusal" if MODERATION.search(text) else "authentication"
        case 408 | 504:
            return "timeout"
        case 413:
            return "context_overflow"
        case 429:
            return "quota" if EXHAUSTED.search(text) else "rate_limited"
        case _ if CONTEXT.search(text):
            return "context_overflow"
        case _ if MISSHAPEN.search(text):
            return "unreadable"
        case _ if REFUSED.search(text):
            return "bad_request"
        case _ if code in PASSING or (code >= 500 and code not in LASTING):
            return "unavailable"
        case _ if MODERATION.search(text):
            return "content_filter"
        case _:
            return "bad_request"


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds a provider asks to wait: Retry-After (seconds or a date), else the longest
    x-ratelimit-reset; None without either.

    >>> retry_after({"Retry-After": "7"}), retry_after({"retry-after": "soon"})
    (7.0, None)
    >>> retry_after({"x-ratelimit-reset-requests": "1m30s"})
    90.0
    """
    lower = {key.lower(): value.strip() for key, value in headers.items()}
    milliseconds = _seconds(lower.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    asked = lower.get("retry-after", "")
    seconds = _seconds(asked)
    if seconds is not None:
        return seconds
    with contextlib.suppress(ValueError, OverflowError):
        when = parsedate_to_datetime(asked)
        until = when.replace(tzinfo=when.tzinfo or UTC) - (now or datetime.now(UTC))
        return max(0.0, until.total_seconds())
    resets = (value for key, value in lower.items() if key.startswith("x-ratelimit-reset"))
    waits = [wait for wait in map(_duration, resets) if wait is not None]
    return max(waits, default=None)


def secrets(urls: Iterable[str] = ()) -> list[str]:
    """What must never be written: values of secret variables in the environment, and what these
    addresses carry.
    """
    named = (value.strip() for name, value in os.environ.items() if SECRET_NAME.search(name))
    found = {value for value in named if len(value) >= 8}
    for url in urls:
        found |= _carried(url)
    return sorted(found, key=len, reverse=True)


def _carried(url: str) -> set[str]:
    """The user, the password and the values of the query of an address, each as it is written and
    decoded, and user and password together; the address itself if it is none.
    """
    try:
        parts = urlsplit(url)
        user, password = parts.username or "", parts.password or ""
    except ValueError:
        return {url}
    values = [user, password, *(value for _, value in parse_qsl(parts.query))]
    values += [part.partition("=")[2] for part in parts.query.split("&")]
    if user or password:
        values.append(f"{user}:{password}")  # what a client sends in base64
    decoded = [*map(unquote, values), *map(unquote_plus, values)]
    return {value for value in [*values, *decoded] if len(value) >= 4}


def scrub(text: str, hidden: Iterable[str]) -> str:
    """A text with every secret, in whatever form, and everything that looks like a key, replaced.

    >>> scrub("bad key sk-abcdefghijklmnop1234 for me", [])
    'bad key [hidden] for me'
    """
    return without_secrets(text, hidden)


def without_echoes(completion: Completion, hidden: Sequence[str]) -> Completion:
    """A completion without secrets in what the server says beside the reply of the model."""
    said = {name: getattr(completion, name)[:LONGEST_FAULT] for name in ECHOING}
    together = "\n".join(said.values())  # one look at all is quicker than one at each
    if scrub(together, hidden) == together:
        return completion
    return replace(completion, **{name: scrub(text, hidden) for name, text in said.items()})


def public_url(url: str) -> str:
    """An address without user, password and values of its query: what may be recorded.

    >>> public_url("https://me:word@host/v1?key=abc")
    'https://host/v1?key=hidden'
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return "an address that cannot be read"
    host = parts.netloc.rpartition("@")[2]
    given = parse_qsl(parts.query, keep_blank_values=True)
    query = urlencode([(key, "hidden") for key, _ in given])
    path = scrub(parts.path, secrets())
    return urlunsplit((parts.scheme, host, path, query, ""))


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


def _duration(text: str) -> float | None:
    """Seconds of "1m30s", "250ms", "12", or None."""
    plain = _seconds(text)
    if plain is not None:
        # Some providers give the moment of reset in Unix time instead of a duration.
        return plain if plain < 1e8 else max(0.0, plain - datetime.now(UTC).timestamp())
    match = DURATION.match(text)
    if match is None or not text:
        return None
    hours, minutes, seconds, ms = (float(part) if part else 0.0 for part in match.groups())
    return hours * 3600 + minutes * 60 + seconds + ms / 1000
