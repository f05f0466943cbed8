"""Errors of the Hub's client, each as one message without the user's token."""

from collections.abc import Iterator
from contextlib import contextmanager

from huggingface_hub import get_token
from huggingface_hub.errors import (  # type: ignore[attr-defined]
    GatedRepoError,
    HfHubHTTPError,
    HTTPError,  # of httpx or httpx2, as the client's version has it
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from music_evals.datasets_builders.dataset_io.download_errors import (
    connection_problem,
    disk_problem,
)
from music_evals.datasets_builders.dataset_io.provenance import DatasetError

LOG_IN = "log in with `hf auth login`, or set HF_TOKEN"
_CHANGED = (
    "somebody else has changed the repository meanwhile; nothing was published, run the command "
    "again"
)
_ADVICE = {
    401: LOG_IN,
    403: f"with a token that may write there, {LOG_IN}",
    409: _CHANGED,
    412: _CHANGED,
}


@contextmanager
def plain_errors(place: str) -> Iterator[None]:
    """Turn errors of the client into a DatasetError that begins with `place`, such as the
    repository's name.
    """
    try:
        yield
    except DatasetError:
        raise
    except (HTTPError, OSError, RuntimeError, ValueError) as error:
        # A failed upload.
        cause = error.__cause__ if isinstance(error, RuntimeError) and error.__cause__ else error
        message, token = f"{place}: {_explain(cause)}", get_token()
        raise DatasetError(message.replace(token, "(the token)") if token else message) from None


def _explain(error: BaseException) -> str:
    match error:
        case GatedRepoError():
            return (
                f"the repository is gated; accept its terms on its page of the Hub, then {LOG_IN}"
            )
        case RepositoryNotFoundError():
            return (
                "the Hub has no such repository, or you have no access to it; if it is private, "
                f"{LOG_IN}"
            )
        case RevisionNotFoundError():
            return "the Hub has no such branch, tag or commit"
        case LocalEntryNotFoundError() | OfflineModeIsEnabled():
            return "it is not in the local cache and the Hub cannot be reached"
        case HfHubHTTPError():
            status = error.response.status_code
            reason = " ".join((error.server_message or f"status {status}").split())
            return f"the Hub refused ({reason}); {_ADVICE.get(status, 'try again later')}"
        case HTTPError():
            return connection_problem(error)
        case OSError():
            return disk_problem(error)
        case UnicodeEncodeError():
            return f"the token of the Hub has a character that no token has; {LOG_IN}"
        case _:
            return str(error)
