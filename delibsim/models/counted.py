"""Whether a server read the whole of a prompt: its count of input held against earlier counts.

Some servers cut a prompt that is longer than their window without a word. Tokens do not span words,
so a prompt that holds an earlier one, and N more words, counts N more tokens at least, with any
tokenizer, in any language. A count below that is no count of the whole prompt.
"""

import math
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from delibsim.models.base import OUTCOMES, Completion
from delibsim.prompts.prompt import Message, Prompt, Purpose

UNCHECKED = "not checked for cut prompts: "
"""How the detail of an answer begins that shows that counts of its model say nothing."""
ALIKE = "the server counts prompts of different lengths alike"
PARTLY = "the server counts a part of a prompt, such as what is not in its cache"
NEVER = "the server does not count what it was sent"
REMEMBERED = 32
"""Prompts that are kept to be compared with, by who was asked for what."""
SLACK = 16
"""Tokens that may be fewer where two texts are joined, and messages divided otherwise."""
USUAL = 1.0
"""Tokens a word of a usual tokenizer, whose tokens span no words, at least."""
VARIES, LITTLE = 1.4, 1.1
"""By how much tokens a character vary between prompts of one study, and by how much they often do.
"""


class InputCounts:
    """What the counts of input of one model say, in one session or one task.

    `earlier` are the exchanges on record. `unchecked` says why nothing can be said, "" where it
    can.
    """

    def __init__(self, earlier: Iterable[Any] = ()) -> None:
        self.unchecked = ""
        self._earlier = earlier
        self._known: OrderedDict[tuple[str, bool], tuple[str, int]] = OrderedDict()
        self._shortest = ("", 0)
        self._longest = 0, 0  # characters and tokens of that prompt
        self._fewest, self._most = 2**62, 0  # tokens
        self._alike: set[int] = set()  # characters of the prompts that count the most
        self._sparsest, self._words = math.inf, math.inf
        # The fewest tokens a character, but for those that count the most; and tokens a word.

    def judged(self, prompt: Prompt, answer: Completion) -> Completion:
        """An answer as it came; with another status where its prompt was cut, and a detail where
        the counts turn out to say nothing.
        """
        for exchange in self._earlier:
            usage, kept = exchange.completion.usage, exchange.completion.status in OUTCOMES
            if kept and usage.input_tokens:
                self._keep(_who(exchange.purpose), _text(exchange.messages), usage.input_tokens)
        self._earlier = ()
        count = answer.usage.input_tokens
        if answer.status not in OUTCOMES or not answer.provider or self.unchecked or count == 0:
            return answer
        if count is None:
            return self._give_up(answer, NEVER)
        who, text = _who(prompt.purpose), _text(prompt.messages)
        fault = self._at_ceiling(text, count) or self._too_few(who, text, count)
        if not fault:
            self._keep(who, text, count)
            return answer
        if self._fewest == self._most == count:
            return self._give_up(answer, ALIKE)
        longest, counted = self._longest
        # What is cut is longer than what counts more; a window that is halved keeps half of it.
        if (len(text) <= longest and count < counted) or count < 0.45 * self._most:
            return self._give_up(answer, PARTLY)
        detail = f"the server counts {count:,} tokens of the prompt, {fault}: it has cut it"
        return replace(answer, status="truncated_prompt", detail=detail)

    def _too_few(self, who: tuple[str, bool], text: str, count: int) -> str:
        """How many more tokens the prompt has at least, by an earlier prompt; "" if no more."""
        share = 1.0 if self._words >= USUAL else self._words / 2
        least = _least(self._known.get(who, self._shortest), text, count, share)
        return f"which has {least:,} at least" if count < least else ""

    def _at_ceiling(self, text: str, count: int) -> str:
        """That other prompts were counted alike, and none more; "" where that says nothing: where
        fewer tokens a character may be due to the text.
        """
        lengths = self._alike | {len(text)}
        if count != self._most or len(lengths) == 1:
            return ""
        sparser = self._sparsest * max(lengths) / count
        if not (VARIES if len(lengths) == 2 else LITTLE) < sparser < math.inf:
            return ""
        return "as many as of prompts of other lengths, and never more"

    def _keep(self, who: tuple[str, bool], text: str, count: int) -> None:
        """Take note of a prompt that was counted whole, as far as is known."""
        length = max(1, len(text))
        self._known[who] = text, count
        self._known.move_to_end(who)
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        if not self._shortest[1] or length < len(self._shortest[0]):
            self._shortest = text, count
        if count > self._most:
            if self._alike:
                self._sparsest = min(self._sparsest, self._most / max(self._alike))
            self._most, self._alike = count, set()
        if count == self._most:
            self._alike.add(length)
        else:
            self._sparsest = min(self._sparsest, count / length)
        if length > self._longest[0]:
            self._longest = length, count
        if count < self._fewest:
            self._fewest = count
            self._words = count / max(1, len(text.split()))

    def _give_up(self, answer: Completion, why: str) -> Completion:
        if answer.status != "ok":
            return answer
        self.unchecked = why
        return replace(answer, detail=f"{UNCHECKED}{why}")


def of_whole_prompts(exchanges: Iterable[Any]) -> list[Any]:
    """The exchanges of a session without those that a cut prompt puts in doubt: from the first
    answer before it on that counted no fewer tokens, because later prompts may repeat it.
    """
    kept: list[Any] = []
    for exchange in exchanges:
        if exchange.completion.status == "truncated_prompt":
            window = exchange.completion.usage.input_tokens or 0
            for place, one in enumerate(kept):
                if (
                    one.model == exchange.model
                    and (one.completion.usage.input_tokens or 0) >= window
                ):
                    del kept[place:]
                    break
        kept.append(exchange)
    return kept


def unchecked(completion: Mapping[str, Any]) -> list[str]:
    """Why the model of an answer on record cannot be checked, where the answer shows it."""
    detail = str(completion.get("detail", ""))
    return [detail.removeprefix(UNCHECKED)] if detail.startswith(UNCHECKED) else []


def uncheckable(why: Mapping[str, str]) -> list[str]:
    """Of models, by name with the reason, that cannot be checked, a sentence each."""
    found = sorted((name, reason) for name, reason in why.items() if reason)
    return [f"{UNCHECKED}{name}: {reason}" for name, reason in found]


def _who(purpose: Purpose) -> tuple[str, bool]:
    """Who is asked, and whether to speak: such prompts of one study hold much the same text."""
    return purpose.participant, purpose.occasion.startswith("turn")


def _text(messages: Iterable[Message]) -> str:
    return "\n".join(message.content for message in messages)


def _least(earlier: tuple[str, int], text: str, count: int, share: float) -> int:
    """The fewest tokens that a text can have, by an earlier one with its count, if a word has no
    less than a share of a token; 0 where the counts are in proportion, so that it need not be
    known.
    """
    before, counted = earlier
    if count * len(before) >= counted * len(text):
        return 0
    begin = _alike(before, text)
    gone, new = before[begin:], text[begin:]
    end = _alike(gone[::-1], new[::-1])
    gone, new = gone[: len(gone) - end], new[: len(new) - end]
    return counted - len(gone.encode(errors="replace")) - SLACK + int(share * len(new.split()))


def _alike(one: str, other: str) -> int:
    """The number of characters with which two texts begin alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one.startswith(other[low:middle], low):
            low = middle
        else:
            high = middle - 1
    return low
