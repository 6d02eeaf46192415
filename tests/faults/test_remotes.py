"""A second machine over the network: real servers on loopback, real stages in a tiny copy."""

import asyncio
import getpass
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import asyncssh
import boto3
import pytest
import tiny

pytestmark = [pytest.mark.faults, pytest.mark.slow]

SHARE = "remeasure.pipeline.share"


@dataclass(frozen=True)
class Server:
    """Where a remote is, and the environment of somebody whom it lets in."""

    address: str
    variables: dict[str, str] = field(default_factory=dict)


@pytest.fixture
def ssh(tmp_path: Path) -> Iterator[Server]:
    """An SSH server with SFTP that knows one key, and a user who knows the server's."""
    host, user = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
    keys = tmp_path / "home" / ".ssh"
    keys.mkdir(parents=True)
    user.write_private_key(keys / "id_ed25519")
    user.write_public_key(tmp_path / "authorized_keys")
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    async def listen() -> asyncssh.SSHAcceptor:
        return await asyncssh.listen(
            "127.0.0.1",
            0,
            server_host_keys=[host],
            authorized_client_keys=str(tmp_path / "authorized_keys"),
            sftp_factory=True,
        )

    listener = asyncio.run_coroutine_threadsafe(listen(), loop).result(30)
    port = listener.get_port()
    known = host.export_public_key().decode().strip()
    (keys / "known_hosts").write_text(f"[127.0.0.1]:{port} {known}\n")
    folder = tmp_path / "served"
    folder.mkdir()
    address = f"ssh://{getpass.getuser()}@127.0.0.1:{port}{folder}"
    yield Server(address, {"HOME": str(tmp_path / "home")})
    loop.call_soon_threadsafe(listener.close)
    loop.call_soon_threadsafe(loop.stop)


@pytest.fixture
def s3() -> Iterator[Server]:
    """A server that speaks S3. No package of the project's: pip install 'moto[s3]' flask-cors."""
    moto = pytest.importorskip("moto.server", reason="moto is not installed")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    variables = {
        "AWS_ENDPOINT_URL": "http://{}:{}".format(*server.get_host_and_port()),
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    client = boto3.client(
        "s3",
        endpoint_url=variables["AWS_ENDPOINT_URL"],
        aws_access_key_id="key",
        aws_secret_access_key="secret",
        region_name="us-east-1",
    )
    client.create_bucket(Bucket="lab")
    yield Server("s3://lab/remeasure", variables)
    server.stop()


def share(folder: Path, server: Server, direction: str) -> str:
    done = tiny.run(folder, SHARE, direction, "--remote", server.address, **server.variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("kind", ["ssh", "s3"])
def test_over_the_network_a_second_machine_trains_nothing(
    measured_copy: Path, tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    server: Server = request.getfixturevalue(kind)
    first, second = tmp_path / "first", tiny.make_tiny(tmp_path / "second")
    shutil.copytree(measured_copy, first)
    assert "6 stages are there" in share(first, server, "push")
    (second / "src" / "torch.py").write_text("raise RuntimeError('a stage trains')\n")
    assert "6 stages restored" in share(second, server, "pull")
    done = tiny.run(second, "remeasure.pipeline.repro")
    assert done.returncode == 0, done.stderr
    assert "Running stage" not in done.stdout
    assert tiny.results(second) == tiny.results(first)
    assert tiny.provenance(second, "deep.json") == tiny.provenance(first, "deep.json")


def test_what_a_killed_transfer_left_over_ssh_is_sent_again(
    measured_copy: Path, tmp_path: Path, ssh: Server
) -> None:
    first = tmp_path / "first"
    shutil.copytree(measured_copy, first)
    share(first, ssh, "push")
    largest = max((tmp_path / "served/files/md5").glob("*/*"), key=lambda file: file.stat().st_size)
    whole = largest.read_bytes()
    largest.write_bytes(whole[: len(whole) // 2])
    assert "1 objects, 0 runs new" in share(first, ssh, "push")
    assert largest.read_bytes() == whole


def test_a_stranger_to_the_server_is_told_so_in_one_line(
    measured_copy: Path, tmp_path: Path, ssh: Server
) -> None:
    first = tmp_path / "first"
    shutil.copytree(measured_copy, first)
    (tmp_path / "home/.ssh/id_ed25519").unlink()
    done = tiny.run(first, SHARE, "push", "--remote", ssh.address, **ssh.variables)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("error: the remote cannot be reached: ")
    assert "Traceback" not in done.stderr
