"""What docs/backup.md says: a copy of an index is one, wherever it is brought back."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import psycopg
import pytest

from app.settings import load_settings
from app.wiring import Service, open_service
from tests import postgres
from tests.corpora import write_documents
from tests.served import GUIDE, QUESTION

PAGE = Path(__file__).parents[2] / "docs" / "backup.md"


@pytest.fixture
def corpus(tmp_path) -> Path:
    return write_documents(tmp_path / "documents", {"gst.md": GUIDE})


def services(**settings: Any) -> Service:
    return open_service(
        load_settings(_env_file=None, llm_provider="offline", min_chunks=0, scope_file="off", **settings)
    )


def answers(**settings: Any) -> bool:
    answer = services(**settings).chain.invoke({"question": QUESTION})
    return answer["outcome"] == "answered" and "9 %" in answer["answer"]


def written(program: str) -> str:
    """Return the command of the page that runs a program."""
    [command] = re.findall(rf"`({program} [^`]+)`", PAGE.read_text(encoding="utf-8"))
    return str(command)


@pytest.mark.parametrize("kind", ["chroma", "memory"])
def test_a_copied_folder_answers_at_another_place(corpus, tmp_path, kind):
    services(chroma_path=tmp_path / "index", vector_store_type=kind).index.ingest([corpus])
    shutil.copytree(tmp_path / "index", tmp_path / "elsewhere" / "copy")
    shutil.rmtree(tmp_path / "index")

    assert answers(chroma_path=tmp_path / "elsewhere" / "copy", vector_store_type=kind)


@pytest.mark.service
def test_a_dump_of_postgres_restores_what_was_lost(corpus, tmp_path, database_url):
    settings = {"vector_store_type": "postgres", "database_url": database_url}
    services(**settings).index.ingest([corpus])
    run(written("pg_dump"), tmp_path, database_url)
    with psycopg.connect(database_url) as connection:
        connection.execute("DROP SCHEMA waypoint_waypoint_kb CASCADE")
    run(written("pg_restore"), tmp_path, database_url)

    assert answers(**settings)


def run(command: str, folder: Path, url: str) -> None:
    programs = postgres.programs()
    environment = {"PATH": f"{programs}:{os.defpath}", "DATABASE_URL": url}
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
