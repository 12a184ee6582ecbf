"""What a model's prompt says beside what a person can see on the page of the same request, and what
only one of the two was told.
"""

import asyncio
import html
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from delibsim.domain.hosting import Hosting, Limit
from delibsim.planning.compose import plan
from delibsim.prompts.forms.survey import RankingForm, SurveyAnswers
from delibsim.prompts.forms.words import Speech
from delibsim.web.people.preview import preview
from delibsim.web.people.render import language

ONLY_PEOPLE = {
    "names of the others, and how far the session is": (
        "people.table", "people.round", "people.asked", "people.handed_in", "people.message",
        "people.silent", "people.silent_own",
    ),
    "titles and headings": (
        "form.survey_first", "form.survey_last", "form.vote", "form.speech", "form.position",
        "form.critique", "form.speak",
    ),
    "how to work the page": (
        "page.skip", "people.to_form", "form.hand_in", "form.decline", "people.leave",
        "people.withdraw", "form.said_above", "form.keep_order", "form.counter", "form.up",
        "form.down", "form.drag",
    ),
    "how to answer, in the place of how a reply is written": (
        "form.rate", "form.rate_one", "form.rank", "form.counts", "form.words_between", "form.your_words",
        "form.your_speech", "form.strongly_disagree", "form.strongly_agree", "form.before",
        "form.answers_below", "form.counts_left", "form.rank_type", "form.type_number",
        "form.type_number_one", "form.rank_how", "form.slide", "form.slide_one", "form.unset",
    ),
    "time": ("form.limit", "form.limit_binds", "people.left_over"),
    "the line above instructions that were read on an earlier page": ("form.instructions_hold",),
}  # fmt: skip
"""The texts of pages that no prompt has, by why that is no difference; any other is one."""
HIDDEN = ("head", "script", "style", "noscript", "template", "select", "textarea", "button")
BREAKS = (
    "p", "li", "div", "section", "h1", "h2", "h3", "legend", "summary", "label", "br", "header", "ol", "ul",
    "form", "fieldset", "blockquote", "figcaption", "span", "caption", "th", "td", "tr",
)  # fmt: skip
MARKS = re.compile(r'\s*[^.:?!]*begins? with "> "\.')
TAG = re.compile(r"</?[a-z_0-9]+>")
HEADER = re.compile(r"(.+) \(round \d+, turn \d+\):")
ITEM = re.compile(r"[A-Z]+\d+\. (.+)")
GIVEN = re.compile(r"[A-Z]+\d+: (-?\d+)")
NAME = r"(?:Participant \d+|Proposition|Opposition|Listener \d+)"
NUMBER = re.compile(r"[\d,.:–×/() -]+")


class _Seen(HTMLParser):
    """The lines of a page that are visible where every fold is closed."""

    def __init__(self):
        super().__init__()
        self.lines, self._stack = [""], []

    def handle_starttag(self, tag, attrs):
        if tag in ("input", "link", "meta", "br"):
            if tag == "br":
                self.lines.append("")
            return
        given = dict(attrs)
        self._stack.append((tag, "open" in given))
        if tag in BREAKS:
            self.lines.append("")

    def handle_endtag(self, tag):
        while self._stack and self._stack.pop()[0] != tag:
            pass
        if tag in BREAKS:
            self.lines.append("")

    def handle_data(self, data):
        tags = [tag for tag, _ in self._stack]
        folded = any(tag == "details" and not is_open for tag, is_open in self._stack)
        if folded and "summary" not in tags:
            return
        if not set(tags) & set(HIDDEN):
            self.lines[-1] += data


def visible_lines(page):
    """The lines of the HTML of a page that people see before they open anything."""
    seen = _Seen()
    seen.feed(page)
    return [line for line in map(_plain, seen.lines) if line]


def _plain(text):
    return " ".join(html.unescape(text).replace("\u00a0", " ").split())


@dataclass(frozen=True)
class Difference:
    """What only one of two was told: sentences of the prompt, lines of the page."""

    models: tuple[str, ...]
    people: tuple[str, ...]


def difference(prompt, lines):
    """What only the model, or only the person, is told, beside how a reply is written and what
    ONLY_PEOPLE declares; `lines` are what the person sees.
    """
    seen = _plain(" ".join(lines))
    models = [one for one in _sentences(prompt) if one not in seen]
    said = _plain(" ".join(_sentences(prompt)))
    people = [line for line in lines if line not in said and not _declared(line, prompt)]
    return Difference(tuple(models), tuple(people))


