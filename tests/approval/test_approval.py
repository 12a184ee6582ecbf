"""Five studies give what they gave: every command's output, every report, table, export and page.

Where a value changed for a reason, `python tests/approval/commands.py STUDY` keeps the new one, and
the commit says which and why. Numbers may differ in the last digits, as those of other processors.
"""

import pytest
from approval.commands import FOLDER, KEPT, STUDIES, alike, gathered

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(
        FOLDER.parent.resolve() != FOLDER.parent,
        reason="the names of packs follow from the folder, which has another path on this system",
    ),
]
SHOWN = 5


@pytest.mark.parametrize("study", STUDIES)
def test_a_study_gives_what_was_kept(study):
    found, folder = gathered(study), KEPT / study
    kept = {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    assert sorted(found) == sorted(kept)
    different = [line for name in kept for line in _differences(name, kept[name], found[name])]
    assert not different, "\n".join(different[:200])


def _differences(name, kept, found):
    """The first lines of a file that differ, as they were and as they are."""
    if kept == found:
        return
    before, now = kept.splitlines(), found.splitlines()
    lines = [pair for pair in zip(before, now, strict=False) if not alike(*pair)]
    if lines or len(before) != len(now):
        yield f"{name}: {len(lines)} lines differ; {len(before)} lines before, {len(now)} now"
    for was, is_ in lines[:SHOWN]:
        yield f"- {was[:300]}"
        yield f"+ {is_[:300]}"


def test_a_changed_value_is_seen():
    assert list(_differences("t", "mean .072 of 5\n", "mean .070 of 5\n"))[1:] == [
        "- mean .072 of 5",
        "+ mean .070 of 5",
    ]
    assert not list(_differences("t", "0.1234567890123\n", "0.1234567890124\n"))
    assert list(_differences("t", "none\n", "none\nmore\n"))
