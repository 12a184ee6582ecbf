"""The commands of `delibsim`: the group of each, its module, and one line of help."""

from typing import NamedTuple


class Command(NamedTuple):
    """One command: the group in which the help lists it ("" for none), the module in
    `delibsim.cli` whose `app` it is, and one line of help.
    """

    group: str
    module: str
    help: str


GROUPS = {
    "hold": "sessions of models and people",
    "see": "what was held, and what it shows",
    "ask": "models and people about finished texts",
    "plan": "a study before its first call",
    "data": "what comes in and goes out",
}

COMMANDS = {
    # hold
    "run": Command("hold", "run", "One deliberation, or with -m every combination of a study."),
    "fork": Command("hold", "fork", "Go on from a turn of a run with something changed."),
    "probe": Command("hold", "probe", "Ask the survey after given turns of a run."),
    "serve": Command("hold", "serve", "Sessions with people in their browsers; --demo shows one."),
    "people": Command("hold", "people", "Who takes part in a browser: invite, list, try, export."),
    # see
    "status": Command("see", "status", "What was held, cut off or damaged, and what it cost."),
    "show": Command("see", "show", "Read a run: transcript, answers, who changed, measures."),
    "view": Command("see", "reader", "Read studies and runs in a browser, or write them as pages."),
    "score": Command("see", "score", "Score every run of a study; the measures by condition."),
    "analyze": Command("see", "analyze", "Effects with intervals, in words and one report."),
    "plot": Command("see", "plot", "Draw one figure of a study, or list those it can give."),
    # ask
    "code": Command("ask", "code", "Code texts by a scheme, and see how far coders agree."),
    "compare": Command("ask", "compare", "Have texts judged two at a time; how strong each is."),
    "rate": Command("ask", "rate", "Have debates rated blind; who wins, how far raters agree."),
    "summarise": Command("ask", "summarise", "One statement for many opinions; whom it omits."),
    "judge": Command("ask", "judge", "Have summaries judged by models, people, a trained judge."),
    # plan
    "estimate": Command(
        "plan", "estimate", "Calls, tokens, USD and time, before anything is called."
    ),
    "power": Command("plan", "power", "How many topics and replicates an effect needs."),
    "preregister": Command("plan", "preregister", "Write the plan of a study as a document."),
    # data
    "import": Command("data", "import_", "Texts, answers, codes, pairs, personas, instruments."),
    "export": Command("data", "export", "A study as tidy tables; one run as a page, text or JSON."),
    "agreement": Command("data", "agreement", "How far coders agree in a table of codes."),
    "list": Command("data", "listing", "What a setting can be; texts, personas, real people."),
    "new": Command(
        "data", "new", "Write a topic, survey, treatment, persona or scorer to begin with."
    ),
    "replay": Command("data", "replay", "Hold a run again from its log alone; is it equal?"),
    "verify": Command("", "verify", "Check a whole study against its records."),
    "setup": Command("data", "setup", "Check what a trained scorer needs: AQuA, a judge."),
}
