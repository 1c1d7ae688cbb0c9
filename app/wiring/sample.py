"""The sample corpus, and the index of its own that is asked where the user has none."""

from pathlib import Path

from app.settings import Settings
from chains.scope import SCOPE_FILE

SAMPLE_INDEX = Path("storage/sample/chroma")


def sample_corpus() -> Path:
    """Return the folder of the sample corpus, in the installed package or the checkout."""
    package = Path(__file__).parents[1]
    inside = package / "knowledge_base"
    return inside if inside.is_dir() else package.parent / "knowledge_base"


def settings_to_ask(settings: Settings) -> Settings:
    """Return the settings with the sample's index in place of an index that nothing names and nothing was put into."""
    if settings.names_index or settings.chroma.path.exists():
        return settings
    return settings.replace(chroma_path=SAMPLE_INDEX)


def ingest_command(settings: Settings) -> str:
    """Return the command that fills the index; it names the folder that `waypoint init` made, where PAGE_PATH does."""
    page = settings.web.page
    folder = page if page is not None and (page / SCOPE_FILE).is_file() else "PATH"
    return f"waypoint ingest {folder}"
