"""Build the moderation of questions."""

import re
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any, cast

import httpx
from langchain_core.callbacks import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun
from langchain_core.messages import BaseMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel, Field

import prompts
from app.adapters.http_client import ServiceCalls, ServiceKind
from app.ports import Moderation, Trial
from app.settings import Settings
from app.wiring.llm import close, providers
from app.wiring.observability import QUESTION
from chains.clock import Clock
from chains.errors import ModerationError
from chains.generation.resilient import ResilientChatModel
from chains.ports import SELF_HARM, ModerationResult, Moderator
from chains.safety.screening import Harm, Moderate

OPENAI = "https://api.openai.com/v1"
KIND = ServiceKind(
    name="moderation service",
    path="/moderations",
    address="MODERATION_BASE_URL",
    key="MODERATION_API_KEY",
    model="MODERATION_MODEL",
    unreadable="no verdict",
    error=ModerationError,
)


class _Verdict(BaseModel):
    flagged: bool
    categories: dict[str, bool | None] = {}


class _Reply(BaseModel):
    results: list[_Verdict] = Field(min_length=1)


class OpenAIModeration(RunnableLambda[str, ModerationResult]):
    """Asks `POST {base_url}/moderations` whether a text is harmful.

    A call raises ModerationError where the service fails or answers what does not fit, DeadlineError where the time for
    it is used up.
    """

    def __init__(self, *, base_url: str, model: str, **options: Any) -> None:
        self._calls = ServiceCalls(KIND, base_url, **options)
        self._model = model
        self.aclose = self._calls.aclose
        super().__init__(self._ask, self._aask, name="moderation")

    def _ask(self, text: str, run_manager: CallbackManagerForChainRun) -> ModerationResult:
        return self._calls.post({"model": self._model, "input": text}, self._read, run_manager)

    async def _aask(self, text: str, run_manager: AsyncCallbackManagerForChainRun) -> ModerationResult:
        return await self._calls.apost({"model": self._model, "input": text}, self._read, run_manager)

    def _read(self, response: httpx.Response) -> ModerationResult:
        verdict = self._calls.reply(response, _Reply).results[0]
        named = tuple(name for name, is_named in verdict.categories.items() if is_named)
        return ModerationResult(flagged=verdict.flagged, categories=named)


# The hazards of MLCommons, which Llama Guard 3 and 4 number like this.
CATEGORIES = {
    f"S{number}": name
    for number, name in enumerate(
        f"""violent-crimes non-violent-crimes sex-crimes child-exploitation defamation specialized-advice privacy
        intellectual-property indiscriminate-weapons hate {SELF_HARM} sexual-content elections
        code-interpreter-abuse""".split(),
        start=1,
    )
}
_REPLY = re.compile(r"\s*(?P<verdict>safe|unsafe)\b(?P<codes>[\sS,\d]*)", re.IGNORECASE)
_CODE = re.compile(r"S\d+", re.IGNORECASE)


def read_verdict(message: BaseMessage) -> ModerationResult:
    """Return the verdict that a guard model wrote. Raise ModerationError if the message holds none."""
    reply = _REPLY.match(message.text)
    if reply is None:
        raise ModerationError("the guard model wrote neither `safe` nor `unsafe`; check MODERATION_MODEL")
    codes = [code.upper() for code in _CODE.findall(reply["codes"])]
    return ModerationResult(
        flagged=reply["verdict"].lower() == "unsafe", categories=tuple(CATEGORIES.get(code, code) for code in codes)
    )


GROQ_MODEL = "openai/gpt-oss-safeguard-20b"
OPENAI_MODEL = "omni-moderation-latest"
# Reasoning models write their thoughts before the verdict.
REPLY_TOKENS = 1000
# Models trained on a fixed policy, which accept no other.
LLAMA_GUARD = "llama-guard"
TIMEOUT_S = 10  # Of a moderation, retries included.
# Categories that block no question by themselves.
IGNORED = ("specialized-advice", "privacy", "intellectual-property")


def moderation_of(settings: Settings, clock: Clock) -> Moderation | None:
    chosen, llm = settings.moderation, settings.llm
    if not settings.safety.enabled or chosen.provider == "off":
        return None
    address = chosen.base_url or (llm.base_url if chosen.uses_llm_key(llm) else None)
    key = chosen.api_key or llm.api_key
    moderator: Moderator
    aclose: Callable[[], Awaitable[None]]
    if chosen.provider == "openai":
        limits: dict[str, Any] = {"api_key": key, "timeout_s": TIMEOUT_S, "clock": clock}
        moderator = OpenAIModeration(base_url=address or OPENAI, model=chosen.model or OPENAI_MODEL, **limits)
        aclose = moderator.aclose
    else:
        own = {"llm_model": chosen.model or GROQ_MODEL, "llm_api_key": key, "llm_base_url": address}
        moderator, aclose = _guard_model(settings.replace(**own), clock)
    text = partial(prompts.load, folder=settings.prompt.folder)
    refusals: dict[Harm, str] = {"moderation": text("blocked_moderation"), "self_harm": text("blocked_self_harm")}
    step = Moderate(moderator, refusals, ignored=IGNORED, timeout_s=TIMEOUT_S, clock=clock)
    return Moderation(moderator, step, aclose)


def _guard_model(settings: Settings, clock: Clock) -> tuple[Moderator, Callable[[], Awaitable[None]]]:
    name = settings.llm.model
    asked: dict[str, Any] = {
        "llm_provider": "groq",
        "llm_temperature": 0,
        "llm_max_tokens": REPLY_TOKENS,
        "llm_timeout_s": TIMEOUT_S,
        "llm_options": {"reasoning_effort": "low"} if "gpt-oss" in name else None,
        "llm_fallback": False,
        "llm_rpm": None,
        "llm_tpm": None,
        "llm_max_retries": 3,
    }
    model = ResilientChatModel(providers=providers(settings.replace(**asked), clock), max_tokens=REPLY_TOKENS)
    is_trained = LLAMA_GUARD in name.lower()
    policy = [] if is_trained else [SystemMessage(prompts.load("moderation", settings.prompt.folder))]
    # A prompt with one variable takes its value alone.
    moderator = ChatPromptTemplate([*policy, ("human", "{question}")]) | model | read_verdict
    return cast("Moderator", moderator.with_config(run_name="moderation")), partial(close, {name: model})


def trials(settings: Settings) -> Iterator[Trial]:
    moderation, provider = moderation_of(settings, Clock()), settings.moderation.provider
    if moderation is None:
        yield Trial("moderation", None, "MODERATION_PROVIDER")
        return

    def judge() -> str:
        result = moderation.moderator.invoke(QUESTION)
        return f"{provider} {'flags' if result.flagged else 'allows'} {QUESTION!r}"

    remedy = "check MODERATION_API_KEY, MODERATION_BASE_URL and MODERATION_MODEL; questions are answered without it"
    yield Trial("moderation", judge, remedy, required=False)
