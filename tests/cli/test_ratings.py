"""`delibsim rate` and debates at the command line: asked, handed out, read back, reported; the
blinding of every page.
"""

import asyncio
import csv
import html
import io
import itertools
import json
import re
import shutil
from pathlib import Path

import pytest
from cases import cases_of
from debates import debate, hostile, scripted

from delibsim import Completion, Runs, Usage
from delibsim.analysis.debates.stance import OURS
from delibsim.conduct.hold import hold_all
from delibsim.models.pool import ModelPool

CASES = cases_of(__file__)
PACKS = "annotations/rating-people/packs"
PANEL = Path("annotations/rating-panel")
ONE = (
    "format=debate",
    "motion=voting",
    "proposition=citizen_eloquent",
    "opposition=citizen_halting",
    "study=d",
)
LEAKS = re.compile(
    r"proposition|opposition|claude|gpt|openai|anthropic|gemini|citizen|as an ai|training"
    r" data|eloquent|halting|oxford",
    re.IGNORECASE,
)


@pytest.fixture
def held(delibsim):
    """A study `d` with one debate."""
    assert delibsim("run", "-q", *ONE).code == 0
    return "runs/d/voting.oxford.citizen_eloquent-v-citizen_halting.r1"


@pytest.fixture(scope="session")
def tournament(tmp_path_factory):
    """A folder with a study `oxford`: three citizens, two motions, six debates rated by four
    raters.
    """
    from delibsim.asking.kinds.rating import plan_ratings
    from delibsim.conduct.ask import ask
    from delibsim.planning.compose import plan

    folder = tmp_path_factory.mktemp("tournament")
    names = "tournament.debaters=[citizen_eloquent,citizen_plain,citizen_halting]"
    planned = plan(
        ["experiment=oxford", names, "tournament.motions=[voting,nuclear]"], folder, sweep=True
    )
    runs = Runs(planned.root, planned.study)
    runs.settle(planned.manifest)
    asyncio.run(hold_all(planned.sessions, runs))
    asyncio.run(ask(plan_ratings(runs, ["group.size=4"])))
    return folder


@pytest.fixture
def oxford(home, tournament):
    """That study in the user's folder."""
    shutil.copytree(tournament / "runs", home / "runs")
    return "oxford"


def test_a_speech_that_was_cut_says_so(delibsim):
    rules = [f"procedure.rules.{rule}" for rule in ("then=cut", "least=10", "most=40", "reasks=0")]
    done = delibsim("run", "-q", "format=debate", "motion=voting", *rules)
    assert re.search(
        r"^Proposition, opening \(\d+ words, cut because it was too long\)$", done.out, re.MULTILINE
    )
    speeches = delibsim("run", "-q", "format=debate", "motion=voting", *rules, "--json").json[
        "speeches"
    ]
    assert [speech["cut"] for speech in speeches] == [True] * 6
    assert all(speech["words"] <= 40 for speech in speeches)


def test_speeches_that_were_cut_are_counted(delibsim):
    rules = ("procedure.rules.least=1", "procedure.rules.most=60")
    for then, told in (("cut", True), ("accept", False)):
        delibsim("run", "-q", *ONE[:-1], f"study={then}", *rules, f"procedure.rules.then={then}")
        assert (
            "speeches cut at the end of a sentence: 6 (turn 1, 2, 3, 4, 5, 6)"
            in delibsim("show", then).out
        ) == told


def test_a_tournament_is_held_balanced_and_enlarged_without_holding_anything_twice(delibsim):
    two = (
        "run",
        "-q",
        "-m",
        "experiment=oxford",
        "tournament.debaters=[citizen,citizen_plain]",
        "tournament.motions=[voting,nuclear]",
    )
    assert delibsim(*two).code == 0
    again = delibsim(*two, "--json")
    assert again.code == 0
    names = [
        path.parent.name
        for path in sorted(__import__("pathlib").Path("runs/oxford").glob("*/run.json"))
    ]
    assert len(names) == 2
    assert {name.split(".")[0] for name in names} == {"voting", "nuclear"}
    assert len({name.split(".")[2] for name in names}) == 2  # each has proposed once
    against = delibsim(
        "run",
        "-q",
        "-m",
        "experiment=oxford",
        "study=b",
        "tournament.design=against_baseline",
        "tournament.baseline=citizen",
        "tournament.debaters=[citizen_plain,citizen_halting]",
        "tournament.motions=[voting,nuclear]",
    )
    assert against.code == 0
    assert len(list(__import__("pathlib").Path("runs/b").glob("*/run.json"))) == 4


