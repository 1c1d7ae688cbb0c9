"""Waypoint Co-Pilot meets the world: settings, wiring, command line, HTTP."""

import os
from pathlib import Path

# Libraries report their use to their vendors unless these are set before they are imported.
os.environ.update(  # noqa: TID251 - written, not read.
    ORT_DISABLE_TELEMETRY="1",  # onnxruntime
    ANONYMIZED_TELEMETRY="False",  # Chroma
    HF_HUB_DISABLE_TELEMETRY="1",  # sentence-transformers, by the extra `huggingface`
    RAY_USAGE_STATS_ENABLED="0",  # Ray, by the extra `ray`
    RAY_DEDUP_LOGS_SKIP_REGEX=".",  # ... which else writes of every dead worker to stdout, where the report goes
    DO_NOT_TRACK="1",
)

try:
    Path.home()
except RuntimeError:  # A user whom the system does not know, as in many containers; Chroma cannot be imported then.
    os.environ["HOME"] = os.devnull  # noqa: TID251 - nothing can be kept below it, and no other user reads it.
