"""The plan of a study as a document to be registered: what the software fixes, written out, and
blanks for what only its author can say.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from delibsim.domain.effect import no_effects, same_cells
from delibsim.domain.participant import SIDES
from delibsim.domain.run import Session
from delibsim.domain.score import Scorer
from delibsim.models.limits import Limits
from delibsim.plugins import declared, without_effect
from delibsim.store.manifest import Manifest

SEAL = "<!-- delibsim: SHA-256 of all above: {} -->\n"
BLANK = "**[FILL IN: {}]**"
RULES = """\
- An answer or a statement that cannot be read is asked for again, with the concrete fault, up to {reasks} times; what cannot be read then
  is missing, with its reason. A statement of more than {longest} words cannot be read.
- A refusal, a reply cut at the limit of tokens, and a reply held back by a filter are outcomes: missing with their status, not asked again.
- A call that could not be made (no connection, rate limit, quota) is no outcome. After {tries} attempts at most the session stops; it goes
  on from its record when the command is given again. The failure never becomes data.
- No answer is imputed and none has a default. Answers are measured as they were given, items that lean the other way included; only what
  was answered on a scale shown the other way round is mapped back.
- A measure of a group in which an answer is missing is undefined (NaN) with a reason code (docs/measures.md, "Undefined values"); it is
  not computed on those who remain.
