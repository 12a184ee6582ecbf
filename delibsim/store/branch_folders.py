"""Where the branches of runs lie, forks and probes, and the null twin: each in a folder of its
study, laid out as a study of its own, so that they are never among its planned sessions.
"""

from pathlib import Path

from delibsim.domain.study import slug

FORKS, PROBES = "forks", "probes"
BRANCHES = (FORKS, PROBES)
"""The folders of a study that hold branches of runs."""
TWIN = "null_twin"
"""The folder of a study that holds the same design with citizens in all seats."""
WITHIN = (*BRANCHES, TWIN)
"""The folders of a study that are laid out as studies of their own."""
INHERITED = "inherited.jsonl"
"""What a branch has of the record of the run it branches off."""


def folder_of(root: Path, study: str) -> Path:
    """The folder of a study, or of what lies within one as a study: pilot/forks, pilot/null_twin.

    >>> folder_of(Path("runs"), "pilot/forks").as_posix()
    'runs/pilot/forks'
    """
    base, _, kind = study.rpartition("/")
    if base and kind in WITHIN:
        return folder_of(root, base) / kind
    return root / slug(study)
