"""`delibsim personas`: personas from real people's answers, or of your own, for persona=NAME; and
the report on how they came about.
"""

import asyncio
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from delibsim.analysis.personas.clusters import Clusters, Items, clusters_of
from delibsim.analysis.personas.profiles import (
    NotWritten,
    Reading,
    departures,
    read_profiles,
    shortcomings,
    write_profiles,
)
from delibsim.cli.terminal import console, echo_json, number, safe, shown
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.personas import Personas
from delibsim.domain.survey import Survey
from delibsim.domain.topic import Topic
from delibsim.models.limits import Budget
from delibsim.models.pool import ModelPool
from delibsim.models.replay import Exchange, Recorder, Replay, exchange_of
from delibsim.planning.compose import Plan, plan
from delibsim.planning.seats import instrument_of
from delibsim.store.files import append_line, read_lines
from delibsim.store.instruments.library import Library
from delibsim.store.instruments.own_answers import people_who_answered
from delibsim.store.instruments.persona_files import (
    FOLDER,
    keep_personas,
    read_own_personas,
    read_persona_file,
)

TEMPLATE = "template"

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Personas from people's answers, or of your own, for persona=NAME.",
)


@app.command()
def build(
    topic: Annotated[
        str, typer.Argument(help="The topic whose people are to be clustered (delibsim topics).")
    ],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(help="Settings as key=value: survey=ID, limits.budget_usd=2 ..."),
    ] = None,
    k: Annotated[int, typer.Option(help="The number of clusters, and of personas.")] = 5,
    items: Annotated[
        str, typer.Option(help="What people are clustered on: considerations, or all (ranks too).")
    ] = "considerations",
    seed: Annotated[
        int, typer.Option(min=0, help="The seed of the clustering; labels change with it.")
    ] = 0,
    writer: Annotated[
        str,
        typer.Option(
            help="The model that writes the profiles, or template: words put together offline."
        ),
    ] = TEMPLATE,
    reader: Annotated[
        str,
        typer.Option(help="The model that answers the survey from a profile alone, as a check."),
    ] = "citizen",
    name: Annotated[
        str | None, typer.Option(help="The name of the set; by default TOPIC_K.")
    ] = None,
) -> None:
    """Cluster the people who answered a survey on a topic, and write a persona for each cluster.

    The survey is deliberr.TOPIC where that is imported, else the topic's own, or survey=ID. What is
    asked of models is recorded beside the set; the same command again asks nothing twice. Exit code
    3 where a profile could not be checked, 4 where one could not be written.
    """
    if items not in ("considerations", "all"):
        raise unknown("set of items", items, ("considerations", "all"))
    chosen: Items = "all" if items == "all" else "considerations"
    planned = _plan(Library().topic(topic), writer, reader, overrides or [])
    session, home = planned.session, Path.cwd()
    clusters = clusters_of(
        people_who_answered(session.survey, home), session.survey, k, chosen, seed
    )
    label = name or f"{topic}_{k}" + ("_all" if chosen == "all" else "")
    record = home / FOLDER / f"{label}.exchanges.jsonl"
    try:
        profiles, readings = asyncio.run(_ask(planned, clusters, record, (writer, reader)))
        personas = Personas(label, tuple(profiles), "balanced", clusters.sizes)
    except NotWritten as error:
        typer.echo(
            f"no personas: {safe(str(error))}. What was recorded is kept; the same command goes on"
            " from there.",
            err=True,
        )
        raise typer.Exit(4) from None
    built = {"topic": topic, "items": items, "writer": writer, "reader": reader} | _built(
        session.survey, clusters, readings, shortcomings(profiles, readings)
    )
    path, new = keep_personas(personas, home, built)
    _report(read_persona_file(label, home), path, new)
    raise typer.Exit(3 if any(reading.reason for reading in readings) else 0)


@app.command(name="import")
def import_(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="CSV with a column persona (and size), or YAML: a list of texts."
        ),
    ],
    name: Annotated[
        str | None, typer.Option(help="The name of the set; by default that of the file.")
    ] = None,
) -> None:
    """Bring in personas of your own."""
    personas = read_own_personas(path, name or path.stem)
    kept, _ = keep_personas(personas, Path.cwd())
    typer.echo(
        f"{len(personas.texts)} personas in {shown(kept)}; use them with persona={personas.name}"
    )


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="The name of the set.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Print a set of personas and, where it was built from people's answers, the report on it."""
    plain = read_persona_file(name, Path.cwd())
    if as_json:
        echo_json(plain)
    else:
        _report(plain)


def _plan(topic: Topic, writer: str, reader: str, overrides: Sequence[str]) -> Plan:
    """Survey and models as a session has them, with limits and addresses; no such session is
    held.
    """
    models = [reader] if writer == TEMPLATE else list(dict.fromkeys([writer, reader]))
    fixed = [
        f"topic={topic.id}",
        f"group.models=[{','.join(models)}]",
        "group.size=2",
        "treatment=none",
    ]
    if not any(override.startswith("survey=") for override in overrides):
        fixed.append(f"survey={instrument_of(topic, None, Library()).id}")
    planned = plan([*fixed, *overrides])
    if writer != TEMPLATE and next(iter(planned.session.models.values()))["kind"] == "citizen":
        raise WrongInput(
            f"'{writer}' is rule-based and writes no profiles; take a language model, or --writer"
            f" {TEMPLATE}"
        )
    return planned


