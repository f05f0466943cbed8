"""Training of a LoRA adapter, on a tiny random model and tokenizer made on the spot."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.finetuning.data import Conversation, TrainingData, write_training_data
from music_evals.finetuning.lora import FinetuneError, Settings, read_settings, train

TEMPLATE = (
    "{% if loud %}!!!{% endif %}"
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
ANSWERS = {"key": "G major", "metre": "3/4", "measures": "16", "highest pitch": "B5"}


def conversation(number: int, kind: str, score: str = "GABc|d2e2|") -> Conversation:
    messages = [
        {"role": "system", "content": "Read the score."},
        {"role": "user", "content": f"Score {number}:\n{score}\n\nWhat is its {kind}?"},
        {"role": "assistant", "content": ANSWERS[kind]},
    ]
    return {"id": f"q{number}", "messages": messages}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("conversations") / "data"
    questions = [conversation(number, kind) for number, kind in enumerate(ANSWERS)]
    splits = {"train": [*questions, conversation(99, "key", score="GABc|" * 400)], "validation": questions[:1]}
    write_training_data(TrainingData(splits, {"train": {}, "validation": {}}, {}, {}, None, {}), folder)
    return folder


NEEDED = "model = 'm'\ndata = 'd'\nout = 'o'\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model = 'm'", "'data': Field required; 'out': Field required"),
        (NEEDED + "ranks = 8", "'ranks': Extra inputs are not permitted; accepted keys: model, data, out, revision"),
        (NEEDED + "max_tokens = 0", "'max_tokens': Input should be greater than 0"),
        (NEEDED.replace("'m'", "' '"), "'model': String should match pattern"),
    ],
)
def test_bad_settings_are_named(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(text, encoding="utf-8")
    with pytest.raises(FinetuneError, match=message):
        read_settings(tmp_path / "config.toml")


def test_the_defaults_are_the_papers(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(NEEDED + "[training]\nseed = 3\n", encoding="utf-8")
    settings = read_settings(tmp_path / "config.toml")
    assert settings.lora["r"] == 8
    paper = {"learning_rate": 5e-5, "lr_scheduler_type": "cosine", "warmup_steps": 0.1, "num_train_epochs": 20}
    paper |= {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 16, "seed": 3}
    assert paper.items() <= settings.training.items()


# --- training ---


@pytest.fixture(scope="module")
def libraries() -> Iterator[Any]:
    """Torch, on one thread and with the same arithmetic every time."""
    for name in ("transformers", "peft", "trl", "accelerate"):
        pytest.importorskip(name, reason="training needs the extra 'finetune'")
    torch = pytest.importorskip("torch", reason="training needs the extra 'finetune'")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield torch
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def model(libraries: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tokenizers import ByteLevelBPETokenizer, Tokenizer
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    trained = ByteLevelBPETokenizer()
    messages = [message for number, kind in enumerate(ANSWERS) for message in conversation(number, kind)["messages"]]
    special = ["<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]
    texts = [message["content"] for message in messages]
    trained.train_from_iterator(texts, vocab_size=320, special_tokens=special, show_progress=False)
    ends = {"eos_token": "<|end|>", "pad_token": "<|end|>"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(trained.to_str()), **ends)
    tokenizer.chat_template = TEMPLATE
    libraries.manual_seed(1)
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 1, "num_attention_heads": 4}
    # The adapter does not train the output layer. With smaller weights the loss cannot fall below ln(vocabulary).
    config = LlamaConfig(
        vocab_size=len(tokenizer), max_position_embeddings=512, eos_token_id=0, initializer_range=0.2, **sizes
    )
    folder = tmp_path_factory.mktemp("base")
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def settings_for(base: object, data: Path, out: Path, lora: Any = None, training: Any = None, **top: Any) -> Settings:
    quick = {"learning_rate": 0.01, "num_train_epochs": 1, "seed": 3, "eval_strategy": "epoch", "save_strategy": "no"}
    quick |= {"per_device_train_batch_size": 4, "per_device_eval_batch_size": 4, **(training or {})}
    adapter = {"r": 16, "lora_alpha": 32, "target_modules": "all-linear", **(lora or {})}
    entries = {"model": str(base), "data": data, "out": out, "chat_template": {}, "lora": adapter, "training": quick}
    return Settings.model_validate({**entries, **top})


@pytest.fixture(scope="module")
def trained(model: Path, data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A training of 15 epochs, a step each, and the folder of its adapter."""
    out = tmp_path_factory.mktemp("trained") / "out"
    return out, train(settings_for(model, data, out, training={"num_train_epochs": 15}))


