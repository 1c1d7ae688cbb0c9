"""The settings of this wing."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field

from app.settings.group import Group
from app.settings.values import Flag, Positive, Seconds


class SourceSettings(Group):
    """Documents from buckets and web sites."""

    PREFIX: ClassVar[str] = "source_"

    folder: Path | None = Field(
        None,
        validation_alias="sources_path",
        description="Folder for the copies of buckets and web sites; empty: `sources` beside the index",
    )
    max_mb: Positive = Field(50, description="Maximum size of a file downloaded from a bucket or web site, in MB")
    timeout_s: Seconds = Field(60, description="Timeout for downloading one file or page")
    web_max_pages: Positive = Field(
        500,
        validation_alias="web_max_pages",
        description="Maximum number of pages and files downloaded from a web site",
    )
    web_max_depth: int = Field(
        5, ge=0, validation_alias="web_max_depth", description="Maximum number of links from the start page"
    )
    web_delay_s: float = Field(
        0.5,
        ge=0,
        validation_alias="web_delay_s",
        description="Seconds between two requests to a web site; the site's own crawl delay takes precedence",
    )
    web_allow_private: Flag = Field(
        False,
        validation_alias="web_allow_private",
        description="Whether web sites in private networks and on this machine may be read",
    )
