"""The head of a request is limited: a connection cannot fill the memory of the server."""

import socket
from urllib.parse import urlsplit

import pytest
from people_site import hall_of, served

from delibsim.web.people.protocol import LONGEST


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
