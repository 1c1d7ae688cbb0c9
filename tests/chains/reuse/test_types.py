"""A user's program under pyright, strictly; mypy reads it with all other files, in `make check`."""

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).with_name("user_program.py")


def test_pyright_finds_no_error_in_a_user_s_program(tmp_path):
    settings = {"typeCheckingMode": "strict", "include": [str(PROGRAM)], "extraPaths": [str(PROGRAM.parents[3])]}
    project = tmp_path / "pyrightconfig.json"
    project.write_text(json.dumps(settings))
    checker = [Path(sys.executable).with_name("basedpyright"), "--project", project, "--pythonpath", sys.executable]
    done = subprocess.run([*checker, "--outputjson"], capture_output=True, text=True, check=False)

    found = json.loads(done.stdout)
    assert found["summary"]["filesAnalyzed"] == 1
    assert [one["message"] for one in found["generalDiagnostics"] if one["severity"] == "error"] == []
