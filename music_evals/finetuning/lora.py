"""Training of a LoRA adapter on conversations, with PEFT and TRL.

Source: "Musical Score Understanding Benchmark" (arXiv 2511.20697), section 5.1: rank 8, AdamW at 5e-5, cosine schedule,
10% warm-up, batches of 1 with 16 accumulated, 20 epochs. The paper trained with LLaMA-Factory, whose defaults stand in
for what it does not say (alpha is twice the rank, no dropout, all linear layers, no weight decay).
"""

import csv
import dataclasses
import importlib.util
import json
import os
import shutil
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, NonNegativeFloat, PositiveFloat, PositiveInt, TypeAdapter, ValidationError

from music_evals.datasets_builders.dataset_io import FolderKind, as_json, file_sha256, list_names, replace_folder
from music_evals.finetuning.data import Conversation, read_conversations

ADAPTER: Final = FolderKind("an adapter", "training.json", "music-evals LoRA adapter, version 1")
HISTORY_FILE: Final = "history.csv"
LIBRARIES: Final = ("torch", "transformers", "peft", "trl", "accelerate")
EXTRA: Final = "pip install 'music-evals[finetune]'"

Precision = Literal["auto", "bf16", "fp32"]
_Text = Annotated[str, Field(pattern=r"\S")]
_Names = Annotated[tuple[_Text, ...], Field(min_length=1)]
_Share = Annotated[float, Field(ge=0, lt=1)]

# By Transformers' names; its plain "constant" knows no warm-up.
_SCHEDULES: Final[Mapping[str, str]] = {"cosine": "cosine", "linear": "linear", "constant": "constant_with_warmup"}


class FinetuneError(ValueError):
    """Training cannot be done as asked; the message says what is wrong and what is accepted."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What to train, on what, and how, with the paper's defaults; ``config.example.toml`` says what each key means."""

    model: _Text
    data: Path
    out: Path
    revision: _Text | None = None
    rank: PositiveInt = 8
    alpha: PositiveInt = 16
    dropout: _Share = 0.0
    target_modules: Literal["all-linear"] | _Names = "all-linear"
    learning_rate: PositiveFloat = 5e-5
    schedule: Literal["cosine", "linear", "constant"] = "cosine"
    warmup_ratio: _Share = 0.1
    weight_decay: NonNegativeFloat = 0.0
    max_grad_norm: PositiveFloat = 1.0
    batch_size: PositiveInt = 1
    accumulation: PositiveInt = 16
    epochs: PositiveFloat = 20
    max_steps: PositiveInt | None = None
    keep: Literal["last", "best"] = "last"
    max_tokens: PositiveInt | None = None
    precision: Precision = "auto"
    gradient_checkpointing: bool = True
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 1
    chat_template: dict[str, Any] = field(default_factory=dict)

    __pydantic_config__ = ConfigDict(strict=True, allow_inf_nan=False)


@dataclass(frozen=True, slots=True)
class Trained:
    """What training came to."""

    steps: int
    first_loss: float
    last_loss: float
    eval_loss: Sequence[float]  # on the validation split after each epoch
    left_out: Mapping[str, Sequence[str]]  # split → ids of the conversations that were longer than `max_tokens`
    max_tokens: int | None


def read_settings(path: Path) -> Settings:
    """Read settings from a TOML file; FinetuneError names what is wrong."""
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
    try:
        return TypeAdapter(Settings).validate_json(json.dumps(entries, default=str))
    except ValidationError as error:
        wrong = [f"'{one['loc'][0]}' is {one['input']!r}: {one['msg']}" for one in error.errors()]
        raise FinetuneError("; ".join(wrong)) from error


def check_libraries() -> None:
    """Check that the libraries for training are there, without loading them; else say how to install them."""
    if missing := [name for name in LIBRARIES if importlib.util.find_spec(name) is None]:
        raise FinetuneError(f"training needs {', '.join(missing)}, not installed here; install with: {EXTRA}")


def train(settings: Settings, *, overwrite: bool = False) -> Trained:
    """Train an adapter and write it in PEFT's format, whole or not at all; what is too long for it is left out.

    The loss is that of the answers alone. Beside the adapter the folder holds ``history.csv`` (losses by step) and
    ``training.json`` (settings, versions, checksums of the data, what is left out). FinetuneError if libraries are
    missing or the model cannot be trained as asked; DatasetError if the data is none of ours, or the target may not be
    written.
    """
    check_libraries()
    data = read_conversations(settings.data)
    with replace_folder(settings.out, ADAPTER, overwrite=overwrite) as folder:
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
    variables = {"chat_template_kwargs": settings.chat_template} if settings.chat_template else {}
    rows = {
        split: Dataset.from_list(
            [{"prompt": one["messages"][:-1], "completion": one["messages"][-1:], **variables} for one in conversations]
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
        "format": ADAPTER.text,
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
    (folder / ADAPTER.marker).write_text(as_json(record), encoding="utf-8")
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
            shown = list_names(left_out[split])
            raise FinetuneError(f"nothing is left of '{split}': all are longer than {limit} tokens ({shown})")
    return kept, left_out


def _write_history(path: Path, log: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Write the trainer's log as a table of one row a step, and return its rows."""
    columns = ("step", "epoch", "learning_rate", "loss", "eval_loss")
    rows: dict[int, dict[str, Any]] = {}
    for entry in log:
        if "loss" in entry or "eval_loss" in entry:
            rows.setdefault(entry["step"], {}).update((name, entry[name]) for name in columns if name in entry)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows.values())
    return list(rows.values())
