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


AGAIN = """
import sys
from convokit import Corpus
Corpus(filename=sys.argv[1]).dump("dumped", base_path=sys.argv[2])
"""
pytestmark = [
    pytest.mark.heavy,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not PYTHON.exists(), reason="ConvoKit: make formats"),
]


def delibsim(folder, *words):
    program = Path(sys.executable).with_name("delibsim")
    subprocess.run([program, *words], cwd=folder, check=True, capture_output=True)


def test_what_convokit_read_of_our_export_and_wrote_again_gives_the_same_conversations(tmp_path):
    delibsim(tmp_path, "import", "--as", "turns", "study=people", "example=neighbours")
    delibsim(tmp_path, "export", "people", "--as", "convokit", "-o", "corpus")
    words = [PYTHON, "-c", AGAIN, tmp_path / "corpus", tmp_path]
    subprocess.run(words, check=True, capture_output=True)
    delibsim(tmp_path, "import", "dumped", "--as", "convokit", "study=again")
    studies = [Runs(tmp_path / "runs", name) for name in ("people", "again")]
    assert len(studies[0].sessions()) == 12
    for name in studies[0].sessions():
        own, other = (runs.run(name) for runs in studies)
        assert own.transcript == other.transcript
        assert own.responses == other.responses
        assert own.session.conversation.turns == other.session.conversation.turns


def test_a_corpus_that_convokit_wrote_is_imported_word_for_word(tmp_path):
    texts = list(TEXTS.values())
    words = [PYTHON, "-c", SCRIPT, json.dumps(texts), tmp_path]
    subprocess.run(words, check=True, capture_output=True)
    delibsim(tmp_path, "import", "corpus", "--as", "convokit", "study=s")
    runs = Runs(tmp_path / "runs", "s")
    (run,) = map(runs.run, runs.sessions())
    assert [one.text for one in run.transcript] == texts
    turns = run.session.conversation.turns
    assert [one.reply_to for one in turns] == [None, *range(1, len(texts))]
    assert turns[0].time == "2020-09-13T12:26:40+00:00"
