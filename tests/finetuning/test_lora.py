"""Training of a LoRA adapter, on a tiny random model and tokenizer made on the spot."""

import csv
import dataclasses
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.finetuning.data import Conversation, Message, Plan, write_plan
from music_evals.finetuning.lora import FinetuneError, Settings, make_settings, read_settings, train

NEEDED = {"model": "m", "data": "d", "out": "o"}
TEMPLATE = (
    "{% if loud %}!!!{% endif %}"
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
ANSWERS = {"key": "G major", "metre": "3/4", "measures": "16", "highest pitch": "B5"}


def conversation(number: int, what: str, score: str = "GABc|d2e2|") -> Conversation:
    return Conversation(
        id=f"q{number}",
        messages=[
            Message(role="system", content="Read the score."),
            Message(role="user", content=f"Score {number}:\n{score}\n\nWhat is its {what}?"),
            Message(role="assistant", content=ANSWERS[what]),
        ],
    )


def plan_of(train: list[Conversation], validation: list[Conversation]) -> Plan:
    return Plan({"train": train, "validation": validation}, {"train": {}, "validation": {}}, {}, {}, None)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    asked = [conversation(number, what) for number, what in enumerate([*ANSWERS, *ANSWERS])]
    long = conversation(99, "key", score="GABc|" * 400)
    folder = tmp_path_factory.mktemp("conversations") / "data"
    write_plan(plan_of([*asked, long], asked[:2]), folder)
    return folder


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ranks": 8}, "unknown key 'ranks'; accepted: model, data, out, revision, rank"),
        ({"rank": True}, "'rank' is True: Input should be a valid integer"),
        ({"learning_rate": float("nan")}, "'learning_rate' is nan: Input should be a finite number"),
        ({"learning_rate": "5e-5"}, "'learning_rate' is '5e-5': "),
        ({"warmup_ratio": 1}, "'warmup_ratio' is 1: Input should be less than 1"),
        ({"schedule": "step"}, "'schedule' is 'step': Input should be 'cosine', 'linear' or 'constant'"),
        ({"target_modules": []}, "'target_modules' is []: Input should be 'all-linear'"),
        ({"seed": -1}, "'seed' is -1: Input should be greater than or equal to 0"),
        ({"chat_template": "chatml"}, "'chat_template' is 'chatml': Input should be an object"),
        ({"model": " "}, "'model' is ' '"),
    ],
)
def test_bad_settings_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(FinetuneError) as caught:
        make_settings({**NEEDED, **changes})
    assert message in str(caught.value)


def test_a_missing_key_is_named_and_the_defaults_are_the_papers() -> None:
    with pytest.raises(FinetuneError, match="missing key 'data', 'out'; needed: model, data, out"):
        make_settings({"model": "m"})
    settings = make_settings(NEEDED)
    assert (settings.rank, settings.learning_rate, settings.schedule) == (8, 5e-5, "cosine")
    assert (settings.warmup_ratio, settings.batch_size, settings.accumulation, settings.epochs) == (0.1, 1, 16, 20)


def test_the_example_has_every_key_with_its_default() -> None:
    path = Path(__file__).parents[2] / "music_evals" / "finetuning" / "config.example.toml"
    settings = read_settings(path)
    assert settings == Settings(model=settings.model, data=settings.data, out=settings.out)
    text = path.read_text(encoding="utf-8")
    for field in dataclasses.fields(Settings):
        assert f"\n{field.name} =" in text or f"# {field.name} =" in text or f"# [{field.name}]" in text, field.name


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
    texts = [
        message["content"] for number, what in enumerate(ANSWERS) for message in conversation(number, what)["messages"]
    ]
    special = ["<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]
    trained.train_from_iterator(texts, vocab_size=320, special_tokens=special, show_progress=False)
    tokens = Tokenizer.from_str(trained.to_str())
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=tokens, eos_token="<|end|>", pad_token="<|end|>")
    tokenizer.chat_template = TEMPLATE
    libraries.manual_seed(1)
    network = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            max_position_embeddings=512,
            eos_token_id=tokenizer.eos_token_id,
            # The adapter leaves the output layer as it is; with small weights no loss below ln(vocabulary) is in reach.
            initializer_range=0.2,
        )
    )
    folder = tmp_path_factory.mktemp("base")
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def settings_for(base: Path, data: Path, out: Path, /, **changes: Any) -> Settings:
    quick = {"rank": 16, "alpha": 32, "learning_rate": 0.01, "batch_size": 4, "accumulation": 1, "epochs": 1}
    entries = {"model": str(base), "data": str(data), "out": str(out), "precision": "fp32"}
    return make_settings({**entries, **quick, **changes})


