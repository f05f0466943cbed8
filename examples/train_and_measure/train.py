"""Trains a small language model on questions about music theory, with TRL, on a CPU.

    python train.py sft MODEL DATA OUT       # on right replies
    python train.py grpo MODEL DATA OUT      # on the rewards of the suite

DATA has a folder per dataset, as `music-evals build train` writes it. OUT gets a folder
`checkpoint-STEP` per checkpoint; its `trainer_state.json` has the losses or rewards.
`train_and_measure.sh` beside it shows the whole run.
"""

from pathlib import Path

import typer
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

from music_evals.rewards import reward_function

# The form that the prompts of a dataset demand; beside the letter, a reply names the option.
REPLIES = {"musictheorybench": "{1}\nFinal Answer: {0}", "ziqi": "[[answer: {0}]] {1}"}
SETTINGS = {
    "use_cpu": True,
    "bf16": True,
    "gradient_checkpointing": False,
    "save_only_model": True,
    "report_to": "none",
}
app = typer.Typer()


def training_rows(data: Path, count: int, skip: int = 0) -> Dataset:
    """Load `count` English rows of each task, with the task's name and a right reply."""
    rows = []
    for file in sorted(data.glob("*/*/*.parquet")):
        name, task = file.parts[-3:-1]
        own = Dataset.from_parquet(str(file)).filter(lambda row: not row["id"].endswith("-zh"))
        for row in own.select(range(skip, skip + count)):
            letter = row["answer"]
            reply = REPLIES[name].format(letter, row["options"]["ABCD".index(letter)])
            message = {"role": "assistant", "content": reply}
            columns = {key: row[key] for key in ("prompt", "options", "answer")}
            rows.append({**columns, "task": f"{name}_{task}", "completion": [message]})
    return Dataset.from_list(rows).shuffle(seed=1)


@app.command()
def sft(
    model: str, data: Path, out: Path, rows: int = 300, save_steps: int = 14, skip: int = 0
) -> None:
    """Train one epoch; the loss is that of the replies alone. `skip` rows of each task were seen."""
    shown = training_rows(data, rows, skip).select_columns(["prompt", "completion"])
    trained = AutoModelForCausalLM.from_pretrained(model, dtype="float32")
    # The lower layers, 12 of SmolLM2's 30, stay as they are: a step then takes a third less time.
    trained.model.embed_tokens.requires_grad_(False)
    trained.model.layers[:12].requires_grad_(False)
    config = SFTConfig(
        out, num_train_epochs=1, per_device_train_batch_size=8, learning_rate=3e-4, lr_scheduler_type="cosine", warmup_steps=0.05,
        train_sampling_strategy="group_by_length", max_length=None, save_steps=save_steps, logging_steps=2,
        **SETTINGS,
    )  # fmt: skip
    tokenizer = AutoTokenizer.from_pretrained(model)
    SFTTrainer(trained, config, train_dataset=shown, processing_class=tokenizer).train()


@app.command()
def grpo(model: str, data: Path, out: Path, rows: int = 300, steps: int = 12) -> None:
    """Train on the rewards of all tasks."""
    shown = training_rows(data, rows).remove_columns("completion")
    rewards = [reward_function(task) for task in sorted(set(shown["task"]))]
    config = GRPOConfig(
        out, max_steps=steps, per_device_train_batch_size=16, num_generations=8, learning_rate=2e-5,
        max_completion_length=32, save_steps=steps, logging_steps=1, **SETTINGS,
    )  # fmt: skip
    GRPOTrainer(model, rewards, config, train_dataset=shown).train()


if __name__ == "__main__":
    app()
