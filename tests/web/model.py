"""A language model on loopback that says what a test has it say, and word by word where the test wants to watch."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.completions import completion, events, question_of
from tests.exchange import Exchange
from tests.faults import ERROR
from tests.faulty import FaultyGroq, Received, running

_LOOK_AGAIN_S = 0.01


@dataclass
class Saying:
    """A text, and how much of it may be said already; `left` is set when the client leaves before the end."""

    text: str
    words: int | None = None  # None: all.
    then: str = "end"  # Or "cut": the connection breaks after the last word; or "refuse": there is no answer at all.
    asked: threading.Event = field(default_factory=threading.Event)
    left: threading.Event = field(default_factory=threading.Event)

    def go_on(self, words: int | None = None) -> None:
        """Allow so many words more, or all."""
        self.words = None if words is None else (self.words or 0) + words

    def may_say(self, number: int) -> bool:
        return self.words is None or number < self.words


@dataclass
class ScriptedModel(FaultyGroq):
    """Answers a question with the text that it was given for it, and every other with a quote from the context."""

    sayings: dict[str, Saying] = field(default_factory=dict)

    def say(self, question: str, text: str, *, words: int | None = None, then: str = "end") -> Saying:
        """Answer a question with a text from now on; `words` are said at once, the others when the test goes on."""
        self.sayings[question] = Saying(text, words, then)
        return self.sayings[question]

    def asked(self, question: str) -> list[dict[str, Any]]:
        return [received.body for received in self.received if question_of(received.body) == question]

    async def _do(self, exchange: Exchange) -> None:
        saying = self.sayings.get(question_of(exchange.body))
        if saying is None or "<context>" not in exchange.body["messages"][0]["content"]:
            await super()._do(exchange)
            return
        self.received.append(Received(exchange.body, "say"))
        saying.asked.set()
        await _say(saying, exchange)


async def _say(saying: Saying, exchange: Exchange) -> None:
    if saying.then == "refuse":
        await exchange.send_json(500, ERROR)
        return
    if not exchange.streamed:
        await exchange.send_json(200, completion(exchange.body, saying.text))
        return
    try:
        await _stream(saying, exchange)
    except ConnectionError:
        saying.left.set()
        raise


async def _stream(saying: Saying, exchange: Exchange) -> None:
    await exchange.open_stream()
    for number, event in enumerate(events(exchange.body, saying.text, at_groq=exchange.at_groq)):
        while not saying.may_say(number):
            if exchange.left:
                saying.left.set()
                return
            await asyncio.sleep(_LOOK_AGAIN_S)
        if saying.then == "cut" and event["choices"][0]["finish_reason"]:
            exchange.reset()
            return
        await exchange.write_event(event)
    await exchange.end_stream()


@contextmanager
def scripted_model() -> Iterator[ScriptedModel]:
    with running(ScriptedModel()) as model:
        yield model
