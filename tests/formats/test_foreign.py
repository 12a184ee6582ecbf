"""ConvoKit and Inspect read what is exported for them: `make test-formats`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PYTHON = Path(__file__).parents[2] / ".venv-formats" / "bin" / "python"
pytestmark = [
    pytest.mark.heavy,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not PYTHON.exists(), reason="ConvoKit and Inspect: make formats"),
]
CONVOKIT = """
import json, sys, warnings
warnings.simplefilter("error")
from convokit import Corpus
corpus = Corpus(filename=sys.argv[1])
texts, ends = {}, []
for one in corpus.iter_conversations():
    assert one.check_integrity(verbose=False)
    said = list(one.traverse("dfs"))
    texts[one.meta["session"]] = [utterance.text for utterance in said]
    ends.append(said[0].speaker.meta["answers"]["post"])
corpus.dump("again", base_path=sys.argv[2])
print(json.dumps([texts, ends[0], corpus.meta["study"]]))
"""
INSPECT = """
import json, sys
from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries
log = read_eval_log(sys.argv[1])
head = read_eval_log(sys.argv[1], header_only=True)
texts = {}
for sample in log.samples:
    said = [one for one in sample.messages if "turn" in (one.metadata or {})]
    texts[sample.id] = [one.text for one in said]
scores = {sample.id: sample.scores["dri_change"].value for sample in log.samples}
print(json.dumps([texts, scores, head.results.total_samples, log.eval.model]))
"""


def delibsim(folder, *words):
    program = Path(sys.executable).with_name("delibsim")
    return subprocess.run(
        [program, *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


def foreign(script, *words):
    done = subprocess.run(
        [PYTHON, "-c", script, *words], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("formats")
    delibsim(folder, "run", "-m", "-q", "study=told", "topic=ccps", "replicate=1,2", "group.size=3")
    texts = {}
    for file in (folder / "runs" / "told").glob("*/run.json"):
        run = json.loads(file.read_text(encoding="utf-8"))
        texts[file.parent.name] = [one["text"] for one in run["transcript"]]
    return folder, texts


def test_convokit_reads_the_corpus_word_for_word_in_the_order_of_turns(study, tmp_path):
    folder, texts = study
    delibsim(folder, "export", "told", "--as", "convokit", "-o", "corpus")
    found, answers, name = foreign(CONVOKIT, folder / "corpus", tmp_path)
    assert found == texts
    assert len(answers) == 27  # items of the survey
    assert name == "told"
    again = json.loads((tmp_path / "again" / "conversations.json").read_text(encoding="utf-8"))
    assert again == json.loads((folder / "corpus" / "conversations.json").read_text("utf-8"))


def test_inspect_reads_the_log_with_its_turns_and_scores(study):
    folder, texts = study
    delibsim(folder, "export", "told", "--as", "inspect", "-o", "log")
    found, scores, samples, model = foreign(INSPECT, folder / "log" / "told.json")
    assert found == texts
    assert set(scores) == set(texts)
    assert all(isinstance(value, float) for value in scores.values())
    assert (samples, model) == (2, "citizen")
