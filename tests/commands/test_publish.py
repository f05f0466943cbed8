"""`music-evals publish`: what a dry run shows, what a commit changes, and what is refused."""

import shutil
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from datasets import load_dataset
from huggingface_hub.errors import HfHubHTTPError

from music_evals.datasets_builders import builder
from music_evals.datasets_builders.dataset_io import (
    Decontamination,
    Provenance,
    describe_dataset,
    load_split,
)
from tests.commands.cli import lines_of_table, run
from tests.msu_dataset import question, score, write_rows

TOKEN = "hf_" + "secret" * 5
TRAINING_SET = Provenance(
    "msu", "1.0", "generated", "mit", seed=1, decontamination=Decontamination(13, 8, 0.8)
)
Folders = Callable[[str], Path]


def changes(output):
    return [line[1:3] for line in lines_of_table(output)]


def test_a_dry_run_shows_everything_and_changes_nothing(hub, built_datasets):
    output = hub.publish(built_datasets("msu"))
    assert "To      ORG/msu (to be created), branch main" in output
    assert "Licence other (music21-corpus), as stated in" in output
    assert [kind for kind, _ in changes(output)] == [
        "added"
    ] * 10  # two configs of three splits, and four more files
    assert "This was a dry run: nothing was changed." in output
    assert not hub.branches


def test_a_published_dataset_is_loaded_back_byte_for_byte(hub, built_datasets):
    folder, benchmark = built_datasets("muse"), builder("muse").BENCHMARK
    output = hub.publish(folder, "--yes", "--private")
    commit = hub.branches["ORG/muse"]["main"]
    assert f"Published ORG/muse at {commit}" in output
    assert hub.private == {"ORG/muse"}
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    published = hub.files("ORG/muse")
    assert {path for path, content in files.items() if published[path] != content} == {"README.md"}
    origin = describe_dataset(f"hf://datasets/ORG/muse@{commit}", benchmark=benchmark)
    assert origin.revision == commit
    ours = load_split(
        "hf://datasets/ORG/muse", "syncopation", "test", benchmark=benchmark
    ).to_list()
    theirs = load_dataset(
        str(hub.folder("ORG/muse")), "syncopation", split="test", cache_dir=str(hub.root / "cache")
    )
    assert theirs.features == benchmark.features["syncopation"]
    assert theirs.to_list() == ours
    assert ours == load_split(str(folder), "syncopation", "test", benchmark=benchmark).to_list()
    card = published["README.md"].decode()
    assert 'load_dataset("ORG/muse", ' in card
    assert "path/to/this/folder" not in card
    assert "## Licence\n\n" in card


def test_only_changes_are_uploaded_and_obsolete_files_deleted(hub, built_datasets, tmp_path):
    hub.publish(built_datasets("musictheorybench"), "--yes")
    commit = hub.branches["ORG/musictheorybench"]["main"]
    # Files are compared by content: neither times nor places matter.
    folder = Path(
        shutil.copytree(built_datasets("musictheorybench"), tmp_path / "copy" / "musictheorybench")
    )
    assert f"ORG/musictheorybench is up to date at {commit}" in hub.publish(folder, "--yes")
    hub.push("ORG/musictheorybench", {**hub.files("ORG/musictheorybench"), "notes.txt": b"keep me"})
    spec, module = builder("musictheorybench").BENCHMARK, builder("questions.question_rows")
    rows = {
        split: load_split(str(folder), "reasoning", split, benchmark=spec).to_list()
        for split in ("dev", "test")
    }
    rows["test"] = rows["test"][:4]
    module.write_question_rows(
        "musictheorybench",
        spec.version,
        {"reasoning": rows},
        folder,
        source="generated",
        seed=3,
        overwrite=True,
    )
    expected = [
        ["changed", "README.md"],
        ["changed", "eval.yaml"],
        ["changed", "prompted/reasoning-00000-of-00001.parquet"],
        ["changed", "provenance.json"],
        ["changed", "reasoning/test-00000-of-00001.parquet"],
        ["deleted", "knowledge/dev-00000-of-00001.parquet"],
        ["deleted", "knowledge/test-00000-of-00001.parquet"],
        ["deleted", "prompted/knowledge-00000-of-00001.parquet"],
        ["kept", "notes.txt"],
        ["unchanged", "reasoning/dev-00000-of-00001.parquet"],
    ]
    hub.uploads.clear()
    assert changes(hub.publish(folder, "--yes")) == expected
    assert sorted(hub.uploads) == sorted(path for kind, path in expected if kind == "changed")
    assert hub.files("ORG/musictheorybench").keys() == {
        ".gitattributes",
        *(path for kind, path in expected if kind != "deleted"),
    }


