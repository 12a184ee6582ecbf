"""A study in Python: its values are those of the commands, it reads late, and what it cannot give it
says in a sentence.
"""

import asyncio
import json
import os
import subprocess
import sys

import pandas as pd
import pytest
import warm
from provider_thread import provider_in_a_thread
from small_study import break_sessions, copied, held_study

import delibsim as public
from delibsim.analysis.study.table_of_study import by_treatment
from delibsim.planning.freeze import frozen
from delibsim.store.runs import Runs

ASKED = ("none", "normative", "basic")


@pytest.fixture(scope="module")
def held(tmp_path_factory):
    """A study of three treatments on two topics, and its report written by `delibsim analyze`."""
    home = tmp_path_factory.mktemp("studied")
    settings = ("topic=ccps,acp", f"treatment={','.join(ASKED)}", "replicate=1,2")
    runs = held_study(home, *settings, "group.size=3", "rounds=1", study="first")
    code, out, err = warm.run(["analyze", "first", "--json"], home, os.environ)
    assert code == 0, err
    return runs, json.loads(out)


def read(path):
    return pd.read_csv(path, keep_default_na=False, na_values=[""])


def test_what_a_study_gives_is_what_analyze_writes(held):
    runs, found = held
    study = public.study(runs.folder)
    assert json.loads(json.dumps(study.report.plain())) == found
    assert list(study.finding().sentences) == found["finding"]["sentences"]
    own = study.contrasts()
    for row, (_, mine) in zip(found["contrasts"], own.iterrows(), strict=True):
        for name in ("outcome", "a", "b", "estimate", "low", "high", "p_topics", "verb"):
            assert row[name] == (None if pd.isna(mine[name]) else mine[name])
    written = read(runs.folder / "analysis" / "tables" / "study.csv")
    pd.testing.assert_frame_equal(
        read_again(study.outcomes, runs.folder / "outcomes.csv"), written, check_exact=False
    )
    figure = (runs.folder / "analysis" / "figures" / "effects.svg").read_bytes()
    assert study.plot("effects").files(("svg",))["svg"] == figure
    assert study.plot("effects", ["topic=ccps"]).files(("svg",))["svg"] != figure


def read_again(frame, path):
    frame.to_csv(path, index=False)
    return read(path)


def test_treatments_stand_beside_each_other_by_the_names_of_what_they_share(held):
    study = public.study(held[0].folder)
    table, rows = study.table, study.outcomes
    assert list(table["dri_change"]) == ["none", "basic", "normative"]
    assert list(table.index.names) == ["topic", "model", "setting", "replicate"]
    for _, row in rows.iterrows():
        place = (row["topic"], row["model"], row["setting"], row["replicate"])
        assert table.loc[place, ("diversity_change", row["treatment"])] == row["diversity_change"]
    source = study._outcomes
    mixed = rows.sample(frac=1, random_state=1).iloc[1:]  # in another order, and one is lacking
    from dataclasses import replace

    fewer = by_treatment(replace(source, rows=mixed))
    assert fewer.isna().sum().sum() == table.columns.levshape[0]
    assert fewer.dropna().equals(table.loc[fewer.dropna().index])
    twice = by_treatment(replace(source, rows=pd.concat([rows, rows.iloc[:1]])))
    assert twice.index.names[-1] == "copy"
    assert len(twice) == len(table) + 1


def test_runs_and_cost_are_those_of_status(held, delibsim):
    runs, _ = held
    found = delibsim("status", runs.folder, "--json").json
    study = public.study(runs.folder)
    assert list(study.runs["session"]) == [one["session"] for one in found["sessions"]]
    assert study.runs["calls"].sum() == sum(found["calls"].values())
    assert study.cost.set_index("part")["calls"]["all"] == sum(found["calls"].values())
    assert study.run(runs.sessions()[0]) == runs.run(runs.sessions()[0])


def test_another_session_and_other_scores_are_noticed_and_nothing_else_is_read_again(tmp_path):
    runs = held_study(tmp_path, "topic=ccps", "treatment=none", "group.size=2")
    study = public.study("s", tmp_path / "runs")
    assert len(study.outcomes) == 1
    assert study._outcomes is study._outcomes
    held_study(tmp_path, "topic=ccps", "treatment=none,normative", "group.size=2")
    assert set(study.table["dri_change"]) == {"none", "normative"}
    assert len(study.outcomes) == len(runs.sessions()) == 2


