"""A package holds what it may and nothing else, and its check says where it is not equal."""

import asyncio
import csv
import json
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from small_study import break_sessions, copied, held_study

from delibsim.cli.main import app
from delibsim.conduct.package import Unclean, Wishes, package
from delibsim.conduct.package_check import check, first_difference, rebuild_all
from delibsim.conduct.package_record import left_out, texts_in, traces_of
from delibsim.conduct.verify import verify_study
from delibsim.domain.errors import WrongInput
from delibsim.store.people import persons, rooms
from delibsim.store.people.persons import Identity
from delibsim.store.people.register import Register
from delibsim.store.publication import publication_of
from delibsim.store.runs import Runs
from delibsim.store.session_files import changed_files

ADA = "Ada Lovelace <0000-0002-1825-0097>"
QUICK = {"draws": 99, "figures": ()}
PSYCH_DS = re.compile(r"([a-z]+-[a-zA-Z0-9]+)(_[a-z]+-[a-zA-Z0-9]+)*_data\.csv")
"""The names of files of data, as the schema of the Psych-DS validator has them."""
PLAN = "# Plan\n\n## 2. Primary outcome\n\nThe change of `dri`.\n\n## 3. **[FILL IN: why]**\n"


def quiet(*_):
    """Nobody watches."""


