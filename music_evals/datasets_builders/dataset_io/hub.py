"""Publishing a dataset folder to a repository of the Hugging Face Hub: first a plan, then one commit.

A plan is made by comparing contents: the folder's files with the repository's, by their checksums. It changes nothing.
Publishing it makes one commit on the very state that it was made against; if somebody has pushed meanwhile, the Hub
refuses. What arrived of an interrupted upload stays on the Hub, without a commit, and is not sent again.

Only what our own provenance in the repository names is ever replaced or deleted there.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

import huggingface_hub
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi, get_token
from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils.sha import git_hash

from music_evals.benchmarks import Source
from music_evals.datasets_builders.dataset_io import (
    CARD_FILE,
    EVAL_FILE,
    PROMPTED,
    PROVENANCE_FILE,
    Benchmark,
    DatasetError,
    Origin,
    Provenance,
    read_provenance,
    some,
)
from music_evals.datasets_builders.dataset_io.card import publish_card
from music_evals.datasets_builders.dataset_io.check import check_folder
from music_evals.datasets_builders.dataset_io.hub_errors import LOG_IN, TRANSPORT_ERRORS, explain, token_problem
from music_evals.datasets_builders.dataset_io.licences import check_publishable, licence_of_source
from music_evals.datasets_builders.dataset_io.provenance import in_a_line
from music_evals.datasets_builders.dataset_io.tokens import check_secrets

MAIN: Final = "main"
_DATASET: Final = "dataset"
_MADE_BY_THE_HUB: Final = ".gitattributes"
_ANNOUNCED: Final = (CARD_FILE, EVAL_FILE)  # a repository with nothing else is taken for empty
_PROMPTED_FILE: Final = re.compile(rf"{PROMPTED}/[\w-]+\.parquet", re.ASCII)
_REPO: Final = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*", re.ASCII)
_BRANCH: Final = re.compile(r"(?!refs/)[\w-][\w./-]*", re.ASCII)
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Publication:
    """What publishing a folder would do."""

    repo: str  # name of the repository, ``ORG/REPO``
    branch: str  # where the commit goes
    endpoint: str  # address of the Hub
    private: bool  # whether the repository is private, or will be
    is_new: bool  # whether the repository is to be created
    is_new_branch: bool  # whether the branch is to be created; it begins as a copy of ``main``
    head: str | None  # commit that the plan was made against; None where the repository is new
    unseen: str  # why nothing is known of the repository, so that all files count as added; empty where it was read
    # added, changed (there with another content), deleted (of an earlier publication), unchanged, kept (not ours) →
    # files → sizes in bytes.
    files: Mapping[str, Mapping[str, int]]
    content: Mapping[str, CommitOperationAdd]  # path → what to upload
    licence: Source  # what the data is published as
    provenance: Provenance  # what the folder says about itself

    @property
    def is_up_to_date(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.unseen or self.is_new or self.is_new_branch or self.uploads or self.files["deleted"])

    @property
    def uploads(self) -> Mapping[str, int]:
        """All files that would be uploaded, if the Hub has none of them."""
        return {**self.files["added"], **self.files["changed"]}

    @property
    def uri(self) -> str:
        """What to give a task as ``dataset=``."""
        return f"hf://datasets/{self.repo}" + ("" if self.branch == MAIN else f"@{self.branch}")


def plan_publication(
    folder: Path,
    repo: str,
    *,
    benchmark: Benchmark,
    branch: str = MAIN,
    private: bool = False,
    prompted: Mapping[str, Path] = MappingProxyType({}),
) -> Publication:
    """Say what publishing a folder to a repository ``ORG/REPO`` would do; nothing is changed.

    Neither repository nor branch need be there. `prompted` are the files by which Inspect runs the repository, by their
    paths there. A DatasetError says what stands against it. Where the Hub cannot be reached, the plan says so, and
    cannot be published.
    """
    check_names(repo, branch)
    made = check_folder(folder, benchmark)
    licence = licence_of_source(made.benchmark, made.source)
    check_publishable(folder, made, licence)
    text = (folder / CARD_FILE).read_text(encoding="utf-8")
    card = publish_card(text, repo, licence, made.benchmark, [path for path in prompted if path != EVAL_FILE]).encode()
    files: dict[str, Path | bytes] = {path: folder / path for path in (*made.files, PROVENANCE_FILE)}
    files |= {**prompted, CARD_FILE: card}
    check_secrets(files)
    content = {path: CommitOperationAdd(path, file) for path, file in files.items()}
    api = huggingface_hub.HfApi()
    there, unseen = {}, ""
    with plain_errors(repo):
        try:
            found = _look_up(api, repo, branch)
        except HfHubHTTPError:
            raise
        except TRANSPORT_ERRORS as error:
            found, unseen = _Found(private, None, False), in_a_line(error)
        if found.head is not None:
            entries = api.list_repo_tree(repo, recursive=True, revision=found.head, repo_type=_DATASET)
            there = {entry.path: entry for entry in entries if isinstance(entry, RepoFile)}
        earlier = _earlier(api, repo, found.head, there, made)
    if private and found.private is False:
        raise DatasetError(f"{repo} is public; --private is for a new repository or one that is private already")
    ours = {path for path in there if _is_ours(path, there[path], earlier)}
    kept = there.keys() - ours - {_MADE_BY_THE_HUB}
    same = {path for path in content.keys() & there.keys() if _is_same(content[path], there[path])}
    _check_strangers(repo, kept - same, made, content)
    sizes = {path: file.size for path, file in there.items()}
    sizes |= {path: added.upload_info.size for path, added in content.items()}
    kinds: dict[str, Set[str]] = {
        "added": content.keys() - there.keys(),
        "changed": (content.keys() & there.keys()) - same,
        "deleted": ours - content.keys(),
        "unchanged": same,
        "kept": kept - same,
    }
    return Publication(
        repo=repo,
        branch=branch,
        endpoint=api.endpoint,
        private=private if found.private is None else found.private,
        is_new=found.private is None,
        is_new_branch=found.is_new_branch,
        head=found.head,
        unseen=unseen,
        files={what: {path: sizes[path] for path in sorted(paths)} for what, paths in kinds.items()},
        content=content,
        licence=licence,
        provenance=made,
    )


def check_names(repo: str, branch: str = MAIN) -> None:
    """Raise DatasetError where a repository or a branch cannot have such a name."""
    if not _REPO.fullmatch(repo) or ".." in repo or "--" in repo:
        raise DatasetError(f"{repo!r} names no repository of the Hub; write ORG/REPO, in letters, digits and -_.")
    if not _BRANCH.fullmatch(branch) or ".." in branch or _COMMIT.fullmatch(branch):
        raise DatasetError(f"{branch!r} names no branch; a commit, a tag or a pull request cannot be published to")


def publish(plan: Publication) -> str:
    """Do what a plan says: create what is to be created, make one commit, and return it.

    After a DatasetError no commit was made, and what has arrived need not be sent again.
    """
    if plan.unseen:
        raise DatasetError(f"{plan.repo}: the Hub cannot be reached: {plan.unseen}; nothing was published")
    api = huggingface_hub.HfApi()
    with plain_errors(plan.repo):
        check_token(api)
        head = plan.head
        if plan.is_new:
            api.create_repo(plan.repo, repo_type=_DATASET, private=plan.private)
            head = api.dataset_info(plan.repo).sha
        if plan.is_new_branch:
            api.create_branch(plan.repo, repo_type=_DATASET, branch=plan.branch, revision=head)
        uploads = [plan.content[path] for path in plan.uploads]
        removals = [CommitOperationDelete(path) for path in plan.files["deleted"]]
        if not uploads and not removals:
            return str(head)
        made = plan.provenance
        commit = api.create_commit(
            plan.repo,
            [*uploads, *removals],
            repo_type=_DATASET,
            revision=plan.branch,
            parent_commit=head,
            commit_message=f"{made.benchmark} {made.builder_version}, {Origin('', Path(), None, made).label}",
        )
    return str(commit.oid)


class _Found(NamedTuple):
    """The repository as it is: `private` is None where there is none, `head` is what the branch is at or begins at."""

    private: bool | None
    head: str | None
    is_new_branch: bool


def _look_up(api: HfApi, repo: str, branch: str) -> _Found:
    try:
        info = api.dataset_info(repo)
    except RepositoryNotFoundError:
        return _Found(None, None, branch != MAIN)
    refs = api.list_repo_refs(repo, repo_type=_DATASET)
    if branch in {tag.name for tag in refs.tags}:
        raise DatasetError(f"{branch} is a tag of {repo}; name a branch")
    heads = {found.name: found.target_commit for found in refs.branches}
    return _Found(bool(info.private), heads.get(branch, heads.get(MAIN)), branch not in heads)


def _earlier(
    api: HfApi, repo: str, head: str | None, there: Mapping[str, RepoFile], made: Provenance
) -> Provenance | None:
    """Return the provenance of the dataset that is in the repository, None where that is empty."""
    strangers = sorted(there.keys() - {_MADE_BY_THE_HUB, *_ANNOUNCED})
    if not strangers:
        return None
    advice = "name a new or an empty repository"
    if PROVENANCE_FILE not in there:
        raise DatasetError(f"{repo} holds something else than a dataset of ours: {some(strangers)}; {advice}")
    path = api.hf_hub_download(repo, PROVENANCE_FILE, repo_type=_DATASET, revision=head)
    try:
        earlier = read_provenance(Path(path).parent)
    except DatasetError as error:
        raise DatasetError(f"{repo} holds something else than a dataset of ours: {error}; {advice}") from error
    if earlier.benchmark != made.benchmark:
        raise DatasetError(f"{repo} holds a dataset of {earlier.benchmark}, not of {made.benchmark}; {advice}")
    return earlier


def _is_ours(path: str, file: RepoFile, earlier: Provenance | None) -> bool:
    """Whether an earlier publication put a file there, and nobody has replaced it since."""
    if earlier is None:
        return path in _ANNOUNCED
    if path in (*_ANNOUNCED, PROVENANCE_FILE) or _PROMPTED_FILE.fullmatch(path):
        return True
    return path in earlier.files and (file.lfs is None or file.lfs.sha256 == earlier.files[path])


def _check_strangers(repo: str, kept: Set[str], made: Provenance, content: Iterable[str]) -> None:
    """Refuse where somebody else's file would be replaced, or read as rows of ours."""
    globs = [f"{config}/{split}-*.parquet" for config, splits in made.counts.items() for split in splits]
    if bad := sorted(path for path in kept if path in content or any(fnmatchcase(path, glob) for glob in globs)):
        raise DatasetError(
            f"{repo} holds files that are not of its last publication, where this dataset has its own: {some(bad)}; "
            "remove them there first, or name another repository"
        )


def _is_same(added: CommitOperationAdd, there: RepoFile) -> bool:
    """Whether a file has the same content in the repository, which knows it as a large file or as a blob of git."""
    if there.lfs is not None:
        return added.upload_info.sha256.hex() == there.lfs.sha256
    with added.as_file() as file:
        return git_hash(file.read()) == there.blob_id


def check_token(api: HfApi) -> None:
    """Refuse a token that may only read; what one of finer grain may do, only the Hub can say."""
    if get_token() is None:
        raise DatasetError(f"publishing needs a token; {LOG_IN}")
    if api.whoami().get("auth", {}).get("accessToken", {}).get("role") == "read":
        raise DatasetError(f"the token for the Hub may only read; with one that may write, {LOG_IN}")


@contextmanager
def plain_errors(repo: str) -> Iterator[None]:
    """Turn what the client raises into one message, alone, for the error may quote what was sent.

    The client wraps errors of an upload in RuntimeError, and says with ValueError that a card or a batch is refused.
    """
    if problem := token_problem():
        raise DatasetError(problem)
    try:
        yield
    except DatasetError:
        raise
    except (*TRANSPORT_ERRORS, RuntimeError, ValueError) as error:
        raise DatasetError(explain(error, repo)) from None
