"""The proxies of docs/deploy.md for real, with TLS: pages, cookies, events, and what they log."""

import os
import re
import shutil
import socket
import ssl
import subprocess
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from people_site import Browser, hall_of, link_for, served

pytestmark = pytest.mark.heavy
PAGE = (Path(__file__).parents[3] / "docs" / "deploy.md").read_text(encoding="utf-8")
NAME = "study.example.org"


def block(language):
    """The configuration of a proxy as it stands on the page."""
    return re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[1]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as made:
        return made.getsockname()[1]


def changed(text, *pairs):
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


def nginx(home, port, behind):
    """The command of nginx with the block of the page; other port, certificate and folders."""
    own = changed(
        block("nginx"),
        ("listen 443 ssl http2", f"listen 127.0.0.1:{port} ssl http2"),
        ("/etc/letsencrypt/live/study.example.org/fullchain.pem", f"{home}/cert.pem"),
        ("/etc/letsencrypt/live/study.example.org/privkey.pem", f"{home}/key.pem"),
        ("/var/log/nginx/study.log", f"{home}/study.log"),
        ("127.0.0.1:8377", f"127.0.0.1:{behind}"),
    )
    temporary = "".join(
        f"  {kind}_temp_path {home}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;\n" if os.geteuid() == 0 else ""
    text = f"{user}daemon off;\npid {home}/pid;\nerror_log {home}/error.log;\nevents {{}}\n"
    text += f"http {{\n  access_log {home}/access.log;\n{temporary}{own}}}\n"
    file = home / "nginx.conf"
    file.write_text(text, encoding="utf-8")
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    return [program, "-c", file, "-e", home / "error.log"]


def caddy(home, port, behind):
    """The command of Caddy with the file of the page; other port and certificate."""
    text = changed(
        block("caddy"),
        ("{\n\tlog", "{\n\tadmin off\n\tauto_https disable_redirects\n\tlog"),
        (f"\n{NAME} {{", f"\nhttps://{NAME}:{port} {{\n\ttls {home}/cert.pem {home}/key.pem"),
        ("127.0.0.1:8377", f"127.0.0.1:{behind}"),
    )
    file = home / "Caddyfile"
    file.write_text(text, encoding="utf-8")
    return ["caddy", "run", "--config", file, "--adapter", "caddyfile"]


@contextmanager
def running(command, home, port):
    environment = os.environ | {"HOME": str(home), "XDG_DATA_HOME": str(home)}
    with (home / "said.log").open("wb") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, env=environment)
    try:
        end = time.monotonic() + 15
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                told = (home / "said.log").read_text(encoding="utf-8")
                assert process.poll() is None and time.monotonic() < end, told  # noqa: PT018
                time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(10)


class Through(httpx.HTTPTransport):
    """Reaches the name of the study on this machine."""

    def handle_request(self, request):
        here = httpx.Request(
            request.method,
            request.url.copy_with(host="127.0.0.1"),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": NAME},
        )
        return super().handle_request(here)


@pytest.mark.parametrize("proxy", [nginx, caddy])
def test_people_take_part_behind_the_proxy_of_the_page(tmp_path, proxy):
    if not (shutil.which(proxy.__name__) or Path(f"/usr/sbin/{proxy.__name__}").is_file()):
        pytest.skip(f"{proxy.__name__} is not installed")
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
            f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}", "-keyout", tmp_path / "key.pem",
            "-out", tmp_path / "cert.pem"]  # fmt: skip
    subprocess.run(make, check=True, capture_output=True)
    trusted = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    hall = hall_of(tmp_path, models="[person,citizen,citizen]")
    _, link = link_for(hall)
    port, behind = free_port(), free_port()
    address = f"https://{NAME}:{port}"
    with running(proxy(tmp_path, port, behind), tmp_path, port):
        browser = Browser(address, origin=address)
        browser.http = httpx.Client(
            base_url=address,
            headers={"origin": address, "x-forwarded-for": "203.0.113.9"},
            transport=Through(verify=trusted),
            timeout=20,
        )
        with browser.http:
            down = browser.http.get(link)
            assert down.status_code == 502  # delibsim does not run yet
            with served(hall, proxies=["127.0.0.1"], hosts=[NAME], port=behind):
                entered = browser.http.post(link, follow_redirects=False)
                assert entered.status_code == 303
                cookie = entered.headers["set-cookie"]
                assert "Secure" in cookie
                assert "HttpOnly" in cookie
                assert "max-age" in entered.headers["strict-transport-security"]
                browser.get()
                assert browser.post("/me/consent", agree="1").status_code == 200
                browser.asked()
                assert seconds_to_an_event(browser, hall) < 2.0
                assert browser.answer().status_code == 200
                wrong = browser.http.get("/me", headers={"host": "elsewhere.example.org"})
                assert wrong.status_code in (404, 421) or not wrong.text  # Caddy answers nothing
    secret = link.rsplit("/", 1)[1].encode()
    logs = [path for path in tmp_path.rglob("*.log") if path.is_file()]
    assert logs
    for path in logs:
        assert secret not in path.read_bytes(), path


def seconds_to_an_event(browser, hall):
    """From a message of the researcher to the line of the stream, which stays open."""
    (session,) = hall.sessions
    sent = []

    def send():
        sent.append(time.monotonic())
        hall.say(session, "Hello.")

    with browser.http.stream("GET", "/me/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        sender = threading.Timer(1.0, send)
        sender.start()
        for line in answer.iter_lines():
            if line.startswith("event:") and sent:
                break
        came = time.monotonic()
        sender.join()
    return came - sent[0]
