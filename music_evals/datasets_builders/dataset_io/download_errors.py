"""Errors of downloads, each as one line that says what to do."""

from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENOSPC
from urllib.request import getproxies

import httpx

from music_evals.datasets_builders.dataset_io.provenance import DatasetError


@contextmanager
def plain_http_errors(address: str) -> Iterator[None]:
    """Turn errors of a download into a DatasetError that begins with its address."""
    try:
        yield
    except httpx.HTTPStatusError as error:
        status = error.response.status_code
        gone = (
            "it is gone, or the address is wrong" if status in (404, 410) else "the server refused"
        )
        raise DatasetError(f"{address}: {gone} (status {status})") from error
    except httpx.HTTPError as error:
        raise DatasetError(f"{address}: {connection_problem(error)}") from error
    except OSError as error:
        advice = "free some space, or name another folder in MUSIC_EVALS_CACHE"
        raise DatasetError(f"{address}: {disk_problem(error)}; {advice}") from error


def disk_problem(error: OSError) -> str:
    """Say what to do about an error of the file system."""
    if error.errno == ENOSPC:
        return "the disk is full"
    return str(error)


def connection_problem(error: BaseException) -> str:
    """Say that a connection failed, why, and by which proxy."""
    proxies = sorted(
        {address for name, address in getproxies().items() if name in ("http", "https", "all")}
    )
    by_proxy = f" by the proxy {', '.join(map(_without_password, proxies))}" if proxies else ""
    reason = " ".join(str(error).split()) or type(error).__name__
    return (
        f"the connection{by_proxy} failed ({reason:.200}); run the command again, it goes on where "
        "it stopped"
    )


def _without_password(address: str) -> str:
    before, _, host = address.rpartition("@")
    return f"{before.partition('://')[0]}://{host}" if before else address
