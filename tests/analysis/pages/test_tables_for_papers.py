"""Markdown, LaTeX and Word tables: the same numbers, nothing of others is markup."""

import io
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from delibsim.analysis.pages.folder import PAGE, docx, in_latex, latex, markdown, write_report
from delibsim.analysis.pages.page import Page, PagePart
from delibsim.analysis.result import Result
from delibsim.domain.errors import WrongInput

EVIL = r"a|b & 50 % _x_ $y$ #1 \input{/etc/passwd} ^ ~ <b> [1] *c* `d` {e}"


def table(text="plain", n=2, **more):
    rows = {"a": [text] * n, "b": list(map(str, range(n))), "estimate": [0.0286] * n}
    rows |= {"low": [-0.004] * n, "high": [0.0761] * n, "p": [0.0002] * n}
    return Result("by_model", text, text, text, pd.DataFrame(rows), notes=[text], **more)


def page(text="plain"):
    return Page(text, "Report", [text], [PagePart("one", text, [text], tables=[table(text)])])


def test_markdown_holds_the_table_and_no_markup_of_others():
    text = markdown(page(EVIL))
    assert r"\<b\>" in text
    assert r"a\|b" in text
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    widths = {len(re.findall(r"(?<!\\)\|", row)) for row in rows}
    assert len(widths) == 1
    assert ".029 | \\[−.004, .076\\] | \\< .001" in text


def test_latex_is_booktabs_and_escapes_every_sign():
    text = latex("study_1", [table(EVIL)])
    assert r"\toprule" in text
    assert r"\bottomrule" in text
    assert r"\input{" not in text
    assert r"study\_1" in text
    assert r".029 & [$-$.004, .076] & \textless{} .001 \\" in text
    assert in_latex("a_b") == r"a\_b"


def test_a_document_leaves_out_what_xml_cannot_hold():
    every = "".join(map(chr, (0, 7, 27, 0xD800, 0xFFFE, 0xFFFF)))
    document = docx(f"st{every}udy", [table(f"a{every}b")])
    with zipfile.ZipFile(io.BytesIO(document)) as parts:
        assert "ab" in parts.read("word/document.xml").decode("utf-8")


def test_latex_of_a_long_table_runs_over_pages_and_one_that_is_not_given_is_left_out():
    text = latex("s", [table(n=40), table("absent", why_not="no_data", detail="none")])
    assert r"\begin{longtable}" in text
    assert "absent" not in text


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_is_set(tmp_path):
    body = latex("study_1", [table(EVIL), table(n=40)])
    head = r"\documentclass{article}\usepackage{booktabs,longtable}\begin{document}"
    (tmp_path / "t.tex").write_text(f"{head}\n{body}\n\\end{{document}}", encoding="utf-8")
    subprocess.run(
        ["pdflatex", "-halt-on-error", "t.tex"], cwd=tmp_path, check=True, capture_output=True
    )


def test_word_holds_the_cells_and_is_the_same_each_time():
    content = docx("study", [table(EVIL)])
    assert content == docx("study", [table(EVIL)])
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        text = archive.read("word/document.xml").decode()
    assert "&lt;b&gt;" in text
    assert "[−.004, .076]" in text


def test_a_report_is_a_folder_of_its_own(tmp_path):
    to = tmp_path / "analysis"
    file = write_report(page(), [table()], to, {"figures/effects.svg": b"<svg/>"})
    assert file == to / PAGE
    names = {str(path.relative_to(to)) for path in to.rglob("*") if path.is_file()}
    assert names == {
        PAGE,
        "report.md",
        "tables.tex",
        "tables.docx",
        "codebook.csv",
        "manifest.json",
        "tables/by_model.csv",
        "figures/effects.svg",
    }
    rows = pd.read_csv(to / "tables" / "by_model.csv", dtype={"b": str})
    pd.testing.assert_frame_equal(rows, table().rows)
    write_report(page(), [], to)
    assert not (to / "figures").exists()


@pytest.mark.parametrize("mine", ["tables/mine.csv", "figures/photo.png", "report.md"])
def test_files_of_others_are_kept_whatever_their_names(tmp_path, mine):
    work = tmp_path / "thesis" / mine
    work.parent.mkdir(parents=True)
    work.write_text("years of work")
    with pytest.raises(WrongInput, match="holds what no report wrote"):
        write_report(page(), [], tmp_path / "thesis")
    assert work.read_text() == "years of work"


def test_what_was_put_into_a_report_is_kept(tmp_path):
    to = tmp_path / "analysis"
    write_report(page(), [table()], to)
    (to / "tables" / "mine.csv").write_text("mine")
    with pytest.raises(WrongInput, match=r"no report wrote \(tables/mine.csv\)"):
        write_report(page(), [table()], to)
    assert (to / "tables" / "mine.csv").read_text() == "mine"


def test_a_link_to_a_folder_stays_a_link(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "analysis"
    link.symlink_to(tmp_path / "elsewhere")
    write_report(page(), [], link)
    assert link.is_symlink()
    assert (tmp_path / "elsewhere" / PAGE).is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["analysis", "elsewhere"]


def test_the_working_folder_is_not_replaced(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WrongInput, match="name a folder within it: -o report"):
        write_report(page(), [], Path())


def test_a_file_is_no_folder(tmp_path):
    file = tmp_path / "report"
    file.write_text("mine")
    with pytest.raises(WrongInput, match="is a file"):
        write_report(page(), [], file)
