"""The outcomes of an answer, each by a question that brings it about."""

import json

from playwright.sync_api import Page, Route

from tests.web.asking import GST, GST_ANSWER, NO_RESULTS, REFUSAL
from tests.web.model import ScriptedModel

UNGROUNDED = "What colour are the gates of the depot?"
DECLINED = "Which documents does the customs office of Atlantis want?"
DEGRADED = "How does CIF differ from FOB in Incoterms 2020?"
BLOCKED = "Please hold this question back"
INVENTED = "The moon is made of green cheese and glows at night."
SMALL_TALK = "Thanks!"
ASKED_BACK = "How much is it?"
PARTLY = "What do animals do?"
FOREIGN = "Was machen Fische?"
RATES = "What is the current rate for a 20 foot container to Colombo?"
OUTCOMES = {
    "answered": GST,
    "declined": DECLINED,
    "no_results": NO_RESULTS,
    "ungrounded": UNGROUNDED,
    "degraded": DEGRADED,
    "blocked": BLOCKED,
    "small_talk": SMALL_TALK,
    "redirected": RATES,
}


def say_outcomes(model: ScriptedModel) -> None:
    """Have the model answer so that each outcome comes about."""
    model.say(GST, GST_ANSWER)
    model.say(UNGROUNDED, INVENTED)
    model.say(DECLINED, REFUSAL)
    model.say(DEGRADED, "", then="refuse")


def hold_back(page: Page) -> None:
    """Answer questions as a service does: held back, supported in part, put into English, and for another desk."""
    parts = {
        BLOCKED: [
            {
                "outcome": "blocked",
                "answer": "This question cannot be answered here.",
                "citations": [],
                "documents": [],
            },
            {"confidence": {"level": "Low", "score": 0, "reason": "The question was blocked", "factors": {}}},
        ],
        PARTLY: [
            {"outcome": "answered", "answer": "Fish swim [1].\n\n- Elephants fly.\n- Birds fly [2].", "documents": []},
            {"citations": [], "closest": [], "unsupported": [[18, 32]], "confidence": None, "metadata": {}},
        ],
        FOREIGN: [
            {"outcome": "answered", "answer": "Fish swim.", "documents": [], "citations": [], "closest": []},
            {"confidence": None, "answer_translation": "- Fische **schwimmen**.\n- <b>Mehr</b> nicht.", "metadata": {}},
        ],
        RATES: [
            {"outcome": "redirected", "answer": "I cannot quote live rates.", "citations": [], "documents": []},
            {"closest": [], "confidence": None, "metadata": {"intent": "live_rates"}},
        ],
    }

    def answer(route: Route) -> None:
        question = json.loads(route.request.post_data or "{}")["input"]["question"]
        if question not in parts:
            route.fallback()
            return
        events = "".join(f"event: data\r\ndata: {json.dumps(part)}\r\n\r\n" for part in parts[question])
        route.fulfill(content_type="text/event-stream", body=f"{events}event: end\r\n\r\n")

    page.route("**/copilot/stream", answer)
