"""The words of a command as the settings and options that it takes."""

from collections.abc import Iterable, Sequence

SWEEP = ("-m", "--multirun")
QUOTES = "'\""  # in which Hydra takes a value with blanks


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
