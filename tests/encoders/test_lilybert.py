"""Vectors of a tiny random RoBERTa, against Transformers asked for one text at a time, with all
layers.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import (
    AutoModel,
    AutoTokenizer,
    BertConfig,
    BertModel,
    ModernBertConfig,
    ModernBertModel,
)

from music_evals.encoders.lilybert import EncoderError, load_encoder
from tests.encoders.tiny_encoder import make_tiny_encoder

SHORT = r"\relative c' { \time 3/4 \key g \major g4 a b | d2. }"
OTHER = r'\version "2.24.4" \score { \new Staff { c4 d e f \bar "|." } \midi { } }'
LONG = "".join(rf"\relative c' {{ c{n} d' e, fis | g4. a8 b2 }} % {n}" for n in range(48))
TEXTS = [SHORT, LONG, "", OTHER, LONG[:900]]


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """So small a model gains nothing from more, and loses much where the cores are busy."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_tiny_encoder(tmp_path_factory.mktemp("models") / "tiny", [SHORT, OTHER, LONG])


@pytest.fixture(scope="module")
def encoder(folder):
    return load_encoder(str(folder), device="cpu")


def expected(folder, text, layer=6, limit=512):
    """The vector of a text; the tokenizer itself truncates."""
    tokenizer, model = (
        AutoTokenizer.from_pretrained(folder),
        AutoModel.from_pretrained(folder).eval(),
    )
    ids = tokenizer(text, truncation=True, max_length=limit)["input_ids"]
    with torch.no_grad():
        states = model(torch.tensor([ids]), output_hidden_states=True).hidden_states[layer][0]
    return states[0].numpy()


def assert_close(vectors, expected):
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected, atol=1e-5)


def test_vectors_are_those_of_transformers_alone(folder, encoder):
    tokens = [len(encoder.tokenizer.encode(text)) for text in TEXTS]
    assert min(tokens) == 2
    assert max(tokens) > 2 * 512
    for text, vector in zip(TEXTS, encoder.embed(TEXTS), strict=True):
        assert_close(vector, expected(folder, text))
    for layer in (0, 1, 8):  # the layers above are left out
        other = load_encoder(folder, layer=layer, device="cpu")
        assert_close(other.embed([SHORT])[0], expected(folder, SHORT, layer))
        assert len(other.model.encoder.layer) == max(layer, 1)


@pytest.mark.parametrize(
    ("config", "model"), [(BertConfig, BertModel), (ModernBertConfig, ModernBertModel)]
)
def test_other_encoders(folder, tmp_path, config, model):
    """BERT has positions of another kind; ModernBERT normalises its last layer once more, so it is
    not cut.
    """
    size = {
        "hidden_size": 16,
        "num_hidden_layers": 3,
        "num_attention_heads": 2,
        "intermediate_size": 32,
    }
    torch.manual_seed(1)
    model(
        config(**size, vocab_size=400, pad_token_id=1, max_position_embeddings=40)
    ).save_pretrained(tmp_path)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(folder / name, tmp_path)
    encoder = load_encoder(tmp_path, layer=2, device="cpu")
    assert (encoder.dimension, encoder.most_tokens) == (16, 40)
    assert_close(encoder.embed([SHORT, OTHER])[1], expected(tmp_path, OTHER, 2, limit=40))


def test_a_model_of_the_hub_is_known_by_its_commit(folder, tmp_path, monkeypatch):
    commit = "0123456789abcdef" * 2 + "01234567"
    model = tmp_path / "models--somebody--tiny"
    shutil.copytree(folder, model / "snapshots" / commit)
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text(commit)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    for name in ("somebody/tiny", f"somebody/tiny@{commit}"):
        encoder = load_encoder(name, device="cpu")
        assert encoder.name == name
        assert encoder.identity == f"somebody/tiny@{commit}, layer 6"
    assert_close(encoder.embed([SHORT])[0], expected(folder, SHORT))
    for name in ("somebody/other", "somebody/tiny@v2"):
        with pytest.raises(
            EncoderError, match=f"encoder '{name}' cannot be loaded: .*; accepted: a folder"
        ):
            load_encoder(name)


def test_what_cannot_be(folder, monkeypatch):
    for name in ("", "./nowhere", "/no/such/folder", "a/b/c", "two words"):
        with pytest.raises(
            EncoderError, match=f"encoder '{name}' cannot be loaded: .*; accepted: a folder"
        ):
            load_encoder(name)
    for layer in (9, -1):
        with pytest.raises(
            EncoderError,
            match=f"'tiny' has 8 layers, layer {layer} was asked for; accepted: 0 to 8",
        ):
            load_encoder(folder, layer=layer)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(
        EncoderError, match=r"needs torch, transformers, .* pip install -e '.\[lilybert\]'"
    ):
        load_encoder(folder)


def test_damaged_and_other_models(folder, tmp_path):
    def copied(name, file="", content=""):
        copy = Path(shutil.copytree(folder, tmp_path / name))
        if file:
            (copy / file).write_text(content)
        return copy

    config = json.loads((folder / "config.json").read_text())
    short = copied("short", "config.json", json.dumps({**config, "num_hidden_layers": 12}))
    load_encoder(short, layer=8)
    other, broken = copied("other"), copied("broken")
    size = {
        "hidden_size": 8,
        "num_hidden_layers": 6,
        "num_attention_heads": 2,
        "intermediate_size": 8,
    }
    BertModel(BertConfig(vocab_size=50, **size)).save_pretrained(other)
    model = AutoModel.from_pretrained(folder)
    with torch.no_grad():
        model.encoder.layer[0].output.dense.bias[0] = torch.nan
    model.save_pretrained(broken)
    files = ("config.json", "tokenizer.json", "model.safetensors")
    for path, message in (
        *(
            (copied(f"no {file}", file, "{"), f"encoder 'no {file}' cannot be loaded: ")
            for file in files
        ),
        (short, r"encoder 'short' lacks 16 of its weights, such as encoder\.layer\.8"),
        (other, r"has .* tokens and its model 50; accepted: a tokenizer that belongs"),
        (
            copied("t5", "config.json", '{"model_type": "t5"}'),
            "'t5' is a model of type t5; accepted: text encoders",
        ),
        (broken, "encoder 'broken': layer 6 has values that are not finite"),
    ):
        with pytest.raises(EncoderError, match=message):
            load_encoder(path, layer=9 if path == short else 6, cache=tmp_path / "cache").embed(
                [SHORT]
            )
    assert not (tmp_path / "cache").exists()