def test_a_tournament_that_is_enlarged_out_of_balance_is_warned_of(delibsim):
    base = ("run", "-q", "-m", "experiment=oxford", "tournament.debaters=[citizen,citizen_plain]")
    assert "warning" not in delibsim(*base, "tournament.motions=[voting,nuclear]").err
    assert "balanced" not in delibsim(*base, "tournament.motions=[voting,nuclear]").err
    even = delibsim(*base, "tournament.motions=[plastics,remote_work]")
    assert (even.code, "balanced" in even.err) == (0, False)
    third = (
        *base[:4],
        "tournament.debaters=[citizen,citizen_halting]",
        "tournament.motions=[voting,nuclear]",
    )
    more = delibsim(*third)
    assert more.code == 0
    assert (
        "not balanced: debates by motion: nuclear 2, plastics 1, remote_work 1, voting 2"
        in more.err
    )


def test_an_estimate_of_raters_asks_nobody_and_is_right_about_the_calls(delibsim, held):
    told = json.loads(delibsim("rate", "ask", "d", "group.size=3", "--estimate", "--json").out)
    assert told["ratings"] == {"planned": 3, "held": 0, "waiting": 3}
    report = delibsim("rate", "report", "d")
    assert report.code == 4
    assert report.err.startswith("study d: 1 debate, no ratings\n")
    assert "delibsim rate ask d" in report.err
    unrated = delibsim("rate", "report", "d", "--json").json
    assert unrated["not_given"]["standings"]["reason"] == "no_rating"
    assert "no ratings of those asked for" in delibsim("rate", "report", "d", "source=people").err
    asked = json.loads(delibsim("rate", "ask", "d", "group.size=2", "--json").out)
    assert (asked["calls"], told["total"]["calls"]) == (4, 6)
    left = delibsim(
        "rate", "ask", "d", "group.size=3", "model=gpt_5_1", "--estimate", "panel=other"
    )
    assert left.code == 0
    assert "3 ratings, 0 there already, 3 to be asked for" in left.out
    assert re.search(r"gpt_5_1 +3 +6 .* 0\.0\d - 0\.\d\d$", left.out, re.MULTILINE)
    assert "statements of" not in left.out
    done = delibsim("rate", "ask", "d", "group.size=2", "--estimate")
    assert (done.code, done.out) == (
        0,
        "study d: 2 ratings, 2 there already, 0 to be asked for\n"
        "Nothing is left to be asked: 0 calls, 0 tokens, 0 USD\n",
    )


def test_an_edited_debate_is_told_by_the_report(delibsim, held, home):
    assert delibsim("rate", "ask", "d", "group.size=2").code == 0
    file = home / "runs" / "d" / "voting.oxford.citizen_eloquent-v-citizen_halting.r1" / "run.json"
    plain = json.loads(file.read_text())
    plain["transcript"][2]["text"] = "Something else was said. " * 30
    file.write_text(json.dumps(plain))
    (file.parent / "SHA256SUMS").unlink()
    told = delibsim("rate", "report", "d")
    assert (told.code, "warning: voting.oxford" in told.out) == (3, True)


def test_a_report_says_whose_ratings_it_pools_and_takes_those_asked_for(delibsim, held, home):
    delibsim("rate", "ask", "d", "group.size=2")
    delibsim("rate", "ask", "d", "group.size=3", "panel=other")
    delibsim("rate", "handout", "d", "--raters", "1", "-o", "pack")
    fill(home / "pack" / "form.csv")
    delibsim("rate", "collect", "d", "pack/form.csv")

    def ratings(*options):
        found = delibsim("rate", "report", "d", "--json", *options)
        assert (
            sum(of["ratings"] for of in found.json["pooled"].values())
            == found.json["tables"]["counts"][0]["ratings"]
        )
        return {name: (of["source"], of["ratings"]) for name, of in found.json["pooled"].items()}

    everybody = ratings()
    (pack,) = set(everybody) - {"panel", "other"}
    assert everybody == {"panel": ("models", 2), "other": ("models", 3), pack: ("people", 1)}
    assert set(ratings("panel=other")) == {"other"}
    assert set(ratings("panel=other", f"panel={pack}")) == {"other", pack}
    assert set(ratings("source=people")) == {pack}
    assert set(ratings("source=models")) == {"panel", "other"}
    told = delibsim("rate", "report", "d", "source=models")
    whose = "other (models, 3, wording oxford), panel (models, 2, wording oxford)"
    assert f"Ratings of {whose}, pooled" in told.out
    assert "warning" not in told.out
    wrong = delibsim("rate", "report", "d", "panel=othr")
    assert (wrong.code, "did you mean other" in wrong.err) == (2, True)


