"""A chat-completions server that costs as little as can be, for the benchmarks: python bench/loopback/server.py PORT LATENCY"""

import asyncio
import json
import sys

from aiohttp import web

ANSWERS = "\n".join([*(f"C{i}: {1 + i % 7}" for i in range(1, 21)), *(f"P{i}: {i}" for i in range(1, 8))])
SPEECH = "I hold that we should weigh the costs with care and listen to those who bear them. " * 9


def body(text: str) -> bytes:
    """A whole response with this text."""
    usage = {"prompt_tokens": 1000, "completion_tokens": 200, "total_tokens": 1200}
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    return json.dumps(
        {"id": "x", "object": "chat.completion", "created": 1, "model": "bench", "choices": [choice], "usage": usage}
    ).encode()


def main() -> None:
    port, latency = int(sys.argv[1]), float(sys.argv[2])
    survey, speech = body(ANSWERS), body(SPEECH)

    async def complete(request: web.Request) -> web.Response:
        asked = await request.read()
        if latency:
            await asyncio.sleep(latency)
        return web.Response(body=survey if b"LABEL: NUMBER" in asked else speech, content_type="application/json")

    async def models(_: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "bench"}]})

    app = web.Application(client_max_size=2**26)
    app.router.add_post("/v1/chat/completions", complete)
    app.router.add_get("/v1/models", models)
    web.run_app(app, host="127.0.0.1", port=port, print=None, access_log=None, backlog=1024)


if __name__ == "__main__":
    main()
