"""What commands print fits the terminal: no line is longer than it is wide, no word is broken."""

import re

import pytest
from cases import cases_of
from pseudo_terminal import AtTerminal

from delibsim.cli.main import COMMANDS
from delibsim.cli.table import wrapped
from delibsim.cli.terminal import console

CASES = cases_of(__file__)
WIDTHS = (80, 140)
UNBOUNDED = 10_000
STATES = ("unchanged:",)
"""What a command says where it finds what it did before."""
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
STUDY = CASES["STUDY"]

OF_PEOPLE = CASES["OF_PEOPLE"]
INNER = {"rate": ("ask", "handout", "collect", "report"),
         "code": ("ask", "handout", "collect", "replay", "report")}  # fmt: skip


def printed(delibsim, monkeypatch, words, width):
    """What a command prints on a terminal of this width."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(width))
    answer = delibsim(*words)
    return COLOUR.sub("", answer.out), COLOUR.sub("", answer.err)


@pytest.mark.parametrize("words", STUDY, ids=" ".join)
def test_every_command_fits(delibsim, study, partial, home, monkeypatch, words):
    if words[0] == "run":  # what was held before is told in other words
        assert delibsim(*words).code == 0
    whole, err = printed(delibsim, monkeypatch, words, UNBOUNDED)
    assert "unknown command" not in err
    known = set(whole.split())
    for width in WIDTHS:
        if words[0] == "new":
            (home / "topics" / "a_topic_of_ours.yaml").unlink()
        out, _ = printed(delibsim, monkeypatch, words, width)
        assert [line for line in out.splitlines() if len(line) > width] == []
        broken = [word for word in out.split() if word not in known and "/" not in word]
        assert broken == []


@pytest.fixture
def people(home):
    """A folder with a topic of the user's own, and the answers of twelve people in two camps."""
    for folder in ("topics", "surveys"):
        (home / folder).mkdir()
    (home / "topics" / "tea.yaml").write_text("id: tea\nquestion: Tea?\n", encoding="utf-8")
    items = [f"  - {{id: C{n}, text: Reason {n} for drinking tea.}}\n" for n in range(1, 5)]
    options = [f"  - {{id: P{n}, text: Way {n} of drinking tea.}}\n" for n in range(1, 4)]
    text = "".join(["id: tea\nconsiderations:\n", *items, "preferences:\n", *options])
    (home / "surveys" / "tea.yaml").write_text(text, encoding="utf-8")
    lines = ["participant,stage,C1,C2,C3,C4,P1,P2,P3"]
    for stage in ("pre", "post"):
        for n in range(12):
            camp = [7, 2, 6, 1 + n % 3] if n % 2 else [1, 6, 2, 5 + n % 3]
            ranks = [1, 2, 3] if n % 2 else [3, 1, 2]
            lines.append(",".join(map(str, [f"a_long_name_of_a_person_{n}", stage, *camp, *ranks])))
    (home / "mine.csv").write_text("\n".join(lines), encoding="utf-8")


def test_what_is_printed_of_people_fits(delibsim, people, monkeypatch):
    for words in OF_PEOPLE:
        printed(delibsim, monkeypatch, words, UNBOUNDED)  # what is imported is there from now on
        whole, _ = printed(delibsim, monkeypatch, words, UNBOUNDED)
        assert whole or words[-1] == "aqua", words
        known = set(whole.split())
        for width in WIDTHS:
            out, _ = printed(delibsim, monkeypatch, words, width)
            assert [line for line in out.splitlines() if len(line) > width] == [], words
            broken = [word for word in out.split() if word not in known and "/" not in word]
            assert [word for word in broken if word not in STATES] == [], words


def test_help_fits(delibsim, home, monkeypatch):
    commands = [("--help",)] + [(name, "--help") for name in COMMANDS]
    for group, inner in INNER.items():
        commands += [(group, name, "--help") for name in inner]
    for words in commands:
        whole, _ = printed(delibsim, monkeypatch, words, UNBOUNDED)
        known = set(whole.split())
        for width in WIDTHS:
            out, _ = printed(delibsim, monkeypatch, words, width)
            assert [line for line in out.splitlines() if len(line) > width] == [], words
            assert [word for word in out.split() if word not in known] == [], words


