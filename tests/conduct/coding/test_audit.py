"""The audit of codes: read by rule, by people and by a model that sees neither text nor level."""

import csv
import hashlib
import json
from collections import Counter
from dataclasses import replace

import pytest
from fake_provider import FakeProvider, Rule
from pilot_texts import TEXTS, samples, study_of_texts

from delibsim.analysis.coding.costs import audit_rows, corrected_rows, share_of
from delibsim.asking import road
from delibsim.asking.kinds.audit import audit_of
from delibsim.asking.kinds.coding import coding_of
from delibsim.asking.kinds.rationale import export_rationales, import_corrections, plan_audit
from delibsim.conduct import ask as asking
from delibsim.conduct.packs import bring_back
from delibsim.domain.coding import Code, Steps
from delibsim.domain.errors import WrongInput
from delibsim.domain.reason import Reason
from delibsim.store.answers import Audits

SAID = {
    1: "One premise is named, and so the text meets level {level}.",
    2: "It says “no such words”. It would meet level 2 if more were said, and scores {level}.",
    3: "A premise is there.",
}


READ = ("agrees", "differs", "not_read")


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def coding(tmp_path, monkeypatch):
    """Five texts by two models with three samples each: one agrees, one misquotes, one says
    nothing; the model beta concludes another level than it gives in its first samples.
    """
    monkeypatch.chdir(tmp_path)
    runs, codings = study_of_texts(tmp_path / "runs")
    kept = []
    for model in ("alpha", "beta"):
        levels = {id: [1, 1, 1] if model == "alpha" else [0, 0, 0] for id in "12345"}
        for sample in samples("reasons", model, levels):
            slip = 1 if model == "beta" and sample.index == 1 else 0
            said = SAID[sample.index].format(level=sample.level + slip)
            digest = sha256(TEXTS[sample.text])
            kept.append(replace(sample, rationale=said, text_sha256=digest))
    refused = replace(kept[0], index=4, level=None, rationale="", missing=Reason("refusal", "no"))
    codings.add([*kept, refused])
    return coding_of(runs)


def test_rationales_are_read_by_rule(coding):
    found = audit_of(coding)
    assert found.without_level == 1
    rows = {(row["model"], row["dimension"]): row for row in audit_rows(found.readings)}
    alpha, beta = rows["alpha", "reasons"], rows["beta", "reasons"]
    assert [alpha[name] for name in READ] == [10, 0, 5]
    assert [beta[name] for name in READ] == [5, 5, 5]
    whole = rows["all", "all"]
    assert (whole["faithful"]["n"], whole["faithful"]["of"]) == (15, 20)
    assert (whole["coverage"]["n"], whole["coverage"]["of"]) == (20, 30)
    assert whole["misquoted"] == share_of(10, 10)


def test_shares_have_the_interval_of_wilson():
    # statsmodels 0.15.0: proportion_confint(50, 50, method="wilson"), and of 3645 of 4118.
    share = share_of(50, 50)
    assert (share["low"], share["high"]) == pytest.approx((0.9286524, 1), abs=1e-7)
    share = share_of(3645, 4118)
    assert (share["low"], share["high"]) == pytest.approx((0.87503877, 0.89452018), abs=1e-7)


def test_a_text_that_was_edited_is_not_searched_for_quotations(coding):
    file = coding.runs.folder / "texts.jsonl"
    file.write_text(file.read_text().replace("late again", "late, no such words"))
    found = audit_of(coding)
    assert found.edited == 6
    assert sum(bool(one.misquoted) for one in found.readings) == 8


def test_a_level_that_was_quoted_from_the_entry_or_the_steps_is_no_misquotation(coding):
    coding.codings.add([Steps("reasons", "alpha", "coding", ("No such words.",))])
    found = audit_of(coding)
    assert {one.sample.model for one in found.readings if one.misquoted} == {"beta"}


