"""The commands of `delibsim`: the group of each, its module, and one line of help."""

from importlib import import_module
from typing import Any, NamedTuple

from typer.main import get_command


class Command(NamedTuple):
    """One command: the group in which the help lists it ("" for none), its module in
    `delibsim.cli`, one line of help, and what the module calls it.
    """

    group: str
    module: str
    help: str
    app: str = "app"


GROUPS = {
    "hold": "sessions of models and people",
    "see": "what was held, and what it shows",
    "ask": "models and people about finished texts",
    "plan": "a study before its first call",
    "data": "what comes in and goes out",
}

STOPPED = "Stopped. What was recorded is kept; the same command goes on from there."

COMMANDS = {
    # hold
    "run": Command("hold", "run", "One deliberation, or with -m every combination of a study."),
    "fork": Command("hold", "fork", "Go on from a turn of a run with something changed."),
    "probe": Command("hold", "fork", "Ask the survey after given turns of a run.", "probe_app"),
    "serve": Command("hold", "serve", "Sessions with people in their browsers; --demo shows one."),
    "people": Command("hold", "people", "Who takes part in a browser: invite, list, try, export."),
    # see
    "status": Command("see", "status", "What was held, cut off or damaged, and what it cost."),
    "show": Command("see", "show", "Read a run: transcript, answers, measures; or two runs."),
    "view": Command("see", "reader", "Read studies and runs in a browser, or write them as pages."),
    "score": Command("see", "score", "Score every run of a study; the measures by condition."),
    "analyze": Command(
        "see", "results", "Effects with intervals, in words and one report.", "analyze_app"
    ),
    "plot": Command(
        "see", "results", "Draw one figure of a study, or list those it can give.", "plot_app"
    ),
    # ask
    "code": Command("ask", "code", "Code texts by a scheme, and see how far coders agree."),
    "compare": Command("ask", "compare", "Have texts judged two at a time; how strong each is."),
    "rate": Command("ask", "rate", "Have debates rated blind; who wins, how far raters agree."),
    "summarise": Command("ask", "summarise", "One statement for many opinions; whom it omits."),
    "judge": Command("ask", "judge", "Have summaries judged by models, people, a trained judge."),
    # plan
    "estimate": Command(
        "plan", "plan", "Calls, tokens, USD and time, before anything is called.", "estimate_app"
    ),
    "power": Command(
        "plan", "plan", "How many topics and replicates an effect needs.", "power_app"
    ),
    "preregister": Command(
        "plan", "plan", "Write the plan of a study as a document.", "preregister_app"
    ),
    # data
    "import": Command("data", "import_", "Texts, answers, codes, pairs, personas, instruments."),
    "export": Command("data", "export", "A study as tidy tables; one run as a page, text or JSON."),
    "agreement": Command("data", "agreement", "How far coders agree in a table of codes."),
    "list": Command("data", "listing", "What a setting can be; texts, personas, real people."),
    "new": Command(
        "data",
        "setup",
        "Write a topic, survey, treatment, persona or scorer to begin with.",
        "new_app",
    ),
    "replay": Command("data", "replay", "Hold a run again from its log alone; is it equal?"),
    "verify": Command("", "replay", "Check a whole study against its records.", "verify"),
    "setup": Command("data", "setup", "Check what a trained scorer needs: AQuA, a judge."),
}


def loaded(name: str) -> Any:
    """A command by its word, whose module is imported; its help is plain text."""
    found = COMMANDS[name]
    module = import_module(f"delibsim.cli.{found.module}")
    made = module.app_of(name) if hasattr(module, "app_of") else getattr(module, found.app)
    return _plain(get_command(made))


def _plain(command: Any) -> Any:
    """A command whose help is plain text, as that of `delibsim` itself; its own commands too."""
    command.rich_markup_mode = None
    for inner in getattr(command, "commands", {}).values():
        inner.short_help = " ".join((inner.help or "").partition("\n\n")[0].split())  # uncut
        _plain(inner)
    return command
