"""Links, cookies, panels, consent, checks and questions, over real HTTP and without scripts."""

import re
import threading
from dataclasses import replace

import httpx
from people_site import PLAIN, Browser, answers_of, hall_of, hidden, link_for, open_link, served

from delibsim.domain.hosting import HostingQuestion
from delibsim.store.people.persons import person_of, persons, revoke_open
from delibsim.store.people.rooms import seat_of, shut_out
from delibsim.web.people import visits
from delibsim.web.people.visits import COOKIE

CHECK = HostingQuestion(
    "order", "How does the group talk?", options=("In turn", "At once"), right=("In turn",)
)
BOTH = HostingQuestion("both", "Which are odd?", "several", ("1", "2", "3"), right=("1", "3"))
AGE = HostingQuestion("age", "How old are you?", "number", low=16, high=120)
FREE = HostingQuestion("job", "What is your work?", "text", required=False)


def test_looking_at_a_link_changes_nothing_and_a_button_lets_in(tmp_path):
    hall = hall_of(tmp_path)
    code, link = link_for(hall, "Ada")
    with served(hall) as address:
        scanner = Browser(address)
        for _ in range(3):
            assert scanner.get(link).status_code == 200
        assert scanner.http.head(link).status_code == 200
        assert not scanner.http.cookies
        assert seat_of(hall.register, code) is None
        answer = Browser(address).http.post(link)
        cookie = answer.headers["set-cookie"]
        assert answer.status_code == 303
        assert answer.headers["location"] == "/me"
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        assert "Secure" not in cookie
        again = Browser(address).enter(link)
        other = Browser(address).enter(link, consent=False)  # another device: the same seat
        assert person_of(hall.register, code).consent_version == PLAIN.consent_version
        other.get()
        assert [seat_of(hall.register, one.id) for one in persons(hall.register)] == [
            seat_of(hall.register, code)
        ]
        assert "(you)" in again.page.text
        assert "(you)" in other.page.text


def test_links_that_are_none_too_old_or_revoked_open_nothing_and_guessing_is_slowed(tmp_path):
    hall = hall_of(tmp_path)
    _, old = link_for(hall, days=-1.0)
    gone, revoked = link_for(hall)
    shut_out(hall.register, gone)
    shared = open_link(hall)
    with served(hall) as address:
        browser = Browser(address)
        for link in (old, revoked, "/i/none", "/i/" + "é" * 300):
            assert browser.get(link).status_code == 404
            assert browser.http.post(link).status_code == 404
        statuses = [browser.get(f"/i/guess-{n}") for n in range(40)]
        last = statuses[-1]
        assert last.status_code == 429
        assert int(last.headers["retry-after"]) > 0
        assert "Too many requests" in last.text
        assert browser.get(shared).status_code == 200  # good links go on at this address
        assert Browser(address).enter(shared).page.status_code == 200
        revoke_open(hall.register)
        assert Browser(address).get(shared).status_code in (404, 429)


def test_two_hundred_people_of_one_address_come_in_at_once(tmp_path):
    hall = hall_of(tmp_path)
    link = open_link(hall)
    with served(hall) as address, httpx.Client(base_url=address, timeout=30) as http:
        for _ in range(200):
            assert http.get(link).status_code == 200
            assert http.get("/~assets/people.css").status_code == 200
            assert http.post(link).status_code == 303
            http.cookies.clear()
    assert len(persons(hall.register)) == 200


def test_an_open_link_does_not_let_in_thousands_of_one_address(tmp_path, monkeypatch):
    monkeypatch.setattr(visits, "NEWCOMERS", (3, 60.0))
    hall = hall_of(tmp_path)
    link, (_, own) = open_link(hall), link_for(hall)
    with served(hall) as address:
        got = [Browser(address).http.post(link).status_code for _ in range(5)]
        assert got == [303] * 3 + [429] * 2
        assert Browser(address).http.post(own).status_code == 303
    assert len(persons(hall.register)) == 4


