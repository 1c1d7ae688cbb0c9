"""What an index says about how it was made, and the check that it fits this version and these settings."""

from chains.errors import ConfigurationError

# Raised whenever an older index would answer wrongly. 3: more of what a document says of its audience is understood,
# so that an older index may show strangers what is internal.
FORMAT = 3

REBUILD = "rebuild it with `waypoint ingest --reset PATH`, where PATH is the folder of your documents"


def check_label(index: str, *, made_format: object, made_with: object, embedding_model: str) -> None:
    """Check the format and the embedding model that an index states.

    Raises:
        ConfigurationError: one of them is another than this version or these settings need.
    """
    if made_format != FORMAT:
        msg = f"the index {index!r} was made by an earlier version, in another form; {REBUILD}"
        raise ConfigurationError(msg)
    if made_with != embedding_model:
        msg = (
            f"the index {index!r} was made with the embedding model {made_with!r}, not {embedding_model!r}; "
            f"{REBUILD}, or set EMBEDDING_MODEL"
        )
        raise ConfigurationError(msg)
