from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import groq
import httpx
import openai
import pytest

from app.adapters.http_client import retry_after_s
from app.adapters.llm.validated_model import map_errors, status_error
from chains.errors import (
    LLMError,
    LLMReplyError,
    LLMTimeoutError,
    LLMUnavailableError,
)

REQUEST = httpx.Request("POST", "http://127.0.0.1/v1/chat/completions")


def test_a_provider_s_wait_is_kept_in_seconds_from_a_number_or_a_date():
    assert retry_after_s("7.5") == 7.5
    assert retry_after_s("-1") == 0
    assert retry_after_s(None) is None
    assert retry_after_s("soon") is None
    assert retry_after_s("nan") is None
    later = retry_after_s(format_datetime(datetime.now(UTC) + timedelta(minutes=10), usegmt=True))
    assert later is not None
    assert 500 < later <= 600
    assert status_error(httpx.Response(429, headers={"Retry-After": "9"}, request=REQUEST)).retry_after_s == 9


@pytest.mark.parametrize("vendor", [groq, openai])
@pytest.mark.parametrize(
    ("error", "ours"),
    [
        (httpx.ReadTimeout("x"), LLMTimeoutError),
        (httpx.RemoteProtocolError("cut"), LLMUnavailableError),
        (httpx.DecodingError("gzip"), LLMReplyError),
        (ValueError("no JSON"), LLMReplyError),
        (IndexError(), LLMReplyError),
        (LLMUnavailableError("ours"), LLMUnavailableError),
    ],
)
def test_what_breaks_in_a_client_is_ours_and_says_nothing_of_the_vendor(vendor, error, ours):
    with pytest.raises(ours) as caught, map_errors(vendor):
        raise error
    assert isinstance(caught.value, LLMError)
    assert "gzip" not in str(caught.value)


@pytest.mark.parametrize("vendor", [groq, openai])
def test_the_vendors_own_errors_are_ours(vendor):
    kinds = {
        LLMTimeoutError: vendor.APITimeoutError(REQUEST),
        LLMUnavailableError: vendor.APIConnectionError(request=REQUEST),
        LLMReplyError: vendor.APIResponseValidationError(httpx.Response(200, request=REQUEST), None),
    }
    for ours, error in kinds.items():
        with pytest.raises(ours), map_errors(vendor):
            raise error
    overloaded = vendor.APIError("overloaded", REQUEST, body=None)
    with pytest.raises(LLMUnavailableError, match="in the middle"), map_errors(vendor):
        raise overloaded


def test_what_is_no_failure_of_the_provider_passes():
    with pytest.raises(KeyboardInterrupt), map_errors(groq):
        raise KeyboardInterrupt
