"""Sheets on paper speak to people: the words of the pages at each place to write, both ends of a
scale, boxes to tick, and the column of the form beside them; no label of a reply.
"""

import html
import re

import pytest
from rated import codes_online, pairs_online, study_of_debates, summaries_online

from delibsim.asking.kinds.code_packs import export_codes
from delibsim.asking.kinds.coding import coding_of
from delibsim.asking.kinds.judgment_packs import COLUMNS as OF_SUMMARIES
from delibsim.asking.kinds.judgment_packs import export_pack as export_summaries
from delibsim.asking.kinds.judgment_plan import plan_judging
from delibsim.asking.kinds.pair_packs import export_pairs, for_people
from delibsim.asking.kinds.rating_form import COLUMNS
from delibsim.conduct.packs import export_pack
from delibsim.planning.compose import plan
from delibsim.store.ratings import Ratings

LABELS = re.compile(r"\b(?:[ABDS]\d{1,2}|C1|WINNER)\b")


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def words_of(file):
    """The text of a page on paper."""
    text = re.sub(r"<style>.*?</style>", "", file.read_text(encoding="utf-8"))
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def columns_in(text):
    return re.findall(r"\[?column (\w+)", text)


def test_a_ballot(home):
    runs = study_of_debates(
        home, "format=debate", "motion=voting", "proposition=citizen_eloquent",
        "opposition=citizen_halting",
    )  # fmt: skip
    export_pack(runs, plan(["wording=oxford"]).session.wording, 1, 1, home / "pack")
    (file,) = (home / "pack").glob("*.html")
    text = words_of(file)
    ballot = text[text.index("Ballot (sheet") :]
    assert not LABELS.search(ballot)
    assert "Knowledge : how knowledgeable the speaker is about the subject" in ballot
    assert ballot.count("0 not at all to 100 extremely") == 2
    assert "Winner: Speaker A Speaker B column winner: A or B" in ballot
    assert "Where you stand: 0 wholly against it 100 wholly for it column after" in ballot
    (task,) = Ratings.of(runs).packs()
    (sheet,) = Ratings.of(runs).key(task).values()
    assert f"answer here with the number {sheet['check']}. column check" in ballot
    assert set(columns_in(text)) <= set(COLUMNS)
    assert {"before", "winner", "after", "check"} == set(columns_in(text))


def test_levels_of_a_coder_have_their_names(home):
    runs, _ = codes_online(home, 1)
    export_codes(coding_of(runs, "tiny"), ["ann"], 10, folder=home / "pack")
    (file,) = (home / "pack").glob("*.html")
    assert "0 none, 1 one, 2 more" in words_of(file)


def test_the_question_of_a_pair_stands_above_its_boxes(home):
    runs, _ = pairs_online(home, 1)
    export_pairs(for_people(runs, ["dimension=logical"]), ["ann"], folder=home / "pack")
    (file,) = (home / "pack").glob("*.html")
    asked = "Which of the two texts argues better logically? Text A Text B Tie column answer: A, B or Tie"
    text = words_of(file)
    assert text.count(asked) == text.count("Sheet ")


def test_every_answer_about_summaries_has_its_column(home):
    runs, _ = summaries_online(home, 1)
    export_summaries(plan_judging(runs, []), "paper", 1, home / "pack")
    for file in (home / "pack/sheets").iterdir():
        text = file.read_text(encoding="utf-8")
        assert tuple(columns_in(text)) == OF_SUMMARIES[2:]
        assert "rep is about" not in text
