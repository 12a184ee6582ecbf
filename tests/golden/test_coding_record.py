"""A coding is recorded byte for byte as before what it shares with comparisons was made one.

The digests were computed by the commit before that; a changed scheme, wording or citizen changes
them as well.
"""

import hashlib
import json

from coding import coding_home, study_of_texts

from delibsim.asking.kinds.code_plan import plan_coding
from delibsim.conduct import ask as asking

DIGESTS = {
    "annotations.jsonl": "fb25e028ad4ca53a503907a0dac94a6a12421b735bc08b080a2a661e965ddd9a",
    "exchanges.jsonl": "4fd91b9b6ffea5fc5c3d7c982a513e2f86c7c1e949af7e7d12e22dd743d20c2f",
    "steps.jsonl": "d1dff05207616b633d5fb5ab549373fbe8a96002b55b9a4aa9bda6b8034d5037",
    "task.json": "a00bd5dce93136a9a9fef790ef63a435e9ee7f0e25c7c91342976952c9fe3c41",
}


def digest(path):
    """SHA-256 of a file; of exchanges only what was asked, in any order, since times differ."""
    content = path.read_bytes()
    if path.name == "exchanges.jsonl":
        asked = [json.loads(line)["hash"] for line in content.splitlines()]
        content = "\n".join(sorted(asked)).encode()
    return hashlib.sha256(content).hexdigest()


async def test_a_coding_writes_the_same_record_as_before(tmp_path, monkeypatch):
    monkeypatch.chdir(coding_home(tmp_path))
    runs = study_of_texts(tmp_path)
    planned = plan_coding(runs, ["scheme=tiny", "samples=2", "group.size=2", "model=citizen"])
    outcome = await asking.ask(planned)
    assert (outcome.new, outcome.asked) == (32, 34)
    folder = planned.answers.files.folder
    assert {name: digest(folder / name) for name in DIGESTS} == DIGESTS
