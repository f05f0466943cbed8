"""A command with all addresses but the Hub's rerouted to a server of this machine: ``rerouted.py
PORT COMMAND …``.

``https://HOST/PATH`` becomes ``http://127.0.0.1:PORT/HOST/PATH``. COMMAND is ``music-evals`` or
``inspect``. The variable BENCHMARKS names another folder of facts.
"""

import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import requests

PORT = sys.argv[1] if __name__ == "__main__" else ""


def rerouted(address):
    url = urlsplit(address)
    if url.hostname in ("127.0.0.1", "localhost"):
        return address
    query = f"?{url.query}" if url.query else ""
    return f"http://127.0.0.1:{PORT}/{url.netloc}{url.path}{query}"


send_by_requests = requests.adapters.HTTPAdapter.send
stream = httpx.stream


def send(self, request, **options):
    address = request.url
    request.url = rerouted(address)
    response = send_by_requests(self, request, **options)
    response.url = address
    return response


requests.adapters.HTTPAdapter.send = send  # type: ignore[method-assign]
httpx.stream = lambda method, address, **options: stream(method, rerouted(address), **options)  # type: ignore[assignment]

if __name__ == "__main__":
    if "BENCHMARKS" in os.environ:
        from music_evals import benchmarks

        benchmarks._FOLDER = Path(os.environ["BENCHMARKS"])  # type: ignore[misc]
    program, *arguments = sys.argv[2:]
    sys.argv = [program, *arguments]
    if program == "inspect":
        from inspect_ai._cli.main import main
    else:
        from music_evals.commands.main import main
    main()