def test_a_branch_is_made_from_main_and_main_stays(hub, built_datasets):
    hub.push(
        "ORG/msu", {"README.md": b"To come.", "eval.yaml": b""}
    )  # such a repository counts as empty
    output = hub.publish(built_datasets("msu"), "--yes", "--revision", "v2/draft")
    assert "branch v2/draft, to be created from main" in output
    assert "inspect eval hf/ORG/msu@v2/draft" in output
    assert hub.files("ORG/msu").keys() == {"README.md", "eval.yaml"}
    assert "provenance.json" in hub.files("ORG/msu", "v2/draft")
    assert "is up to date" in hub.publish(built_datasets("msu"), "--revision", "v2/draft")
    assert "--private is for a new repository" in hub.publish(
        built_datasets("msu"), "--private", code=1
    )


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"README.md": b"# Mine", "rows.csv": b"a,b"},
            "ORG/msu holds rows.csv, not a dataset of msu",
        ),
        ({"provenance.json": b"{}"}, "ORG/msu holds provenance.json, not a dataset of msu"),
        (
            {
                "provenance.json": Provenance("muse", "1.0", "generated", "mit", seed=1)
                .to_json()
                .encode()
            },
            "ORG/msu holds a dataset of muse, not a dataset of msu",
        ),
        (
            {"provenance.json": TRAINING_SET.to_json().encode()},
            "ORG/msu holds a training set of msu, not a dataset of msu",
        ),
    ],
)
def test_a_repository_with_other_content_is_left_alone(files, message, hub, built_datasets):
    hub.push("ORG/msu", files)
    assert message in hub.publish(built_datasets("msu"), "--yes", code=1)
    assert hub.files("ORG/msu") == files


@pytest.mark.parametrize(
    ("status", "reason", "message"),
    [
        (
            401,
            "Invalid credentials",
            "ORG/msu: the Hub refused (Invalid credentials); log in with `hf auth login`",
        ),
        (
            403,
            f"denied for {TOKEN}",
            "refused (denied for (the token)); with a token that may write there, log in",
        ),
        (
            412,
            "A commit has happened since",
            "somebody else has changed the repository meanwhile; nothing was publis",
        ),
    ],
)
def test_a_refusal_of_the_hub_is_one_message_without_the_token(
    status,
    reason,
    message,
    hub,
    built_datasets,
    monkeypatch,
):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    response = httpx.Response(status, request=httpx.Request("POST", "https://huggingface.co"))
    hub.error = HfHubHTTPError(f"{status} for {TOKEN}", response=response, server_message=reason)
    output = hub.publish(built_datasets("msu"), "--yes", code=1)
    assert message in output
    assert TOKEN not in output


def test_bad_names_and_folders_are_refused(hub, built_datasets, small_dataset, tmp_path):
    msu = small_dataset("msu")
    (msu / "scores" / "test-00000-of-00001.parquet").write_bytes(b"")
    write_rows(tmp_path / "own", {"test": [score("song")]}, {}, source="own-scores")
    assert "accepted: abc_eval, " in run("publish", "songs", "--repo", "ORG/songs")[1]
    for arguments, message in (
        (
            ["msu", "--repo", "msu", "--dir", built_datasets("msu")],
            "'msu' names no repository of the Hub; write ORG/NAME",
        ),
        (["msu", "--dir", tmp_path / "absent"], f"dataset '{tmp_path / 'absent'}' does not exist"),
        (["muse", "--dir", msu], "is a dataset of msu, not of muse"),
        (
            ["msu", "--dir", msu],
            "scores/test-00000-of-00001.parquet is not the file that its provenance.json names",
        ),
        (
            ["msu", "--dir", tmp_path / "own"],
            "from own-scores may not be published: the licences of somebody's own",
        ),
    ):
        name, *options = arguments
        code, output = run(
            "publish", name, "--repo", "ORG/msu", "--dir", tmp_path / "own", *options, "--yes"
        )
        assert (code, message in output) == (1, True), output
    assert not hub.branches


@pytest.mark.parametrize(
    ("secret", "kind"),
    [
        (f"ghp_{'a1' * 18}", "what looks like a token or key (ghp_…)"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----", "what looks like a token or key (PRIVATE KEY…)"),
        ("correct horse battery", "the value of SOME_API_KEY"),
    ],
)
def test_secrets_are_refused_and_not_shown(
    secret,
    kind,
    hub,
    small_dataset,
    tmp_path,
    monkeypatch,
):
    monkeypatch.setenv("SOME_API_KEY", "correct horse battery")
    hidden = question("song", 0, question=f"Is it {secret}?")
    write_rows(tmp_path / "msu", {"test": [score("song")]}, {"test": [hidden]})
    card = small_dataset("msu") / "README.md"
    card.write_text(f"{card.read_text()}\nby {secret}\n")
    row = "questions/test-00000-of-00001.parquet, row song-level1-1,"
    for folder, place in ((tmp_path / "msu", row), (card.parent, "README.md")):
        output = hub.publish(folder, "--yes", code=1)
        assert f"{place} holds {kind}; take it out" in output
        assert secret not in output
    assert not hub.branches
