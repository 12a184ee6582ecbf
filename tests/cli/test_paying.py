"""Every command that can call a model says beforehand, with --estimate, what it would take."""

import ast
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

from typer import Context

from delibsim.cli.commands import COMMANDS, loaded
from delibsim.conduct.translate import estimate_translations

ROOT = Path(__file__).parents[2]
POOL = "delibsim.models.pool.ModelPool"
"""What every model comes from that is asked."""
TRANSLATES = "delibsim.conduct.translate."
"""What asks a model for a scorer that must be asked for: of `score` alone."""
FREE = {
    "analyze": "its null twin is held by citizens, which cost nothing",
    "list": "`list models NAME --check` makes one call, and says what the study takes",
    "package": "--check replays runs, which asks nobody",
}
"""Commands from which a way leads to the pool of models, and why nothing is paid on it."""
ELSEWHERE = ("serve", "people ")
NOTHING = "Nothing is left to be asked: 0 calls, 0 tokens, 0 USD"


def _modules():
    for path in sorted((ROOT / "delibsim").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def _graph():
    """What every function and class of delibsim names, as dotted names."""
    names = defaultdict(set)
    for module, path in _modules():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        known = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("delibsim"):
                for alias in node.names:
                    known[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        own = [node for node in tree.body if hasattr(node, "name")]
        known |= {node.name: f"{module}.{node.name}" for node in own}
        for node in own:
            for inner in ast.walk(node):
                if isinstance(inner, ast.Name) and inner.id in known:
                    names[f"{module}.{node.name}"].add(known[inner.id])
                if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name):
                    base = known.get(inner.value.id)
                    if base:
                        names[f"{module}.{node.name}"].add(f"{base}.{inner.attr}")
    return names


def _reaches(names, start, target):
    seen, waiting = {start}, [start]
    while waiting:
        name = waiting.pop()
        if name == target:
            return True
        waiting += names[name] - seen
        seen |= names[name]
    return False


def _leaves():
    """Every command by its words, with what runs it."""
    for name in COMMANDS:
        command = loaded(name)
        inner = getattr(command, "commands", None)
        if inner is None:
            yield name, command
        else:
            yield from ((f"{name} {word}", one) for word, one in inner.items())


def _paying():
    """The commands that can call a model that may cost something."""
    names = _graph()
    for name in [name for name in names if name.startswith(TRANSLATES)]:
        names[name] = set()
    for words, command in _leaves():
        call = command.callback
        by_name = words in ("score", "import") or words.endswith(" ask")  # through a kind's methods
        if by_name or _reaches(names, f"{call.__module__}.{call.__name__}", POOL):
            yield words, command


def test_every_command_that_may_pay_has_an_estimate():
    found = dict(_paying())
    assert {"run", "fork", "probe", "import", "code ask"} <= set(found)
    assert set(FREE) < set(found)  # else it need not be excused any more
    lacking = []
    for words, command in found.items():
        options = {option for param in command.params for option in param.opts}
        listed = "--estimate" in options or any(
            "--estimate" in param.opts for param in command.get_params(Context(command))
        )
        if not listed and words not in FREE and not words.startswith(ELSEWHERE):
            lacking.append(words)
    assert lacking == []


def test_an_estimate_before_run_and_retry_calls_nobody_and_writes_nothing(delibsim, tmp_path):
    nowhere = ("model=local", "base_url=http://127.0.0.1:9/v1", "group.size=2", "rounds=1")
    before = delibsim("run", "-m", "study=s", *nowhere, "replicate=1,2", "--estimate")
    assert (before.code, before.err) == (0, "")
    assert "study s: 2 sessions, 0 held already, 2 to be held" in before.out
    assert "local         2     12" in before.out
    assert not (tmp_path / "runs").exists()
    same = delibsim("estimate", "-m", "study=s", *nowhere, "replicate=1,2", "--json").json
    assert (
        delibsim("run", "-m", "study=s", *nowhere, "replicate=1,2", "--estimate", "--json").json
        == same
    )
    held = delibsim("run", "study=s", "group.size=2", "rounds=1", "-q")
    assert held.code == 0
    (folder,) = (tmp_path / "runs/s").glob("*.r1")
    (folder / "run.json").unlink()
    log = folder / "exchanges.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:4]))
    files = {path: path.read_bytes() for path in (tmp_path / "runs").rglob("*") if path.is_file()}
    again = delibsim("run", "s", "--retry", "--estimate", "--json")
    assert (again.code, again.json["calls_on_record"], again.json["total"]["calls"]) == (0, 4, 2)
    assert delibsim("score", "s", "--estimate").out.splitlines()[-1] == NOTHING
    now = {path: path.read_bytes() for path in (tmp_path / "runs").rglob("*") if path.is_file()}
    assert now == files


class Waiting:
    """A scorer that waits for translations of what it has not kept."""

    def __init__(self, kept=()):
        self.kept, self.watch = set(kept), None

    @property
    def translator(self):
        """A model with a price."""
        settings = {"kind": "openai_compatible", "model": "m", "price": {"input": 1, "output": 2}}
        return SimpleNamespace(name="m", settings=settings, address="", limits={}, reasks=0)

    def untranslated(self, runs):
        """None: it is given texts."""
        return []

    def untranslated_texts(self, texts):
        """Those that are not kept."""
        return [text for text in texts if text not in self.kept]

    def keep_translation(self, text, german):
        """Keep one."""

    def keep_fault(self, text, reason):
        """Keep none."""


def test_translations_that_a_scorer_waits_for_are_estimated():
    texts = ("The bus is late.", " ".join(["The bus is late."] * 200))
    _, found = estimate_translations([Waiting(), object()], (), texts)
    assert found.total.calls == 3  # the long text is parted
    assert 0 < found.usd.low < found.usd.high
    _, rest = estimate_translations([Waiting(texts)], (), texts)
    assert (rest.total.calls, rest.waiting) == (0, 0)
