"""`delibsim code effect` and `code plan` of a table: what they say, and what they refuse."""

import json
import math
import os
from collections import Counter
from itertools import product

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from tests.corrected_data import example

HEAD = "text,session,treatment,m1,m2,human,chance"
COLUMNS = ("a", "b", "row", "estimate", "se", "low", "high", "n", "clusters", "lambda", "effective")


@pytest.fixture
def table(home):
    """Write a table of the given lines; its name."""

    def written(*rows, head=HEAD):
        (home / "codes.csv").write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
        return "codes.csv"

    return written


def golden():
    """The worked example as lines of a table."""
    x, proxies, people, chance, session = example()
    for i in range(len(people)):
        treatment = "normative" if x[i, 1] else "none"
        human = "" if math.isnan(people[i]) else repr(float(people[i]))
        codes = f"{proxies[i, 0]},{proxies[i, 1]}"
        yield f"t{i},s{session[i]},{treatment},{codes},{human},{chance[i]}"


def planted(sessions=48, seed=5):
    """Texts of which models overrate the treatment by half a level and people do not."""
    rng = np.random.default_rng(seed)
    for i in range(sessions * 6):
        session = i // 6
        t = session % 2
        level = rng.normal() + 0.8 * t
        model = level + rng.normal() / 4 - 1.6 * t
        human = f"{level:.4f}" if rng.random() < 0.5 else ""
        yield f"t{i},s{session},{'normative' if t else 'none'},{model:.4f},{human},.5"


def test_the_rows_of_the_worked_example(delibsim, table):
    found = delibsim("code", "effect", table(*golden()), "--json")
    assert found.code == 0
    people, models, corrected = found.json["rows"]
    assert set(COLUMNS) <= set(people)
    assert (people["row"], models["row"], corrected["row"]) == ("people", "models", "corrected")
    assert people["estimate"] == pytest.approx(0.6041666667, abs=1e-9)
    assert (corrected["estimate"], corrected["se"]) == pytest.approx((0.5662509772, 0.1608995338))
    assert corrected["lambda"] == pytest.approx([0.5740328337, 0.2983073315])
    assert corrected["effective"] == pytest.approx(30 * (0.3038110208 / 0.1608995338) ** 2)
    assert corrected["low"] is None
    assert corrected["note"] == "people read of a treatment 6 sessions; an interval needs 10"
    assert models["note"] == "not valid by itself"


def test_models_alone_say_the_wrong_thing_and_the_corrected_row_the_right_one(delibsim, table):
    file = table(*planted(), head="text,session,treatment,m1,human,chance")
    found = delibsim("code", "effect", file, "--json")
    _, models, corrected = found.json["rows"]
    assert models["high"] < 0
    assert 0 < corrected["low"] < 0.8 < corrected["high"]
    assert "raised codes" in found.json["sentences"][0]
    assert "not valid by itself" in delibsim("code", "effect", file).out


