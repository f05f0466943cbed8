"""A Hugging Face Hub for tests: the HTTP protocol that `huggingface_hub` and `datasets` speak, on 127.0.0.1.

Datasets only. State is held in memory and open to the tests, and so are faults: connections lost in the middle of an
upload or a download, a Hub without room, a push by somebody else just ahead of a commit.
"""

import hashlib
import json
import threading
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

WRITE = "hf_writeWRITEwriteWRITEwriteWRITE0"
READ = "hf_readREADreadREADreadREADread000"
ATTRIBUTES = b"*.parquet filter=lfs diff=lfs merge=lfs -text\n"


@dataclass(frozen=True)
class Blob:
    data: bytes
    large: bool = False

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @property
    def pointer(self) -> bytes:
        """What git holds of a large file."""
        return b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n" % (
            self.sha256.encode(),
            len(self.data),
        )

    @property
    def oid(self) -> str:
        content = self.pointer if self.large else self.data
        return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()

    @property
    def entry(self) -> dict[str, Any]:
        found: dict[str, Any] = {"type": "file", "size": len(self.data), "oid": self.oid}
        if self.large:
            found["lfs"] = {"oid": self.sha256, "size": len(self.data), "pointerSize": len(self.pointer)}
        return found


Tree = dict[str, Blob]


@dataclass
class Repo:
    private: bool = False
    commits: dict[str, Tree] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)

    def commit(self, tree: Tree, message: str, branch: str = "main") -> str:
        seed = json.dumps([len(self.commits), message, {path: blob.oid for path, blob in tree.items()}])
        oid = hashlib.sha1(seed.encode()).hexdigest()
        self.commits[oid] = dict(tree)
        self.messages.append(message)
        self.branches[branch] = oid
        return oid

    def resolve(self, revision: str) -> str | None:
        oid = self.branches.get(revision) or self.tags.get(revision) or revision
        return oid if oid in self.commits else None

    @property
    def head(self) -> Tree:
        return self.commits[self.branches["main"]]


@dataclass
class Faults:
    """What is to go wrong; numbers count from 1, since the last `reset`."""

    lose_put: Callable[[int], bool] = lambda _: False
    lose_download: bool = False
    hold_put: int = 0
    held: threading.Event = field(default_factory=threading.Event)
    is_full: bool = False
    refusal: str = ""
    before_commit: Callable[[], None] = lambda: None


class Refusal(Exception):  # noqa: N818
    def __init__(self, status: int, message: str, code: str = "") -> None:
        super().__init__(message)
        self.status, self.message, self.code = status, message, code


class Hub:
    """The server; use it as a context manager."""

    def __init__(self) -> None:
        self.roles = {WRITE: "write", READ: "read"}
        self.lock = threading.RLock()
        self.reset()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def reset(self) -> None:
        """Forget everything."""
        self.repos: dict[str, Repo] = {}
        self.objects: dict[str, bytes] = {}
        self.faults = Faults()
        self.puts: list[str] = []
        self.requests: list[tuple[str, str]] = []
        self.leaks: list[str] = []

    def __enter__(self) -> "Hub":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def storage(self) -> str:
        """Address of the large files: another host, to which no token may be sent."""
        return f"http://localhost:{self._server.server_address[1]}"

    def add(self, name: str, files: dict[str, bytes], *, private: bool = False) -> Repo:
        """A repository that somebody else has made."""
        repo = self.repos[name] = Repo(private)
        repo.commit({path: Blob(data) for path, data in files.items()}, "made by somebody else")
        return repo

    def state(self) -> object:
        """All that a client can change."""
        with self.lock:
            shown = {name: (repo.private, dict(repo.branches), len(repo.commits)) for name, repo in self.repos.items()}
            return shown, sorted(self.objects)