def packaged(runs, to, service="osf", **wishes):
    """A study as a package in a folder."""
    publication = publication_of([runs], "CC-BY-4.0", [ADA], "")
    return package([runs], publication, Wishes(service, **{**QUICK, **wishes}), to, quiet)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A small study with a plan."""
    runs = held_study(tmp_path_factory.mktemp("home"))
    (runs.folder / "preregistration.md").write_text(PLAN, encoding="utf-8")
    return runs


@pytest.fixture(scope="module")
def made(study, tmp_path_factory):
    """The package of it."""
    return packaged(study, tmp_path_factory.mktemp("out") / "a package", figures=("pdf",))


def test_a_package_is_equal_to_itself_and_says_what_it_is(made):
    assert made.whole
    found = check(made.folder, quiet)
    assert (found.faults, found.unchecked) == ([], [])
    assert "s: 8 runs replayed, equal to their record" in found.equal
    assert made.archive.is_file()
    drawn = {path.suffix for path in (made.folder / "results/s/figures").iterdir()}
    assert drawn == {".svg", ".pdf"}
    described = json.loads((made.folder / "dataset_description.json").read_text())
    measured = {one["name"] for one in described["variableMeasured"]}
    for path in (made.folder / "data").glob("*.csv"):
        assert PSYCH_DS.fullmatch(path.name)
        with path.open(encoding="utf-8", newline="") as file:
            head = next(csv.reader(file))
        assert set(head) <= measured
        assert "size" not in head, "the validator breaks at a column of this name"
    crate = json.loads((made.folder / "ro-crate-metadata.json").read_text())["@graph"]
    ids = {one["@id"] for one in crate}
    actions = [one for one in crate if one["@type"] == "CreateAction"]
    assert len(actions) == 8
    for one in actions:
        named = [*one["instrument"], *one["object"], *one["result"]]
        assert {other["@id"] for other in named} <= ids
    departures = (made.folder / "materials/s/departures.md").read_text(encoding="utf-8")
    assert "Not filled in: 1 blank of the plan" in departures


def test_nothing_of_this_machine_is_in_it(made, study):
    wanted = str(study.folder.parent), str(Path.home()), str(Path.cwd())
    for name, _, text in texts_in(made.folder):
        assert not any(one in text for one in wanted if one.count("/") > 1), name


def test_a_changed_byte_of_a_run_is_named(made, tmp_path):
    again = tmp_path / "again"
    shutil.copytree(made.folder, again)
    run = sorted((again / "data/record/s").glob("*/run.json"))[0]
    run.write_text(run.read_text().replace('"C1": ', '"C1":  ', 1), encoding="utf-8")
    named = run.relative_to(again).as_posix()
    faults = check(again, quiet).faults
    assert faults[0] == f"{named} is not what was packaged (its check sum differs)"
    assert any(one.startswith(named.removesuffix("/run.json")) for one in faults[1:])


def test_a_changed_number_of_a_table_is_named_with_its_cell(made, tmp_path):
    again = tmp_path / "again"
    shutil.copytree(made.folder, again)
    table = again / "results/s/tables/contrasts.csv"
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    rows[0]["estimate"] = "0.5"
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    (fault,) = rebuild_all(again, again / "rebuilt")
    assert fault.startswith(
        "results/s/tables/contrasts.csv is not what the record gives: line 2, estimate: 0.5 here,"
    )


def test_a_manifest_that_was_changed_is_named_and_leads_nowhere_else(made, tmp_path):
    again, aside = tmp_path / "again", tmp_path / "written.csv"
    shutil.copytree(made.folder, again)
    path = again / "manifest.json"
    plain = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**plain, "for": "zenodo"}), encoding="utf-8")
    assert check(again, quiet).faults == [
        "manifest.json is not what was packaged (its check sum differs)"
    ]
    (again / "SHA256SUMS").unlink()
    assert check(again, quiet).faults == ["SHA256SUMS is missing"]
    strange = plain["studies"][0] | {"tables": {f"data/../{aside}": "runs"}}
    for studies in ([{"name": "s"}], [strange]):
        path.write_text(json.dumps({**plain, "studies": studies}), encoding="utf-8")
        with pytest.raises(WrongInput, match="damaged|not in the package"):
            check(again, quiet)
    assert not aside.exists()


def test_a_zip_of_somebody_else_stays_and_a_study_is_packaged_once(study, tmp_path):
    (tmp_path / "p.zip").write_text("mine")
    with pytest.raises(WrongInput, match="move it away"):
        packaged(study, tmp_path / "p")
    assert (tmp_path / "p.zip").read_text() == "mine"
    publication = publication_of([study], "CC-BY-4.0", [ADA], "")
    wishes = Wishes("osf", **QUICK, texts=False)
    found = package([study, Runs.at(study.folder)], publication, wishes, tmp_path / "q", quiet)
    assert list(found.left_out) == ["s"]
    assert len(json.loads((found.folder / "manifest.json").read_text())["studies"]) == 1


def test_numbers_are_equal_to_nine_digits(tmp_path):
    one, other = tmp_path / "a.csv", tmp_path / "b.csv"
    one.write_text("x,y\n0.1,a\n")
    other.write_text("x,y\n0.10000000000001,a\n")
    assert first_difference(one, other) == ""
    other.write_text("x,y\n0.10001,a\n")
    assert first_difference(one, other) == "line 2, x: 0.1 here, 0.10001 made again"
    other.write_text("x,y\n0.1,a\n0.1,a\n")
    assert first_difference(one, other) == "2 lines here, 3 made again"


def test_without_texts_the_record_is_hashes_and_the_study_table_gives_the_effects(study, tmp_path):
    found = packaged(study, tmp_path / "p", texts=False)
    assert not (found.folder / "data/record").exists() or not any(
        (found.folder / "data/record").iterdir()
    )
    spoken = next(run for run in study.readable([]) if run.transcript).transcript[0].text
    assert not any(spoken in text for _, _, text in texts_in(found.folder))
    readme = (found.folder / "README.md").read_text(encoding="utf-8")
    assert "word for word" not in readme
    assert "replays" not in readme
    rows = (found.folder / "documentation/s/record.csv").read_text(encoding="utf-8")
    assert rows.count("run.json") == 8
    checked = check(found.folder, quiet)
    assert checked.faults == []
    assert checked.unchecked == ["s: without its record nothing is replayed"]
    assert any("made again" in one for one in checked.equal)


def of_people(runs, session, kind):
    """Make people of the models of a session, as if it had been held with them."""
    for path in (runs.path(session) / "session.json", runs.path(session) / "run.json"):
        plain = json.loads(path.read_text(encoding="utf-8"))
        plan = plain.get("session", plain)
        for model in plan["models"].values():
            model["kind"] = kind
        path.write_text(json.dumps(plain), encoding="utf-8")
    (runs.path(session) / "SHA256SUMS").unlink(missing_ok=True)


def test_the_damaged_and_the_people_stay_out_and_what_must_not_stand_is_taken_out(study, tmp_path):
    runs = copied(study, tmp_path)
    _, damaged, _ = break_sessions(runs)
    people = next(one for one in runs.sessions()[3:] if ".none." in one)
    of_people(runs, people, "person")
    spoken = next(run for run in runs.readable([]) if run.transcript)
    secret = spoken.transcript[0].text.split()[-1]
    folder = runs.path(spoken.session.id)
    for path in folder.glob("*.json*"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(secret, "mary@example.org"), encoding="utf-8")
    (folder / "SHA256SUMS").unlink()
    plan = "# Plan\n\nask jane.doe@example.org or sk-abcdefghijklmnop1234\n"
    (runs.folder / "preregistration.md").write_text(plan, encoding="utf-8")
    with pytest.raises(Unclean) as refused:
        packaged(runs, tmp_path / "p")
    told = [one.told() for one in refused.value.traces]
    assert "e-mail address: jane.doe@example.org (1 time, first in preregistration.md)" in told
    assert not any("sk-abcdef" in one for one in told)
    assert not (tmp_path / "p").exists()
    found = packaged(runs, tmp_path / "p", redact=True, kept=["jane.doe@example.org"])
    assert not found.whole
    out = {one.place: one.why for one in found.left_out["s"]}
    assert out == {damaged: "damaged", people: "people"}
    assert not (found.folder / "data/record/s" / people).exists()
    for name, _, text in texts_in(found.folder / "data"):
        assert people not in text or name.endswith("study.json") or "wide" in name.lower(), name
    texts = {one.text for one in found.redacted}
    assert texts == {"mary@example.org", "sk-abcdefghijklmnop1234"}
    plan = (found.folder / "materials/s/preregistration.md").read_text(encoding="utf-8")
    assert "ask jane.doe@example.org or [redacted]" in plan
    assert changed_files(found.folder / "data/record/s" / spoken.session.id) == []
    checked = check(found.folder, quiet)
    assert checked.faults == []
    assert f"s/{spoken.session.id}: redacted, so it cannot be replayed" in checked.unchecked
    departures = (found.folder / "materials/s/departures.md").read_text(encoding="utf-8")
    assert "planned sessions are not among those held here" in departures


def test_what_is_hidden_already_is_no_secret_and_what_is_taken_out_leaves_json(study, tmp_path):
    runs = copied(study, tmp_path)
    traces = traces_of([runs], [], ())
    line = json.dumps({"to": "http://h/v1?key=hidden", "said": 'Bearer abcdefgh12"\n /root/x'})
    assert json.loads(traces.without(line))["said"] == 'Bearer [redacted]"\n [redacted]'
    assert not list(traces.found_in(traces.without(line)))
    register = Register.of(runs, "")
    for name in ("Jane van Doe", "Will"):
        persons.add_person(register, "participant", identity=Identity(name=name))
    register.close()
    said = traces_of([runs], [], ()).found_in("I, jane van doe, will; Will and Ana")
    assert [text for _, text in said] == ["jane van doe", "Will"]
    key = "session,participant,speaker\na,Speaker 1,Ana\n"
    runs.folder.with_name("s.names.csv").write_text(key)
    assert "Ana" not in traces_of([runs], [], ()).without("Ana of Speaker 1")


def test_sessions_of_people_stay_out_unless_they_agreed(study, tmp_path):
    runs = copied(study, tmp_path)
    session = runs.sessions()[0]
    of_people(runs, session, "human")
    with pytest.raises(WrongInput, match="QUESTION=ANSWER"):
        packaged(runs, tmp_path / "p", people="share=yes")
    register = Register.of(runs, "")
    ada = persons.add_person(register, "participant", identity=Identity(name="Ada Byron"))
    rooms.open_room(register, session, ["Participant 1"])
    rooms.take_seat(register, ada)
    persons.keep_answers(register, ada, {"share": "no"})
    register.close()
    for kind in ("person", "human"):
        of_people(runs, session, kind)
        out = left_out(runs, asyncio.run(verify_study(runs, quiet)), "share=yes")
        assert [(one.place, one.why) for one in out] == [(session, "people")]
    register = Register.of(runs, "")
    persons.keep_answers(register, ada, {"share": "yes"}, attempt=1)
    register.close()
    (runs.folder / "preregistration.md").write_text("# Plan of Ada Byron\n", encoding="utf-8")
    found = packaged(runs, tmp_path / "p", people="share=yes", redact=True)
    assert found.left_out["s"] == []
    assert [one.kind for one in found.redacted] == ["person"]
    assert (tmp_path / "p/data/record/s" / session / "run.json").is_file()
    assert not any(path.name == "people.sqlite" for path in (tmp_path / "p").rglob("*"))


def test_instruments_of_others_without_a_licence_take_the_record_with_them(study, tmp_path):
    runs = copied(study, tmp_path)
    for path in runs.folder.glob("*/session.json"):
        plain = json.loads(path.read_text(encoding="utf-8"))
        plain["survey"] |= {"validated": True, "source": "Somebody 2019, unlicensed"}
        path.write_text(json.dumps(plain), encoding="utf-8")
        (path.parent / "SHA256SUMS").unlink()
    found = packaged(runs, tmp_path / "p")
    assert {"instrument"} <= {one.why for one in found.left_out["s"]}
    item = json.loads(path.read_text(encoding="utf-8"))["survey"]["items"][0]["text"]
    assert not any(item in text for _, _, text in texts_in(found.folder))


def test_licence_and_creators_are_asked_for_once(study, tmp_path):
    runs = copied(study, tmp_path)
    (runs.folder / "publication.json").unlink(missing_ok=True)
    with pytest.raises(WrongInput, match="--license CC-BY-4.0 and --creator"):
        publication_of([runs], "", [], "")
    with pytest.raises(WrongInput, match="no ORCID"):
        publication_of([runs], "CC-BY-4.0", ["Ada <0000-0002-1825-0098>"], "")
    first = publication_of([runs], "CC0-1.0", [ADA], "Title")
    assert publication_of([runs], "", [], "") == first


@pytest.mark.heavy
@pytest.mark.timeout(900)
def test_a_stranger_checks_a_study_with_forks_in_an_environment_of_its_own(tmp_path):
    settings = "topic=ccps,bep,acp", "treatment=none,normative,basic", "replicate=1,2"
    runs = held_study(
        tmp_path, *settings, "model=citizen,citizen_open", "group.size=3", study="pilot"
    )
    (tmp_path / "say.txt").write_text("Let us think again.", encoding="utf-8")
    parent = next(name for name in runs.sessions() if ".normative." in name)
    words = [
        str(runs.folder / parent),
        "--at",
        "2",
        "--say",
        str(tmp_path / "say.txt"),
        "--control",
    ]
    app(["fork", *words, "--quiet"], standalone_mode=False)
    found = packaged(Runs.at(runs.folder), tmp_path / "a folder" / "the package")
    assert found.left_out == {"pilot": []}
    env = tmp_path / "an env"
    venv.create(env, with_pip=False)
    # the packages of this environment, and delibsim as it is: no index is asked
    (site,) = env.glob("lib/python*/site-packages")
    places = [path for path in sys.path if path.endswith("site-packages")]
    (site / "these.pth").write_text("\n".join([str(Path(__file__).parents[2]), *places]))
    command = [str(env / "bin/python"), "-m", "delibsim.cli.main", "package", "--check"]

    def checked(*words):
        done = subprocess.run(
            [*command, *words, "-q"], capture_output=True, text=True, cwd=env, check=False
        )
        return done.returncode, done.stdout + done.stderr

    code, told = checked(str(found.folder))
    assert code == 0, told
    assert "pilot: 38 runs replayed, equal to their record" in told
    run = found.folder / "data/record/pilot/forks"
    (fork, *_) = sorted(run.glob("*/run.json"))
    fork.write_text(fork.read_text(encoding="utf-8").replace("4", "5", 1), encoding="utf-8")
    code, told = checked(str(found.folder), "--json")
    assert code == 4
    named = f"{fork.relative_to(found.folder).as_posix()} is not what was packaged"
    assert json.loads(told)["faults"][0].startswith(named)
