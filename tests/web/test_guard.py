"""Requests that call the machine by another name, come from elsewhere or know no token get nothing."""

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from delibsim.web.guard import Guard, is_loopback, new_token

HERE = "127.0.0.1:8377"


def asked(method="GET", path="/", guard=None, **headers):
    app = guard or Guard(PlainTextResponse("page"), 8377)
    client = TestClient(app, base_url=f"http://{HERE}")
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.request(method, path, headers=named).status_code


@pytest.mark.parametrize(
    ("host", "status"),
    [
        (HERE, 200), ("localhost:8377", 200), ("[::1]:8377", 200), ("LOCALHOST:8377", 200),
        ("evil.example:8377", 421), ("127.0.0.1:80", 421), ("127.0.0.1", 421), ("192.168.0.7:8377", 421),
        ("127.0.0.1:8377.evil.example", 421), ("127.0.0.1:8377@evil.example", 421), ("", 421), ("localhost.evil.example:8377", 421),
    ],
)  # fmt: skip
def test_only_the_names_of_this_machine_are_answered(host, status):
    assert asked(host=host) == status


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", {}, 200),
        ("GET", {"origin": f"http://{HERE}"}, 200),
        ("GET", {"origin": "http://evil.example"}, 403),
        ("GET", {"origin": "null"}, 403),
        ("GET", {"origin": f"https://{HERE}"}, 403),
        ("GET", {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}, 200),
        ("GET", {"sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors"}, 403),
        ("POST", {}, 403),
        ("POST", {"origin": "http://evil.example"}, 403),
        ("POST", {"origin": "null"}, 403),
        ("POST", {"origin": f"http://{HERE}"}, 200),
        ("POST", {"origin": f"http://{HERE}", "sec_fetch_site": "cross-site"}, 403),
        ("PUT", {"origin": f"http://{HERE}"}, 405),
        ("DELETE", {}, 405),
    ],
)
def test_only_pages_of_the_reader_may_write(method, headers, status):
    assert asked(method, **headers) == status


def test_elsewhere_than_on_the_loopback_the_token_is_the_way_in():
    token = new_token()
    assert len(token) > 30
    assert token != new_token()
    guard = Guard(PlainTextResponse("page"), 8377, ["0.0.0.0"], token, wide=True)
    for host in (HERE, "192.168.0.7:8377"):
        assert asked(path=f"/{token}/", guard=guard, host=host) == 200
        for path in (
            "/",
            "/index.html",
            f"/{token}",
            f"/{token[:-1]}/",
            f"/{token}x/",
            f"//{token}/",
            "/é/",
        ):
            assert asked(path=path, guard=guard, host=host) == 404
    assert asked(path=f"/{token}/", guard=guard, host="evil.example:8377") == 421


def test_which_addresses_are_the_loopback():
    assert [is_loopback(host) for host in ("127.0.0.1", "::1", "127.9.9.9", "localhost")] == [
        True
    ] * 4
    assert [is_loopback(host) for host in ("0.0.0.0", "::", "10.0.0.1", "evil")] == [False] * 4
