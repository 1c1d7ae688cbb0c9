"""The settings of `waypoint lint`."""

from typing import ClassVar

from pydantic import Field

from app.settings.group import Group


class LintSettings(Group):
    """What counts as old."""

    PREFIX: ClassVar[str] = "lint_"

    max_age_days: int = Field(
        0,
        ge=0,
        description="Days since `last_updated` after which `waypoint lint` calls a document old; 0: none, only "
        "`review_by` counts",
    )
