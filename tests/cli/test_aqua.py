"""`delibsim setup aqua` and what it prepares, as a new user types it: without the extra, and with tiny
models in the published layout.
"""

import asyncio
import csv
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from cases import cases_of
from fake_provider import FakeProvider, Rule

from delibsim.domain.errors import WrongInput
from delibsim.scorers.aqua.setup import FILES, FOLDERS, fetch_adapters

CASES = cases_of(__file__)

EXTRA = (
    importlib.util.find_spec("torch") is not None
    and importlib.util.find_spec("sentencepiece") is not None
)
without = pytest.mark.skipif(EXTRA, reason="the extra aqua is installed")
heavy = [
    pytest.mark.heavy,
    pytest.mark.skipif(
        not EXTRA,
        reason="the extra aqua is not installed; make test-aqua installs it and runs this",
    ),
]
SPEECH = "Ich bin für die Bahn, weil sie leise ist."


# without the extra: everything else works


@without
@pytest.mark.parametrize(
    "words",
    [
        ("setup", "aqua", "x"),
        ("score", "s", "--scorer", "aqua"),
        ("score", "a.csv", "--scorer", "aqua"),
    ],
)
def test_without_the_extra_the_scorer_says_what_to_install(delibsim, study, home, words):
    (home / "a.csv").write_text("text\nJa.\n", encoding="utf-8")
    answer = delibsim(*words)
    assert (answer.code, answer.out) == (2, "")
    assert "pip install '.[aqua]' in the clone" in answer.err
    assert not (home / "aqua").exists()


def test_a_study_is_scored_without_aqua_unless_it_is_named(delibsim, study):
    answer = delibsim("score", "s", "--json")
    assert answer.code == 0
    assert not [row for row in answer.json["conditions"] if row["measure"].startswith("aqua")]
    assert answer.json["people"] == {}


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("-o", "folder"), "folder is a folder; name a file to write to"),
        (("-o", "a.csv"), "a.csv is the file with the texts, which would be overwritten"),
        (("-o", "folder/../link.csv"), "is the file with the texts"),
        (("-o", "nowhere/b.csv"), "there is no folder nowhere to write b.csv to"),
        (("--column", "said"), "a.csv has columns of that name already: aqua.note, aqua.old"),
    ],
)
def test_where_the_result_cannot_be_written_is_said_before_the_work(delibsim, home, words, fault):
    """Nothing is set up here, so work that began would end with that."""
    (home / "folder").mkdir()
    (home / "a.csv").write_text("id,text\n1,Ja.\n", encoding="utf-8")
    (home / "link.csv").symlink_to(home / "a.csv")
    if "--column" in words:
        (home / "a.csv").write_text("aqua.note,said,aqua.old\n,Ja.,\n", encoding="utf-8")
    before = (home / "a.csv").read_bytes()
    answer = delibsim("score", "a.csv", "--scorer", "aqua", *words)
    assert (answer.code, answer.out) == (2, "")
    assert fault in answer.err
    assert (home / "a.csv").read_bytes() == before


# fetching, from a server of our own


@pytest.fixture
def server(tmp_path):
    """A folder, and the address at which it is served."""
    folder = tmp_path / "served"
    folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", str(folder)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    yield folder, "http://127.0.0.1:" + process.stdout.readline().split("port ")[1].split()[0]
    process.terminate()
    process.communicate()


