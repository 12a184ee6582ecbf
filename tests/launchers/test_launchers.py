"""Studies held by joblib, by submitit on this machine, and by a Ray cluster of two nodes equal
those held by one process.
"""

import asyncio
import signal
from pathlib import Path

import pytest
from fake_provider import FakeProvider
from launchers.conftest import kill, need, send, until

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

SMALL = ["topic=ccps,acp", "treatment=none,basic", "replicate=range(1,4)", "group.size=2"]
LARGE = ["topic=ccps,acp", "treatment=none,basic", "replicate=range(1,26)", "group.size=8"]
LONG = [*LARGE[:2], "replicate=range(1,151)", "group.size=8"]
"""600 sessions: what is interrupted is not over before it hears of it, on a quick machine either."""
RUN = ["run", "-m"]


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    """A study of 100 runs held by one process, and its table of scores."""
    from launchers.conftest import Home

    home = Home(tmp_path_factory.mktemp("whole"))
    code, _, err = home(*RUN, "study=s", *LARGE, "--quiet")
    assert code == 0, err
    return home.held("s"), home("score", "s", "--json")[1]


def test_a_study_held_by_a_launcher_equals_one_held_by_one_process(home, launcher):
    assert home(*RUN, "study=one", *SMALL, "--quiet")[0] == 0
    code, out, err = home(*RUN, "study=many", *SMALL, *launcher)
    assert code == 0, err
    assert "study many: 12 sessions, 12 complete" in out
    assert "12/12 sessions, 2 workers" in err
    assert home.held("many") == home.held("one") != {}
    assert sorted(path.name for path in home.folder.iterdir()) == ["runs"]
    assert len(set(home.workers("many"))) == 2
    code, out, _ = home(*RUN, "study=many", *SMALL, *launcher)
    assert (code, "All were held before" in out) == (0, True)
    code, out, err = home(
        *RUN, "study=many", *SMALL[:2], "replicate=range(1,5)", "group.size=2", *launcher
    )
    assert code == 0, err
    assert "study many: 16 sessions, 16 complete\n12 were held before" in out


def test_a_study_of_100_runs_killed_in_the_middle_and_gone_on_with_equals_one_left_alone(
    home, launcher, whole
):
    parent = home.begin(*RUN, "study=s", *LARGE, *launcher)
    home.until("s", 10)
    workers = home.workers("s")
    for worker in workers:
        send(worker, signal.SIGSTOP)  # so that they outlive their parent long enough to be seen
    parent.kill()
    parent.wait()  # and not for the end of its output, which the workers keep open
    parent.stdout.close()
    parent.stderr.close()
    if "ray" not in launcher[0]:  # which ends the workers of a driver that died
        code, _, err = home(*RUN, "study=s", *LARGE)
        assert code == 2
        assert f"in use by process {parent.pid} or by workers it began" in err
    kill(workers)
    assert 10 <= len(home.held("s")) < 100
    code, out, err = home(*RUN, "study=s", *LARGE, *launcher)
    assert code == 0, err
    assert "study s: 100 sessions, 100 complete" in out
    assert home.held("s") == whole[0]
    assert home("score", "s", "--json")[1] == whole[1]


def test_a_study_of_100_runs_killed_three_times_in_one_process_equals_one_left_alone(home, whole):
    for held in (10, 35, 65):
        parent = home.begin(*RUN, "study=s", *LARGE, "-q")
        home.until("s", held)
        parent.kill()
        parent.communicate()
        assert held <= len(home.held("s")) < 100
    code, out, err = home(*RUN, "study=s", *LARGE)
    assert code == 0, err
    assert "study s: 100 sessions, 100 complete" in out
    assert home.held("s") == whole[0]
    assert home("score", "s", "--json")[1] == whole[1]


def test_an_interruption_stops_the_workers_in_order(home, launcher):
    parent = home.begin(*RUN, "study=s", *LONG, *launcher)
    home.until("s", 10)
    parent.send_signal(signal.SIGINT)
    _, err = parent.communicate(timeout=180)
    assert parent.returncode == 3
    assert "The workers are stopping" in err
    assert "Stopped. What was recorded is kept" in err
    held = home.held("s")
    assert 10 <= len(held) < 600
    code, _, err = home(*RUN, "study=s", "topic=ccps", "treatment=none", "group.size=8", "--quiet")
    assert code == 0, f"somebody still holds the folder: {err}"


def test_one_worker_that_dies_is_told_and_costs_only_its_sessions_in_flight(home, whole):
    need("joblib")
    parent = home.begin(*RUN, "study=s", *LARGE, "hydra/launcher=joblib")
    home.until("s", 10)
    kill(home.workers("s")[:1])
    out, err = parent.communicate(timeout=180)
    assert parent.returncode == 3, err
    assert "A worker did not end well: TerminatedWorkerError" in err
    assert "failed: " in out
    code, _, err = home(*RUN, "study=s", *LARGE)
    assert code == 0, err
    assert home.held("s") == whole[0]


def test_ray_uses_both_nodes(home, cluster):
    parent = home.begin(*RUN, "study=s", *LARGE, "hydra/launcher=ray", *cluster)
    until(lambda: len(home.workers("s")) == 2)
    nodes = {
        Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[1]
        for worker in home.workers("s")
    }
    parent.send_signal(signal.SIGINT)
    parent.communicate(timeout=180)
    assert len(nodes) == 2, "each worker is a child of the raylet of its node"


async def test_the_workers_together_keep_the_limit_and_no_address_is_written(home, launcher):
    async with FakeProvider(latency=0.1) as provider:
        address = provider.base_url.replace(
            "http://", "http://sk-someone:sk-hidden-in-the-address@"
        )
        words = [
            *RUN,
            "study=s",
            "model=local",
            *SMALL[:2],
            "replicate=range(1,3)",
            "group.size=4",
            "rounds=1",
            "limits.concurrency=3",
        ]
        code, out, err = await asyncio.to_thread(home, *words, f"base_url='{address}'", *launcher)
        assert code == 0, err
        assert 2 <= provider.most_in_flight <= 3
        assert f"{provider.calls} calls were asked now" in out
    files = [path for path in home.folder.rglob("*") if path.is_file()]
    assert [path for path in files if path.suffix == ".jsonl"]
    assert not [path for path in files if b"hidden-in-the-address" in path.read_bytes()]


async def test_the_workers_together_keep_the_requests_a_minute(home):
    need("joblib")
    async with FakeProvider() as provider:
        words = [
            *RUN,
            "study=s",
            "model=local",
            "treatment=none",
            "replicate=1,2",
            "group.size=3",
            "limits.requests_per_minute=6",
        ]
        code, _, err = await asyncio.to_thread(
            home, *words, f"base_url={provider.base_url}", "hydra/launcher=joblib"
        )
        assert code == 0, err
        came = [call.came for call in provider.requests]
        assert len(came) == 12
        assert all(later - earlier > 60 for earlier, later in zip(came, came[6:], strict=False))
