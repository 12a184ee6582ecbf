"""The catalogue of measures: what scorers give, known to the docs, with sources to open."""

import dataclasses
import re
from pathlib import Path

import pytest
from debates import debate

from delibsim.domain.annotation import DIMENSIONS, AnnotatedRun, Rating
from delibsim.domain.conversation import Conversation
from delibsim.domain.participant import SIDES
from delibsim.domain.score import CATALOGUE, MEASURES, Measure
from delibsim.domain.treatment import KINDS as BROKEN
from delibsim.engine.forum import hold
from delibsim.measures.aqua import HIGHEST, LOWEST
from delibsim.models.pool import models_for
from delibsim.plugins import declared, load
from delibsim.scorers.aqua.scorer import VALUES
from delibsim.scorers.flags import KINDS as FLAGGED
from delibsim.testing import a_run
from delibsim.testing.runs import a_run_with_consensus

ROOT = Path(__file__).resolve().parents[2]
LOCATOR = re.compile(r"doi:10\.\d{4,}/\S+|https://\S+|docs/(?P<page>[\w-]+\.md)#(?P<anchor>[\w-]+)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


@pytest.fixture
async def rated(tmp_path):
    """A debate of citizens that one rater has rated."""
    session = debate(tmp_path)
    run = await hold(session, models_for(session))
    given = {side: dict.fromkeys(DIMENSIONS, 60) for side in SIDES}
    given |= {"before": 40, "winner": SIDES[0], "after": 55, "attentive": True}
    rating = Rating(session.id, "rater", SIDES[0], **given)
    return AnnotatedRun(**vars(run), ratings=(rating,))


@pytest.fixture
def surveyed():
    """A deliberation with a survey before and after."""
    return a_run()


def anchors_of(page):
    headings = HEADING.findall((ROOT / "docs" / page).read_text(encoding="utf-8"))
    return {heading.lower().replace(" ", "-") for heading in headings}


def given(name, runs):
    return {score.measure for score in load("delibsim.scorers", name).score(runs)}


def test_ids_are_unique_and_every_built_in_scorer_declares_its_part():
    assert sum(map(len, CATALOGUE.values())) == len(MEASURES)
    for name, measures in CATALOGUE.items():
        assert declared(name)[1] == measures


def test_every_source_is_a_doi_an_address_or_a_page_of_the_docs():
    lists = [measure.source.split("; ") for measure in MEASURES.values()]
    for source in sorted(set().union(*lists)):
        found = LOCATOR.fullmatch(source.rpartition(", ")[2])
        assert found, source
        if found["page"]:
            assert found["anchor"] in anchors_of(found["page"])


def row_of(measure):
    """The row of a measure in the catalogue of docs/measures.md."""
    ends = [f"{end:g}".replace("-", "−").replace("inf", "∞") for end in measure.range]
    yes = ["yes" if told else "no" for told in (measure.comparable, measure.human_reference)]
    cells = (f"`{measure.id}`", measure.label, measure.unit, " to ".join(ends), *yes)
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")


def test_the_page_of_measures_holds_the_catalogue_row_by_row():
    text = (ROOT / "docs" / "measures.md").read_text(encoding="utf-8")
    table = text.partition("\n## Catalogue\n")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    assert rows == [row_of(measure) for measure in MEASURES.values()]


def test_the_glossary_knows_every_measure_by_itself_or_by_its_family():
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    known = set(re.findall(r"`([^`]+)`", text))
    families = {name: f"{name.partition('.')[0]}.*" for name in MEASURES}
    assert [name for name in MEASURES if not known & {name, families[name]}] == []


def test_a_debate_and_a_deliberation_are_given_the_measures_of_the_catalogue(rated, surveyed):
    usual = [name for name in CATALOGUE if name != "aqua"]  # which needs an extra
    shares = {"for": 40.0, "against": 30.0, "undecided": 30.0}
    votes = {"pre": shares, "post": shares | {"for": 50.0, "undecided": 20.0}}
    people = Conversation("iq2", "d1", (), surveyed=True, votes=votes)
    voted = dataclasses.replace(
        surveyed, session=dataclasses.replace(surveyed.session, conversation=people)
    )
    runs = [rated, surveyed, voted, a_run_with_consensus()]
    for name in usual:
        assert given(name, runs) == {measure.id for measure in CATALOGUE[name]}


def test_scores_have_the_phases_and_lie_in_the_range_that_the_catalogue_says(rated, surveyed):
    for name in CATALOGUE.keys() - {"aqua"}:
        for score in load("delibsim.scorers", name).score([rated, surveyed]):
            measure = MEASURES[score.measure]
            assert score.phase in (measure.phases or ("",))
            assert score.value != score.value or measure.holds(score.value, score.phase), score


def test_families_have_the_members_that_are_measured():
    def members(prefix):
        return {name.removeprefix(prefix) for name in MEASURES if name.startswith(prefix)}

    assert members("flags.") == set(FLAGGED)
    assert members("rating.") == {*DIMENSIONS, "winner", "attentive"}
    assert members("speech.broken.") == set(BROKEN)
    assert members("aqua.") == set(VALUES)
    assert MEASURES["aqua.sum"].range == (LOWEST, HIGHEST)


# one measure


A = Measure(id="a", label="a", definition="A.", source="docs/measures.md", range=(0, 3))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"label": " "}, "label is empty"),
        ({"source": ""}, "source is empty"),
        ({"phases": ("before",)}, "unknown phase 'before'"),
        ({"range": (3, 0)}, "the range 3 to 0 is empty"),
    ],
)
def test_a_measure_that_no_table_could_show_is_refused(changes, fault):
    with pytest.raises(ValueError, match=fault):
        dataclasses.replace(A, **changes)


def test_the_range_is_that_of_a_phase_and_a_change_may_be_as_large_as_it_is_wide():
    assert A.holds(3, "pre")
    assert not A.holds(-1, "pre")
    assert A.holds(-3, "change")
    assert not A.holds(-3.1, "change")
    only_change = dataclasses.replace(A, phases=("change",))
    assert not only_change.holds(-3, "change")
