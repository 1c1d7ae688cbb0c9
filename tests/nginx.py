"""A real nginx on loopback before one host or more, set up as docs/operations.md shows."""

import re
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks.processes import ROOT, free_port
from tests.waiting import wait_until

OPERATIONS = ROOT / "docs" / "operations.md"
PLACES = "/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin"
KINDS = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
CONFIG = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    {places}
    {example}
}}
"""


def program() -> str | None:
    return shutil.which("nginx", path=PLACES)


def skip_without_nginx() -> None:
    if program() is None:
        pytest.skip("nginx is not installed (Debian's package nginx-light)")


@contextmanager
def nginx(*hosts: str) -> Iterator[str]:
    """Run nginx before the services at these addresses while the body runs; yield its own address."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="waypoint-nginx-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # It writes large bodies there, as a user of its own.
        places = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in KINDS)
        config = folder / "nginx.conf"
        config.write_text(CONFIG.format(folder=folder, places=places, example=example(port, hosts)))
        command = [str(program()), "-p", name, "-c", str(config)]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
            try:
                wait_until(lambda: _accepts(port))
                yield f"http://127.0.0.1:{port}"
            finally:
                process.terminate()


def example(port: int, hosts: tuple[str, ...]) -> str:
    [shown] = re.findall(r"^```nginx\n(.*?)^```", OPERATIONS.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert "server 127.0.0.1:3000;" in shown
    assert "listen 80;" in shown
    servers = " ".join(f"server {host.removeprefix('http://')};" for host in hosts)
    return shown.replace("server 127.0.0.1:3000;", servers).replace("listen 80;", f"listen 127.0.0.1:{port};")


def _accepts(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
