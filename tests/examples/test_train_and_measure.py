"""`examples/train_and_measure` with a tiny random model: what it trains on, and what it measures."""

import csv
import math
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from music_evals.rewards import score

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPT = EXAMPLES / "train_and_measure" / "train_and_measure.sh"
COMMAND = f"#!{sys.executable}\nfrom music_evals.commands.main import main\nmain()\n"


TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory):
    """A random Llama of some 100,000 parameters, with a tokenizer of bytes."""
    for name in ("torch", "transformers", "trl", "accelerate"):
        pytest.importorskip(name, reason="training needs the extra 'finetune'")
    from tokenizers import ByteLevelBPETokenizer, Tokenizer
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    out = tmp_path_factory.mktemp("tiny")
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(
        ["Which note is A sharp?"], 300, special_tokens=["<|end|>", "<|user|>", "<|assistant|>"]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(trained.to_str()), eos_token="<|end|>", pad_token="<|end|>"
    )  # fmt: skip
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(out)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        eos_token_id=0, pad_token_id=0,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(out)
    return out


@pytest.mark.slow
def test_it_learns_replies_that_are_right_and_measures_each_checkpoint(tiny_model, tmp_path):
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "music-evals").write_text(COMMAND, encoding="utf-8")
    (commands / "music-evals").chmod(0o755)
    out = tmp_path / "out"
    options = {"out": out, "epochs": 1, "save": 1, "longest": 1900, "limit": 2, "steps": 1}
    words = [str(word) for name, value in options.items() for word in (f"--{name}", value)]
    done = subprocess.run(
        [SCRIPT, "--model", tiny_model, *words],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": f"{commands}:{Path(sys.executable).parent}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    train = runpy.run_path(str(SCRIPT.with_name("train.py")))
    rows = train["training_rows"](out / "data", options["longest"])
    assert 4 < len(rows) < 9
    assert set(rows["level"]) == {1}
    for row in rows.map(train["with_reply"]):
        reward = score("msu_textual", row, row["completion"][0]["content"])
        assert (reward.value, reward.parts["format"]) == (1.0, 1.0), row["completion"]
    steps = math.ceil(len(rows) / 4)  # in batches of four
    with (out / "curve" / "curve.csv").open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert [float(row["Step"]) for row in table] == [*range(steps + 1)]
    assert len(list((out / "grpo_logs").glob("*.eval"))) == 1
    assert (out / "report" / "report.html").is_file()
