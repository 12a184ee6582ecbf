"""Commands in processes that begin with everything imported: forked from one that imported it.

They are processes like any other: each has its own folder, environment, streams and exit code. Only
what an interpreter does before a command begins is done once for all of them.
"""

import contextlib
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from functools import cache
from importlib import import_module
from io import BufferedReader, BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path

LARGEST = 65_536
"""Bytes of a request."""
IMPORTED = (
    "delibsim.models.clients.openai_compatible", "delibsim.engine.forum", "delibsim.people.hall",
    "delibsim.web.people.app", "openai", "pandas", "uvicorn",
)  # fmt: skip
"""What commands import besides their own modules, within functions."""
ONE = threading.Lock()


class Process:
    """A command that runs, with the methods of `subprocess.Popen` that tests need.

    It is `delibsim`, or Python where the first argument is `-c`. `streams` are the numbers of its
    stdin, stdout and stderr, and `room` is the most bytes that one of its files may have.
    """

    def __init__(self, arguments, folder, environment, streams, room=None):
        asked = {
            "arguments": list(map(str, arguments)),
            "folder": str(folder),
            "environment": dict(environment),
            "room": room,
        }
        self.returncode = None
        self.line = socket.socket(socket.AF_UNIX)
        with ONE:  # two threads that ask at once would start two
            address = _server().address
        self.line.connect(address)
        socket.send_fds(self.line, [json.dumps(asked).encode()], streams)
        self.pid = self._told()

    def _told(self):
        """The next number that is sent of the process: its own, and then its exit code."""
        said = b""
        while not said.endswith(b"\n"):
            said += self.line.recv(1)
        return int(said)

    def send_signal(self, number):
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def poll(self):
        """The exit code, None while it runs."""
        if self.returncode is None and select.select([self.line], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout=None):
        """The exit code, when the command has ended."""
        if self.returncode is None:
            self.line.settimeout(timeout)
            self.returncode = self._told()
            self.line.close()
        return self.returncode


class Heard(Process):
    """A command whose output is kept until it has ended; it reads a file, or nothing."""

    def __init__(self, arguments, folder, environment, read=None, room=None):
        self.said = ()
        self.kept = [tempfile.TemporaryFile(), tempfile.TemporaryFile()]  # noqa: SIM115
        with open(os.devnull, "rb") as nothing:
            streams = [file.fileno() for file in (read or nothing, *self.kept)]
            super().__init__(arguments, folder, environment, streams, room)

    def wait(self, timeout=None):
        """The exit code, when the command has ended."""
        super().wait(timeout)
        while self.kept:
            with self.kept.pop(0) as file:
                file.seek(0)
                self.said += (file.read().decode(),)
        return self.returncode

    def communicate(self, timeout=None):
        """What it wrote to stdout and stderr, when it has ended."""
        self.wait(timeout)
        return self.said


class Piped(Process):
    """A command that is read while it runs: `stdout` and `stderr` are streams of text. It is killed
    where nobody has ended it.
    """

    def __init__(self, arguments, folder, environment=os.environ):
        (out, wrote_out), (err, wrote_err) = os.pipe(), os.pipe()
        self.stdout, self.stderr = open(out, encoding="utf-8"), open(err, encoding="utf-8")  # noqa: SIM115
        with open(os.devnull, "rb") as nothing:
            super().__init__(
                arguments, folder, environment, (nothing.fileno(), wrote_out, wrote_err)
            )
        os.close(wrote_out)
        os.close(wrote_err)

    def communicate(self, timeout=None):
        """What it wrote to stdout and stderr since they were read last, when it has ended."""
        self.wait(timeout)
        with self.stdout, self.stderr:
            return self.stdout.read(), self.stderr.read()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.kill()
        self.wait()
        self.stdout.close()
        self.stderr.close()


def run(arguments, folder, environment, read=None, room=None):
    """Run a command to its end, which reads this file or none; exit code, stdout and stderr."""
    process = Heard(arguments, folder, environment, read, room)
    said = process.communicate()
    return process.returncode, *said


@contextlib.contextmanager
def typed(text):
    """A pipe that holds this text, at most 65,536 bytes of it, and then ends."""
    reader, writer = os.pipe()
    os.write(writer, text.encode())
    os.close(writer)
    with open(reader, "rb") as pipe:
        yield pipe


class _Server:
    """The process from which commands are forked; it ends when this one does."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.address = str(Path(self.folder.name) / "s")
        self.process = subprocess.Popen(
            [sys.executable, __file__, self.address], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"ready\n"

    def close(self):
        """End it; its time, and that of its commands, is then counted as that of this process."""
        self.process.communicate()
        self.folder.cleanup()


@cache
def _server():
    return _Server()


def close():
    """End the process from which commands are forked, if there is one."""
    if _server.cache_info().currsize:
        _server().close()
        _server.cache_clear()


def _serve(address):
    """Fork a process for each request until the input ends."""
    from delibsim.cli.main import COMMANDS

    for _, module, *_ in COMMANDS.values():
        import_module(f"delibsim.cli.{module}")
    for name in IMPORTED:
        import_module(name)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    signal.signal(signal.SIGCHLD, lambda *_: _reap())
    os.write(1, b"ready\n")
    while True:
        ready, _, _ = select.select([listener, sys.stdin], [], [])
        if sys.stdin in ready:
            break
        line, _ = listener.accept()
        if not os.fork():
            listener.close()
            _answer(line)
        line.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


def _reap():
    """Let ended children go, so that their time counts."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _answer(line):
    """Run the command that is asked for in a child, and send its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    message, streams, _, _ = socket.recv_fds(line, LARGEST, 3)
    child = os.fork()
    if not child:
        line.close()
        _become(json.loads(message), streams)
    for stream in streams:
        os.close(stream)
    with contextlib.suppress(BrokenPipeError):
        line.sendall(f"{child}\n".encode())
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        line.sendall(f"{code}\n".encode())
    os._exit(0)


def _become(asked, streams):
    """Be the command: its folder, its environment, its streams."""
    from delibsim.cli.main import main

    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    for stream in streams:
        os.close(stream)
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    os.umask(0o022)  # as a user's shell has it
    sys.argv = ["delibsim", *asked["arguments"]]
    if asked["room"]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (asked["room"], asked["room"]))
    further = asked["environment"].get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:0] = [folder for folder in further if folder and folder not in sys.path]
    # An interpreter keeps its first streams too.
    sys.stdin = sys.__stdin__ = TextIOWrapper(BufferedReader(FileIO(0, closefd=False)), "utf-8")
    sys.stdout = sys.__stdout__ = _stream(1, line_buffering=os.isatty(1))
    sys.stderr = sys.__stderr__ = _stream(2, line_buffering=True, errors="backslashreplace")
    code = 1
    try:
        if sys.argv[1:2] == ["-c"]:
            program = sys.argv[2]
            sys.argv = ["-c", *sys.argv[3:]]
            exec(program, {"__name__": "__main__"})
        else:
            main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _stream(number, **settings):
    """A stream of text to write to."""
    return TextIOWrapper(BufferedWriter(FileIO(number, "w", closefd=False)), "utf-8", **settings)


if __name__ == "__main__":
    _serve(sys.argv[1])
