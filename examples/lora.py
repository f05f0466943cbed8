r"""LoRA on MSU-Bench's training split with TRL, by the settings of the paper.

Source: "Musical Score Understanding Benchmark" (arXiv 2511.20697), section 5.1. What the paper does
not say is the default of LLaMA-Factory, with which its authors trained.

    pip install -e '.[finetune]'
    music-evals build train msu --as conversations --dataset data/msu --out data/msu-finetune \
        --max-characters 60000
    python examples/lora.py Qwen/Qwen3-4B data/msu-finetune adapters/qwen3-4b-msu

It trains on ABC. For pages, give the folder to LLaMA-Factory.
"""

from pathlib import Path
from typing import Any

import torch
import typer
from datasets import load_dataset
from peft import LoraConfig
from trl import SFTConfig, SFTTrainer


def prompt_and_completion(row: dict[str, Any]) -> dict[str, Any]:
    """Split a conversation before its answer: TRL takes the loss of a completion only."""
    return {"prompt": row["messages"][:-1], "completion": row["messages"][-1:]}


def main(model: str, data: Path, out: Path, epochs: int = 20) -> None:
    """Train an adapter for a model, by name or folder, and write it in PEFT's format."""
    files = {split: str(data / f"{split}.jsonl") for split in ("train", "validation")}
    rows = load_dataset("json", data_files=files)
    rows = rows.map(prompt_and_completion, remove_columns=["id", "messages"])
    adapter = LoraConfig(
        task_type="CAUSAL_LM",
        r=8,
        lora_alpha=16,
        lora_dropout=0.0,
        target_modules="all-linear",
    )
    settings = SFTConfig(
        str(out),
        num_train_epochs=epochs,
        learning_rate=5e-5,
        lr_scheduler_type="cosine",
        warmup_steps=0.1,  # a share of all steps
        per_device_train_batch_size=1,
        per_device_eval_batch_size=1,
        gradient_accumulation_steps=16,  # on several GPUs: 16 divided by their number
        max_length=None,  # no text is cut
        bf16=torch.cuda.is_available(),
        model_init_kwargs={"dtype": "auto"},
        seed=1,
        logging_steps=1,
        eval_strategy="epoch",
        save_strategy="no",  # "epoch" keeps a checkpoint of each epoch
        report_to="none",
    )
    trainer = SFTTrainer(
        model,
        settings,
        train_dataset=rows["train"],
        eval_dataset=rows["validation"],
        peft_config=adapter,
    )
    trainer.train()
    trainer.save_model()
    trainer.save_state()  # trainer_state.json: the losses by step


if __name__ == "__main__":
    typer.run(main)