def test_training_lowers_the_loss_and_the_adapter_changes_the_model(
    libraries: Any, model: Path, data: Path, tmp_path: Path
) -> None:
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    out = tmp_path / "out"
    trained = train(settings_for(model, data, out, epochs=15))
    assert trained.steps == 30
    assert trained.last_loss < 0.1 * trained.first_loss, (trained.first_loss, trained.last_loss)
    assert trained.eval_loss[-1] < trained.eval_loss[0]
    assert trained.left_out == {"train": ["q99"], "validation": []}, "longer than the model's 512 tokens"

    assert list(tmp_path.iterdir()) == [out], "nothing is left beside"
    assert not (out / "checkpoints").exists()
    with (out / "history.csv").open(encoding="utf-8") as file:
        history = list(csv.DictReader(file))
    assert [int(row["step"]) for row in history] == list(range(1, 31))
    assert float(history[0]["loss"]) == trained.first_loss
    assert [float(row["eval_loss"]) for row in history if row["eval_loss"]] == list(trained.eval_loss)
    record = json.loads((out / "training.json").read_text(encoding="utf-8"))
    assert record["settings"]["learning_rate"] == 0.01
    assert record["conversations"] == {"train": 8, "validation": 2}
    assert set(record["data_sha256"]) == {"train.jsonl", "validation.jsonl", "dataset_info.json", "finetune.json"}
    adapter = json.loads((out / "adapter_config.json").read_text(encoding="utf-8"))
    assert (adapter["peft_type"], adapter["r"], adapter["modules_to_save"]) == ("LORA", 16, None), "what vLLM serves"

    tokenizer = AutoTokenizer.from_pretrained(model)
    base = AutoModelForCausalLM.from_pretrained(model)
    prompt = tokenizer.apply_chat_template(
        conversation(0, "key")["messages"][:-1], add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    length = prompt["input_ids"].shape[1]
    with libraries.no_grad():
        before = base(**prompt).logits
        tuned = PeftModel.from_pretrained(base, out)
        after = tuned(**prompt).logits
        reply = tuned.generate(**prompt, max_new_tokens=12, do_sample=False)[0, length:]
    assert not libraries.allclose(before, after, atol=1e-3)
    assert tokenizer.decode(reply, skip_special_tokens=True) == "G major", "it learned the answers, not the scores"


def test_the_same_seed_gives_the_same_adapter_and_the_chat_template_gets_its_variables(
    model: Path, data: Path, tmp_path: Path
) -> None:
    loud = {"chat_template": {"loud": True}, "max_steps": 1}
    changes: dict[str, dict[str, Any]] = {"a": {}, "b": {"keep": "best"}, "c": {"seed": 4}, "loud": loud}
    made = {
        name: train(settings_for(model, data, tmp_path / name, **{"seed": 3, **changed}))
        for name, changed in changes.items()
    }
    assert (made["a"].last_loss, made["a"].eval_loss) == (made["b"].last_loss, made["b"].eval_loss)
    assert made["a"].eval_loss != made["c"].eval_loss
    assert made["a"].first_loss != made["loud"].first_loss
    weights = [(tmp_path / name / "adapter_model.safetensors").read_bytes() for name in "abc"]
    assert weights[0] == weights[1] != weights[2]
    assert not list(tmp_path.glob("*/checkpoints"))


def test_loss_is_on_answers_only(libraries: Any, model: Path, tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    asked = conversation(0, "key")
    write_plan(plan_of([asked], [asked]), tmp_path / "data")
    trained = train(settings_for(model, tmp_path / "data", tmp_path / "out", batch_size=1))

    tokenizer = AutoTokenizer.from_pretrained(model)
    whole = tokenizer.apply_chat_template(asked["messages"], return_tensors="pt", return_dict=True)["input_ids"]
    answer = tokenizer(ANSWERS["key"] + "<|end|>")["input_ids"]
    assert whole[0, -len(answer) :].tolist() == answer
    labels = whole.clone()
    labels[0, : -len(answer)] = -100
    with libraries.no_grad():
        expected = AutoModelForCausalLM.from_pretrained(model)(whole, labels=labels).loss.item()
    assert trained.first_loss == pytest.approx(expected, rel=1e-3), "a new adapter changes nothing yet"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": str(Path(__file__).parent)}, "cannot be loaded"),
        ({"target_modules": ["no_such_layer"]}, "cannot be trained as asked"),
        ({"max_tokens": 5}, "nothing is left of 'train': all are longer than 5 tokens (q0, q1, q2 and"),
        ({"precision": "bf16"}, "there is no GPU here that has it"),
        ({}, "80 GiB; lower 'max_tok"),
        ({"model": "without template"}, "has no chat template"),
    ],
)
def test_what_cannot_be_trained_is_said_and_leaves_nothing(
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
    damaged, out = tmp_path / "data", tmp_path / "out"
    shutil.copytree(data, damaged)
    settings = settings_for(Path("none"), damaged, out)
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
    with pytest.raises(DatasetError, match="is no training data of ours"):
        train(settings_for(Path("none"), out, out))
