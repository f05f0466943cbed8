"""A check that no token, key or password of the user is published by mistake."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow.parquet as pq
from huggingface_hub import get_token

from music_evals.datasets_builders.dataset_io.provenance import DatasetError

# Tokens of the Hub, OpenAI and Anthropic, GitHub, GitLab, AWS, Google and Slack; and private keys.
_TOKEN = re.compile(
    r"(?<![A-Za-z0-9])(hf_|api_org_|sk-|gh[pousr]_|github_pat_|glpat-|AKIA|ASIA|AIza|xox[a-z]-)[\w-]{16,}"
    r"|-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY"
)
_SHORTEST = 12  # characters of an environment variable that counts as secret


def check_secrets(files: Mapping[str, Path | bytes]) -> None:
    """Raise DatasetError if a file to publish holds a secret; the message names the file and the
    kind of secret.
    """
    secrets = {
        f"the value of {name}": value
        for name, value in os.environ.items()
        if name.endswith(("_KEY", "_TOKEN"))
    }
    secrets["the token of this machine for the Hub"] = get_token() or ""
    for path, file in files.items():
        for place, text in _texts(path, file):
            kinds = [
                name for name, value in secrets.items() if len(value) >= _SHORTEST and value in text
            ]
            if match := _TOKEN.search(text):
                kinds.append(f"what looks like a token or key ({match[1] or 'PRIVATE KEY'}…)")
            if kinds:
                raise DatasetError(
                    f"{place} holds {kinds[0]}; take it out, make it invalid and build again"
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