def test_a_report_warns_where_raters_read_different_wordings(delibsim, held, home):
    delibsim("rate", "ask", "d", "group.size=2")
    ours = ("rate", "handout", "d", "--raters", "1", "-o", "pack")
    delibsim(*ours, "wording=oxford_evaluative")
    fill(home / "pack" / "form.csv")
    delibsim("rate", "collect", "d", "pack/form.csv")
    (file,) = (home / "runs" / "d" / PACKS).glob("*.json")
    pack = file.stem
    found = delibsim("rate", "report", "d", "--json", "-o", "report", "--figures", "none")
    read = {name: share["wording"] for name, share in found.json["pooled"].items()}
    assert read == {"panel": "oxford", pack: "oxford_evaluative"}
    (warning,) = found.json["warnings"]
    assert f"oxford_evaluative: {pack}" in warning
    assert "panel=NAME" in warning
    assert f"warning: {warning}" in found.err
    with (home / "report" / "tables" / "ratings.csv").open(newline="") as table:
        rows = list(csv.DictReader(table))
    assert [row["wording"] for row in rows] == ["oxford", "oxford", "oxford_evaluative"]
    told = delibsim("rate", "report", "d").out
    assert f"{pack} (people, 1, wording oxford_evaluative)" in told
    assert f"warning: {warning}" in told
    assert delibsim("rate", "report", "d", "--json", f"panel={pack}").json["warnings"] == []


def test_wordings_of_one_name_that_say_other_things_are_told_apart(delibsim, held, home):
    delibsim("rate", "ask", "d", "group.size=2")
    ours = Path(__file__).parents[2] / "conf" / "wording" / "oxford.yaml"
    own = home / "conf" / "wording" / "oxford.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(ours.read_text().replace("0 (not at all)", "0 (never)"))
    delibsim("rate", "ask", "d", "group.size=2", "panel=own")
    found = delibsim("rate", "report", "d", "--json").json
    read = [share["wording"] for share in found["pooled"].values()]
    assert all(re.fullmatch(r"oxford \([0-9a-f]{8}\)", wording) for wording in read)
    assert len(set(read)) == 2
    assert "different wordings" in found["warnings"][0]


def test_a_report_warns_of_conditions_that_differ_and_of_those_that_do_not(delibsim, home):
    debates = ("run", "-q", "-m", *ONE)
    varied = ("wording=oxford,oxford_evaluative", "procedure.rules.fairness=false,true")
    assert delibsim(*debates, *varied).code == 0
    delibsim("rate", "ask", "d", "group.size=2")
    found = delibsim("rate", "report", "d", "--json", "-o", "report", "--figures", "none")
    assert found.code == 0
    assert found.json["differing"] == {
        "wording": ["oxford", "oxford_evaluative"],
        "procedure.rules.fairness": ["False", "True"],
    }
    differ, same = found.json["warnings"]
    assert "wording (oxford, oxford_evaluative); procedure.rules.fairness (False, True)" in differ
    assert len(found.json["same_conditions"]) == 2
    assert same.startswith("2 of 4 conditions are the same as another by construction")
    assert "their 2 debates are counted as if they were independent" in same
    with (home / "report" / "tables" / "ratings.csv").open(newline="") as table:
        cells = {row["debate"]: row["cell"] for row in csv.DictReader(table)}
    assert all(debate == f"{cell}.r1" for debate, cell in cells.items())
    assert len(set(cells.values())) == 4
    told = delibsim("rate", "report", "d").out
    assert "warning: debates held under different conditions" in told


def test_a_report_compares_one_debater_with_the_rest(delibsim, oxford):
    done = delibsim("rate", "report", oxford, "focus=citizen_plain", "--json")
    assert done.code == 0
    contrasts = {row["contrast"] for row in done.json["tables"]["winner_model"]}
    assert contrasts == {"proposition - opposition", "citizen_plain - rest"}
    debaters = {row["debaters"] for row in done.json["tables"]["dimension_reliability"]}
    assert debaters == {"all", "citizen_plain", "rest"}
    text = delibsim("rate", "report", oxford, "focus=citizen_plain")
    assert "citizen_plain - rest" in text.out
    assert "Bradley-Terry strengths" in text.out
    wrong = delibsim("rate", "report", oxford, "focus=citizen_plane")
    assert (wrong.code, "did you mean citizen_plain" in wrong.err) == (2, True)