def test_the_multiverse_has_every_coder_and_reading_and_counts_signs(delibsim, table):
    rows = []
    for i in range(120):
        treatment = "normative" if i % 2 else "none"
        level, session = (i // 4) % 3, i // 4 + 30 * (i % 2)
        rows.append(f"t{i},s{session},{treatment},{level},{2 - level},{level},.5")
    found = delibsim("code", "effect", table(*rows), "--json")
    own = [row for row in found.json["multiverse"] if row["row"] == "models"]
    coders = {"all models", "m1", "m2", "median", "mean"}
    readings = {"level", "1 or more", "2 or more"}
    assert {(row["coder"], row["reading"]) for row in own} == set(product(coders, readings))
    by = {(row["coder"], row["reading"]): row["estimate"] for row in own}
    level = np.array([(i // 4) % 3 for i in range(120)])
    treated = np.arange(120) % 2 == 1
    high = (level >= 2).astype(float)
    assert by["m1", "2 or more"] == pytest.approx(high[treated].mean() - high[~treated].mean())
    assert by["m2", "level"] == pytest.approx(-by["m1", "level"])
    shares = {row["row"]: row for row in found.json["multiverse_shares"]}
    assert (shares["models"]["specifications"], shares["corrected"]["specifications"]) == (15, 15)
    signs = [np.sign(estimate) == np.sign(by["all models", "level"]) for estimate in by.values()]
    assert shares["models"]["same_sign"] == pytest.approx(np.mean(signs))


def test_without_codes_of_people_models_stand_alone(delibsim, table):
    rows = [line.rsplit(",", 2)[0] for line in golden()]
    found = delibsim("code", "effect", table(*rows, head="text,session,treatment,m1,m2"), "--json")
    assert [row["row"] for row in found.json["rows"]] == ["models"]
    assert "code handout" in found.json["sentences"][0]


def test_columns_of_other_names_and_one_contrast(delibsim, table):
    rows = list(golden())
    file = table(*rows, head="text,debate,arm,m1,m2,coder,pi")
    words = ("session=debate", "treatment=arm", "human=coder", "chance=pi")
    found = delibsim("code", "effect", file, *words, "--contrast", "none:normative", "--json")
    assert found.json["rows"][0]["estimate"] == pytest.approx(-0.6041666667)


def refused(lines, where):
    """The lines without the code of the first model where `where` says so of (treatment, code)."""
    for line in lines:
        cells = line.split(",")
        if where(cells[2], float(cells[3])):
            cells[3] = ""
        yield ",".join(cells)


def test_what_a_model_did_not_code_is_counted_by_treatment_and_people_lose_nothing(delibsim, table):
    """The model refuses texts of high level under the treatment alone."""
    head = "text,session,treatment,m1,human,chance"
    whole = delibsim("code", "effect", table(*planted(), head=head), "--json").json
    lines = refused(planted(), lambda treatment, code: treatment == "normative" and code > -0.5)
    found = delibsim("code", "effect", table(*lines, head=head), "--json")
    assert found.code == 3
    (note,) = found.json["notes"]
    assert "m1 has no code of" in note
    assert "(normative " in note
    assert "none " not in note.split("(")[1]
    assert found.json["rows"][0] == whole["rows"][0]
    corrected = found.json["rows"][2]
    assert corrected["n"] == whole["rows"][2]["n"]
    assert corrected["low"] < 0.8 < corrected["high"]
    assert found.json["rows"][1]["n"] < whole["rows"][1]["n"]


def test_a_topic_of_which_people_read_nothing_is_no_traceback(delibsim, table):
    """It is held constant where it can be; the draw left it out by chance."""
    rows = []
    for i, line in enumerate(planted()):
        cells = line.split(",")
        topic = ("trams", "bridges", "parks")[i // 12 % 3]
        cells[4] = "" if topic == "parks" else cells[4]
        rows.append(",".join([*cells, topic]))
    file = table(*rows, head="text,session,treatment,m1,human,chance,topic")
    found = delibsim("code", "effect", file, "--json")
    assert found.code == 0
    assert all(row["estimate"] is not None for row in found.json["rows"])
    assert delibsim("code", "plan", file).code == 0


def test_treatments_that_differ_in_the_topic_are_not_told_apart(delibsim, table):
    rows = [f"{line},{'a' if 'normative' in line else 'b'}" for line in planted()]
    file = table(*rows, head="text,session,treatment,m1,human,chance,topic")
    found = delibsim("code", "effect", file, "--json")
    assert found.code == 4
    assert {row["note"] for row in found.json["rows"]} == {
        "the treatments differ in what is held constant"
    }
    assert delibsim("code", "plan", file).code == 4


def test_a_model_that_codes_what_people_read_alone_corrects_nothing(delibsim, table):
    lines = [line.split(",") for line in planted()]
    alone = "text,session,treatment,m1,human,chance"
    without = delibsim("code", "effect", table(*map(",".join, lines), head=alone), "--json").json
    for cells in lines:
        cells.insert(4, cells[4])  # a second model says what people said, where they said something
    found = delibsim("code", "effect", table(*map(",".join, lines)), "--json").json
    assert "m2 has codes of what people read more often" in " ".join(found["sentences"])
    assert found["rows"][2]["estimate"] == without["rows"][2]["estimate"]


def test_many_models_for_few_sessions_correct_by_their_mean(delibsim, table):
    head = "text,session,treatment," + ",".join(f"m{i}" for i in range(15)) + ",human,chance"
    rng, rows = np.random.default_rng(4), []
    for i in range(480):
        session = i // 8
        level = rng.normal()
        models = ",".join(f"{level + rng.normal():.3f}" for _ in range(15))
        human = f"{level:.3f}" if i % 4 == 0 else ""
        rows.append(f"t{i},s{session},{'a' if session % 2 else 'b'},{models},{human},.25")
    found = delibsim("code", "effect", table(*rows, head=head), "--json").json
    people, _, corrected = found["rows"]
    assert isinstance(corrected["lambda"], float)
    assert "15 models for 60 sessions read: their mean corrects" in " ".join(found["sentences"])
    assert corrected["high"] - corrected["low"] < people["high"] - people["low"]


def test_codes_that_do_not_vary_are_undecided(delibsim, table):
    rows = []
    for i in range(160):
        arm = "normative" if (i // 4) % 2 else "none"
        rows.append(f"t{i},s{i // 4},{arm},{i % 3},{i % 2},{1 if arm == 'none' else 2},1")
    found = delibsim("code", "effect", table(*rows), "--json").json
    assert found["rows"][0]["low"] is None
    assert "do not vary" in found["rows"][0]["note"]
    assert "raised" not in " ".join(found["sentences"])


def test_several_contrasts_are_corrected_by_holm(delibsim, table):
    rng, rows = np.random.default_rng(11), []
    for i in range(480):
        session = i // 8
        arm = "abcdef"[session % 6]
        level = rng.normal() + 0.45 * (arm == "b")
        rows.append(f"t{i},s{session},{arm},{level:.3f},{level:.3f},{level:.3f},1")
    found = delibsim("code", "effect", table(*rows), "--json").json
    own = [row for row in found["rows"] if row["row"] == "corrected"]
    assert len(own) == 15
    expected = multipletests([row["p"] for row in own], method="holm")[1]
    assert [row["p_holm"] for row in own] == pytest.approx(list(expected))
    clear = [row for row in own if row["p_holm"] < 0.05]
    said = [line for line in found["sentences"] if "raised" in line or "lowered" in line]
    assert len(said) == len(clear)


def test_another_scale_and_a_model_that_says_nothing_are_told(delibsim, table):
    rows = []
    for i in range(96):
        treatment = "normative" if i % 2 else "none"
        human = i % 7 * 10 if i % 3 else ""
        rows.append(f"t{i},s{i // 4 * 2 + i % 2},{treatment},{i % 7},2,{human},.5")
    found = delibsim("code", "effect", table(*rows), "--json")
    _, scale, constant = found.json["sentences"]
    assert "people's codes go from 0 to 60, those of m1 from 0 to 6" in scale
    assert "m2 says 2 of all, so that its weight is 0" in constant
    assert (found.code, found.json["notes"]) == (0, [])
    weight, of_constant = found.json["rows"][2]["lambda"]
    assert (weight > 5, of_constant) == (True, 0)


@pytest.mark.parametrize(
    ("head", "row", "said"),
    [
        (HEAD, "t,s,none,1,2,3,", "with what chance it was drawn"),
        (HEAD, "t,s,none,1,2,3,1.5", "with what chance it was drawn"),
        (HEAD, "t,s,none,high,2,3,.5", "line 2: 'm1' holds numbers, not 'high'"),
        (HEAD, "t,,none,1,2,3,.5", "line 2: no session"),
        ("text,session,m1", "t,s,1", "no column 'treatment'; name it: treatment=NAME"),
    ],
)
def test_a_wrong_table_is_refused_by_line(delibsim, table, head, row, said):
    found = delibsim("code", "effect", table(row, head=head))
    assert found.code == 2
    assert said in found.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--contrast", "normative"), "--contrast is two treatments"),
        (("--contrast", "normative:basic"), "basic"),
        (("human=coder",), "coder"),
    ],
)
def test_wrong_words_are_refused(delibsim, table, words, said):
    found = delibsim("code", "effect", table(*golden()), *words)
    assert found.code == 2
    assert said in found.err


def test_a_treatment_that_people_did_not_read_gives_models_alone_a_row(delibsim, table):
    rows = []
    for line in golden():
        cells = line.split(",")
        rows.append(",".join([*cells[:5], "" if cells[2] == "none" else cells[5], cells[6]]))
    people, models, corrected = delibsim("code", "effect", table(*rows), "--json").json["rows"]
    assert people["estimate"] is None
    assert people["note"] == "nothing of people under one of the treatments"
    assert corrected["estimate"] is None
    assert models["estimate"] == pytest.approx(-0.0416666667)


def test_one_treatment_alone_cannot_be_compared(delibsim, table):
    rows = [line for line in golden() if "normative" in line]
    found = delibsim("code", "effect", table(*rows))
    assert found.code == 4
    assert "one treatment alone" in found.out


def test_what_the_plan_foretells_is_the_error_of_the_draw_that_comes(delibsim, table):
    head = "text,session,treatment,m1,human,chance"
    file = table(*planted(120), head=head)
    plan = delibsim("code", "plan", file, "--error", "0.05", "--json").json
    foretold = {row["share"]: row for row in plan["rows"]}
    errors = [row["error"] for row in plan["rows"]]
    assert errors == sorted(errors, reverse=True)
    assert foretold[1.0]["twice"] < foretold[1.0]["error"]
    read = delibsim("code", "effect", file, "--json").json["rows"][2]
    now = next(row for row in plan["rows"] if row["note"])
    assert now["codes"] == read["n"]
    assert now["error"] == pytest.approx(read["se"], rel=0.1)
    assert plan["sentences"][0].startswith("normative against none, codes: an error of 0.05")


def test_a_plan_without_codes_of_people_foretells_nothing(delibsim, table):
    rows = [line.rsplit(",", 2)[0] for line in golden()]
    file = table(*rows, head="text,session,treatment,m1,m2")
    assert delibsim("code", "plan", file).code == 4
    assert delibsim("code", "plan", file, "--error", "-1").code == 2


@pytest.fixture
def pilot(delibsim):
    """A study of two treatments, coded by a citizen."""
    grid = ("topic=ccps", "treatment=normative,basic", "replicate=range(1,4)")
    small = ("group.size=2", "rounds=1", "seed=7")
    assert delibsim("run", "-m", "-q", "pilot", *grid, *small).code == 0
    assert delibsim("code", "ask", "pilot", "scheme=dqi3", "model=citizen").code == 0
    return "pilot"


def filled(folder, file, level):
    """Answer every line of a form."""
    lines = (folder / file).read_text(encoding="utf-8-sig").splitlines()
    answered = [lines[0], *(f"{line}{level(i)}" for i, line in enumerate(lines[1:]))]
    (folder / file).write_text("\n".join(answered) + "\n", encoding="utf-8")
    return file


def test_the_codes_of_a_study_have_effects_by_dimension(delibsim, home, pilot):
    handed = delibsim("code", "handout", pilot, "--n", 8, "-o", "pack", "--json")
    assert handed.code == 0
    form = filled(home, "pack/form.csv", lambda i: i % 3)
    assert delibsim("code", "collect", pilot, form).code == 0
    found = delibsim("code", "effect", pilot, "--dimension", "justification", "--json")
    assert found.code == 0
    assert [row["row"] for row in found.json["rows"]] == ["people", "models", "corrected"]
    people = found.json["rows"][0]
    assert (people["outcome"], people["a"], people["b"]) == ("justification", "normative", "basic")
    assert people["n"] == 8
    assert found.json["rows"][1]["clusters"] == 6
    assert found.json["notes"] == []
    training = ("training=true", "--n", 2, "-o", "training")
    assert delibsim("code", "handout", pilot, *training).code == 0
    again = delibsim("code", "effect", pilot, "--dimension", "justification", "--json")
    assert again.json == found.json
    plan = delibsim("code", "plan", pilot, "--error", "0.5", "--json")
    assert {row["outcome"] for row in plan.json["rows"]} >= {"justification", "groups"}
    unknown = delibsim("code", "effect", pilot, "--dimension", "justice")
    assert unknown.code == 2
    assert "justification" in unknown.err


def test_a_draw_spreads_over_sessions_and_keeps_the_chance_of_every_text(delibsim, home, pilot):
    packs = home / "runs" / pilot / "annotations" / "code-dqi3" / "packs"
    drawn = []
    for n in (8, 12):
        spread = ("draw=spread", "--n", n, "--raters", "Ann,Ben", "-o", f"pack{n}")
        assert delibsim("code", "handout", pilot, *spread).code == 0
        drawn.append(json.loads(max(packs.glob("*.json"), key=os.path.getmtime).read_text()))
    first, second = drawn
    assert set(first["texts"]) < set(second["texts"])
    for pack, n in zip(drawn, (8, 12), strict=True):
        sessions = Counter(text.rpartition("/")[0] for text in pack["texts"])
        assert max(sessions.values()) - min(sessions.values()) <= 1
        assert sum(pack["chances"].values()) == pytest.approx(n)
        assert {text: pack["chances"][text] for text in pack["texts"]} == pack["texts"]
    for n in (8, 12):
        form = filled(home, f"pack{n}/form.csv", lambda i: i % 3)
        assert delibsim("code", "collect", pilot, form).code == 0
    found = delibsim("code", "effect", pilot, "--dimension", "justification", "--json").json
    assert (found["rows"][0]["n"], found["notes"]) == (12, [])
    (gold,) = (row for row in found["gold"] if row["coefficient"].startswith("AC2"))
    assert (gold["dimension"], gold["paired"]) == ("justification", 12)
    refused = delibsim("code", "handout", pilot, "draw=spread", "training=true")
    assert refused.code == 2


def test_texts_that_could_not_be_drawn_are_not_what_is_spoken_of(delibsim, home, pilot):
    few = ("stratify=group", "--n", 4, "-o", "pack")  # of six sessions
    assert delibsim("code", "handout", pilot, *few).code == 0
    form = filled(home, "pack/form.csv", lambda i: i % 3)
    assert delibsim("code", "collect", pilot, form).code == 0
    found = delibsim("code", "effect", pilot, "--dimension", "justification", "--json")
    assert found.code == 3
    assert found.json["notes"] == [
        "justification: 4 texts that could not be drawn for people left out"
    ]


def test_a_run_that_cannot_be_read_is_left_out_and_named(delibsim, home, pilot):
    assert delibsim("code", "handout", pilot, "draw=spread", "--n", 8, "-o", "pack").code == 0
    form = filled(home, "pack/form.csv", lambda i: i % 3)
    assert delibsim("code", "collect", pilot, form).code == 0
    file = next((home / "runs" / pilot).glob("*/run.json"))
    run = json.loads(file.read_text())
    run["transcript"][0]["text"] += " And more."
    file.chmod(0o600)
    file.write_text(json.dumps(run))
    found = delibsim("code", "effect", pilot, "--dimension", "justification", "--json")
    assert found.code == 3
    assert str(file.parent.name) in found.json["notes"][-1]
    assert (found.json["rows"][1]["n"], found.json["rows"][1]["clusters"]) == (10, 5)


def test_codes_of_texts_that_people_chose_themselves_correct_nothing(delibsim, home, pilot):
    assert delibsim("code", "handout", pilot, "--n", 4, "-o", "pack").code == 0
    form = filled(home, "pack/form.csv", lambda i: 1)
    assert delibsim("code", "collect", pilot, form).code == 0
    (pack,) = (home / "runs" / pilot / "annotations" / "code-dqi3" / "packs").glob("*.json")
    pack.unlink()
    found = delibsim("code", "effect", pilot, "--dimension", "justification")
    assert found.code == 2
    assert "none was drawn with a known chance" in found.err
    assert "code handout" in found.err


def test_sides_and_models_of_debates_are_compared_by_their_columns(delibsim, home):
    debaters = "tournament.debaters=[citizen_eloquent,citizen_plain]"
    held = ("experiment=oxford", "study=ox", "tournament.motions=[voting,nuclear]", debaters)
    assert delibsim("run", "-q", "-m", *held).code == 0
    assert delibsim("code", "ask", "ox", "scheme=dqi3", "samples=1").code == 0
    words = ("code", "effect", "ox", "--dimension", "justification", "--json")
    for column, named in (("side", "proposition:opposition"), ("model", "citizen_plain")):
        other = "" if ":" in named else ":citizen_eloquent"
        answer = delibsim(*words, f"treatment={column}", "--contrast", named + other)
        assert answer.code == 0, answer.err
        rows = [row for row in answer.json["rows"] if row["row"] == "models"]
        assert [row["estimate"] is not None for row in rows] == [True], rows
