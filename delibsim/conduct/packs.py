"""Answers of people brought back to their studies, and the scores that follow from them."""

from pathlib import Path

from delibsim.asking.collect import CollectedForm
from delibsim.asking.packs import bring_back
from delibsim.asking.people import Pack
from delibsim.conduct.score import score_all
from delibsim.conduct.texts import rescore_codes, rescore_pairs
from delibsim.domain.coding import CODES
from delibsim.domain.compared import PAIRS
from delibsim.store.comparisons import gathered_and_own
from delibsim.store.runs import Runs


def collect_and_score(file: Path, runs: Runs) -> CollectedForm:
    """Keep the answers in a form of any kind of packs of a study, and score them.

    WrongInput, and nothing is kept, where a line is wrong or contradicts what was kept before.
    """
    found = bring_back(file, runs)
    by_study = {(pack.scorer, pack.runs.folder): pack for pack in found.packs}
    for pack in by_study.values():
        rescore(pack)
    return found


def rescore(pack: Pack) -> None:
    """Write the scores anew that are computed from the answers of a pack."""
    if pack.scorer == CODES:
        rescore_codes(pack.runs)
    elif pack.scorer == PAIRS:
        rescore_pairs(gathered_and_own(pack.runs))
    elif pack.scorer:
        score_all(pack.runs, [pack.scorer])