def test_training_lowers_the_loss_and_is_recorded(trained: tuple[Path, dict[str, Any]]) -> None:
    out, record = trained
    assert record["steps"] == 15
    assert record["last_loss"] < 0.1 * record["first_loss"]
    assert record["eval_loss"][-1] < record["eval_loss"][0]
    assert record["left_out"] == {"train": ["q99"], "validation": []}, "longer than the model's 512 tokens"
    assert list(out.parent.iterdir()) == [out], "nothing is left beside"
    assert json.loads((out / "training.json").read_text(encoding="utf-8")) == record
    assert record["settings"]["training"]["learning_rate"] == 0.01
    assert (record["conversations"], record["precision"]) == ({"train": 4, "validation": 1}, "fp32")
    assert set(record["data_sha256"]) == {"train.jsonl", "validation.jsonl", "dataset_info.json", "finetune.json"}
    history = json.loads((out / "trainer_state.json").read_text(encoding="utf-8"))["log_history"]
    assert [step["loss"] for step in history if "loss" in step][-1] == record["last_loss"]
    adapter = json.loads((out / "adapter_config.json").read_text(encoding="utf-8"))
    assert (adapter["peft_type"], adapter["r"], adapter["modules_to_save"]) == ("LORA", 16, None), "what vLLM serves"


def test_loss_is_on_answers_only_and_the_adapter_answers(
    libraries: Any, model: Path, trained: tuple[Path, dict[str, Any]]
) -> None:
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, base = AutoTokenizer.from_pretrained(model), AutoModelForCausalLM.from_pretrained(model)
    loss, count = 0.0, 0
    for number, kind in enumerate(ANSWERS):
        messages = conversation(number, kind)["messages"]
        ids = tokenizer.apply_chat_template(messages, return_tensors="pt", return_dict=True)["input_ids"]
        length = len(tokenizer(ANSWERS[kind] + "<|end|>")["input_ids"])
        labels = ids.clone()
        labels[0, :-length] = -100
        with libraries.no_grad():
            loss += base(ids, labels=labels).loss.item() * length
        count += length
    expected = loss / count
    assert trained[1]["first_loss"] == pytest.approx(expected, rel=1e-3), "a new adapter changes nothing yet"

    messages = conversation(0, "key")["messages"][:-1]
    prompt = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_tensors="pt", return_dict=True)
    tuned = PeftModel.from_pretrained(base, trained[0])
    reply = tuned.generate(**prompt, max_new_tokens=12, do_sample=False)[0, prompt["input_ids"].shape[1] :]
    assert tokenizer.decode(reply, skip_special_tokens=True) == "G major"


def test_the_same_seed_gives_the_same_adapter_and_the_chat_template_gets_its_variables(
    model: Path, data: Path, tmp_path: Path
) -> None:
    best = {"save_strategy": "epoch", "load_best_model_at_end": True}
    changes: dict[str, dict[str, Any]] = {"a": {}, "b": {"training": best}, "loud": {"chat_template": {"loud": True}}}
    records = {name: train(settings_for(model, data, tmp_path / name, **change)) for name, change in changes.items()}
    assert records["a"]["eval_loss"] == records["b"]["eval_loss"]
    assert records["loud"]["first_loss"] != pytest.approx(records["a"]["first_loss"], rel=1e-3)
    weights = [(tmp_path / name / "adapter_model.safetensors").read_bytes() for name in changes]
    assert weights[0] == weights[1] != weights[2]
    assert not list(tmp_path.glob("*/checkpoints"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": str(Path(__file__).parent)}, "cannot be trained with these settings: "),
        ({"lora": {"target_modules": ["no_such_layer"]}}, "cannot be trained with these settings: Target modules"),
        ({"training": {"leraning_rate": 1}}, "unexpected keyword argument 'leraning_rate'"),
        ({"max_tokens": 5}, "nothing is left of 'train': all are longer than 5 tokens (q0, q1, q2 and"),
        ({}, "tried to allocate 80 GiB"),
        ({"model": "without template"}, "chat_template"),
    ],
)
def test_settings_that_cannot_be_used_leave_nothing(
    changes: dict[str, Any], message: str, libraries: Any, model: Path, data: Path, tmp_path: Path
) -> None:
    full = libraries.OutOfMemoryError("tried to allocate 80 GiB")
    if changes.get("model") == "without template":
        shutil.copytree(model, tmp_path / "model", ignore=shutil.ignore_patterns("chat_template.jinja"))
        changes = {"model": str(tmp_path / "model")}
    with (
        patch("torch.cuda.is_available", return_value=False),
        patch("trl.SFTTrainer.train", side_effect=full),
        pytest.raises(FinetuneError) as caught,
    ):
        train(settings_for(model, data, tmp_path / "out", **changes))
    assert message in str(caught.value)
    assert {path.name for path in tmp_path.iterdir()} <= {"model"}


def test_data_target_and_devices_are_checked_first(
    libraries: Any, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, damaged = tmp_path / "out", shutil.copytree(data, tmp_path / "data")
    settings = settings_for("none", damaged, out)
    monkeypatch.setattr(libraries.cuda, "device_count", lambda: 6)
    with pytest.raises(FinetuneError, match="one GPU in one process, and there are 6; name one"):
        train(settings)
    out.mkdir()
    (out / "thesis.tex").write_text("mine")
    with pytest.raises(DatasetError, match="is not empty"):
        train(settings, overwrite=True)
    (damaged / "train.jsonl").write_text("{}")
    with pytest.raises(DatasetError, match=r"train\.jsonl is not the file that finetune\.json names"):
        train(settings)