def _sentences(prompt):
    """What a prompt says, in lines and sentences, without its marks and its form of reply."""
    text = "\n\n".join(one.content for one in prompt.messages)
    for rule in _form(prompt.reply):
        text = text.replace(rule, "")
    text = MARKS.sub("", text)
    found = []
    for line in text.split("\n"):
        line = TAG.sub("", line) if TAG.fullmatch(line) else line
        line = line.removeprefix("> ").removeprefix(">")
        header, item, given = HEADER.fullmatch(line), ITEM.fullmatch(line), GIVEN.fullmatch(line)
        if header:
            found.append(header[1])
        elif given and isinstance(prompt.reply, SurveyAnswers):
            found.append(f"before: {given[1]}")
        elif item and isinstance(prompt.reply, SurveyAnswers | RankingForm):
            found.append(item[1])
        else:
            found += re.split(r"(?<=[.!?:]) ", line)
    return [one for one in map(_plain, found) if one]


def _form(form):
    """How a reply is written, in the words of the prompt."""
    if isinstance(form, SurveyAnswers):
        return form.rules(), form.ending()
    return (form.describe(),)


def form_is_told(prompt, lines):
    """What of the form of a reply, which pages say in their own words, is missing on a page."""
    seen, form, needed = _plain(" ".join(lines)), prompt.reply, []
    if isinstance(form, SurveyAnswers):
        needed += [str(form.survey.scale_min), str(form.survey.scale_max)]
        needed += ["strongly disagree", "strongly agree"]
        if len(form.survey.preferences) > 1:
            needed.append(
                f"to {len(form.survey.preferences)}, which you prefer least, each rank once"
            )
    elif isinstance(form, Speech):
        needed.append(f"({form.rules.least} to {form.rules.most} words)")
    elif isinstance(form, RankingForm):
        needed += ["strongly disagree", "strongly agree", "1", "7"]
        needed += [f"to {form.n}, which you prefer least"] if form.n > 1 else []
    return [one for one in needed if one not in seen]


def _declared(line, prompt):
    """Whether a line is one of those that only people are told, by declaration."""
    names = re.compile(rf"{NAME}( \(you\))?,?|,|you|·|EN|DE|FR|[↑↓⠿]")
    if NUMBER.fullmatch(line) or names.fullmatch(line):
        return True
    end_of_scale = re.sub(r"^\d+ (?=strongly)", "", line)
    sentences = [end_of_scale, *re.split(r"(?<=[.]) ", end_of_scale)]
    known = [any(pattern.fullmatch(one) for pattern in _patterns()) for one in sentences]
    return known[0] or all(known[1:])


def _patterns():
    texts = language("en").texts
    counter = re.compile(rf"\d+ {texts['form.counter']}( \(\d+–\d+\))?")
    found = [counter, re.compile(f"{texts['people.leave']} · {texts['people.withdraw']}")]
    for keys in ONLY_PEOPLE.values():
        for key in keys:
            parts = re.split(r"\{\w+\}", texts[key])
            found.append(re.compile(r"\(?" + ".*".join(map(re.escape, parts)) + r"\)?"))
    return found


HOSTING = Hosting(consent="I take part.", turn=Limit(5.0), survey=Limit(20.0))
PAIR = ("topic=ccps", "group.models=[person,citizen]", "group.size=2")
DEBATE = ("format=debate", "treatment=oxford", "motion=voting")
CASES = {
    "normative": (*PAIR, "treatment=normative"),
    "published": (*PAIR, "treatment=basic", "procedure=published"),
    "none": (*PAIR, "treatment=none"),
    "consensus": (*PAIR, "treatment=basic", "rounds=1", "consensus=schulze"),
    "proposition": (*DEBATE, "proposition=person", "opposition=citizen"),
    "listeners": (
        *DEBATE,
        "proposition=citizen",
        "opposition=citizen",
        "model=person",
        "audience=2",
    ),
}
MORE = {
    **{f"normative_{one}": (*PAIR, f"treatment=normative_{one}") for one in "abcd"},
    "instructions in surveys": (*PAIR, "treatment=normative", "procedure.instructions=everywhere"),
    "nothing recalled": (
        *PAIR, "treatment=normative", "procedure.recall=false", "procedure.background=false",
        "procedure.show_transcript=false", "procedure.show_answers=false", "procedure.words=null",
    ),
    "two statements at a time": (
        "topic=ccps", "treatment=basic", "rounds=2", "group.models=[person,citizen,citizen]",
        "group.size=3", "procedure.transcript_window=2",
    ),
    "a scale turned round": (*PAIR, "treatment=basic", "procedure.reverse_scale=half"),
    "a star": (
        "topic=ccps", "treatment=basic", "rounds=1", "group.models=[citizen,person,citizen]",
        "group.size=3", "procedure.audience.network=star",
    ),
    "persona": (*PAIR, "treatment=basic", "rounds=1", "persona=values"),
    "opposition with notes": (
        *DEBATE, "proposition=citizen", "opposition=person", "procedure.rules.preparation=true",
        "procedure.rules.fairness=true", "procedure.rules.both_kinds=true",
        "procedure.rules.no_new_argument=true",
    ),
}  # fmt: skip


