"""The scorer on runs and on texts: values, means, cache, languages, translators, and what could not
be scored.
"""

import asyncio
import json
import math
import shutil
from dataclasses import replace

import pytest

pytest.importorskip(
    "torch", reason="the extra aqua is not installed; make test-aqua installs it and runs this"
)
pytest.importorskip("adapters")

from aqua_models import WORDS
from fake_provider import FakeProvider, Rule

from delibsim.conduct.translate import translate_runs
from delibsim.domain.errors import WrongInput
from delibsim.domain.transcript import Statement, Turn
from delibsim.measures.aqua import INDICATORS, score
from delibsim.scorers.aqua.coder import AquaCoder
from delibsim.scorers.aqua.scorer import AQuA
from delibsim.scorers.aqua.setup import TranslatingModel, adapter_parts, find, read
from delibsim.store.files import read_lines
from delibsim.testing import a_run, check_scorer

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.filterwarnings("default:Recommended. pip install sacremoses"),
]

GERMAN = (
    "Ich bin für die Bahn, weil sie leise ist.",
    "Das ist doch viel zu teuer!",
    "Wer soll das denn bezahlen?",
    "Wir brauchen 3 Busse.",
)
ENGLISH = ("the bus is late. we want a tram.", "people need schools.", "roads are loud. i agree.")
NEVER = replace(a_run(), transcript=())


def run_of(*texts, name="example"):
    """A run of five people who say these texts in turn."""
    run = a_run(name)
    people = [participant.id for participant in run.session.participants]
    return replace(
        run,
        transcript=tuple(
            Statement(Turn(i, 1, people[(i - 1) % 5]), text) for i, text in enumerate(texts, 1)
        ),
    )


def table(scores):
    """Values by unit, target and measure."""
    return {(s.unit, s.target, s.measure.removeprefix("aqua.")): s.value for s in scores}


def plain(scores):
    """Scores as text, in which NaN equals NaN."""
    return list(map(repr, scores))


def translated(scorer, runs):
    """A scorer for which the statements of runs have been translated, as `delibsim score` does."""
    translate_runs(scorer, runs)
    return scorer


def scored(scorer, runs):
    """The scores of runs after their translation."""
    return translated(scorer, runs).score(runs)


def detailed(scorer, runs):
    """The details of runs after their translation."""
    return translated(scorer, runs).details(runs)


def counted(scorer):
    """A scorer that keeps what it tells of its progress."""
    told = []
    scorer.watch = lambda *step: told.append(step)
    return scorer, told


def test_the_scorer_keeps_the_contract(set_up):
    check_scorer(AQuA(set_up(language="german")))


def test_statements_speakers_and_run(set_up):
    texts = [*GERMAN, "Ja.", "Nein, das sehe ich anders."]
    scorer = AQuA(set_up())
    found = table(scorer.score([run_of(*texts)]))
    assert len(found) == (6 + 5 + 1) * 22
    by_statement = [
        {name: found["statement", f"example/{i}", name] for name in (*INDICATORS, "sum", "score")}
        for i in range(1, 7)
    ]
    for values in by_statement:
        assert values["score"] == pytest.approx(
            score({name: int(values[name]) for name in INDICATORS})
        )
        assert values["sum"] == pytest.approx(
            values["score"] / 5 * (4.98926754 + 1.66928295) - 1.66928295
        )
    assert len({tuple(values.values()) for values in by_statement}) > 1
    for name in (*INDICATORS, "sum", "score"):
        assert found["run", "example", name] == pytest.approx(
            sum(values[name] for values in by_statement) / 6
        )
        first = (by_statement[0][name] + by_statement[5][name]) / 2
        assert found["participant", "example/Participant 1", name] == pytest.approx(first)


def test_the_scale_of_four(set_up, tmp_path):
    five, four = (AQuA(set_up(tmp_path / str(scale), scale=scale)) for scale in (5.0, 4.0))
    a, b = (table(scorer.score([run_of(*GERMAN)])) for scorer in (five, four))
    assert b["run", "example", "score"] == pytest.approx(0.8 * a["run", "example", "score"])
    assert b["run", "example", "sum"] == a["run", "example", "sum"]
    assert (five.people["aqua.score"].mean, four.people["aqua.score"].mean) == (
        2.980,
        pytest.approx(2.384),
    )


