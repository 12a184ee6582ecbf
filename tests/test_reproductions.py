"""The pages of published papers are what their script writes, every command of theirs run: a minute
a paper, by hand (-m heavy).
"""

import importlib.util
from pathlib import Path

import pytest
from test_docs import REPRODUCTIONS, blocks_of, commands_of, words_of

PLACE = Path(__file__).resolve().parents[1] / "docs" / "reproductions"
SPEC = importlib.util.spec_from_file_location("reproductions", PLACE / "make.py")
make = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(make)


def test_every_paper_has_a_page_and_every_page_a_paper():
    assert [path.stem for path in REPRODUCTIONS] == make.papers()


@pytest.mark.parametrize("path", REPRODUCTIONS, ids=lambda path: path.stem)
def test_every_figure_of_a_page_is_shown_once_and_no_other_is_kept(path):
    shown = [*path.with_suffix("").glob("*.svg")]
    text = path.read_text(encoding="utf-8")
    assert all(text.count(f"]({path.stem}/{one.name})") == 1 for one in shown)
    assert text.count(f"]({path.stem}/") == len(shown)


@pytest.mark.heavy
@pytest.mark.timeout(900)  # a minute alone; machines that hold other tests take longer
@pytest.mark.parametrize("name", make.papers())
def test_a_page_is_what_its_script_writes(name, tmp_path):
    paper, folder = make.read(name), make.Folder(tmp_path / "work")
    folder.path.mkdir()
    text, figures = make.page(paper, folder)
    assert text == (PLACE / f"{name}.md").read_text(encoding="utf-8"), "make it anew: make.py"
    for figure, picture in figures.items():
        (tmp_path / "made.svg").write_text(picture, encoding="utf-8")
        assert words_of(tmp_path / "made.svg") == words_of(PLACE / name / f"{figure}.svg")
    absent = {one for one in paper.data if not (make.DATA / one).is_dir()}
    told = {command for block in blocks_of(text) for command, _ in commands_of(block.body)}
    if not absent:
        assert told == set(folder.printed)
