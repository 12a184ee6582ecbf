"""The packs of a study that people answer on pages, by name."""

from delibsim.conduct.people.rater_debates import debate_pack, debate_packs
from delibsim.conduct.people.rater_pack import RaterPack
from delibsim.conduct.people.rater_pairs import pair_pack, pair_packs
from delibsim.conduct.people.rater_summaries import summary_pack, summary_packs
from delibsim.conduct.people.rater_texts import text_pack, text_packs
from delibsim.domain.errors import WrongInput, unknown
from delibsim.store.runs import Runs


def rater_tasks(runs: Runs) -> list[str]:
    """The names of the tasks for raters and coders on pages, in order."""
    return sorted([*debate_packs(runs), *pair_packs(runs), *text_packs(runs), *summary_packs(runs)])


def rater_task(runs: Runs, name: str) -> RaterPack:
    """A task by its name; WrongInput, with those that there are, for another."""
    if name in debate_packs(runs):
        return debate_pack(runs, name)
    makers = ((pair_packs, pair_pack), (text_packs, text_pack), (summary_packs, summary_pack))
    for packs, make in makers:
        own = packs(runs).get(name)
        if own is not None:
            return make(runs, own, name)
    known = rater_tasks(runs)
    if not known:
        raise WrongInput(
            f"study '{runs.study}' has no task for raters on pages; hand one out: delibsim ratings"
            f" online {runs.study} (or code, compare, judge)"
        )
    raise unknown("task", name, known)
