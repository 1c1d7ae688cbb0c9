"""A provider that asks to wait for years, or never stops to write."""

from pathlib import Path

from langchain_core.language_models import FakeListChatModel

from app.settings import load_settings
from app.wiring.llm import providers
from benchmarks.hostile.tried import Tried
from chains.generation.allowance import CHARACTERS_PER_TOKEN, TOLERANCE
from chains.generation.rate_limiter import LONGEST_PAUSE_S
from chains.generation.resilient import ResilientChatModel
from chains.message_metadata import degradation_of
from tests.clocks import StoppedClock
from tests.fakes import FakeGroq, Reply, fake_groq

QUESTION = "What is the rate?"
WAITS = ("999999999999", "1e308", "inf", "-inf", "nan", "-1", "9" * 400, "0x10", "soon", "\t", "1_000_000_000")
DATES = (
    "Fri, 31 Dec 9999 23:59:59 GMT",
    "Thu, 01 Jan 1970 00:00:00 GMT",
    "Fri, 31 Dec 99999 23:59:59 GMT",
    "2999-01-01",
)
STATUSES = (429, 503)
ENDLESS = ("And so on. ", "x", "<think>Let me see. ", "\n", "访问", "[GST Guide > Rate]")
REPEATED = 20_000


def attack(folder: Path) -> list[Tried]:
    """Ask after each wait, and read each reply without an end."""
    waits = Tried("waits that a provider asks for", "the model is asked again a minute later")
    endless = Tried("replies without an end", "ended at eight times LLM_MAX_TOKENS")
    with fake_groq() as groq:
        for status in STATUSES:
            for wait in (*WAITS, *DATES):
                waits.add(f"{status}, Retry-After: {wait[:40]}", held=_asked_again(groq, status, wait))
        for words in ENDLESS:
            for streamed in (True, False):
                name = f"{words!r}, {'streamed' if streamed else 'whole'}"
                endless.add(name, held=_is_ended(groq, words * REPEATED, streamed=streamed))
    return [waits, endless]


def _asked_again(groq: FakeGroq, status: int, wait: str) -> bool:
    clock = StoppedClock()
    model = _model(groq, clock)
    groq.replies = [Reply(status=status, headers={"Retry-After": wait})] * 4
    model.invoke(QUESTION)
    clock.time += LONGEST_PAUSE_S
    groq.replies = []
    return degradation_of(model.invoke(QUESTION)) is None


def _is_ended(groq: FakeGroq, text: str, *, streamed: bool) -> bool:
    model = _model(groq, StoppedClock())
    groq.replies = [Reply(text)]
    told = "".join(chunk.text for chunk in model.stream(QUESTION)) if streamed else model.invoke(QUESTION).text
    return len(told) <= TOLERANCE * CHARACTERS_PER_TOKEN * model.max_tokens


def _model(groq: FakeGroq, clock: StoppedClock) -> ResilientChatModel:
    settings = load_settings(_env_file=None, llm_provider="groq", llm_api_key="gsk_test", llm_base_url=groq.url)
    resort = FakeListChatModel(responses=["Quoted."])
    return ResilientChatModel(
        providers=providers(settings, clock), last_resort=resort, max_tokens=settings.llm.max_tokens
    )
