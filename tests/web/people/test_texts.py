"""Texts of pages: every language has every key with the same values; the researcher's Markdown."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("jinja2")

from delibsim.store.people.hosting_files import languages
from delibsim.web.people.render import FOLDER, html_of, language
from delibsim.web.people.visits import Rates

MODULES = FOLDER.parents[1] / "web" / "people"
USED = re.compile(r"""["']((?:people|page|rate|form|office)\.(?!html|css|js)[a-z_]+)["']""")
QUOTED = re.compile(r"""["']([A-Za-z0-9_ ]+)["']""")
JOINED = re.compile(r""""([a-z]+\.[a-z_]*)" ~ [^"~}]+(?:~ "_" ~ [^"~}]+)?(?:~ "([a-z_]+)")?""")
FILLED = re.compile(r"""f"([a-z]+\.[a-z_]*)\{[^}"]+\}([a-z_]*)\"""")
TAG = re.compile(
    r"</?(?:p|h[2-4]|ul|li|em|strong)>|<a href=\"(?:https?|mailto):[^\"<>]*\" rel=\"noreferrer\">|</a>"
)


def names_in(text):
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)


@pytest.mark.parametrize("code", [code for code in languages() if code != "en"])
def test_every_language_has_every_text_with_the_same_values(code):
    english, other = language("en").texts, language(code).texts
    assert other.keys() == english.keys()
    for key, text in english.items():
        assert names_in(other[key]) == names_in(text), key
        assert other[key].strip(), key
    same = [key for key in english if len(english[key]) > 25 and english[key] == other[key]]
    assert same == [], "not translated"


def test_every_text_that_pages_name_is_there():
    known = language("en").texts
    for path in [*FOLDER.glob("*.html"), *MODULES.glob("*.py")]:
        for key in USED.findall(path.read_text(encoding="utf-8")):
            ends = key.endswith("_")  # the rest is a value, such as how a seat stands
            found = any(one.startswith(key) for one in known) if ends else key in known
            assert found, f"{path.name}: {key}"


def test_every_text_is_named_by_some_page():
    package = FOLDER.parents[1]
    near = [*FOLDER.glob("*.html"), *FOLDER.glob("*.js")]
    for place in ("web/people", "people", "models/person"):
        near += (package / place).glob("*.py")
    named = "\n".join(path.read_text(encoding="utf-8") for path in near)
    values = set()
    for path in package.rglob("*.py"):
        values.update(QUOTED.findall(path.read_text(encoding="utf-8")))
    made = [*JOINED.findall(named), *FILLED.findall(named)]
    unused = [key for key in language("en").texts if not is_used(key, named, made, values)]
    assert unused == []


def is_used(key, named, made, values):
    """Whether a key is named whole, or made of parts and a value that some module names."""
    if f'"{key}"' in named or f"'{key}'" in named:
        return True
    for begin, end in made:
        inner = key[len(begin) : len(key) - len(end)]
        fits = key.startswith(begin) and key.endswith(end) and inner
        if fits and (
            {inner, inner.replace("_", " ")} & values or set(inner.split("_", 1)) <= values
        ):
            return True
    return False


@given(st.text(alphabet=string.printable + "é<>&\"'*[]()#-\u202e", max_size=200))
def test_markdown_gives_no_element_but_its_own(text):
    left = TAG.sub("", str(html_of(text)))
    assert "<" not in left
    assert ">" not in left


def test_markdown_links_lead_to_pages_and_addresses_alone():
    page = html_of("[a](https://x.org/?a=1&b=2) [b](javascript:alert(1)) [c](mailto:a@b.org)")
    assert 'href="https://x.org/?a=1&amp;b=2"' in page
    assert "javascript:" not in re.findall(r'href="([^"]*)"', page)
    assert page.count("<a ") == 2


def test_rates_count_within_their_time_and_forget_who_has_not_asked(monkeypatch):
    rates, moment = Rates(), [100.0]
    monkeypatch.setattr("delibsim.web.people.visits.time.monotonic", lambda: moment[0])
    assert [rates.is_over("a", (3, 10.0)) for _ in range(5)] == [False] * 3 + [True] * 2
    assert not rates.is_over("b", (3, 10.0))
    moment[0] += 11
    assert not rates.is_over("a", (3, 10.0))
    monkeypatch.setattr("delibsim.web.people.visits.KEPT", 2)
    for name in "cdef":
        rates.is_over(name, (3, 10.0))
    assert len(rates._asked) <= 3


@pytest.mark.parametrize(
    ("code", "values", "said"),
    [
        ("en", (0, "1", 1.5, 2), ["0 minutes", "1 minute.", "1.5 minutes", "2 minutes"]),
        ("de", (0, "1", 1.5, 2), ["0 Minuten", "1 Minute.", "1.5 Minuten", "2 Minuten"]),
        ("fr", (0, "1", 1.5, 2), ["0 minute.", "1 minute.", "1.5 minute.", "2 minutes"]),
    ],
)
def test_one_and_many_are_told_apart_in_every_text_that_counts(code, values, said):
    words = language(code)
    for value, expected in zip(values, said, strict=True):
        assert expected in words("form.limit_binds", minutes=value)
    longer = ("demo.is_one", "demo.consent")  # of ten minutes or more
    for key, text in words.texts.items():
        if (
            re.search(
                r"\{(?:minutes|hours|count)\} (?!Zeichen|charact|caract|min\b|Min\b)[A-Za-z]{3,}",
                text,
            )
            and key not in longer
        ):
            assert names_in(words.of_one[key]) == names_in(text), key
            assert words.of_one[key] != text
