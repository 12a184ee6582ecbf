"""The null twin: the same design held with citizens, once, beside the study."""

from dataclasses import replace

import pytest
from small_study import CROSSED, SMALL, held_study

from delibsim.analysis.study.contrasts import contrasts
from delibsim.analysis.study.study_table import DrawCounts
from delibsim.conduct.analyse import MOST_OF_TWIN, source_of, twin_sessions, with_twin
from delibsim.conduct.analysed import study_table
from delibsim.planning.compose import plan
from delibsim.planning.freeze import frozen
from delibsim.store.runs import Runs
from delibsim.store.session_files import TWIN

HOSTED = "model=llama_3_3_70b,qwen_2_5_72b"


def quiet(what, done, among):
    pass


def planned(home, *settings):
    """A study of two hosted models that was planned, and whose models were never asked."""
    asked = plan(["study=s", HOSTED, *(settings or (*CROSSED, *SMALL))], home, sweep=True)
    runs = Runs(asked.root, "s")
    runs.settle(frozen(asked))
    for session in asked.sessions:
        runs.plan(session)
    return runs


def test_the_twin_has_the_values_of_the_same_design_held_by_citizens(tmp_path):
    runs = planned(tmp_path)
    table = with_twin(study_table(runs), runs, quiet)
    alone = study_table(held_study(tmp_path, *CROSSED, *SMALL, study="citizens")).rows
    by = ["topic", "treatment", "replicate"]
    mine = table.twin.set_index(by)["dri_change"].sort_index()
    assert len(mine) == 8, "two models of one design have one twin"
    assert mine.equals(alone.set_index(by)["dri_change"].sort_index())
    assert table.twin["null"].all()


def test_a_twin_is_held_once_and_lies_beside_the_study(tmp_path):
    runs = planned(tmp_path)
    told = []
    with_twin(study_table(runs), runs, lambda *what: told.append(what))
    assert len([one for one in told if one[0] == "holding the null twin"]) == 8
    assert (runs.folder / TWIN / "study.json").is_file()
    assert TWIN not in runs.sessions()
    told.clear()
    with_twin(study_table(runs), runs, lambda *what: told.append(what))
    assert not [one for one in told if one[0] == "holding the null twin"]


@pytest.mark.parametrize("file", ["study.json", "{}/run.json", "{}/session.json"])
def test_a_twin_that_is_damaged_is_held_again(tmp_path, file):
    runs = planned(tmp_path)
    whole = with_twin(study_table(runs), runs, quiet).twin
    session = sorted(path.parent.name for path in (runs.folder / TWIN).glob("*/run.json"))[0]
    (runs.folder / TWIN / file.format(session)).write_text("{", "utf-8")
    again = with_twin(study_table(runs), runs, quiet).twin
    assert again["dri_change"].tolist() == whole["dri_change"].tolist()
    assert set(again["status"]) == {"complete"}


def test_the_citizens_stand_beside_the_models_and_are_not_counted_among_them(tmp_path):
    runs = planned(tmp_path)
    table = with_twin(study_table(runs), runs, quiet)
    rows = table.rows.assign(dri_change=0.1, dri_pre=0.2, dri_post=0.3)
    rows.loc[rows["treatment"] == "normative", "dri_change"] = 0.3
    result = contrasts(replace(table, rows=rows), DrawCounts(100, 100))
    of = result.rows[result.rows["scale"] == "absolute"].groupby("population")
    assert of["models"].first().to_dict() == {"models": 2, "null citizen": 1}
    assert "held with citizens in all seats, 8 sessions" in " ".join(result.notes)
    assert len(table.rows) == 16


def test_a_study_of_citizens_has_no_twin_and_a_table_says_why_it_has_none(tmp_path):
    runs = held_study(tmp_path)
    assert with_twin(study_table(runs), runs, quiet).twin is None
    assert not (runs.folder / TWIN).exists()
    file = tmp_path / "t.csv"
    file.write_text("topic,model,treatment,replicate,pre,post\nx,m,none,1,.1,.2\n", "utf-8")
    source = source_of(str(file), tmp_path / "runs", quiet)
    assert source.table.no_twin.startswith("There is no null citizen beside these effects")


@pytest.mark.parametrize(
    ("settings", "held"),
    [
        (("topic=acp,ccps", "treatment=none,basic,normative", "replicate=range(1,151)"), 600),
        (("topic=acp,ccps", "treatment=none,normative", "group.size=range(2,152)"), 600),
    ],
)
def test_of_a_large_design_a_balanced_part_is_held(tmp_path, settings, held):
    sessions = twin_sessions(plan(["study=s", HOSTED, *settings], tmp_path, sweep=True).sessions)
    assert len(sessions) == held <= MOST_OF_TWIN
    cells = {}
    for session in sessions:
        size = len(session.participants)
        cells.setdefault((session.treatment.name, size), set()).add(
            (session.topic.id, session.replicate)
        )
    assert len({frozenset(cell) for cell in cells.values()}) == 1, "all conditions alike"


def test_debates_have_no_twin(tmp_path):
    debates = plan(["study=d", "experiment=oxford", "model=llama_3_3_70b"], tmp_path, sweep=True)
    assert twin_sessions(debates.sessions) == []
