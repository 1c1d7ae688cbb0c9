"""A request -> the same request, if it is not too large, too slow, too often, or one too many. All ASGI middlewares."""

from app.limits.body import BoundedBody
from app.limits.concurrency import Turns
from app.limits.disconnected import StopsWhenLeft
from app.limits.paths import ReadablePaths
from app.limits.questions import CountedQuestions
from app.limits.rate import Rated

__all__ = ["BoundedBody", "CountedQuestions", "Rated", "ReadablePaths", "StopsWhenLeft", "Turns"]
