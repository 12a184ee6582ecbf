"""Conducting sessions: what is written, what a second call does, going on after a cut, replay,
refusals, scores.
"""

import asyncio
import gc
import json
import os
import sys
from dataclasses import replace

import pytest

from delibsim import Citizen, Completion, ModelPool, Runs, Usage, WrongInput, compose, models_for
from delibsim.conduct.cost import spent
from delibsim.conduct.hold import hold_all, hold_session
from delibsim.conduct.outcome import Observer
from delibsim.conduct.replay import replay
from delibsim.models.replay import Diverged

CALLS = 12  # three participants answer twice and speak twice


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    return compose(
        "topic=ccps", "group.size=3", "rounds=2", "seed=7", home=tmp_path_factory.mktemp("home")
    )


@pytest.fixture
def runs(tmp_path):
    return Runs(tmp_path / "runs", "a study")


class Voice:
    """The citizens of a session, with a script that may give another completion in their place; it
    counts what it is asked.
    """

    name = "citizen"

    def __init__(self, session, script=lambda purpose: None):
        self.citizen = Citizen(population=session.seed_for("population"), temperature=0.0)
        self.script = script
        self.asked = []

    async def complete(self, prompt, seed):
        self.asked.append(prompt.purpose)
        await asyncio.sleep(0)
        return self.script(prompt.purpose) or await self.citizen.complete(prompt, seed)


def pool(model):
    """A pool that hands out this model."""
    return ModelPool(models={model.name: model})


def log_of(runs, session):
    return runs.path(session.id) / "exchanges.jsonl"


def open_files():
    """The files that this process holds open."""
    links = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
    return [os.readlink(link) for link in links if os.path.islink(link)]


def cut(runs, session, lines):
    """Undo the end of a session: no run, and a log that is so many lines shorter."""
    (runs.path(session.id) / "run.json").unlink()
    kept = log_of(runs, session).read_bytes().splitlines(keepends=True)
    log_of(runs, session).write_bytes(b"".join(kept[: len(kept) - lines]))