def test_adapters_are_fetched_once_and_what_is_missing_is_named(server, tmp_path):
    folder, address = server
    for place in FOLDERS.values():
        (folder / "trained adapters" / place).mkdir(parents=True)
        for file in FILES:
            (folder / "trained adapters" / place / file).write_text(
                f"{place} {file}", encoding="utf-8"
            )
    last = folder / "trained adapters" / "vulgar" / FILES[3]
    last.rename(folder / "away")
    to = tmp_path / "aqua" / "adapters"
    with pytest.raises(
        WrongInput,
        match=(
            "vulgar/pytorch_model_head.bin cannot be had: .*404.* What was fetched before is kept"
        ),
    ):
        fetch_adapters(to, f"{address}/trained adapters")
    (folder / "away").rename(last)
    (folder / "trained adapters" / "fact" / FILES[0]).unlink()
    fetch_adapters(to, f"{address}/trained adapters")
    assert sorted(path.name for path in to.iterdir()) == sorted(FOLDERS.values())
    assert (to / "fact" / FILES[0]).read_text(encoding="utf-8") == f"fact {FILES[0]}"
    assert not list(to.rglob("*.part"))


# with the extra


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """One folder with everything: tiny adapters, encoder and translator."""
    from aqua_models import encoder, save, translator, with_adapters

    folder = tmp_path_factory.mktemp("models")
    with warnings.catch_warnings(action="ignore"):
        save(
            with_adapters(encoder(folder / "bert-base-multilingual-cased")),
            folder / "trained adapters",
        )
        translator(folder / "opus-mt-en-de")
    return folder


def marked(function):
    """A test that needs the extra."""
    for mark in heavy:
        function = mark(function)
    return pytest.mark.filterwarnings("default:Recommended. pip install sacremoses")(function)


@marked
def test_run_set_up_and_score(delibsim, home, small, models, files):
    assert delibsim("run", "-q", "study=s", *small).code == 0
    missing = delibsim("score", "s", "--scorer", "aqua")
    assert (missing.code, "AQuA is not set up here" in missing.err) == (2, True)
    made = delibsim("setup", "aqua", models)
    assert (made.code, made.err) == (0, "")
    assert "20, in" in made.out
    answer = delibsim("score", "s", "--scorer", "aqua", "--json")
    assert (answer.code, answer.json["files"]) == (
        0,
        ["runs/s/scores/aqua.v1.jsonl", "runs/s/scores/details/aqua.v1.jsonl"],
    )
    (row,) = [row for row in answer.json["conditions"] if row["measure"] == "aqua.score"]
    assert 0 < row["mean"] < 5
    assert answer.json["people"]["aqua.score"]["mean"] == 2.98
    before = files("runs")
    printed = delibsim("score", "s", "--scorer", "aqua")
    assert "people: aqua.score 2.980 (SD 0.431, N 910" in printed.out
    assert files("runs") == before
    assert (
        delibsim("list", "scorers", "aqua", "--json").json["kept"]
        == "2 labelled and 2 translated texts"
    )
    units = {
        json.loads(line)["unit"]
        for line in (home / "runs/s/scores/aqua.v1.jsonl").read_text(encoding="utf-8").splitlines()
    }
    assert units == {"statement", "participant", "run"}
    assert delibsim("score", "s", "--json").code == 0
    assert delibsim("score", "s", "--json").json["people"] == {}


@marked
def test_a_study_of_which_no_run_has_a_value_is_partial(delibsim, home, small, models):
    assert (
        delibsim(
            "run", "-q", "study=s", *(word.replace("rounds=1", "rounds=0") for word in small)
        ).code
        == 0
    )
    assert delibsim("setup", "aqua", models).code == 0
    answer = delibsim("score", "s", "--scorer", "aqua", "--json")
    assert answer.code == 3
    assert {tuple(row["missing"]) for row in answer.json["conditions"]} == {("no_statements",)}


@marked
def test_a_gpu_that_is_not_there_is_refused(delibsim, home, models):
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is one")
    answer = delibsim("setup", "aqua", models, "device=cuda")
    assert (answer.code, "device=cuda: torch finds no GPU" in answer.err) == (2, True)
    assert not (home / "aqua").exists()


