"""`examples/lora.py` on exported data, with a tiny random model and tokenizer made on the spot."""

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.cli import run
from tests.msu_dataset import question, score, write_rows

SCRIPT = Path(__file__).parents[2] / "examples" / "lora.py"
TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor"
    " %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


@pytest.fixture(scope="module")
def libraries():
    for name in ("transformers", "peft", "trl", "accelerate"):
        pytest.importorskip(name, reason="training needs the extra 'finetune'")
    return pytest.importorskip("torch", reason="training needs the extra 'finetune'")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    scores = {
        split: [
            score(f"{split}-{number}", abc=f"X:1\nK:C\n{note}{'abcd' * number}|\n")
            for number in range(3)
        ]
        for split, note in (("train", "G"), ("validation", "F"), ("test", "E"))
    }
    questions = {
        split: [question(row["score_id"], 7) for row in rows] for split, rows in scores.items()
    }
    write_rows(folder / "source", scores, questions, source="published")
    code, output = run(
        "build",
        "train",
        "msu",
        "--as",
        "conversations",
        "--dataset",
        folder / "source",
        "--out",
        folder / "out",
    )
    assert code == 0, output
    return folder / "out"


def messages(data):
    lines = (data / "train.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["messages"] for line in lines]


@pytest.fixture(scope="module")
def model(libraries, data, tmp_path_factory):
    from tokenizers import ByteLevelBPETokenizer, Tokenizer
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    trained = ByteLevelBPETokenizer()
    special = ["<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]
    texts = [message["content"] for conversation in messages(data) for message in conversation]
    trained.train_from_iterator(texts, vocab_size=500, special_tokens=special, show_progress=False)
    ends = {"eos_token": "<|end|>", "pad_token": "<|end|>"}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(trained.to_str()), **ends
    )
    tokenizer.chat_template = TEMPLATE
    libraries.manual_seed(1)
    sizes = {
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 1,
        "num_attention_heads": 4,
    }
    config = LlamaConfig(vocab_size=len(tokenizer), eos_token_id=0, initializer_range=0.2, **sizes)
    folder = tmp_path_factory.mktemp("base")
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def loss_of_answers(libraries, model, conversations):
    """The mean over the tokens of all answers, each with the mark of its end."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, base = (
        AutoTokenizer.from_pretrained(model),
        AutoModelForCausalLM.from_pretrained(model),
    )
    loss, count = 0.0, 0
    for conversation in conversations:
        ids = tokenizer.apply_chat_template(conversation, return_tensors="pt", return_dict=True)[
            "input_ids"
        ]
        length = len(tokenizer(conversation[-1]["content"] + "<|end|>")["input_ids"])
        labels = ids.clone()
        labels[0, :-length] = -100
        with libraries.no_grad():
            loss += base(ids, labels=labels).loss.item() * length
        count += length
    return loss / count


@pytest.mark.slow
def test_the_script_trains_on_exported_data_by_the_settings_of_the_paper(
    libraries, model, data, tmp_path
):
    out = tmp_path / "adapter"
    done = subprocess.run(
        [sys.executable, SCRIPT, model, data, out], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    adapter = json.loads((out / "adapter_config.json").read_text(encoding="utf-8"))
    assert (adapter["peft_type"], adapter["r"], adapter["modules_to_save"]) == ("LORA", 8, None)
    assert (out / "adapter_model.safetensors").is_file()
    state = json.loads((out / "trainer_state.json").read_text(encoding="utf-8"))
    steps = [entry for entry in state["log_history"] if "loss" in entry]
    evaluations = [entry for entry in state["log_history"] if "eval_loss" in entry]
    # Section 5.1: 20 epochs, 16 conversations per step, 5e-5 with 10% warm-up and a cosine.
    assert (state["num_train_epochs"], state["train_batch_size"]) == (20, 1)
    assert len(steps) == len(evaluations) == 20, "three conversations are one step"
    rates = [0, 0.5, *((1 + math.cos(math.pi * step / 18)) / 2 for step in range(18))]
    assert [entry["learning_rate"] for entry in steps] == pytest.approx(
        [5e-5 * rate for rate in rates]
    )
    # A new adapter changes nothing yet, and the first step has a rate of 0.
    assert steps[0]["loss"] == pytest.approx(
        loss_of_answers(libraries, model, messages(data)), rel=1e-3
    )
    assert steps[-1]["loss"] < steps[0]["loss"]
    assert evaluations[-1]["eval_loss"] < evaluations[0]["eval_loss"]
