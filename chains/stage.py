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


def spread(field: str, record: type) -> dict[str, Callable[..., Any]]:
    """Return the fields of the `record` that stands in the state's `field`, each as a field of the state itself."""
    return {name: _inner(field, name) for name in record.__annotations__}


def _inner(field: str, name: str) -> Callable[..., Any]:
    # When a stream breaks, one of the parallel readers gets the error and the others an early end without the record:
    # they have to keep still, or their KeyError may arrive before the error that says what happened.
    return lambda state: state[field][name] if field in state else None
