"""A Hub of several repositories, and a server of archives and of Zenodo's records, as
`dataset=published` asks them.
"""

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import httpx
import pytest
import requests
from huggingface_hub.utils.sha import git_hash

from music_evals import benchmarks

ROOT = Path(__file__).parents[1]
_LARGE = (".parquet", ".tar.gz", ".zip")


@dataclass
class Servers:
    """What the servers have, and what they were asked for."""

    repositories: dict[str, dict[str, dict[str, bytes]]] = field(
        default_factory=dict
    )  # name → commit → files
    files: dict[str, bytes] = field(default_factory=dict)  # HOST/PATH → content
    gated: set[str] = field(default_factory=set)
    cut: dict[str, int] = field(
        default_factory=dict
    )  # HOST/PATH → bytes after which the next answer breaks off
    asked: list[tuple[str, int]] = field(default_factory=list)  # path and bytes that were sent
    port: int = 0

    def record(self, doi, files):
        """Add a record of Zenodo."""
        number = doi.rpartition(".")[2]
        entries = []
        for name, content in files.items():
            path = f"zenodo.org/api/records/{number}/files/{name}/content"
            self.files[path] = content
            checksum = f"md5:{hashlib.md5(content, usedforsecurity=False).hexdigest()}"
            entries.append(
                {"key": name, "checksum": checksum, "links": {"self": f"https://{path}"}}
            )
        self.files[f"zenodo.org/api/records/{number}"] = json.dumps(
            {"id": number, "files": entries}
        ).encode()
        self.files[f"doi.org/{doi}"] = f"-> https://zenodo.org/records/{number}".encode()
        self.files[f"zenodo.org/records/{number}"] = b"<html>"

    def environment(self, home):
        """The variables of a process that uses these servers, with caches in a folder."""
        own = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("HF_", "HUGGING"))
        }
        own |= {
            "HF_ENDPOINT": f"http://127.0.0.1:{self.port}",
            "HF_HOME": str(home / "hf"),
            "PYTHONPATH": str(ROOT),
        }
        own |= {
            "MUSIC_EVALS_CACHE": str(home / "cache"),
            "INSPECT_CACHE_DIR": str(home / "inspect"),
        }
        return own | {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "NO_COLOR": "1", "COLUMNS": "200"}

    def run(self, home, *command):
        """Run ``music-evals`` or ``inspect`` with all addresses rerouted to these servers."""
        arguments = [
            sys.executable,
            str(ROOT / "tests" / "rerouted.py"),
            str(self.port),
            *map(str, command),
        ]
        return subprocess.run(
            arguments, capture_output=True, text=True, env=self.environment(home), cwd=ROOT
        )


