"""Packs for people who compare texts in pairs: the sheets of each, the key, the pages, the form.

People read what language models are asked, and nothing of who wrote a text.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from delibsim.asking.blinding import REMOVED, SOMEBODY
from delibsim.asking.forms import Fault, form_text, key_of
from delibsim.asking.pages import blank, document, escaped, in_own_order, paragraphs
from delibsim.domain.annotation import Text
from delibsim.domain.comparison import Outcome, Sheet, Vote
from delibsim.domain.scheme import QualityDimension
from delibsim.domain.seed import seed_of
from delibsim.domain.text import counted
from delibsim.domain.treatment import Wording
from delibsim.prompts.compare import EXAMPLES, Manner, said_to_judges
from delibsim.prompts.forms.choice import LABELS
from delibsim.store.tables.csv_cells import Sheet as Cells

COLUMNS = ("pack", "sheet", "rater", "dimension", "answer")
CHECKED = 20
"""Of so many sheets of a rater, or fewer, one is repeated."""
AGAIN = " again"
"""What the name of a repeated sheet ends with."""
Asked = tuple[str, str, str]
"""The texts of a pair, in order of their ids, and a dimension: what a rater is asked once."""


@dataclass(frozen=True)
class RaterSheet:
    """One pair before one rater on one dimension, in the order shown, with its code on paper.

    `run` is 1, or 2 where the sheet is repeated as an attention check.
    """

    code: str
    rater: str
    sheet: Sheet
    dimension: str
    run: int = 1


@dataclass(frozen=True)
class PairPages:
    """What the pages of a pack say: the texts as raters see them, by id, what each group is about
    ("" where it is not shown), how raters are asked, and in whose words.
    """

    shown: Mapping[str, Text]
    topics: Mapping[str, str]
    dimensions: Mapping[str, QualityDimension]
    manner: Manner
    wording: Wording


def shares(
    sheets: Sequence[Sheet],
    raters: Sequence[str],
    dimension: str,
    each: int | None,
    before: Mapping[str, Collection[Asked]],
) -> dict[str, list[Sheet]]:
    """The sheets of every rater on one dimension: all, or `each`, so that all sheets are judged
    equally often, give or take one. A rater is not asked again what stands in `before`.

    A pair is shown in the other order to every second rater, so that no text gains by its place;
    where the design has both orders, every rater judges both.
    """
    both = {sheet.turned for sheet in sheets} & set(sheets)
    found: dict[str, list[Sheet]] = {}
    for number, rater in enumerate(raters):
        own = []
        for sheet in sheets:
            pair = sheet.pair
            if (pair.one, pair.other, dimension) not in before.get(rater, ()):
                turned = (seed_of("first", pair.one, pair.other) + number) % 2
                own.append(sheet.turned if turned and sheet not in both else sheet)
        if each is not None and own:
            start = number * each % len(own)
            own = (own[start:] + own[:start])[:each]
        found[rater] = own
    return found


def rater_sheets(
    own: Sequence[Sheet], dimension: str, pack: str, rater: str, taken: set[str]
) -> list[RaterSheet]:
    """The sheets of a rater in an order of its own, each under a code; of every 20 or fewer one of
    the first is repeated among the last.
    """
    by_name = {f"{sheet.id} | {dimension}": sheet for sheet in own}
    coded = in_own_order(by_name, pack, rater, taken)
    half = len(coded) // 2
    repeats = -(-len(coded) // CHECKED) if len(coded) > 2 else 0
    names = [f"{name}{AGAIN}" for _, name in coded[: min(repeats, half)]]
    again = in_own_order(names, pack, rater, taken)
    last = [*coded[half:], *again]
    last.sort(key=lambda one: seed_of(pack, "order again", rater, one[1]))
    found = []
    for code, name in [*coded[:half], *last]:
        run = 2 if name.endswith(AGAIN) else 1
        sheet = by_name[name.removesuffix(AGAIN)]
        found.append(RaterSheet(code, rater, sheet, dimension, run))
    return found


def pair_key(sheets: Iterable[RaterSheet], hashes: Mapping[str, str]) -> dict[str, Any]:
    """The key of a pack as plain values, by code; `hashes` are those of the texts word for word.

    It is to be kept with the study, not handed out.
    """
    key = {}
    for one in sheets:
        a, b = one.sheet.a, one.sheet.b
        key[one.code] = {
            "rater": one.rater,
            "a": a,
            "b": b,
            "group": one.sheet.group,
            "dimension": one.dimension,
            "run": one.run,
            "a_sha256": hashes[a],
            "b_sha256": hashes[b],
        }
    return key


def asked_before(packs: Iterable[Mapping[str, Any]]) -> dict[str, set[Asked]]:
    """What was handed out to each rater: pairs with a dimension."""
    found: dict[str, set[Asked]] = {}
    for pack in packs:
        for key in pack["sheets"].values():
            pair = Sheet(key["a"], key["b"]).pair
            found.setdefault(key["rater"], set()).add((pair.one, pair.other, key["dimension"]))
    return found


def pair_form(sheets: Iterable[RaterSheet], pack: str) -> str:
    """The form as CSV: a line for each sheet, the answer left empty."""
    return form_text(COLUMNS, [[pack, one.code, one.rater, one.dimension, ""] for one in sheets])


def pair_page(sheets: Sequence[RaterSheet], pages: PairPages) -> str:
    """The pages of one rater as one HTML document that needs no other file."""
    wording = pages.wording
    sheets_in_words = counted(len(sheets), "sheet")
    parts = [
        f"<h1>Comparing texts</h1><p>{escaped(sheets[0].rater)}. {sheets_in_words}.</p>"
        f"<p>{escaped(said_to_judges(wording, 'judge_setting'))}</p>"
        "<p>A pair may come twice. Judge it then as if it were new.</p>"
    ]
    texts = "\n".join([pages.shown[id].text for one in sheets for id in (one.sheet.a, one.sheet.b)])
    hidden = [word for word in (REMOVED, SOMEBODY) if word in texts]
    if hidden:
        words = " and ".join(hidden)
        parts.append(f"<p>What would tell who speaks was replaced by: {words}.</p>")
    for dimension in dict.fromkeys(one.dimension for one in sheets):
        parts.append(_question(pages.dimensions[dimension], pages))
        own = [one for one in sheets if one.dimension == dimension]
        parts += [_sheet(one, pages) for one in own]
    return document("Comparing texts", parts)


def _question(dimension: QualityDimension, pages: PairPages) -> str:
    """What is asked on a dimension, in the words that language models read."""
    wording, manner = pages.wording, pages.manner
    asked = said_to_judges(wording, "judge_question", adverb=dimension.adverb)
    parts = [f"<h2>{escaped(dimension.name)}</h2><p>{escaped(asked)}</p>"]
    if manner.criteria == "definition":
        parts.append(f"<p>{escaped(said_to_judges(wording, 'judge_definition'))}</p>")
        parts.append(paragraphs(dimension.definition))
    if manner.criteria == "criteria":
        parts.append(f"<p>{escaped(said_to_judges(wording, 'judge_criteria'))}</p>")
        questions = "".join([f"<li>{escaped(one)}</li>" for one in dimension.criteria])
        parts.append(f"<ol>{questions}</ol>")
    ties = said_to_judges(wording, "judge_ties" if manner.ties else "judge_no_ties")
    parts.append(f"<p>{escaped(ties)}</p>")
    if manner.examples:
        parts.append(f"<p>{escaped(said_to_judges(wording, EXAMPLES))}</p>")
        for example in dimension.examples:
            label = next(name for name, meant in LABELS.items() if meant == example.answer)
            why = f" {escaped(example.why)}" if manner.reasons else ""
            both = _text("A", example.a) + _text("B", example.b)
            parts.append(f"{both}<p><b>Answer: {label}.</b>{why}</p>")
    return f"<section>{''.join(parts)}</section>"


def _sheet(one: RaterSheet, pages: PairPages) -> str:
    """Both texts of a sheet, and the question with a box for each answer."""
    adverb = pages.dimensions[one.dimension].adverb
    asked = said_to_judges(pages.wording, "judge_question", adverb=adverb)
    asked = asked[: asked.find("?") + 1] or asked
    labels = pages.manner.form.labels
    ticks = [f"Text {label}" if len(label) == 1 else label for label in labels]
    column = f"answer: {', '.join(labels[:-1])} or {labels[-1]}"
    topic = pages.topics.get(one.sheet.group, "")
    about = ""
    if topic:
        said = escaped(said_to_judges(pages.wording, "judge_topic"))
        about = f"<p>{said} <b>{escaped(topic)}</b></p>"
    a, b = (pages.shown[id].text for id in (one.sheet.a, one.sheet.b))
    return (
        f"<section><h2>Sheet <span class=code>{one.code}</span></h2>{about}"
        f"{_text('A', a)}{_text('B', b)}"
        f"<p class=ask><span class=name>{escaped(asked)}</span></p>"
        f"<p>{blank(column, *ticks)}</p></section>"
    )


def _text(label: str, text: str) -> str:
    return f"<div class=speech><div class=who>Text {label}</div>{paragraphs(text)}</div>"


@dataclass
class PairForm:
    """What a form holds: votes with the line of each and the name of its pack, sheets without an
    answer, faults.
    """

    votes: list[tuple[Vote, int, str]]
    empty: int
    faults: list[str]


def is_pair_form(header: Collection[str]) -> bool:
    """Whether a table is the form of a pack of pairs."""
    return set(COLUMNS) <= set(header)


def read_pair_form(
    cells: Cells, packs: Mapping[str, Mapping[str, Any]], texts: Mapping[str, Mapping[str, str]]
) -> PairForm:
    """The votes in the form of one or several packs; `texts` holds by the name of a pack the
    SHA-256 of the texts of its study, by id.
    """
    found = PairForm([], 0, [])
    seen: dict[tuple[str, str], int] = {}
    for line, row in cells.records():
        if not row["answer"]:
            found.empty += 1
            continue
        try:
            pack, key = key_of(row, packs, "rater")
            vote = _vote(row, pack, key, texts[row["pack"]])
        except Fault as fault:
            found.faults.append(f"line {line}: {fault}")
            continue
        first = seen.setdefault((row["pack"], row["sheet"]), line)
        if first != line:
            found.faults.append(
                f"line {line}: sheet {row['sheet']} stands here twice, first on line {first}"
            )
        found.votes.append((vote, line, row["pack"]))
    return found


def _vote(
    row: Mapping[str, str],
    pack: Mapping[str, Any],
    key: Mapping[str, Any],
    texts: Mapping[str, str],
) -> Vote:
    """The vote in one line; Fault with everything that is wrong with it."""
    faults = []
    if row["dimension"] != key["dimension"]:
        given = f"is about {key['dimension']}, not '{row['dimension']}'"
        faults.append(f"sheet {row['sheet']} {given}")
    for name in ("a", "b"):
        now = texts.get(key[name])
        if now != key[f"{name}_sha256"]:
            what = "is no longer in the study" if now is None else "was edited since"
            faults.append(f"text {key[name]} {what} (the pack was handed out before)")
    outcome = _outcome(row["answer"])
    if outcome is None or (outcome == "tie" and not pack["ties"]):
        listed = "A, B or Tie" if pack["ties"] else "A or B"
        faults.append(f"the answer is '{row['answer']}'; it must be {listed}")
    if faults:
        raise Fault("; ".join(faults))
    sheet = Sheet(key["a"], key["b"], key["group"])
    return Vote(sheet, key["rater"], key["dimension"], outcome, key["run"])


def _outcome(cell: str) -> Outcome | None:
    """The outcome that a cell names, whatever the case of its letters."""
    found = [meant for label, meant in LABELS.items() if label.casefold() == cell.casefold()]
    return found[0] if found else None


def contradictions(
    votes: Iterable[tuple[Vote, int, str]], known: Iterable[Vote]
) -> tuple[list[Vote], list[str]]:
    """The votes that are new, and a line for each that contradicts what was imported before."""
    before = {vote.key: vote for vote in known}
    new, clashes = [], []
    for vote, line, _ in votes:
        old = before.get(vote.key)
        if old is None:
            new.append(vote)
        elif old.outcome != vote.outcome:
            place = f"line {line}: {vote.judge}, {vote.sheet.a} and {vote.sheet.b}"
            clashes.append(f"{place}: {old.outcome} before, {vote.outcome} here")
    return new, clashes


def alike(votes: Iterable[Vote]) -> Iterator[tuple[str, int, int]]:
    """Of every rater with a repeated sheet: the name, how many were repeated and answered twice,
    and how many of them with the same answer.
    """
    votes = list(votes)
    first = {(*vote.key[:4],): vote.outcome for vote in votes if vote.run == 1}
    counts: dict[str, tuple[int, int]] = {}
    for vote in votes:
        if vote.run == 2 and vote.key[:4] in first:
            n, same = counts.get(vote.judge, (0, 0))
            counts[vote.judge] = n + 1, same + (first[vote.key[:4]] == vote.outcome)
    for rater, (n, same) in counts.items():
        yield rater, n, same
