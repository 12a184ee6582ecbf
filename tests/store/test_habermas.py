"""The columns of the Habermas Machine data as records."""

import duckdb
import pytest

from delibsim.conduct.trained.records import records_of_file
from delibsim.domain.errors import WrongInput
from delibsim.domain.summary import Triple


def test_candidates_that_people_rated_are_records(tmp_path):
    file = tmp_path / "hm.parquet"
    duckdb.execute(
        f"""
        copy (select 'Why?' as "question.text", 'Trams are quiet.' as "own_opinion.text",
            ['One.', 'Two.', ''] as "candidates.text",
            ['STRONGLY_AGREE', '[MOCK]', 'AGREE'] as "ratings.agreement",
            ['NEUTRAL', 'STRONGLY_DISAGREE', 'AGREE'] as "ratings.quality",
            'w1' as "worker_id", 3 as other) to '{file}' (format parquet)
        """
    )
    first, second = records_of_file(file)
    assert (first.triple, first.rater) == (Triple("Why?", "Trams are quiet.", "One."), "w1")
    assert (first.scores, second.scores) == ({"rep": 0.75, "inf": 0.5}, {"inf": 0.25})
    assert first.instance == second.instance


def test_other_files_are_refused(tmp_path):
    file = tmp_path / "x.parquet"
    duckdb.execute(f"copy (select 1 as a) to '{file}' (format parquet)")
    with pytest.raises(WrongInput, match=r"lacks the columns question.text, own_opinion.text"):
        records_of_file(file)
    file.write_text("text")
    with pytest.raises(WrongInput, match="cannot be read as Parquet"):
        records_of_file(file)
