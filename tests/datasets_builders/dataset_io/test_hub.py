"""Publishing and loading through the Hub's protocol, with the unmodified client: round trips and what goes wrong."""

import io
import json
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from PIL import Image

from music_evals.datasets_builders import builder
from music_evals.datasets_builders.dataset_io import Provenance, describe_dataset, file_sha256, load_split
from music_evals.datasets_builders.ziqi import dataset as ziqi
from tests.hub_client import hub_environment
from tests.hub_server import READ, WRITE, Blob, Handler, Lost, Refusal
from tests.hub_site import UNKNOWN, WRITERS, Site

DATA = "test-00000-of-00001.parquet"

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


def load_all(name: str, wanted: list[tuple[str, str]]) -> tuple[str | None, dict[str, str], list[object]]:
    """Load splits with `datasets` and with our loader: the commit, the files that came, and the rows."""
    from datasets import load_dataset

    benchmark, rows = builder(name).BENCHMARK, []
    origin = describe_dataset(f"hf://datasets/ORG/{name}", benchmark=benchmark)
    for config, split in wanted:
        theirs = load_dataset(f"ORG/{name}", config, split=split)
        assert theirs.features == benchmark.features[config], theirs.features
        ours = load_split(f"hf://datasets/ORG/{name}@{origin.revision}", config, split, benchmark=benchmark)
        rows.append(theirs.to_list())
        assert rows[-1] == ours.to_list()
    files = {path.relative_to(origin.folder).as_posix(): path for path in origin.folder.rglob("*.parquet")}
    return origin.revision, {path: file_sha256(file) for path, file in files.items()}, rows


def files_of_rows() -> tuple[bytes, bytes, tuple[int, int], tuple[int, int]]:
    """The first WAV file and the size of the first page, loaded and streamed."""
    from datasets import Audio, load_dataset

    def rows(name: str, config: str, *, streaming: bool) -> Any:
        return load_dataset(f"ORG/{name}", config, split="test", streaming=streaming)

    sound = rows("muse", "syncopation", streaming=False).cast_column("audio", Audio(decode=False))[0]["audio"]
    streamed = next(iter(rows("muse", "syncopation", streaming=True).decode(False)))["audio"]
    page = rows("msu", "scores", streaming=False)[0]["images"][0]
    seen = next(iter(rows("msu", "scores", streaming=True)))["images"][0]
    return sound["bytes"], streamed["bytes"], page.size, seen.size


def metadata_of_tasks() -> list[tuple[str, str]]:
    from music_evals.evals import msu, ziqi

    tasks = ziqi.comprehension(dataset="hf://datasets/ORG/ziqi"), msu.textual(dataset="hf://datasets/ORG/msu")
    return [(task.metadata["dataset"], task.metadata["dataset_revision"]) for task in tasks]


# --- round trips ---


@pytest.mark.parametrize("name", WRITERS)
def test_datasets_come_back_byte_for_byte(name: str, site: Site) -> None:
    folder = site.folders[name]
    text = site.publish(name, "--yes")
    site.assert_uploaded(name)
    commit = site.repo(name).branches["main"]
    assert f"Published ORG/{name} at {commit}" in text
    made = json.loads((folder / "provenance.json").read_text())
    wanted = [(config, split) for config, splits in made["counts"].items() for split in splits]
    paths = [folder / config / f"{split}-00000-of-00001.parquet" for config, split in wanted]
    rows = [pq.read_table(path, partitioning=None).to_pylist() for path in paths]
    assert site.client.call(load_all, name, wanted) == (commit, made["files"], rows)
    assert not site.hub.leaks
    card = site.repo(name).head["README.md"].data.decode()
    assert f'load_dataset("ORG/{name}", ' in card
    assert "path/to/this/folder" not in card


def test_files_come_as_such_also_as_a_stream(site: Site) -> None:
    for name in ("muse", "msu"):
        site.publish(name, "--yes")
        assert "size_categories:\n- n<1K\n" in site.repo(name).head["README.md"].data.decode()
    sound, streamed, pages, seen = site.client.call(files_of_rows)
    wave = pq.read_table(site.folders["muse"] / "syncopation" / DATA)["audio"][0]["bytes"].as_py()
    assert sound == streamed == wave
    page = pq.read_table(site.folders["msu"] / "scores" / DATA)["images"][0][0]["bytes"].as_py()
    with Image.open(io.BytesIO(page)) as image:
        assert pages == seen == image.size


def test_tasks_take_their_data_from_the_hub_and_name_the_commit(site: Site) -> None:
    for name in ("ziqi", "msu"):
        site.publish(name, "--yes")
    commits = [(f"hf://datasets/{name}", repo.branches["main"]) for name, repo in site.hub.repos.items()]
    assert site.client.call(metadata_of_tasks) == commits


