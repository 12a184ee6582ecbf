"""Whole studies behind real servers, with a model of random weights: `make test-servers`.

Where a server enforces schemas, every answer is there; where it does not, none is made up.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import pytest

HERE = Path(__file__).parent
PYTHON = HERE.parents[1] / ".venv-servers" / "bin" / "python"
DELIBSIM = Path(sys.executable).with_name("delibsim")
PAGE = (HERE.parents[1] / "docs" / "servers.md").read_text(encoding="utf-8")
pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(not PYTHON.exists(), reason="servers: make servers"),
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """The folder of a model of random weights."""
    folder = tmp_path_factory.mktemp("tiny")
    subprocess.run([PYTHON, HERE / "tiny.py", folder], check=True, capture_output=True)
    return folder


class Served:
    """A server in a process of its own, until the end of the block."""

    def __init__(self, words, log, port=0):
        self._words, self._log, self._port = words, log, port

    def __enter__(self):
        with self._log.open("w") as log:
            place = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(self._log.parent)}
            self._process = subprocess.Popen(self._words, stdout=log, stderr=log, env=place)
        for _ in range(300):
            time.sleep(0.2)
            assert self._process.poll() is None, self._log.read_text()[-2000:]
            if (address := self._address()) and self._answers(address):
                return f"{address}/v1"
        self.__exit__()
        raise AssertionError(self._log.read_text()[-2000:])

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()

    def _address(self):
        if self._port:
            return f"http://127.0.0.1:{self._port}"
        lines = self._log.read_text().splitlines()
        return next((line for line in lines if line.startswith("http")), "")

    def _answers(self, address):
        try:
            return urlopen(f"{address}/v1/models", timeout=5).status == 200
        except OSError:
            return False


def llama_cpp(tiny, log, window=32768):
    words = [PYTHON, HERE / "llama_server.py", tiny / "tiny.gguf", str(window), "4"]
    return Served(words, log)


@pytest.fixture(scope="module")
def llama(tiny, tmp_path_factory):
    """The address of llama.cpp's server."""
    with llama_cpp(tiny, tmp_path_factory.mktemp("llama") / "log") as address:
        yield address


@pytest.fixture(scope="module")
def transformers(tiny, tmp_path_factory):
    """The address of transformers' server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [PYTHON.with_name("transformers"), "serve", tiny, "--port", str(port)]
    log = tmp_path_factory.mktemp("transformers") / "log"
    with Served([*words, "--host", "127.0.0.1", "--device", "cpu"], log, port) as address:
        yield address


def behind(address, model="tiny"):
    """The settings of a model behind a server."""
    own = f"model.model={model}", "model.max_tokens=800", "model.timeout=300"
    return ["model=local", *own, f"base_url={address}"]


SMALL = ["topic=ccps", "rounds=1", "group.size=2", "temperature=1", "seed=3"]


def given(folder, *words):
    """What a command said, and its exit code."""
    done = subprocess.run(
        [DELIBSIM, *words], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.returncode, " ".join((done.stdout + done.stderr).split())  # unwrapped


def exchanges(folder):
    """The calls of all sessions and tasks of a folder."""
    logs = sorted(folder.glob("runs/**/exchanges.jsonl"))
    lines = [line for log in logs for line in log.read_text().splitlines()]
    return [json.loads(line) for line in lines]


STUDIES = {
    "a deliberation": [["run", "s", *SMALL]],
    "a debate, rated and compared": [
        ["run", "s", "format=debate", "motion=voting", "proposition=local", "opposition=local"],
        ["rate", "ask", "s", "group.size=2"],
        ["compare", "ask", "s", "dimension=logical"],
    ],
    "texts, coded, summarised and judged": [
        ["import", "tram", "--as", "texts", "example=tram"],
        ["code", "ask", "tram", "scheme=dqi3", "--n", "2"],
        ["summarise", "ask", "tram", "sizes=10"],
        ["judge", "ask", "tram", "per_summary=2"],
    ],
}


@pytest.mark.parametrize("study", STUDIES)
def test_behind_a_server_that_enforces_schemas_every_answer_is_there(llama, tmp_path, study):
    for words in STUDIES[study]:
        asks = [] if words[0] == "import" else behind(llama)
        code, said = given(tmp_path, *words, *asks)
        assert code == 0, said
    forced = [one for one in exchanges(tmp_path) if "response_format" in sent(one)]
    assert forced
    for one in forced:
        assert one["completion"]["text"].lstrip()[:1] == "{"
        assert one["completion"]["status"] in ("ok", "unreadable", "length")


def sent(exchange):
    return exchange["completion"]["parameters_sent"]


def test_a_session_that_is_killed_goes_on_and_replays_equal(llama, tmp_path):
    words = ["run", "s", *SMALL, *behind(llama)]
    begun = subprocess.Popen([DELIBSIM, *words], cwd=tmp_path, stderr=subprocess.DEVNULL)
    while begun.poll() is None and len(exchanges(tmp_path)) < 2:
        time.sleep(0.1)
    begun.send_signal(signal.SIGKILL)
    begun.wait()
    before = len(exchanges(tmp_path))
    code, said = given(tmp_path, *words)
    assert code == 0, said
    assert len(exchanges(tmp_path)) > before
    code, said = given(tmp_path, "replay", "s")
    assert code == 0, said


def test_a_small_window_is_refused_before_the_first_call(tiny, tmp_path):
    with llama_cpp(tiny, tmp_path / "log", window=1024) as address:
        code, said = given(tmp_path, "run", "s", *SMALL, *behind(address))
        assert code == 2
        assert "more than the window of 1,024" in said
        assert not exchanges(tmp_path)
        # A plan that may fit meets the server's own refusal.
        short = ["procedure.words=[1,9]", *behind(address), "model.max_tokens=64"]
        code, said = given(tmp_path, "run", "s", *SMALL, *short)
    assert code in (2, 4), said
    assert code == 2 or "context_overflow" in said


def test_behind_a_server_that_ignores_schemas_nothing_is_made_up(transformers, tiny, tmp_path):
    plain = [*SMALL, "procedure.reasks=0", *behind(transformers, tiny)]
    code, said = given(tmp_path, "run", "s", *plain)
    assert code in (3, 4), said
    assert "ignores schemas" in said
    for one in exchanges(tmp_path):
        assert one["completion"]["status"] in ("ok", "unreadable", "length")
        if one["purpose"]["occasion"] in ("pre", "post"):
            assert one["completion"]["status"] != "ok", "words at random filled in a survey"


FOUND = {"llama.cpp": ("enforced (`json_schema`)", "read"), "transformers": ("ignored", "not told")}


@pytest.mark.parametrize("server", FOUND)
def test_what_the_guide_says_a_server_does_is_what_it_does(request, tiny, tmp_path, server):
    address = request.getfixturevalue("llama" if server == "llama.cpp" else server)
    model = "tiny" if server == "llama.cpp" else tiny
    _, said = given(
        tmp_path, "list", "models", "local", "--check", *SMALL, *behind(address, model)[1:]
    )
    schemas, window = FOUND[server]
    assert ("enforces schemas (json_schema)" in said) == schemas.startswith("enforced"), said
    assert ("its window has 32,768 tokens" in said) == (window == "read"), said
    assert "tokens not counted" not in said
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| {server}"))
    assert f"| {schemas} | {window} | whole |" in row
