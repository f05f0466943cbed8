"""`music-evals build NAME --audit`: what guessers get without the music, and the stated floors."""

from collections.abc import Callable, Iterator
from functools import wraps
from inspect import Signature, signature
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich.console import Console
from typer import BadParameter, Exit, Option

from music_evals import benchmarks
from music_evals.commands.output import errors_in_a_line, say, table

if TYPE_CHECKING:
    from music_evals.datasets_builders.questions.audit import Share

_Out = Annotated[
    Path | None,
    Option(
        help="Folder to write; must be absent or empty. With --audit also a dataset to audit; "
        "default: the generated one."
    ),
]
_Audit = Annotated[
    bool,
    Option("--audit", help="Show what guessers without the music get; status 1 above a floor."),
]


def with_audit(dataset: str, build: Callable[..., None]) -> Callable[..., None]:
    """Return the command that builds a dataset, with the option `--audit`."""

    @wraps(build)
    def command(out: Path | None, audit: bool, **options: Any) -> None:
        if out is None and not audit:
            raise BadParameter("a folder to write is needed", param_hint="--out")
        if out is not None and not (audit and (out / "provenance.json").is_file()):
            build(out=out, **options)
        if audit:
            _audit(dataset, out)

    own = signature(build).parameters
    out = own["out"].replace(default=None, annotation=_Out)
    audit = out.replace(name="audit", default=False, annotation=_Audit)
    parameters = {**own, "out": out, "audit": audit}
    command.__signature__ = Signature([*parameters.values()])  # type: ignore[attr-defined]
    return command


def _audit(dataset: str, folder: Path | None) -> None:
    with errors_in_a_line(), Console().status("guessing"):
        audited = list(_audited(dataset, folder))
        if not audited:
            raise ValueError(f"{dataset} has no questions with options, or with answers in words")
    shown = table("task", "guesser", "score", "95% interval", "n", "floor", "above", text=2)
    above = 0
    for task, share, floor in audited:
        low, high = share.interval()
        is_above = share.is_above(floor)
        above += is_above
        interval = f"{low:.1%} to {high:.1%}"
        cells = (f"{share.value:.1%}", interval, str(share.n), f"{floor:.1%}")
        shown.add_row(task, share.guesser, *cells, "yes" if is_above else "")
    Console().print(shown)
    say(f"{above} of {len(audited)} figures are above the stated floor, at a confidence of 99.9%.")
    if above:
        raise Exit(1)


def _audited(dataset: str, folder: Path | None) -> "Iterator[tuple[str, Share, float]]":
    """Yield tasks, what a guesser gets of them, and their highest stated floor."""
    # Here, so that `music-evals --help` need not wait for them.
    from music_evals.datasets_builders.dataset_io import GENERATED, describe_dataset, load_split
    from music_evals.datasets_builders.questions import audit
    from music_evals.datasets_builders.questions.guessers import VIEWS
    from music_evals.evals.registry import dataset_module
    from music_evals.evals.shared.floors import floors_of

    spec, where = dataset_module(dataset).BENCHMARK, str(folder or GENERATED)
    tasks = benchmarks.load(benchmarks.dataset_facts(dataset).benchmark).tasks
    origin = describe_dataset(where, benchmark=spec)
    for config, splits in origin.provenance.counts.items():
        columns = [*filter(audit.is_read, spec.features[config])]
        for pool in audit.pools(splits):
            rows = {
                split: load_split(where, config, split, benchmark=spec, columns=columns).to_list()
                for split in pool
            }
            items = audit.items_of(dataset, config, chain.from_iterable(rows.values()))
            if not items:
                continue
            stated = floors_of(origin, config, rows).values()
            floor = max(audit.chances(items).mean(), *(kind["value"] for kind in stated), 0.0)
            given = tasks[config].gives_away if config in tasks else {}
            of_views = max(floor, given.get("midi", 0.0), given.get("text", 0.0))
            for share in audit.shares(items, audit.earnings(items)):
                is_view = share.guesser in VIEWS
                yield f"{config} {pool[-1]}", share, of_views if is_view else floor
