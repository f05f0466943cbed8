"""Trains a small language model on music theory, and measures each checkpoint with the suite.

    pip install -e '.[finetune,plots]'
    python examples/train_and_measure/train_and_measure.py --model MODEL --out runs/theory

It writes training rows that no test has, and fine-tunes a model with TRL on questions and right
answers. It evaluates every checkpoint, draws the curve, and goes on by GRPO from the last
checkpoint. Then it asks for what a score needs beside it: another seed's test, a task that was not
trained, the five levels, and options without their question. docs/training_curve.md has results.
"""

import json
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import typer
from datasets import Dataset, load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed
from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

from music_evals.rewards import reward_function

# Dataset → its tasks, and a reply that names the option and its letter in the demanded form.
TRAINED = {
    "musictheorybench": (("knowledge", "reasoning"), "{option}\nFinal Answer: {letter}"),
    "ziqi": (("comprehension",), "[[answer: {letter}]] {option}"),
}
NAMES = [f"{name}_{task}" for name, (tasks, _) in TRAINED.items() for task in tasks]
OPTIONS_ALONE = 'question = """\nA. $a\nB. $b\nC. $c\nD. $d"""\n'


def command(*words: object) -> None:
    """Run a command of music-evals, as a shell would."""
    main = "from music_evals.commands.main import main; main()"
    subprocess.run([sys.executable, "-c", main, *map(str, words)], check=True)


def training_rows(out: Path, count: int) -> list[dict[str, Any]]:
    """Build training sets, and return `count` rows of each task with the reply to learn."""
    rows = []
    for name, (tasks, reply) in TRAINED.items():
        # ZIQI-Eval's rows are Chinese and English in turn; the Chinese ones are left out.
        total = 2 * count * len(tasks)
        words = [word for task in tasks for word in ("--task", task)]
        command("build", "train", name, "--rows", total, "--out", out / name, *words)
        for task in tasks:
            data = load_dataset(str(out / name), task, split="train")
            english = [row for row in data.to_list() if not row["id"].endswith("-zh")]
            for row in english[:count]:
                option = row["options"]["ABCD".index(row["answer"])]
                content = reply.format(option=option, letter=row["answer"])
                message = {"role": "assistant", "content": content}
                rows.append({**row, "task": f"{name}_{task}", "completion": [message]})
    Random(1).shuffle(rows)
    return rows


def fine_tune(model: str, out: Path, rows: list[dict[str, Any]], batch: int, saves: int) -> None:
    """Train one epoch on the right replies; the loss is that of the replies alone."""
    shown = [{key: row[key] for key in ("prompt", "completion")} for row in rows]
    steps = len(rows) // batch
    config = SFTConfig(
        str(out), max_steps=steps, per_device_train_batch_size=batch, learning_rate=5e-4, warmup_steps=0.05,
        train_sampling_strategy="group_by_length", max_length=None, gradient_checkpointing=False, bf16=True,
        use_cpu=True, save_steps=steps // saves, save_only_model=True, logging_steps=2, report_to="none",
    )  # fmt: skip
    trained = AutoModelForCausalLM.from_pretrained(model, dtype="float32")
    tokenizer = AutoTokenizer.from_pretrained(model)
    for folder in (trained, tokenizer):
        folder.save_pretrained(out / "checkpoint-0")
    # The lower layers stay: a step then takes a third less time.
    trained.model.embed_tokens.requires_grad_(False)
    trained.model.layers[: 2 * len(trained.model.layers) // 5].requires_grad_(False)
    trainer = SFTTrainer(
        trained, config, train_dataset=Dataset.from_list(shown), processing_class=tokenizer
    )
    trainer.train()
    trainer.save_state()


def reinforce(model: Path, out: Path, rows: list[dict[str, Any]], steps: int) -> None:
    """Train by GRPO with the rewards of the suite, and print the mean reward of each step."""
    config = GRPOConfig(
        str(out), max_steps=steps, per_device_train_batch_size=16, num_generations=8, learning_rate=2e-5,
        max_completion_length=32, gradient_checkpointing=False, bf16=True, use_cpu=True, logging_steps=1,
        save_steps=steps, save_only_model=True, report_to="none",
        model_init_kwargs={"dtype": "float32"},
    )  # fmt: skip
    columns = ("prompt", "options", "answer", "task")
    shown = Dataset.from_list([{key: row[key] for key in columns} for row in rows])
    rewards = [reward_function(name) for name in NAMES]
    trainer = GRPOTrainer(str(model), rewards, config, train_dataset=shown)
    trainer.train()
    print(json.dumps([log["reward"] for log in trainer.state.log_history if "reward" in log]))


def evaluate(model: Path, logs: Path, names: list[str], limit: int, *more: object) -> None:
    """Run tasks on a checkpoint by ``hf/``; the logs of a step have a folder of their own."""
    settings = ["--max-tokens", 48, "--temperature", 0, "--max-connections", 20, "-M", "dtype=bfloat16"]  # fmt: skip
    words = [*names, "--model", model.resolve(), "--log-dir", logs, "--display", "none", *settings]
    if any(name.startswith("ziqi") for name in names):
        words += ["-T", "language=en"]
    command("run", *words, "--limit", limit, *more)


def main(
    model: str,
    out: Path = Path("runs/train_and_measure"),
    rows: int = 300,
    batch: int = 8,
    checkpoints: int = 6,
    limit: int = 120,
    grpo_steps: int = 12,
) -> None:
    """Train and measure; `rows` is the number of training rows of each of three tasks."""
    set_seed(1)
    data = training_rows(out / "data", rows)
    fine_tune(model, out / "sft", data, batch, checkpoints)
    folders = sorted((out / "sft").glob("checkpoint-*"), key=lambda path: int(path.name[11:]))
    for folder in folders:
        evaluate(folder, out / "logs" / folder.name, NAMES, limit)
    command("curve", out / "logs", "--out", out / "curve")
    base, last = folders[0], folders[-1]
    reinforce(last, out / "grpo", data, grpo_steps)
    evaluate(next((out / "grpo").glob("checkpoint-*")), out / "after", NAMES, limit)
    command("build", "musictheorybench", "--seed", 7, "--out", out / "seed7")
    (out / "options.toml").write_text(OPTIONS_ALONE, encoding="utf-8")
    theory = NAMES[:2]
    for name, tasks, words in (
        ("seed7", theory, ["-T", f"dataset={out / 'seed7'}"]),
        ("options", theory, ["-T", f"prompts={out / 'options.toml'}"]),
        ("levels", theory[1:], ["-T", "level=all"]),
        ("untrained", ["ziqi_generation"], []),
    ):
        for folder in (base, last):
            evaluate(folder, out / name / folder.name, tasks, limit, *words)
    command("report", out, "--out", out / "report", "--overwrite")


if __name__ == "__main__":
    typer.run(main)