- A run with anything missing is kept and marked `partial`; the software excludes no run. Flagged statements change no number.
- A parameter that a model does not take is dropped, and the run says so; it is then no run under that parameter."""
INTERNAL = re.compile(r" \((DEFINITIONS|FAULTS)[^)]*\)")
"""References in docstrings to documents of the developers."""
NO_PREREGISTRATION = (
    "**This is no preregistration: the study had begun when this was written.** {} What follows"
    " describes a study under way; what is filled in was filled in with data at hand."
)
PREREGISTRATION = (
    "Written by delibsim {} at {}, before the first call: no model had been asked anything in this"
    " study. What is marked FILL IN is the author's to say, before the study is begun. Register the"
    " file where its date is certified (such as OSF or AsPredicted), with the prompts that"
    " `delibsim estimate --render FOLDER` writes."
)
RATED = (
    "Debates are judged afterwards by blind raters, language models or people, who are planned"
    " separately and are no part of this plan: "
    + BLANK.format(
        "who rates, how many, how they are chosen; eleven ratings of each side, a winner, a stance"
        " before and after"
    )
)
DEBATED = (
    "The listeners of a debate say before and after how far they agree with the motion (0 to 100);"
    f" the two sides are not surveyed. {RATED}"
)
SEEDS = (
    "Seed of the study: {}. Every draw is seeded by the study's seed, the topic, the replicate and"
    " its own name: treatments and models of one replicate share people, orders of speakers and"
    " orders of items (common random numbers)."
)


@dataclass(frozen=True)
class Plans:
    """What the document is made of.

    `sessions` are the plans at hand, of all or some of those the manifest names; `scorers` what
    will be measured; `size` lines on the size of the sample by what they count; `begun` says how
    far the study has come, "" if nothing was asked yet.
    """

    manifest: Manifest
    sessions: Sequence[Session]
    scorers: Sequence[Scorer]
    size: Mapping[str, str]
    limits: Limits | None = None
    begun: str = ""


def document(plans: Plans) -> str:
    """The plan as Markdown, sealed at its end with a hash by which a file that was filled in is
    known.
    """
    manifest = plans.manifest
    sections = [
        ("Hypotheses", BLANK.format("the hypotheses, each with its direction, numbered")),
        (
            "Primary outcome",
            BLANK.format(
                "the one measure, phase and contrast that decide; then the secondary ones"
            ),
        ),
        ("Design", _design(plans)),
        (
            "Sample size",
            _table(("what", "number"), plans.size.items())
            + "\n\n"
            + BLANK.format("why this many: power, precision, or budget"),
        ),
        ("Instruments", _instruments(plans)),
        ("Treatments, wording, procedure", _parts(plans)),
        ("Models and parameters", _models(plans)),
        ("Measures", _measures(plans)),
        (
            "Analysis",
            BLANK.format(
                "models, contrasts, clustering, corrections for several tests, and what would count"
                " against the hypotheses"
            ),
        ),
        ("Exclusion and missing data", _exclusion(plans)),
        ("Stopping rule and budget", _stopping(plans.limits)),
        ("Software", _software(manifest)),
        ("Prompts", _prompts(plans)),
    ]
    text = "\n".join([f"# Plan of the study {_plain(manifest.study)}\n", _standing(plans), ""])
    text += "".join(
        f"\n## {number}. {title}\n\n{body}\n" for number, (title, body) in enumerate(sections, 1)
    )
    return sealed(text)


def sealed(text: str) -> str:
    """A text and its hash."""
    text = text.rstrip("\n") + "\n\n"
    return text + SEAL.format(hashlib.sha256(text.encode()).hexdigest())


def untouched(text: str) -> bool:
    """Whether a file is as it was written: nothing was filled in."""
    body, mark, _ = text.rpartition(SEAL.partition("{")[0])
    return bool(mark) and sealed(body) == text


def _standing(plans: Plans) -> str:
    begun = plans.manifest.begun
    if plans.begun:
        return NO_PREREGISTRATION.format(plans.begun)
    return PREREGISTRATION.format(
        begun.get("versions", {}).get("delibsim", ""), begun.get("at", "an unknown time")
    )


def _design(plans: Plans) -> str:
    sessions, manifest = plans.sessions, plans.manifest
    factors: dict[str, Iterable[Any]] = {
        "topic": (s.topic.id for s in sessions),
        "treatment": (s.treatment.name for s in sessions),
        "models": (" + ".join(s.models) for s in sessions),
        "participants": (len(s.participants) for s in sessions),
        "rounds of speech": (
            s.treatment.rounds if s.treatment.interaction else 0 for s in sessions
        ),
        "temperature": (
            ", ".join(sorted({_temperature(m) for m in s.models.values()})) for s in sessions
        ),
        "wording": (s.wording.id for s in sessions),
        "format": (s.format for s in sessions),
        "replicate": (s.replicate for s in sessions),
    }
    factors["personas"] = manifest.parts.get("personas", {})
    factors["procedure"] = manifest.parts.get("procedures", {})
    levels = {name: list(dict.fromkeys(values)) for name, values in factors.items()}
    rows = [
        (name, len(found), ", ".join(map(str, found)), "varied" if len(found) > 1 else "constant")
        for name, found in levels.items()
    ]
    counts = Counter(_cell(session) for session in manifest.sessions)
    sizes = Counter(counts.values())
    balance = (
        f"Every cell has {next(iter(sizes))} replicate(s)."
        if len(sizes) == 1
        else "Cells differ in replicates: "
        + ", ".join(f"{cells} of {n}" for n, cells in sorted(sizes.items()))
        + "."
    )
    known = (
        ""
        if len(sessions) == len(manifest.sessions)
        else (
            f" The tables here and in sections 4 and 5 cover the {len(sessions)} whose plans are at"
            " hand."
        )
    )
    return "\n\n".join(
        [
            (
                f"{len(manifest.sessions)} sessions in {len(counts)} cells. {balance}{known}"
                " Section 13 lists the cells."
            ),
            _table(("factor", "levels", "", "in this study"), rows),
            *_without_effect(sessions),
            *_tournament(sessions),
            SEEDS.format(manifest.settings.get("seed")),
        ]
    )


def _without_effect(sessions: Sequence[Session]) -> list[str]:
    """What is varied without effect on some models, and how many cells are the same; or nothing."""
    lines = [f"{one}." for one in no_effects(sessions, without_effect)]
    if same := same_cells(sessions, without_effect):
        told = "are the same condition as another by construction (section 13)"
        lines.append(f"{len(same)} cells {told}; that they agree is no result.")
    return [" ".join(lines)] if lines else []


def _temperature(model: Mapping[str, Any]) -> str:
    stated = model.get("temperature")
    return "none sent" if stated is None else f"{stated}"


def _tournament(sessions: Sequence[Session]) -> list[str]:
    """Who debates whom, how often, and on which side, as it was drawn; nothing where no debates are
    held.
    """
    debates = [
        {p.role: p.model for p in s.participants} | {"motion": s.topic.id}
        for s in sessions
        if s.format == "debate"
    ]
    if not debates:
        return []
    pairs = Counter(" and ".join(sorted(d[side] for side in SIDES)) for d in debates)
    motions = Counter(d["motion"] for d in debates)
    places = {side: Counter(d[side] for d in debates) for side in SIDES}
    names = sorted({*places[SIDES[0]], *places[SIDES[1]]})
    rows = [(name, places[SIDES[0]][name], places[SIDES[1]][name]) for name in names]
    return [
        (
            f"{len(debates)} debates of six speeches: {len(names)} debaters, {len(pairs)} pairs,"
            f" {len(motions)} motions."
        ),
        _table(("debater", "debates as proposition", "as opposition"), rows),
        _table(("pair", "debates"), sorted(pairs.items())),
        _table(("motion", "debates"), sorted(motions.items())),
    ]


def _instruments(plans: Plans) -> str:
    surveys = {s.survey.id: s.survey for s in plans.sessions}
    digests, rows = plans.manifest.parts.get("surveys", {}), []
    for name, survey in surveys.items():
        forced = ", Q sort" if survey.forced_distribution else ""
        scale = f"{survey.scale_min} to {survey.scale_max}{forced}"
        valid = "yes" if survey.validated else "no"
        rows.append(
            (
                name,
                len(survey.considerations),
                scale,
                len(survey.preferences),
                valid,
                survey.source,
                digests.get(name, ""),
            )
        )
    topics = {s.topic.id: s.topic.question for s in plans.sessions}
    asked = [
        (name, question, plans.manifest.parts.get("topics", {}).get(name, ""))
        for name, question in topics.items()
    ]
    heads = (
        "survey",
        "considerations",
        "scale",
        "options ranked",
        "validated",
        "source",
        "SHA-256",
    )
    parts = []
    if any(s.format != "debate" for s in plans.sessions):
        parts.append(
            "Each participant answers the survey before and after: ratings of considerations, ranks"
            " of policy options."
        )
    if debates := [s for s in plans.sessions if s.format == "debate"]:
        parts.append(
            DEBATED
            if any(s.respondents for s in debates)
            else f"No survey is held in the debates. {RATED}"
        )
    held = [
        row for row in rows if any(s.survey.id == row[0] and s.respondents for s in plans.sessions)
    ]
    return "\n\n".join(
        [
            *parts,
            *([_table(heads, held)] if held else []),
            _table(("topic", "question", "SHA-256"), asked),
        ]
    )


def _parts(plans: Plans) -> str:
    parts = []
    for kind in ("treatments", "wordings", "personas", "procedures"):
        for name, content in plans.manifest.parts.get(kind, {}).items():
            if kind == "procedures":
                content = _whole(content, plans.sessions)
            parts.append(f"### {kind.removesuffix('s')} {_plain(name)}\n\n{_json(content)}")
    return "\n\n".join(parts)


def _whole(stated: Mapping[str, Any], sessions: Sequence[Session]) -> Mapping[str, Any]:
    """A procedure with what is null in it, which the manifest leaves out, as the sessions planned
    under it have it.
    """
    for procedure in {session.procedure for session in sessions}:
        plain = asdict(procedure)
        if all(
            plain.get(key) == value
            for key, value in stated.items()
            if not isinstance(value, Mapping)
        ):
            return {**plain, **stated}
    return stated


def _models(plans: Plans) -> str:
    settings = {name: model for session in plans.sessions for name, model in session.models.items()}
    models = {**plans.manifest.parts.get("models", {}), **settings}
    text = (
        "As requested; what a model does not take is dropped and recorded. The version that answers"
        " is recorded with every call."
    )
    return "\n\n".join(
        [
            text,
            *(f"### model {_plain(name)}\n\n{_json(content)}" for name, content in models.items()),
        ]
    )


def _measures(plans: Plans) -> str:
    rows = [
        (
            scorer.name,
            scorer.version,
            INTERNAL.sub("", (type(scorer).__doc__ or "").split("\n\n")[0]),
            _sources(scorer),
        )
        for scorer in plans.scorers
    ]
    version = plans.manifest.begun.get("versions", {}).get("delibsim", "")
    text = (
        "Definitions, ranges, and when a measure is undefined: docs/measures.md of delibsim"
        f" {version}."
    )
    return (
        f"{text} A changed number raises the version of its"
        f" scorer.\n\n{_table(('scorer', 'version', 'measures', 'sources'), rows)}"
    )


def _sources(scorer: Scorer) -> str:
    """The sources of all measures that a scorer declares, each once."""
    found: dict[str, None] = {}
    for measure in declared(scorer.name)[1]:
        found |= dict.fromkeys(measure.source.split("; "))
    return "; ".join(found) or "not declared"


def _exclusion(plans: Plans) -> str:
    procedures = {(s.procedure.reasks, s.procedure.longest_statement) for s in plans.sessions}
    reasks = " or ".join(map(str, sorted({reasks for reasks, _ in procedures})))
    longest = " or ".join(
        sorted({"any number of" if most is None else str(most) for _, most in procedures})
    )
    tries = plans.limits.tries if plans.limits else "several"
    rules = RULES.format(
        reasks=reasks or "the procedure's", longest=longest or "the procedure's", tries=tries
    )
    return f"The software applies these rules and no others:\n\n{rules}\n\n" + BLANK.format(
        "exclusions of the analysis, if any, and how they are reported"
    )


def _stopping(limits: Limits | None) -> str:
    text = (
        "Every planned session is held once; no result has a bearing on what is held, or on when"
        " the study ends."
    )
    if limits is None:
        text += (
            " The limits it is held under stand in the command that holds it, and are not part of"
            " the study."
        )
    elif limits.budget_usd is None and limits.budget_tokens is None:
        text += " No budget is set."
    else:
        usd = "no limit in USD" if limits.budget_usd is None else f"{limits.budget_usd:g} USD"
        tokens = (
            "no limit in tokens"
            if limits.budget_tokens is None
            else f"{limits.budget_tokens:,} tokens"
        )
        text += (
            f" Budget: {usd}, {tokens}; no call is made that could exceed it, and the sessions that"
            " remain are then not held."
        )
    return f"{text}\n\n" + BLANK.format(
        "when the study ends if it cannot be finished, and whether it may be enlarged, by what rule"
    )


def _software(manifest: Manifest) -> str:
    begun = manifest.begun
    rows = [
        ("edition of presets and prompts", manifest.edition),
        *begun.get("versions", {}).items(),
        *((f"commit of {name}", commit) for name, commit in begun.get("commit", {}).items()),
    ]
    text = 'A "+" after a commit says that files differed from it.'
    for change in manifest.amendments:
        text += (
            f"\n\nAmended at {change.get('at')}: {change.get('sessions')} sessions added, new:"
            f" {_plain(json.dumps(change.get('added')))}"
        )
    return f"{_table(('what', 'version'), rows)}\n\n{text}"


def _prompts(plans: Plans) -> str:
    manifest, same = plans.manifest, same_cells(plans.sessions, without_effect)
    replicates: dict[str, list[str]] = {}
    for session in manifest.sessions:
        replicates.setdefault(_cell(session), []).append(
            session.removeprefix(_cell(session)).lstrip(".")
        )
    heads = ["cell", "replicates", "SHA-256 of the prompts"]
    rows = []
    for cell, found in replicates.items():
        rows.append([cell, ", ".join(found), manifest.prompts.get(cell, "")])
        if same:
            rows[-1].append(same.get(cell, ""))
    if same:
        heads.append("the same condition as")
    text = (
        "SHA-256 of what all replicates of a cell are asked alike, forms of reply included;"
        " personas and what is said are not in it."
    )
    return f"{text}\n\n{_table(heads, rows)}"


def _cell(session: str) -> str:
    return session.rpartition(".r")[0] or session


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(_plain(str(cell)) for cell in line) + " |" for line in lines)


def _plain(text: str) -> str:
    """Text that stays in its cell and is no markup of its own."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _json(content: Any) -> str:
    """Settings word for word, in a block that nothing in them can close."""
    lines = json.dumps(content, ensure_ascii=False, indent=1, default=str).splitlines()
    return "\n".join(f"    {line}" for line in lines)
