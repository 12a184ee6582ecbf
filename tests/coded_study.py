"""Studies whose texts were coded by models and people, with errors that were planted."""

import random

from delibsim.domain.annotation import Text
from delibsim.domain.coding import Code, Sample
from delibsim.domain.reason import Reason
from delibsim.domain.scheme import Dimension, Level, Scheme
from delibsim.store.answers import Codings, scheme_to_plain
from delibsim.store.manifest import Manifest
from delibsim.store.runs import Runs
from delibsim.store.study_texts import StudyTexts

REASONS = Dimension(
    "reasons",
    "Reasons",
    "ordinal",
    (
        Level(0, "none", "No reason is given."),
        Level(1, "one", "One reason is given."),
        Level(2, "several", "Several reasons are given."),
    ),
)
TONE = Dimension(
    "tone",
    "Tone",
    "nominal",
    (Level("calm", "calm", "It is calm."), Level("loud", "loud", "It is loud.")),
)
SCHEME = Scheme("plain", "A plain scheme", "own", "1", (REASONS, TONE))
MODELS = ("a", "b", "c", "d")


def keep_task(runs, texts, scheme=SCHEME, models=MODELS, samples=3, wordings=("coding",), **more):
    """Begin the coding of these texts; where it is kept."""
    codings = Codings.of(runs, scheme.id)
    task = {
        "scheme": scheme_to_plain(scheme),
        "scheme_sha256": scheme.sha256,
        "unit": "text",
        "samples": samples,
        "rules": "lower",
        "models": {model: {} for model in models},
        "wordings": {wording: {} for wording in wordings},
        "texts": {text.id: text.sha256 for text in texts},
    }
    codings.files.settle(task | more)
    return codings


def samples_of(text, dimension, model, levels, wording="coding"):
    """The samples of a model; a level that is None was refused."""
    found = []
    for index, level in enumerate(levels, 1):
        missing = Reason("refusal", "I will not.") if level is None else None
        said = "" if level is None else f"The anchor of level {level} fits."
        found.append(
            Sample(text.id, text.sha256, dimension, model, index, level, said, missing, wording)
        )
    return found


def texts_study(root, n=60, study="pilot"):
    """A study of texts in two years."""
    runs = Runs(root, study)
    texts = []
    for i in range(1, n + 1):
        facts = {"year": str(2020 + i % 2)}
        texts.append(Text(f"t{i}", f"Text number {i} says something.", f"g{i % 6}", facts=facts))
    StudyTexts(runs).keep(texts, Manifest(study, {}, {}))
    return runs, texts


def near(rng, level, wrong, levels=(0, 1, 2)):
    """A level, or with the chance `wrong` another one."""
    others = [one for one in levels if one != level]
    return rng.choice(others) if rng.random() < wrong else level


def coded_study(root, n=60, people=("Ann", "Ben"), wordings=("coding",), seed=3):
    """A study of texts that four models and some people coded, each with errors of its own.

    Model d errs most; Ann is right, others err in a tenth of the texts. The dimension `tone` is
    coded by models alone.
    """
    rng = random.Random(seed)
    runs, texts = texts_study(root, n)
    codings = keep_task(runs, texts, wordings=wordings)
    samples, codes = [], []
    for text in texts:
        truth = rng.choice((0, 1, 1, 2))
        for wording in wordings:
            for model in MODELS:
                own = near(rng, truth, 0.5 if model == "d" else 0.15)
                drawn = [near(rng, own, 0.1) for _ in range(3)]
                samples += samples_of(text, "reasons", model, drawn, wording)
        for model in MODELS:
            drawn = [rng.choice(("calm", "calm", "loud")) for _ in range(3)]
            samples += samples_of(text, "tone", model, drawn)
        for person in people:
            level = truth if person == "Ann" else near(rng, truth, 0.1)
            codes.append(Code(text.id, "reasons", person, "human", level, text_sha256=text.sha256))
    codings.add(samples)
    codings.add(codes, people=True)
    return runs
