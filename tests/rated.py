"""What the tests of raters on pages share: studies with something to rate, and people who answer."""

import asyncio
import json

from coding import coding_home, study_of_texts
from comparing import study_of_pairs
from opinions import study_of_opinions

from delibsim.asking.kinds.code_people import draw_texts, export_codes
from delibsim.asking.kinds.coding import coding_of
from delibsim.asking.kinds.judgment_people import export_summaries, plan_judging
from delibsim.asking.kinds.pair_people import export_pairs, for_people
from delibsim.asking.kinds.rating_people import export_debates
from delibsim.asking.kinds.summary_plan import plan_summaries
from delibsim.asking.people import Online
from delibsim.conduct import ask as asking
from delibsim.conduct.hold import hold_all
from delibsim.domain.seed import seed_of
from delibsim.people.raters import RaterDesk
from delibsim.planning.compose import plan
from delibsim.planning.freeze import frozen
from delibsim.store.people.assignments import hand_in_step, show_step
from delibsim.store.people.register import Register, now
from delibsim.store.people.schema import PERSON
from delibsim.store.runs import Runs

DEBATES = (
    "format=debate",
    "motion=voting,nuclear",
    "proposition=citizen_eloquent",
    "opposition=citizen_halting,citizen_plain",
    "replicate=1,2",
)
ONLINE = Online(48)


def study_of_debates(folder, *settings):
    """Eight debates of citizens on two motions, or those of these settings."""
    asked = plan(["study=d", *(settings or DEBATES)], folder, sweep=True)
    runs = Runs(folder / "runs", "d")
    runs.settle(frozen(asked))
    asyncio.run(hold_all(asked.sessions, runs))
    return runs


def debates_online(runs, raters=4, each=4):
    """The name of a new pack of debates on pages."""
    wording = plan(["wording=oxford"]).session.wording
    return export_debates(runs, wording, raters, each, online=ONLINE).name


def codes_online(folder, coders=2):
    """A study of texts that are coded on pages, and the name of the pack."""
    coding_home(folder)
    runs = study_of_texts(folder)
    people = [f"coder {k}" for k in range(coders)]
    coding = coding_of(runs, "tiny")
    return runs, export_codes(coding, people, draw_texts(coding, 10), online=ONLINE).name


def pairs_online(folder, raters=2, each=None):
    """A study of texts that are compared on pages, and the name of the pack."""
    runs = study_of_pairs(folder)
    people = [f"rater {k}" for k in range(raters)]
    asked = for_people(runs, ["dimension=logical"])
    return runs, export_pairs(asked, people, each, online=ONLINE).name


def summaries_online(folder, raters=2):
    """A study whose summaries are judged on pages, and the name of the pack."""
    runs = study_of_opinions(folder)
    asyncio.run(asking.ask(plan_summaries(runs, ["sizes=all", "runs=2"])))
    return runs, export_summaries(plan_judging(runs, []), "people", raters, online=ONLINE).name


def desk_of(runs):
    """A desk over the register of a study, in a file beside it."""
    return RaterDesk(runs, Register.of(runs))


def person(register, name):
    """A rater of this name in the register."""
    with register.writing() as connection:
        row = {"id": name, "role": "rater", "language": "en", "stage": "ready", "made": now()}
        connection.execute(PERSON.insert().values(**row))
    return name


def answer(step, who):
    """What somebody answers to a page, drawn from her name and the step."""
    if step.prompt is None:
        return str(step.check)
    return _answer(step.prompt, seed_of(who, step.name, step.prompt.text))


def _answer(prompt, draw):
    """A reply in the form of a prompt."""
    form = prompt.reply
    example = form.example("Trams are quiet and carry many people.")
    if hasattr(form, "levels"):
        said = {"rationale": "-", "score": form.levels[draw % len(form.levels)]}
        first = {"applies": "yes"} if form.filtered else {}
        return json.dumps(first | said)
    if hasattr(form, "labels"):
        return form.labels[draw % len(form.labels)]
    return example


def hand_in_next(desk, held):
    """Answer the next page of a place; False where every sheet was handed in."""
    found = desk.next(held)
    if found is None:
        return False
    key = show_step(desk.register, held, found.sheet, found.step.name, found.known)
    give(desk, held, key, answer(found.step, held.person))
    return True


def give(desk, held, key, reply, status="ok"):
    """Hand a reply in."""
    return hand_in_step(desk.register, held, key, reply, status)


def all_of(desk, held):
    """Answer every page of a place."""
    while hand_in_next(desk, held):
        pass
