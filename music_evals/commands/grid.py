"""`music-evals grid`: every condition of a benchmark as one Inspect eval set."""

import json
import re
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

Display = Literal["full", "conversation", "rich", "plain", "log", "none"]

app = typer.Typer(help="Run every condition of a benchmark on a model, resumably, and show the paper's table.")
console = Console()


@app.callback()
def grid() -> None:
    """Run every condition of a benchmark on a model, resumably, and show the paper's table."""


@app.command()
def muse(
    model: Annotated[str, typer.Option(help="The model, as Inspect names it, e.g. vllm/Qwen/Qwen2.5-7B-Instruct.")],
    log_dir: Annotated[
        Path | None, typer.Option(help="Folder of the logs; the same folder resumes. Default logs/muse-MODEL.")
    ] = None,
    dataset: Annotated[str, typer.Option(help="generated, a folder, or hf://datasets/ORG/NAME[@REV].")] = "generated",
    modality: Annotated[list[str] | None, typer.Option(help="Only this modality: midi or audio.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the order of the trials.")] = 0,
    prompts: Annotated[Path | None, typer.Option(help="TOML file with other wording.")] = None,
    structured_output: Annotated[
        bool, typer.Option("--structured-output", help="Constrain LogicLM's lines to their schema (vLLM).")
    ] = False,
    model_arg: Annotated[
        list[str] | None, typer.Option("-M", help="Argument for the model's provider, as name=value.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Only the first trials of each cell.", min=1)] = None,
    max_connections: Annotated[int | None, typer.Option(help="Requests under way at once.", min=1)] = None,
    max_tasks: Annotated[int, typer.Option(help="Cells under way at once.", min=1)] = 4,
    display: Annotated[Display, typer.Option(help="How Inspect shows progress.")] = "rich",
) -> None:
    """Run MUSE's 36 cells: 3 tasks x 2 modalities x 3 strategies x zero- and few-shot."""
    # Imported here: Inspect takes over a second to load, which `music-evals --help` should not wait for.
    from inspect_ai import eval_set
    from inspect_ai._util.error import PrerequisiteError
    from inspect_ai.log import list_eval_logs, read_eval_log
    from inspect_ai.model import get_model

    from music_evals.evals import muse as tasks
    from music_evals.reports.muse import CELLS, MODALITIES, read_results, table1
    from music_evals.solvers.logiclm import check_constrained_decoding

    unknown = sorted(set(modality or []) - set(MODALITIES))
    if unknown:
        raise typer.BadParameter(
            f"{unknown[0]!r} is not valid; valid values are: {', '.join(MODALITIES)}", param_hint="--modality"
        )
    cells = [cell for cell in CELLS if cell.modality in (modality or MODALITIES)]
    logs = log_dir or Path("logs") / f"muse-{re.sub(r'[^A-Za-z0-9.-]+', '-', model)}"
    try:
        subject = get_model(model, **dict(_argument(text) for text in model_arg or []))
        if structured_output:
            check_constrained_decoding(subject)
        conditions, left_out = [], {}
        for cell in cells:
            try:
                conditions.append(
                    getattr(tasks, cell.task)(
                        dataset=dataset,
                        modality=cell.modality,
                        strategy=cell.strategy,
                        shots=cell.shots,
                        seed=seed,
                        prompts=str(prompts) if prompts else None,
                        structured_output=structured_output and cell.strategy == "logiclm",
                    )
                )
            except PrerequisiteError as error:
                # Recordings have no MIDI, and a partial copy of them has no examples for some of the tasks.
                left_out[cell] = str(error.message)
        for reason in dict.fromkeys(left_out.values()):
            names = [" ".join(cell) for cell, other in left_out.items() if other == reason]
            console.print(
                f"[yellow]Left out, {len(names)} of {len(cells)} cells[/yellow] ({', '.join(names)}): {reason}"
            )
        if not conditions:
            raise typer.Exit(1)
        success, _ = eval_set(
            conditions,
            log_dir=str(logs),
            model=subject,
            limit=limit,
            max_connections=max_connections,
            max_tasks=max_tasks,
            display=display,
            retry_attempts=0,
            retry_immediate=False,
            score_display=False,
        )
    except (PrerequisiteError, ValueError) as error:
        console.print(f"[red]{getattr(error, 'message', error)}[/red]")
        raise typer.Exit(1) from None
    results = read_results(read_eval_log(log, header_only=True) for log in list_eval_logs(str(logs)))
    console.print(table1(results, model))
    console.print(f"Logs: {logs} (open them with: inspect view --log-dir {logs})")
    if not success:
        console.print("[red]Not every cell ended in success; the same command takes up where it stopped.[/red]")
        raise typer.Exit(1)


def _argument(text: str) -> tuple[str, Any]:
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise typer.BadParameter(f"{text!r} is not valid; name=value is needed", param_hint="-M")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value
