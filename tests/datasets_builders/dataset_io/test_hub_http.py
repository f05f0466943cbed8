"""Over HTTP with the unmodified client: publish, load with `datasets` and with our loader."""

import hashlib
import json
from base64 import b64decode
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, unquote, urlsplit

from huggingface_hub.utils.sha import git_hash

NAME = "ORG/musictheorybench"


class HubServer(BaseHTTPRequestHandler):
    """A Hub of one repository, which takes all files as regular ones."""

    protocol_version = "HTTP/1.1"
    commits: dict[str, dict[str, bytes]]  # the last is the head of main

    def log_message(self, *_):
        pass

    def send(self, body, status=200, **headers):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def send_json(self, value):
        self.send(json.dumps(value).encode(), Content_Type="application/json")

    def head(self):
        return next(reversed(self.commits))

    def push(self, files):
        oid = hashlib.sha1(repr(sorted(files.items())).encode()).hexdigest()
        self.commits[oid] = files
        return oid

    def entry(self, path, content):
        return {"type": "file", "path": path, "size": len(content), "oid": git_hash(content)}

    def tree(self, commit, above, is_flat):
        entries = {}
        for name in [name for name in commit if name.startswith(above)]:
            child, deeper, _ = name.removeprefix(above).partition("/")
            entries[child if is_flat else name] = self.entry(name, commit[name])
            if deeper and is_flat:
                entries[child] = {
                    "type": "directory",
                    "path": above + child,
                    "oid": "0" * 40,
                    "size": 0,
                }
        return list(entries.values())

    def handle_any(self):
        url = unquote(urlsplit(self.path).path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        address = f"http://{self.headers['Host']}/datasets/{NAME}"
        if url == "/api/repos/create":
            self.push({})
            return self.send_json({"url": address})
        if url == "/api/validate-yaml":
            return self.send_json({"errors": [], "warnings": []})
        if not self.commits or f"/datasets/{NAME}" not in url:
            return self.send(b"{}", 404, X_Error_Code="RepoNotFound")
        parts = url.partition(f"/datasets/{NAME}")[2].strip("/").split("/", 2)
        action, revision, path = [*parts, "", ""][:3]
        commit = self.commits.get(revision) or self.commits[self.head()]
        match action:
            case "" | "revision":
                siblings = [{"rfilename": name} for name in commit]
                self.send_json(
                    {
                        "id": NAME,
                        "sha": self.head(),
                        "private": False,
                        "siblings": siblings,
                        "tags": [],
                    }
                )
            case "refs":
                main = {"name": "main", "ref": "refs/heads/main", "targetCommit": self.head()}
                self.send_json({"branches": [main], "tags": [], "converts": []})
            case "tree":
                self.send_json(
                    self.tree(
                        commit, f"{path}/" if path else "", "recursive=false" in self.path.lower()
                    )
                )
            case "paths-info":
                names = (
                    json.loads(body)["paths"]
                    if body.startswith(b"{")
                    else parse_qs(body.decode())["paths"]
                )
                self.send_json([self.entry(name, commit[name]) for name in names if name in commit])
            case "preupload":
                mode = {"uploadMode": "regular", "shouldIgnore": False}
                self.send_json(
                    {
                        "files": [
                            {"path": file["path"], **mode} for file in json.loads(body)["files"]
                        ]
                    }
                )
            case "commit":
                changes = [json.loads(line) for line in body.splitlines()]
                files = [change["value"] for change in changes if change["key"] == "file"]
                oid = self.push(
                    {**commit, **{file["path"]: b64decode(file["content"]) for file in files}}
                )
                self.send_json({"commitUrl": f"{address}/commit/{oid}", "commitOid": oid})
            case "resolve" if path in commit:
                content = commit[path]
                self.send(
                    content,
                    X_Repo_Commit=revision,
                    ETag=f'"{git_hash(content)}"',
                    Accept_Ranges="bytes",
                )
            case _:
                self.send(b"{}", 404, X_Error_Code="EntryNotFound")

        return None

    do_GET = do_HEAD = do_POST = handle_any  # noqa: N815
