"""Tokens, keys and passwords of this machine's user, which must not be published by mistake."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
from huggingface_hub import get_token

from music_evals.datasets_builders.dataset_io.provenance import DatasetError

_FORMS: Final[Mapping[str, bytes]] = {
    "a token of the Hugging Face Hub": rb"(?:hf|api_org)_[A-Za-z0-9]{20,}",
    "a key as of OpenAI or Anthropic": rb"sk-[\w-]{20,}",
    "a token of GitHub": rb"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}",
    "a token of GitLab": rb"glpat-[\w-]{20,}",
    "a key of AWS": rb"(?:AKIA|ASIA)[A-Z0-9]{16}",
    "a key of Google": rb"AIza[\w-]{30,}",
    "a token of Slack": rb"xox[a-z]-[\w-]{10,}",
    "a private key": rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY",
}
_KINDS: Final = tuple(_FORMS)
_FORM: Final = re.compile(rb"(?<![A-Za-z0-9])(?:" + b"|".join(b"(%s)" % form for form in _FORMS.values()) + b")")
_SHORTEST: Final = 12  # characters of a value in the environment that counts as secret


def check_secrets(files: Mapping[str, Path | bytes]) -> None:
    """Raise DatasetError where a file that is to be published holds a secret; it names the file and the kind of it."""
    own = _own_secrets()
    for path, file in files.items():
        for place, content in _contents(path, file):
            found = _FORM.search(content)
            kind = None if found is None else _KINDS[(found.lastindex or 1) - 1]
            kind = kind or next((name for name, value in own.items() if value in content), None)
            if kind is not None:
                raise DatasetError(f"{place} holds {kind}; take it out, make it invalid and build again")


def _own_secrets() -> dict[str, bytes]:
    """What the user's environment keeps secret: its name → its value."""
    named = {f"the value of {name}": value for name, value in os.environ.items() if name.endswith(("_KEY", "_TOKEN"))}
    named["the token of this machine for the Hub"] = get_token() or ""
    return {name: os.fsencode(value) for name, value in named.items() if len(value) >= _SHORTEST}


def _contents(path: str, file: Path | bytes) -> Iterator[tuple[str, bytes]]:
    """The texts of a file, with their places: all of it, or the cells and the metadata of a table."""
    if isinstance(file, bytes):
        yield path, file
    elif not path.endswith(".parquet"):
        yield path, file.read_bytes()
    else:
        with pq.ParquetFile(file) as table:
            schema = table.schema_arrow.to_string(show_field_metadata=True, truncate_metadata=False)
            yield f"the metadata of {path}", b"\n".join([schema.encode(), *(table.metadata.metadata or {}).values()])
            for batch in table.iter_batches(64):
                for row in batch.to_pylist():
                    texts = "\n".join(text for cell in row.values() for text in _texts(cell))
                    yield f"{path}, row {next(iter(row.values()))!s:.100},", texts.encode()


def _texts(cell: Any) -> Iterator[str]:
    if isinstance(cell, str):
        yield cell
    elif isinstance(cell, list | dict):
        for one in cell.values() if isinstance(cell, dict) else cell:
            yield from _texts(one)