class Handler(BaseHTTPRequestHandler):
    """Answers for the Hub (``/api``, ``/datasets``) and for all other hosts (``/HOST/PATH``)."""

    protocol_version = "HTTP/1.1"
    servers: Servers

    def log_message(self, *_):
        pass

    def do_GET(self):
        path = unquote(urlsplit(self.path).path).strip("/")
        if path.startswith(("api/datasets/", "datasets/")):
            self.answer_as_hub(path)
        else:
            self.answer_file(path)

    do_HEAD = do_GET  # noqa: N815

    def send(self, body, status=200, cut=None, **headers):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        sent = body if self.command != "HEAD" else b""
        sent = sent if cut is None else sent[:cut]
        self.servers.asked.append((self.path, len(sent)))
        self.wfile.write(sent)
        if cut is not None:
            self.close_connection = True

    def send_part(self, content, path, **headers):
        """Send a file, or what the range of the request says."""
        start = int(
            (self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").partition("-")[0]
        )
        if start >= len(content) > 0:
            return self.send(b"", 416)
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        cut = self.servers.cut.pop(path, None) if self.command == "GET" else None
        return self.send(
            content[start:], 206 if start else 200, cut, Accept_Ranges="bytes", **headers
        )

    def answer_file(self, path):
        content = self.servers.files.get(path)
        if content is None:
            self.send(b"", 404)
        elif content.startswith(b"-> "):
            self.send(b"", 302, Location=content[3:].decode())
        else:
            self.send_part(content, path)

    def answer_as_hub(self, path):
        rest = path.partition("datasets/")[2]
        owner, name, *parts = rest.split("/", 4)
        repository = f"{owner}/{name}"
        commits = self.servers.repositories.get(repository)
        if repository in self.servers.gated:
            return self.send(
                b"{}", 403, X_Error_Code="GatedRepo", X_Error_Message="Access is restricted"
            )
        if not commits:
            return self.send(b"{}", 404, X_Error_Code="RepoNotFound")
        action, revision, *inner = [*parts, "", ""]
        commit = list(commits)[-1] if revision in ("main", "") else revision
        files = commits.get(commit)
        if files is None:
            return self.send(b"{}", 404, X_Error_Code="RevisionNotFound")
        inside = "/".join(part for part in inner if part)
        if action == "resolve" and inside in files:
            content = files[inside]
            headers = {"X_Repo_Commit": commit, "ETag": f'"{_etag(inside, content)}"'}
            return self.send_part(content, f"{repository}/{inside}", **headers)
        if action == "tree":
            return self.send_json([_entry(path, content) for path, content in files.items()])
        if action in ("revision", ""):
            siblings = [{"rfilename": path} for path in files]
            return self.send_json(
                {
                    "id": repository,
                    "sha": commit,
                    "private": False,
                    "siblings": siblings,
                    "tags": [],
                }
            )
        return self.send(b"{}", 404, X_Error_Code="EntryNotFound")

    def send_json(self, value):
        self.send(json.dumps(value).encode(), Content_Type="application/json")


def _etag(path, content):
    return hashlib.sha256(content).hexdigest() if path.endswith(_LARGE) else git_hash(content)


def _entry(path, content):
    entry = {
        "type": "file",
        "path": path,
        "size": len(content),
        "oid": git_hash(content),
    }
    if path.endswith(_LARGE):
        entry["lfs"] = {"oid": _etag(path, content), "size": len(content), "pointerSize": 130}
    return entry


@contextmanager
def serve():
    """Serve, for the time of the block."""
    servers = Servers()
    handler = type("PublishedHandler", (Handler,), {"servers": servers})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        servers.port = server.server_port
        threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        ).start()
        yield servers
        server.shutdown()


def tar(files):
    """Pack files as tar.gz."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def folder_files(folder):
    """Path → content of the files in a folder."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@contextmanager
def rerouted(servers, home):
    """Have this process ask the servers, with empty caches, and facts without the checksums of the
    true files.
    """
    facts = Path(shutil.copytree(benchmarks._FOLDER, home / "benchmarks"))  # type: ignore[call-overload]
    for path in facts.glob("*/benchmark.toml"):
        path.write_text(
            re.sub(r"^checksum = .*\n", "", path.read_text("utf-8"), flags=re.M), "utf-8"
        )
    address = f"http://127.0.0.1:{servers.port}"
    send, stream = requests.adapters.HTTPAdapter.send, httpx.stream

    def moved(url):
        return url if url.startswith(address) else f"{address}/{url.partition('://')[2]}"

    def send_moved(self, request, **options):
        url = request.url
        request.url = moved(url)
        response = send(self, request, **options)
        response.url = url
        return response

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(benchmarks, "_FOLDER", facts)
        patch.setattr(requests.adapters.HTTPAdapter, "send", send_moved)
        patch.setattr(
            httpx, "stream", lambda method, url, **options: stream(method, moved(url), **options)
        )
        for name, value in (
            ("ENDPOINT", address),
            ("HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}"),
            ("HF_HUB_CACHE", str(home / "hub")),
        ):
            patch.setattr(f"huggingface_hub.constants.{name}", value)
        patch.setenv("MUSIC_EVALS_CACHE", str(home / "cache"))
        benchmarks.load.cache_clear()
        benchmarks.names.cache_clear()
        yield patch
    benchmarks.load.cache_clear()
    benchmarks.names.cache_clear()
