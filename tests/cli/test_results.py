"""Tables of results on the terminal."""

import io

import pandas as pd
from rich.console import Console

from delibsim.analysis.result import Result
from delibsim.cli.results import print_result


def test_a_result_without_rows_says_so_and_prints_no_headings():
    out = io.StringIO()
    columns = ["group", "model", "estimate", "within_stance"]
    result = Result(
        name="gaps",
        title="Gaps of groups",
        definition="",
        source="docs/summaries.md",
        rows=pd.DataFrame([], columns=columns),
        notes=["No placebo was judged."],
    )
    print_result(result, Console(file=out, width=80))
    assert out.getvalue().split("\n")[1:4] == [
        "Gaps of groups",
        "no rows",
        "No placebo was judged.",
    ]