def said_by(call):
    with pytest.raises(public.WrongInput) as told:
        call()
    return str(told.value)


def test_what_a_study_cannot_give_it_says(tmp_path, held):
    one = ("topic=ccps", "treatment=none", "group.size=2", "rounds=1")
    held_study(tmp_path, *one, study="one")
    study = public.study("one", tmp_path / "runs")
    assert "study one has no contrasts: " in said_by(study.contrasts)
    assert "one treatment" in said_by(study.contrasts)
    assert "study one has no figure effects: " in said_by(study.plot)
    assert list(study.table["dri_change"]) == ["none"]
    assert "No treatments can be compared" in study.finding().sentences[0]
    held_study(tmp_path, "format=debate", "motion=voting", study="spoken")
    spoken = public.study("spoken", tmp_path / "runs")
    assert "has no outcomes: This is a study of debates" in said_by(lambda: spoken.table)
    assert "nothing was coded in it" in said_by(study.codes)
    assert "nothing was compared in it" in said_by(study.pairs)
    whole = public.study(held[0].folder)
    chosen = public.study(held[0].folder, outcomes=["words_spoken"])
    assert list(chosen.table.columns.levels[0]) == ["words_spoken"]
    assert set(chosen.contrasts()["outcome"]) == {"words_spoken"}
    assert "unknown outcome" in said_by(lambda: public.study(held[0].folder, outcomes=["x"]).table)
    assert "did you mean dri" in said_by(lambda: whole.contrasts("dry"))
    assert "unknown figure 'effect'; did you mean effects" in said_by(lambda: whole.plot("effect"))
    assert "unknown session" in said_by(lambda: whole.run("x"))
    assert "unknown study 'frist'" in said_by(lambda: public.study("frist", held[0].folder.parent))
    table = public.study(held[0].folder / "analysis" / "tables" / "study.csv")
    assert len(table.outcomes) == len(whole.outcomes)
    assert "is a table alone" in said_by(lambda: table.runs)


def test_a_study_that_is_damaged_or_being_held_or_moved_says_so(held, tmp_path):
    runs = copied(held[0], tmp_path)
    study = public.study(runs.folder)
    cut_off, damaged, never = break_sessions(runs)
    states = study.runs.set_index("session")["state"]
    assert [states[name] for name in (cut_off, damaged, never)] == [
        "cut off",
        "damaged",
        "not begun",
    ]
    assert study.contrasts("dri", "absolute")["pairs"].max() < 4
    with runs.lock():
        assert "It is being held now" in study._repr_html_()
    assert "2 of 12 sessions have no run" in study._repr_html_()
    runs.folder.rename(tmp_path / "elsewhere")
    for read_it in (study.contrasts, lambda: study.table, study._repr_html_, lambda: study.runs):
        assert "no longer lies in" in said_by(read_it)
    assert len(public.study(tmp_path / "elsewhere").runs) == 12


def test_a_study_of_texts_gives_codes_and_pairs_and_says_that_it_has_no_sessions(delibsim, home):
    said = "Trams are quiet, because they run on rails, and so the main street may sleep at night."
    rows = [
        f"t{i},{said} {said} This is the voice of number {i}.".replace(", ", " ") for i in range(4)
    ]
    (home / "said.csv").write_text("id,text\n" + "\n".join(rows), encoding="utf-8")
    assert delibsim("import", "told", "said.csv", "--as", "texts").code == 0
    assert (
        delibsim("code", "ask", "told", "scheme=dqi3", "group.size=2", "samples=1", "-q").code == 0
    )
    study = public.study("told")
    assert set(study.codes("dqi3")["text"]) == {f"t{i}" for i in range(4)}
    assert delibsim("export", "told").code == 0
    exported = read("runs/told/tables/codes.csv")
    assert list(exported["level"].astype(str)) == list(study.codes()["level"].astype(str))
    assert "unknown scheme" in said_by(lambda: study.codes("dqi"))
    assert delibsim("compare", "ask", "told", "dimension=logical", "group.size=2", "-q").code == 0
    assert delibsim("export", "told").code == 0
    assert len(study.pairs()) == len(read("runs/told/tables/votes.csv")) > 0
    assert "unknown dimension" in said_by(lambda: study.pairs("x"))
    assert "holds imported texts" in said_by(lambda: study.outcomes)
    assert "imported texts and no sessions" in study._repr_html_()