def test_an_id_of_a_panel_is_one_person_however_often_it_comes(tmp_path):
    hall = hall_of(tmp_path, hosting=replace(PLAIN, panel="PROLIFIC_PID"))
    link = open_link(hall)
    with served(hall) as address:
        without = Browser(address)
        assert without.get(link).status_code == 400
        assert without.http.post(link).status_code == 400
        place = f"{link}?PROLIFIC_PID=abc123&STUDY_ID=x"
        threads = [
            threading.Thread(target=Browser(address).http.post, args=[place]) for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        (one,) = persons(hall.register)
        browser = Browser(address).enter(place)
        assert "abc123" not in browser.page.text
        seat = seat_of(hall.register, one.id)
        assert seat is not None
        Browser(address).enter(f"{link}?PROLIFIC_PID=other")
        assert len(persons(hall.register)) == 2
        # On the device of one, the other's id is the other's.
        browser.enter(f"{link}?PROLIFIC_PID=other", consent=False)
        assert seat_of(hall.register, one.id) == seat
        assert len(persons(hall.register)) == 2


def test_an_open_link_knows_a_device_and_lets_somebody_else_in(tmp_path):
    hall = hall_of(tmp_path)
    link = open_link(hall)
    with served(hall) as address:
        browser = Browser(address).enter(link)
        assert "go on where you were" in browser.get(link).text
        browser.http.post(link)
        assert len(persons(hall.register)) == 1
        assert "new=1" in browser.get(link).text
        browser.http.post(f"{link}?new=1")
        assert len(persons(hall.register)) == 2


def test_consent_can_be_refused_and_read_once_more(tmp_path):
    hall = hall_of(tmp_path, hosting=replace(PLAIN, consent="# I agree\n\n<script>no</script>"))
    code, link = link_for(hall)
    with served(hall) as address:
        browser = Browser(address).enter(link, consent=False)
        assert "<h2>I agree</h2>" in browser.page.text
        assert "&lt;script&gt;no&lt;/script&gt;" in browser.page.text
        assert "You do not take part" in browser.post("/me/consent", refuse="1").text
        assert person_of(hall.register, code).stage == "declined"
        assert seat_of(hall.register, code) is None
        browser.post("/me/consent", again="1")
        browser.post("/me/consent", agree="1")
        found = person_of(hall.register, code)
        assert found.stage == "ready"
        assert found.consented is not None
        browser.post("/me/consent", refuse="1")  # a form of before, by the back button
        assert person_of(hall.register, code).stage == "ready"


def test_checks_count_once_for_each_form_and_questions_are_kept(tmp_path):
    hosting = replace(
        PLAIN, information="We talk *in turn*.", checks=(CHECK, BOTH), questions=(AGE, FREE)
    )
    hall = hall_of(tmp_path, hosting=hosting)
    code, link = link_for(hall)
    with served(hall) as address:
        browser = Browser(address).enter(link)
        assert "We talk <em>in turn</em>." in browser.page.text
        right = {"q-order": "In turn", "q-both": ["1", "3"], "q-age": "40", "q-job": "<b>baker</b>"}
        for wrong in (
            {"q-age": "12"},
            {"q-age": "many"},
            {"q-order": ""},
            {"q-order": "x"},
            {"q-age": ""},
        ):
            assert browser.post("/me/questions", **right | wrong).status_code == 422
            assert "checked" in browser.page.text
            assert "&lt;b&gt;baker" in browser.page.text
        assert answers_of(hall.register) == []
        form = hidden(browser.page.text) | right | {"q-both": ["1"]}
        first = browser.http.post("/me/questions", data=form)
        second = browser.http.post("/me/questions", data=form)  # a double click
        assert first.status_code == 422
        assert second.status_code == 303
        assert person_of(hall.register, code).stage == "consented"
        browser.get()
        browser.post("/me/questions", **right)
        assert person_of(hall.register, code).stage == "ready"
        kept = {
            (row["question"], row["attempt"]): row["value"] for row in answers_of(hall.register)
        }
        assert kept["both", 0] == "1"
        assert kept["both", 1] == "1; 3"
        assert kept["age", 0] == "40"


def test_who_fails_the_checks_too_often_cannot_go_on(tmp_path):
    hall = hall_of(tmp_path, hosting=replace(PLAIN, checks=(CHECK,), attempts=2))
    code, link = link_for(hall)
    with served(hall) as address:
        browser = Browser(address).enter(link)
        for _ in range(2):
            browser.get()
            browser.post("/me/questions", **{"q-order": "At once"})
        assert person_of(hall.register, code).stage == "failed_checks"
        assert "cannot take part" in browser.get().text
        assert seat_of(hall.register, code) is None


def test_pages_are_in_the_language_that_is_asked_for(tmp_path):
    hall = hall_of(tmp_path)
    with served(hall) as address:
        browser = Browser(address)
        link = open_link(hall)
        assert '<html lang="de" dir="ltr">' in browser.get(f"{link}?lang=de").text
        browser.enter(f"{link}?lang=de", consent=False)
        assert "Bevor Sie" in browser.page.text or 'lang="de"' in browser.page.text
        assert 'lang="fr"' in browser.post("/me/language", language="fr").text
        assert '<html lang="fr"' in browser.get("/nothing/here").text
        browser.post("/me/language", language="../en")
        assert '<html lang="fr"' in browser.get().text


def test_requests_of_other_pages_names_and_methods_are_refused(tmp_path):
    hall = hall_of(tmp_path)
    _, link = link_for(hall)
    with served(hall, hosts=["study.example.org"]) as address:
        http = Browser(address).http
        for headers in (
            {"origin": "https://evil.example"},
            {"origin": "null"},
            {"sec-fetch-site": "cross-site"},
            {"sec-fetch-site": "same-site"},
        ):
            assert http.post(link, headers=headers).status_code == 403, headers
        assert http.post(link, headers={"origin": address}).status_code == 303
        assert http.get(link, headers={"host": "evil.example"}).status_code == 421
        assert http.get(link, headers={"host": "study.example.org"}).status_code == 200
        assert http.put(link).status_code == 405
        for path in ("/me", link, "/nothing", "/~assets/people.css"):
            found = http.get(path).headers
            policy = found["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert found["x-content-type-options"] == "nosniff"
            assert "no-store" in found["cache-control"] or path.startswith("/~assets")


def test_a_proxy_is_believed_only_where_it_was_declared(tmp_path):
    hall = hall_of(tmp_path)
    _, link = link_for(hall)
    claims = {"x-forwarded-proto": "https", "x-forwarded-for": "9.9.9.9"}
    with served(hall) as address:
        answer = Browser(address).http.post(link, headers=claims)
        assert "Secure" not in answer.headers["set-cookie"]
        assert "strict-transport-security" not in answer.headers
    hall = hall_of(tmp_path)
    with served(hall, proxies=["127.0.0.1"]) as address:
        answer = Browser(address).http.post(link, headers=claims)
        assert "Secure" in answer.headers["set-cookie"]
        assert "max-age" in answer.headers["strict-transport-security"]
        http = Browser(address).http
        tried = [
            http.get("/i/no", headers={"x-forwarded-for": f"1.1.1.1, 2.2.2.{n % 2}"}).status_code
            for n in range(50)
        ]
        assert tried == [404] * 50  # each of the two addresses has tried 25 times
        assert http.get("/me", headers={"cookie": f"{COOKIE}=x"}).status_code == 403


def test_no_secret_stands_in_what_the_server_prints(tmp_path, capfd):
    hall = hall_of(tmp_path)
    _, link = link_for(hall, "Ada Planted")
    with served(hall) as address:
        browser = Browser(address).enter(link)
        browser.get("/nothing")
        browser.http.post("/me/answer", data={"key": "x"})
        cookie = browser.http.cookies[COOKIE]
        codes = re.findall(r"[0-9a-f]{16}", browser.page.text)
    out, err = capfd.readouterr()
    for secret in (cookie, link.removeprefix("/i/"), "Planted", *codes):
        assert secret not in out + err


def test_who_was_revoked_does_not_come_back_by_the_id_of_a_panel(tmp_path):
    hall = hall_of(tmp_path)
    link = open_link(hall)
    with served(hall, holding=False) as address:
        browser = Browser(address).enter(f"{link}?PROLIFIC_PID=5f1")
        assert browser.page.status_code == 200
        (person,) = persons(hall.register)
        assert shut_out(hall.register, person.id) == 1
        again = Browser(address).http.post(f"{link}?PROLIFIC_PID=5f1")
        assert again.status_code == 403
        assert "set-cookie" not in again.headers
        other = Browser(address).http.post(f"{link}?PROLIFIC_PID=5f2", follow_redirects=False)
        assert other.status_code == 303


def test_nothing_is_shown_between_consent_and_conversation_where_nothing_is_declared(tmp_path):
    hall = hall_of(tmp_path)
    _, link = link_for(hall)
    with served(hall) as address:
        browser = Browser(address).enter(link, consent=False)
        page = browser.post("/me/consent", agree="1")
        assert 'id="part"' in page.text  # the lobby
