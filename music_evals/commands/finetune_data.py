"""`music-evals finetune-data`: training conversations from a benchmark."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from rich.console import Console
from typer import Argument, BadParameter, Option

from music_evals.commands.output import Overwrite, errors_in_a_line, say, table

if TYPE_CHECKING:
    from music_evals.datasets_builders.training.conversations import MakePrompt, Message

BENCHMARKS = ("msu",)


def finetune_data(
    benchmark: Annotated[str, Argument(help=f"Which benchmark: {', '.join(BENCHMARKS)}.")],
    out: Annotated[Path, Option(help="Folder to write; must be absent or empty.")],
    dataset: Annotated[
        str,
        Option(
            help="Its dataset: 'generated', 'published', a folder, or hf://datasets/ORG/NAME[@REVISION]."
        ),
    ] = "generated",
    modality: Annotated[
        Literal["abc", "pages", "both"],
        Option(help="What is shown of a score: ABC, page images, or both."),
    ] = "abc",
    max_characters: Annotated[
        int | None, Option(min=1, help="Leave longer conversations out, counted and named.")
    ] = None,
    prompts: Annotated[
        str | None,
        Option(help="A TOML file with other wording, as for the tasks' parameter of that name."),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Write train.jsonl and validation.jsonl, for TRL and LLaMA-Factory; pages for the last."""
    if benchmark not in BENCHMARKS:
        raise BadParameter(f"{benchmark} has no training data; accepted: {', '.join(BENCHMARKS)}")
    # Here, so that `music-evals --help` need not wait for them.
    from music_evals.datasets_builders.dataset_io import check_target
    from music_evals.datasets_builders.msu.dataset import BENCHMARK
    from music_evals.datasets_builders.training.conversations import (
        TRAINING_DATA,
        make_training_data,
        write_training_data,
    )

    console = Console()
    columns = {"abc": ["abc"], "pages": ["images"], "both": ["abc", "images"]}[modality]
    with errors_in_a_line():
        check_target(out, TRAINING_DATA, overwrite=overwrite)
        with console.status("reading"):
            data = make_training_data(
                dataset,
                benchmark=BENCHMARK,
                make_prompt=_prompt(prompts, columns),
                columns=columns,
                max_characters=max_characters,
            )
        write_training_data(data, out, overwrite=overwrite)
    shown = table("split", "conversations", "left out", "scores left out")
    for split, conversations in data.conversations.items():
        row = (len(conversations), data.questions_left_out.get(split, 0), len(data.left_out[split]))
        shown.add_row(split, *map(str, row))
    console.print(shown)
    for split, left_out in data.left_out.items():
        say(*(f"Left out of {split}: {score} ({reason})" for score, reason in left_out.items()))
    say(f"Wrote {out}")


def _prompt(prompts: str | None, columns: Sequence[str]) -> "MakePrompt":
    """Return what words a question as `textual` and `visual` do when they ask one at a time."""
    from music_evals.benchmarks.prompts import load_prompts
    from music_evals.datasets_builders.training.conversations import IMAGE
    from music_evals.evals.msu import Prompt, prompt_messages
    from music_evals.notation.scores.renderings import as_it_stands

    wording = load_prompts("msu", prompts)
    prompt = Prompt(wording, "textual", "abc")
    if "images" in columns:
        prompt = Prompt(wording, "visual", "pages")

    def make(score: Any, question: Any) -> "list[Message]":
        pages = [page["bytes"] for page in score.get("images", ())]
        shown = as_it_stands(text=score["abc"] if "abc" in columns else "", files=pages)
        messages = []
        for message in prompt_messages(score, [question], prompt, shown):
            # Chat templates join the parts of a message as they are.
            content: Any = message.content
            parts = [message] if isinstance(content, str) else content
            text = "".join(getattr(part, "text", IMAGE) for part in parts)
            messages.append({"role": message.role, "content": text})
        return messages

    return make