def filled(folder, level_of):
    """The form of a sample with levels filled in."""
    with (folder / "form.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["answer"] = level_of(row)
    path = folder / "filled.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_people_read_a_sample_and_the_rate_is_corrected(coding, tmp_path):
    pack = export_rationales(audit_of(coding), 10, tmp_path / "a")
    assert (pack.facts["rationales"], pack.facts["strata"]) == (10, 5)
    files = Audits.of(coding.runs, "backing").files
    key = json.loads((files.packs / f"{pack.name}.json").read_text())["sheets"]
    read = {one.sample.key: one for one in audit_of(coding).readings}

    def level_of(row):
        """As the person sees it: the rule was wrong about every difference it read."""
        own = key[row["sheet"]]
        sample = read[
            tuple(own[name] for name in ("text", "dimension", "model", "wording", "index"))
        ]
        if sample.outcome == "not_read":
            return "None concluded"
        return str(sample.sample.level)

    file = filled(tmp_path / "a", level_of)
    taken = bring_back(file, coding.runs)
    assert (taken.given, taken.new, taken.empty) == (10, 10, 0)
    assert bring_back(file, coding.runs).new == 0
    (row,) = corrected_rows(audit_of(coding).readings, audit_of(coding).verdicts)
    assert (row["reader"], row["read"], row["none"], row["rule_missed"]) == ("reader 1", 10, 4, 2)
    assert row["faithful"]["value"] == 1
    assert row["stands_for"] == pytest.approx(20 / 30)
    text = file.read_text().replace(",1\n", ",2\n")
    file.write_text(text)
    with pytest.raises(WrongInput, match="level 1 before"):
        bring_back(file, coding.runs)


def test_a_weighted_rate_is_worth_fewer_calls(coding, tmp_path):
    found = audit_of(coding)
    export_rationales(found, 10, tmp_path / "a")
    file = filled(tmp_path / "a", lambda row: "1")
    bring_back(file, coding.runs)
    (row,) = corrected_rows(found.readings, audit_of(coding).verdicts)
    # alpha gave 1 throughout (10 read, 5 not), beta 0: half of the calls by weight.
    assert row["faithful"]["value"] == pytest.approx(0.5)
    assert row["faithful"]["of"] < 10


def test_kinds_of_failure_are_proposed_and_corrected(coding, tmp_path):
    codes = [Code(id, "reasons", "Ann", "human", 2) for id in "123"]
    codes.append(Code("4", "reasons", "Ann", "human", 1))
    codes.append(Code("5", "reasons", "Ann", "human", 2, training=True))
    coding.codings.add(codes, people=True)
    found = audit_of(coding)
    assert Counter(one.kind for one in found.failures) == {"other": 3, "acknowledged": 1}
    export_rationales(found, 4, tmp_path / "a")
    table = tmp_path / "a" / "failures.csv"
    table.write_text(
        table.read_text().replace("1,reasons,Ann,2,0,no,other", "1,reasons,Ann,2,0,no,strict")
    )
    assert import_corrections(table, audit_of(coding)) == 1
    kinds = {one.text: (one.proposed, one.kind) for one in audit_of(coding).failures}
    assert kinds["1"] == ("other", "strict")
    assert kinds["2"] == ("other", "other")
    table.write_text(table.read_text().replace("no,other", "no,bad"))
    with pytest.raises(WrongInput, match="'bad' is no kind of failure"):
        import_corrections(table, audit_of(coding))


async def test_a_model_reads_rationales_blind_and_pays_for_none_twice(coding):
    def answer(call):
        return "LEVEL: 0" if "meets level 0" in call.text else "LEVEL: NO_LEVEL"

    async with FakeProvider([Rule(text=answer)]) as provider:
        words = [f"base_url={provider.base_url}"]
        planned = plan_audit(audit_of(coding), "local", 10, words)
        estimated = road.estimate(planned)
        assert (estimated.planned, provider.calls) == (10, 0)
        outcome = await asking.ask(planned)
        assert (outcome.new, outcome.asked, provider.billed) == (10, 10, 10)
        asked = [call.text for call in provider.where()]
        assert not any(text in prompt for text in TEXTS.values() for prompt in asked)
        assert not any("alpha" in prompt or "beta" in prompt for prompt in asked)
        more = await asking.ask(plan_audit(audit_of(coding), "local", None, words))
        assert (more.before, more.new, provider.billed) == (10, 20, 30)
        again = await asking.ask(plan_audit(audit_of(coding), "local", None, words))
        assert (again.before, again.new, provider.billed) == (30, 0, 30)
        files = Audits.of(coding.runs, "backing").files
        files.annotations.unlink()  # as if it had been stopped before its verdicts were kept
        back = await asking.ask(plan_audit(audit_of(coding), "local", None, words))
        assert (back.new, back.asked, provider.billed) == (30, 0, 30)
    (row,) = corrected_rows(audit_of(coding).readings, audit_of(coding).verdicts)
    assert (row["kind"], row["read"], row["agrees"], row["differs"]) == ("model", 30, 0, 0)


async def test_a_reader_that_cannot_be_asked_or_understood_gives_no_verdict(coding):
    rules = [Rule(status=400, times=1), Rule(text="I would say two.")]
    async with FakeProvider(rules) as provider:
        words = [f"base_url={provider.base_url}"]
        outcome = await asking.ask(plan_audit(audit_of(coding), "local", 2, words))
    assert len(outcome.faults) == 1
    assert sum(outcome.missing.values()) == 1
    (verdict,) = audit_of(coding).verdicts
    assert verdict.level is None
    assert str(verdict.missing).startswith("unreadable: ")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("citizen", "a citizen is rule-based and reads no rationales"),
        ("nope", "unknown model 'nope'"),
    ],
)
def test_what_cannot_read_is_wrong_input(coding, model, message):
    with pytest.raises(WrongInput, match=message):
        plan_audit(audit_of(coding), model, None, [])
