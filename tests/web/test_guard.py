"""Requests that call the machine by another name, come from elsewhere or know no token get nothing."""

import socket
import threading
import time

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from delibsim.web import serve
from delibsim.web.guard import OF_ALL, Guard, is_loopback, new_token
from delibsim.web.serve import application
from delibsim.web.site import Site

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
        ("[", 400), ("[::1", 400), ("127.0.0.1:x", 421), ("127.0.0.1:99999", 421),
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
        ("GET", {"origin": "http://["}, 400),
        ("POST", {"origin": "http://[::1"}, 400),
        ("POST", {"origin": "http://127.0.0.1:x"}, 403),
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


@pytest.fixture
def server(site, monkeypatch):
    """The reader as it is served, over a folder with a study; the port, and what was connected."""
    monkeypatch.setattr(serve, "HEAD_SECONDS", 0.5)
    monkeypatch.setattr(serve, "BODY_SECONDS", 0.5)
    monkeypatch.setattr(Site, "listed", failing(Site.listed))
    made = serve.bound("127.0.0.1", 0)
    port = made.getsockname()[1]
    running = uvicorn.Server(serve.configured(Guard(application(site), port)))
    thread = threading.Thread(target=running.run, args=[[made]])
    thread.start()
    while not running.started:
        time.sleep(0.01)
    yield port
    running.should_exit = True
    thread.join()


def failing(listed):
    """The list of studies, which fails where one of them is named so."""

    def maybe(site):
        if (site.root / "fail").is_dir():
            raise OSError("the disk is gone")
        return listed(site)

    return maybe


def head(*lines):
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def answered(port, sent):
    """What a server answers to these bytes: its status, and its headers by name."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(sent.replace(b"HERE", b"127.0.0.1:%d" % port))
        found = b""
        while b"\r\n\r\n" not in found and (part := connection.recv(65_536)):
            found += part
    first, *lines = found.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
    return int(first.split()[1]), dict(line.lower().split(": ", 1) for line in lines)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (head("GET / HTTP/1.1", "host: HERE"), 200),
        (head("HEAD / HTTP/1.1", "host: HERE"), 200),
        (head("GET /nothing HTTP/1.1", "host: HERE"), 404),
        (head("POST / HTTP/1.1", "host: HERE", "origin: http://HERE"), 405),
        (head("PUT / HTTP/1.1", "host: HERE"), 405),
        (head("GET / HTTP/1.1", "host: ["), 400),
        (head("GET / HTTP/1.1", "host: HERE", "origin: http://["), 400),
        (head("GET / HTTP/1.1", "host: HERE", "host: HERE"), 400),
        (head("GET / HTTP/1.1"), 421),
        (head("GET / HTTP/1.1", "host: HERE", "content-length: x"), 400),
        (head("GET / HTTP/1.1", "host: HERE", "no header"), 400),
        (head("GET / HTTP/1.1", "host: HERE", "x: a\0b"), 400),
        (head("GET /\xe9\xff HTTP/1.1", "host: HERE"), 400),
        (head("GET /%ff%00/ HTTP/1.1", "host: HERE"), 404),
        (head("CONNECT HERE HTTP/1.1", "host: HERE"), 400),
        (head("BREW / HTTP/1.1", "host: HERE"), 400),
        (head("PRI * HTTP/2.0"), 408),
        (head("GET / HTTP/1.1", "host: HERE", "upgrade: websocket", "connection: upgrade", "sec-websocket-version: 13", "sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA=="), 200),
        (b"\x16\x03\x01\x02\x00", 400),
        (b"GET / HTTP/1.1\r\nhost: HERE\r\nx: " + b"x" * serve.LONGEST, 400),
        (b"GET / HTTP/1.1\r\nhost: HERE\r\n", 408),
    ],
)  # fmt: skip
def test_every_answer_has_the_headers_whatever_is_sent(server, sent, status):
    found, headers = answered(server, sent)
    assert found == status
    assert headers.items() >= {name: text.lower() for name, text in OF_ALL.items()}.items()


def test_an_answer_that_fails_has_the_headers_too(server, site, capfd):
    (site.root / "fail").mkdir()
    status, headers = answered(server, head("GET / HTTP/1.1", "host: HERE"))
    assert status == 500
    assert headers.items() >= {name: text.lower() for name, text in OF_ALL.items()}.items()
    assert "the disk is gone" in capfd.readouterr().err


@pytest.mark.parametrize("body", ["", "POST / HTTP/1.1\r\ncontent-length: 9\r\n\r\nabc"])
def test_a_connection_that_asks_nothing_or_does_not_end_is_closed(server, body):
    with socket.create_connection(("127.0.0.1", server), timeout=3) as connection:
        connection.sendall(body.encode())
        while connection.recv(10_000):
            pass


def test_an_application_that_fails_before_it_answers_has_the_headers():
    async def broken(scope, receive, send):
        raise RuntimeError("no page")

    client = TestClient(Guard(broken, 8377), f"http://{HERE}", raise_server_exceptions=False)
    answer = client.get("/")
    assert answer.status_code == 500
    assert answer.headers.items() >= OF_ALL.items()
