"""Training of a LoRA adapter on conversations, with PEFT and TRL.

Source: "Musical Score Understanding Benchmark" (arXiv 2511.20697), section 5.1: rank 8, AdamW at 5e-5, cosine schedule,
10% warm-up, batches of 1 with 16 accumulated, 20 epochs. The paper trained with LLaMA-Factory, whose defaults stand in
for what it does not say (alpha is twice the rank, no dropout, all linear layers, no weight decay).
"""

import csv
import dataclasses
import importlib.util
import math
import os
import shutil
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Literal, get_args

from music_evals.datasets_builders.folder import FolderKind, as_json, file_sha256, some, written_whole
from music_evals.finetuning.data import Conversation, read_conversations

ADAPTER: Final = FolderKind("training.json", "music-evals LoRA adapter, version 1", "an adapter")
HISTORY_FILE: Final = "history.csv"
LIBRARIES: Final = ("torch", "transformers", "peft", "trl", "accelerate")
EXTRA: Final = "pip install 'music-evals[finetune]'"

Schedule = Literal["cosine", "linear", "constant"]
Precision = Literal["auto", "bf16", "fp32"]
Keep = Literal["last", "best"]

# By Transformers' names; its plain "constant" knows no warm-up.
_SCHEDULES: Final[Mapping[str, str]] = {"cosine": "cosine", "linear": "linear", "constant": "constant_with_warmup"}
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "schedule": get_args(Schedule),
    "precision": get_args(Precision),
    "keep": get_args(Keep),
}
_AT_LEAST_ONE: Final = ("rank", "alpha", "batch_size", "accumulation", "max_steps", "max_tokens")


class FinetuneError(ValueError):
    """Training cannot be done as asked; the message says what is wrong and what is accepted."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What to train, on what, and how, with the paper's defaults; ``config.example.toml`` says what each key means."""

    model: str
    data: Path
    out: Path
    revision: str | None = None
    rank: int = 8
    alpha: int = 16
    dropout: float = 0.0
    target_modules: str | tuple[str, ...] = "all-linear"
    learning_rate: float = 5e-5
    schedule: Schedule = "cosine"
    warmup_ratio: float = 0.1
    weight_decay: float = 0.0
    max_grad_norm: float = 1.0
    batch_size: int = 1
    accumulation: int = 16
    epochs: float = 20
    max_steps: int | None = None
    keep: Keep = "last"
    max_tokens: int | None = None
    precision: Precision = "auto"
    gradient_checkpointing: bool = True
    seed: int = 1
    chat_template: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trained:
    """What training came to: losses of the first and last step, and on the validation split after each epoch.

    `left_out` names, by split, the conversations that were longer than `max_tokens`; None takes any length.
    """

    steps: int
    first_loss: float
    last_loss: float
    eval_loss: Sequence[float]
    left_out: Mapping[str, Sequence[str]]
    max_tokens: int | None


def read_settings(path: Path) -> Settings:
    """Read settings from a TOML file; paths in it are relative to the current folder.

    Raises:
        FinetuneError: the file cannot be read, lacks a key, or has an unknown key or a bad value.
    """
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:  # what is no TOML or no UTF-8 is a ValueError
        raise FinetuneError(f"{path} cannot be read as a TOML file: {error}") from error
    try:
        return make_settings(entries)
    except FinetuneError as error:
        raise FinetuneError(f"{path}: {error}") from error


def make_settings(entries: Mapping[str, Any]) -> Settings:
    """Make settings from plain values, as a TOML file has them."""
    fields = {one.name: one for one in dataclasses.fields(Settings)}
    if unknown := [key for key in entries if key not in fields]:
        raise FinetuneError(f"unknown key {', '.join(map(repr, unknown))}; accepted: {', '.join(fields)}")
    needed = [name for name, one in fields.items() if one.default is one.default_factory is dataclasses.MISSING]
    if missing := [name for name in needed if name not in entries]:
        raise FinetuneError(f"missing key {', '.join(map(repr, missing))}; needed: {', '.join(needed)}")
    for key, value in entries.items():
        if accepted := _what_is_accepted(key, value):
            raise FinetuneError(f"'{key}' is {value!r}; accepted: {accepted}")
    values = dict(entries)
    values["data"], values["out"] = Path(values["data"]), Path(values["out"])
    if isinstance(values.get("target_modules"), list):
        values["target_modules"] = tuple(values["target_modules"])
    return Settings(**values)