async def _ask(
    planned: Plan, clusters: Clusters, record: Path, models: tuple[str, str]
) -> tuple[list[str], list[Reading]]:
    """Profiles and what a reader finds in them; every exchange is taken from the record, or asked
    and appended to it.
    """
    voices = ModelPool(
        planned.limits,
        Budget(planned.limits.budget_usd, planned.limits.budget_tokens),
        planned.addresses,
    )
    session = planned.session
    try:
        findings = await voices.preflight([session])
        for finding in findings:
            typer.echo(f"{finding.level}: {finding.model}: {finding.text}", err=True)
        if any(finding.level == "error" for finding in findings):
            raise WrongInput(
                "nothing was asked and nothing was paid; mend what is said above and give the"
                " command again"
            )
        record.parent.mkdir(parents=True, exist_ok=True)
        exchanges = _recorded(record)

        def keep(exchange: Exchange) -> None:
            append_line(record, exchange.record())

        # Writer and reader are the first and the last of the models, whatever their presets call
        # them.
        live = [
            Replay(own.name, exchanges, then=Recorder(own, keep))
            for own in voices.of(session).values()
        ]
        writer = None if models[0] == TEMPLATE else live[0]
        profiles = await write_profiles(session.topic, session.survey, clusters, writer)
        return profiles, await read_profiles(
            session.topic, session.survey, clusters, profiles, live[-1]
        )
    finally:
        await voices.close()


def _recorded(record: Path) -> list[Exchange]:
    """The readable exchanges of an earlier attempt."""
    exchanges = []
    for line in read_lines(record)[0]:
        try:
            exchanges.append(exchange_of(line))
        except ValueError:
            continue
    return exchanges


def _built(
    survey: Survey, clusters: Clusters, readings: Sequence[Reading], told: Sequence[str]
) -> dict[str, Any]:
    """How a set came about: everything needed to build it again, and to judge it."""
    ids = [item.id for item in (*survey.considerations, *survey.preferences)]
    return {
        "survey": survey.id,
        "k": len(clusters.sizes),
        "seed": clusters.seed,
        "answers_sha256": clusters.answers,
        "versions": dict(clusters.versions),
        "warnings": [*clusters.warnings, *told],
        "departures": [
            [
                {"item": own.item, "z": round(own.z, 3)}
                for own in departures(clusters, survey, cluster)
            ]
            for cluster in range(len(clusters.sizes))
        ],
        "check": [
            {"r": _plain(own.r), "rho": _plain(own.rho), "recognised": own.recognised}
            | ({"reason": own.reason} if own.reason else {})
            for own in readings
        ],
        "participants": list(clusters.participants),
        "labels": [label + 1 for label in clusters.labels],
        "clustered": list(clusters.items),
        "centroids": [[round(float(z), 4) for z in row] for row in clusters.centroids],
        "answered": ids,
        "means": [[round(float(mean), 4) for mean in row] for row in clusters.means],
    }


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 3)


def _report(plain: Mapping[str, Any], path: Path | None = None, new: bool = False) -> None:
    """How the clusters differ, and whether a reader found them in the profiles."""
    screen, built = console(), plain.get("built") or {}
    sizes = plain.get("sizes") or [None] * len(plain["personas"])
    if built:
        screen.print(
            f"{len(built['participants'])} people who answered {built['survey']}, {built['k']}"
            f" clusters on {built['items']}, seed {built['seed']}, scikit-learn"
            f" {built['versions']['scikit-learn']}; written by {built['writer']}, read by"
            f" {built['reader']}"
        )
        table = Table(
            "cluster",
            "people",
            "departs most on (SD from the mean)",
            "r",
            "rho",
            "recognised",
            box=None,
        )
        for n, (size, own, check) in enumerate(
            zip(sizes, built["departures"], built["check"], strict=True), 1
        ):
            signs = ", ".join(f"{entry['item']} {entry['z']:+.1f}" for entry in own[:5])
            found = {True: "yes", False: "no", None: check.get("reason", "-")}[check["recognised"]]
            table.add_row(
                str(n), str(size), signs, number(check["r"]), number(check["rho"]), safe(found)
            )
        screen.print(table)
        valid = [check["r"] for check in built["check"] if check["r"] is not None]
        named = sum(check["recognised"] is True for check in built["check"])
        mean = number(sum(valid) / len(valid) if valid else None)
        screen.print(
            f"Manipulation check: mean correlation of reading and centroid {mean} ({len(valid)} of"
            f" {built['k']} profiles), ",
            end="",
        )
        screen.print(f"{named} recognised as their own cluster. r is Pearson's, rho Spearman's.")
        if built["writer"] == built["reader"]:
            screen.print(
                "warning: the same model wrote and read the profiles, so the check says little"
            )
        for warning in built["warnings"]:
            screen.print(f"warning: {safe(warning)}")
    else:
        for n, text in enumerate(plain["personas"], 1):
            screen.print(f"{n}  {safe(' '.join(text.split()))}")
    if path is not None:
        screen.print(
            f"{'written' if new else 'unchanged'}: {shown(path)}; use them with"
            f" persona={plain['name']}"
        )
