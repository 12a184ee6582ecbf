"""`delibsim preregister`: the document, its blanks, and what it never overwrites."""

import re

import pytest

from delibsim.engine.check import prompt_hash
from delibsim.planning.compose import plan
from delibsim.planning.preregistered import sealed, untouched

SWEEP = (
    "-m",
    "study=p",
    "topic=ccps,acp",
    "treatment=none,normative",
    "replicate=range(1,4)",
    "group.size=2",
    "rounds=1",
    "seed=7",
)


@pytest.fixture
def document(home):
    return home / "runs" / "p" / "preregistration.md"


def test_the_plan_is_written_before_the_first_call_and_the_study_then_begins_as_planned(
    delibsim, home, document, files
):
    answer = delibsim("preregister", *SWEEP, "limits.budget_usd=5")
    assert (answer.code, answer.err) == (0, "")
    assert set(files()) == {"runs/p/preregistration.md"}
    text = document.read_text(encoding="utf-8")
    for words in (
        "# Plan of the study p",
        "before the first call",
        "12 sessions in 4 cells. Every cell has 3 replicates.",
        "| topic | 2 | ccps, acp | varied |",
        "| participants | 1 | 2 | constant |",
        "Seed of the study: 7.",
        "| sessions | 12 |",
        "| calls to models, re-asks not counted | 60 |",
        "| dri | 1 | Deliberative Reason Index; adjusted DRI; individual DRI; relative DRI |",
        "Budget: 5 USD, no limit in tokens",
        "up to 3 times",
        "more than 600 words",
        "Keep your language calm, never forceful.",
        '"susceptibility": 0.1',
    ):
        assert words in text, words
    assert len(re.findall(r"\*\*\[FILL IN: ", text)) == 6
    session = plan(
        ["topic=ccps", "treatment=normative", "group.size=2", "rounds=1", "seed=7"], home
    ).session
    assert f"| ccps.normative.citizen_rounds1_size2 | r1, r2, r3 | {prompt_hash(session)} |" in text
    assert delibsim("run", "-q", *SWEEP).code == 0
    assert document.read_text(encoding="utf-8") == text


def test_a_file_that_was_filled_in_is_never_overwritten_and_an_empty_one_is(delibsim, document):
    assert delibsim("preregister", *SWEEP).code == 0
    fewer = ["replicate=1,2" if word.startswith("replicate") else word for word in SWEEP]
    assert delibsim("preregister", *fewer).code == 0
    text = document.read_text(encoding="utf-8")
    assert "8 sessions in 4 cells" in text
    filled = text.replace("**[FILL IN: the hypotheses", "H1: DRI rises. **[FILL IN: the hypotheses")
    document.write_text(filled, encoding="utf-8")
    answer = delibsim("preregister", *SWEEP)
    assert answer.code == 2
    assert "was filled in or changed" in answer.err
    assert document.read_text(encoding="utf-8") == filled
    assert delibsim("preregister", *SWEEP, "-o", "other.md").code == 0


def test_a_study_that_has_begun_is_not_preregistered_and_the_document_says_so(
    delibsim, study, home
):
    answer = delibsim("preregister", "s")
    assert answer.code == 0
    assert "This is no preregistration" in answer.out
    text = (study.parent / "preregistration.md").read_text(encoding="utf-8")
    assert "**This is no preregistration: the study had begun when this was written.**" in text
    assert "before the first call" not in text
    assert "1 session had been asked something; 1 of them over" in text
    again = delibsim("preregister", "s")
    assert again.code == 2
    assert "the study has begun since" in again.err
    enlarged = delibsim(
        "preregister",
        "study=s",
        "topic=ccps",
        "group.size=2",
        "rounds=1",
        "seed=7",
        "replicate=2",
        "-o",
        "two.md",
    )
    assert enlarged.code == 0
    text = (home / "two.md").read_text(encoding="utf-8")
    assert "This is no preregistration" in text
    assert (
        "2 sessions in 1 cell. Every cell has 2 replicates. The tables here and in sections 4"
        " and 5 cover the 1 whose" in text
    )


def test_any_change_is_seen_by_the_seal():
    text = sealed("# Plan\n\ntext")
    assert untouched(text)
    assert not untouched(text.replace("text", "test"))
    assert not untouched(text + "x")
    assert not untouched("# Plan\n\ntext\n")
    assert not untouched("")


def test_what_a_topic_says_stays_in_its_cell(delibsim, home):
    (home / "topics").mkdir()
    (home / "topics" / "own.yaml").write_text(
        'id: own\nquestion: "A | B\\n# <b>?"\nsurvey: ccps\n', encoding="utf-8"
    )
    assert delibsim("preregister", "study=p", "topic=own").code == 0
    assert "| own | A \\| B # &lt;b>? |" in (home / "runs" / "p" / "preregistration.md").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize("listeners", [0, 2])
def test_a_tournament_states_its_design_and_claims_no_survey_that_is_not_held(
    delibsim, home, document, listeners
):
    names = "tournament.debaters=[citizen_plain,citizen_halting]"
    motions = "tournament.motions=[voting,nuclear]"
    done = delibsim(
        "preregister",
        "-m",
        "experiment=oxford",
        names,
        motions,
        f"audience={listeners}",
        "-o",
        str(document),
    )
    assert done.code == 0
    text = document.read_text()
    assert "2 debates of six speeches: 2 debaters, 1 pairs, 2 motions." in text
    assert "| citizen_halting | 1 | 1 |" in text
    assert "| citizen_halting and citizen_plain | 2 |" in text
    assert "raters, language models or people, who are planned separately" in text
    assert "ranks of policy options" not in text
    assert ("No survey is held" in text) == (listeners == 0)
    assert ("how far they agree with the motion" in text) == (listeners > 0)
