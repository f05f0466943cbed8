"""Publishing to the Hugging Face Hub: `plan_dataset` and `plan_files` say what would change,
`commit` changes it.

Files are compared by their checksums. A commit names the state that its plan was made for: if
somebody has pushed meanwhile, the Hub refuses. Files of an interrupted upload stay on the Hub, and
the next upload does not repeat them.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import huggingface_hub
import pyarrow.parquet as pq
from huggingface_hub import CommitInfo, CommitOperationAdd, CommitOperationDelete, get_token
from huggingface_hub.errors import RepositoryNotFoundError
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils.sha import git_hash

from music_evals.datasets_builders.dataset_io.card import publish_card
from music_evals.datasets_builders.dataset_io.download_errors import plain_errors
from music_evals.datasets_builders.dataset_io.licences import check_publishable
from music_evals.datasets_builders.dataset_io.loading import Origin
from music_evals.datasets_builders.dataset_io.provenance import (
    CARD_FILE,
    EVAL_FILE,
    PROMPTED,
    PROVENANCE_FILE,
    DatasetError,
    Provenance,
    file_sha256,
    list_names,
)
from music_evals.notation.secrets import kind_of_secret

MAIN = "main"
GIT_FILE = ".gitattributes"  # the Hub's own


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository at the head of a branch."""

    name: str  # ``ORG/NAME``
    branch: str
    head: str | None  # commit; None if there is no such repository
    is_new_branch: bool  # whether the branch is still to be created, from ``main``
    is_private: bool
    files: Mapping[str, RepoFile]

    @property
    def other_files(self) -> list[str]:
        """All files except a card, ``eval.yaml`` and the Hub's own."""
        return sorted(self.files.keys() - {CARD_FILE, EVAL_FILE, GIT_FILE})

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, None if there is no such file."""
        if path not in self.files:
            return None
        with plain_errors(self.name):
            file = huggingface_hub.HfApi().hf_hub_download(
                self.name, path, repo_type="dataset", revision=self.head
            )
            return Path(file).read_bytes()


class Change(NamedTuple):
    """What a commit does to a file."""

    kind: Literal["added", "changed", "deleted", "kept", "unchanged"]
    path: str
    size: int  # bytes


class Plan(NamedTuple):
    """What a commit would change."""

    repository: Repository
    changes: list[Change]
    operations: list[CommitOperationAdd | CommitOperationDelete]


def look_up(name: str, branch: str) -> Repository:
    """Read the state of a repository ``ORG/NAME``, which need not exist; DatasetError if the Hub
    cannot be asked.
    """
    if name.count("/") != 1:
        raise DatasetError(f"{name!r} names no repository of the Hub; write ORG/NAME")
    with plain_errors(name):
        api = huggingface_hub.HfApi()
        try:
            info = api.repo_info(name, repo_type="dataset")
        except RepositoryNotFoundError:
            return Repository(name, branch, None, branch != MAIN, False, {})
        heads = {
            ref.name: ref.target_commit
            for ref in api.list_repo_refs(name, repo_type="dataset").branches
        }
        head = heads.get(branch, info.sha)
        entries = api.list_repo_tree(name, recursive=True, revision=head, repo_type="dataset")
        files = {entry.path: entry for entry in entries if isinstance(entry, RepoFile)}
    return Repository(name, branch, head, branch not in heads, bool(info.private), files)


def plan_files(
    repository: Repository, contents: Mapping[str, Path | bytes], obsolete: Collection[str]
) -> Plan:
    """Plan a commit that writes files by their paths in the repository, and deletes obsolete files.

    DatasetError if a file holds a secret.
    """
    _refuse_secrets(contents)
    plan = Plan(repository, [], [])
    for path, content in contents.items():
        addition, present = CommitOperationAdd(path, content), repository.files.get(path)
        if present and _is_same(addition, present):
            plan.changes.append(Change("unchanged", path, present.size))
        else:
            plan.changes.append(
                Change("changed" if present else "added", path, addition.upload_info.size)
            )
            plan.operations.append(addition)
    for path in sorted(repository.files.keys() - contents.keys() - {GIT_FILE}):
        plan.changes.append(
            Change("deleted" if path in obsolete else "kept", path, repository.files[path].size)
        )
        if path in obsolete:
            plan.operations.append(CommitOperationDelete(path))
    plan.changes.sort()
    return plan


def _refuse_secrets(files: Mapping[str, Path | bytes]) -> None:
    """Raise DatasetError if a file to publish holds a secret; the message names the file and the
    kind of secret.
    """
    own = get_token()
    for path, file in files.items():
        for place, text in _texts(path, file):
            kind = kind_of_secret(text)
            if own and own in text:
                kind = "the token of this machine for the Hub"
            if kind:
                raise DatasetError(
                    f"{place} holds {kind}; take it out, make it invalid and build again"
                )


def _texts(path: str, file: Path | bytes) -> Iterator[tuple[str, str]]:
    """Yield the texts of a file with their places: all of it, or the metadata and the rows of a
    table.
    """
    if isinstance(file, bytes) or not path.endswith(".parquet"):
        yield (
            path,
            (file if isinstance(file, bytes) else file.read_bytes()).decode(errors="replace"),
        )
        return
    with pq.ParquetFile(file) as table:
        yield f"the metadata of {path}", str(table.metadata.metadata)
        for batch in table.iter_batches(64):
            for row in batch.to_pylist():
                # The search is in text, without sound and pictures.
                text = json.dumps(row, ensure_ascii=False, default=lambda _: "")
                yield f"{path}, row {next(iter(row.values()))!s:.100},", text


def _is_same(addition: CommitOperationAdd, present: RepoFile) -> bool:
    """Compare a file with the one in the repository, which is a large file or a blob of git."""
    if present.lfs is not None:
        return addition.upload_info.sha256.hex() == present.lfs.sha256
    with addition.as_file() as file:
        return git_hash(file.read()) == present.blob_id


def plan_dataset(
    origin: Origin, prompts: Mapping[str, Path], repo: str, branch: str = MAIN
) -> Plan:
    """Plan to publish a dataset folder, with the files of its rendered prompts by their paths in
    the repository.

    DatasetError if the licence forbids it, the folder is damaged or holds a secret, or the
    repository holds something else than an earlier version of this dataset.
    """
    folder, provenance = origin.folder, origin.provenance
    terms = check_publishable(folder, provenance)
    for path, digest in provenance.files.items():
        if not (folder / path).is_file() or file_sha256(folder / path) != digest:
            raise DatasetError(
                f"{folder}: {path} is not the file that its {PROVENANCE_FILE} names; build it again"
            )
    tasks = [Path(path).name.partition("-")[0] for path in prompts if path != EVAL_FILE]
    card = publish_card(
        (folder / CARD_FILE).read_text("utf-8"), repo, terms, provenance.benchmark, tasks
    )
    contents = {path: folder / path for path in (*provenance.files, PROVENANCE_FILE)}
    repository = look_up(repo, branch)
    earlier = _published_files(repository, provenance)
    prompted = [path for path in repository.files if path.startswith(f"{PROMPTED}/")]
    return plan_files(
        repository, {**contents, **prompts, CARD_FILE: card.encode()}, [*earlier, *prompted]
    )


def _published_files(repository: Repository, provenance: Provenance) -> Collection[str]:
    """Return the files of a dataset's earlier version; DatasetError if the repository holds
    something else.
    """
    if not repository.other_files:
        return ()
    wanted = _content(provenance)
    try:
        earlier = Provenance.from_json(repository.read(PROVENANCE_FILE) or b"")
        content = _content(earlier)
        if content == wanted:
            return earlier.files
    except DatasetError:
        content = list_names(repository.other_files)
    raise DatasetError(
        f"{repository.name} holds {content}, not {wanted}; name a new or an empty repository"
    )


def _content(provenance: Provenance) -> str:
    kind = "training set" if provenance.decontamination else "dataset"
    return f"a {kind} of {provenance.benchmark}"


def commit(plan: Plan, message: str, *, private: bool = False) -> CommitInfo:
    """Make the commit of a plan; the repository and the branch are created if they do not exist."""
    repository = plan.repository
    name, head = repository.name, repository.head
    with plain_errors(name):
        api = huggingface_hub.HfApi()
        if head is None:
            api.create_repo(name, repo_type="dataset", private=private)
        if repository.is_new_branch:
            api.create_branch(name, repo_type="dataset", branch=repository.branch, revision=head)
        return api.create_commit(
            name,
            plan.operations,
            repo_type="dataset",
            revision=repository.branch,
            parent_commit=head,
            commit_message=message,
        )
