import inspect

import pytest
from langchain_core.language_models import BaseChatModel


@pytest.mark.parametrize("method", ["_generate", "_agenerate", "_stream", "_astream"])
def test_chat_models_are_still_implemented_by_the_same_methods(method):
    assert list(inspect.signature(getattr(BaseChatModel, method)).parameters) == [
        *("self", "messages", "stop", "run_manager", "kwargs")
    ]


def test_chat_models_still_say_what_tells_them_apart_and_what_traces_tell():
    assert isinstance(inspect.getattr_static(BaseChatModel, "_llm_type"), property)
    assert isinstance(inspect.getattr_static(BaseChatModel, "_identifying_params"), property)
    assert list(inspect.signature(BaseChatModel._get_ls_params).parameters) == ["self", "stop", "kwargs"]
