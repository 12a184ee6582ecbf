"""The commits that a plan freezes: of delibsim only where it is a checkout, of the study's folder
where that lies in a repository.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import delibsim

SETTINGS = ("study=pilot", "topic=ccps", "treatment=none", "group.size=2")


def git(folder, *words):
    """What git answers in a folder."""
    who = ("-c", "user.name=A", "-c", "user.email=a@b.c")
    return subprocess.check_output(["git", *who, *words], cwd=folder, text=True).strip()


def commits_of_a_study(folder, path):
    """The commits that `delibsim run` freezes in a folder, with the package found on `path`."""
    variables = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(path)}
    program = "import sys; from delibsim.cli.main import main; sys.exit(main())"
    call = [sys.executable, "-c", program, "run", *SETTINGS]
    subprocess.run(call, cwd=folder, env=variables, check=True, capture_output=True)
    return json.loads((folder / "runs/pilot/study.json").read_text())["begun"]["commit"]


def copy_of_the_package(to):
    """The package as it is installed: its data inside, no repository around."""
    package = Path(delibsim.__file__).parent
    unwanted = shutil.ignore_patterns("__pycache__")
    shutil.copytree(package, to / "delibsim", ignore=unwanted)
    for name in ("conf", "topics", "surveys"):
        if (package.parent / name).is_dir():
            shutil.copytree(package.parent / name, to / "delibsim" / name, ignore=unwanted)


def repository_with_a_commit(folder):
    """The commit of a new repository in a folder, which leaves its environment out."""
    (folder / ".gitignore").write_text(".venv\nruns\n.cache\n")
    git(folder, "init", "--quiet")
    git(folder, "add", ".gitignore")
    git(folder, "commit", "--quiet", "-m", "begun")
    return git(folder, "rev-parse", "HEAD")


def test_an_installed_package_does_not_take_the_commit_of_the_users_repository(tmp_path):
    site = tmp_path / ".venv" / "lib" / "site-packages"
    copy_of_the_package(site)
    commit = repository_with_a_commit(tmp_path)
    assert commits_of_a_study(tmp_path, site) == {"study": commit}


def test_a_checkout_records_its_own_commit(tmp_path):
    checkout, home = tmp_path / "checkout", tmp_path / "home"
    copy_of_the_package(checkout)
    home.mkdir()
    commit = repository_with_a_commit(checkout)
    assert commits_of_a_study(home, checkout) == {"delibsim": commit}
