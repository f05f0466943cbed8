"""`music-evals merge`: one log from the logs of the parts of a run."""

from itertools import chain
from typing import Annotated

from typer import Argument, Option

from music_evals.commands.output import errors_in_a_line, say


def merge(
    logs: Annotated[
        list[str], Argument(help="Logs of parts of one run (.eval), or folders of them.")
    ],
    out: Annotated[str, Option(help="Path or address of the log to write, ending in .eval.")],
) -> None:
    """Merge the logs of the parts of a run, such as `inspect eval` with --limit 1-500 and with
    --limit 501-1000, or a run and its retry.

    Failed runs contribute their samples that ended without an error. Logs are refused if they
    differ in model, settings, version or data, if a sample is in two of them, or if a sample is in
    none.
    """
    # Here, so that `music-evals --help` need not wait for Inspect.
    import fsspec

    from music_evals.shards import merging

    with errors_in_a_line():
        if not out.endswith(".eval"):
            raise merging.MergeError(f"--out {out} is no name of a log; it has to end in .eval")
        files, path = fsspec.core.url_to_fs(out)
        if files.exists(path):
            raise merging.MergeError(f"{out} exists; give another name")
        parts_by_place = {place: merging.read_parts(place) for place in logs}
        if missing := [place for place, parts in parts_by_place.items() if not parts]:
            raise merging.MergeError(f"no log of Inspect (.eval) is at {', '.join(missing)}")
        parts = [*chain(*parts_by_place.values())]
        merging.check_together(parts)
        first = {}  # number of the first sample of each part
        for part in parts:
            if not part.header.eval.dataset.sample_ids:
                raise merging.MergeError(f"{part.location} does not list the ids of its samples")
            limit = part.header.eval.config.limit
            first[part.location] = limit[0] if isinstance(limit, tuple) else 0
        parts.sort(key=lambda part: first[part.location])
        datasets = [part.header.eval.dataset for part in parts]
        ids = chain.from_iterable(dataset.sample_ids or [] for dataset in datasets)
        header = merging.merge(
            parts,
            merging.choose(parts),
            out,
            ids=list(dict.fromkeys(ids)),
            samples=datasets[0].samples or 0,
        )
    dataset = header.eval.dataset
    say(
        f"Wrote {out}: {len(dataset.sample_ids or [])} of {dataset.samples} samples, from "
        f"{len(parts)} logs"
    )
