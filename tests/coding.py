"""What the tests of coding share: a scheme of two dimensions, texts, and a study that holds them."""

import json

from delibsim import Runs
from delibsim.asking.kinds.code_plan import plan_coding
from delibsim.conduct import ask as asking
from delibsim.domain.annotation import Text
from delibsim.store.manifest import Manifest
from delibsim.store.study_texts import StudyTexts

SCHEME = """\
kind: scheme
id: tiny
name: A small scheme
version: "1"
source: Written for these tests.
texts: {least_words: 3, most_words: 40}
lower_in_doubt: true
dimensions:
  - id: reasons
    name: Reasons
    scale: ordinal
    brief: How many reasons are given.
    levels:
      - {value: 0, name: none, anchor: No reason is given.}
      - {value: 1, name: one, anchor: One reason is given.}
      - {value: 2, name: more, anchor: Two reasons or more are given.}
  - id: matter
    name: Matter
    scale: nominal
    brief: What the text is about.
    applies: Does the text want anything?
    steps: [Read it., Find the wish., Look at the anchors., Choose one., Write it down.]
    levels:
      - {value: trees, name: trees, anchor: Trees and parks.}
      - {value: trams, name: trams, anchor: Trams and streets.}
"""
SAID = (
    "We should plant trees because they cool the streets.",
    "We should build trams, since cars are loud and trees are not.",
    "Nobody wants another park here.",
    "We should plant trees because they cool the streets.",
    "No.",
    "",
)

CODED = 4  # texts: t5 is too short, t6 is empty
FAST = ("limits.longest_wait=0.02", "limits.concurrency=4")


def coding_home(folder):
    """A folder with the scheme of these tests."""
    (folder / "schemes").mkdir(exist_ok=True)
    (folder / "schemes" / "tiny.yaml").write_text(SCHEME, encoding="utf-8")
    return folder


def study_of_texts(folder, said=SAID, study="pilot"):
    """A study of these texts, named t1, t2 ..."""
    runs = Runs(folder / "runs", study)
    texts = [Text(f"t{n}", text, source="pilot.csv") for n, text in enumerate(said, 1)]
    StudyTexts(runs).keep(texts, Manifest(study, {}, {}))
    return runs


def models(home, *names):
    """Presets of models that the fake provider serves."""
    folder = home / "conf" / "model"
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        settings = {"name": name, "kind": "openai_compatible", "model": name, "max_tokens": 4096}
        price = {"input": 1.0, "cached": 0.1, "output": 2.0}
        plain = {**settings, "base_url": "http://127.0.0.1:1/v1", "price": price}
        (folder / f"{name}.yaml").write_text(json.dumps(plain))
    return f"group.models=[{','.join(names)}]"


async def ask(runs, provider, *settings, names="model=local"):
    """Ask with these settings, of which the last of a key counts; plan, outcome, what was said."""
    given = ["scheme=tiny", "samples=2", f"base_url={provider.base_url}", names, *FAST, *settings]
    by_key = {one.partition("=")[0]: one for one in given}
    said = []
    planned = plan_coding(runs, list(by_key.values()))
    outcome = await asking.ask(planned, said.append)
    return planned, outcome, said


def calls_of(texts=CODED, samples=2, dimensions=2, steps=1):
    return texts * samples * dimensions + steps
