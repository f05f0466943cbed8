"""`music-evals merge`: logs of parts of one run put together into one log."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from music_evals.commands.output import failed, say

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog


def merge(
    logs: Annotated[list[str], typer.Argument(help="Logs of parts of one run (.eval), or folders of them.")],
    out: Annotated[str, typer.Option(help="Path or address of the log to write, ending in .eval.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a log that is there already.")] = False,
) -> None:
    """Put logs of parts of one run together, such as of --limit 1-500 and --limit 501-1000, or of a run and its retry.

    Samples of runs that did not end in success are taken if they ended without an error. What is not of one run is
    refused: another model, setting, version or data, a sample in two logs, or one in none.
    """
    # Here, so that `music-evals --help` need not wait for Inspect.
    import fsspec

    from music_evals.shards import merging

    try:
        if not out.endswith(".eval"):
            raise merging.MergeError(f"--out {out} is no name of a log; it has to end in .eval")
        files, path = fsspec.core.url_to_fs(out)
        if files.exists(path) and not overwrite:
            raise merging.MergeError(f"{out} exists; --overwrite replaces it")
        found = {place: merging.read_parts(place) for place in logs}
        if missing := [place for place in found if not found[place]]:
            raise merging.MergeError(f"no log of Inspect (.eval) is at {', '.join(missing)}")
        parts = [part for place in found.values() for part in place]
        merging.check_together(parts)
        parts.sort(key=lambda part: _begin(part.header))
        header = merging.merge(
            parts,
            merging.choose(parts),
            out,
            ids=list(dict.fromkeys(each for part in parts for each in part.header.eval.dataset.sample_ids or [])),
            samples=parts[0].header.eval.dataset.samples or 0,
        )
    except (merging.MergeError, OSError) as error:
        raise failed(error) from error
    asked, whole = len(header.eval.dataset.sample_ids or []), header.eval.dataset.samples
    say(Console(), f"Wrote {out}: {asked} of {whole} samples, from {len(parts)} logs")


def _begin(log: "EvalLog") -> int:
    """The number of the first sample that a part was to ask."""
    limit = log.eval.config.limit
    return limit[0] if isinstance(limit, tuple) else 0