def test_a_run_without_statements_has_no_values(set_up):
    found = AQuA(set_up()).score([NEVER])
    assert {s.note for s in found} == {"no_statements"}
    assert all(math.isnan(s.value) for s in found)
    quiet = AQuA(set_up()).score([run_of(GERMAN[0])])
    assert {s.note for s in quiet if s.target == "example/Participant 2"} == {"no_statements"}


def test_what_was_worked_on_is_not_worked_on_again_and_gives_the_same(set_up, monkeypatch):
    folder = set_up()
    first, told = counted(AQuA(folder))
    before = first.score([run_of(*GERMAN)])
    assert told[-1] == ("labelled", 4, 4)
    lines = (folder / "labels.jsonl").read_text(encoding="utf-8")
    again, told = counted(AQuA(folder))
    enlarged = [run_of(*GERMAN), run_of(GERMAN[1], "Das ist neu.", name="more")]
    after = again.score(enlarged)
    assert told == [("labelled", 1, 1)]
    assert plain(after[: len(before)]) == plain(before)
    assert (folder / "labels.jsonl").read_text(encoding="utf-8").startswith(lines)
    monkeypatch.setattr(
        AquaCoder, "_loaded", property(lambda self: pytest.fail("nothing is to be loaded"))
    )
    assert plain(AQuA(folder).score(enlarged)) == plain(after)
    assert [r["target"] for r in AQuA(folder).details(enlarged)] == [
        "example/1",
        "example/2",
        "example/3",
        "example/4",
        "more/1",
        "more/2",
    ]


