"""What keeps the project alive agrees with itself: versions of Python, checks, templates,
versions.
"""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TEMPLATES = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def read(name):
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_the_workflow_tests_every_python_that_is_declared():
    job = read(".github/workflows/test.yml")["jobs"]["test"]
    declared = []
    for classifier in PROJECT["classifiers"]:
        declared += re.findall(r"Python :: (3\.\d+)$", classifier)
    assert job["strategy"]["matrix"]["python"] == declared
    first, last = declared[0], int(declared[-1].removeprefix("3."))
    assert PROJECT["requires-python"] == f">={first},<3.{last + 1}"
    assert any("make test" in step.get("run", "") for step in job["steps"])


def test_what_is_checked_before_a_commit_is_what_make_lint_checks():
    (repo,) = read(".pre-commit-config.yaml")["repos"]
    assert repo["repo"] == "local"
    (hook,) = repo["hooks"]
    assert hook["entry"].split() == ["make", "--silent", "lint"]
    assert hook["language"] == "system"


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_has_what_its_host_asks_for(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    if path.name == "config.yml":
        assert form == {"blank_issues_enabled": True}
        return
    assert {"name", "description", "body"} <= set(form)
    fields = [part for part in form["body"] if part["type"] != "markdown"]
    ids = [part["id"] for part in fields]
    assert len(set(ids)) == len(ids)
    assert all(part["attributes"]["label"] for part in fields)


def test_a_wrong_number_cannot_be_reported_without_what_is_needed_to_check_it():
    form = read(".github/ISSUE_TEMPLATE/wrong-number.yml")
    needed = []
    for part in form["body"]:
        if part.get("validations", {}).get("required"):
            needed.append(part["id"])
    assert needed == ["measure", "version", "input", "found", "expected"]


def test_one_version_stands_everywhere():
    assert read("CITATION.cff")["version"] == PROJECT["version"]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{PROJECT['version']}]" in changes


def test_what_is_to_be_written_or_changed_exists():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = page.partition("## To add something")[2].partition("\n## ")[0]
    paths = []
    for row in section.splitlines():
        if row.startswith("| a "):
            paths += re.findall(r"`([\w/.]*/[\w/.]*|[\w.]+\.py)`", row)
    assert len(paths) > 30
    for path in paths:
        places = [base / path for base in (ROOT, ROOT / "delibsim")]
        assert "NAME" in path or any(place.exists() for place in places), path


def test_nothing_lies_at_the_root_that_does_not_belong_there():
    ours = (
        ".ci .github .gitignore .pre-commit-config.yaml CHANGELOG.md CITATION.cff CONTRIBUTING.md"
        " LICENSE Makefile README.md RELEASING.md SECURITY.md bench conf delibsim docs"
        " pyproject.toml requirements schemes surveys tests topics zensical.toml"
    )
    ignored = []
    for line in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            ignored.append(line.strip("/"))
    found = []
    for path in ROOT.iterdir():
        if not any(path.match(pattern) for pattern in (*ignored, ".git")):
            found.append(path.name)
    assert sorted(found) == sorted(ours.split())


@pytest.mark.parametrize("page", ["docs/decisions.md", "docs/plugins.md"])
def test_modules_that_are_named_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for path in set(re.findall(r"`([\w/]+/\w+\.py)`", text)):
        assert any((base / path).exists() for base in (ROOT, ROOT / "delibsim")), path
