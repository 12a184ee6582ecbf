"""One run as a file to share: every format holds the run, and no text of others does anything."""

import base64
import csv
import hashlib
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from delibsim.analysis.run.leave_out import people_among, personas_of
from delibsim.analysis.run.view import RunView
from delibsim.analysis.run.written import COLUMNS, html, markdown, plain, table
from delibsim.conduct.scorers import measures_of, scores_of, usual_scorers
from delibsim.domain.branching import Edit
from delibsim.domain.consensus import Candidate, Consensus, ConsensusVote, Contribution, Ranking
from delibsim.domain.conversation import KINDS_OF_PEOPLE
from delibsim.domain.parentage import Parentage
from delibsim.domain.participant import Participant
from delibsim.domain.reason import Reason
from delibsim.domain.transcript import Silence
from delibsim.store.codec import run_from_json
from delibsim.testing import a_debate, a_run

EVIL = (
    '<script>alert(1)</script>"><img src=x onerror=alert(2)>{{ 7*7 }}\u202e\x1b[31m\n'
    "# [x](javascript:alert(3)) ![](https://x.org/y.png) https://x.org www.x.org a@x.org\n"
    "- one\n1. two\n| a | b |\n=2+2"
)
RUN = a_run(missing=("Participant 2",))
SHA = "0" * 64
VOID = {"meta"}
ALLOWED = set(
    "html head meta title style body a header p h1 h2 h3 h4 main section dl div dt dd article span"
    " table thead tbody tr th td ul li".split()
)


def shared(run=RUN, **more):
    records = [{"started": "2026-01-31T12:30:59.000+00:00", "purpose": {"occasion": "turn 1"}}]
    records[0]["completion"] = {"status": "ok", "usage": {"cost_usd": 0.25}}
    measures = measures_of(usual_scorers())
    return RunView("s", run, measures, list(scores_of(run)), records, sha256=SHA, **more)


def evil(run=RUN):
    """The run with this text wherever somebody could write one."""
    session = run.session
    seats = (replace(session.participants[0], persona=EVIL), *session.participants[1:])
    items = (replace(session.survey.items[0], text=EVIL), *session.survey.items[1:])
    spoilt = replace(
        session,
        topic=replace(session.topic, question=EVIL, background=EVIL),
        treatment=replace(session.treatment, name=EVIL, instructions=EVIL),
        survey=replace(session.survey, items=items),
        participants=seats,
    )
    said = (replace(run.transcript[0], text=EVIL), *run.transcript[2:])
    silent = (Silence(run.transcript[1].turn, "refusal", EVIL),)
    return replace(run, session=spoilt, transcript=said, silences=silent)


