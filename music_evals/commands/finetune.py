"""`music-evals finetune`: a LoRA adapter trained on what `music-evals finetune-data` wrote."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from music_evals.commands.output import failed, say


def finetune(
    config: Annotated[Path, typer.Option(help="TOML file; finetuning/paper.toml describes the keys.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an adapter that is there.")] = False,
) -> None:
    """Train a LoRA adapter; needs the extra `finetune`."""
    # Here, so that `music-evals --help` need not wait for it.
    from music_evals.datasets_builders.dataset_io import DatasetError
    from music_evals.finetuning.lora import ADAPTER, FinetuneError, read_settings, train

    console = Console()
    try:
        settings = read_settings(config)
        record = train(settings, overwrite=overwrite)
    except (FinetuneError, DatasetError, OSError) as error:
        raise failed(error) from error
    for split, left_out in record["left_out"].items():
        if count := len(left_out):
            longer = f"longer than {record['max_tokens']} tokens"
            say(console, f"Left out of {split}, {longer}: {count}, named in {ADAPTER.marker}")
    losses = " ".join(f"{loss:.4g}" for loss in record["eval_loss"]) or "not measured"
    steps = f"{record['steps']} steps; loss {record['first_loss']:.4g} to {record['last_loss']:.4g}"
    say(console, f"{steps}; on the validation split {losses}", f"Wrote {settings.out}")
