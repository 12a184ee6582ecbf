"""A server on this machine that speaks as Ollama does at its own addresses, by its source of August
2026: options and window with every call, prompts cut unless the call says not to.
"""

from aiohttp import web

from delibsim.testing.answers import answer, tokens


class FakeOllama:
    """Serves one model, "llama3.2:latest", whose window is 4,096 tokens unless a call says
    otherwise, and 8,192 at most. `calls` holds the bodies of the chats.
    """

    def __init__(self):
        self.calls = []

    async def __aenter__(self):
        app = web.Application()
        app.router.add_get("/v1/models", self._list)
        app.router.add_post("/api/show", self._show)
        app.router.add_post("/api/chat", self._chat)
        self._runner = web.AppRunner(app, shutdown_timeout=0.01)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_):
        await self._runner.cleanup()

    async def _list(self, request):
        return web.json_response({"data": [{"id": "llama3.2:latest"}]})

    async def _show(self, request):
        return web.json_response({"model_info": {"llama.context_length": 8192}})

    async def _chat(self, request):
        body = await request.json()
        self.calls.append(body)
        counted = sum(tokens(message["content"]) for message in body["messages"])
        window = min(body["options"].get("num_ctx", 4096), 8192)
        if counted > window and body.get("truncate") is False:
            fault = "the input length exceeds the context length"
            return web.json_response({"error": fault}, status=400)
        if body.get("think") and body["think"] != "high":
            return web.json_response({"error": '"llama3.2" does not support thinking'}, status=400)
        said = '{"answer": "A"}' if body.get("format") else None
        said = said or await answer(body["messages"], body["options"]["seed"])
        answered = {
            "model": body["model"],
            "message": {"role": "assistant", "content": said, "thinking": "Well."},
            "done": True,
            "done_reason": "stop",
            "prompt_eval_count": min(counted, window),
            "eval_count": tokens(said),
        }
        return web.json_response(answered)