def test_scoring_that_was_interrupted_goes_on_from_there(set_up, monkeypatch):
    monkeypatch.setitem(
        __import__("delibsim.scorers.aqua.encoder", fromlist=["TOKENS"]).TOKENS, "cpu", 1
    )
    folder = set_up()
    scorer = AQuA(folder)

    def stop(what, done, among):
        if done == 2:
            raise KeyboardInterrupt

    scorer.watch = stop
    with pytest.raises(KeyboardInterrupt):
        scorer.score([run_of(*GERMAN)])
    assert len(read_lines(folder / "labels.jsonl")[0]) == 2
    with (folder / "labels.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"key": "torn')
    again, told = counted(AQuA(folder))
    found = again.score([run_of(*GERMAN)])
    assert [step[1:] for step in told] == [(1, 2), (2, 2)]
    assert not any(math.isnan(s.value) for s in found if s.unit == "run")
    assert plain(found) == plain(AQuA(set_up(folder.parent / "whole")).score([run_of(*GERMAN)]))


def damaged(record, what):
    """A kept record, still a line of JSON, that lacks something or holds what is no label."""
    changes = {
        "no labels": lambda: record.pop("labels"),
        "no probabilities": lambda: record.pop("probabilities"),
        "no parts": lambda: record.pop("parts"),
        "a label less": lambda: record["labels"].pop("frage"),
        "label 4": lambda: record["labels"].update(frage=4),
        "label true": lambda: record["labels"].update(frage=True),
        "label 1.5": lambda: record["labels"].update(frage=1.5),
        "three probabilities": lambda: record["probabilities"].update(frage=[1, 0, 0]),
        "NaN": lambda: record["probabilities"].update(frage=[math.nan] * 4),
        "key is a list": lambda: record.update(key=[1]),
        "labels are a list": lambda: record.update(labels=[1, 2]),
    }
    changes[what]()
    return record


@pytest.mark.parametrize(
    "what",
    ["no labels", "no probabilities", "no parts", "a label less", "label 4", "label true", "label 1.5", "three probabilities", "NaN",
     "key is a list", "labels are a list"],
)  # fmt: skip
def test_a_kept_line_that_is_not_whole_is_made_again(set_up, what):
    folder = set_up()
    before = AQuA(folder).score([run_of(GERMAN[0])])
    (record,) = read_lines(folder / "labels.jsonl")[0]
    (folder / "labels.jsonl").write_text(json.dumps(damaged(record, what)) + "\n", encoding="utf-8")
    again, told = counted(AQuA(folder))
    assert plain(again.score([run_of(GERMAN[0])])) == plain(before)
    assert told == [("labelled", 1, 1)]


def test_a_kept_translation_that_is_none_is_made_again(set_up):
    folder = set_up()
    before = AQuA(folder).details([run_of(ENGLISH[0])])
    (record,) = read_lines(folder / "translations.jsonl")[0]
    for german in (None, " "):
        (folder / "translations.jsonl").write_text(
            json.dumps(record | {"german": german}) + "\n", encoding="utf-8"
        )
        assert AQuA(folder).details([run_of(ENGLISH[0])]) == before


def test_other_weights_or_numbers_are_another_coder_and_are_worked_on_anew(set_up):
    folder = set_up()
    names = {s.coder for s in AQuA(folder).score([run_of(*GERMAN)])}
    set_up(precision="bfloat16")
    scorer, told = counted(AQuA(folder))
    names |= {s.coder for s in scorer.score([run_of(*GERMAN)])}
    assert told
    assert len(names) == 2
    assert all(name.startswith("aqua@") and "marian" not in name for name in names)


def test_a_long_statement_is_labelled_in_parts_and_nothing_is_cut(set_up):
    sentence = "Das ist ein langer Satz, der nicht enden will. "
    texts = [sentence * 12, sentence, "nicht," * 40]
    one, whole, word = AQuA(set_up()).table(texts)
    assert (whole["aqua.parts"], one["aqua.parts"] > 1, word["aqua.parts"] > 1) == (1, True, True)
    for row in (one, word):
        assert sum(row[f"aqua.frage.p{label}"] for label in range(4)) == pytest.approx(1, abs=1e-5)
    # The same two sentences fit into every part but the last, so the whole is close to what one
    # part gives.
    part = AQuA(set_up()).table([sentence * 2])[0]
    assert part["aqua.parts"] == 1
    assert one["aqua.frage"] == part["aqua.frage"]


def test_english_is_translated_and_german_passes_through(set_up):
    folder = set_up()
    run = run_of(*ENGLISH, GERMAN[0], "Ok!")
    details = AQuA(folder).details([run])
    for record, text in zip(details, ENGLISH, strict=False):
        assert record["text"] == text
        assert record["translator"].startswith("marian:opus-mt-en-de@")
        words = [WORDS[word.strip(".")] for word in text.split()]
        assert [word.strip(".") for word in record["german"].split()] == words
    assert details[0]["german"] == "der bus ist spät. wir wollen eine bahn."
    assert (details[3]["german"], details[3]["translator"]) == (GERMAN[0], "")
    assert details[4]["translator"], (
        "what does not say its language takes that of its run, which is English here"
    )
    assert AQuA(folder).details([run_of(*GERMAN, "Ok!")])[4]["translator"] == ""
    kept = read_lines(folder / "translations.jsonl")[0]
    assert {(r["text"], bool(r["german"])) for r in kept} == {
        (text, True) for text in (*ENGLISH, "Ok!")
    }
    again, told = counted(AQuA(folder))
    again.score([run])
    assert told == []


OTHER_LANGUAGES = (
    "Il faut des écoles, et les bus des villes sont en retard.",
    "Es un problema que no tiene solución, es muy caro para todos.",
    "Bättre bussar är bra för alla människor här i landet.",
)


def test_what_is_neither_german_nor_english_is_missing_with_a_reason(set_up):
    folder = set_up()
    run = run_of(*OTHER_LANGUAGES, GERMAN[0])
    found = AQuA(folder).score([run])
    notes = {s.target: s.note for s in found if s.unit == "statement"}
    assert notes == {
        "example/1": "language_unknown",
        "example/2": "language_unknown",
        "example/3": "language_unknown",
        "example/4": "",
    }
    assert {(s.note, math.isnan(s.value)) for s in found if s.unit == "run"} == {
        ("language_unknown", True)
    }
    record = AQuA(folder).details([run])[0]
    assert "neither German nor English" in record["reason"]
    assert "labels" not in record
    set_up(language="german")
    assert {s.note for s in AQuA(folder).score([run]) if s.unit == "run"} == {""}
    set_up(language="english")
    assert {bool(r.get("translator")) for r in AQuA(folder).details([run_of(*ENGLISH)])} == {True}


def test_the_coder_says_the_scale_and_who_translated_what_the_value_rests_on(set_up):
    folder = set_up(scale=4.0)
    run = run_of(ENGLISH[0], GERMAN[0])
    coders = {s.target: s.coder for s in AQuA(folder).score([run])}
    adapters, translated = coders["example/2"], coders["example/1"]
    assert adapters.startswith("aqua@")
    assert adapters.endswith(".float32.scale4")
    assert translated.startswith(f"{adapters} marian:opus-mt-en-de@")
    assert coders["example"] == translated
    assert (coders["example/Participant 1"], coders["example/Participant 2"]) == (
        translated,
        adapters,
    )
    assert [record["scale"] for record in AQuA(folder).details([run])] == [4.0, 4.0]
    assert [row["aqua.coder"] for row in AQuA(folder).table([ENGLISH[0], "", GERMAN[0]])] == [
        translated,
        "",
        adapters,
    ]
    set_up(language="german")
    assert {s.coder for s in AQuA(folder).score([run])} == {adapters.replace("scale4", "scale5")}


async def test_a_reply_that_is_no_translation_is_asked_for_again_and_never_kept(set_up):
    rules = [
        Rule(
            match="That is not the translation: the reply is not German",
            text="Der Bus kommt immer zu spät.",
        ),
        Rule(match="the bus is late", text="I'm sorry, but I cannot translate this text."),
        Rule(match="people need schools", text="People need schools."),
        Rule(text="Hier ist die Übersetzung: Die Straßen sind laut."),
    ]
    async with FakeProvider(rules) as provider:
        folder = set_up(translator=replace(model_at(provider), reasks=2))
        run = run_of("the bus is late, and they do not care", *ENGLISH[1:])
        found = await asyncio.to_thread(detailed, AQuA(folder), [run])
        assert provider.calls == 2 + 2 + 3
    assert [record.get("german") for record in found] == [
        "Der Bus kommt immer zu spät.",
        "Der Bus kommt immer zu spät.",
        None,
    ]
    assert (found[2]["note"], found[2]["reason"]) == (
        "not_translated",
        "unreadable: the reply begins with words of its own",
    )
    assert [record["german"] for record in read_lines(folder / "translations.jsonl")[0]] == [
        "Der Bus kommt immer zu spät."
    ] * 2


def test_the_language_can_be_said(set_up):
    folder = set_up(language="german")
    assert {r["translator"] for r in AQuA(folder).details([run_of(*ENGLISH)])} == {""}
    set_up(language="other")
    assert "" not in {r["translator"] for r in AQuA(folder).details([run_of(*ENGLISH, GERMAN[0])])}


def test_english_without_a_translator_is_refused_before_anything_is_done(set_up):
    folder = set_up(translator=None)
    with pytest.raises(
        WrongInput,
        match="3 of 4 texts are English, such as 'the bus is late.*no translator is set up",
    ):
        AQuA(folder).score([run_of(*ENGLISH, GERMAN[0])])
    assert not (folder / "labels.jsonl").exists()
    AQuA(folder).score([run_of(*GERMAN)])
    set_up(translator=None, language="other")
    with pytest.raises(
        WrongInput,
        match=(
            "set up with language=other, under which every text is translated, and no translator"
            " is set up"
        ),
    ):
        AQuA(folder).score([run_of(*GERMAN)])


def test_a_translation_that_does_not_end_is_no_translation(set_up, monkeypatch):
    folder = set_up()
    monkeypatch.setattr("delibsim.scorers.aqua.coder.LONGER", 0)
    found = AQuA(folder).score([run_of("the bus is late.", GERMAN[0])])
    values = table(found)
    assert math.isnan(values["statement", "example/1", "score"])
    assert not math.isnan(values["statement", "example/2", "score"])
    assert {s.note for s in found if s.unit == "run"} == {"not_translated"}
    assert (
        "did not come to an end" in AQuA(folder).details([run_of("the bus is late.")])[0]["reason"]
    )


def test_a_changed_file_is_refused(set_up, models):
    folder = set_up()
    setup = read(folder)
    file = json.loads((folder / "setup.json").read_text(encoding="utf-8"))
    known = file["adapters"]["frage"]["files"]["adapter_config.json"]
    known |= {"sha256": "0" * 64, "changed": 1}
    (folder / "setup.json").write_text(json.dumps(file), encoding="utf-8")
    assert read(folder).model != setup.model
    with pytest.raises(
        WrongInput, match="adapter_config.json is not the file it was when AQuA was set up"
    ):
        AQuA(folder).score([run_of(*GERMAN)])


def test_a_changed_file_is_refused_also_where_every_text_was_worked_on_before(set_up):
    folder = set_up()
    AQuA(folder).score([run_of(*GERMAN)])
    file = json.loads((folder / "setup.json").read_text(encoding="utf-8"))
    file["adapters"]["frage"]["path"] = str(folder / "gone")
    (folder / "setup.json").write_text(json.dumps(file), encoding="utf-8")
    with pytest.raises(WrongInput, match="gone/adapter_config.json is gone since AQuA was set up"):
        AQuA(folder).score([run_of(*GERMAN)])


def model_at(provider, **limits):
    settings = {
        "name": "local",
        "kind": "openai_compatible",
        "model": "local",
        "max_tokens": 500,
        "temperature": 0.0,
    }
    return TranslatingModel(settings, provider.base_url, {"longest_wait": 0.02, **limits})


async def test_a_language_model_translates_through_our_own_door(set_up):
    rules = [
        Rule(status=503, times=1),
        Rule(match="SECRET", text="Ich kann das nicht.", message={"refusal": "no"}),
        Rule(text="Das ist nun deutsch."),
    ]
    async with FakeProvider(rules) as provider:
        folder = set_up(translator=model_at(provider))
        run = run_of(*ENGLISH, "this is SECRET to all of us")
        found = await asyncio.to_thread(detailed, AQuA(folder), [run])
        assert [r.get("german") for r in found] == ["Das ist nun deutsch."] * 3 + [None]
        assert found[3]["note"] == "not_translated"
        assert found[3]["reason"].startswith("refusal: ")
        assert found[0]["translator"].startswith("model:local@")
        asked = list(provider.requests)
        assert "You translate statements" in asked[0].text
        scorer = AQuA(folder)
        await asyncio.to_thread(scored, scorer, [run])
        await asyncio.to_thread(detailed, scorer, [run])
        assert provider.calls == len(asked) + 1, (
            "one scorer asks once for what could not be translated"
        )
        asked = list(provider.requests)
        scores = await asyncio.to_thread(scored, AQuA(folder), [run])
        assert provider.calls == len(asked) + 1, (
            "only what could not be translated is asked for again"
        )
    assert {s.note for s in scores if s.unit == "run"} == {"not_translated"}
    assert provider.base_url not in json.dumps(found)


def test_a_scorer_asks_no_language_model_itself(set_up):
    nobody = {"name": "x", "kind": "openai_compatible", "model": "x", "max_tokens": 9}
    scorer = AQuA(set_up(translator=TranslatingModel(nobody, "http://127.0.0.1:9/v1")))
    found = scorer.details([run_of(ENGLISH[0], GERMAN[0])])
    assert found[0]["note"] == "not_translated"
    assert "delibsim score does that first" in found[0]["reason"]
    assert found[1]["german"] == GERMAN[0]


async def test_a_citizen_or_an_unknown_model_cannot_translate(set_up):
    for settings, fault in (
        ({"name": "citizen", "kind": "citizen"}, "a citizen cannot translate"),
        ({"name": "x", "kind": "nix"}, "no plug-in 'nix'"),
    ):
        scorer = AQuA(set_up(translator=TranslatingModel(settings)))
        with pytest.raises(WrongInput, match=fault):
            await asyncio.to_thread(scored, scorer, [run_of(*ENGLISH)])


def test_a_table_of_texts(set_up):
    rows = AQuA(set_up()).table([GERMAN[0], "  ", ENGLISH[0]])
    assert list(rows[0])[:3] == ["aqua.score", "aqua.sum", "aqua.anrede"]
    assert all(name.startswith("aqua.") for name in rows[0])
    assert (rows[1]["aqua.note"], math.isnan(rows[1]["aqua.score"])) == ("empty", True)
    assert rows[2]["aqua.german"] == "der bus ist spät. wir wollen eine bahn."
    for name in INDICATORS:
        given = [rows[0][f"aqua.{name}.p{label}"] for label in range(4)]
        assert sum(given) == pytest.approx(1, abs=1e-5)
        assert given.index(max(given)) == rows[0][f"aqua.{name}"]
    assert AQuA(set_up()).table([]) == []


def test_a_changed_translator_is_refused_before_it_translates(set_up):
    folder = set_up()
    file = json.loads((folder / "setup.json").read_text(encoding="utf-8"))
    file["translator"]["files"]["vocab.json"] |= {"sha256": "0" * 64, "changed": 1}
    (folder / "setup.json").write_text(json.dumps(file), encoding="utf-8")
    with pytest.raises(WrongInput, match="vocab.json is not the file it was"):
        AQuA(folder).score([run_of(*ENGLISH)])
    assert not (folder / "translations.jsonl").exists()


NO_WORDS = (
    "-99",
    "42",
    "=1+1",
    "3.5 %",
    "https://example.org/a?b=Das+ist",
    "www.example.org",
    "\U0001f44d\U0001f3fd",
    ":-D",
    "p017",
    "R_3kJ2x",
    "...",
)


@pytest.mark.parametrize("language", ["auto", "german", "other"])
def test_a_statement_without_words_has_no_values(set_up, language):
    folder = set_up(language=language)
    run = run_of("", GERMAN[0], *NO_WORDS[:3])
    found = AQuA(folder).score([run])
    notes = {s.target: s.note for s in found if s.unit == "statement"}
    assert list(notes.values()) == ["no_words", "", "no_words", "no_words", "no_words"]
    assert {(s.note, math.isnan(s.value)) for s in found if s.unit == "run"} == {("no_words", True)}
    assert "labels" not in AQuA(folder).details([run])[0]


def test_cells_without_a_text_or_without_a_word_have_no_values_and_are_told_apart(set_up):
    none = ("", " ", "NA", "na", "NaN", "n/a", "N/A", "NULL", "None ")
    words = (
        "Na gut.",
        "None of us.",
        "Ja",
        "COVID-19!",
        "G20-Gipfel",
        "Siehe www.example.org",
        "a.b@example.org schreibt",
    )
    rows = AQuA(set_up(language="german")).table([*none, *NO_WORDS, *words])
    notes = [row["aqua.note"].split(":")[0] for row in rows]
    assert notes == ["empty"] * len(none) + ["no_words"] * len(NO_WORDS) + [""] * len(words)
    assert [math.isnan(row["aqua.score"]) for row in rows] == [bool(note) for note in notes]


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_logits_that_are_no_finite_numbers_are_no_labels(set_up, models, tmp_path, precision):
    """Weights that are finite, and so large that what they compute is not."""
    from aqua_models import torch

    mine = shutil.copytree(models / "trained adapters", tmp_path / "adapters")
    file = mine / "fact" / "pytorch_model_head.bin"
    torch.save(
        {
            key: torch.full_like(value, 3e38)
            for key, value in torch.load(file, weights_only=True).items()
        },
        file,
    )
    folder = set_up(adapters=adapter_parts(find(mine)[0]), precision=precision)
    with pytest.raises(WrongInput, match="no finite numbers, so there are no labels"):
        AQuA(folder).score([run_of(*GERMAN)])
    assert not (folder / "labels.jsonl").exists()
