"""`delibsim people password`: how the researcher gets in to the page of a study."""

import typer

from delibsim.cli.options import RUNS, RunsFolder, StudyName
from delibsim.cli.terminal import say, study_at
from delibsim.domain.text import counted


def password(study: StudyName, root: RunsFolder = RUNS) -> None:
    """Set the password of the researcher's page (/office), which is asked for twice and not shown.

    The study keeps its argon2 hash. A new password ends every login of the one before.
    """
    from delibsim.store.people.office import set_password
    from delibsim.store.people.register import Register

    register = Register.of(study_at(study, root))
    given = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    ended = set_password(register, given)
    told = f"; {counted(ended, 'login')} ended" if ended else ""
    say(f"the password of the researcher's page is set{told}")
