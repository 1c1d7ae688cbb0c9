"""The LCEL chatbot's chain under a failing model."""

import pytest

from app.http.errors import reply_to
from chains.errors import LLMError
from tests.contract.recorded import recorded
from tests.service.desk import QUESTION, open_desk, without_breaker


@pytest.mark.parametrize("case", recorded("chain_resilience"))
def test_a_model_that_refuses_is_an_error_with_its_name_code_and_status_after_one_call(case, tmp_path):
    with without_breaker(), open_desk(tmp_path) as desk:
        desk.groq.always = case["input"]["llm"]
        with pytest.raises(LLMError) as caught:
            desk.services.chain.invoke({"question": QUESTION})

    assert case["expected"] == {
        "ok": False,
        "name": LLMError.__name__,
        "code": caught.value.code,
        "status": reply_to(caught.value).status,
        "llm_calls": len(desk.groq.received),
    }
