"""`delibsim code online`: texts handed out to people who code in a browser."""

from typing import Annotated

import typer

from delibsim.cli.code_export import TEXTS, TRAINING
from delibsim.cli.code_options import CodeSettings, values_of, whole_number
from delibsim.cli.online import HOURS, HandOn, show_online
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.terminal import study_at

CODERS = "How many people code."


def online(
    study: StudyName,
    settings: CodeSettings = None,
    coders: Annotated[str, typer.Option("--coders", help=CODERS)] = "2",
    texts: Annotated[int, typer.Option("--texts", min=1, help=TEXTS)] = 200,
    training: Annotated[bool, typer.Option("--training", help=TRAINING)] = False,
    hand_on: HandOn = HOURS,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Hand texts out to people who code in a browser: the draw and the blinding of a pack on paper,
    and the questions of language models without a rationale.

    Each who follows a link of `delibsim people invite STUDY --rater TASK` gets the next free place.
    Codes are kept as they are handed in, as from paper. Settings are those of `delibsim code
    export`: scheme, by, context, stratify.
    """
    from delibsim.asking.kinds.code_people import draw_texts, export_codes, told
    from delibsim.asking.kinds.coding import coding_of
    from delibsim.asking.people import Online, people_named

    values = values_of(settings, ("scheme", "by", "context", "stratify"))
    context = whole_number("context", values["context"])
    runs = study_at(study, root)
    coding = coding_of(runs, values["scheme"], values["by"], context)
    column, given = values["stratify"], Online(hand_on)
    people = people_named(coders, "--coders", "coder", online=True)
    draw = draw_texts(coding, texts, column, training)
    kind = "training" if training else "pack"
    pack = export_codes(coding, people, draw, kind, online=given)
    show_online(runs.study, pack.name, told(pack), pack.plain() if as_json else None)