def shots_of(settings, home, hosting=HOSTING):
    """The pages of the first session of a plan, in the order in which they stood."""
    planned = plan(["study=alike", *settings], home)
    return asyncio.run(preview(planned.sessions[:1], hosting))


def instructions_of(settings, home):
    """The sentences of the treatment's instructions, as they are compared."""
    session = plan(["study=alike", *settings], home).session
    return session.treatment.instructions


def check(shots, instructions, folds=True, lines_of=lambda shot: visible_lines(shot.html)):
    """Every page against its prompt. Only instructions of more than 40 words may be missing, and only
    where they stood open on an earlier page of the seat and a line with their first words is left.
    """
    read, asked = set(), [one for one in shots if one.prompt is not None]
    for shot in asked:
        lines = lines_of(shot)
        found, place = difference(shot.prompt, lines), (shot.session, shot.seat)
        seen, told = " ".join(lines), " ".join(instructions.split())
        missing = " ".join(found.models)
        if missing:
            assert folds, (shot.occasion, found)
            assert missing == told, (shot.occasion, found)
            assert place in read, shot.occasion
            assert "Your instructions hold now as well" in seen
            assert " ".join(told.split()[:10]) in seen
        elif told and told in seen:
            read.add(place)
        assert found.people == (), (shot.occasion, found)
        assert form_is_told(shot.prompt, lines) == []
    return asked


BEGIN, END = "<!-- told alike: python tests/told_alike.py -->\n", "<!-- end of told alike -->\n"
SHOWN = (
    ("`normative`, round 1", (*PAIR, "treatment=normative"), 1),
    ("`normative`, round 2", (*PAIR, "treatment=normative"), 2),
    ("a debate, the opening of the proposition", CASES["proposition"], 0),
)
LONGEST = 260


def beside(home):
    """A model's prompt and a person's page beside each other, in Markdown, of the requests SHOWN."""
    parts = []
    for title, settings, place in SHOWN:
        asked = [shot for shot in shots_of(settings, home) if shot.prompt is not None]
        parts.append(_beside(title, asked[place]))
    return "\n".join(parts)


def _beside(title, shot):
    """One request: a row for each paragraph of the prompt, and what only one of the two has."""
    lines = visible_lines(shot.html)
    only, form = difference(shot.prompt, lines), " ".join(_form(shot.prompt.reply))
    rows = [f"**{title[0].upper()}{title[1:]}**\n", "| in the prompt | on the page |", "|---|---|"]
    text = "\n\n".join(one.content for one in shot.prompt.messages).replace(form, "")
    text = MARKS.sub("", text)
    for part in re.split(r"\n\n(?!>)", text):
        said = _plain(" ".join(line for line in part.split("\n") if not TAG.fullmatch(line)))
        if not said:
            continue
        sentences = [one for one in only.models if one in said]
        folded = [line for line in lines if line.startswith("Your instructions hold")]
        same = "the same words"
        if HEADER.match(said.partition(" >")[0]):
            said, same = said.replace(": >", ":"), "the same words, below the name, in the round"
        rows.append(f"| {_cell(said)} | {_cell(folded[0]) if sentences else same} |")
    rows.append(f"| {_cell(form)} | (a field, and a button) |")
    extra = [line for line in lines if line not in text and _declared(line, shot.prompt)]
    told = [line for line in dict.fromkeys(extra) if not NUMBER.fullmatch(line) and len(line) > 2]
    told = [line for line in told if not line.startswith("Your instructions hold")]
    rows.append(f"| | {' / '.join(told)} |")
    return "\n".join(rows) + "\n"


def _cell(text):
    text = text.replace("|", "\\|").replace("<", "&lt;").replace(">", "&gt;")
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rpartition(' ')[0]} …"


def main():
    """Write the part of docs/people.md anew."""
    page = Path(__file__).parents[1] / "docs" / "people.md"
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    made = beside(page.parent)
    page.write_text(f"{before}{BEGIN}\n{made}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
