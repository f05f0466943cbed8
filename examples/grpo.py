"""GRPO with TRL on composed questions, and the suite's evaluation before and after. Runs on a CPU
in minutes.

The model is tiny and random, so it is first taught, in `--warmup` steps, to answer at random: half
of the time as ``Final Answer: X``, half of the time as ``X, I think.``. GRPO then rewards right
answers and the demanded form. Such a model can learn the form. It cannot learn music: expect
accuracy at chance before and after.

    pip install -e '.[finetune]'
    python examples/grpo.py --out runs/grpo

With `--model` you train a model of your own, without warm-up; docs/rewards.md has settings for a
GPU.
"""

import json
from functools import partial
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import typer
from datasets import Dataset, load_dataset
from inspect_ai.log import read_eval_log
from tokenizers import ByteLevelBPETokenizer, Tokenizer
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

import music_evals as me
from music_evals.datasets_builders.training.sets import build_training_set
from music_evals.evals.shared.training_prompts import training_prompts
from music_evals.rewards import reward_function, score
from music_evals.scorers.metrics.proportion import wilson_interval

TASK = "musictheorybench_knowledge"
TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def training_rows(out: Path, count: int) -> list[dict[str, Any]]:
    """Prompts as the task words them, with the columns that the reward needs; no question of the
    test is among them.
    """
    prompts = partial(training_prompts, "musictheorybench")
    options = {"tasks": ["knowledge"], "prompts": prompts, "overwrite": True}
    build_training_set("musictheorybench", out, rows=count, seed=1, **options)
    return load_dataset(str(out), "knowledge", split="train").to_list()


def make_tiny_model(out: Path, rows: list[dict[str, Any]], steps: int) -> Path:
    """Write a random Llama of some 150,000 parameters that answers at random, half of the time in
    the demanded form.
    """
    trained = ByteLevelBPETokenizer()
    texts = [row["prompt"][0]["content"] for row in rows] + ["Final Answer: A", "B, I think."] * 50
    special = ["<|end|>", "<|user|>", "<|assistant|>"]
    trained.train_from_iterator(texts, vocab_size=800, special_tokens=special, show_progress=False)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(trained.to_str()),
        eos_token="<|end|>",
        pad_token="<|end|>",
    )
    tokenizer.chat_template = TEMPLATE
    sizes = {
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
    }
    model = LlamaForCausalLM(
        LlamaConfig(vocab_size=len(tokenizer), eos_token_id=0, pad_token_id=0, **sizes)
    )
    rng = Random(0)
    replies = [
        rng.choice(("Final Answer: {}", "{}, I think.")).format(rng.choice("ABCD")) for _ in rows
    ]
    shown = [
        {"prompt": row["prompt"], "completion": [{"role": "assistant", "content": reply}]}
        for row, reply in zip(rows, replies, strict=True)
    ]
    config = SFTConfig(
        str(out / "warmup"), max_steps=steps, per_device_train_batch_size=16, learning_rate=3e-3, report_to="none",
        save_strategy="no", use_cpu=True,
    )  # fmt: skip
    trainer = SFTTrainer(
        model, config, train_dataset=Dataset.from_list(shown), processing_class=tokenizer
    )
    trainer.train()
    trainer.save_model(str(out / "base"))
    tokenizer.save_pretrained(out / "base")
    return out / "base"


def evaluate(model: str, logs: Path) -> dict[str, Any]:
    """Run the task by the suite; return n, accuracy and the share of replies in the demanded form,
    with intervals.
    """
    settings = {
        "model_args": {"model_path": model},
        "max_tokens": 16,
        "temperature": 0.7,
        "seed": 1,
    }
    me.run(TASK, "hf/local", logs=str(logs), display="none", **settings)
    samples = read_eval_log(str(next(logs.glob("*.eval")))).samples or []
    measured: dict[str, Any] = {"n": len(samples)}
    rows = [{"options": sample.metadata["options"], "answer": sample.target} for sample in samples]
    rewards = [
        score(TASK, row, sample.output.completion)
        for row, sample in zip(rows, samples, strict=True)
    ]
    for part in ("answer", "format"):
        share = fmean(reward.parts[part] or 0 for reward in rewards)
        measured[part] = [
            round(number, 3) for number in (share, *wilson_interval(share, len(samples)))
        ]
    return measured


def main(
    out: Path = Path("runs/grpo"),
    steps: int = 100,
    warmup: int = 150,
    questions: int = 480,
    model: str = "",
) -> None:
    """Train, and print what was measured before, on the way (step, format, answer), and after."""
    set_seed(1)
    rows = training_rows(out / "data", questions)
    base = model or str(make_tiny_model(out, rows, warmup))
    before = evaluate(base, out / "before")
    config = GRPOConfig(
        str(out / "grpo"), max_steps=steps, per_device_train_batch_size=32, num_generations=8, learning_rate=1e-3,
        max_completion_length=16, reward_weights=[1.0, 0.5], logging_steps=5, save_strategy="no", report_to="none",
        use_cpu=not model,
    )  # fmt: skip
    rewards = [reward_function(TASK), reward_function(TASK, part="format")]
    trainer = GRPOTrainer(base, rewards, config, train_dataset=Dataset.from_list(rows))
    trainer.train()
    trainer.save_model(str(out / "trained"))
    trainer.processing_class.save_pretrained(out / "trained")
    measures = ("step", f"rewards/{TASK}_format/mean", f"rewards/{TASK}/mean")
    curve = [
        [entry[name] for name in measures]
        for entry in trainer.state.log_history
        if measures[1] in entry
    ]
    after = evaluate(str(out / "trained"), out / "after")
    print(json.dumps({"rows": len(rows), "before": before, "curve": curve, "after": after}))


if __name__ == "__main__":
    typer.run(main)
