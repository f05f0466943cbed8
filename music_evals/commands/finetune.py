"""`music-evals finetune`: train a LoRA adapter on the output of `music-evals finetune-data`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from music_evals.commands.output import failed, say


def finetune(
    config: Annotated[Path, typer.Option(help="TOML file; finetuning/config.example.toml has every key.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier adapter.")] = False,
) -> None:
    """Train a LoRA adapter; needs the extra `finetune`."""
    # Here, so that `music-evals --help` need not wait for it.
    from music_evals.datasets_builders.dataset_io import DatasetError
    from music_evals.finetuning.lora import ADAPTER, FinetuneError, read_settings, train

    console = Console()
    try:
        settings = read_settings(config)
        trained = train(settings, overwrite=overwrite)
    except (FinetuneError, DatasetError, OSError) as error:
        raise failed(error) from error
    for split, ids in trained.left_out.items():
        if ids:
            reason = f"longer than {trained.max_tokens} tokens"
            say(console, f"Left out of {split}, {reason}: {len(ids)}, named in {ADAPTER.marker}")
    losses = " ".join(f"{loss:.4g}" for loss in trained.eval_loss) or "not measured"
    steps = f"{trained.steps} steps; loss {trained.first_loss:.4g} to {trained.last_loss:.4g}"
    say(console, f"{steps}; on the validation split {losses}", f"Wrote {settings.out}")
