"""A few small files for a repository of the Hub: results of a model, or a board without data.

As in `hub`, a plan changes nothing, and a commit is made on the very state that it was made against.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import huggingface_hub
from huggingface_hub import CommitOperationAdd, DatasetLeaderboardEntry
from huggingface_hub.errors import EntryNotFoundError, RepositoryNotFoundError

from music_evals.datasets_builders.dataset_io import DatasetError, some
from music_evals.datasets_builders.dataset_io.hub import check_names, check_token, plain_errors
from music_evals.datasets_builders.dataset_io.tokens import check_secrets

Kind = Literal["model", "dataset"]
Merge = Callable[[bytes | None, bytes], bytes]
"""Makes a file from what the repository has under its name, None where it has none, and from the new one."""

_MADE_BY_THE_HUB: Final = ".gitattributes"


@dataclass(frozen=True, slots=True)
class Plan:
    """What writing the files would do."""

    repo: str
    kind: Kind
    head: str | None  # commit that the plan was made against; None where the repository is to be created
    files: Mapping[str, bytes]  # those that the repository has not, or not so


def plan_files(
    repo: str, kind: Kind, files: Mapping[str, bytes], *, merge: Merge = lambda _, new: new, alone: bool = False
) -> Plan:
    """Say which files would be written to a repository ``ORG/NAME``; nothing is changed.

    Args:
        repo: the repository; one of a model has to be there.
        kind: of the repository.
        files: path → content.
        merge: joins a file with what is there under its name.
        alone: whether nothing else may be in the repository.

    Raises:
        DatasetError: says what stands against it.
    """
    check_names(repo)
    check_secrets(files)
    api = huggingface_hub.HfApi()
    with plain_errors(repo):
        try:
            info = api.repo_info(repo, repo_type=kind)
        except RepositoryNotFoundError:
            if kind == "model":
                raise DatasetError(f"the Hub has no model {repo}, or you have no access to it") from None
            return Plan(repo, kind, None, files)
        names = set(api.list_repo_files(repo, repo_type=kind, revision=info.sha))
        if alone and (others := sorted(names - {*files, _MADE_BY_THE_HUB})):
            raise DatasetError(f"{repo} holds something else: {some(others)}; name a new or an empty repository")
        there = {path: _read(repo, kind, path, info.sha) for path in files}
        wanted = {path: merge(there[path], new) for path, new in files.items()}
    return Plan(repo, kind, info.sha, {path: new for path, new in wanted.items() if there[path] != new})


def write_files(plan: Plan, title: str, *, as_pull_request: bool = False) -> str:
    """Do what a plan says in one commit, or in a pull request, and return its address; DatasetError as it may be."""
    api = huggingface_hub.HfApi()
    with plain_errors(plan.repo):
        check_token(api)
        head = plan.head
        if head is None:
            api.create_repo(plan.repo, repo_type=plan.kind)
            head = api.repo_info(plan.repo, repo_type=plan.kind).sha
        made = api.create_commit(
            plan.repo,
            [CommitOperationAdd(path, content) for path, content in plan.files.items()],
            repo_type=plan.kind,
            parent_commit=head,
            commit_message=title,
            create_pr=as_pull_request,
        )
    return str(made.pr_url if as_pull_request else made.commit_url)


def open_pull_request(repo: str, title: str) -> str | None:
    """Return the address of an open pull request of a model with a title; None where there is none."""
    with plain_errors(repo):
        found = huggingface_hub.HfApi().get_repo_discussions(
            repo, repo_type="model", discussion_type="pull_request", discussion_status="open"
        )
        return next((one.url for one in found if one.title == title), None)


def leaderboard(repo: str) -> Sequence[DatasetLeaderboardEntry]:
    """Return the leaderboard of a dataset on the Hub, with models derived from others; DatasetError if it has none."""
    check_names(repo)
    with plain_errors(repo):
        return huggingface_hub.HfApi().get_dataset_leaderboard(repo, base_model_only=False)


def _read(repo: str, kind: Kind, path: str, revision: str | None) -> bytes | None:
    try:
        file = huggingface_hub.hf_hub_download(repo, path, repo_type=kind, revision=revision)
    except EntryNotFoundError:
        return None
    return Path(file).read_bytes()