def test_a_report_joins_covariates_and_counts_those_not_given(delibsim, oxford, home):
    rows = ["id,expertise,gender", "panel 1,1,woman", "panel 2,5,man", "panel 3,4,woman"]
    (home / "people.csv").write_text("\n".join(rows))
    words = ("rate", "report", oxford, "focus=citizen_plain", "people=people.csv")
    found = delibsim(*words, "--json").json["tables"]
    counts = {(row["role"], row["covariate"]): row for row in found["covariates"]}
    assert (counts["rater", "expertise"]["given"], counts["rater", "expertise"]["missing"]) == (
        3,
        1,
    )
    assert counts["rater", "age"]["note"] == "not_given"
    own = [row for row in found["rater_models"] if row["model"] == OURS]
    assert "is_citizen_plain:rater_expertise" in {row["term"] for row in own}
    assert {row["n"] for row in own} == {2 * 6 * 3}
    (home / "people.csv").write_text("\n".join([*rows, "panel 9,1,man", "panel 1,1,man"]))
    wrong = delibsim(*words)
    assert wrong.code == 2
    assert "people.csv, line 5: unknown id 'panel 9'" in wrong.err.replace("\n", " ")
    assert "people.csv, line 6: id 'panel 1' occurs more than once" in wrong.err.replace("\n", " ")


def fill(form, change=lambda row: None):
    """A form with every cell filled in, and what `change` does to each row."""
    rows = list(csv.DictReader(io.StringIO(form.read_text())))
    for row in rows:
        said = {"winner": "A", "check": "5"}  # nobody is told so small a number
        row["answer"] = said.get(row["question"], "60")
        change(row)
    with form.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return rows


def test_a_pack_goes_out_blind(delibsim, oxford, home):
    assert delibsim("rate", "handout", oxford, "--raters", "2", "-o", "pack").code == 0
    assert sorted(p.name for p in (home / "pack").iterdir()) == [
        "form.csv",
        "rater-1.html",
        "rater-2.html",
    ]
    (key,) = (home / "runs" / oxford / PACKS).glob("*.json")
    key = json.loads(key.read_text())["sheets"]
    pages = {p.name: p.read_text() for p in (home / "pack").iterdir()}
    for name, page in pages.items():
        leak = LEAKS.search(page)
        assert leak is None, f"{name}: {page[max(leak.start() - 60, 0) : leak.end() + 60]}"
    assert pages["rater-1.html"].count("(continued)") == 6
    order = [
        re.findall(r"<h2>Sheet <span class=code>(\w+)</span> \(continued", pages[f"rater-{k}.html"])
        for k in (1, 2)
    ]
    assert [key[code]["debate"] for code in order[0]] != [key[code]["debate"] for code in order[1]]
    assert [entry["first"] for entry in key.values()].count("proposition") == 6


def test_what_a_person_left_out_is_missing_with_that_reason(delibsim, oxford, home):
    delibsim("rate", "handout", oxford, "--raters", "1", "-o", "pack")
    form = home / "pack" / "form.csv"
    rows = csv.DictReader(io.StringIO(form.read_text()))
    sheets = list(dict.fromkeys(row["sheet"] for row in rows))

    def change(row):
        left = row["question"] in ("winner", "a_logic", "check")
        if (row["sheet"] == sheets[0] and left) or row["sheet"] == sheets[1]:
            row["answer"] = ""

    fill(form, change)
    done = delibsim("rate", "collect", oxford, form)
    assert done.code == 3
    assert "5 ratings kept, 0 known before, 29 cells left empty" in done.out
    assert "1 with something missing" in done.out
    files = [home / "runs/oxford" / PANEL / "annotations.jsonl"]
    files.append((home / "runs/oxford" / PACKS).parent / "people.jsonl")
    lines = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    (partial,) = [line for line in lines if line["missing"]]
    assert set(partial["missing"].values()) == {"not_given"}
    assert not {"winner", "attentive"} & partial.keys()
    assert {line.get("attentive") for line in lines if line.get("source") != "model"} == {
        None,
        False,
    }
    found = delibsim("rate", "report", oxford, "--json").json
    assert sum(row["without_winner"] for row in found["tables"]["counts"]) == 1
    assert sum(row["failed_attention"] for row in found["tables"]["counts"]) == 4


