"""Which models have answered in a study, and under which fingerprints: fingerprints.jsonl."""

from pathlib import Path

from delibsim.store.files import append_line, in_turn, read_lines

Answered = dict[str, set[tuple[str, str]]]
"""Names and fingerprints of who answered, by model."""


class Answering:
    """The file of who answered in a study. It is read once, and again before something is added."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._answered: Answered | None = None

    def note(self, model: str, returned: str, fingerprint: str, call: str, started: str) -> None:
        """Keep which model answered, under which fingerprint, the first time it did; with a warning
        if another had answered before.
        """
        if self._answered is None:
            self._answered = self._read()
        if (returned, fingerprint) in self._answered.get(model, ()):
            return
        # Another process may hold sessions of the study too, and may have met it first.
        with in_turn(self._path):
            self._answered = self._read()
            before = self._answered.setdefault(model, set())
            if (returned, fingerprint) in before:
                return
            facts = {
                "model": model,
                "model_returned": returned,
                "fingerprint": fingerprint,
                "call": call,
                "started": started,
                "warning": "another answered earlier in this study" if before else "",
            }
            append_line(self._path, facts)
            before.add((returned, fingerprint))

    def _read(self) -> Answered:
        answered: Answered = {}
        for line in read_lines(self._path)[0]:
            who = (str(line.get("model_returned")), str(line.get("fingerprint")))
            answered.setdefault(str(line.get("model")), set()).add(who)
        return answered
