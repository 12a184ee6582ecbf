"""A chat-completions server that costs as little as can be, for the benchmarks: python
bench/loopback/server.py PORT LATENCY

Bare asyncio: it shares the machine's cores with what is measured, and a web framework takes as long
as a client does.
"""

import asyncio
import json
import re
import sys

ANSWERS = "\n".join(
    [*(f"C{i}: {1 + i % 7}" for i in range(1, 21)), *(f"P{i}: {i}" for i in range(1, 8))]
)
SPEECH = "I hold that we should weigh the costs with care and listen to those who bear them. " * 9
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


def reply(text: str) -> bytes:
    """A whole response whose model says this."""
    usage = {"prompt_tokens": 1000, "completion_tokens": 200, "total_tokens": 1200}
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": text},
    }
    return http(
        {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": "bench",
            "choices": [choice],
            "usage": usage,
        }
    )


def http(plain: object) -> bytes:
    """A response with this JSON."""
    body = json.dumps(plain).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
        len(body),
        body,
    )


CODE = json.dumps(
    {
        "applies": "yes",
        "rationale": "The text claims something and names a premise for it. The anchor of the level"
        " above asks for several premises, which it does not have.",
        "score": 1,
    }
)
STEPS = "\n".join(
    f"{i}. Compare what the text says with the anchor of level {i}." for i in range(1, 6)
)
CODED, STEPPED = reply(CODE), reply(STEPS)
SURVEY, TURN, MODELS = reply(ANSWERS), reply(SPEECH), http({"data": [{"id": "bench"}]})

RATED = {f"C{i}": 1 + i % 7 for i in range(1, 21)}
IN_JSON = reply(json.dumps({**RATED, "order": {str(i): f"P{i}" for i in range(1, 8)}}))
ANSWERED = (
    (b'"response_format"', IN_JSON),
    (b"LABEL: NUMBER", SURVEY),
    (b"rationale before the score", CODED),
    (b"numbered steps", STEPPED),
)
"""What a request holds, and the response to it."""


class Connection(asyncio.Protocol):
    """One connection, one request at a time, each call answered after `latency` seconds."""

    def __init__(self, latency: float) -> None:
        self.latency = latency
        self.came = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.came += data
        end = self.came.find(b"\r\n\r\n")
        if end < 0:
            return
        length = LENGTH.search(self.came, 0, end)
        whole = end + 4 + (int(length[1]) if length else 0)
        if len(self.came) < whole:
            return
        if self.came.startswith(b"GET"):
            self.transport.write(MODELS)
        else:
            answer = next((said for mark, said in ANSWERED if mark in self.came), TURN)
            asyncio.get_running_loop().call_later(self.latency, self.transport.write, answer)
        del self.came[:whole]


async def main() -> None:
    """Serve until the process is ended."""
    port, latency = int(sys.argv[1]), float(sys.argv[2])
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(latency), "127.0.0.1", port, backlog=1024
    )
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