def contents(folder):
    """Every file below a folder: name, bytes, and when it was written."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


def edit_lines(path, change):
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for record in records:
        change(record)
    path.write_text(
        "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records),
        encoding="utf-8",
    )


async def test_each_exchange_is_on_disk_before_the_next_is_asked(session, runs):
    voice = Voice(session)
    on_disk = []
    voice.script = lambda purpose: (
        on_disk.append(len(runs.exchanges(session.id)[0])) if "turn" in purpose.occasion else None
    )
    await hold_session(session, runs, pool=pool(voice))
    assert on_disk == [3, 4, 5, 6, 7, 8]


async def test_the_log_of_a_session_is_opened_once_to_be_written_and_closed_at_its_end(
    session, runs
):
    opened = []
    watching = True

    def note(event, arguments):
        if watching and event == "open" and isinstance(arguments[2], int):
            opened.append(arguments) if arguments[2] & os.O_APPEND else None

    sys.addaudithook(note)  # stays, and does nothing more
    await hold_session(session, runs)
    watching = False
    logs = [path for path, _, _ in opened if str(path) == str(log_of(runs, session))]
    assert len(logs) == 1
    assert len(runs.exchanges(session.id)[0]) == CALLS
    assert str(log_of(runs, session)) not in open_files()


async def test_the_log_of_a_session_that_breaks_off_is_closed(session, runs):
    def script(purpose):
        if purpose.occasion == "turn 2":
            assert str(log_of(runs, session)) in open_files()
            return Completion("", "quota", "empty account")
        return None

    outcome = await hold_session(session, runs, pool(Voice(session, script)))
    assert "empty account" in outcome.fault
    assert str(log_of(runs, session)) not in open_files()


async def test_a_session_that_was_held_is_left_as_it_is(session, runs):
    first = await hold_session(session, runs)
    before = contents(runs.folder)
    voice = Voice(session)
    again = await hold_session(session, runs, pool=pool(voice))
    assert again.already
    assert again.run == first.run
    assert (again.asked, voice.asked) == (0, [])
    assert contents(runs.folder) == before


@pytest.mark.parametrize("lost", [0, 1, 3, 4, 9, 10, 12])
async def test_a_session_that_was_cut_off_goes_on_and_asks_only_what_is_missing(
    session, runs, lost
):
    whole = (await hold_session(session, runs)).run
    written = (runs.path(session.id) / "run.json").read_bytes()
    kept = runs.exchanges(session.id)[0][: CALLS - lost]
    cut(runs, session, lost)
    voice = Voice(session)
    held = await hold_session(session, runs, pool=pool(voice))
    assert (held.recorded, held.asked, len(voice.asked)) == (CALLS - lost, lost, lost)
    assert held.run == whole
    assert (runs.path(session.id) / "run.json").read_bytes() == written
    records = runs.exchanges(session.id)[0]
    assert records[: CALLS - lost] == kept
    assert len(records) == CALLS


@pytest.mark.parametrize("torn", [1, 40, -1])
async def test_a_torn_last_line_is_counted_and_asked_again(session, runs, torn):
    whole = (await hold_session(session, runs)).run
    cut(runs, session, 2)
    text = log_of(runs, session).read_bytes()
    *others, last = text.splitlines(keepends=True)
    log_of(runs, session).write_bytes(b"".join(others) + last.rstrip(b"\n")[:torn])
    held = await hold_session(session, runs)
    assert (held.recorded, held.asked, held.damaged_lines) == (CALLS - 3, 3, 1)
    assert held.run == whole
    records, damaged = runs.exchanges(session.id)
    assert (len(records), damaged) == (CALLS, 1)
    assert await replay(runs, session.id) == whole


async def test_a_last_line_that_lacks_only_its_end_of_line_is_whole(session, runs):
    whole = (await hold_session(session, runs)).run
    cut(runs, session, 2)
    log_of(runs, session).write_bytes(log_of(runs, session).read_bytes().rstrip(b"\n"))
    held = await hold_session(session, runs)
    assert (held.recorded, held.asked, held.damaged_lines) == (CALLS - 2, 2, 0)
    assert held.run == whole


@pytest.mark.parametrize(
    "line", [b"{}", b"[1, 2]", b"null", b'"text"', b"\xff\xfe", b'{"hash": 1, "model": "citizen"}']
)
async def test_a_line_that_is_no_exchange_is_counted_and_left_alone(session, runs, line):
    whole = (await hold_session(session, runs)).run
    cut(runs, session, 3)
    log_of(runs, session).write_bytes(log_of(runs, session).read_bytes() + line + b"\n")
    held = await hold_session(session, runs)
    assert (held.recorded, held.asked, held.damaged_lines) == (CALLS - 3, 3, 1)
    assert held.run == whole
    assert line in log_of(runs, session).read_bytes().splitlines()


async def test_refused_and_unreadable_answers_are_not_asked_again_when_a_session_goes_on(
    session, runs
):
    def odd(purpose):
        if (purpose.participant, purpose.occasion) == ("Participant 1", "pre"):
            return Completion("No.", "refusal", "against my policy")
        if (purpose.participant, purpose.occasion) == ("Participant 3", "pre"):
            return Completion("I rate them all highly.")
        return Completion("", "length", "cut") if purpose.occasion == "turn 2" else None

    first = await hold_session(session, runs, pool=pool(Voice(session, odd)))
    assert first.run.status == "partial"
    assert first.asked == CALLS + 3
    statuses = [record["completion"]["status"] for record in runs.exchanges(session.id)[0]]
    assert (statuses.count("unreadable"), statuses.count("refusal"), statuses.count("length")) == (
        4,
        1,
        1,
    )
    assert [record["purpose"]["attempt"] for record in runs.exchanges(session.id)[0]].count(3) == 1
    cut(runs, session, 1)
    again = await hold_session(session, runs)
    assert (again.asked, again.recorded) == (1, CALLS + 2)
    assert again.run == first.run
    assert await replay(runs, session.id) == first.run
    silence = first.run.silences[0]
    assert (silence.turn.index, silence.status, silence.reason) == (2, "length", "cut")


async def test_a_replay_that_hears_another_speech_diverges(session, runs):
    await hold_session(session, runs)

    def change(record):
        if record["purpose"]["occasion"] == "turn 1":
            record["completion"]["text"] = "I say something else."

    edit_lines(log_of(runs, session), change)
    with pytest.raises(
        Diverged, match=r"turn 2, attempt 0: the prompt changed\n(.*\n)*\+> I say something else\."
    ):
        await replay(runs, session.id)


async def test_going_on_from_a_record_of_other_prompts_stops_before_anything_is_asked(
    session, runs
):
    await hold_session(session, runs)
    cut(runs, session, 2)
    edit_lines(log_of(runs, session), lambda record: record.update(hash="0" * 64))
    voice = Voice(session)
    held = await hold_session(session, runs, pool=pool(voice))
    assert held.run is None
    assert "the prompt changed" in held.fault
    assert voice.asked == []


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"seed": 8}, r"seed: 7 -> 8"),
        ({"replicate": 2}, r"replicate: 1 -> 2"),
        (
            {"models": {"citizen": {"kind": "citizen", "noise": 0.9}}},
            r"models\.citizen\.noise: 0\.4 -> 0\.9",
        ),
    ],
)
async def test_a_session_that_was_planned_differently_is_refused_with_the_differences(
    session, runs, change, difference
):
    await hold_session(session, runs)
    before = contents(runs.folder)
    voice = Voice(session)
    with pytest.raises(WrongInput, match=rf"planned differently(.*\n)*.*{difference}"):
        await hold_session(replace(session, **change), runs, pool=pool(voice))
    assert voice.asked == []
    assert contents(runs.folder) == before


def test_the_people_are_the_sessions_own_unless_the_model_names_them(session):
    (voice,) = models_for(session).values()
    assert voice.population == session.seed_for("population")
    other = replace(session, treatment=replace(session.treatment, name="basic"))
    assert models_for(other)["citizen"] == voice
    assert models_for(replace(session, replicate=2))["citizen"] != voice
    named = replace(session, models={"citizen": {**session.models["citizen"], "population": 5}})
    assert models_for(named)["citizen"].population == 5


async def test_sessions_are_held_under_the_lock_of_their_study(session, runs):
    other = replace(session, id="other", replicate=2)
    held = await hold_all([session, other], runs)
    assert [h.session.id for h in held] == [session.id, "other"]
    assert runs.sessions() == sorted([session.id, "other"])
    with runs.lock(), pytest.raises(WrongInput, match=f"in use by process {os.getpid()}"):
        await hold_all([session], runs)
    assert (await hold_all([session], runs))[0].already


@pytest.mark.parametrize("at_once", [2, 5])
async def test_sessions_held_at_once_are_the_same_as_one_after_another(session, runs, at_once):
    sessions = [replace(session, id=f"r{k}", replicate=k) for k in range(1, 6)]
    one_by_one = Runs(runs.folder.parent, "one by one")
    await hold_all(sessions, one_by_one)
    assert {held.status for held in await hold_all(sessions, runs, at_once=at_once)} == {"complete"}
    assert [runs.run(one.id) for one in sessions] == [one_by_one.run(one.id) for one in sessions]
    for one in sessions:
        assert (runs.path(one.id) / "run.json").read_bytes() == (
            one_by_one.path(one.id) / "run.json"
        ).read_bytes()
        assert await replay(runs, one.id) == runs.run(one.id)


async def test_what_a_study_has_spent_is_read_from_its_log(session, runs):
    usage = Usage(input_tokens=100, output_tokens=7, cost_usd=0.25)

    def billed(purpose):
        return Completion("Well.", usage=usage) if "turn" in purpose.occasion else None

    await hold_session(session, runs, pool=pool(Voice(session, billed)))
    assert spent(runs) == (1.5, 642)


async def test_a_model_that_raises_stops_its_session_and_no_other(session, runs):
    class Raising(Voice):
        name = "raising"

        async def complete(self, prompt, seed):
            if prompt.purpose.occasion == "turn 2":
                raise ZeroDivisionError("a defect of a plug-in")
            return await super().complete(prompt, seed)

    raising = replace(
        session,
        models={"raising": {**session.models["citizen"], "name": "raising"}},
        participants=tuple(replace(person, model="raising") for person in session.participants),
    )
    planned = {"sound": session, "broken": raising, "other": session}
    sessions = [replace(one, id=name) for name, one in planned.items()]
    models = {"citizen": Voice(session), "raising": Raising(session)}
    voices = ModelPool(models=models)
    sound, broken, other = await hold_all(sessions, runs, pool=voices, at_once=3)
    assert runs.run("sound") == replace(runs.run("other"), session=sound.session)
    assert (sound.status, broken.status, other.status) == ("complete", "", "complete")
    assert (
        "turn 2): internal: ZeroDivisionError: a defect of a plug-in (test_conduct.py, line "
        in broken.fault
    )
    assert [record["completion"]["status"] for record in runs.exchanges("broken")[0]][-2:] == [
        "ok",
        "internal",
    ]
    again = await hold_session(sessions[1], runs)
    assert (again.recorded, again.run.status) == (broken.asked - 1, "complete")
    assert again.asked == CALLS - broken.asked + 1, "the call that broke is asked again"


async def test_the_collector_sweeps_seldom_while_sessions_are_held(session, runs):
    class Sees(Observer):
        def on_session(self, outcome):
            seen.append(gc.get_threshold())

    seen, of_tests, usual = [], gc.get_threshold(), (700, 10, 10)
    gc.set_threshold(*usual)
    try:
        await hold_all([session], runs, observer=Sees())
        assert seen[0][0] > 10 * usual[0]
        assert gc.get_threshold() == usual
    finally:
        gc.set_threshold(*of_tests)
