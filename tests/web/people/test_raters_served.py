"""`delibsim serve` with raters: from the link of an invitation to the completion code and the rows,
and other people's cookies are of no use.
"""

import re
import signal
from contextlib import ExitStack, closing
from pathlib import Path

import httpx
import pytest
import warm
from people_site import until
from rated import debates_online, study_of_debates

from delibsim.store.answers import PanelRatings
from delibsim.store.people.persons import Invitation, invite
from delibsim.store.people.register import Register
from delibsim.store.people.schema import Role

TESTS = Path(__file__).parents[2]
INPUT = re.compile(r'<input[^>]*name="([A-Z0-9a-z_-]+)"[^>]*>')
RADIO = re.compile(r'<input type="radio" name="([\w-]+)" value="([^"]*)"')
HOSTING = """\
consent: I take part.
information: You rate.
debriefing: That was all.
withdrawal: delete
completion_code: CODE77
contact: us@example.org
"""
OWN = """\
raters:
  consent: I judge.
  debriefing: That was all of it.
  questions:
    - {id: age, text: How old are you?, kind: number, required: false}
"""


@pytest.fixture
def served(tmp_path, monkeypatch):
    """Serves a study by the command, in a process of its own; it is asked to stop at the end."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.yaml").write_text(HOSTING, encoding="utf-8")

    def serve(runs):
        process = stack.enter_context(warm.Piped(["serve", runs.study, "--port", "0"], tmp_path))
        return process.stdout.readline().strip(), process

    with ExitStack() as stack:
        yield serve


def come_in(address, runs, role, task=""):
    """Somebody follows an open link, agrees, and reads what is told; the browser keeps what she
    agreed to.
    """
    register = Register.of(runs)
    token = invite(register, Invitation("", role, task=task), 1)
    register.close()
    headers = {"origin": address}
    client = httpx.Client(base_url=address, headers=headers, follow_redirects=True, timeout=30)
    page = client.post(f"/i/{token}").text
    client.consent = page
    page = client.post("/me/consent", data={**hidden(page), "agree": "1"}).text
    for path in ("/me/information", "/me/questions"):
        if f'action="{path}"' in page:
            judges = dict(RADIO.findall(page)[:1])  # the right answer stands first
            page = client.post(path, data={"tried": "0"} | hidden(page) | judges).text
    return client, page


def hidden(page):
    return {"csrf": re.search(r'name="csrf" value="([^"]+)"', page)[1]}


def through(client, page):
    page = client.post("/rate/begin", data=hidden(page)).text
    pages = 0
    while 'action="/rate/answer"' in page:
        fields = dict.fromkeys(INPUT.findall(page), "61") | dict(RADIO.findall(page))
        for name in ("key", "csrf"):
            fields[name] = re.search(rf'name="{name}" value="([^"]+)"', page)[1]
        page = client.post("/rate/answer", data=fields).text
        pages += 1
    return page, pages


def test_from_the_link_to_the_completion_code_and_the_rows(tmp_path, served):
    (tmp_path / "people.yaml").write_text(HOSTING + OWN, encoding="utf-8")
    runs = study_of_debates(tmp_path)
    task = debates_online(runs, raters=1, each=2)
    address, process = served(runs)
    client, page = come_in(address, runs, Role.RATER, task)
    with closing(client):
        assert "I judge." in client.consent
        assert "I take part." not in client.consent
        assert "Number of debates: 2" in page
        page, pages = through(client, page)
        assert (pages, "handed in everything" in page) == (4, True)
        end = client.get("/me").text
        assert "CODE77" in end
        assert "That was all of it." in end
        assert client.get("/rate").status_code == 200
    until(lambda: len(PanelRatings.of(runs, "people").people()) == 2)
    other, page = come_in(address, runs, Role.RATER, task)
    with closing(other):
        assert "nothing to do" in page
    nobody, page = come_in(address, runs, Role.PARTICIPANT)
    with closing(nobody):
        assert "I take part." in nobody.consent
        assert nobody.get("/rate").status_code == 403
        assert nobody.post("/rate/begin", data={"csrf": "x"}).status_code == 403
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) in (0, 3)
    assert any(task in score.coder for score in runs.scores())
