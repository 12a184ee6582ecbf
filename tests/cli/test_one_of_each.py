"""Studies with one of a thing, or in which nothing varies: every report command gives a reason
instead of a traceback, a warning, or a number that is none.
"""

import re

import pytest
from cases import cases_of
from coded_study import coded_study
from small_study import held_study

CASES = cases_of(__file__)
NO_NUMBER = re.compile(r"\b(nan|NaN|None)\b(?!lation)|Traceback|Warning:")
SMALL = ("group.size=2", "rounds=1")
FEW = ("--draws", "20")
OF_SESSIONS = (
    ("score", "--all"), ("analyze", *FEW), ("plot",), ("power",), ("fork",), ("status",), ("export",), ("rate report",),
)  # fmt: skip
STUDIES = CASES["STUDIES"]
DEBATE = (
    "run", "-q", "format=debate", "motion=voting", "proposition=citizen_eloquent",
    "opposition=citizen_halting", "study=s",
)  # fmt: skip
PAIR = (
    'id,topic,text\nt1,trams,"Trams carry many, since streets are narrow."\nt2,trams,They rattle.\n'
)
OPINIONS = (
    "id,text,stance,minority,quarter\na1,The buses are full.,positive,no,north\n"
    "a4,Rails are expensive.,negative,yes,south\n"
)
CODES = {
    "one code": "t1,Ann,1\n",
    "one text": "t1,Ann,1\nt1,Ben,1\n",
    "one text, two levels": "t1,Ann,1\nt1,Ben,2\n",
    "one coder": "t1,Ann,1\nt2,Ann,2\n",
    "one level": "t1,Ann,1\nt1,Ben,1\nt2,Ann,1\nt2,Ben,1\n",
    "no text in common": "t1,Ann,1\nt2,Ben,2\n",
}


@pytest.fixture
def told(delibsim):
    """Call a command that must end in order, and with a reason where it gives nothing."""

    def call(*words):
        answer = delibsim(*words)
        assert answer.code in (0, 2, 3, 4), answer.err
        assert not answer.err.startswith("Usage:"), answer.err
        said = "\n".join(line for line in answer.out.splitlines() if '"' not in line)
        found = NO_NUMBER.search(said + answer.err)
        assert found is None, f"{' '.join(map(str, words))}: {found}"
        assert answer.code in (0, 3) or (answer.out + answer.err).strip()
        return answer

    return call


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", STUDIES)
def test_sessions(told, home, kind):
    given = [word.partition("=")[0] for word in STUDIES[kind]]
    small = [
        word for word in SMALL if "format" not in given and word.partition("=")[0] not in given
    ]
    held_study(home, *STUDIES[kind], *small)
    for command in OF_SESSIONS:
        first, *words = command
        told(*first.split(), "s", *words)


def test_one_rated_debate_and_ratings_that_do_not_vary(told, home):
    told(*DEBATE)
    told("rate", "ask", "s")
    answer = told("rate", "report", "s", "-o", "rep")
    assert "it needs two kinds of debaters" in answer.out


@pytest.mark.parametrize("n", [1, 2])
def test_one_coded_text(told, home, n):
    coded_study(home / "runs", n)
    told("code", "report", "pilot", "--tables", "all", "-o", "rep")
    told("code", "report", "pilot", "--json", "--against", "year", "--by", "group")


@pytest.mark.parametrize("votes", ["t1,t2,a,p1\n", "t1,t2,tie,p1\n", "t1,t2,a,p1\nt1,t2,a,p2\n"])
def test_one_pair(told, home, votes):
    (home / "texts.csv").write_text(PAIR)
    columns = ("column=text", "id=id", "group=topic")
    told("import", "s", "texts.csv", *columns, "--as", "texts")
    (home / "votes.csv").write_text(f"a,b,outcome,who\n{votes}")
    assert told("import", "s", "votes.csv", "--as", "pairs").code == 0
    told("compare", "report", "s", "-o", "rep")
    told("compare", "report", "s", "model=davidson")


def test_one_summary(told, home):
    (home / "o.csv").write_text(OPINIONS)
    told("import", "s", "o.csv", "question=Should we build a tram?", "--as", "texts")
    told("summarise", "ask", "s", "sizes=all", "runs=1", "model=citizen")
    told("summarise", "report", "s")
    told("judge", "ask", "s", "model=citizen", "group.size=2")
    told("summarise", "report", "s", "by=quarter", "-o", "rep")
    told("summarise", "report", "s", "--tables", "gaps,overlap,least_represented")


@pytest.mark.parametrize("kind", CODES)
@pytest.mark.parametrize("more", [(), ("--weights", "linear", "--bootstrap", "50"), ("--json",)])
def test_one_of_a_table_of_codes(told, home, kind, more):
    (home / "codes.csv").write_text(f"text,coder,level\n{CODES[kind]}")
    told("agreement", "codes.csv", *more)


def test_one_fork(told, home):
    told("run", "-q", "study=s", "topic=ccps", "treatment=normative", "seed=1", *SMALL)
    (session,) = (path.parent.name for path in (home / "runs" / "s").glob("*/run.json"))
    (home / "say.txt").write_text("Trams!")
    told("fork", f"s/{session}", "--at", "1", "--say", "1=say.txt")
    told("fork", "s", "--items")
    told("fork", "s", "--json")
