"""Training on tiny models in real processes: killed, resumed, stopped, filled disks, NaN."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip(
    "accelerate",
    reason="the extra judge is not installed; make test-judge installs it and runs this",
)

import torch
from safetensors.torch import load_file

from delibsim.conduct.trained.records import records_of_file
from delibsim.conduct.trained.train import Finished, Training, train_judge
from delibsim.domain.errors import WrongInput
from delibsim.scorers.judge.checkpoint import read_record, trained_judge

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(900)]

COMMAND = [sys.executable, "-c", "import sys; from delibsim.cli.main import main; sys.exit(main())"]
QUICK = {"rate": 1e-3, "patience": 99, "epochs": 6.0}


@pytest.fixture(scope="module")
def known(records):
    return records_of_file(records)


def words(records, base, to, *more):
    settings = [f"{name}={value}" for name, value in QUICK.items()]
    return ["judge", "train", str(records), *settings, f"base={base}", "-o", str(to), *more]


def begin(records, base, to, *more, limit=None):
    """A training in a process of its own."""

    limited = ["prlimit", f"--fsize={limit}"] if limit else []
    return subprocess.Popen(
        [*limited, *COMMAND, *words(records, base, to, *more)], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip


def checkpoints(folder):
    found = (folder / "checkpoints").glob("checkpoint-*/whole")
    return sorted(int(path.read_text()) for path in found)


def curve_of(folder):
    text = (folder / "checkpoints" / "curve.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def until(process, folder, step):
    while process.poll() is None and (not checkpoints(folder) or checkpoints(folder)[-1] < step):
        time.sleep(0.002)


@pytest.fixture(scope="module")
def whole(records, base, tmp_path_factory):
    """A training that nothing interrupted; in a process of its own too, for threads change sums."""
    folder = tmp_path_factory.mktemp("whole")
    process = begin(records, base, folder)
    _, err = process.communicate()
    assert process.returncode == 0, err
    return Finished(folder / "judge", read_record(folder / "judge"), 36)


def weights(folder):
    return load_file(folder / "judge" / "model.safetensors")


def same(folder, whole):
    ours, theirs = weights(folder), load_file(whole.folder / "model.safetensors")
    return ours.keys() == theirs.keys() and all(torch.equal(ours[key], theirs[key]) for key in ours)


def test_killed_at_checkpoints_and_resumed_it_has_the_same_weights_bit_for_bit(
    records, base, whole, tmp_path
):
    to = tmp_path / "killed"
    for step in (6, 18):
        process = begin(records, base, to, *(["--resume"] if step > 6 else []))
        until(process, to, step)
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert not (to / "judge").exists()
    last = begin(records, base, to, "--resume")
    out, err = last.communicate()
    assert last.returncode == 0, err
    assert "going on from checkpoint-" in err
    assert same(to, whole)
    assert "ridge" in out


def test_a_signal_ends_it_with_a_checkpoint_and_it_goes_on_to_the_same_weights(
    records, base, whole, tmp_path
):
    to = tmp_path / "ended"
    process = begin(records, base, to)
    until(process, to, 6)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate()
    assert process.returncode == 3, err
    assert "--resume" in err
    again = begin(records, base, to, "--resume")
    again.communicate()
    assert again.returncode == 0
    assert same(to, whole)


def test_a_checkpoint_that_was_not_written_to_its_end_is_not_used(records, base, whole, tmp_path):
    to = tmp_path / "partial"
    process = begin(records, base, to)
    until(process, to, 12)
    process.kill()
    process.communicate()
    last = checkpoints(to)[-1]
    (to / "checkpoints" / f"checkpoint-{last}" / "whole").unlink()
    (to / "checkpoints" / f"checkpoint-{last}" / "model.safetensors").write_bytes(b"torn")
    again = begin(records, base, to, "--resume")
    _, err = again.communicate()
    assert again.returncode == 0, err
    assert f"going on from checkpoint-{last}" not in err
    assert same(to, whole)


def test_a_full_disk_leaves_the_checkpoints_before_whole(records, base, whole, tmp_path):
    to = tmp_path / "full"
    process = begin(records, base, to)
    until(process, to, 6)
    process.kill()
    process.communicate()
    before = checkpoints(to)
    full = begin(records, base, to, "--resume", limit=40_000)
    _, err = full.communicate()
    assert full.returncode == 2, err
    assert "the disk is full" in err
    assert set(before) <= set(checkpoints(to))
    again = begin(records, base, to, "--resume")
    again.communicate()
    assert again.returncode == 0
    assert same(to, whole)


def test_a_loss_that_is_no_number_stops_and_names_the_step(known, base, tmp_path):
    wild = {**QUICK, "rate": 1e30, "clipped": 1e30, "warmup": 0.0}
    with pytest.raises(WrongInput, match="the loss became (nan|inf) at step"):
        train_judge(Training(known, base, tmp_path / "nan", wild), False)
    assert not (tmp_path / "nan" / "judge").exists()


def test_two_trainings_in_one_folder_are_refused(records, base, tmp_path):
    to = tmp_path / "two"
    first = begin(records, base, to)
    until(first, to, 6)
    first.send_signal(signal.SIGSTOP)
    try:
        second = begin(records, base, to, "--resume")
        _, err = second.communicate()
        assert second.returncode == 2
        assert str(first.pid) in err or "process" in err
    finally:
        first.send_signal(signal.SIGCONT)
        first.kill()
        first.communicate()


def test_other_settings_records_or_base_are_refused(known, base, whole, tmp_path):
    folder = whole.folder.parent
    with pytest.raises(WrongInput, match="begun with other settings"):
        train_judge(Training(known, base, folder, {**QUICK, "epochs": 9.0}), True)
    with pytest.raises(WrongInput, match="begun with other data"):
        train_judge(Training(known[:-2], base, folder, QUICK), True)
    with pytest.raises(WrongInput, match="--resume goes on"):
        train_judge(Training(known, base, folder, QUICK), False)


def test_it_learns_records_by_heart(known, base, tmp_path):
    few = [one for one in known if one.scores.keys() == {"rep", "inf", "neu", "pol"}][:32]
    raters = [*few, *few, *few]
    named = [
        type(one)(one.triple, f"{one.rater} {n}", one.instance, one.scores)
        for n, one in enumerate(raters)
    ]
    settings = {"rate": 3e-3, "patience": 999, "epochs": 120.0, "warmup": 0.05}
    train_judge(Training(named, base, tmp_path / "heart", settings), False)
    curve = curve_of(tmp_path / "heart")
    losses = [line["loss"] for line in curve if "loss" in line]
    assert min(losses[-20:]) < 0.1 * losses[0]


def test_stopping_early_keeps_the_best(known, base, tmp_path):
    settings = {"rate": 3e-3, "patience": 2, "epochs": 40.0}
    made = train_judge(Training(known, base, tmp_path / "early", settings), False)
    curve = curve_of(tmp_path / "early")
    values = [line["eval_spearman"] for line in curve if "eval_spearman" in line]
    assert len(values) < 40
    assert max(values) == max(values[:-2])
    step = made.record.settings["step"]
    assert step == 6 * len(values)


def test_scores_are_those_of_the_training_and_batches_change_nothing(known, base, whole):
    triples = [one.triple for one in known]
    judge = trained_judge(whole.folder, "cpu")
    together = dict(judge.scores(triples))
    alone = trained_judge(whole.folder, "cpu", tokens=1)
    for place, values in alone.scores(triples[:12]):
        assert values == pytest.approx(together[place], abs=1e-5)
    from delibsim.conduct.trained.train import parts_of, predicted

    training = Training(known, base, whole.folder.parent, QUICK)
    test = parts_of(training, "")["test"]
    found = predicted(judge, test)
    from delibsim.analysis.summaries.score_files import evaluation

    again = evaluation(test, found)
    assert again["mean"]["spearman"] == pytest.approx(whole.record.metrics["mean"]["spearman"])


def test_a_question_left_out_is_in_no_other_part(known, base, tmp_path):
    question = known[0].triple.question
    quick = {**QUICK, "epochs": 1.0}
    made = train_judge(Training(known, base, tmp_path / "one", quick, left_out=question), False)
    assert question not in made.record.questions
    each = train_judge(Training(known, base, tmp_path / "each", quick, left_out="each"), False)
    assert len(each.record.left_out) == 3
    assert len(each.record.questions) == 3


EARLY = {"rate": 3e-3, "patience": 3, "epochs": 40.0}


def evaluations(folder):
    return [line for line in curve_of(folder) if "eval_loss" in line]


def seen(folder):
    return [(line["step"], line["eval_loss"]) for line in evaluations(folder)]


def test_a_training_that_is_killed_keeps_its_patience_and_its_curve(known, base, tmp_path):
    train_judge(Training(known, base, tmp_path / "straight", EARLY), False)
    expected = seen(tmp_path / "straight")
    assert len(expected) < 40

    def killed(line):
        if line.startswith(f"step {expected[-2][0]}:"):
            raise RuntimeError("killed")

    training = Training(known, base, tmp_path / "killed", EARLY)
    with pytest.raises(RuntimeError, match="killed"):
        train_judge(training, False, killed)
    train_judge(training, True)
    assert seen(tmp_path / "killed") == expected
    assert same(tmp_path / "killed", Finished(tmp_path / "straight" / "judge", None, 0))
    shutil.rmtree(tmp_path / "killed" / "judge")  # as if it was killed once it had ended early
    train_judge(training, True)
    assert seen(tmp_path / "killed") == expected
    assert same(tmp_path / "killed", Finished(tmp_path / "straight" / "judge", None, 0))


def test_weights_that_are_no_numbers_are_in_no_checkpoint(known, base, tmp_path, monkeypatch):
    """The loss is still finite at the step after which the weights are not."""
    from delibsim.scorers.judge import training as own

    def spoilt(self, *given, **options):
        if self.state.global_step == 12:
            with torch.no_grad():
                self.model.head[1].weight[0, 0] = float("nan")
        return saved(self, *given, **options)

    saved = own._Trainer._save_checkpoint
    monkeypatch.setattr(own._Trainer, "_save_checkpoint", spoilt)
    with pytest.raises(WrongInput, match="after step 12 weights are no finite numbers"):
        train_judge(Training(known, base, tmp_path / "nan", QUICK), False)
    assert checkpoints(tmp_path / "nan") == [6]


def test_a_disk_that_fills_while_the_optimiser_is_written_leaves_the_checkpoints_before(
    records, base, tmp_path
):
    """Weights still fit, and the state of the optimiser, twice as large, does not."""
    weights = (base / "model.safetensors").stat().st_size
    full = begin(records, base, tmp_path / "full", limit=int(weights * 1.5))
    _, err = full.communicate()
    assert full.returncode == 2, err
    assert "could not be written" in err
    assert "the checkpoints before are whole" in err
    assert not list((tmp_path / "full" / "checkpoints").glob("checkpoint-*"))
