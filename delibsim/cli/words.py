"""Old words of commands: accepted for one version, with a warning that names the new word."""

from collections.abc import Iterable, Sequence

OPTIONS = {"--out": "--to", "--stage": "--phase"}
"""The new option for each old one, in the commands of `WRITING`."""
WRITING = ("export", "import", "preregister", "ratings", "score")
SETTINGS = {"runs": "--runs"}
"""The option for each old setting, in the commands of `PLANNING`."""
PLANNING = ("run", "estimate", "preregister")
QUOTES = "'\""  # in which Hydra takes a value with blanks


def current_words(command: str, words: Iterable[str]) -> tuple[list[str], list[str]]:
    """The words of a command with each old one replaced, and a warning for each.

    >>> current_words("export", ["s", "--out", "tables"])
    (['s', '--to', 'tables'], ['--out is now --to; the old word goes in the next version'])
    >>> current_words("run", ["runs=studies"])[0]
    ['--runs=studies']
    """
    found, warnings = [], []
    for word in words:
        name, equals, value = word.partition("=")
        old, new, now = name, "", word
        if name in OPTIONS and command in WRITING:
            new = OPTIONS[name]
            now = f"{new}{equals}{value}"
        elif equals and name in SETTINGS and command in PLANNING:
            old, new = f"{name}=", SETTINGS[name]
            now = f"{new}={value.strip(QUOTES)}"
        if new:
            warnings.append(f"{old} is now {new}; the old word goes in the next version")
        found.append(now)
    return found, warnings


def as_settings(words: Sequence[str], option: str = "--runs") -> list[str]:
    """The words of a command with an option turned into the setting of its name.

    `estimate` has as many options of its own as a function may have arguments.

    >>> as_settings(["topic=ccps", "--runs", "a b", "--json"])
    ['topic=ccps', "runs='a b'", '--json']
    """
    found, rest = [], list(words)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if name == option and (equals or rest):
            word = setting(option.removeprefix("--"), value if equals else rest.pop(0))
        found.append(word)
    return found


def setting(name: str, value: str) -> str:
    """A setting as Hydra reads it, whatever characters its value has."""
    quoted = value.replace("'", "\\'")
    return f"{name}='{quoted}'"
