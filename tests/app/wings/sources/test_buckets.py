"""Buckets of three services on loopback, ingested into a real index: what is fetched, kept, removed and refused."""

import json
import socket
from collections.abc import Iterator
from itertools import chain

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from app.wings.sources import plugin
from app.wings.sources.web_client import save
from app.wiring import Service
from chains.errors import IngestionError
from tests.buckets import ACCOUNT_KEY, Bucket, azure_bucket, google_bucket, s3_bucket
from tests.processes import run_forked
from tests.remote import counts, ids, services_over


@pytest.fixture(scope="module")
def s3() -> Iterator[Bucket]:
    with s3_bucket() as bucket:
        yield bucket


@pytest.fixture(scope="module")
def az(tmp_path_factory) -> Iterator[Bucket]:
    with azure_bucket(tmp_path_factory.mktemp("azurite")) as bucket:
        yield bucket


@pytest.fixture(scope="module")
def gs() -> Iterator[Bucket]:
    with google_bucket() as bucket:
        yield bucket


@pytest.fixture(params=["s3", pytest.param("az", marks=pytest.mark.service), "gs"])
def bucket(request, monkeypatch) -> Bucket:
    """An empty bucket, which the environment leads to."""
    bucket: Bucket = request.getfixturevalue(request.param)
    bucket.clear()
    for name, value in bucket.environment.items():
        monkeypatch.setenv(name, value)
    return bucket


@pytest.fixture
def services(tmp_path) -> Service:
    return services_over(tmp_path)


@pytest.mark.parametrize("change", ["replaced", "deleted"])
def test_an_object_that_changes_while_it_is_read_is_named_and_its_parts_are_not_mixed(
    tmp_path, bucket, change, monkeypatch
):
    services = services_over(tmp_path)

    def large(word):
        return f"# Fees\n\n{f'The fee is {word}. ' * 700_000}".encode()  # Each service sends this in several replies.

    def save_and_change(parts, folder):
        first = next(parts)
        bucket.put("desk/fees.md", large("ten")) if change == "replaced" else bucket.delete("desk/fees.md")
        return save(chain([first], parts), folder)

    bucket.put("desk/gst.md", b"# GST\n\nIt is nine percent.")
    services.index.ingest([f"{bucket.address}/desk"])
    bucket.put("desk/fees.md", large("nine"))
    with monkeypatch.context() as patched:
        patched.setattr(plugin, "save", save_and_change)
        changed = services.index.ingest([f"{bucket.address}/desk"])

    [problem] = changed.problems
    assert problem.path == f"{bucket.address}/desk/fees.md"
    assert ("it changed while it was fetched" if change == "replaced" else "FileNotFoundError") in problem.reason
    assert ids(services) == {"gst"}


def test_a_bucket_is_fetched_once_and_then_only_what_changed(services, bucket):
    for name in ("desk/01_regulatory/gst.md", "desk/fees.csv", "desk/logo.png", "other/x.md"):
        bucket.put(name, b"Goods,Rate\nGold,9\n")
    first = services.index.ingest([f"{bucket.address}/desk"])
    assert ids(services) == {"01_regulatory_gst", "fees"}
    assert services.index.library.catalogue().entries["01_regulatory_gst"].category == "regulatory"
    assert [problem.path for problem in first.skipped] == [f"{bucket.address}/desk/logo.png"]
    copy = next(services.settings.chroma.path.parent.rglob("fees.csv"))
    copy.write_text("Goods,Rate\nWords of this machine,9\n")  # The copy counts, as long as the bucket is as it was.

    bucket.put("desk/01_regulatory/gst.md", b"# GST\n\nIt is ten percent.")
    changed = services.index.ingest([f"{bucket.address}/desk/"])
    assert "Words of this machine" in copy.read_text()
    bucket.delete("desk/fees.csv")
    gone = services.index.ingest([f"{bucket.address}/desk"])

    assert counts(changed) == (0, 2, 0, 0)
    assert counts(gone) == (0, 0, 1, 1)
    assert ids(services) == {"01_regulatory_gst"}
    assert not copy.exists()


