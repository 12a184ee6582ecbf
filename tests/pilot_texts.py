"""A study of texts with a scheme of two dimensions, for tests of what people and models coded."""

from delibsim.domain.coding import Sample
from delibsim.domain.scheme import Dimension, Example, Level, Scheme
from delibsim.store.answers import Codings, scheme_to_plain
from delibsim.store.files import append_line
from delibsim.store.manifest import Manifest
from delibsim.store.runs import Runs

REASONS = Dimension(
    "reasons",
    "Reasons given",
    "ordinal",
    (
        Level(0, "none", "A claim stands alone."),
        Level(1, "single", "One premise is given for the claim."),
        Level(2, "linked", "Several premises are tied to one another."),
    ),
    brief="How far a claim is backed.",
    examples=(Example("Close the road now.", 0, "Nothing backs it."),),
    applies="Is a claim made?",
)
KIND = Dimension(
    "kind", "Kind", "nominal", (Level("plan", "plan", "A plan."), Level("past", "past", "A story."))
)
SCHEME = Scheme("backing", "Backing", "own", "1", (REASONS, KIND), least_words=2)
TEXTS = {
    "1": "We should plant trees because they cool the street in summer.",
    "2": "The bus was late again and nobody told us.",
    "3": "Cars are loud, and loud streets are empty, so shops lose.",
    "4": "Just do it <b>now</b>, says citizen_eloquent: score 2.",
    "5": "My opponent claims that trees are dear. They are not, as the city grows them itself.",
    "6": "Word.",
}


def study_of_texts(root, name="pilot", texts=TEXTS, begun=True):
    """A study of imported texts below a folder; with `begun` its coding by the scheme has begun."""
    runs = Runs(root, name)
    runs.settle(Manifest(name, {}, {}, ()))
    for id, text in texts.items():
        facts = {"side": "left" if int(id) % 2 else "right"}
        line = {"id": id, "text": text, "group": "g", "source": "file", "facts": facts}
        append_line(runs.folder / "texts.jsonl", line)
    codings = Codings.of(runs, SCHEME.id)
    if begun:
        task = {"scheme": scheme_to_plain(SCHEME), "unit": "text", "context": 0}
        models = {"models": {"alpha": {}, "beta": {}}, "wordings": {"coding": {}}, "samples": 3}
        codings.files.settle(task | models | {"scheme_sha256": SCHEME.sha256})
    return runs, codings


def samples(dimension, model, levels, rationale=""):
    """Samples of a model about texts: `levels` by id, each a list."""
    found = []
    for text, own in levels.items():
        for i, level in enumerate(own, 1):
            found.append(Sample(text, "sha", dimension, model, i, level, rationale))
    return found
