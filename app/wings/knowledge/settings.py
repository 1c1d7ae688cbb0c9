"""The settings of this wing."""

from typing import ClassVar

from pydantic import Field

from app.settings.group import Group
from app.settings.values import Flag, Positive


class LintSettings(Group):
    """What `waypoint lint` counts as old."""

    PREFIX: ClassVar[str] = "lint_"
    CHANGES_ANSWERS: ClassVar[bool] = False

    max_age_days: int = Field(
        0,
        ge=0,
        description="Days since `last_updated` after which `waypoint lint` calls a document old; 0: none, only "
        "`review_by` counts",
    )


class AnswerLogSettings(Group):
    """The log of answers, their proofs and their feedback."""

    PREFIX: ClassVar[str] = "answer_log_"
    CHANGES_ANSWERS: ClassVar[bool] = False

    enabled: Flag = Field(
        True, validation_alias="answer_log", description="Whether questions, answers and feedback are logged"
    )
    days: Positive = Field(90, description="How many days an answer is kept")
    max_mb: Positive = Field(200, description="Maximum size of the logged answers in MB; the oldest go first")
