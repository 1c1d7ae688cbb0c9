"""Check the promises of the soak test against what clients, provider and service report."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.soak.clients import Told

RETRIES = 3
MEMORY_GROWTH = 0.05
ANSWERED = "answer"
CONNECTIONS_IN_USE = 2  # That of the one who asks for the number, and one that is kept for the provider's next call.


@dataclass(frozen=True)
class Claim:
    """A sentence, what was measured, and whether the sentence is true."""

    sentence: str
    measured: str
    held: bool


@dataclass(frozen=True)
class Soak:
    """All that a soak brought.

    Attributes:
        told: What each client was told.
        calls: What the provider was asked after the warm-up, as pairs of the question and what was done with it.
        before: What the process held after the warm-up.
        after: What it held when all was done.
        seconds: How long it took.
    """

    told: Sequence[Told]
    calls: Sequence[tuple[str, str]]
    before: Mapping[str, int]
    after: Mapping[str, int]
    seconds: float


def claims(soak: Soak) -> Iterator[Claim]:
    stayed = [told for told in soak.told if not told.left]
    silent = [told for told in stayed if told.lost or not (told.problem or told.outcomes)]
    yield Claim("every client that stays gets an answer or a clear error", f"{len(silent)} got neither", not silent)
    twice = [told for told in stayed if len(told.outcomes) > 1 or told.answer.count(told.token) > 1]
    yield Claim("nobody is answered twice", f"{len(twice)} were", not twice)
    strange = [told for told in stayed if told.outcomes and told.echoed != told.question]
    yield Claim("everybody gets the answer to their own question", f"{len(strange)} did not", not strange)
    yield from _calls(soak, stayed)
    yield from _held(soak)


def _calls(soak: Soak, stayed: Sequence[Told]) -> Iterator[Claim]:
    deeds: defaultdict[str, list[str]] = defaultdict(list)
    for question, deed in soak.calls:
        deeds[question].append(deed)
    strange = set(deeds).difference(told.question for told in soak.told)
    calls = f"{sum(len(deeds[question]) for question in strange)} of {len(soak.calls)} are not"
    yield Claim("every call is about the question of a client", calls, bool(soak.calls) and not strange)
    # A claim about calls that nobody saw holds nothing, so both of these need some.
    most = max(len(deeds[told.question]) for told in soak.told)
    yield Claim(f"a question makes at most {1 + RETRIES} calls", f"at most {most}", 0 < most <= 1 + RETRIES)
    answered = [deeds[told.question] for told in soak.told if ANSWERED in deeds[told.question]]
    again = sum(ANSWERED in each[:-1] for each in answered)
    sentence = "no question that was answered is asked again"
    yield Claim(sentence, f"{again} of {len(answered)} were", bool(answered) and again == 0)
    untrue = [told for told in stayed if ("answered" in told.outcomes) != _is_answered(told, deeds[told.question])]
    yield Claim("`answered` means that the model answered", f"{len(untrue)} were untrue", not untrue)


def _is_answered(told: Told, deeds: Sequence[str]) -> bool:
    return ANSWERED in deeds and told.token in told.answer and "answered" in told.outcomes


def _held(soak: Soak) -> Iterator[Claim]:
    before, after = soak.before["tasks"], soak.after["tasks"]
    yield Claim("no task is left", f"{before} before, {after} after", after <= before)
    after = soak.after["connections"]
    yield Claim("no connection is left but the two in use", f"{after} after", after <= CONNECTIONS_IN_USE)
    before, after = soak.before["memory"], soak.after["memory"]
    growth = after / before - 1
    sentence = f"memory grows by less than {MEMORY_GROWTH:.0%}"
    yield Claim(sentence, f"{before / 2**20:.0f} MB, {growth:+.1%}", growth < MEMORY_GROWTH)


def figures(soak: Soak) -> Iterator[tuple[str, str]]:
    stayed = [told for told in soak.told if not told.left]
    seconds = [told.seconds for told in stayed]
    yield "questions", f"{len(soak.told)} in {soak.seconds:.0f} s"
    yield "clients that left in the middle", str(len(soak.told) - len(stayed))
    for outcome, count in Counter(told.outcomes[0] for told in stayed if told.outcomes).most_common():
        yield f"outcome `{outcome}`", str(count)
    for status, count in sorted(Counter(_error(told) for told in stayed if not told.outcomes).items()):
        yield f"error `{status}`", str(count)
    failed = sum(deed != ANSWERED for _, deed in soak.calls)
    yield "calls of the provider, failed", f"{len(soak.calls)}, {failed / max(len(soak.calls), 1):.0%}"
    yield (
        "seconds a question, p50 / p95 / longest",
        " / ".join(f"{value:.1f}" for value in (*np.percentile(seconds, [50, 95]), max(seconds))),
    )


def _error(told: Told) -> str:
    if not told.problem:
        return told.lost
    return f"{told.problem} (in a stream)" if told.way == "streamed" else f"{told.status}: {told.problem}"
