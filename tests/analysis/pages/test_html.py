"""The HTML page: one file, nothing fetched, nothing run, texts of others inert, its structure."""

import re
from html.parser import HTMLParser

import pandas as pd
import pytest

from delibsim.analysis.pages.page import Entry, Page, PagePart, Picture, commands, data_uri, html
from delibsim.analysis.result import Result

EVIL = '<script>alert(1)</script>"><img src=x onerror=alert(2)>{{ 7*7 }}\u202e'
SVG = '<svg xmlns="http://www.w3.org/2000/svg"><text>one</text></svg>'
VOID = {"source", "meta", "img", "link", "br", "input"}


class Elements(HTMLParser):
    """Every element with its attributes, and whether the elements are closed in order."""

    def __init__(self, text):
        super().__init__()
        self.found, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def page(text="plain", **more):
    table = Result(
        name="contrasts",
        title=f"Table {text}",
        definition=text,
        source=text,
        rows=pd.DataFrame({"a": [text, "b"], "estimate": [0.1, 0.2], "note": [text, ""]}),
        meanings={"a": text},
        notes=[text],
    )
    part = PagePart(
        id="effects",
        title=text,
        paragraphs=[text],
        sentences=[text],
        entries=[Entry(text, text, open=True)],
        tables=[table],
        pictures=[Picture("effects", text, text, text, SVG)],
    )
    return Page(text, "Report", [text], [part], warnings=[text], headline=table, **more)


def test_texts_of_others_are_inert():
    text = html(page(EVIL))
    assert "<script" not in text
    assert "onerror=alert" not in re.sub("&lt;.*?&gt;", "", text)
    assert "{{ 7*7 }}" in text
    assert "\u202e" not in text
    tags = {tag for tag, _ in Elements(text).found}
    assert not tags & {"script", "iframe", "object", "embed", "form", "base", "link"}


@pytest.mark.parametrize("text", ["plain", EVIL])
def test_nothing_is_fetched_and_nothing_may_run(text):
    document = html(page(text))
    elements = Elements(document)
    assert not elements.open
    for _, own in elements.found:
        assert not [name for name in own if name.startswith("on") or name == "style"]
        for name in ("src", "srcset", "href"):
            assert own.get(name, "#").startswith(("#", "data:image/svg+xml;base64,"))
    policies = [own["content"] for _, own in elements.found if "http-equiv" in own]
    assert len(policies) == 1
    assert policies[0].startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policies[0]
    assert "url(" not in document
    assert "@import" not in document


def test_a_narrow_screen_is_shown_the_narrow_drawing_and_nothing_else_is_fetched():
    narrow = SVG.replace("one", "two")
    part = PagePart("p", "p", pictures=[Picture("effects", "t", "c", "a", SVG, narrow)])
    elements = Elements(html(Page("t", "Report", [], [part]))).found
    (source,) = [own for tag, own in elements if tag == "source"]
    assert source == {"media": "(max-width: 600px)", "srcset": data_uri(narrow)}
    (image,) = [own for tag, own in elements if tag == "img"]
    assert image == {"src": data_uri(SVG), "alt": "a"}


def test_the_page_has_a_language_headings_landmarks_and_heads_with_scope():
    elements = Elements(html(page())).found
    tags = [tag for tag, _ in elements]
    assert ("html", {"lang": "en"}) in elements
    assert tags.count("h1") == 1
    assert {"main", "nav", "header", "caption", "figcaption"} <= set(tags)
    assert all(own.get("scope") in ("col", "row") for tag, own in elements if tag == "th")
    assert all(own.get("alt") for tag, own in elements if tag == "img")
    assert next(own for tag, own in elements if tag == "a")["href"] == "#summary"
    ids = [own["id"] for _, own in elements if "id" in own]
    assert len(ids) == len(set(ids))
    targets = [own["href"][1:] for tag, own in elements if tag == "a"]
    assert set(targets) <= set(ids)


def test_a_command_in_a_sentence_stands_as_code_and_all_else_is_escaped():
    said = commands("`delibsim analyze` of <b>`x`</b>, `delibsim <i>`")
    assert str(said) == (
        "<code>delibsim analyze</code> of &lt;b&gt;`x`&lt;/b&gt;, `delibsim &lt;i&gt;`"
    )