def test_codes_of_sessions_stand_beside_their_treatment(held, tmp_path, delibsim):
    runs = copied(held[0], tmp_path)
    coded = delibsim("code", "ask", runs.folder, "scheme=dqi3", "group.size=2", "samples=1", "-q")
    assert coded.code == 0, coded.err
    codes = public.study(runs.folder).codes("dqi3")
    treatment = {name: runs.planned(name).treatment.name for name in runs.sessions()}
    assert list(codes["treatment"]) == [treatment[name] for name in codes["session"]]


async def in_a_loop(call):
    return call()


@pytest.mark.parametrize("loop", [True, False])
def test_it_works_with_and_without_a_running_loop(loop, tmp_path):
    """A notebook has one running. Models are used again in another cell; what holds the null twin
    of a study waits too, there and within what is waited for.
    """
    small = ("topic=ccps", "treatment=none", "group.size=2")

    def all_of_it():
        session = public.compose(*small)
        pool = public.ModelPool(addresses={"local": provider.base_url})
        models = {"citizen": pool.of(public.compose(*small, "model=local"))["local"]}
        held = [public.wait(public.hold(session, models)) for _ in range(2)]
        public.wait(pool.close())
        planned = public.plan(["study=w", *small, "model=llama_3_3_70b"], tmp_path)
        runs = Runs(planned.root, "w")
        runs.settle(frozen(planned))
        runs.plan(planned.session)

        async def within():
            return public.study("w", planned.root)._source.table.twin

        return held[0] == held[1], len(public.wait(within()))

    with provider_in_a_thread() as provider:
        found = asyncio.run(in_a_loop(all_of_it)) if loop else all_of_it()
    assert found == (True, 1)


def test_an_interrupt_ends_what_is_waited_for(tmp_path):
    code = """
import asyncio, signal, threading, os
from delibsim import wait
async def slow():
    try:
        await asyncio.sleep(60)
    finally:
        print("ended", flush=True)
async def cell():
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    wait(slow())
signal.signal(signal.SIGINT, signal.default_int_handler)
loop = asyncio.new_event_loop()
try:
    loop.run_until_complete(cell())
except KeyboardInterrupt:
    print("interrupted")
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.stdout.split() == ["ended", "interrupted"], done.stderr


def nouns_within(value, seen):
    """Every dataclass of ours that a value holds."""
    if id(value) in seen:
        return
    seen[id(value)] = value
    if hasattr(value, "__dataclass_fields__"):
        yield value
        value = [getattr(value, name) for name in value.__dataclass_fields__]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for inner in value:
            yield from nouns_within(inner, seen)


def test_every_noun_is_shown_in_short_and_what_others_wrote_is_no_markup(held):
    study = public.study(held[0].folder)
    run = study.run(next(name for name in study.sessions if ".normative." in name))
    library = public.Library()
    texts = [library.scheme("dqi3"), library.entry("voting"), public.Message("user", "x" * 9000)]
    kinds = set()
    for noun in nouns_within([run, *texts, study.report.results["contrasts"], study.plot()], {}):
        kinds.add(type(noun).__name__)
        assert len(repr(noun)) < 200, type(noun)
        assert "\n" not in repr(noun)
    assert {"Run", "Session", "Topic", "Survey", "Item", "Statement", "Scheme", "Motion"} <= kinds
    assert len(repr(study.report)) < 200
    from dataclasses import replace

    topic = replace(run.session.topic, question="<script>alert(1)</script>")
    session = replace(run.session, topic=topic)
    for shown in (session, replace(run, session=session), study, study.report, study.plot()):
        assert "<script" not in shown._repr_html_()
        assert len(shown._repr_html_()) < 60_000
    assert "&lt;script&gt;" in session._repr_html_()


def test_opening_a_study_imports_nothing_slow(held):
    code = f"""
import sys, delibsim
study = delibsim.study({str(held[0].folder)!r})
study._repr_html_(); study.run(study.sessions[0])._repr_html_()
print(*sorted(name for name in ("pandas", "numpy", "mesa", "hydra") if name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
