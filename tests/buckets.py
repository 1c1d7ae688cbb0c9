"""Servers on loopback that speak as Amazon's, Azure's and Google's object storage do, and a bucket on each of them."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import boto3
import httpx
import pytest
from azure.storage.blob import BlobServiceClient
from gcp_storage_emulator.server import create_server
from moto.server import ThreadedMotoServer

from benchmarks.processes import free_port
from tests.waiting import wait_until

NAME = "corpus"
# The last version that runs on the Node.js of Debian; .ci/services installs it.
AZURITE = "azurite@3.35.0"
# The account that Azurite begins with; its key is public.
ACCOUNT = "devstoreaccount1"
ACCOUNT_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


@dataclass(frozen=True)
class Bucket:
    """An empty bucket: its scheme, the environment that leads to it, and what puts and deletes its objects."""

    scheme: str
    environment: dict[str, str]
    put: Callable[[str, bytes], object]
    delete: Callable[[str], object]
    clear: Callable[[], object]

    @property
    def address(self) -> str:
        return f"{self.scheme}://{NAME}"


@contextmanager
def s3_bucket() -> Iterator[Bucket]:
    """A bucket of Amazon's, on moto."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url, key, secret = f"http://{host}:{port}", "key-of-tests", "secret-of-tests"
    resource = boto3.resource(
        "s3", endpoint_url=url, aws_access_key_id=key, aws_secret_access_key=secret, region_name="us-east-1"
    )
    bucket = resource.Bucket(NAME)
    bucket.create()
    environment = {
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": key,
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    try:
        yield Bucket(
            "s3",
            environment,
            lambda name, content: bucket.put_object(Key=name, Body=content),
            lambda name: bucket.Object(name).delete(),
            bucket.objects.all().delete,
        )
    finally:
        bucket.objects.all().delete()  # All servers of moto in a process hold the same buckets.
        server.stop()


@contextmanager
def azure_bucket(folder: Path) -> Iterator[Bucket]:
    """A container of Azure's, on Azurite, which keeps its files in `folder`."""
    url = f"http://127.0.0.1:{free_port()}/{ACCOUNT}"
    with azurite(url, folder), BlobServiceClient(url, credential=ACCOUNT_KEY) as service:
        container = service.create_container(NAME)

        def clear() -> None:
            for name in list(container.list_blob_names()):
                container.delete_blob(name)

        environment = {"AZURE_STORAGE_CONNECTION_STRING": connection_string(url, ACCOUNT_KEY)}
        yield Bucket(
            "az",
            environment,
            lambda name, content: container.upload_blob(name, content, overwrite=True),
            container.delete_blob,
            clear,
        )


def connection_string(url: str, key: str) -> str:
    """Return the setting that leads to the account at an address of its own."""
    return f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={key};BlobEndpoint={url};"


def azurite_program() -> str | None:
    """Return the program that serves Azure's blobs; None where it is not installed. Nothing is downloaded."""
    if installed := shutil.which("azurite-blob"):
        return installed
    if not shutil.which("npx"):
        return None
    words = ["npx", "--no", "--package", AZURITE, "--call", "command -v azurite-blob"]
    found = subprocess.run(words, capture_output=True, text=True, check=False)
    return found.stdout.strip() or None


@contextmanager
def azurite(url: str, folder: Path) -> Iterator[None]:
    """Run Azurite; it listens when the body begins."""
    program, port = azurite_program(), url.rpartition(":")[2].partition("/")[0]
    if program is None:
        pytest.skip(f"Azurite is not installed: npx --yes --package {AZURITE} azurite-blob --version")
    words = ["--blobPort", port, "--location", str(folder), "--silent", "--skipApiVersionCheck", "--disableTelemetry"]
    process = subprocess.Popen([program, *words], stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: process.poll() is not None or _answers(url))
        assert process.poll() is None, "Azurite ended"
        yield
    finally:
        process.kill()
        process.wait()


def _answers(url: str) -> bool:
    try:
        return bool(httpx.get(url))
    except httpx.TransportError:
        return False


@contextmanager
def google_bucket() -> Iterator[Bucket]:
    """A bucket of Google's, on gcp-storage-emulator, which asks nobody who he is."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with create_server("127.0.0.1", port, in_memory=True, default_bucket=NAME):
        yield Bucket(
            "gs",
            {"STORAGE_EMULATOR_HOST": url, "NO_GCE_CHECK": "true"},
            lambda name, content: _done(
                httpx.post(
                    f"{url}/upload/storage/v1/b/{NAME}/o", params={"uploadType": "media", "name": name}, content=content
                )
            ),
            lambda name: _done(httpx.delete(f"{url}/storage/v1/b/{NAME}/o/{quote(name, safe='')}")),
            lambda: _done(httpx.get(f"{url}/wipe", params={"keep-buckets": "true"})),
        )


def _done(response: httpx.Response) -> None:
    response.raise_for_status()