# --- what changes, and what does not ---


def test_dry_run_shows_everything_and_changes_nothing(site: Site) -> None:
    before = site.hub.state()
    text = site.publish("msu")
    assert site.hub.state() == before
    assert f"{site.hub.endpoint}/datasets/ORG/msu (to be created, public), branch main" in text
    assert text.count("│ added ") == 10  # two configs of three splits, prompts, card, eval.yaml and provenance
    assert "Licence other (music21-corpus)" in text
    assert site.hub.methods == {"GET"}


def test_second_time_nothing_is_done(site: Site, tmp_path: Path) -> None:
    site.publish("msu", "--yes")
    before, commit = site.hub.state(), site.repo().branches["main"]
    # Files are compared by content: neither times nor places matter.
    shutil.copytree(site.folders["msu"], tmp_path / "copy", copy_function=shutil.copyfile)
    for folder in (site.folders["msu"], tmp_path / "copy"):
        text = site.publish("msu", "--yes", folder=folder)
        assert f"ORG/msu is up to date at {commit}" in text
        assert site.hub.state() == before


def test_only_what_changed_is_uploaded_and_what_is_gone_is_deleted(plain: Site, tmp_path: Path) -> None:
    plain.publish("ziqi", "--yes")
    plain.repo("ziqi").commit({**plain.repo("ziqi").head, "notes/of/others.txt": Blob(b"keep me")}, "notes")
    plain.hub.puts.clear()
    other = tmp_path / "ziqi"
    plan = ziqi.build_generated(4, theory=8, continuation=0)
    dev = ziqi.build_generated(3, theory=8, continuation=0).rows["comprehension"]["dev"]
    ziqi.write(replace(plan, rows={"comprehension": {**plan.rows["comprehension"], "dev": dev}}), other)
    text = plain.publish("ziqi", folder=other)
    shown = [[cell.strip() for cell in line.split("│")[1:3]] for line in text.splitlines() if line.startswith("│")]
    data = "00000-of-00001.parquet"
    assert shown == [
        ["changed", "README.md"],
        ["changed", f"comprehension/test-{data}"],
        ["changed", "eval.yaml"],
        ["changed", f"prompted/comprehension-{data}"],
        ["changed", "provenance.json"],
        ["deleted", f"generation/dev-{data}"],
        ["deleted", f"generation/test-{data}"],
        ["deleted", f"prompted/generation-{data}"],
        ["unchanged", f"comprehension/dev-{data}"],
        ["kept", "notes/of/others.txt"],
    ]
    plain.publish("ziqi", "--yes", folder=other)
    plain.assert_uploaded("ziqi", other, **{"notes/of/others.txt": b"keep me"})
    assert len(plain.hub.puts) == 2  # rows, and their prompts
    assert len(plain.repo("ziqi").commits) == 4  # created, published, notes, published: one commit each


def test_a_branch_is_made_from_main_and_main_stays(site: Site) -> None:
    site.publish("msu", "--yes", "--revision", "v2/draft")
    repo = site.repo()
    assert set(repo.head) == {".gitattributes"}
    assert "provenance.json" in repo.commits[repo.branches["v2/draft"]]
    text = site.publish("msu", "--revision", "v2/draft")
    assert "up to date" in text
    assert 'revision="v2/draft"' in text
    repo.tags["v1"] = repo.branches["main"]
    assert "v1 is a tag of ORG/msu" in site.publish("msu", "--revision", "v1", code=1)


def test_private_repositories(site: Site) -> None:
    site.publish("msu", "--yes", "--private")
    assert site.repo().private
    site.client.call(forget)
    said = site.failure(load, "msu", "questions", "test")
    assert "the Hub has no dataset ORG/msu, or you have no access to it" in said
    assert site.client.call(load, "msu", "questions", "test", token=READ) == 12
    site.repo().private = False
    text = site.publish("msu", "--private", code=1)
    assert "ORG/msu is public; --private is for a new repository" in text


@pytest.mark.parametrize("path", ["README.md", "eval.yaml"])
def test_a_repository_that_only_announces_a_benchmark_is_taken(path: str, site: Site) -> None:
    site.hub.add("ORG/msu", {path: b"To come."})
    text = site.publish("msu", "--yes")
    assert f"│ changed │ {path} " in text
    site.assert_uploaded("msu")


# --- refusals ---


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"README.md": b"# Mine", "rows.csv": b"a,b"}, "holds something else than a dataset of ours: rows.csv"),
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
def test_a_repository_with_other_things_is_left_alone(files: dict[str, bytes], message: str, site: Site) -> None:
    site.hub.add("ORG/msu", files)
    before = site.hub.state()
    text = site.publish("msu", "--yes", code=1)
    assert message in text
    assert site.hub.state() == before


