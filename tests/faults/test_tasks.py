"""What models answered about finished texts stands under the settings with which they were asked,
counts once, and is not lost or relabelled where a file of its task is missing.
"""

import json

import pytest
from coding import coding_home, study_of_texts
from comparing import study_of_pairs
from fake_provider import FakeProvider, Rule

COMPARE = ("compare", "ask", "demo", "dimension=logical", "design=all")
SUMMARISE = ("summarise", "ask", "town", "sizes=4", "runs=1")
CODE = ("code", "ask", "pilot", "scheme=tiny", "samples=1", "dimensions=[matter]")
NO_TASK = "task.json is missing"


@pytest.fixture(autouse=True)
def studies(tmp_path):
    """A study of texts to compare, and one of texts to code."""
    study_of_pairs(tmp_path)
    study_of_texts(coding_home(tmp_path))


@pytest.fixture
def town(tmp_path):
    """The command that imports four opinions into the study `town`."""
    rows = [f"{n},We should build tram {n} because it carries many people.\n" for n in range(4)]
    (tmp_path / "said.csv").write_text("id,text\n" + "".join(rows), encoding="utf-8")
    return ("import", "town", "said.csv", "--as", "texts", "id=id", "question=A tram?")


def asked_at(provider, words, *more):
    """A command that asks the provider, one call after the other."""
    return [*words, "model=local", f"base_url={provider.base_url}", "limits.concurrency=1", *more]


@pytest.fixture
def votes(tmp_path):
    """The file of the votes of a comparison."""
    return tmp_path / "runs/demo/annotations/compare-main/annotations.jsonl"


@pytest.mark.parametrize("words", [COMPARE, CODE], ids=["compare", "code"])
async def test_a_reply_that_could_not_be_read_binds_to_its_settings(command, words):
    async with FakeProvider() as provider:
        provider.script[:] = [Rule(at=(1,), text="perhaps"), Rule(status=401)]
        code, _, err = await command(*asked_at(provider, words, "temperature=0.9"))
        assert (code, provider.calls) == (4, 2), err
        code, _, err = await command(*asked_at(provider, words, "temperature=0.1"))
        assert (code, provider.calls) == (2, 2)
        assert "temperature: 0.9 -> 0.1" in err


@pytest.mark.parametrize(
    ("words", "task"),
    [
        (COMPARE, "demo/annotations/compare-main"),
        (CODE, "pilot/annotations/code-tiny"),
        (SUMMARISE, "town/annotations/summaries-main"),
    ],
    ids=["compare", "code", "summarise"],
)
async def test_answers_whose_settings_are_gone_are_neither_relabelled_nor_asked_again(
    command, tmp_path, town, words, task
):
    code, _, err = await command(*town)
    assert code == 0, err
    folder = tmp_path / "runs" / task
    async with FakeProvider() as provider:
        code, _, err = await command(*asked_at(provider, words))
        assert code == 0, err
        calls, kept = provider.calls, (folder / "annotations.jsonl").read_bytes()
        (folder / "task.json").unlink()
        code, _, err = await command(*asked_at(provider, words, "temperature=0.1"))
        assert (code, provider.calls) == (2, calls)
        assert NO_TASK in err
        assert str(folder.relative_to(tmp_path)) in err
        assert "restore" in err
        assert not (folder / "task.json").exists()
        for damaged, fault in (("{", "is damaged"), ("{}", "no settings"), ("[1]", "no settings")):
            (folder / "task.json").write_text(damaged, encoding="utf-8")
            code, _, err = await command(*asked_at(provider, words))
            assert (code, provider.calls) == (2, calls)
            assert fault in err
            assert "restore it from a copy" in err
        assert (folder / "annotations.jsonl").read_bytes() == kept


async def test_a_vote_that_stands_twice_counts_once(command, votes):
    report = ("compare", "report", "demo", "--json")
    async with FakeProvider() as provider:
        await command(*asked_at(provider, COMPARE))
    whole = votes.read_text(encoding="utf-8")
    before = json.loads((await command(*report))[1])
    votes.write_text(whole + whole, encoding="utf-8")
    code, out, err = await command(*report)
    after = json.loads(out)
    for name in ("scores", "counts", "judges"):
        assert after["tables"][name] == before["tables"][name]
    assert code == 0, err


async def test_a_vote_that_is_contradicted_counts_as_it_was_first_and_is_told(command, votes):
    report = ("compare", "report", "demo", "--json")
    async with FakeProvider() as provider:
        await command(*asked_at(provider, COMPARE))
    before = json.loads((await command(*report))[1])
    first = json.loads(votes.read_text(encoding="utf-8").splitlines()[0])
    other = {"a": "b", "b": "a", "tie": "a"}[first["outcome"]]
    with votes.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(first | {"outcome": other}) + "\n")
    code, out, err = await command(*report)
    assert json.loads(out)["tables"]["scores"] == before["tables"]["scores"]
    assert code == 3
    assert "1 line contradicts" in err


async def test_texts_whose_ids_hold_a_bar_are_put_on_sheets_of_their_own(command, tmp_path):
    ids = ["a | b", "c", "a", "b | c", "a |", "| c"]
    rows = [f"{id},We should build tram {n}.\n" for n, id in enumerate(ids)]
    (tmp_path / "bars.csv").write_text("id,text\n" + "".join(rows), encoding="utf-8")
    code, _, err = await command("import", "bars", "bars.csv", "--as", "texts", "id=id")
    assert code == 0, err
    sheets = len(ids) * (len(ids) - 1)
    words = ("compare", "ask", "bars", "dimension=logical", "design=all", "order=both")
    async with FakeProvider() as provider:
        code, out, err = await command(*asked_at(provider, words), "--json")
        assert code == 0, err
        assert provider.calls == sheets
    found = json.loads(out)
    votes = tmp_path / "runs/bars/annotations/compare-main/annotations.jsonl"
    kept = [json.loads(line) for line in votes.read_text(encoding="utf-8").splitlines()]
    assert len({(vote["a"], vote["b"]) for vote in kept}) == len(kept) == sheets
    assert (found["new"], found["before"]) == (sheets, 0)
