"""Where the branches of runs lie, forks and probes: each kind in a folder of its study, laid out as
a study of its own, so that they are never among its planned sessions.
"""

from pathlib import Path

from delibsim.domain.study import slug

FORKS, PROBES = "forks", "probes"
BRANCHES = (FORKS, PROBES)
"""The folders of a study that hold branches of runs."""
INHERITED = "inherited.jsonl"
"""What a branch has of the record of the run it branches off."""


def folder_of(root: Path, study: str) -> Path:
    """The folder of a study, or of the branches of one: pilot/forks.

    >>> folder_of(Path("runs"), "pilot/forks").as_posix()
    'runs/pilot/forks'
    """
    base, _, kind = study.rpartition("/")
    if base and kind in BRANCHES:
        return folder_of(root, base) / kind
    return root / slug(study)
