"""Texts in batches of like length, so that little is computed for padding."""

from collections.abc import Iterator, Sequence


def batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Indices in batches, by length, so that no batch holds more than `tokens` with its padding, or
    only one text.

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