def _handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 16

        def log_message(self, *_: object) -> None:
            pass

        def handle_any(self) -> None:
            url = urlsplit(self.path)
            self.query = parse_qs(url.query)
            hub.requests.append((self.command, url.path))
            self.body = b""
            if self.command == "PUT":
                self.put(url.path.rpartition("/")[2])
                return
            self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            try:
                with hub.lock:
                    self.answer([unquote(part) for part in url.path.strip("/").split("/")])
            except Refusal as refusal:
                headers = {"X-Error-Message": refusal.message}
                if refusal.code:
                    headers["X-Error-Code"] = refusal.code
                self.send(json.dumps({"error": refusal.message}).encode(), refusal.status, headers)

        do_GET = do_HEAD = do_POST = do_PUT = handle_any  # noqa: N815

        def send(self, body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def send_json(self, value: object, status: int = 200) -> None:
            self.send(json.dumps(value).encode(), status, {"Content-Type": "application/json"})

        def lose(self) -> None:
            self.close_connection = True
            self.connection.close()

        # --- who is asking ---

        def role(self) -> str | None:
            given = self.headers.get("Authorization")
            if given is None:
                return None
            role = hub.roles.get(given.removeprefix("Bearer "))
            if role is None:
                raise Refusal(401, "Invalid credentials in Authorization header")
            return role

        def repo(self, name: str, *, write: bool = False) -> Repo:
            role = self.role()
            found = hub.repos.get(name)
            if found is None or (found.private and role is None):
                if role is None:  # the Hub does not tell what is private
                    raise Refusal(401, "Invalid username or password.", "RepoNotFound")
                raise Refusal(404, "Repository not found", "RepoNotFound")
            if write and role != "write":
                raise Refusal(403, "You don't have the required permissions to write here")
            return found

        def commit_at(self, repo: Repo, revision: str) -> str:
            oid = repo.resolve(revision)
            if oid is None:
                raise Refusal(404, f"Invalid rev id: {revision}", "RevisionNotFound")
            return oid

        # --- what is asked ---

        def answer(self, parts: list[str]) -> None:
            match parts:
                case ["api", "whoami-v2"]:
                    role = self.role()
                    if role is None:
                        raise Refusal(401, "Invalid credentials in Authorization header")
                    about = {"accessToken": {"displayName": "test", "role": role}, "type": "access_token"}
                    self.send_json({"type": "user", "name": "ORG", "auth": about, "orgs": []})
                case ["api", "validate-yaml"]:
                    self.send_json({"errors": [], "warnings": []})
                case ["api", "repos", "create"]:
                    self.create(json.loads(self.body))
                case ["api", "datasets", org, name, *rest]:
                    self.api(f"{org}/{name}", rest)
                case ["datasets", org, name, "info", "lfs", "objects", "batch"]:
                    self.batch(f"{org}/{name.removesuffix('.git')}", json.loads(self.body))
                case ["datasets", org, name, "resolve", revision, *path]:
                    self.resolve(f"{org}/{name}", revision, "/".join(path))
                case ["storage", oid]:
                    self.download(oid)
                case _:
                    raise Refusal(404, "not here")

        def create(self, asked: dict[str, Any]) -> None:
            if self.role() != "write":
                raise Refusal(403, "You don't have the rights to create a dataset under the namespace")
            name = f"{asked['organization']}/{asked['name']}"
            if name in hub.repos:
                raise Refusal(409, "You already created this dataset repo")
            repo = hub.repos[name] = Repo(asked.get("visibility") == "private")
            repo.commit({".gitattributes": Blob(ATTRIBUTES)}, "initial commit")
            self.send_json({"url": f"{hub.endpoint}/datasets/{name}"})

        def api(self, name: str, rest: list[str]) -> None:
            match rest:
                case [] | ["revision", _]:
                    repo = self.repo(name)
                    oid = self.commit_at(repo, rest[1] if rest else "main")
                    files = [{"rfilename": path} for path in repo.commits[oid]]
                    self.send_json({"id": name, "sha": oid, "private": repo.private, "siblings": files, "tags": []})
                case ["refs"]:
                    repo = self.repo(name)
                    shown = {
                        kind: [{"name": ref, "ref": f"refs/{where}/{ref}", "targetCommit": at} for ref, at in all_of]
                        for kind, where, all_of in (
                            ("branches", "heads", repo.branches.items()),
                            ("tags", "tags", repo.tags.items()),
                        )
                    }
                    self.send_json({**shown, "converts": []})
                case ["branch", branch]:
                    repo = self.repo(name, write=True)
                    if branch in repo.branches:
                        raise Refusal(409, "Reference already exists")
                    start = json.loads(self.body or b"{}").get("startingPoint", "main")
                    repo.branches[branch] = self.commit_at(repo, start)
                    self.send_json({})
                case ["tree", revision, *path]:
                    self.tree(name, revision, "/".join(path))
                case ["paths-info", revision]:
                    repo = self.repo(name)
                    tree = repo.commits[self.commit_at(repo, revision)]
                    asked = json.loads(self.body) if self.body.startswith(b"{") else parse_qs(self.body.decode())
                    found = [{"path": path, **tree[path].entry} for path in asked["paths"] if path in tree]
                    found += [
                        {"type": "directory", "path": path, "oid": "0" * 40, "size": 0}
                        for path in asked["paths"]
                        if any(one.startswith(f"{path}/") for one in tree)
                    ]
                    self.send_json(found)
                case ["preupload", revision]:
                    if hub.faults.refusal:
                        raise Refusal(403, hub.faults.refusal)
                    repo = self.repo(name, write=True)
                    tree = repo.commits[self.commit_at(repo, revision)]
                    self.send_json(
                        {
                            "files": [
                                {
                                    "path": file["path"],
                                    "uploadMode": "lfs" if file["path"].endswith(".parquet") else "regular",
                                    "shouldIgnore": False,
                                    "oid": tree[file["path"]].oid if file["path"] in tree else None,
                                }
                                for file in json.loads(self.body)["files"]
                            ]
                        }
                    )
                case ["commit", revision]:
                    self.make_commit(name, revision)
                case _:
                    raise Refusal(404, "not here")

        def tree(self, name: str, revision: str, folder: str) -> None:
            """A page of two entries at a time, as the Hub pages those of large repositories."""
            repo = self.repo(name)
            tree = repo.commits[self.commit_at(repo, revision)]
            above = f"{folder}/" if folder else ""
            inside = {path: blob for path, blob in sorted(tree.items()) if path.startswith(above)}
            if folder and not inside:
                raise Refusal(404, f"{folder} does not exist", "EntryNotFound")
            entries = [{"path": path, **blob.entry} for path, blob in inside.items()]
            folders = {above + path.removeprefix(above).split("/")[0] for path in inside if "/" in path[len(above) :]}
            if self.query.get("recursive", ["false"])[0].lower() != "true":
                entries = [entry for entry in entries if "/" not in entry["path"][len(above) :]]
            entries += [{"type": "directory", "path": path, "oid": "0" * 40, "size": 0} for path in sorted(folders)]
            start = int(self.query.get("cursor", ["0"])[0])
            page, headers = entries[start : start + 2], {"Content-Type": "application/json"}
            if start + 2 < len(entries):
                recursive = self.query.get("recursive", ["false"])[0]
                path = quote(urlsplit(self.path).path, safe="/%")
                headers["Link"] = f'<{hub.endpoint}{path}?recursive={recursive}&cursor={start + 2}>; rel="next"'
            self.send(json.dumps(page).encode(), 200, headers)

        def batch(self, name: str, asked: dict[str, Any]) -> None:
            self.repo(name, write=True)
            objects = []
            for item in asked["objects"]:
                one = {"oid": item["oid"], "size": item["size"]}
                if item["oid"] not in hub.objects:
                    one["actions"] = {"upload": {"href": f"{hub.storage}/storage/{item['oid']}"}}
                objects.append(one)
            self.send_json({"transfer": "basic", "objects": objects})

        def put(self, oid: str) -> None:
            self.note_leak()
            with hub.lock:
                hub.puts.append(oid)
                number = len(hub.puts)
            length = int(self.headers["Content-Length"])
            if hub.faults.lose_put(number):
                self.rfile.read(length // 2)
                self.lose()
                return
            data = self.rfile.read(length)
            if hub.faults.hold_put == number:
                hub.faults.held.set()
                self.connection.recv(1)  # until the client is gone
                self.lose()
            elif hub.faults.is_full:
                self.send(b"No space left on device", 507, {"Content-Type": "text/plain"})
            elif hashlib.sha256(data).hexdigest() != oid:
                self.send(b"not the object that was announced", 400, {"Content-Type": "text/plain"})
            else:
                with hub.lock:
                    hub.objects[oid] = data
                self.send(b"")

        def make_commit(self, name: str, branch: str) -> None:
            repo = self.repo(name, write=True)
            hub.faults.before_commit()
            if branch not in repo.branches:
                raise Refusal(404, f"Invalid rev id: {branch}", "RevisionNotFound")
            lines = [json.loads(line) for line in self.body.splitlines()]
            header = lines[0]["value"]
            if header.get("parentCommit", repo.branches[branch]) != repo.branches[branch]:
                raise Refusal(412, "A commit has happened since. Please refresh and try again.")
            tree = dict(repo.commits[repo.branches[branch]])
            for line in lines[1:]:
                value = line["value"]
                match line["key"]:
                    case "file":
                        tree[value["path"]] = Blob(b64decode(value["content"]))
                    case "lfsFile":
                        if value["oid"] not in hub.objects:
                            raise Refusal(400, f"the object of {value['path']} was not uploaded")
                        tree[value["path"]] = Blob(hub.objects[value["oid"]], large=True)
                    case "deletedFile":
                        if value["path"] not in tree:
                            raise Refusal(404, "A file with this name doesn't exist", "EntryNotFound")
                        del tree[value["path"]]
                    case key:
                        raise Refusal(400, f"{key} is not known")
            oid = repo.commit(tree, header["summary"], branch)
            self.send_json({"commitUrl": f"{hub.endpoint}/datasets/{name}/commit/{oid}", "commitOid": oid})

        def resolve(self, name: str, revision: str, path: str) -> None:
            repo = self.repo(name)
            oid = self.commit_at(repo, revision)
            blob = repo.commits[oid].get(path)
            if blob is None:
                raise Refusal(404, "Entry not found", "EntryNotFound")
            headers = {"X-Repo-Commit": oid, "ETag": f'"{blob.oid}"', "Accept-Ranges": "bytes"}
            if blob.large:
                headers |= {
                    "Location": f"{hub.storage}/storage/{blob.sha256}",
                    "X-Linked-Etag": f'"{blob.sha256}"',
                    "X-Linked-Size": str(len(blob.data)),
                }
                self.send(b"", 302, headers)
            else:
                self.send_range(blob.data, headers)

        def download(self, oid: str) -> None:
            self.note_leak()
            data = hub.objects[oid]
            if hub.faults.lose_download:
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data[: len(data) // 2])
                self.wfile.flush()
                self.lose()
                return
            self.send_range(data, {"ETag": f'"{oid}"', "Accept-Ranges": "bytes"})

        def send_range(self, data: bytes, headers: dict[str, str]) -> None:
            asked = self.headers.get("Range")
            if asked is None:
                self.send(data, 200, headers)
                return
            first, _, last = asked.removeprefix("bytes=").partition("-")
            start, stop = int(first), min(int(last or len(data) - 1), len(data) - 1)
            shown = {**headers, "Content-Range": f"bytes {start}-{stop}/{len(data)}"}
            self.send(data[start : stop + 1], 206, shown)

        def note_leak(self) -> None:
            """The storage is another host: a token that comes there has left the Hub."""
            if "Authorization" in self.headers:
                hub.leaks.append(self.path)

    return Handler
