"""The head of a request is limited: a connection cannot fill the memory of the server."""

import socket
from urllib.parse import urlsplit

import pytest
from people_site import hall_of, served

from delibsim.web.guard import OF_ALL
from delibsim.web.serve import LONGEST


@pytest.fixture
def connection(tmp_path):
    """A connection to a server with people."""
    with served(hall_of(tmp_path)) as address:
        place = urlsplit(address)
        with socket.create_connection((place.hostname, place.port), timeout=10) as made:
            made.sendall(f"GET /me HTTP/1.1\r\nhost: {place.netloc}\r\n".encode())
            yield made


def answer(connection):
    """What came, until the connection was closed or a whole head was there."""
    found = b""
    while b"\r\n\r\n" not in found and (part := connection.recv(65_536)):
        found += part
    return found


def test_a_head_that_does_not_end_is_refused(connection):
    connection.sendall(b"x-long: " + b"x" * (LONGEST // 2))
    connection.sendall(b"x" * LONGEST)
    assert answer(connection).startswith(b"HTTP/1.1 400 ")


def test_many_headers_are_refused(connection):
    connection.sendall(b"".join(b"x-%d: some words\r\n" % n for n in range(5_000)))
    assert answer(connection).startswith(b"HTTP/1.1 400 ")


def test_a_head_of_some_length_is_read(connection):
    connection.sendall(b"x-long: " + b"x" * (LONGEST // 2) + b"\r\n\r\n")
    assert answer(connection).startswith(b"HTTP/1.1 403 ")


def test_a_long_form_is_not_taken_for_a_head(connection):
    connection.sendall(b"\r\n")
    assert b" 403 " in answer(connection)
    head = b"POST /me/draft HTTP/1.1\r\nhost: localhost\r\ncontent-length: 200000\r\n\r\n"
    connection.sendall(head + b"x" * 200_000)
    assert b" 403 " in answer(connection)


def test_every_answer_has_the_headers_whatever_was_asked(tmp_path):
    asked = {
        "GET /me HTTP/1.1\r\nhost: [\r\n\r\n": 400,
        "GET /me HTTP/1.1\r\nhost: [::1\r\n\r\n": 400,
        "GET /me HTTP/1.1\r\nhost: HERE\r\norigin: http://[\r\n\r\n": 403,
        "POST /me/draft HTTP/1.1\r\nhost: HERE\r\norigin: http://[\r\n\r\n": 400,
        "POST /me/draft HTTP/1.1\r\nhost: HERE\r\norigin: null\r\n\r\n": 403,
        "GET /me HTTP/1.1\r\nhost: evil.example\r\n\r\n": 421,
        "GET /me HTTP/1.1\r\n\r\n": 421,
        "PUT /me HTTP/1.1\r\nhost: HERE\r\n\r\n": 405,
        "GET /none HTTP/1.1\r\nhost: HERE\r\n\r\n": 404,
        "nonsense\r\n\r\n": 400,
        "GET /me/events HTTP/1.1\r\nhost: HERE\r\ncookie: delibsim_people=\xff;;=\r\n\r\n": 204,
    }
    with served(hall_of(tmp_path)) as address:
        place = urlsplit(address)
        for head, status in asked.items():
            with socket.create_connection((place.hostname, place.port), timeout=10) as made:
                made.sendall(head.replace("HERE", place.netloc).encode("latin-1"))
                found = answer(made).decode("latin-1")
            assert found.startswith(f"HTTP/1.1 {status} "), (head, found)
            for name, value in OF_ALL.items():
                assert f"\r\n{name}: {value}\r\n" in found, (head, name)
