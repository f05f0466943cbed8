"""Training of a LoRA adapter on conversations, with TRL's `SFTTrainer` and PEFT.

The defaults are in ``paper.toml``: those of "Musical Score Understanding Benchmark" (arXiv 2511.20697), section 5.1.
"""

import importlib.util
import os
import shutil
import sys
import tomllib
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError

from music_evals.datasets_builders.dataset_io import FolderKind, as_json, file_sha256, list_names, replace_folder
from music_evals.finetuning.data import Conversation, read_conversations

ADAPTER: Final = FolderKind("an adapter", "training.json", "music-evals LoRA adapter, version 1")
LIBRARIES: Final = ("torch", "transformers", "peft", "trl", "accelerate")


class FinetuneError(ValueError):
    """A configuration is wrong, or the model cannot be trained with it."""


class Settings(BaseModel):
    """What to train, on what, and how; ``paper.toml`` describes the keys."""

    model_config = ConfigDict(extra="forbid")

    model: Annotated[str, Field(pattern=r"\S")]
    data: Path
    out: Path
    revision: str = "main"
    max_tokens: PositiveInt | None = None
    chat_template: dict[str, Any]
    lora: dict[str, Any]
    training: dict[str, Any]


def read_settings(path: Path) -> Settings:
    """Read settings from a TOML file, over those of ``paper.toml``; FinetuneError names a key that is wrong."""
    settings = tomllib.loads((files("music_evals.finetuning") / "paper.toml").read_text(encoding="utf-8"))
    try:
        for key, value in tomllib.loads(path.read_text(encoding="utf-8")).items():
            are_tables = isinstance(value, dict) and key in settings
            settings[key] = settings[key] | value if are_tables else value
        return Settings.model_validate(settings)
    except ValidationError as error:
        problems = "; ".join(f"'{'.'.join(map(str, wrong['loc']))}': {wrong['msg']}" for wrong in error.errors())
        raise FinetuneError(f"{path}: {problems}; accepted keys: {', '.join(Settings.model_fields)}") from error
    except (OSError, ValueError) as error:  # a file that is not TOML or not UTF-8 is a ValueError
        raise FinetuneError(f"{path} cannot be read as a TOML file: {error}") from error


def train(settings: Settings, *, overwrite: bool = False) -> dict[str, Any]:
    """Train an adapter and write it in PEFT's format, completely or not at all.

    Only the answers count for the loss. The folder also holds TRL's ``trainer_state.json``, with the losses by step,
    and ``training.json``, the record of the training.

    Returns:
        The record: settings, versions, checksums of the data, losses, and the conversations that were left out.

    Raises:
        FinetuneError: a library is missing, or the model cannot be trained with these settings.
        DatasetError: the data was not written by `music-evals finetune-data`, or the target may not be written.
    """
    if missing := [name for name in LIBRARIES if importlib.util.find_spec(name) is None]:
        install = "pip install 'music-evals[finetune]'"
        raise FinetuneError(f"training needs {', '.join(missing)}, not installed here; install with: {install}")
    conversations = read_conversations(settings.data)
    if "images" in conversations["train"][0]:
        raise FinetuneError(f"{settings.data} has pages; this trains on text, LLaMA-Factory on both")
    with replace_folder(settings.out, ADAPTER, overwrite=overwrite) as folder:
        record = {"format": ADAPTER.text, **_train_into(folder, settings, conversations)}
        (folder / ADAPTER.marker).write_text(as_json(record), encoding="utf-8")
    return record


def _train_into(folder: Path, settings: Settings, data: Mapping[str, Sequence[Conversation]]) -> dict[str, Any]:
    import torch
    from peft import LoraConfig
    from transformers import AutoConfig, AutoTokenizer, PrinterCallback
    from transformers.utils.hub import cached_file, extract_commit_hash
    from trl import SFTTrainer

    # With several processes a step would have more batches than the settings say.
    processes = max(torch.cuda.device_count(), int(os.environ.get("WORLD_SIZE", "1")))
    if processes > 1:
        raise FinetuneError(
            f"training takes one GPU in one process, and there are {processes}; name one, as in "
            "CUDA_VISIBLE_DEVICES=0, and raise 'gradient_accumulation_steps' for larger steps"
        )
    try:
        arguments = _training_arguments(settings, folder / "checkpoints")
        adapter = LoraConfig(task_type="CAUSAL_LM", **settings.lora)
        path = cached_file(settings.model, "config.json", revision=settings.revision)
        config = AutoConfig.from_pretrained(settings.model, revision=settings.revision)
        tokenizer = AutoTokenizer.from_pretrained(settings.model, revision=settings.revision)
        limit = settings.max_tokens or getattr(config.get_text_config(), "max_position_embeddings", None)
        rows, left_out = _rows(data, tokenizer, settings.chat_template, limit)
        trainer = SFTTrainer(
            settings.model,
            arguments,
            train_dataset=rows["train"],
            eval_dataset=rows["validation"],
            processing_class=tokenizer,
            peft_config=adapter,
        )
        trainer.remove_callback(PrinterCallback)  # it prints every step
        trainer.train()
    except (OSError, TypeError, ValueError, torch.OutOfMemoryError) as error:
        raise FinetuneError(f"model {settings.model} cannot be trained with these settings: {error}") from error
    # The base model has the embeddings. Without this argument PEFT asks the Hub about them.
    trainer.model.save_pretrained(str(folder), save_embedding_layers=False)
    shutil.rmtree(folder / "checkpoints", ignore_errors=True)
    trainer.state.save_to_json(str(folder / "trainer_state.json"))
    losses = {key: [step[key] for step in trainer.state.log_history if key in step] for key in ("loss", "eval_loss")}
    return {
        "settings": settings.model_dump(mode="json"),
        "model_commit": extract_commit_hash(path, None),
        "data_sha256": {path.name: file_sha256(path) for path in sorted(settings.data.iterdir()) if path.is_file()},
        "versions": {name: version(name) for name in ("music-evals", *LIBRARIES)},
        "device": torch.cuda.get_device_name() if arguments.device.type == "cuda" else arguments.device.type,
        "precision": "bf16" if arguments.bf16 else "fp16" if arguments.fp16 else "fp32",
        "conversations": {split: len(dataset) for split, dataset in rows.items()},
        "left_out": left_out,
        "max_tokens": limit,
        "steps": trainer.state.global_step,
        "first_loss": losses["loss"][0],
        "last_loss": losses["loss"][-1],
        "eval_loss": losses["eval_loss"],
    }


def _training_arguments(settings: Settings, checkpoints: Path) -> Any:
    import torch
    from trl import SFTConfig

    has_bf16 = torch.cuda.is_available() and torch.cuda.is_bf16_supported(including_emulation=False)
    entries = {"bf16": has_bf16 and not settings.training.get("fp16"), "data_seed": settings.training["seed"]}
    entries |= {"logging_steps": 1, "report_to": "none", "disable_tqdm": not sys.stderr.isatty()} | settings.training
    model = {"revision": settings.revision, "dtype": "bfloat16" if entries["bf16"] else "float32"}
    return SFTConfig(output_dir=str(checkpoints), model_init_kwargs=model, max_length=None, **entries)


def _rows(
    data: Mapping[str, Sequence[Conversation]], tokenizer: Any, variables: Mapping[str, Any], limit: int | None
) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Return by split the conversations that fit, as a dataset, and the ids of the others.

    A row has a prompt and a completion, so that TRL can take the loss of the completion with any chat template.
    """
    from datasets import Dataset

    rows: dict[str, Any] = {}
    left_out: dict[str, list[str]] = {}
    template = {"chat_template_kwargs": variables} if variables else {}
    for split, conversations in data.items():
        fitting, left_out[split] = [], []
        for conversation in conversations:
            messages = conversation["messages"]
            tokens = tokenizer.apply_chat_template(messages, return_dict=True, **variables)["input_ids"]
            if limit is None or len(tokens) <= limit:
                fitting.append({"prompt": messages[:-1], "completion": messages[-1:], **template})
            else:
                left_out[split].append(conversation["id"])
        if not fitting:
            shown = list_names(left_out[split])
            raise ValueError(f"nothing is left of '{split}': all are longer than {limit} tokens ({shown})")
        rows[split] = Dataset.from_list(fitting)
    return rows, left_out
