"""How question, opinion and summary are put before the network, as one sequence of tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from delibsim.domain.errors import WrongInput
from delibsim.domain.summary import Triple


@dataclass(frozen=True)
class InputForm:
    """The labels before the parts, in their order, and the most tokens that are read.

    It belongs to a checkpoint: a network reads only what it was trained to read.
    """

    labels: tuple[tuple[str, str], ...] = (
        ("question", "Question: "),
        ("opinion", "Opinion: "),
        ("summary", "Summary: "),
    )
    longest: int = 4096

    def __post_init__(self) -> None:
        """Refuse a form in which a part is missing, or there twice."""
        if sorted(name for name, _ in self.labels) != ["opinion", "question", "summary"]:
            raise WrongInput("the input form names question, opinion and summary once each")


def encode(
    form: InputForm, tokenizer: Any, triples: Sequence[Triple]
) -> tuple[list[list[int]], int]:
    """The tokens of triples, and in how many the summary was cut at its end to fit.

    The parts are joined by the separator of the tokeniser. Texts are quoted data: a special token
    that is written in one is an unknown word. WrongInput where question and opinion alone are too
    long.
    """
    begin, separator = tokenizer.cls_token_id, tokenizer.sep_token_id
    found, cut = [], 0
    for triple in triples:
        parts = {}
        for name, label in form.labels:
            parts[name] = _quoted(tokenizer, f"{label}{getattr(triple, name)}")
        room = form.longest - 1 - sum(len(tokens) + 1 for tokens in parts.values())
        if room < 0:
            left = len(parts["summary"]) + room
            if left < 1:
                raise WrongInput(
                    "a question with an opinion has more tokens than the judge reads"
                    f" ({form.longest:,}); an opinion is never cut: shorten or drop it. It begins:"
                    f" {triple.opinion[:60]!r}"
                )
            parts["summary"] = parts["summary"][:left]
            cut += 1
        tokens = [begin]
        for name, _ in form.labels:
            tokens += [*parts[name], separator]
        found.append(tokens)
    return found, cut


def _quoted(tokenizer: Any, text: str) -> list[int]:
    """The tokens of a text, none of which is special."""
    found = tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
    unknown = tokenizer.unk_token_id
    special = set(tokenizer.all_special_ids) - {unknown}
    return [unknown if token in special else token for token in found]
