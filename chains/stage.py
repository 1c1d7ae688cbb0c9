"""A name and the fields a stage adds -> a step of the pipeline, traced and timed under that name."""

from collections.abc import Callable
from typing import Any

from langchain_core.runnables import Runnable, RunnablePassthrough


def stage(
    name: str, *steps: Runnable[Any, Any], **fields: Runnable[Any, Any] | Callable[..., Any]
) -> Runnable[Any, Any]:
    """Add `fields` to the state in a step traced and timed as `name`; `steps` add more that build on those."""
    body: Runnable[Any, Any] = RunnablePassthrough.assign(**fields)
    for step in steps:
        body = body | step
    return body.with_config(run_name=name)


def also(**fields: Runnable[Any, Any] | Callable[..., Any]) -> Runnable[Any, Any]:
    """Add fields inside a stage that are derived from the ones the stage has just added."""
    return RunnablePassthrough.assign(**fields)