def _what_is_accepted(key: str, value: Any) -> str | None:
    """Say what a key accepts if the value is not that."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    is_number = (is_whole or isinstance(value, float)) and math.isfinite(value)
    if key in _CHOICES:
        return None if value in _CHOICES[key] else ", ".join(_CHOICES[key])
    if key in _AT_LEAST_ONE:
        return None if is_whole and value >= 1 else "a whole number from 1"
    match key:
        case "model" | "data" | "out" | "revision":
            return None if isinstance(value, str) and value.strip() else "a text that is not empty"
        case "seed":
            return None if is_whole and 0 <= value < 2**32 else "a whole number from 0, below 2 to the 32nd"
        case "learning_rate" | "epochs" | "max_grad_norm":
            return None if is_number and value > 0 else "a number above 0"
        case "weight_decay":
            return None if is_number and value >= 0 else "a number from 0"
        case "dropout" | "warmup_ratio":
            return None if is_number and 0 <= value < 1 else "a number from 0, below 1"
        case "gradient_checkpointing":
            return None if isinstance(value, bool) else "true or false"
        case "target_modules":
            is_list = isinstance(value, list) and value and all(isinstance(name, str) and name for name in value)
            return None if is_list or value == "all-linear" else '"all-linear" or a list of names of layers'
        case _:
            return None if isinstance(value, dict) else "a table"


def check_libraries() -> None:
    """Check that the libraries for training are there, without loading them; else say how to install them."""
    if missing := [name for name in LIBRARIES if importlib.util.find_spec(name) is None]:
        raise FinetuneError(f"training needs {', '.join(missing)}, not installed here; install with: {EXTRA}")


def train(settings: Settings, *, overwrite: bool = False) -> Trained:
    """Train an adapter and write it in PEFT's format: all of its folder, or nothing.

    The loss is that of the answers alone. Conversations are never cut short: a cut would take the answer, so what is
    too long is left out. The folder holds the adapter (``adapter_config.json``, ``adapter_model.safetensors``),
    ``history.csv`` (step, epoch, learning rate, loss, loss on the validation split) and ``training.json`` (settings,
    versions, checksums of the data, what is left out).

    Raises:
        FinetuneError: libraries are missing, or the model cannot be loaded or trained as asked.
        DatasetError: the data is none of ours, or the target may not be written.
    """
    check_libraries()
    data = read_conversations(settings.data)
    with written_whole(settings.out, overwrite=overwrite, kind=ADAPTER) as folder:
        return _train_into(folder, settings, data)


def _train_into(folder: Path, settings: Settings, data: Mapping[str, Sequence[Conversation]]) -> Trained:
    import torch
    from datasets import Dataset
    from peft import LoraConfig
    from transformers import AutoModelForCausalLM, AutoTokenizer, PrinterCallback
    from trl import SFTTrainer

    _check_devices()
    in_bf16 = _is_bf16(settings.precision)
    try:
        tokenizer = AutoTokenizer.from_pretrained(settings.model, revision=settings.revision or "main")
        model = AutoModelForCausalLM.from_pretrained(
            settings.model, revision=settings.revision or "main", dtype=torch.bfloat16 if in_bf16 else torch.float32
        )
    except (OSError, ValueError) as error:
        raise FinetuneError(f"model {settings.model} cannot be loaded: {error}") from error
    if tokenizer.chat_template is None:
        raise FinetuneError(f"model {settings.model} has no chat template; take one that is made for chat")

    limit = settings.max_tokens or getattr(model.config.get_text_config(), "max_position_embeddings", None)
    kept, left_out = _without_long(data, tokenizer, settings, limit)
    # As prompt and completion, for then TRL takes the loss of the completion alone with any chat template; from whole
    # conversations it can do so only with templates that mark the answers.
    rows = {
        split: Dataset.from_list(
            [
                {
                    "prompt": one["messages"][:-1],
                    "completion": one["messages"][-1:],
                    **({"chat_template_kwargs": dict(settings.chat_template)} if settings.chat_template else {}),
                }
                for one in conversations
            ]
        )
        for split, conversations in kept.items()
    }
    checkpoints = folder / "checkpoints"
    arguments = _arguments(settings, checkpoints, in_bf16)
    modules = settings.target_modules
    adapter = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=modules if isinstance(modules, str) else list(modules),
        task_type="CAUSAL_LM",
    )
    started = time.monotonic()
    try:
        trainer = SFTTrainer(
            model=model,
            args=arguments,
            train_dataset=rows["train"],
            eval_dataset=rows["validation"],
            processing_class=tokenizer,
            peft_config=adapter,
        )
    except ValueError as error:  # such as layers that the model does not have
        raise FinetuneError(f"model {settings.model} cannot be trained as asked: {error}") from error
    trainer.remove_callback(PrinterCallback)  # a line a step, where there is no terminal; the history has it all
    try:
        trainer.train()
    except torch.OutOfMemoryError as error:
        raise FinetuneError(f"the GPU has too little memory: {error}; lower 'max_tokens' or 'batch_size'") from error
    seconds = time.monotonic() - started

    # The embeddings are the model's own; to find that out for itself, PEFT would ask the Hub.
    trainer.model.save_pretrained(str(folder), save_embedding_layers=False)
    shutil.rmtree(checkpoints, ignore_errors=True)
    history = _write_history(folder / HISTORY_FILE, trainer.state.log_history)
    losses = [float(row["loss"]) for row in history if "loss" in row]
    trained = Trained(
        steps=trainer.state.global_step,
        first_loss=losses[0],
        last_loss=losses[-1],
        eval_loss=tuple(float(row["eval_loss"]) for row in history if "eval_loss" in row),
        left_out=left_out,
        max_tokens=limit,
    )
    record = {
        "format": ADAPTER.form,
        "settings": dataclasses.asdict(settings),
        "model_commit": getattr(model.config, "_commit_hash", None),
        "data_sha256": {path.name: file_sha256(path) for path in sorted(settings.data.iterdir()) if path.is_file()},
        "versions": {name: version(name) for name in ("music-evals", *LIBRARIES)},
        "device": torch.cuda.get_device_name() if arguments.device.type == "cuda" else arguments.device.type,
        "precision": "bf16" if in_bf16 else "fp32",
        "conversations": {split: len(conversations) for split, conversations in kept.items()},
        "seconds": round(seconds, 1),
        **dataclasses.asdict(trained),
    }
    (folder / ADAPTER.record).write_text(as_json(record), encoding="utf-8")
    return trained


def _arguments(settings: Settings, checkpoints: Path, in_bf16: bool) -> Any:
    from trl import SFTConfig

    keeps_best = settings.keep == "best"
    return SFTConfig(
        output_dir=str(checkpoints),
        learning_rate=settings.learning_rate,
        lr_scheduler_type=_SCHEDULES[settings.schedule],
        warmup_steps=settings.warmup_ratio,  # below 1, it is a share of all steps
        optim="adamw_torch",
        weight_decay=settings.weight_decay,
        max_grad_norm=settings.max_grad_norm,
        per_device_train_batch_size=settings.batch_size,
        per_device_eval_batch_size=settings.batch_size,
        gradient_accumulation_steps=settings.accumulation,
        num_train_epochs=settings.epochs,
        max_steps=settings.max_steps or -1,
        bf16=in_bf16,
        gradient_checkpointing=settings.gradient_checkpointing,
        max_length=None,
        seed=settings.seed,
        data_seed=settings.seed,
        logging_strategy="steps",
        logging_steps=1,
        eval_strategy="epoch",
        save_strategy="epoch" if keeps_best else "no",
        save_total_limit=1,
        load_best_model_at_end=keeps_best,
        metric_for_best_model="eval_loss",
        greater_is_better=False,
        report_to="none",
        disable_tqdm=not sys.stderr.isatty(),
    )


def _check_devices() -> None:
    """Refuse what would make a step of more batches than the settings say."""
    import torch

    found = max(torch.cuda.device_count(), int(os.environ.get("WORLD_SIZE", "1")))
    if found > 1:
        raise FinetuneError(
            f"training takes one GPU in one process, and there are {found}; name one, as in CUDA_VISIBLE_DEVICES=0, "
            f"and raise 'accumulation' for larger steps"
        )


def _is_bf16(precision: Precision) -> bool:
    import torch

    has_bf16 = torch.cuda.is_available() and torch.cuda.is_bf16_supported(including_emulation=False)
    if precision == "bf16" and not has_bf16:
        raise FinetuneError("'precision' is 'bf16', but there is no GPU here that has it; accepted: auto, fp32")
    return has_bf16 and precision != "fp32"


def _without_long(
    data: Mapping[str, Sequence[Conversation]], tokenizer: Any, settings: Settings, limit: int | None
) -> tuple[dict[str, list[Conversation]], dict[str, list[str]]]:
    """Return the conversations that fit, and the ids of those that do not."""
    kept: dict[str, list[Conversation]] = {}
    left_out: dict[str, list[str]] = {}
    for split, conversations in data.items():
        kept[split], left_out[split] = [], []
        for one in conversations:
            tokens = tokenizer.apply_chat_template(one["messages"], return_dict=True, **settings.chat_template)
            if limit is None or len(tokens["input_ids"]) <= limit:
                kept[split].append(one)
            else:
                left_out[split].append(one["id"])
        if not kept[split]:
            shown = some(left_out[split])
            raise FinetuneError(f"nothing is left of '{split}': all are longer than {limit} tokens ({shown})")
    return kept, left_out


def _write_history(path: Path, log: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Write the trainer's log as a table of one row a step, and return its rows."""
    columns = ("step", "epoch", "learning_rate", "loss", "eval_loss")
    rows: dict[int, dict[str, Any]] = {}
    for entry in log:
        found = {name: entry[name] for name in columns if name in entry}
        if "loss" in found or "eval_loss" in found:
            rows.setdefault(entry["step"], {}).update(found)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows.values())
    return list(rows.values())