def test_one_file_of_a_bucket_is_taken_alone(services, bucket):
    bucket.put("a/gst.md", b"# GST\n\nNine percent.")
    bucket.put("a/x.md", b"# X\n\nOther words.")
    services.index.ingest([f"{bucket.address}/a/gst.md"])
    assert ids(services) == {"gst"}


def test_a_file_that_is_too_large_or_has_an_impossible_name_is_named_and_the_rest_goes_on(
    services, bucket, monkeypatch
):
    monkeypatch.setattr("app.wings.sources.plugin.MAX_BYTES", 2**20)
    bucket.put("good.md", b"# Good\n\nWords.")
    bucket.put("large.md", b"x" * (2**20 + 1))
    bucket.put(f"{'x' * 300}.md", b"# Long\n\nWords.")
    report = services.index.ingest([bucket.address])

    assert ids(services) == {"good"}
    assert {problem.path for problem in report.problems} == {
        f"{bucket.address}/large.md",
        f"{bucket.address}/{'x' * 300}.md",
    }


@pytest.mark.parametrize("place", ["no-such-bucket", "corpus/nothing"])
def test_a_bucket_that_cannot_be_listed_removes_nothing_and_shows_no_key(services, bucket, place):
    bucket.put("gst.md", b"# GST\n\nNine percent.")
    services.index.ingest([bucket.address])
    with pytest.raises(IngestionError) as error:
        services.index.ingest([f"{bucket.scheme}://{place}"])
    assert f"{bucket.scheme}://{place}" in str(error.value)
    assert "of-tests" not in str(error.value)
    assert ids(services) == {"gst"}


@pytest.mark.service
def test_a_wrong_key_of_azure_is_an_error_that_does_not_show_it(az, services, monkeypatch):
    wrong = "d3Jvbmcga2V5IG9mIHRlc3Rz"
    right = az.environment["AZURE_STORAGE_CONNECTION_STRING"]
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", right.replace(ACCOUNT_KEY, wrong))
    with pytest.raises(IngestionError, match=r"az://corpus: .*check the address, and the credentials") as error:
        services.index.ingest([az.address])
    assert wrong not in str(error.value)


def test_a_service_account_that_google_refuses_is_one_line_that_does_not_show_its_key(
    gs, waypoint, monkeypatch, tmp_path, httpserver
):
    httpserver.expect_request("/token").respond_with_json({"error": "invalid_grant"}, status=400)
    pem = rsa.generate_private_key(65537, 2048).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    account = {"type": "service_account", "client_email": "tests@example.com", "private_key": pem.decode()}
    (tmp_path / "account.json").write_text(json.dumps(account | {"token_uri": httpserver.url_for("/token")}))
    for name, value in (gs.environment | {"GOOGLE_APPLICATION_CREDENTIALS": str(tmp_path / "account.json")}).items():
        monkeypatch.setenv(name, value)
    code, out, messages = waypoint("ingest", gs.address)
    assert (code, out) == (2, "")
    assert [line for line in messages.splitlines() if '"werkzeug"' not in line] == [  # That is the server of tokens.
        "waypoint: gs://corpus: it cannot be opened (HttpError); check the address, and the credentials of its service"
    ]


def test_google_that_does_not_answer_is_waited_for_as_long_as_is_set(tmp_path, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"http://127.0.0.1:{silent.getsockname()[1]}")
        monkeypatch.setenv("NO_GCE_CHECK", "true")
        monkeypatch.setattr("app.wings.sources.plugin.TIMEOUT_S", 0.5)
        with pytest.raises(IngestionError, match=r"gs://corpus: it cannot be listed \(FSTimeoutError\)"):
            services_over(tmp_path).index.ingest(["gs://corpus"])


@pytest.mark.parametrize(("scheme", "package", "extra"), [("gs", "gcsfs", "gcs"), ("az", "adlfs", "azure")])
def test_a_service_whose_package_is_not_installed_names_the_extra(tmp_path, scheme, package, extra):
    program = f"import sys; sys.modules[{package!r}] = None; from app.cli import main; main()"
    ended = run_forked(tmp_path, "-c", program, "ingest", f"{scheme}://bucket")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert f"{scheme}:// needs the extra {extra!r}: pip install 'waypoint-copilot[{extra}]'" in ended.stderr