@pytest.mark.parametrize(
    ("token", "message"),
    [
        (UNKNOWN, "the Hub does not accept the token"),
        (READ, "the token for the Hub may only read"),
        (None, "publishing needs a token"),
        (f"{WRITE}\x00tail", "the token for the Hub holds characters that no token has"),
    ],
)
def test_a_token_that_will_not_do_is_refused_and_not_shown(token: str | None, message: str, site: Site) -> None:
    if token is not None and "\x00" in token:  # no environment variable can hold it, a token file can
        stored = Path(site.client.env["HF_HOME"]) / "token"
        stored.write_text(token)
        text = site.publish("msu", "--yes", token=None, code=1)
        loaded = site.failure(load, "msu", "questions", "test")
        stored.unlink()
        assert message in loaded
        assert WRITE not in loaded
    else:
        text = site.publish("msu", "--yes", token=token, code=1)
    assert message in text
    assert "hf auth login" in text
    assert not site.hub.repos


# --- what goes wrong on the way ---


def lose(handler: Handler) -> None:
    if handler.command == "GET" or handler.number > 2:
        raise Lost


def test_lost_connection_and_again_sends_only_what_had_not_arrived(plain: Site) -> None:
    plain.hub.faults["put"] = lose
    text = plain.publish("msu", "--yes", code=1)
    assert text.endswith("run it again, what has arrived is kept\n")
    assert "Error: ORG/msu: the connection failed: " in text
    assert "Traceback" not in text
    arrived = set(plain.hub.objects)
    assert len(arrived) == 2
    assert len(plain.repo().commits) == 1  # the Hub's own, at the creation
    plain.hub.faults.clear()
    plain.hub.puts.clear()
    plain.publish("msu", "--yes")
    assert len(plain.hub.puts) == 5
    assert not arrived & set(plain.hub.puts)
    plain.assert_uploaded()


def test_killed_in_the_middle_and_again(plain: Site, tmp_path: Path) -> None:
    held = threading.Event()

    def hold(handler: Handler) -> None:
        if handler.number == 3:
            held.set()
            while handler.connection.recv(1 << 16):  # until the client is gone
                pass
            raise Lost

    plain.hub.faults["put"] = hold
    music_evals = (sys.executable, "-c", "from music_evals.commands.main import app; app()")
    process = subprocess.Popen(
        [*music_evals, "publish", "msu", "--repo", "ORG/msu", "--dir", str(plain.folders["msu"]), "--yes"],
        env={**hub_environment(plain.hub.endpoint, tmp_path), "HF_HUB_DISABLE_XET": "1", "HF_TOKEN": WRITE},
        cwd=Path(__file__).parents[3],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert held.wait(30)
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    arrived = set(plain.hub.objects)
    assert len(plain.repo().commits) == 1
    plain.hub.puts.clear()
    plain.hub.faults.clear()
    plain.publish("msu", "--yes")
    assert not arrived & set(plain.hub.puts)
    plain.assert_uploaded()


@pytest.mark.parametrize(
    ("step", "status", "message", "said"),
    [
        ("put", 507, "No space left on device", "ORG/msu: the Hub has no room for it (No space left on device)"),
        ("preupload", 403, f"permission denied for Bearer {WRITE}", "permission denied for Bearer (the token)"),
    ],
)
def test_what_the_hub_refuses_is_told_without_the_token(
    step: str, status: int, message: str, said: str, plain: Site
) -> None:
    def refuse(_: Handler) -> None:
        raise Refusal(status, message)

    plain.hub.faults[step] = refuse
    text = plain.publish("msu", "--yes", code=1)
    assert said in text
    assert len(plain.repo().commits) == 1


def test_a_push_by_somebody_else_is_not_overwritten(site: Site) -> None:
    def push(_: Handler) -> None:
        repo = site.repo()
        repo.commit({**repo.head, "theirs.txt": Blob(b"pushed meanwhile")}, "theirs")

    site.hub.faults["commit"] = push
    text = site.publish("msu", "--yes", code=1)
    assert "somebody else has changed it meanwhile" in text
    assert "run it again" in text
    assert set(site.repo().head) == {".gitattributes", "theirs.txt"}


def test_failed_downloads_are_one_message_and_again_succeed(site: Site) -> None:
    wanted = ("muse", "syncopation", "test")
    site.publish("muse", "--yes")
    site.client.call(forget)
    site.hub.faults["download"] = lose
    said = site.failure(load, *wanted)
    assert "DatasetError: hf://datasets/ORG/muse could not be downloaded; ORG/muse: the connection failed" in said
    site.hub.faults.clear()
    said = site.failure(load_on_a_full_disk, *wanted)
    assert "DatasetError: hf://datasets/ORG/muse could not be downloaded" in said
    assert "File too large" in said
    assert site.client.call(load, *wanted) == 1
