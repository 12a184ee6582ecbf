"""`delibsim new report`: documents in R whose code, executed by R where it is, finds what analyze
finds; what somebody edited is left alone.
"""

import json
import math
import re
import shutil
import subprocess

import pytest
from small_study import held_study

CHUNK = re.compile(r"^```\{r\}\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LAST = """
fixed <- if (exists("fit", mode = "S4")) summary(fit)$coefficients else matrix(numeric(), 0, 2)
cat("\\nFOUND", jsonlite::toJSON(list(contrasts = if (exists("contrasts", mode = "list")) contrasts else list(),
  means = cbind(treatment = rownames(means), means), fixed = data.frame(term = rownames(fixed), fixed)),
  digits = NA, na = "null"), "\\n")
"""
SMALL = ("group.size=3", "rounds=1", "seed=7")
DESIGNS = {
    "crossed": ("topic=ccps,acp,bep,fnqcj", "treatment=normative,none,basic",
                "model=citizen,citizen_open", "replicate=1-2", "group.size=3", "rounds=1"),
    "one_topic": ("topic=ccps", "treatment=none,normative", "replicate=1-4", *SMALL),
    "wordings": ("topic=ccps,acp,bep", "treatment=none,normative,normative_a", "replicate=1-2",
                 "rounds=1,2", "group.size=3"),
    "only_none": ("topic=ccps,acp", "treatment=none", *SMALL),
}  # fmt: skip


def equal(mine, theirs):
    if theirs is None:
        return mine is None
    return mine is not None and math.isclose(mine, theirs, rel_tol=1e-4, abs_tol=1e-6)


def needs_r():
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    wanted = (
        'q(status = !all(sapply(c("knitr", "lme4", "jsonlite"), requireNamespace, quietly = TRUE)))'
    )
    if subprocess.run(["Rscript", "-e", wanted], check=False, capture_output=True).returncode:
        pytest.skip("R has not all of knitr, lme4 and jsonlite")


@pytest.mark.parametrize(
    ("design", "form"), list(zip(DESIGNS, ["quarto", "rmarkdown"] * 2, strict=True))
)
def test_what_r_finds_is_what_analyze_finds(delibsim, home, design, form):
    needs_r()
    held_study(home, *DESIGNS[design], study=design)
    found = delibsim("analyze", design, "--json", "--draws", "99", "--figures", "none").json
    assert delibsim("export", design).code == 0
    assert delibsim("new", "report", design, "--as", form).code == 0
    (path,) = home.glob(f"{design}.*md")
    code = "\n".join(CHUNK.findall(path.read_text(encoding="utf-8")))
    (home / "code.R").write_text(code + LAST, encoding="utf-8")
    done = subprocess.run(
        ["Rscript", "code.R"], cwd=home, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    mine = json.loads(done.stdout.rpartition("FOUND")[2])
    assert mine["means"][0]["treatment"] == "none"
    contrasts = {(one["a"], one["b"]): one for one in mine["contrasts"]}
    theirs = [c for c in found["contrasts"] if (c["outcome"], c["scale"]) == ("dri", "absolute")]
    assert set(contrasts) == {(one["a"], one["b"]) for one in theirs}
    for one in theirs:
        own = contrasts[one["a"], one["b"]]
        for name in ("estimate", "low", "high"):
            assert equal(own[name], one[name]), (name, own, one)
        if design != "one_topic":  # whose p is of flipped signs
            assert equal(own["p"], one["p_topics"])
            assert equal(own["p_holm"], one["p_holm"])
    fitted = {row["term"].removeprefix("treatment"): row for row in mine["fixed"]}
    published = [row for row in found["mixed"]["published"] if row["outcome"] == "dri"]
    assert design == "only_none" or len(fitted) >= 2
    assert design == "only_none" or published[0]["method"].startswith("mixed")
    for row in published if fitted else ():
        own = fitted["(Intercept)" if row["term"] == "intercept" else row["term"]]
        assert equal(own["Estimate"], row["estimate"])
        assert math.isclose(own["Std..Error"], row["se"], rel_tol=0.01)


def test_what_was_edited_is_left_and_what_was_not_is_written_anew(delibsim, home):
    runs = held_study(home, "topic=ccps,acp", "treatment=none,normative", *SMALL)
    first = delibsim("new", "report", "s", "--as", "rmarkdown")
    assert "next: delibsim export s" in first.out
    assert "rmarkdown::render" in first.out
    path = home / "s.Rmd"
    assert delibsim("new", "report", "s", "--as", "rmarkdown").code == 0
    edited = path.read_text(encoding="utf-8").replace("[FILL IN: what is asked", "[Trams")
    path.write_text(edited, encoding="utf-8")
    refused = delibsim("new", "report", "s", "--as", "rmarkdown")
    assert (refused.code, path.read_text(encoding="utf-8")) == (2, edited)
    assert "it is left as it is. Name another file: -o FILE" in refused.err
    assert delibsim("new", "report", "s", "-o", "paper/new.qmd").code == 0
    assert 'study <- "../runs/s"' in (home / "paper/new.qmd").read_text(encoding="utf-8")
    assert runs.sessions()


def test_what_others_wrote_is_no_code_of_r(delibsim, home):
    (home / "topics").mkdir()
    asked = "Is `r system('touch taken')` or \\\"); system(1) <b>right</b>?"
    (home / "topics" / "bad.yaml").write_text(
        f'id: bad\nquestion: "{asked}"\nsurvey: ccps\n', "utf-8"
    )
    held_study(home, "topic=bad", "treatment=none,normative", *SMALL)
    assert delibsim("new", "report", "s").code == 0
    text = (home / "s.qmd").read_text(encoding="utf-8")
    assert "`r system" not in text
    assert "<b>" not in text


def test_a_study_without_the_outcome_gives_no_report(delibsim, home):
    held_study(home, "format=debate", "motion=voting", study="spoken")
    answer = delibsim("new", "report", "spoken")
    assert answer.code == 2
    assert "spoken gives no report in R: " in answer.err