DEBATE = (0, ("run", "study=d", "format=debate", "motion=voting", "audience=1"))
SWEEP = ("run", "-m", "study=m", "topic=ccps,acp", "group.models=[citizen,citizen_eloquent]")
SWEEP = (0, (*SWEEP, "group.size=2", "rounds=1"))
NO_TOPIC = (2, ("run", "topic=nothing_of_that_name_is_a_topic_here"))
NO_STUDY = (2, ("status", "nothing_of_that_name_is_a_study_here"))
NO_SETUP = (2, ("list", "scorers", "aqua"))


@pytest.mark.parametrize(
    ("width", "commands"),
    [(80, (DEBATE, SWEEP, NO_STUDY)), (100, (SWEEP, NO_TOPIC)), (140, (DEBATE, NO_SETUP))],
)
def test_a_debate_a_sweep_and_a_fault_fit_a_real_terminal(tmp_path, width, commands):
    for code, words in commands:
        terminal = AtTerminal(tmp_path, width, *words)
        assert terminal.end() == code, terminal.shown[-2000:]
        assert [line for line in terminal.lines() if len(line) > width] == []
        if code and words[-1] != "aqua":
            text = " ".join(terminal.shown.split())
            assert "nothing_of_that_name_is_a" in text
            assert re.search(r"unknown (topic|study)", text)


SCREEN = 24  # lines
LONG_NAMES = (
    "a_treatment_whose_name_is_longer_than_a_column",
    "another_treatment_with_a_long_name",
)


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """A study of twelve topics, three models and three treatments, two of them with long names."""
    folder = tmp_path_factory.mktemp("grid")
    (folder / "conf" / "treatment").mkdir(parents=True)
    for name in LONG_NAMES:
        text = f"name: {name}\ninstructions: Deliberate.\nrounds: 1\ninteraction: true\n"
        (folder / "conf" / "treatment" / f"{name}.yaml").write_text(text, encoding="utf-8")
    three = ("treatment=none,basic,normative", "model=citizen,citizen_open,citizen_firm")
    rest = ("-q", "-m", "topic=all", "group.size=2", "rounds=1")
    assert AtTerminal(folder, 80, "run", "study=grid", *three, *rest).end() == 0
    few = ("topic=acp,ccps", "group.size=2", f"treatment=none,{','.join(LONG_NAMES)}")
    assert AtTerminal(folder, 80, "run", "-q", "-m", "study=long", *few).end() == 0
    return folder


@pytest.mark.parametrize("width", WIDTHS)
def test_a_whole_study_is_scored_on_one_screen(grid, width):
    terminal = AtTerminal(grid, width, "score", "grid")
    assert terminal.end() == 0
    lines = terminal.lines()
    assert [line for line in lines if len(line) > width] == []
    assert len(lines) - 1 <= SCREEN
    heads = [line.split() for line in lines if "normative" in line and "people" in line]
    if width < 140:
        assert heads == [["measure", "basic", "none", "normative", "people"]]
    else:
        assert ["basic", "none", "normative"] in [line.split() for line in lines]
    (index,) = [line for line in lines if line.startswith("Deliberative Reason Index")]
    assert len(index.split()) == 3 + (4 if width < 140 else 10)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "words", [(), ("--by", "treatment,topic"), ("--by", "participant")], ids=" ".join
)
def test_scores_fit_whatever_treatments_are_called(grid, width, words):
    terminal = AtTerminal(grid, width, "score", "long", *words)
    assert terminal.end() == 0
    assert [line for line in terminal.lines() if len(line) > width] == []
    if not words or "treatment" in words[-1]:
        together = "".join(terminal.shown.split())
        assert all(name in together for name in LONG_NAMES)


def test_a_line_goes_on_below_what_stands_behind_its_label():
    lines = wrapped(
        "Time       openai: at least two hours, bound by tokens a minute", 40, console()
    )
    assert lines == [
        "Time       openai: at least two hours,",
        "           bound by tokens a minute",
    ]
    assert wrapped("one two three", 8, console()) == ["one two", "three"]
