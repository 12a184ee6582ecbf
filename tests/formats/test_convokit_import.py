"""What ConvoKit wrote is imported word for word: `make test-formats`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conversations import TEXTS

from delibsim import Runs

PYTHON = Path(__file__).parents[2] / ".venv-formats" / "bin" / "python"
SCRIPT = """
import json, sys
from convokit import Corpus, Speaker, Utterance
texts = json.loads(sys.argv[1])
people = [Speaker(id="Ann"), Speaker(id="Ben")]
said = []
for n, text in enumerate(texts):
    before = f"u{n - 1}" if n else None
    one = {"id": f"u{n}", "conversation_id": "u0", "reply_to": before, "timestamp": 1.6e9 + n}
    said.append(Utterance(speaker=people[n % 2], text=text, **one))
corpus = Corpus(utterances=said)
corpus.get_conversation("u0").meta["title"] = "Does it work?"
corpus.dump("corpus", base_path=sys.argv[2])
"""


@pytest.mark.heavy
@pytest.mark.skipif(not PYTHON.exists(), reason="ConvoKit: make formats")
def test_a_corpus_that_convokit_wrote_is_imported_word_for_word(tmp_path):
    texts = list(TEXTS.values())
    words = [PYTHON, "-c", SCRIPT, json.dumps(texts), tmp_path]
    subprocess.run(words, check=True, capture_output=True)
    program = Path(sys.executable).with_name("delibsim")
    words = [program, "import", "corpus", "--as", "convokit", "study=s"]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    runs = Runs(tmp_path / "runs", "s")
    (run,) = map(runs.run, runs.sessions())
    assert [one.text for one in run.transcript] == texts
    turns = run.session.conversation.turns
    assert [one.reply_to for one in turns] == [None, *range(1, len(texts))]
    assert turns[0].time == "2020-09-13T12:26:40+00:00"