class Elements(HTMLParser):
    """Every element with its attributes; they are closed in order."""

    def __init__(self, text):
        super().__init__()
        self.found, self.open, self.text = [], [], ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_the_page_runs_and_fetches_nothing_whatever_was_said():
    page = html(shared(evil()))
    elements = Elements(page)
    assert {tag for tag, _ in elements.found} <= ALLOWED
    names = {name for _, attributes in elements.found for name in attributes}
    assert not [name for name in names if name.startswith("on") or name in ("src", "style")]
    links = [attributes["href"] for _, attributes in elements.found if "href" in attributes]
    assert links == ["#transcript"]
    assert "{{ 7*7 }}" in elements.text
    assert not set(page) & set("\x1b\u202e")
    (policy,) = [
        attributes["content"]
        for _, attributes in elements.found
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    style = re.search("<style>(.*?)</style>", page, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}'; ")
    assert "unsafe" not in policy


def test_markdown_means_nothing_but_what_we_wrote():
    reader = MarkdownIt("commonmark").enable("table")
    page = reader.render(markdown(shared(evil())))
    elements = Elements(re.sub(r"<(br|hr) ?/?>", "", page))
    assert {tag for tag, _ in elements.found} <= ALLOWED | {"strong", "blockquote"}
    assert not [attributes for _, attributes in elements.found if "href" in attributes]
    assert "<script>alert(1)</script>" in elements.text
    assert not re.search(r"https?://|www\.", markdown(shared(evil())))
    plainly = markdown(shared())
    for said in RUN.transcript:
        assert f"> {said.text}" in plainly


def test_every_format_holds_what_was_said_and_the_citation():
    one = shared()
    for text in (html(one), markdown(one), json.dumps(plain(one)), table(one)):
        assert all(said.text in text for said in RUN.transcript)
        assert SHA in text or text == table(one)
    assert one.citation == (
        "example, study s, held 2026-01-31 (topic example, treatment basic, models citizen,"
        f" seed 1, replicate 1). SHA-256 of run.json: {SHA}"
    )


def test_plain_values_hold_the_run_itself_and_no_nan():
    whole = json.loads(json.dumps(plain(shared()), allow_nan=False))
    assert run_from_json(json.dumps(whole["run"])) == RUN
    assert whole["measures"]["dri"]["post"] is None
    assert whole["undefined"]["dri.post"] == "missing_answer"


def test_the_table_has_a_row_a_statement_answer_and_measure():
    rows = list(csv.DictReader(io.StringIO(table(shared()))))
    assert list(rows[0]) == COLUMNS
    parts = [row["part"] for row in rows]
    assert (parts.count("statement"), parts.count("answer")) == (5, 100)
    answers = {}
    for row in rows:
        if row["part"] == "answer":
            answers[row["participant"], row["occasion"], row["name"]] = row
    for response in RUN.responses:
        for item in RUN.session.survey.items:
            row = answers[response.participant, response.phase, item.id]
            assert row["value"] == str(response.answers.get(item.id, ""))
            assert row["missing"] == str(response.missing.get(item.id, ""))
    (dri,) = [row for row in rows if (row["name"], row["occasion"]) == ("dri", "post")]
    assert (dri["value"], dri["missing"]) == ("", "missing_answer")
    first = list(csv.DictReader(io.StringIO(table(shared(evil())))))
    assert not [cell for row in first for cell in row.values() if cell.startswith(("=", "@"))]


@pytest.mark.parametrize("form", [html, markdown, table, lambda one: json.dumps(plain(one))])
def test_personas_and_answers_of_people_can_be_left_out(form):
    session = RUN.session
    seats = (
        replace(session.participants[0], persona="I bake bread in Perth."),
        Participant("Participant 2", model="Ann"),
        *session.participants[2:],
    )
    models = {**session.models, "Ann": {"kind": "human"}}
    said = replace(RUN.transcript[0], text="As you know: I bake bread in Perth. So do others.")
    run = replace(
        a_run(),
        session=replace(session, participants=seats, models=models),
        transcript=(said, *RUN.transcript[1:]),
    )
    assert "bread in Perth" in form(shared(run))
    without = shared(run, private=True)
    assert "bread in Perth" not in form(without)
    assert "left out" in form(without)
    assert without.run.response("Participant 2", "pre").answers == {}
    assert without.run.response("Participant 1", "pre") == run.response("Participant 1", "pre")
    assert "Participant 2" not in {row.participant for row in without.changes}
    assert without.summary["measures"] == shared(run).summary["measures"]


def sought(run=RUN, text="We agree on bread."):
    """The run with a collective statement in these words, chosen by all but one."""
    first, *others = [person.id for person in run.session.participants]
    rankings = [Ranking(name, {"c1": 1, "c2": 2}, {"c1": 6, "c2": 3}) for name in others]
    rankings.append(Ranking(first, missing=Reason("refusal", "no")))
    candidates = (Candidate("c1", text), Candidate("c2", missing=Reason("length")))
    positions = (Contribution(first, text),)
    return replace(
        run,
        consensus=Consensus(positions, ConsensusVote(candidates, tuple(rankings), "c1", "schulze")),
    )


@pytest.mark.parametrize("form", [html, markdown, table, lambda one: json.dumps(plain(one))])
def test_every_format_holds_the_collective_statement_and_what_is_missing_of_it(form):
    page = form(shared(sought()))
    for words in ("We agree on bread.", "refusal: no", "length"):
        assert words in page
    assert "agree on bread" not in form(shared())


def test_a_hostile_collective_statement_is_inert():
    one = shared(sought(text=EVIL))
    assert {tag for tag, _ in Elements(html(one)).found} <= ALLOWED
    page = MarkdownIt("commonmark").enable("table").render(markdown(one))
    assert "<script" not in page
    assert "href" not in page
    rows = list(csv.DictReader(io.StringIO(table(one))))
    assert not [cell for row in rows for cell in row.values() if cell.startswith(("=", "@"))]
    votes = [row for row in rows if row["part"] == "agreement"]
    assert {row["value"] for row in votes if not row["missing"]} <= {"6", "3"}


def test_ratings_of_a_debate_are_shared_and_those_of_people_can_be_left_out():
    debate = a_debate()
    person = replace(debate.ratings[0], source="human")
    debate = replace(debate, ratings=(person, *debate.ratings[1:]))
    whole, without = plain(shared(debate)), plain(shared(debate, private=True))
    assert [one["rater"] for one in whole["ratings"]] == [one.rater for one in debate.ratings]
    assert whole["ratings"][0]["values"]["before"] == person.before
    assert person.rater not in [one["rater"] for one in without["ratings"]]
    assert f"| {person.rater}" in markdown(shared(debate))
    assert "rating" in table(shared(debate))


@pytest.mark.parametrize("form", [html, markdown, table, lambda one: json.dumps(plain(one))])
def test_personas_are_left_out_of_forks_and_of_collective_statements(form):
    """Also that of somebody who left, and the ballot of a person."""
    secret = "I bake bread in Perth."
    session = RUN.session
    gone = replace(
        session,
        participants=(*session.participants, Participant("Gone", secret, model="Gone")),
        models={**session.models, "Gone": {"kind": "citizen"}},
    )
    fork = replace(
        session,
        participants=(
            replace(session.participants[0], persona="I herd sheep near Hay."),
            *session.participants[1:],
        ),
        parentage=Parentage("s", "parent", SHA, 1, (Edit("say", 1, f"Look: {secret}"),)),
        before=gone,
    )
    spoken = replace(RUN.transcript[0].turn, speaker="Gone")
    said = (replace(RUN.transcript[0], turn=spoken, text=secret), *RUN.transcript[1:])
    run = replace(sought(a_run(), f"{secret} I herd sheep near Hay."), session=fork)
    run = replace(run, transcript=said)
    assert "bread in Perth" in form(shared(run))
    assert not re.search("bread in Perth|sheep near Hay", form(shared(run, private=True)))


def test_votes_of_people_can_be_left_out():
    session = RUN.session
    seats = (session.participants[0], replace(session.participants[1], model="Ann"))
    session = replace(
        session,
        participants=(*seats, *session.participants[2:]),
        models={**session.models, "Ann": {"kind": "human"}},
    )
    one = shared(replace(sought(), session=session), private=True)
    by_name = {ranking.participant: ranking for ranking in one.run.consensus.first.rankings}
    assert by_name["Participant 2"].missing.code == "left_out"
    assert by_name["Participant 2"].ranks == {}
    assert by_name["Participant 3"].ranks == {"c1": 1, "c2": 2}
    ballots = len(RUN.session.participants) - 1
    assert one.statement[1].endswith(f", {ballots} ballots")
    assert "left out (agreement of 3 or less): nobody whose vote is shown" in one.remarks()


@pytest.mark.parametrize("kind", KINDS_OF_PEOPLE)
def test_who_left_before_a_fork_is_still_a_person_with_a_persona(kind):
    session = RUN.session
    gone = replace(
        session,
        participants=(*session.participants, Participant("Ann", "I bake bread.", model="Ann")),
        models={**session.models, "Ann": {"kind": kind}},
    )
    fork = replace(session, parentage=Parentage("s", "parent", SHA, 1), before=gone)
    assert people_among(fork) == {"Ann"}
    assert personas_of(fork) == ["I bake bread."]
