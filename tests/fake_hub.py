"""A stand-in for the client of the Hugging Face Hub: the methods of `HfApi` that the suite calls,
on folders.
"""

import hashlib
import shutil
from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace

import datasets
import httpx
import huggingface_hub
import pytest
from huggingface_hub import CommitInfo, CommitOperationAdd
from huggingface_hub.errors import RepositoryNotFoundError
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils.sha import git_hash

from music_evals.datasets_builders import builder
from tests.commands.cli import run

ADDRESS = "https://huggingface.co"


class FakeHub:
    """Repositories by name; each commit is a folder that has the commit's id as its name."""

    def __init__(self, root):
        self.root = root
        self.branches: dict[str, dict[str, str]] = {}  # repository → branch → commit
        self.private: set[str] = set()
        self.uploads: list[str] = []
        self.error: Exception | None = None  # raised when a commit is made

    def __call__(self):
        return self

    def push(self, repo, files, branch="main"):
        """Make a commit of exactly these files, as somebody else would."""
        digest = hashlib.sha1(repr(sorted(files.items())).encode()).hexdigest()
        for path, content in files.items():
            (self.root / repo / digest / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / repo / digest / path).write_bytes(content)
        self.branches.setdefault(repo, {})[branch] = digest
        return digest

    def files(self, repo, branch="main"):
        folder = self.folder(repo, branch)
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }

    def folder(self, repo, revision=None):
        return self.root / repo / self.branches[repo].get(revision or "main", revision or "")

    # --- methods of HfApi ---

    def repo_info(self, repo, **_):
        if repo not in self.branches:
            request = httpx.Request("GET", ADDRESS)
            raise RepositoryNotFoundError(
                "no such repository", response=httpx.Response(404, request=request)
            )
        return SimpleNamespace(sha=self.branches[repo]["main"], private=repo in self.private)

    def list_repo_refs(self, repo, **_):
        heads = self.branches[repo].items()
        return SimpleNamespace(
            branches=[SimpleNamespace(name=name, target_commit=commit) for name, commit in heads]
        )

    def list_repo_tree(self, repo, *, revision, **_):
        for path, content in self.files(repo, revision).items():
            digest = hashlib.sha256(content).hexdigest()
            lfs = (
                {"size": len(content), "oid": digest, "pointerSize": 130}
                if path.endswith(".parquet")
                else None
            )
            yield RepoFile(path=path, size=len(content), oid=git_hash(content), lfs=lfs)

    def hf_hub_download(self, repo_id, filename, *, revision=None, **_):
        return str(self.folder(repo_id, revision) / filename)

    def snapshot_download(self, repo, *, revision=None, allow_patterns, **_):
        self.repo_info(repo)
        folder = self.folder(repo, revision)
        assert any(
            fnmatch(path, pattern)
            for path in self.files(repo, folder.name)
            for pattern in allow_patterns
        )
        return str(folder)

    def create_repo(self, repo, *, private, **_):
        self.push(repo, {".gitattributes": b""})
        self.private |= {repo} if private else set()

    def create_branch(self, repo, *, branch, **_):
        self.branches[repo][branch] = self.branches[repo]["main"]

    def create_commit(
        self, repo, operations, *, repo_type, revision, parent_commit, commit_message
    ):
        if self.error:
            raise self.error
        files = self.files(repo, revision)
        for operation in operations:
            if isinstance(operation, CommitOperationAdd):
                with operation.as_file() as file:
                    files[operation.path_in_repo] = file.read()
                self.uploads.append(operation.path_in_repo)
            else:
                del files[operation.path_in_repo]
        oid = self.push(repo, files, revision)
        return CommitInfo(f"{ADDRESS}/{repo}/commit/{oid}", commit_message, "", oid)

    # --- what a user does ---

    def publish(self, folder, *options, repo=None, code=0):
        """Publish a dataset folder to ``ORG/`` its name, and return the output."""
        name = folder.name
        status, output = run(
            "publish", name, "--repo", repo or f"ORG/{name}", "--dir", folder, *options
        )
        assert status == code, output
        return output


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A Hub without repositories, for this suite, `datasets` and Inspect."""
    fake, load_dataset = FakeHub(tmp_path / "hub"), datasets.load_dataset

    def load(path, name=None, split=None, **options):
        folder = fake.folder(path, options.get("revision"))
        return load_dataset(str(folder), name, split=split, cache_dir=str(tmp_path / "datasets"))

    monkeypatch.setattr(huggingface_hub, "HfApi", fake)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", fake.hf_hub_download)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", fake.snapshot_download)
    monkeypatch.setattr(datasets, "load_dataset", load)
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "inspect"))
    return fake


def write_small(name, folder):
    """Write a small dataset of a benchmark."""
    from tests.small_defaults import skip_audits

    skip_audits()
    if name == "muse":
        muse = builder("muse")
        muse.write(muse.build_generated(3, muse.Counts(1, 1, 4)), folder)
    elif name == "muse_ten":
        builder("muse_ten").build(folder, per_task=4)
    elif name == "ziqi":
        from music_evals.datasets_builders.ziqi.published import build_published
        from tests.ziqi_source import write_source

        source = write_source(folder.with_name("ziqi-source"), test_rows=1)
        builder("ziqi").write(build_published(source), folder)
    elif name == "musictheorybench":
        from music_evals.datasets_builders.musictheorybench import COMPOSED, VERSION
        from music_evals.datasets_builders.questions.question_rows import (
            composed_rows,
            write_question_rows,
        )
        from music_evals.datasets_builders.questions.theory.compose import compose_theory

        rows = composed_rows(compose_theory(13, 3), "letters")
        configs = {config: {"dev": rows[:5], "test": rows[5:]} for config in COMPOSED}
        write_question_rows(name, VERSION, configs, folder, source="generated", seed=3)
    elif name == "msu":
        from tests import msu_dataset

        msu_dataset.write_small(folder)
    elif name == "abc_eval":
        from tests import abc_eval_dataset

        abc_eval_dataset.write_small(folder)
    else:
        from tests import lilybench_dataset

        lilybench_dataset.write_small(folder, "generated")


@pytest.fixture(scope="session")
def built_datasets(tmp_path_factory):
    """Return a small dataset folder of a benchmark, which nobody may change."""
    root = tmp_path_factory.mktemp("small")

    def folder(name):
        if not (root / name).exists():
            write_small(name, root / name)
        return root / name

    return folder


@pytest.fixture
def small_dataset(built_datasets, tmp_path):
    """Return a copy of a small dataset folder."""
    return lambda name: Path(shutil.copytree(built_datasets(name), tmp_path / "copies" / name))
