"""Whether a text is German, where a long one may be parted, and which go well together."""

import re
from collections.abc import Callable, Iterator, Sequence

GERMAN = frozenset(
    """aber alle als also auch auf aus bei bin bis das dass daß dem den der des die diese dieser dieses doch durch ein eine einem einen
    einer eines er es für gegen haben hat hier ich ihr ihre ihren im immer ist ja jede jeder kann kein keine können mehr mein meine mit
    müssen nach nicht noch nur oder ohne schon sehr sein sich sie sind sollte sollten über um und uns unser unsere viel viele vom von
    vor warum weil wenn werden wie wir wird wurde würde zu zum zur zwischen""".split()
)
ENGLISH = frozenset(
    """a about all and any are as at be because been but by can could do does for from had has have he her his how i if into is it its just
    like many me more most my no not of on one only or other our out people should some than that the their them then there these they
    this those to too up us very we what when which who why with would you your""".split()
)
"""Function words of the two languages that the other has not, or hardly ever."""
ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Za-zÄÖÜäöü]|Dr|Prof|Mr|Mrs|Ms|St|vs|etc|ca|bzw|usw|Nr|No|Abs|Art|evtl|ggf|inkl|Mio|Mrd|approx|dept|gov|Sen|Rep)\.)\Z"
)
SENTENCE_END = re.compile(r"[.!?…]+[\"'»”’)\]]*\s+|\n+")
CLAUSE_END = re.compile(r"[,;:–—]\s+")
WORD_END = re.compile(r"\s+")


def german(text: str) -> bool | None:
    """Whether a text is German, by its function words and its letters; None where they do not say.

    >>> german("Das ist mir zu teuer."), german("That is too expensive for me."), german("42!")
    (True, False, None)
    """
    words = re.findall(r"[^\W\d_]+", text.lower())
    votes = sum((word in GERMAN) - (word in ENGLISH) for word in words) + sum(bool(set(word) & set("äöüß")) for word in words)
    return None if votes == 0 else votes > 0


def sentences(text: str) -> list[str]:
    """The sentences of a text, each with the space behind it: joined they are the text.

    >>> sentences("Dr. Roe is right. Is she? Yes")
    ['Dr. Roe is right. ', 'Is she? ', 'Yes']
    """
    return _cut(text, SENTENCE_END, lambda before: not ABBREVIATION.search(before.rstrip()))


def parts(text: str, fits: Callable[[str], bool]) -> list[str]:
    """A text in parts that fit: whole sentences together as far as they fit; a sentence too long is parted at clauses, else at words.

    Joined they are the text: nothing is dropped, and even a word that does not fit is parted.
    """
    if fits(text):
        return [text]
    found: list[str] = []
    for sentence in _small(text, fits):
        if found and fits(found[-1] + sentence):
            found[-1] += sentence
        else:
            found.append(sentence)
    return found


def _small(text: str, fits: Callable[[str], bool]) -> list[str]:
    pieces = sentences(text)
    for end in (CLAUSE_END, WORD_END):
        pieces = [small for piece in pieces for small in ([piece] if fits(piece) else _cut(piece, end))]
    return [small for piece in pieces for small in _halves(piece, fits)]


def _halves(piece: str, fits: Callable[[str], bool]) -> list[str]:
    middle = len(piece) // 2
    return [piece] if middle == 0 or fits(piece) else [*_halves(piece[:middle], fits), *_halves(piece[middle:], fits)]


def _cut(text: str, end: re.Pattern[str], really: Callable[[str], bool] = lambda before: True) -> list[str]:
    pieces, begun = [], 0
    for match in end.finditer(text):
        if really(text[begun : match.end()]) and text[begun : match.start()].strip():
            pieces.append(text[begun : match.end()])
            begun = match.end()
    return [*pieces, text[begun:]] if text[begun:] or not pieces else pieces


def batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Indices in batches, by length, so that no batch holds more than `tokens` with its padding, or only one text.

    >>> list(batches([4, 9, 2, 3], 8))
    [[2, 3], [0], [1]]
    """
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if batch and lengths[i] * (len(batch) + 1) > tokens:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch
