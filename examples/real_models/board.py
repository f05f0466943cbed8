"""A board of small real models: every task that takes text, asked on a server, and a table of it.

    pip install -e '.[scores,lilypond]'
    vllm serve HuggingFaceTB/SmolLM2-135M-Instruct --max-model-len 8192
    export VLLM_BASE_URL=http://127.0.0.1:8000/v1
    python examples/real_models/board.py run vllm/HuggingFaceTB/SmolLM2-135M-Instruct
    python examples/real_models/board.py table --logs logs/board > board.md

Run it again with another model and the same folder: the table gets a column per model, and what the
folder has is not asked again. A model without a chat template is `vllm-completions/NAME`; of its
questions with options, the likeliest option is the answer.
"""

from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import typer

import music_evals as me
from music_evals.reports.records import Records
from music_evals.reports.tables.common import best_floor

app = typer.Typer(add_completion=False)
BASE = "vllm-completions/"
MIDI = {"modality": "midi"}
COT = {**MIDI, "strategy": "cot"}
LOGICLM = {**MIDI, "strategy": "logiclm"}
LIKELIHOOD = {"answer": "likelihood"}
LOOPS_AND_MELODIES = ("muse_syncopation", "muse_transposition")
TEN_SHORT = tuple(
    f"muse_ten_{name}" for name in ("oddball", "contour", "instrument", "meter", "major_or_minor")
)
TEN_LONG = (
    "muse_ten_rhythm_matching",
    "muse_ten_key_modulation",
    "muse_ten_progression",
    "muse_ten_transposition_pairs",
    "muse_ten_syncopation_pairs",
)
WITH_OPTIONS = tuple(
    f"abc_eval_{name}"
    for name in (
        "metadata_qa",
        "next_bar_prediction",
        "metadata_prediction",
        "music_captioning",
        "composer_recognition",
        "genre_recognition",
        "emotion_recognition",
    )
)


class Row(NamedTuple):
    """Tasks that are asked in one way: the first `limit` questions of each."""

    title: str
    names: tuple[str, ...]
    limit: int
    params: dict[str, Any] = {}  # noqa: RUF012
    max_tokens: int | None = None


CHAT_ROWS = (
    Row("MusicTheoryBench", ("musictheorybench",), 120, max_tokens=256),
    Row("ZIQI-Eval", ("ziqi",), 60),
    Row("MUSE chords", ("muse_chord_quality",), 44, MIDI, 256),
    Row("MUSE", LOOPS_AND_MELODIES, 10, MIDI, 256),
    Row("MUSE chords, LogicLM", ("muse_chord_quality",), 20, LOGICLM, 512),
    Row("MUSE chords, chain of thought", ("muse_chord_quality",), 20, COT, 512),
    Row("MSU-Bench, batch", ("msu_textual",), 6, {"asking": "batch"}, 1024),
    Row("MSU-Bench, single", ("msu_textual",), 36, {"asking": "single"}, 256),
    Row("ABC-Eval", ("abc_eval",), 10),
    Row("The MUSE Benchmark, short prompts", TEN_SHORT, 10, MIDI, 256),
    Row("MUSE, LogicLM", LOOPS_AND_MELODIES, 5, LOGICLM, 512),
    Row("MUSE, chain of thought", LOOPS_AND_MELODIES, 5, COT, 512),
    Row("LilyBench", ("lilybench",), 6),
    Row("The MUSE Benchmark, long prompts", TEN_LONG, 4, MIDI, 256),
    Row("LilyBench, generation", ("lilybench_generation",), 4, {}, 1024),
)
BASE_ROWS = (
    Row("MusicTheoryBench", ("musictheorybench",), 120, LIKELIHOOD),
    Row("ZIQI-Eval", ("ziqi",), 60, LIKELIHOOD),
    Row("MUSE chords", ("muse_chord_quality",), 44, {**MIDI, **LIKELIHOOD}),
    Row("MUSE", LOOPS_AND_MELODIES, 10, {**MIDI, **LIKELIHOOD}),
    Row("ABC-Eval", WITH_OPTIONS, 10, LIKELIHOOD),
    Row("The MUSE Benchmark, short prompts", TEN_SHORT, 10, {**MIDI, **LIKELIHOOD}),
)


def folder_of(row: Row) -> str:
    """The folder of a row's logs."""
    return row.title.lower().replace(" ", "-").replace(",", "")


@app.command()
def run(
    model: str, logs: Path = Path("logs/board"), connections: int = 16, rows: str = "all"
) -> None:
    """Ask a model the rows of the board, or those whose number is in `rows`: 0,1,4."""
    board = BASE_ROWS if model.startswith(BASE) else CHAT_ROWS
    name = model.rpartition("/")[2]
    numbers = range(len(board)) if rows == "all" else map(int, rows.split(","))
    for row in map(board.__getitem__, numbers):
        place = logs / name / folder_of(row)
        options = {"limit": row.limit, "max_tokens": row.max_tokens, "params": row.params}
        me.run(row.names, model, logs=str(place), max_connections=connections, **options)


@app.command()
def table(logs: Path = Path("logs/board")) -> None:
    """Print the board as Markdown: scores by task and model, then what the replies show."""
    records = me.read_records(str(logs))
    runs = records.current()
    runs = runs.assign(row=runs["location"].str.split("/").str[-2])
    titles = {folder_of(row): row.title for row in (*CHAT_ROWS, *BASE_ROWS)}
    models = [*dict.fromkeys(runs.sort_values("created")["model"])]
    lines = []
    for folder, title in titles.items():
        for task, group in runs[runs["row"] == folder].groupby("task", sort=False):
            cells = {run["model"]: score_cell(records, number) for number, run in group.iterrows()}
            floor = best_floor(records.floors(group.index[0]))
            shown = "–" if floor is None else f"{100 * floor.value:.0f}"
            lines.append([title, task, shown, *(cells.get(model, "–") for model in models)])
    print_table(["Row", "Task", "Floor", *models], lines)
    print()
    replies = []
    for folder, title in titles.items():
        for model, group in runs[runs["row"] == folder].groupby("model", sort=False):
            items = records.items[records.items["run"].isin(group.index)]
            collapsed = [run["task"] for _, run in group.iterrows() if is_collapsed(run)]
            cut = group["cut"].mean()
            unread = (group["unread"] * group["n"]).sum() / group["n"].sum()
            replies.append(
                [
                    title,
                    model,
                    group["n"].sum(),
                    f"{100 * unread:.0f}%",
                    "–" if isnan(cut) else f"{100 * cut:.0f}%",
                    ", ".join(collapsed) or "–",
                    f"{items['tokens'].mean():.0f}",
                    f"{group['seconds'].sum() / 60:.0f}",
                ]
            )
    headings = ["Row", "Model", "n", "Unread", "Cut", "Collapse in", "Tokens a reply", "Minutes"]
    print_table(headings, replies)


def score_cell(records: Records, number: int) -> str:
    """A score in percent with interval and n; bold if its interval is above the floor."""
    score, floor = records.score(number), best_floor(records.floors(number))
    if score is None:
        return "–"
    if score.low is None or score.high is None:
        return f"{100 * score.value:.0f} ({score.n:.0f})"
    text = f"{100 * score.value:.0f} ({100 * score.low:.0f}–{100 * score.high:.0f}; {score.n:.0f})"
    return f"**{text}**" if floor is not None and score.low > (floor.high or floor.value) else text


def is_collapsed(run: pd.Series) -> bool:
    """Whether one answer is far commoner in a run than the commonest key."""
    return bool(run["collapse"] and run["collapse"].is_collapsed)


def print_table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table as Markdown."""
    for cells in (headings, ["---"] * len(headings), *rows):
        print("|", " | ".join(map(str, cells)), "|")


if __name__ == "__main__":
    app()