def test_what_people_read_is_kept_with_their_pack(delibsim, oxford, home):
    kept = {}
    for name in ("oxford", "oxford_evaluative"):
        out = ("--raters", "1", "-o", name, f"wording={name}")
        assert delibsim("rate", "handout", oxford, *out).code == 0
        (file,) = set((home / "runs" / oxford / PACKS).glob("*.json")) - set(kept)
        kept[file] = json.loads(file.read_text())["wording"]
        assert kept[file]["id"] == name
        page = html.unescape((home / name / "rater-1.html").read_text())
        assert kept[file]["texts"]["rater_setting"] in page
    assert len({wording["texts"]["rater_ballot"] for wording in kept.values()}) == 2


def test_a_debate_that_broke_off_is_reported_and_not_rated(delibsim, home):
    session = debate(home)
    runs = Runs(home / "runs", "b")
    from delibsim.planning.compose import plan

    runs.settle(plan(["format=debate", "motion=voting", "study=b"], home).manifest)

    refusal = Completion("", "refusal", "no", Usage(cost_usd=0.0), "citizen")
    models = scripted(session, {("Opposition", "turn 4"): refusal})
    asyncio.run(hold_all([session], runs, pool=ModelPool(models=models)))
    asked = delibsim("rate", "ask", "b", "--json")
    assert (asked.code, asked.json["incomplete"], asked.json["calls"]) == (4, 1, 0)
    found = delibsim("rate", "report", "b", "--json")
    assert found.code == 4
    assert found.json["tables"]["counts"] == [{"motion": "voting", "held": 1, "complete": 0, "rated": 0, "ratings": 0, "without_winner": 0,
                                     "failed_attention": 0, "analysed": 0}]  # fmt: skip
    done = delibsim("rate", "handout", "b")
    assert (done.code, "no complete debate" in done.err) == (2, True)


def test_pages_of_a_hostile_debate_give_nobody_away(delibsim, home):
    session = debate(home)
    runs = Runs(home / "runs", "b")
    from delibsim.planning.compose import plan

    runs.settle(plan(["format=debate", "motion=voting", "study=b"], home).manifest)

    turns = itertools.product(("Proposition", "Opposition"), range(1, 7))
    script = {(side, f"turn {turn}"): hostile for side, turn in turns}
    models = scripted(session, script)
    asyncio.run(hold_all([session], runs, pool=ModelPool(models=models)))
    assert delibsim("rate", "handout", "b", "--raters", "2", "-o", "pack").code == 0
    for path in (home / "pack").iterdir():
        text = path.read_text()
        leak = LEAKS.search(text)
        assert leak is None, f"{path.name}: {text[max(leak.start() - 60, 0) : leak.end() + 60]}"
        assert "</transcript>" not in text  # a page escapes what a speech holds of markup


def test_a_budget_counts_what_raters_have_cost(delibsim, held, home):
    from delibsim.conduct.cost import spent

    before = spent(Runs.open(home / "runs", "d"))
    delibsim("rate", "ask", "d", "group.size=2")
    log = home / "runs" / "d" / PANEL / "exchanges.jsonl"
    records = [json.loads(line) for line in log.read_text().splitlines()]
    for record in records:
        record["completion"]["usage"] = {"input_tokens": 100, "output_tokens": 10, "cost_usd": 0.5}
    log.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    after = spent(Runs.open(home / "runs", "d"))
    assert (after[0] - before[0], after[1] - before[1]) == (2.0, 440)


def panel_kept(home, name="panel"):
    return json.loads((home / "runs/oxford/annotations" / f"rating-{name}/task.json").read_text())


def given(home):
    """The debates that every rater of `own` has rated, with who was shown first."""
    found = {}
    path = home / "runs/oxford/annotations/rating-own/annotations.jsonl"
    for line in map(json.loads, path.read_text().splitlines()):
        found.setdefault(line["rater"], set()).add((line["session"], line["first"]))
    return found


