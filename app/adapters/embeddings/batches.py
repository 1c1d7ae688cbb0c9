"""Put texts of nearly the same length into batches, so that a model computes little padding."""

from collections.abc import Iterator, Sequence

PADDING_SHARE = 0.1


def batches(lengths: Sequence[int], *, tokens: int) -> Iterator[list[int]]:
    """Yield the indices of texts to embed together, the longest first: nearly as long, and few enough for memory.

    At most so many `tokens` a batch, and at most a tenth of a row is padding.
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        longest = lengths[batch[0]] if batch else 0
        too_many = (len(batch) + 1) * longest > tokens
        too_short = lengths[index] < longest * (1 - PADDING_SHARE)
        if batch and (too_many or too_short):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
