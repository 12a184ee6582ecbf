"""Secrets in texts: what looks like a key, and a known secret in every form in which it is sent."""

import base64
import binascii
import re
from collections.abc import Iterable
from functools import cache

from delibsim.domain.errors import refused

HIDDEN = "[hidden]"
KEY_FORM = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:sk|pk|rk|xai|gsk|csk|hf|pplx|nvapi|ghp|glpat|github_pat)[-_]|AIza|AKIA)"
    r"[-_A-Za-z0-9]{16,}|(?<![A-Za-z0-9])eyJ[-_A-Za-z0-9]{8,}\.[-_A-Za-z0-9]{8,}(?:\.[-_\w]*)?"
)
"""Keys of the providers' common forms, and JSON web tokens."""
IN_MESSAGES = re.compile(
    r"(?<=Bearer )[^\s\"\\]{8,}|(?<=://)[^/\s\"'<>\\]*@"
    r"|(?<=[?&])((?:[\w-]*(?:key|token|secret|password|signature|sign|sig))=)[^&\s\"'<>\\]+",
    re.IGNORECASE,
)
"""What follows Bearer, the user and password of an address, and secrets in its query; never more
than what a string in JSON holds of them.
"""
BASIC = re.compile(r"(?<=Basic )[A-Za-z0-9+/_-]{4,}={0,2}", re.IGNORECASE)
MARKS = ("://", "=", "bearer ", "basic ")
"""One of these is in every text in which IN_MESSAGES or BASIC finds something."""
TOKEN = re.compile(r"[A-Za-z0-9+/_=%\\-]{6,}")
"""A run of characters that may be base64, also where it is URL-encoded or JSON-escaped."""
LONGEST = 200
"""Of a longer secret, its beginning is looked for."""
SHORTEST_IN_BASE64 = 6
ESCAPES = "%\\&"
"""What every escaped form of a character begins with, but for a plus sign for a space."""
NAMED_IN_HTML = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos"}


def looks_like_key(text: str) -> bool:
    """Whether a text holds what looks like a provider's key.

    >>> looks_like_key("sk-abcdefghijklmnop1234"), looks_like_key("sk-pilot")
    (True, False)
    """
    return KEY_FORM.search(text) is not None


def refuse_key(what: str, name: str) -> None:
    """WrongInput, which does not repeat it, where a name looks like a key."""
    if looks_like_key(name):
        raise refused("name_looks_like_a_key", what=what)


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """A text with each of these secrets, in whatever form, and all that looks like a key hidden.

    The forms of a secret are: as it is, URL-encoded, JSON-escaped or HTML-escaped, once or more
    often; in hexadecimal digits; in base64, alone or as a part of a longer text.

    >>> without_secrets("key a%2Bb%252Fc, Basic bWU6YStiL2M=", ["a+b/c", "me:a+b/c"])
    'key [hidden], Basic [hidden]'
    """
    known = tuple(secrets)
    if _is_clear_of(known, text):
        known = ()
    for secret in known:
        for form in _forms(secret):
            text = form.sub(HIDDEN, text)
    in_base64 = [form for secret in known for form in _base64_forms(secret)]

    def hide(token: re.Match[str]) -> str:
        found = any(form.search(token[0]) for form in in_base64)
        return HIDDEN if found else token[0]

    if in_base64:
        text = TOKEN.sub(hide, text)
    text = KEY_FORM.sub(HIDDEN, text)
    if not any(mark in text.lower() for mark in MARKS):
        return text
    return IN_MESSAGES.sub(_hide_in_message, BASIC.sub(_hide_credentials, text))


def _is_clear_of(secrets: Iterable[str], text: str) -> bool:
    """Whether a quick look shows that a text without escapes holds none of these secrets."""
    if any(mark in text for mark in ESCAPES):
        return False
    lower, plain = text.lower(), text.replace("-", "+").replace("_", "/")
    for secret in secrets:
        decided = any(characters in plain for characters in _decided(secret))
        if decided or secret[:LONGEST] in text or _in_digits(secret) in lower or " " in secret:
            return False
    return True


