"""`delibsim people protection`: a page for the ethics board, filled from the settings."""

from pathlib import Path
from typing import Annotated

import typer

from delibsim.cli.code_options import values_of
from delibsim.cli.options import RUNS, RunsFolder, StudyName
from delibsim.cli.people_erase import declared, promised
from delibsim.cli.terminal import say, shown, study_at
from delibsim.domain.errors import WrongInput

TO = "The file to write: .md, or .html for one file that fetches nothing. Default: print Markdown."
LANGUAGE = "en, de or fr. Default: that of people.yaml."
MORE = "base_url=ADDRESS: where models are reached that have no provider of their own."


def protection(
    study: StudyName,
    settings: Annotated[list[str] | None, typer.Argument(help=MORE)] = None,
    to: Annotated[Path | None, typer.Option("--to", help=TO)] = None,
    language: Annotated[str, typer.Option("--language", help=LANGUAGE)] = "",
    root: RunsFolder = RUNS,
) -> None:
    """Write what an ethics board asks: what is collected, where it is kept, who sees it, which
    providers get what people write, how long it is kept, what a withdrawal does, and the consent
    text. It is filled from the settings of the study; what the program does not know is marked, for
    you to fill in.
    """
    from delibsim.conduct.people.protection import Facts
    from delibsim.conduct.people.protection import protection as page_of

    given = values_of(settings, ("base_url",))
    runs = study_at(study, root)
    hosting = declared(runs)
    if hosting is None:
        raise WrongInput(
            f"{runs.study} was not served yet: delibsim serve keeps its people.yaml, from which"
            " this page is filled"
        )
    promised(runs)
    sessions = [session for session in runs.plans() if session.seats_of_people]
    addresses = {}
    if given["base_url"]:
        addresses = {name: given["base_url"] for one in sessions for name in one.voices}
    page = page_of(Facts(runs, hosting, sessions, addresses), language or hosting.language)
    if to is None:
        typer.echo(page, nl=False)
        return
    if to.suffix not in (".md", ".html"):
        raise WrongInput(f"{to}: the page is a .md or a .html file")
    if to.exists():
        raise WrongInput(f"{to} is there already and is left as it is; take another name")
    text = _html(page, language or hosting.language) if to.suffix == ".html" else page
    to.write_text(text, encoding="utf-8")
    say(f"written: {shown(to)}")


def _html(page: str, language: str) -> str:
    """The page as one HTML file."""
    from delibsim.web.people.protection import protection_page

    return protection_page(page, language)
