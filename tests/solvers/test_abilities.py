"""Refusals before any sample is asked, and greedy decoding where `transformers` would refuse it."""

import asyncio
from unittest.mock import MagicMock

import click
import pytest
from inspect_ai.hooks import BeforeModelGenerate
from inspect_ai.model import GenerateConfig

from music_evals.evals import msu, muse
from music_evals.solvers.abilities import made_for, model_at_hand
from music_evals.solvers.door import BeforeRequest
from tests.commands.cli import run
from tests.golden.record import HERE as GOLDEN
from tests.msu_dataset import write_small

MSU = str(GOLDEN / "data" / "msu")
API = ("base_url", "api_key", "generate", "should_retry", "retry_wait")


def model_called(name, address=None):
    api = MagicMock(spec=API, base_url=address)
    return MagicMock(api=api, model_args={}, config=GenerateConfig(), __str__=lambda _: name)


@pytest.mark.parametrize(
    ("name", "task", "params", "message"),
    [
        (
            "hf/m",
            muse.syncopation,
            {"modality": "audio"},
            "hf/m cannot be asked about sound.*text only.*modality=midi",
        ),
        ("mistral/m", muse.syncopation, {"modality": "audio"}, "takes text and images only"),
        ("openai-api/x/m", muse.syncopation, {"modality": "audio"}, None),
        ("hf/m", msu.visual, {"dataset": MSU}, "hf/m cannot be asked about pages: .*msu_textual"),
        ("anthropic/m", msu.visual, {"dataset": MSU}, None),
        ("hf/m", msu.visual, {"dataset": MSU, "content": "title"}, None),
        ("none/none", muse.syncopation, {}, "no model is named"),
        ("hf/m", muse.syncopation, {"strategy": "logiclm"}, None),
    ],
)
def test_what_a_provider_cannot_ask_is_refused(name, task, params, message):
    with made_for(model_called(name)):
        if message is None:
            task(**params)
        else:
            with pytest.raises(click.ClickException, match=message):
                task(**params)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sglang/m", "sglang/m cannot be asked about a PDF: .*-T pages=images"),
        ("vllm/m", "vllm/m cannot be asked about a PDF"),
        ("groq/m", "the provider 'groq' sends none"),
        ("human/m", "cannot be asked about a PDF"),
        ("hf/m", "hf/m cannot be asked about pages: .*msu_textual"),
        ("anthropic/m", None),
        ("mistral/m", None),
        ("openai-api/x/m", None),
    ],
)
def test_a_pdf_is_refused_where_pages_are_taken(name, message, tmp_path):
    dataset, address = write_small(tmp_path / "small"), "http://localhost:8000/v1"
    with made_for(model_called(name, address)):
        if name != "hf/m":
            msu.visual(dataset=dataset)
        if message is None:
            msu.visual(dataset=dataset, pages="pdf", abc=True)
        else:
            with pytest.raises(click.ClickException, match=message):
                msu.visual(dataset=dataset, pages="pdf")


def test_a_grid_leaves_out_what_the_model_cannot_be_asked(tmp_path):
    arguments = (
        "run",
        "muse_syncopation",
        "ziqi_generation",
        "--model",
        "baseline/reader",
        "--limit",
        1,
    )
    code, output = run(*arguments, "--display", "none", "--log-dir", tmp_path)
    assert code == 0, output
    assert "Left out: ziqi_generation: baseline/reader cannot answer ziqi generation" in " ".join(
        output.split()
    )
    assert model_at_hand() is None  # in a program, while Inspect still holds the model of the set


@pytest.mark.parametrize(
    ("model", "temperature", "sent"),
    [
        ("hf/m", 0.0, {"top_k": 1, "max_tokens": 9}),
        ("hf/m", 0.7, {"temperature": 0.7, "top_p": 0.9, "max_tokens": 9}),
        ("vllm/m", 0.0, {"temperature": 0.0, "top_p": 0.9, "max_tokens": 9}),
    ],
)
def test_temperature_0_is_the_likeliest_token_on_hf(model, temperature, sent):
    config = GenerateConfig(temperature=temperature, top_p=0.9, max_tokens=9)
    asyncio.run(
        BeforeRequest().on_before_model_generate(
            BeforeModelGenerate(model, [], [], "auto", config, None)
        )
    )
    assert config.model_dump(exclude_none=True) == sent