def test_each_rater_rates_so_many_debates_and_the_allocation_is_kept(delibsim, oxford, home, files):
    ask = ("rate", "ask", oxford, "each=2", "panel=own")
    told = delibsim(*ask, "group.size=3", "--estimate", "--json").json
    assert told["ratings"] == {"planned": 6, "held": 0, "waiting": 6}
    assert told["total"]["calls"] == 12
    first = delibsim(*ask, "group.size=3")
    assert first.code == 0
    assert (
        "6 debates, 3 raters, 2 debates each, 1 rater a debate: 6 ratings now, 0 before"
        in first.out
    )
    kept = panel_kept(home, "own")
    assert kept["each"] == 2
    planned = {
        rater: {(one["debate"], one["first"]) for one in own}
        for rater, own in kept["allocation"].items()
    }
    assert given(home) == planned
    before = files()
    again = delibsim(*ask, "group.size=3", "--json").json
    assert (again["new"], again["before"], again["calls"], again["planned"]) == (0, 6, 0, 6)
    assert files() == before
    more = delibsim(*ask, "group.size=6", "--json").json
    assert (more["new"], more["before"]) == (6, 6)
    assert (more["fewest_raters"], more["most_raters"], more["unallocated"]) == (2, 2, 0)
    enlarged = panel_kept(home, "own")["allocation"]
    assert {rater: enlarged[rater] for rater in kept["allocation"]} == kept["allocation"]
    assert len(enlarged) == 6
    fewer = delibsim(*ask, "group.size=3", "--json").json
    assert (fewer["new"], fewer["before"]) == (0, 6)
    counts = delibsim("rate", "report", oxford, "--json").json["tables"]["counts"]
    found = {
        (row["complete"], row["rated"], row["ratings"], row["without_winner"]) for row in counts
    }
    assert found == {(3, 3, 3 * 4 + 6, 0)}  # what was allocated to nobody is not missing


@pytest.mark.parametrize(
    ("options", "message"),
    CASES["an_allocation_that_cannot_be_is_wrong_input"],
)
def test_an_allocation_that_cannot_be_is_wrong_input(
    delibsim, oxford, home, files, options, message
):
    delibsim("rate", "ask", oxford, "group.size=2", "each=2", "panel=own")
    named = [] if any(one.startswith("panel=") for one in options) else ["panel=new"]
    before = files()
    for more in ([], ["--estimate"]):
        done = delibsim("rate", "ask", oxford, "group.size=2", *options, *named, *more)
        assert (done.code, message in done.err) == (2, True)
    assert files() == before


def test_debates_held_later_go_to_raters_who_join(delibsim, oxford, home):
    ask = ("rate", "ask", oxford, "each=2", "panel=own")
    delibsim(*ask, "group.size=3")
    names = "tournament.debaters=[citizen_eloquent,citizen_plain]"
    motions = "tournament.motions=[plastics,four_day_week]"
    assert delibsim("run", "-q", "-m", "experiment=oxford", names, motions).code == 0
    same = delibsim(*ask, "group.size=3")
    assert "0 ratings now, 6 before" in same.out
    assert "allocated to nobody yet: 2 debates" in same.out
    more = delibsim(*ask, "group.size=4", "--json").json
    assert (more["new"], more["unallocated"]) == (2, 0)
    (joined,) = [own for rater, own in given(home).items() if rater == "own 4"]
    assert {debate.partition(".")[0] for debate, _ in joined} == {"plastics", "four_day_week"}


def test_people_rate_so_many_debates_each_in_the_wording_that_is_named(delibsim, oxford, home):
    export = ("rate", "handout", oxford, "--raters", "6", "--n", "2")
    assert delibsim(*export, "-o", "pack").code == 0
    (file,) = (home / "runs" / oxford / PACKS).glob("*.json")
    key = list(json.loads(file.read_text())["sheets"].values())
    for name, n in (("debate", 6), ("rater", 6)):
        counts = [
            sum(sheet[name] == one for sheet in key) for one in {sheet[name] for sheet in key}
        ]
        assert counts == [2] * n
    for name in {sheet["debate"] for sheet in key}:
        assert {sheet["first"] for sheet in key if sheet["debate"] == name} == {
            "proposition",
            "opposition",
        }
    page = (home / "pack" / "rater-1.html").read_text()
    assert page.count("(continued)") == 2
    assert "not at all" in page
    assert delibsim(*export, "-o", "other", "wording=oxford_evaluative").code == 0
    assert "could not be better" in (home / "other" / "rater-1.html").read_text()
    refused = delibsim(*export, "-o", "third", "wording=default")
    assert (refused.code, "lacks the text 'rater_setting'" in refused.err) == (2, True)
    assert delibsim("rate", "handout", oxford, "--n", "9", "-o", "fourth").code == 2
    assert not (home / "fourth").exists()
