"""`music-evals build train`: rows for training, apart from test rows by work and by content; or
conversations of a dataset's own training split.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, BadParameter, Option

from music_evals.commands.output import (
    Out,
    Overwrite,
    building,
    errors_in_a_line,
    say,
    say_counts,
)

if TYPE_CHECKING:
    from music_evals.datasets_builders.training.conversations import MakePrompt, Message

_COLUMNS = {"abc": ["abc"], "pages": ["images"], "both": ["abc", "images"]}


def train(
    name: Annotated[
        str,
        Argument(help="A dataset whose default data is composed, such as musictheorybench."),
    ],
    out: Out,
    rows: Annotated[
        int | None, Option(help="Rows of all tasks together, spread evenly.", min=1)
    ] = None,
    seed: Annotated[
        int, Option(help="Any number; a test set of the same seed has other rows.")
    ] = 1,
    task: Annotated[
        list[str] | None, Option(help="Only this task (config); may be repeated.")
    ] = None,
    against: Annotated[
        list[str] | None,
        Option(
            help="A further test set: a dataset folder or hf://datasets/ORG/NAME; may be repeated."
        ),
    ] = None,
    audio: Annotated[
        bool, Option("--audio", help="Render clips; without it rows have MIDI alone.")
    ] = False,
    form: Annotated[
        Literal["rows", "conversations"],
        Option(
            "--as",
            help=(
                "Composed rows, or (msu) train.jsonl and validation.jsonl of a dataset, for TRL and"
                " LLaMA-Factory."
            ),
        ),
    ] = "rows",
    dataset: Annotated[
        str | None,
        Option(
            help="Of conversations: 'generated' (default), 'published', a folder, or "
            "hf://datasets/ORG/NAME[@REVISION]."
        ),
    ] = None,
    modality: Annotated[
        Literal["abc", "pages", "both"] | None,
        Option(help="Of conversations: ABC (default), page images, or both."),
    ] = None,
    max_characters: Annotated[
        int | None,
        Option(min=1, help="Leave longer conversations out, counted and named."),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Build a training set: by the composers of the test sets, with no row that a test set has; or
    conversations of a dataset's own training split.
    """
    of_rows = {"rows": rows, "task": task, "against": against, "audio": audio}
    if form == "conversations":
        _refuse("rows", of_rows)
        if name != "msu":
            raise BadParameter(f"{name} has no conversations; accepted: msu", param_hint="--as")
        columns = _COLUMNS[modality or "abc"]
        _write_conversations(out, dataset or "generated", columns, max_characters, overwrite)
        return
    _refuse(
        "conversations",
        {"dataset": dataset, "modality": modality, "max-characters": max_characters},
    )
    if rows is None:
        raise BadParameter("how many rows are needed, such as 2000", param_hint="--rows")
    # Here, so that `music-evals --help` need not wait for them.
    from music_evals.datasets_builders.dataset_io import benchmark_of
    from music_evals.datasets_builders.training.sets import build_training_set
    from music_evals.evals.registry import dataset_module
    from music_evals.evals.shared.training_prompts import training_prompts

    with building(out, overwrite=overwrite) as console:
        tests = {
            dataset: dataset_module(benchmark_of(dataset)).BENCHMARK for dataset in against or ()
        }
        with console.status("composing"):
            provenance = build_training_set(
                name,
                out,
                rows=rows,
                seed=seed,
                tasks=task or (),
                against=tests,
                audio=audio,
                overwrite=overwrite,
                prompts=partial(training_prompts, name),
            )
        say_counts(provenance.counts)
        for test, numbers in (
            provenance.decontamination.tests.items() if provenance.decontamination else ()
        ):
            say(f"{numbers['dropped']} rows dropped for {test}")


def _refuse(form: str, options: Mapping[str, Any]) -> None:
    """Refuse options of another form that are given."""
    if given := [name for name, value in options.items() if value]:
        raise BadParameter(f"it is for --as {form}", param_hint=f"--{given[0]}")


def _write_conversations(
    out: Path,
    dataset: str,
    columns: Sequence[str],
    max_characters: int | None,
    overwrite: bool,
) -> None:
    from music_evals.datasets_builders.training.conversations import write_conversations

    with errors_in_a_line():
        prompt = _conversation_prompt(columns)
        record = write_conversations(
            dataset, out, prompt, columns, max_characters, overwrite=overwrite
        )
    for split, count in record["conversations"].items():
        questions = record["questions_left_out"][split]
        say(f"{split}: {count} conversations; {questions} questions left out")
        left_out = record["scores_left_out"][split].items()
        say(*(f"Left out of {split}: {score} ({reason})" for score, reason in left_out))
    say(f"Wrote {out}")


def _conversation_prompt(columns: Sequence[str]) -> "MakePrompt":
    """Return what words a question as `textual` and `visual` do when they ask one at a time."""
    from music_evals.benchmarks.prompts import load_prompts
    from music_evals.datasets_builders.training.conversations import IMAGE
    from music_evals.evals.msu import Prompt, prompt_messages
    from music_evals.notation.scores.renderings import as_it_stands

    wording = load_prompts("msu")
    prompt = Prompt(wording, "textual", "abc")
    if "images" in columns:
        prompt = Prompt(wording, "visual", "pages")

    def make(score: Any, question: Any) -> "list[Message]":
        pages = [page["bytes"] for page in score.get("images", ())]
        shown = as_it_stands(text=score["abc"] if "abc" in columns else "", files=pages)
        messages = []
        for message in prompt_messages(score, [question], prompt, shown):
            # Chat templates join the parts of a message as they are.
            content = message.content
            parts = [message] if isinstance(content, str) else content
            text = "".join(getattr(part, "text", IMAGE) for part in parts)
            messages.append({"role": message.role, "content": text})
        return messages

    return make
