"""Personas imported and listed, persona=human:TOPIC, group.diversity and mixed groups, as a user types
them.
"""

import asyncio
import csv
import json
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import warm
from cases import cases_of
from fake_provider import FakeProvider, Rule

from delibsim import Diversity, hold, models_for
from delibsim.analysis.human.reference import reference
from delibsim.domain.errors import WrongInput
from delibsim.planning.compose import plan

CASES = cases_of(__file__)
PUBLISHED = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "dri"
needs_published = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason=f"the published files are not at {PUBLISHED}"
)

WORDS = (
    "Quiet streets matter to families.",
    "Schools need money more urgently.",
    "Buses reach new quarters sooner.",
    "Rails last for ages.",
)
SURVEY = "id: trams\nscale_max: 7\nconsiderations:\n" + "".join(
    f"  - {{id: C{k}, text: {w}}}\n" for k, w in enumerate(WORDS, 1)
)
SURVEY += (
    "preferences:\n  - {id: P1, text: Build the tram line.}\n  - {id: P2, text: Buy electric"
    " buses.}\n  - {id: P3, text: Wait and see.}\n"
)


@pytest.fixture
def trams(home, delibsim):
    """A folder with a topic of the user's own and the imported answers of twenty people in two
    camps; their rows before.
    """
    for folder in ("surveys", "topics"):
        (home / folder).mkdir()
    (home / "surveys" / "trams.yaml").write_text(SURVEY)
    (home / "topics" / "trams.yaml").write_text(
        "id: trams\nquestion: Should we build a tram line?\nsurvey: trams\n"
    )
    rng = np.random.default_rng(5)
    camps = [np.array([6, 2, 2, 6]), np.array([2, 6, 5, 2])]
    before = [
        np.clip(camps[k % 3 == 0] + rng.integers(-1, 2, 4), 1, 7).tolist()
        + (rng.permutation(3) + 1).tolist()
        for k in range(20)
    ]
    with (home / "mine.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["participant", "stage", "C1", "C2", "C3", "C4", "P1", "P2", "P3"])
        writer.writerows(
            [f"p{k}", stage, *row] for stage in ("pre", "post") for k, row in enumerate(before)
        )
    assert delibsim("import", "mine.csv", "survey=trams", "--as", "answers").code == 0
    return before


def planned(home, *overrides):
    topic = [] if any(one.startswith("topic=") for one in overrides) else ["topic=trams"]
    return plan([*topic, *overrides], home)


def sessions_of(home, replicates, *overrides):
    """The sessions of these replicates, planned at once, which is much faster than one by one."""
    sweep = f"replicate={','.join(map(str, replicates))}"
    found = plan(["study=s", *overrides, sweep], home, sweep=True).sessions
    assert [session.replicate for session in found] == list(replicates)
    return found


def built(home, name):
    import yaml

    return yaml.safe_load((home / "conf" / "persona" / f"{name}.yaml").read_text(encoding="utf-8"))


def test_personas_are_built_offline_kept_with_all_they_come_from_and_seated(delibsim, home, trams):
    answer = delibsim("import", "trams", "k=2", "--as", "personas")
    assert (answer.code, answer.err) == (0, "")
    assert "written: conf/persona/trams_2.yaml; use them with persona=trams_2" in answer.out
    assert "Manipulation check: mean correlation" in answer.out
    plain = built(home, "trams_2")
    assert sorted(plain["sizes"]) == [7, 13]
    own = plain["built"]
    assert set(zip(own["labels"], [k % 3 == 0 for k in range(20)], strict=True)) == {
        (1, False),
        (2, True),
    }
    assert own["participants"] == [f"p{k}" for k in range(20)]
    assert (own["writer"], own["reader"], own["seed"], own["items"]) == (
        "template",
        "citizen",
        0,
        "considerations",
    )
    assert len(own["centroids"]) == len(own["check"]) == 2
    assert own["versions"]["scikit-learn"]
    assert "unchanged" in delibsim("import", "trams", "k=2", "--as", "personas").out
    assert delibsim("list", "personas", "trams_2", "--json").json["built"] == own
    shown = delibsim("list", "personas", "trams_2", "-o", "page")
    assert (shown.code, shown.err) == (0, "")
    assert "written: page/report.html" in shown.out
    with (home / "page" / "tables" / "clusters.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["cluster"], row["people"]) for row in rows] == [("1", "13"), ("2", "7")]
    assert [float(row["r"]) for row in rows] == [check["r"] for check in own["check"]]
    page = (home / "page" / "report.html").read_text(encoding="utf-8")
    assert all(word in page for word in (plain["personas"][0][:25], "Manipulation check", "rho"))
    people = [
        [person.persona for person in session.participants]
        for session in sessions_of(home, range(1, 9), "topic=trams", "persona=trams_2")
    ]
    assert all(
        sorted(group.count(text) for text in plain["personas"]) == [2, 3] for group in people
    )
    assert len({tuple(group) for group in people}) > 3
    assert delibsim("run", "-q", "topic=trams", "persona=trams_2", "study=s").code == 0
    parts = json.loads((home / "runs/s/study.json").read_text())["parts"]
    assert parts["personas"]["trams_2"]["built"]["answers_sha256"] == own["answers_sha256"]
    (drawn,) = parts["groups"].values()
    assert sorted(set(drawn["personas"])) == [1, 2]


def test_a_persona_of_the_template_is_no_leak_when_its_holder_quotes_the_survey(
    delibsim, home, trams
):
    assert delibsim("import", "trams", "k=2", "--as", "personas").code == 0
    answer = delibsim("run", "-q", "topic=trams", "persona=trams_2", "--json")
    assert "persona_leak" not in answer.json["flags"]


def readings(home, name):
    """What the reader of a set was asked, by cluster."""
    lines = (home / "conf" / "persona" / f"{name}.exchanges.jsonl").read_text().splitlines()
    exchanges = [json.loads(line) for line in lines]
    asked = [own for own in exchanges if own["purpose"]["occasion"] == "reading"]
    return {own["purpose"]["participant"]: own["messages"] for own in asked}


def test_what_the_reader_is_asked_depends_on_no_treatment_and_no_study(delibsim, home, trams):
    others = ("treatment=normative_b", "study=elsewhere", "seed=9", "replicate=4", "rounds=5")
    assert delibsim("import", "trams", "k=2", "name=plain", "--as", "personas").code == 0
    assert delibsim("import", "trams", "k=2", "name=else", *others, "--as", "personas").code == 0
    assert readings(home, "plain") == readings(home, "else")
    assert len(readings(home, "plain")) == 2


async def test_a_writer_that_fails_leaves_no_personas_and_a_record_to_go_on_from(home, trams):
    async with FakeProvider(
        [
            Rule(match="Write a portrait", times=1, text="You care."),
            Rule(match="Write a portrait", message={"refusal": "no"}),
        ]
    ) as provider:
        words = "import trams --as personas k=2 writer=local".split()
        answer = await command(home, *words, f"base_url={provider.base_url}")
    assert answer.code == 4
    assert "local wrote no profile of cluster" in answer.err
    assert "refusal: no" in answer.err
    assert not list((home / "conf" / "persona").glob("*.yaml"))
    assert len((home / "conf/persona/trams_2.exchanges.jsonl").read_text().splitlines()) == 2


async def command(home, *words):
    """A process of its own, so that it can wait for a server of this one."""
    code, out, err = await asyncio.to_thread(warm.run, words, home, os.environ)
    return SimpleNamespace(code=code, out=out, err=err)


@pytest.mark.parametrize(
    ("words", "fault"),
    CASES["what_cannot_be_built_is_said_and_nothing_is_written"],
)
def test_what_cannot_be_built_is_said_and_nothing_is_written(delibsim, home, trams, words, fault):
    answer = delibsim("import", "trams", *words, "--as", "personas")
    assert answer.code == 2
    assert fault in answer.err
    assert not (home / "conf" / "persona" / "trams_5.yaml").exists()


def test_personas_of_ones_own_are_imported_shown_and_seated(delibsim, home):
    (home / "mine.csv").write_text("persona\nYou drive a bus.\nYou own a shop.\n")
    assert (
        "2 personas in conf/persona/mine.yaml; use them with persona=mine"
        in delibsim("import", "mine.csv", "--as", "personas").out
    )
    assert "2  You own a shop." in delibsim("list", "personas", "mine").out
    refused = delibsim("list", "personas", "mine", "-o", "page")
    assert refused.code == 2
    assert "not built from answers" in refused.err
    assert not (home / "page").exists()
    people = plan(["persona=mine", "group.size=4"], home).session.participants
    assert sorted(p.persona for p in people) == ["You drive a bus."] * 2 + ["You own a shop."] * 2


# real people's answers as starting values


def test_an_offline_group_starts_exactly_where_real_people_started_and_replicates_are_disjoint(
    delibsim, home, trams
):
    answers = {tuple(row) for row in trams}
    seated = []
    for replicate in range(1, 5):
        asked = "topic=trams persona=human:trams treatment=none study=s".split()
        told = delibsim("run", "-q", *asked, f"replicate={replicate}", "--json")
        session = told.json["session"]
        run = json.loads((home / "runs" / "s" / session / "run.json").read_text())
        items = [item["id"] for item in run["session"]["survey"]["items"]]
        rows = [
            tuple(r["answers"][item] for item in items)
            for r in run["responses"]
            if r["phase"] == "pre"
        ]
        assert set(rows) <= answers
        drawn = json.loads((home / "runs/s/study.json").read_text())["parts"]["groups"][session][
            "personas"
        ]
        assert rows == [tuple(trams[int(name[1:])]) for name in drawn]
        seated += drawn
    assert sorted(seated) == sorted(f"p{k}" for k in range(20)), (
        "four groups of five are everybody, once"
    )


def test_people_of_another_instrument_are_refused_with_the_items_that_differ(home, trams):
    (home / "surveys" / "trams2.yaml").write_text(
        SURVEY.replace("id: trams", "id: trams2").replace("Buses reach", "Trams reach")
        + "scale_min: 0\n"
    )
    with pytest.raises(
        WrongInput,
        match=(
            r"another instrument \(trams\) than this session's survey \(trams2\). Items that"
            r" differ: C3; the scale is 1 to 7, and not 0"
        ),
    ):
        planned(home, "survey=trams2", "persona=human:trams")
    for overrides, fault in (
        (["persona=human"], "persona=human needs the topic whose participants are meant"),
        (["persona=human:"], "persona=human: needs the topic whose participants are meant"),
        (
            ["topic=ccps", "persona=human:trams"],
            r"the people of 'trams' answered another instrument .*\. Give topic=trams$",
        ),
        (["persona=human:tram"], "unknown topic 'tram'; did you mean trams"),
        (["persona=human:trams", "group.size=21"], "20 people for a group of 21"),
        (["topic=ccps", "persona=human:ccps"], "there are no answers of people to survey 'ccps'"),
    ):
        with pytest.raises(WrongInput, match=fault):
            planned(home, *overrides)


def test_answers_of_ones_own_to_the_sessions_survey_come_before_published_ones_to_another(
    home, trams
):
    (home / "surveys" / "imported" / "deliberr").mkdir(parents=True)
    published = SURVEY.replace("id: trams", "id: deliberr.trams").replace(
        "Buses reach", "Trams reach"
    )
    (home / "surveys" / "imported" / "deliberr" / "trams.yaml").write_text(published)
    assert planned(home, "persona=human:trams").session.survey.id == "trams"
    with pytest.raises(
        WrongInput, match="there are no answers of people to survey 'deliberr.trams'"
    ):
        planned(home, "persona=human:trams", "survey=deliberr.trams")
    (home / "answers" / "trams.csv").unlink()
    with pytest.raises(
        WrongInput,
        match=(
            r"answered another instrument \(deliberr.trams\).*Items that differ: C3. Give"
            r" survey=deliberr.trams"
        ),
    ):
        planned(home, "persona=human:trams")


# groups of a wanted diversity


def test_a_group_of_wanted_diversity_has_it_in_its_first_survey_and_in_the_record(
    delibsim, home, trams
):
    reached = {}
    for wanted in ("low", "matched", "high"):
        settings = "topic=trams", "persona=human:trams", f"group.diversity={wanted}"
        answer = delibsim("run", "-q", *settings, f"study={wanted}", "--json")
        assert answer.code == 0
        own = answer.json["group"]["diversity"]
        assert own["wanted"] == wanted
        assert answer.json["measures"]["diversity"]["pre"] == pytest.approx(
            own["reached"], abs=1e-6
        )
        kept = json.loads((home / f"runs/{wanted}/study.json").read_text())["parts"]
        assert kept["groups"][answer.json["session"]]["diversity"] == own
        assert f"diversity-{wanted}" in answer.json["session"]
        reached[wanted] = own["reached"]
    assert reached["low"] < reached["matched"] < reached["high"]
    rows = np.array(trams, dtype=float)
    everybody = np.mean([np.linalg.norm(a - b) for i, a in enumerate(rows) for b in rows[:i]])
    assert own["people"] == pytest.approx(everybody, abs=1e-5)
    assert reached["matched"] == pytest.approx(everybody, abs=0.05)
    assert (
        "to be high"
        in delibsim(
            "run", "-q", "topic=trams", "persona=human:trams", "group.diversity=high", "study=high"
        ).out
    )


def test_diversity_needs_personas_that_come_from_people(delibsim, home, trams):
    for persona in ("none", "values"):
        with pytest.raises(
            WrongInput, match=f"personas '{persona}' do not come from people's answers"
        ):
            planned(home, f"persona={persona}", "group.diversity=low")
    assert delibsim("import", "trams", "k=2", "--as", "personas").code == 0
    assert planned(home, "persona=trams_2", "group.diversity=high").manifest.components["groups"]
    (home / "answers" / "trams.csv").unlink()
    assert planned(home, "persona=trams_2", "group.diversity=low").manifest.components["groups"]
    with pytest.raises(WrongInput, match="the answers they were built from are not here"):
        planned(home, "persona=trams_2", "group.diversity=matched")


# mixed groups


def test_models_move_on_by_a_seat_with_every_replicate_and_one_model_stays_as_it_was(home):
    models = "group.models=[citizen,citizen_open,citizen_firm]"
    seats = {
        r: [p.model for p in plan([models, f"replicate={r}"], home).session.participants]
        for r in (1, 2, 3)
    }
    assert seats[1] == ["citizen", "citizen_open", "citizen_firm", "citizen", "citizen_open"]
    assert seats[2] == [*seats[1][1:], "citizen_firm"]
    ids = {
        plan([models, f"replicate={r}"], home).session.id.removesuffix(f".r{r}") for r in (1, 2, 3)
    }
    assert len(ids) == 1
    one, two = (plan([f"replicate={r}"], home) for r in (1, 2))
    assert one.session.participants == two.session.participants
    assert "groups" not in one.manifest.components
    assert one.manifest.components["personas"] == {"none": {"name": "none", "personas": []}}


@needs_published
def test_on_the_real_instruments_groups_of_people_are_as_diverse_as_people_and_clusters_drive_groups_apart(
    delibsim, home
):
    assert delibsim("import", PUBLISHED, "--as", "deliberr").code == 0
    for topic in ("ccps", "fremantle", "bep"):
        assert delibsim("import", topic, "--as", "personas").code == 0
        found = {}
        for persona in ("none", f"{topic}_5", f"human:{topic}"):
            settings = [f"topic={topic}", f"survey=deliberr.{topic}", f"persona={persona}"]
            sessions = sessions_of(home, (1, 2, 3), "treatment=none", *settings)
            runs = [asyncio.run(hold(session, models_for(session))) for session in sessions]
            scores = [
                s.value
                for s in Diversity().score(runs)
                if (s.measure, s.phase) == ("diversity", "pre")
            ]
            found[persona.partition(":")[0]] = np.mean(scores)
        assert found[f"{topic}_5"] > found["none"]
        # Three disjoint groups are a sample of the people, and all fifteen of bep's sixteen.
        assert abs(found["human"] - reference(topic)["pre"]["diversity"]) < (
            1 if topic == "bep" else 2.5
        )


def test_a_sweep_crosses_personas_and_people_and_all_asks_no_person(delibsim, home, trams):
    assert delibsim("import", "trams", "k=2", "--as", "personas").code == 0
    sweep = plan(
        ["study=s", "topic=trams", "persona=none,trams_2,human:trams", "replicate=1,2"],
        home,
        sweep=True,
    )
    assert len(sweep.sessions) == 6
    people = [s for s in sweep.sessions if "human" in s.id]
    assert len(people) == 2
    assert not {p.persona for p in people[0].participants} & {
        p.persona for p in people[1].participants
    }
    assert len(sweep.manifest.components["groups"]) == 4
    assert {
        s.id.count("persona-")
        for s in plan(["study=s", "topic=trams", "persona=all"], home, sweep=True).sessions
    } == {0, 1}
    models = plan(["study=s", "topic=trams", "model=all"], home, sweep=True)
    assert "human" not in {name for session in models.sessions for name in session.models}