@marked
def test_texts_of_a_file(delibsim, home, models):
    (home / "said.csv").write_text(
        f'id;text\n1;"{SPEECH}"\n2;\n3;the bus is late.\n', encoding="utf-8"
    )
    assert delibsim("setup", "aqua", models, "scale=4").code == 0
    answer = delibsim("score", "said.csv", "--scorer", "aqua")
    assert answer.code == 3
    assert "2 of 3 texts" in answer.out
    assert "people: aqua.score 2.384 (SD 0.345" in answer.out
    assert "undefined: 1 text: empty" in answer.out
    with (home / "said.aqua.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    assert [row["id"] for row in rows] == ["1", "2", "3"]
    assert [bool(row["aqua.score"]) for row in rows] == [True, False, True]
    assert rows[2]["aqua.german"] == "der bus ist spät."
    again = delibsim("score", "said.aqua.csv", "--scorer", "aqua")
    assert (again.code, "has columns of that name already: aqua.score" in again.err) == (2, True)
    assert (
        delibsim("score", "said.csv", "--scorer", "aqua", "--json", "-o", "other.csv").json["valid"]
        == 2
    )
    assert (home / "other.csv").read_bytes() == (home / "said.aqua.csv").read_bytes()


@marked
@pytest.mark.parametrize(
    ("words", "fault"),
    CASES["what_cannot_be_set_up_is_refused_and_nothing_is_recorded"],
)
def test_what_cannot_be_set_up_is_refused_and_nothing_is_recorded(
    delibsim, home, models, words, fault
):
    answer = delibsim("setup", "aqua", *(word.replace("MODELS", str(models)) for word in words))
    assert (answer.code, answer.out) == (2, "")
    assert fault in answer.err
    assert not (home / "aqua").exists()
    assert "word@" not in answer.err


@marked
def test_a_translator_that_is_not_used_is_not_shown_as_if_it_were(delibsim, home, models):
    made = delibsim("setup", "aqua", models, "language=german")
    told = " ".join(made.out.split())
    assert (made.code, "translator not used: language is german" in told) == (0, True)
    assert (
        delibsim("list", "scorers", "aqua", "--json").json["translator"]
        == "not used: language is german"
    )
    assert delibsim("setup", "aqua", models, "translator=none", "language=german").code == 0
    assert delibsim("setup", "aqua", models).code == 0
    assert (
        delibsim("list", "scorers", "aqua", "--json")
        .json["translator"]
        .startswith("marian:opus-mt-en-de@")
    )


@marked
def test_partial_weights_are_not_set_up(delibsim, home, models):
    import torch

    mine = shutil.copytree(models, home / "models")
    file = mine / "trained adapters" / "fact" / "pytorch_adapter.bin"
    weights = torch.load(file, weights_only=True)
    weights.popitem()
    torch.save(weights, file)
    answer = delibsim("setup", "aqua", mine)
    assert answer.code == 2
    assert (
        "fact has no weights for bert.encoder.layer.1.output.adapters.tatsache.adapter_up.bias"
        in answer.err
    )
    assert not (home / "aqua").exists()


@marked
def test_a_language_model_is_recorded_without_its_address_in_the_scores(delibsim, home, models):
    words = "model=local base_url=http://127.0.0.1:9/v1 limits.budget_usd=2"
    assert delibsim("setup", "aqua", models, f"translator={words}").code == 0
    record = json.loads((home / "aqua" / "setup.json").read_text(encoding="utf-8"))["translator"]
    assert (record["address"], record["limits"]["budget_usd"], record["settings"]["kind"]) == (
        "http://127.0.0.1:9/v1",
        2.0,
        "openai_compatible",
    )
    assert (
        delibsim("list", "scorers", "aqua", "--json").json["translator"].startswith("model:local@")
    )


async def command(home, *words):
    """`delibsim WORDS` in a process of its own, so that a provider can answer meanwhile."""
    code = "from delibsim.cli.main import main; main()"
    program = [sys.executable, "-W", "ignore", "-c", code, *map(str, words)]
    done = await asyncio.to_thread(
        subprocess.run, program, cwd=home, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@marked
async def test_a_language_model_translates_before_the_scorer_runs(home, small, models):
    await command(home, "run", "-q", "study=s", *small)
    (home / "texts.csv").write_text("text\nthe bus is late and they do not care\n")
    aqua = ("--scorer", "aqua", "--json")
    async with FakeProvider([Rule(text="Das ist nun deutsch.")]) as provider:
        words = f"model=local base_url={provider.base_url}"
        await command(home, "setup", "aqua", models, f"translator={words}")
        await command(home, "score", "s", *aqua)
        assert provider.calls == 2
        texts = json.loads(await command(home, "score", "texts.csv", *aqua))
        await command(home, "score", "s", *aqua)
        assert provider.calls == 3
    assert texts["rows"][0]["aqua.german"] == "Das ist nun deutsch."
    details = home / "runs/s/scores/details/aqua.v1.jsonl"
    rows = [json.loads(line) for line in details.read_text(encoding="utf-8").splitlines()]
    assert {row["translator"].partition("@")[0] for row in rows} == {"model:local"}


HUB = """
import asyncio, hashlib, json, sys
from pathlib import Path
from aiohttp import web

root, commit = Path(sys.argv[1]), "0123456789abcdef0123456789abcdef01234567"

async def state(request):
    folder = root / request.match_info["name"]
    files = [{"rfilename": str(path.relative_to(folder))} for path in folder.rglob("*") if path.is_file()]
    return web.json_response({"id": "x/" + folder.name, "sha": commit, "siblings": files, "private": False, "downloads": 0, "tags": []})

async def file(request):
    data = (root / request.match_info["name"] / request.match_info["file"]).read_bytes()
    headers = {"ETag": '"' + hashlib.sha256(data).hexdigest() + '"', "X-Repo-Commit": commit, "Accept-Ranges": "bytes"}
    return web.Response(body=data, headers=headers)

async def main():
    app = web.Application()
    app.router.add_get("/api/models/{owner}/{name}/revision/{revision}", state)
    app.router.add_get("/{owner}/{name}/resolve/{revision}/{file:.+}", file)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@marked
def test_what_the_folder_lacks_is_fetched_from_a_hub(home, models):
    """A Hub of our own, over real HTTP, in processes of their own: the library reads its address
    when it is imported.
    """
    served = home / "served"
    shutil.copytree(
        models / "bert-base-multilingual-cased", served / "bert-base-multilingual-cased"
    )
    shutil.copytree(models / "opus-mt-en-de", served / "opus-mt-en-de")
    shutil.copytree(models / "trained adapters", served / "adapters")
    hub = subprocess.Popen(
        [sys.executable, "-c", HUB, str(served)], stdout=subprocess.PIPE, text=True
    )
    try:
        variables = {
            **os.environ,
            "HF_ENDPOINT": f"http://127.0.0.1:{hub.stdout.readline().strip()}",
            "HF_HOME": str(home / "cache"),
        }
        call = [
            sys.executable,
            "-c",
            "from delibsim.cli.main import main; main()",
            "setup",
            "aqua",
            str(models / "trained adapters"),
            "--from-hub",
        ]
        done = subprocess.run(
            call, cwd=home, env=variables, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "google-bert/bert-base-multilingual-cased@0123456789ab" in done.stdout
        assert "marian:Helsinki-NLP/opus-mt-en-de@0123456789ab@" in done.stdout
        named = [*call[:-2], "x/adapters", "--from-hub"]
        done = subprocess.run(
            named, cwd=home, env=variables, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "20, in" in done.stdout
        other = subprocess.run(
            [*call, "base=x/nix"],
            cwd=home,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert other.returncode == 2
        assert "'x/nix' is no folder, and cannot be had from the Hub" in other.stderr
    finally:
        hub.terminate()
        hub.communicate()
    assert Path(
        json.loads((home / "aqua" / "setup.json").read_text(encoding="utf-8"))["base"]["path"]
    ).is_relative_to(home / "cache")
