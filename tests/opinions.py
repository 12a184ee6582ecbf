"""What the tests of summaries share: twelve opinions with stances, and a study that holds them."""

from cases import cases_of

from delibsim import Runs
from delibsim.domain.annotation import Text
from delibsim.store.manifest import Manifest
from delibsim.store.study_texts import PARTS, StudyTexts

CASES = cases_of(__file__)
QUESTION = "Should the town build a tram?"
SAID = CASES["SAID"]
SPOKEN = 10


def study_of_opinions(folder, said=SAID, study="tram", question=QUESTION):
    """A study of these opinions."""
    runs = Runs(folder / "runs", study)
    texts = []
    for id, (stance, minority, text) in said.items():
        texts.append(Text(id, text, source="o.csv", stance=stance, minority=minority))
    part = {"file": "o.csv", "question": question, "kind": "stance"}
    StudyTexts(runs).keep(texts, Manifest(study, {}, {PARTS: {"0": part}}))
    return runs
