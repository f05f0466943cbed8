"""Trains a small language model on questions about scores, with TRL, on a CPU.

    python train.py sft MODEL DATA OUT       # on right replies
    python train.py grpo MODEL DATA OUT      # on the rewards of the suite

DATA is a training set of MSU-Bench, as `music-evals build train msu` writes it. OUT gets a folder
`checkpoint-STEP` per checkpoint; its `trainer_state.json` has the losses or rewards.
`train_and_measure.sh` beside it shows the whole run.
"""

from pathlib import Path

import torch
import typer
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

from music_evals.rewards import reward_function

SETTINGS = {
    "use_cpu": True,
    "bf16": True,
    "gradient_checkpointing": False,
    "save_only_model": True,
    "report_to": "none",
}
TRAINED = 1  # of the four levels of questions: what a score says of itself
torch.set_flush_denormal(True)  # a CPU takes many times longer over gradients near zero
app = typer.Typer()


def training_rows(data: Path, longest: int) -> Dataset:
    """Load the questions of the trained level whose prompt has at most `longest` characters."""
    rows = Dataset.from_parquet(str(data / "questions" / "*.parquet"))
    rows = rows.filter(lambda row: row["level"] == TRAINED)
    rows = rows.filter(lambda row: sum(len(m["content"]) for m in row["prompt"]) <= longest)
    return rows.shuffle(seed=1)


def with_reply(row: dict) -> dict:
    """The right reply: the prompt of MSU-Bench demands the answer alone."""
    return {"completion": [{"role": "assistant", "content": row["answer"]}]}


@app.command()
def sft(
    model: str, data: Path, out: Path, epochs: int = 4, save_steps: int = 10, longest: int = 4000
) -> None:
    """Train on right replies; the loss is that of the replies alone."""
    rows = training_rows(data, longest).map(with_reply)
    rows = rows.select_columns(["prompt", "completion"])
    print(f"{len(rows)} rows")
    trained = AutoModelForCausalLM.from_pretrained(model, dtype="float32")
    # The lower layers, 12 of SmolLM2's 30, stay as they are: a step then takes a third less time.
    trained.model.embed_tokens.requires_grad_(False)
    trained.model.layers[:12].requires_grad_(False)
    config = SFTConfig(
        out, num_train_epochs=epochs, per_device_train_batch_size=4, learning_rate=2e-4,
        lr_scheduler_type="cosine", warmup_steps=0.05, max_length=None, save_steps=save_steps,
        logging_steps=2, **SETTINGS,
    )  # fmt: skip
    tokenizer = AutoTokenizer.from_pretrained(model)
    SFTTrainer(trained, config, train_dataset=rows, processing_class=tokenizer).train()


@app.command()
def grpo(model: str, data: Path, out: Path, steps: int = 12, longest: int = 4000) -> None:
    """Train on the rewards of the suite."""
    config = GRPOConfig(
        out, max_steps=steps, per_device_train_batch_size=16, num_generations=8, learning_rate=2e-5,
        max_completion_length=32, save_steps=steps, logging_steps=1, **SETTINGS,
    )  # fmt: skip
    rows = training_rows(data, longest)
    GRPOTrainer(model, reward_function("msu_textual"), config, train_dataset=rows).train()


if __name__ == "__main__":
    app()
