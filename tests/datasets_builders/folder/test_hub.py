"""Publishing and loading through the Hub's protocol, with the unmodified client: round trips and what goes wrong."""

import json
import shutil
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from huggingface_hub import DatasetCard

from music_evals.datasets_builders import builder
from music_evals.datasets_builders.folder import Provenance, describe_dataset, file_sha256, load_split
from music_evals.datasets_builders.ziqi import dataset as ziqi
from tests import lilybench_dataset, msu_dataset
from tests.hub_client import HubClient, hub_environment
from tests.hub_server import READ, WRITE, Blob, Handler, Hub, Lost, Refusal

UNKNOWN = "hf_nobodyNOBODYnobodyNOBODYnobody00"


def write_muse(folder: Path) -> None:
    muse = builder("muse")
    muse.write(muse.build_generated(3, muse.Counts(1, 1, 4)), folder)


def write_ziqi(folder: Path) -> None:
    plan = ziqi.build_generated(3, theory=8, continuation=0)
    theory = plan.rows["comprehension"]
    ziqi.write(replace(plan, rows={"comprehension": theory, "generation": theory}), folder)


WRITERS: dict[str, Callable[[Path], object]] = {
    "muse": write_muse,
    "ziqi": write_ziqi,
    "msu": msu_dataset.write_small,
    "lilybench": lambda folder: lilybench_dataset.write_small(folder, "generated"),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    above = tmp_path_factory.mktemp("datasets")
    for name, write in WRITERS.items():
        write(above / name)
    return {name: above / name for name in WRITERS}


@pytest.fixture(scope="module")
def server() -> Iterator[Hub]:
    with Hub() as hub:
        yield hub


@pytest.fixture(scope="module")
def client(server: Hub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubClient]:
    with HubClient(server.endpoint, tmp_path_factory.mktemp("home")) as process:
        yield process


@pytest.fixture
def hub(server: Hub) -> Hub:
    """The server as new, at the same address."""
    server.reset()
    return server


def publish(client: HubClient, name: str, folder: Path, *options: str, token: str | None = WRITE) -> tuple[int, str]:
    """Publish to ORG/NAME; no output of any kind may hold a token."""
    code, text, log = client.run("publish", name, "--repo", f"ORG/{name}", "--dir", folder, *options, token=token)
    for secret in (WRITE, READ, UNKNOWN):
        assert secret not in text + log
    return code, text


# What the client is told to do.


def load(name: str, config: str, split: str) -> int:
    return len(load_split(f"hf://datasets/ORG/{name}", config, split, benchmark=builder(name).BENCHMARK))


def forget() -> None:
    from huggingface_hub import constants

    shutil.rmtree(constants.HF_HUB_CACHE, ignore_errors=True)


def load_on_a_full_disk(*given: str) -> int:
    """No file may grow beyond 100 kB, which a process is told by the same kind of error as of a full disk."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        return load(*given)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def load_all(name: str, wanted: list[tuple[str, str]], out: Path) -> tuple[str | None, dict[str, str]]:
    """Load splits with `datasets` and with our loader; what came is written to `out`."""
    from datasets import load_dataset

    benchmark = builder(name).BENCHMARK
    origin = describe_dataset(f"hf://datasets/ORG/{name}", benchmark=benchmark)
    for config, split in wanted:
        rows = load_dataset(f"ORG/{name}", config, split=split)
        assert rows.features == benchmark.features[config], rows.features
        rows.to_parquet(out / f"{config}-{split}.parquet")
        loaded = load_split(f"hf://datasets/ORG/{name}@{origin.revision}", config, split, benchmark=benchmark)
        assert loaded.to_list() == rows.to_list()
    files = {path.relative_to(origin.folder).as_posix(): path for path in origin.folder.rglob("*.parquet")}
    return origin.revision, {path: file_sha256(file) for path, file in files.items()}


def run_tasks(logs: Path) -> dict[str, tuple[str, str, str]]:
    from inspect_ai import eval as inspect_eval

    from music_evals.evals import msu, ziqi

    found = {}
    for name, task in (("ziqi", ziqi.comprehension), ("msu", msu.textual)):
        asked = task(dataset=f"hf://datasets/ORG/{name}")
        log = inspect_eval(asked, model="baseline/reader", log_dir=str(logs), display="none", limit=1)[0]
        found[name] = (log.status, log.eval.metadata["dataset"], log.eval.metadata["dataset_revision"])
    return found


def failure(client: HubClient, function: Callable[..., Any], *given: str, token: str | None = None) -> str:
    """What a traceback shows of a call that fails."""
    with pytest.raises(Exception) as caught:  # noqa: PT011
        client.call(function, *given, token=token)
    return "".join(traceback.format_exception(caught.value))


def uploaded(hub: Hub, folder: Path) -> dict[str, bytes]:
    """What of a folder is in the repository of its name, without what the Hub or publishing make."""
    made = ("README.md", ".gitattributes")
    return {path: blob.data for path, blob in hub.repos[f"ORG/{folder.name}"].head.items() if path not in made}


def on_disk(folder: Path) -> dict[str, bytes]:
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {path: file.read_bytes() for path, file in files.items() if path != "README.md"}


# --- round trips ---


@pytest.mark.parametrize("name", WRITERS)
def test_datasets_come_back_byte_for_byte(
    name: str, hub: Hub, client: HubClient, folders: dict[str, Path], tmp_path: Path
) -> None:
    folder = folders[name]
    code, text = publish(client, name, folder, "--yes")
    assert code == 0, text
    assert uploaded(hub, folder) == on_disk(folder)
    commit = hub.repos[f"ORG/{name}"].branches["main"]
    assert f"Published ORG/{name} at {commit}" in text
    made = json.loads((folder / "provenance.json").read_text())
    wanted = [(config, split) for config, splits in made["counts"].items() for split in splits]
    assert client.call(load_all, name, wanted, tmp_path) == (commit, made["files"])
    for config, split in wanted:
        expected = pq.read_table(folder / config / f"{split}-00000-of-00001.parquet", partitioning=None).to_pylist()
        assert len(expected) == made["counts"][config][split]
        assert pq.read_table(tmp_path / f"{config}-{split}.parquet").to_pylist() == expected
    assert not hub.leaks


def test_audio_and_images_were_among_them(folders: dict[str, Path]) -> None:
    def first(name: str, config: str) -> dict[str, Any]:
        path = folders[name] / config / "test-00000-of-00001.parquet"
        row: dict[str, Any] = pq.read_table(path, partitioning=None).to_pylist()[0]
        return row

    assert first("muse", "syncopation")["audio"]["bytes"].startswith(b"RIFF")
    assert first("msu", "scores")["images"][0]["bytes"].startswith(b"\x89PNG")


def test_tasks_run_from_the_hub_and_log_the_commit(
    hub: Hub, client: HubClient, folders: dict[str, Path], tmp_path: Path
) -> None:
    for name in ("ziqi", "msu"):
        assert publish(client, name, folders[name], "--yes")[0] == 0
    assert client.call(run_tasks, tmp_path) == {
        name: ("success", f"hf://datasets/ORG/{name}", hub.repos[f"ORG/{name}"].branches["main"])
        for name in ("ziqi", "msu")
    }


def test_card_names_the_repository_and_states_the_licence(
    hub: Hub, client: HubClient, folders: dict[str, Path]
) -> None:
    assert publish(client, "msu", folders["msu"], "--yes")[0] == 0
    card = DatasetCard(hub.repos["ORG/msu"].head["README.md"].data.decode())
    entries = card.data.to_dict()
    assert entries["license"] == "other"
    assert entries["license_name"] == "music21-corpus"
    assert entries["license_link"].endswith("corpus/license.txt")
    assert [config.get("default", False) for config in entries["configs"]] == [True, False]
    for needed in ("language", "task_categories", "tags", "pretty_name", "size_categories"):
        assert entries[needed]
    assert 'load_dataset("ORG/msu", "scores", split="test")' in card.text
    assert "path/to/this/folder" not in card.text
    assert "```bibtex" in card.text
    assert card.text.rstrip().endswith("Whoever uses them commercially must settle that.")


# --- what changes, and what does not ---


def test_dry_run_shows_everything_and_changes_nothing(hub: Hub, client: HubClient, folders: dict[str, Path]) -> None:
    before = hub.state()
    code, text = publish(client, "msu", folders["msu"])
    assert code == 0, text
    assert hub.state() == before
    assert f"{hub.endpoint}/datasets/ORG/msu (to be created, public), branch main" in text
    assert text.count("│ added ") == 8  # two configs of three splits, card and provenance
    size = sum(len(data) for path, data in on_disk(folders["msu"]).items() if path.endswith(".parquet"))
    assert size > 20_000
    assert "in 8 files" in text
    assert "Licence other (music21-corpus)" in text
    assert "This was a dry run" in text
    assert hub.methods == {"GET"}


def test_second_time_nothing_is_done(hub: Hub, client: HubClient, folders: dict[str, Path], tmp_path: Path) -> None:
    assert publish(client, "msu", folders["msu"], "--yes")[0] == 0
    before, commit = hub.state(), hub.repos["ORG/msu"].branches["main"]
    # Files are compared by content: neither times nor places matter.
    shutil.copytree(folders["msu"], tmp_path / "copy", copy_function=shutil.copyfile)
    for folder in (folders["msu"], tmp_path / "copy"):
        code, text = publish(client, "msu", folder, "--yes")
        assert code == 0
        assert f"ORG/msu is up to date at {commit}" in text
        assert hub.state() == before


def test_only_what_changed_is_uploaded_and_what_is_gone_is_deleted(
    hub: Hub, client: HubClient, folders: dict[str, Path], tmp_path: Path
) -> None:
    assert publish(client, "ziqi", folders["ziqi"], "--yes")[0] == 0
    hub.repos["ORG/ziqi"].commit({**hub.repos["ORG/ziqi"].head, "notes/of/others.txt": Blob(b"keep me")}, "notes")
    hub.puts.clear()
    other = tmp_path / "ziqi"
    plan = ziqi.build_generated(4, theory=8, continuation=0)
    dev = ziqi.build_generated(3, theory=8, continuation=0).rows["comprehension"]["dev"]
    ziqi.write(replace(plan, rows={"comprehension": {**plan.rows["comprehension"], "dev": dev}}), other)
    code, text = publish(client, "ziqi", other)
    assert code == 0, text
    shown = [[cell.strip() for cell in line.split("│")[1:3]] for line in text.splitlines() if line.startswith("│")]
    data = "00000-of-00001.parquet"
    assert shown == [
        ["changed", "README.md"],
        ["changed", f"comprehension/test-{data}"],
        ["changed", "provenance.json"],
        ["deleted", f"generation/dev-{data}"],
        ["deleted", f"generation/test-{data}"],
        ["unchanged", f"comprehension/dev-{data}"],
        ["kept", "notes/of/others.txt"],
    ]
    assert publish(client, "ziqi", other, "--yes")[0] == 0
    assert uploaded(hub, other) == {**on_disk(other), "notes/of/others.txt": b"keep me"}
    assert len(hub.puts) == 1
    assert len(hub.repos["ORG/ziqi"].commits) == 4  # created, published, notes, published: one commit each


def test_a_branch_is_made_from_main_and_main_stays(hub: Hub, client: HubClient, folders: dict[str, Path]) -> None:
    assert publish(client, "msu", folders["msu"], "--yes", "--revision", "v2/draft")[0] == 0
    repo = hub.repos["ORG/msu"]
    assert set(repo.head) == {".gitattributes"}
    assert "provenance.json" in repo.commits[repo.branches["v2/draft"]]
    code, text = publish(client, "msu", folders["msu"], "--revision", "v2/draft")
    assert code == 0
    assert "up to date" in text
    assert 'revision="v2/draft"' in text
    repo.tags["v1"] = repo.branches["main"]
    assert "v1 is a tag of ORG/msu" in publish(client, "msu", folders["msu"], "--revision", "v1")[1]


def test_private_repositories(hub: Hub, client: HubClient, folders: dict[str, Path]) -> None:
    assert publish(client, "msu", folders["msu"], "--yes", "--private")[0] == 0
    assert hub.repos["ORG/msu"].private
    client.call(forget)
    said = failure(client, load, "msu", "questions", "test")
    assert "the Hub has no dataset ORG/msu, or you have no access to it" in said
    assert client.call(load, "msu", "questions", "test", token=READ) == 12
    hub.repos["ORG/msu"].private = False
    code, text = publish(client, "msu", folders["msu"], "--private")
    assert code == 1
    assert "ORG/msu is public; --private is for a new repository" in text


# --- refusals ---


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"README.md": b"# Mine", "rows.csv": b"a,b"}, "holds something else than a dataset of ours: README.md, rows"),
        ({"provenance.json": b"{}"}, "holds something else than a dataset of ours: not a provenance file"),
        (
            {"provenance.json": Provenance("muse", "1.0", "generated", "mit", seed=1).to_json().encode()},
            "holds a dataset of muse, not of msu",
        ),
        (
            {
                "provenance.json": Provenance("msu", "1.0", "generated", "other", seed=1).to_json().encode(),
                "scores/test-00001-of-00002.parquet": b"rows of somebody else",
            },
            "where this dataset has its own: scores/test-00001-of-00002.parquet",
        ),
    ],
)
def test_a_repository_with_other_things_is_left_alone(
    files: dict[str, bytes], message: str, hub: Hub, client: HubClient, folders: dict[str, Path]
) -> None:
    hub.add("ORG/msu", files)
    before = hub.state()
    code, text = publish(client, "msu", folders["msu"], "--yes")
    assert code == 1
    assert message in text
    assert hub.state() == before


@pytest.mark.parametrize(
    ("token", "message"),
    [
        (UNKNOWN, "the Hub does not accept the token"),
        (READ, "the token for the Hub may only read"),
        (None, "publishing needs a token"),
        (f"{WRITE}\x00tail", "the token for the Hub holds characters that no token has"),
    ],
)
def test_a_token_that_will_not_do_is_refused_and_not_shown(
    token: str | None, message: str, hub: Hub, client: HubClient, folders: dict[str, Path]
) -> None:
    if token is not None and "\x00" in token:  # no environment variable can hold it, a token file can
        stored = Path(client.env["HF_HOME"]) / "token"
        stored.write_text(token)
        code, text = publish(client, "msu", folders["msu"], "--yes", token=None)
        loaded = failure(client, load, "msu", "questions", "test")
        stored.unlink()
        assert message in loaded
        assert WRITE not in loaded
    else:
        code, text = publish(client, "msu", folders["msu"], "--yes", token=token)
    assert code == 1
    assert message in text
    assert "hf auth login" in text
    assert not hub.repos


def refusing(status: int, message: str) -> Callable[[Handler], None]:
    def fault(_: Handler) -> None:
        raise Refusal(status, message)

    return fault


def test_a_token_that_the_hub_quotes_is_hidden(hub: Hub, client: HubClient, folders: dict[str, Path]) -> None:
    hub.add("ORG/msu", {".gitattributes": b""})
    hub.faults["preupload"] = refusing(403, f"permission denied for Bearer {WRITE}")
    code, text = publish(client, "msu", folders["msu"], "--yes")
    assert code == 1
    assert "permission denied for Bearer (the token)" in text


# --- what goes wrong on the way ---


def losing(when: Callable[[Handler], bool] = lambda _: True) -> Callable[[Handler], None]:
    def fault(handler: Handler) -> None:
        if when(handler):
            raise Lost

    return fault


def test_lost_connection_and_again_sends_only_what_had_not_arrived(
    hub: Hub, client: HubClient, folders: dict[str, Path]
) -> None:
    hub.faults["put"] = losing(lambda handler: handler.number > 2)
    code, text = publish(client, "msu", folders["msu"], "--yes")
    assert code == 1
    assert text.endswith("run it again, what has arrived is kept\n")
    assert "Error: ORG/msu: the connection failed: " in text
    assert "Traceback" not in text
    arrived = set(hub.objects)
    assert len(arrived) == 2
    assert len(hub.repos["ORG/msu"].commits) == 1  # the Hub's own, at the creation
    hub.faults.clear()
    hub.puts.clear()
    assert publish(client, "msu", folders["msu"], "--yes")[0] == 0
    assert len(hub.puts) == 4
    assert not arrived & set(hub.puts)
    assert uploaded(hub, folders["msu"]) == on_disk(folders["msu"])


def test_killed_in_the_middle_and_again(hub: Hub, client: HubClient, folders: dict[str, Path], tmp_path: Path) -> None:
    held = threading.Event()

    def hold(handler: Handler) -> None:
        if handler.number == 3:
            held.set()
            while handler.connection.recv(1 << 16):  # until the client is gone
                pass
            raise Lost

    hub.faults["put"] = hold
    music_evals = (sys.executable, "-c", "from music_evals.commands.main import app; app()")
    process = subprocess.Popen(
        [*music_evals, "publish", "msu", "--repo", "ORG/msu", "--dir", str(folders["msu"]), "--yes"],
        env={**hub_environment(hub.endpoint, tmp_path), "HF_TOKEN": WRITE},
        cwd=Path(__file__).parents[3],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert held.wait(30)
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    arrived = set(hub.objects)
    assert len(hub.repos["ORG/msu"].commits) == 1
    hub.puts.clear()
    hub.faults.clear()
    assert publish(client, "msu", folders["msu"], "--yes")[0] == 0
    assert not arrived & set(hub.puts)
    assert uploaded(hub, folders["msu"]) == on_disk(folders["msu"])


def test_a_hub_without_room(hub: Hub, client: HubClient, folders: dict[str, Path]) -> None:
    hub.faults["put"] = refusing(507, "No space left on device")
    code, text = publish(client, "msu", folders["msu"], "--yes")
    assert code == 1
    assert "ORG/msu: the Hub has no room for it (No space left on device)" in text
    assert len(hub.repos["ORG/msu"].commits) == 1


def test_a_push_by_somebody_else_is_not_overwritten(hub: Hub, client: HubClient, folders: dict[str, Path]) -> None:
    def push(_: Handler) -> None:
        repo = hub.repos["ORG/msu"]
        repo.commit({**repo.head, "theirs.txt": Blob(b"pushed meanwhile")}, "theirs")

    hub.faults["commit"] = push
    code, text = publish(client, "msu", folders["msu"], "--yes")
    assert code == 1
    assert "somebody else has changed it meanwhile" in text
    assert "run it again" in text
    assert set(hub.repos["ORG/msu"].head) == {".gitattributes", "theirs.txt"}


def test_failed_downloads_are_one_message_and_again_succeed(
    hub: Hub, client: HubClient, folders: dict[str, Path]
) -> None:
    wanted = ("muse", "syncopation", "test")
    assert publish(client, "muse", folders["muse"], "--yes")[0] == 0
    client.call(forget)
    hub.faults["download"] = losing()
    said = failure(client, load, *wanted)
    assert "DatasetError: hf://datasets/ORG/muse could not be downloaded; ORG/muse: the connection failed" in said
    hub.faults.clear()
    said = failure(client, load_on_a_full_disk, *wanted)
    assert "DatasetError: hf://datasets/ORG/muse could not be downloaded" in said
    assert "File too large" in said
    assert client.call(load, *wanted) == 1
