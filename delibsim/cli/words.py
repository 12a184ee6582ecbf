"""Options of the commands about texts that reach them as settings, until they declare them."""

from collections.abc import Iterable, Sequence

from delibsim.cli.options import setting

QUOTES = "'\""  # in which Hydra takes a value with blanks
AS_SETTINGS = {
    "code audit": ("--to",),
    "code report": ("--by", "--tables"),
    "code export": ("--stratify",),
    "code online": ("--stratify",),
    "compare ask": ("--name",),
    "compare export": ("--name",),
    "compare online": ("--name",),
    "compare import": ("--name",),
    "compare report": (
        "--name",
        "--model",
        "--penalty",
        "--threshold",
        "--scale",
        "--order",
        "--bootstrap",
    ),
    "summaries report": ("--intervals", "--by", "--summaries", "--judgments"),
    "summaries minorities": ("--by", "--summaries", "--judgments"),
    "summarise": ("--sizes", "--groups", "--name"),
    "texts import": (
        "--question",
        "--kind",
        "--stance",
        "--minority",
        "--author",
        "--example",
    ),
}
"""The options of a command that reach it as settings."""
NUMBERS = {"summarise": ("--runs", "--draws"), "judge ask": ("--per-summary", "--k")}
"""Those that reach it as settings where their value is a number."""


def rewritten(name: str, words: list[str]) -> list[str]:
    """The words behind a command, with these options as settings."""
    inner = " ".join([name, *words[:1]])
    for option in (*AS_SETTINGS.get(name, ()), *AS_SETTINGS.get(inner, ())):
        words = as_settings(words, option)
    for option in (*NUMBERS.get(name, ()), *NUMBERS.get(inner, ())):
        words = numbers_as_settings(words, option)
    return words


def as_settings(words: Sequence[str], option: str) -> list[str]:
    """The words of a command with an option turned into the setting of its name.

    >>> as_settings(["topic=ccps", "--name", "a b", "--json"], "--name")
    ['topic=ccps', "name='a b'", '--json']
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
