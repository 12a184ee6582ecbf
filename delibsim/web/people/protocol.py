"""The reading of requests: by httptools, which is quicker than h11 and sets no limit of its own."""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LONGEST = 65_536
"""Bytes of the head of a request: its address and its headers, cookies among them."""


class Protocol(HttpToolsProtocol):
    """A connection, which is closed with 400 once the head of a request is too long."""

    _head = 0
    _in_head = True

    def data_received(self, data: bytes) -> None:
        """Read what has come."""
        if self._in_head:
            self._head += len(data)
        super().data_received(data)
        if self._in_head and self._head > LONGEST and not self.transport.is_closing():
            self.send_400_response("The address and the headers are too long.")

    def on_headers_complete(self) -> None:
        """The head ends, and what follows is limited by who reads it."""
        self._in_head, self._head = False, 0
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The next head begins."""
        super().on_message_complete()
        self._in_head = True