def _hide_in_message(match: re.Match[str]) -> str:
    """What stands for a secret of a message: the name of a field of a query is kept."""
    end = "@" if match[0].endswith("@") and not match[1] else ""
    return f"{match[1] or ''}{HIDDEN}{end}"


def _hide_credentials(match: re.Match[str]) -> str:
    """What stands for the word behind "Basic": the word itself, unless it is user:password."""
    text = match[0].rstrip("=").replace("-", "+").replace("_", "/")
    try:
        plain = base64.b64decode(text + "=" * (-len(text) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return match[0]
    return HIDDEN if ":" in plain else match[0]


@cache
def _forms(secret: str) -> tuple[re.Pattern[str], ...]:
    """What finds a secret that is readable, and one in hexadecimal digits."""
    cut = secret[:LONGEST]
    rest = r"\S*" if len(secret) > LONGEST else ""
    readable = re.compile("".join(map(_any_form, cut)) + rest)
    return readable, re.compile(f"{_in_digits(secret)}[0-9a-f]*", re.IGNORECASE)


@cache
def _base64_forms(secret: str) -> tuple[re.Pattern[str], ...]:
    """What finds a secret in base64 or base64url, wherever in the encoded text it stands."""
    found = []
    for characters in _decided(secret):
        found.append(re.compile("".join(map(_of_base64, characters))))
    return tuple(found)


@cache
def _in_digits(secret: str) -> str:
    """A secret in hexadecimal digits."""
    return secret[:LONGEST].encode(errors="replace").hex()


@cache
def _decided(secret: str) -> tuple[str, ...]:
    """The characters of base64 that a secret alone decides, where they are enough to be found by.

    Three bytes are four characters of base64. So these characters differ by where the secret
    begins: at the first, second or third of three bytes.
    """
    plain = secret[:LONGEST].encode(errors="replace")
    found = []
    for before, undecided in enumerate((0, 2, 3)):
        encoded = base64.b64encode(bytes(before) + plain).decode()
        decided = encoded[undecided : (before + len(plain)) * 8 // 6]
        if len(decided) >= SHORTEST_IN_BASE64:
            found.append(decided)
    return tuple(found)


def _of_base64(character: str) -> str:
    """What matches a character of base64 or of base64url, escaped or not."""
    other = {"+": "-", "/": "_"}.get(character)
    if other is None:
        return character
    return f"(?:{_any_form(character)}|{_any_form(other)})"


@cache
def _any_form(character: str) -> str:
    """What matches a character as it is, URL-encoded, JSON-escaped or HTML-escaped, once or more
    often.
    """
    own = ord(character)
    units = character.encode("utf-16-be", errors="surrogatepass").hex(" ", 2).split(" ")
    octets = [f"{octet:02x}" for octet in character.encode(errors="replace")]
    forms = [
        re.escape(character),
        "".join(f"%(?:25){{0,4}}{_digits(octet)}" for octet in octets),
        "".join(rf"\\\\{{0,8}}u{_digits(unit)}" for unit in units),
        "".join(rf"\\\\{{0,8}}x{_digits(octet)}" for octet in octets),
        rf"&(?:amp;){{0,4}}#0{{0,4}}{own};",
        rf"&(?:amp;){{0,4}}#[xX]0{{0,4}}{_digits(f'{own:x}')};",
    ]
    if not character.isalnum():
        forms.append(rf"\\\\{{0,8}}{re.escape(character)}")
    if character == " ":
        forms.append(r"\+")
    if character in NAMED_IN_HTML:
        forms.append(f"&(?:amp;){{0,4}}{NAMED_IN_HTML[character]};")
    return f"(?:{'|'.join(forms)})"


def _digits(digits: str) -> str:
    """What matches hexadecimal digits in lower and upper case."""
    found = []
    for digit in digits:
        found.append(digit if digit.isdigit() else f"[{digit}{digit.upper()}]")
    return "".join(found)
