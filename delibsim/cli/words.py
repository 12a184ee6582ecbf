"""Old words of commands: accepted for one version, with a warning that names the new word."""

from collections.abc import Iterable, Sequence

OPTIONS = {"--out": "--to", "--stage": "--phase"}
"""The new option for each old one, in the commands of `WRITING`."""
WRITING = ("code", "export", "import", "preregister", "ratings", "score")
SETTINGS = {"runs": "--runs"}
"""The option for each old setting, in the commands of `PLANNING`."""
PLANNING = ("run", "estimate", "preregister")
SWEEP = ("-m", "--multirun")
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

    `estimate` and `score` have as many options of their own as a function may have arguments.

    >>> as_settings(["topic=ccps", "--runs", "a b", "--json"])
    ['topic=ccps', "runs='a b'", '--json']
    """
    found, rest = [], list(words)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if name == option and (equals or rest):
            named = option.removeprefix("--").replace("-", "_")
            word = setting(named, value if equals else rest.pop(0))
        found.append(word)
    return found


def numbers_as_settings(words: Sequence[str], option: str) -> list[str]:
    """The words of a command with an option turned into a setting where its value is a number.

    >>> numbers_as_settings(["tram", "--runs", "3", "--runs", "x"], "--runs")
    ['tram', 'runs=3', '--runs', 'x']
    """
    found, rest = [], list(words)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        given = value if equals else next(iter(rest), "")
        if name == option and given.isascii() and given.isdigit():
            found.append(f"{option.removeprefix('--').replace('-', '_')}={given}")
            rest = rest if equals else rest[1:]
        else:
            found.append(word)
    return found


def as_design(words: Sequence[str]) -> list[str]:
    """The words of `power`: `--runs` as a setting, and `-m` left out, because the settings of a
    design are a sweep in any case.

    >>> as_design(["pilot", "-m", "topic=ccps,acp", "--runs", "studies"])
    ['pilot', 'topic=ccps,acp', "runs='studies'"]
    """
    return as_settings([word for word in words if word not in SWEEP])


def setting(name: str, value: str) -> str:
    """A setting as Hydra reads it, whatever characters its value has."""
    quoted = value.replace("'", "\\'")
    return f"{name}='{quoted}'"


def settings_among(words: Iterable[str], names: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The words that are none of these settings, and the settings by name.

    >>> settings_among(["texts.csv", "column='the text'"], ["column", "to"])
    (['texts.csv'], {'column': 'the text'})
    """
    rest, found = [], {}
    for word in words:
        name, equals, value = word.partition("=")
        if equals and name in names:
            unquoted = value[1:-1] if value[:1] in QUOTES and value[-1:] == value[:1] else value
            found[name] = unquoted.replace("\\'", "'")
        else:
            rest.append(word)
    return rest, found
