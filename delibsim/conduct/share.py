"""Sharing one run: read, scored, and named by the hash of its file."""

import hashlib

from delibsim.analysis.sharing.shared_run import SharedRun, shared_run
from delibsim.conduct.beside import side
from delibsim.conduct.reading.written import refuse_links
from delibsim.conduct.scorers import measures_of, scorers_of_summary
from delibsim.store.reading import file_bytes
from delibsim.store.runs import Runs


def share_run(runs: Runs, session: str, personas: bool = True) -> SharedRun:
    """A run as it is shared; WrongInput where it cannot be read, or lies elsewhere."""
    refuse_links(runs.folder, session)
    of_run = side(runs, session)
    digest = hashlib.sha256(file_bytes(runs.path(session) / "run.json")).hexdigest()
    return shared_run(of_run, digest, measures_of(scorers_of_summary()), personas)
