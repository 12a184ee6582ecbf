"""Every page of people, with all that it loads, is under 100 KB, compressed or not."""

import gzip
import json
import re

import pytest
from people_pages import every_page
from people_site import Browser

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
LARGEST = 100_000
"""Bytes of a page with its style sheets and scripts, as they are sent."""
LOADED = re.compile(r'<(?:link rel="stylesheet" href|script src|img src)="([^"]+)"')


def weight(browser, path):
    """The bytes of a page with all that it loads, and of the same compressed; what it loads."""
    page = browser.http.get(path, follow_redirects=True)
    parts = [page.content]
    loaded = LOADED.findall(page.text)
    for address in loaded:
        assert address.startswith("/~assets/"), address
        found = browser.http.get(address)
        assert found.status_code == 200, address
        parts.append(found.content)
    return sum(map(len, parts)), sum(len(gzip.compress(part, 6)) for part in parts), loaded


@pytest.mark.sqlite  # several studies
def test_every_page_is_small(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sizes = {}
    with every_page(tmp_path) as places:
        for place in places:
            browser = Browser(place.address)
            browser.http.cookies.update(place.cookies)
            whole, compressed, loaded = weight(browser, place.path)
            assert "/~assets/people.css" in loaded, place.name
            sizes[place.name] = (whole, compressed)
    print(json.dumps(sizes))  # noqa: T201 - the figures of docs/people.md
    assert len(sizes) >= 30
    assert {name: size for name, size in sizes.items() if size[0] >= LARGEST} == {}
    assert max(compressed for _, compressed in sizes.values()) < LARGEST / 4
