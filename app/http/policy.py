"""Declare at each route what it asks of its callers and what it may use; the middleware reads it there."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from fastapi.routing import iter_route_contexts
from starlette.routing import BaseRoute
from starlette.types import Scope as AsgiScope

from app.adapters.identity import Scope

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
KILOBYTE, MEGABYTE = 2**10, 2**20
Access = Scope | Literal["open", "own_page", "report", "optional"]
ErrorForm = Literal["waypoint", "marp", "openai"]
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


def one_question(_body: Any) -> int:
    return 1


def no_question(_body: Any) -> int:
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a route asks of its callers and may use; a route that declares nothing has the defaults.

    Use it as a decorator of the endpoint, below the router's.

    Args:
        access: The scope that callers need. Other values need no identity: `open`; `own_page`, where only the service's
            own page may post; `report`, which shows staff more; `optional`, which knows who has signed in.
        body_bytes: How large a body may be.
        streamed: Whether a POST's body is too large for memory: the route reads it in pieces.
        questions: How many questions a POST's body asks; the limits of rate, batch and concurrency count them.
        pages: Which part of a PDF page it draws: no question, but it may take seconds of CPU time.
        drained: Whether it is refused while the service drains, as all but monitoring and rendering are.
        errors: The form of its errors: `marp` repeats the message as `detail`, `openai` has OpenAI's form.
        statuses: Errors of its own, for the description of the API; those of its other attributes follow from them.
        invalid: Answer an invalid body with 400, not with FastAPI's 422: what the body must be ("") and the message of
            each field that has one of its own.
    """

    access: Access = Scope.ASK
    body_bytes: int = 10 * KILOBYTE
    streamed: bool = False
    questions: Callable[[Any], int] = one_question
    pages: Literal["pictures", "words"] | None = None
    drained: bool = True
    errors: ErrorForm = "waypoint"
    statuses: tuple[int, ...] = ()
    invalid: Mapping[str, str] | None = None

    @property
    def is_open(self) -> bool:
        """Return whether everybody may call it, and it does not depend on who calls."""
        return self.access in {"open", "own_page", "report"}

    def __call__(self, endpoint: Endpoint) -> Endpoint:
        endpoint.__dict__["policy"] = self
        return endpoint


class Policies:
    """The policies of an application's routes, found by path and method as the router finds the routes."""

    def __init__(self, routes: Sequence[BaseRoute]) -> None:
        self._routes: list[tuple[re.Pattern[str], Collection[str], Policy]] = []
        self._errors: dict[str, ErrorForm] = {}
        for route in iter_route_contexts(routes):
            policy = getattr(route.endpoint, "policy", DEFAULT)
            self._routes.append((route.path_regex, route.methods or (), policy))
            if policy.errors != DEFAULT.errors:
                self._errors[_folder(route.path or "")] = policy.errors

    def find(self, path: str, method: str) -> Policy:
        """Return the policy of a request's route.

        A method that the path does not have gets the policy of one that changes or only reads, as it does. A path
        without a route has the defaults, and the errors of the routes beside it.
        """
        if policy := self._declared(path, method):
            return policy
        # The router redirects to the path with or without the slash.
        beside = self._declared(path[:-1] if path.endswith("/") else f"{path}/", method)
        scope = beside.access if beside and isinstance(beside.access, Scope) else DEFAULT.access
        return Policy(access=scope, errors=self._errors.get(_folder(path), DEFAULT.errors))

    def _declared(self, path: str, method: str) -> Policy | None:
        at_path = [(methods, policy) for regex, methods, policy in self._routes if regex.match(path)]
        for methods, policy in at_path:
            if not methods or method in methods:
                return policy
        reads = method in SAFE_METHODS
        alike = [policy for methods, policy in at_path if any((other in SAFE_METHODS) is reads for other in methods)]
        return next(iter(alike or [policy for _, policy in at_path]), None)

    def methods(self, path: str) -> list[str]:
        return sorted({method for regex, methods, _ in self._routes if regex.match(path) for method in methods})


DEFAULT = Policy()


def _folder(path: str) -> str:
    return path.split("/")[1] if "/" in path else ""


def route_path(scope: AsgiScope) -> str:
    """Return the path of a request below the service's own root."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


def policies_of(scope: AsgiScope) -> Policies:
    state = scope["app"].state
    if not hasattr(state, "policies"):
        state.policies = Policies(scope["app"].routes)
    policies: Policies = state.policies
    return policies


def policy_of(scope: AsgiScope) -> Policy:
    if "policy" not in scope:
        scope["policy"] = policies_of(scope).find(route_path(scope), scope.get("method", "GET"))
    policy: Policy = scope["policy"]
    return policy
