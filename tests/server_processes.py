"""`delibsim serve` in processes of their own, several on one study, to be killed."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
CODE = "import sys; from delibsim.cli.main import main; sys.exit(main())"
HOSTING = "consent: I take part.\ntyping: null\nwithdrawal: delete\ndebriefing: It is *over*.\n"


class Server:
    """One process; `address` is where its pages are."""

    def __init__(self, home, *settings):
        words = [sys.executable, "-c", CODE, "serve", *settings, "--port", "0"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            words, cwd=home, env=environment, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("http"), self.process.stderr.read()

    def kill(self):
        """Kill it with -9."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """Stop it as Ctrl-C does; all that it said."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return "".join(self.process.communicate(timeout=30))


@contextmanager
def servers(home):
    """Starts servers of studies in a folder; all of them are ended."""
    running = []
    (home / "people.yaml").write_text(HOSTING, encoding="utf-8")

    def start(*settings):
        running.append(Server(home, *settings))
        return running[-1]

    try:
        yield start
    finally:
        for one in running:
            one.process.kill()
            one.process.communicate()


def until_over(*browsers, seconds=40):
    """Everybody answers what is asked until all have reached the end."""
    end, going = time.monotonic() + seconds, list(browsers)
    while going:
        assert time.monotonic() < end, going[0].page.text
        for browser in list(going):
            text = browser.get().text
            if "<h1>You have reached the end</h1>" in text:
                going.remove(browser)
            elif 'action="/me/answer"' in text:
                assert browser.answer().status_code == 200
        time.sleep(0.2)
