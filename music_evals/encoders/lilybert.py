"""Vectors of LilyPond texts, from a hidden layer of LilyBERT or of another text encoder.

LilyBERT is a RoBERTa with 12 layers and 768 dimensions, trained on LilyPond code. The vector of a
text is that of its first token, with the first 512 tokens read, special tokens included, as in
LilyBench's published metric code.

Source: "Can LLMs understand LilyPond?" (arXiv 2606.08722), section 3.
"""

import hashlib
import importlib.util
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from music_evals.notation.cache import cache_get, cache_put
from music_evals.notation.extras import install

LILYBERT = "csc-unipd/lilybert"
LAYER = 6
MOST_CHARACTERS = 1_000_000
"""Characters of a text that are read; no score is longer."""

Vector = NDArray[np.float32]
"""The vector of a text, of shape (d,)."""

_MOST_TOKENS = 512  # of a text, with its special tokens
# The files that vectors may depend on.
_FILES = (
    ".json",
    ".txt",
    ".model",
    ".safetensors",
    ".bin",
)
# The upper layers of these models can be left out: hidden states are plain outputs of layers. Other
# models may normalise the last layer once more.
_CUTTABLE = ("bert", "camembert", "roberta", "xlm-roberta")


class EncoderError(ValueError):
    """An encoder cannot be used; the message says what is wrong and what is accepted."""


@dataclass(frozen=True, slots=True)
class Encoder:
    """A layer of a text encoder; made by `load_encoder`."""

    name: str  # the argument of `load_encoder`, or the last part of a folder
    # name, revision or checksum, and layer: encoders of the same identity make the same vectors
    identity: str
    layer: int
    dimension: int  # length of a vector
    most_tokens: int  # of a text, with its special tokens
    device: str
    cache: Path | None
    model: Any = field(repr=False)
    tokenizer: Any = field(repr=False)

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Embed texts without white space at their ends, as LilyBERT's authors do.

        Equal texts get equal vectors; a vector from the cache is the same to the bit.

        Args:
            texts: the texts; at most `MOST_CHARACTERS` of each are read.

        Returns:
            The vector of each text.

        Raises:
            EncoderError: the model's vectors are not finite.

        Example:
            >>> load_encoder().embed([r"{ c'4 d' e' }"])[0].shape  # doctest: +SKIP
            (768,)
        """
        # Halves of surrogate pairs, which no encoding can write, become "?".
        readable = [
            text[:MOST_CHARACTERS].strip().encode("utf-8", "replace").decode("utf-8")
            for text in texts
        ]
        vectors = {text: self._vector(text) for text in dict.fromkeys(readable)}
        return [vectors[text] for text in readable]

    def _vector(self, text: str) -> Vector:
        """The vector of a text, from the cache if that has it undamaged."""
        if self.cache is None:
            return self._compute(text)
        parts = [part.encode() for part in (self.identity, text)]
        key = hashlib.sha256(b"".join(b"%d:%b" % (len(part), part) for part in parts)).hexdigest()
        name = f"{key[:2]}/{key}.f32"
        content = cache_get(self.cache, name, 4 * self.dimension)
        if content is not None:
            return np.frombuffer(content, "<f4").astype(np.float32)
        vector = self._compute(text)
        cache_put(self.cache, name, vector.astype("<f4").tobytes())
        return vector

    def _compute(self, text: str) -> Vector:
        import torch

        tokens = self.tokenizer(text, truncation=True, max_length=self.most_tokens)["input_ids"]
        ids = torch.tensor([tokens], device=self.device)
        with torch.inference_mode():
            output = self.model(
                input_ids=ids, attention_mask=torch.ones_like(ids), output_hidden_states=True
            )
            states: Vector = output.hidden_states[self.layer][0].cpu().numpy()
        if not np.isfinite(states).all():
            raise EncoderError(
                f"encoder {self.name!r}: layer {self.layer} has values that are not finite"
            )
        vector: Vector = states[0].copy()
        return vector


def load_encoder(
    name: str | Path = LILYBERT,
    *,
    layer: int = LAYER,
    device: str | None = None,
    cache: Path | None = None,
) -> Encoder:
    """Load a text encoder up to one of its layers; it computes in float32 without dropout.

    Args:
        name: a model on the Hub, such as ``ORG/NAME`` or ``ORG/NAME@REVISION``, or a folder with a
            model and its tokenizer. The model is a BERT, a RoBERTa, or another encoder that needs
            no remote code.
        layer: the layer whose output is taken; 0 is the output of the input embeddings.
        device: a device of PyTorch; default: ``cuda`` if there is a GPU, else ``cpu``.
        cache: folder of a cache of vectors.

    Raises:
        EncoderError: the extra is not installed, there is no such model or layer, or the model is
            no encoder.
    """
    source = str(name)
    folder = Path(source).expanduser()
    is_local = bool(source) and folder.is_dir()
    missing = [name for name in ("torch", "transformers") if not importlib.util.find_spec(name)]
    if missing:
        raise EncoderError(
            f"an encoder needs {', '.join(missing)}, not installed here; install with: "
            f"{install('lilybert')}"
        )
    import torch
    from transformers import AutoTokenizer
    from transformers.utils.hub import cached_file, extract_commit_hash

    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    shown = folder.resolve().name if is_local else source
    with _loading(shown):
        if is_local:
            place, revision, version = str(folder), None, f"sha256:{_checksum(folder)}"
        else:
            place, _, revision = source.partition("@")
            path = cached_file(place, "config.json", revision=revision or None)
            version = revision = str(extract_commit_hash(path, None))
        tokenizer = AutoTokenizer.from_pretrained(place, revision=revision, trust_remote_code=False)
        model = _load_model(shown, place, revision, layer)
    if len(tokenizer) > model.config.vocab_size:
        raise EncoderError(
            f"encoder {shown!r}: its tokenizer has {len(tokenizer)} tokens and its model "
            f"{model.config.vocab_size}; accepted: a tokenizer that belongs to the model"
        )
    return Encoder(
        name=shown,
        identity=f"{shown.partition('@')[0]}@{version}, layer {layer}",
        layer=layer,
        dimension=model.config.hidden_size,
        most_tokens=min(_MOST_TOKENS, _positions(model)),
        device=device,
        cache=cache,
        model=model.to(device),
        tokenizer=tokenizer,
    )


def _load_model(shown: str, place: str, revision: str | None, layer: int) -> Any:
    """Load a model, if possible without the layers above the wanted layer; errors are those of
    `load_encoder`.
    """
    import torch
    from transformers import AutoConfig, AutoModel

    options = {"revision": revision, "trust_remote_code": False}
    config = AutoConfig.from_pretrained(place, **options)
    layers = getattr(config, "num_hidden_layers", None)
    if layers is None or getattr(config, "is_encoder_decoder", False):
        raise EncoderError(
            f"encoder {shown!r} is a model of type {config.model_type}; accepted: text encoders"
        )
    if not 0 <= layer <= layers:
        raise EncoderError(
            f"encoder {shown!r} has {layers} layers, layer {layer} was asked for; accepted: 0 to "
            f"{layers}"
        )
    if config.model_type in _CUTTABLE:
        config.num_hidden_layers = max(layer, 1)
    options |= {"config": config, "dtype": torch.float32, "output_loading_info": True}
    model, loading = AutoModel.from_pretrained(place, **options)
    # Transformers fills missing weights with random values. The pooler is not used.
    if absent := sorted(key for key in loading["missing_keys"] if not key.startswith("pooler.")):
        raise EncoderError(
            f"encoder {shown!r} lacks {len(absent)} of its weights, such as {absent[0]}"
        )
    return model.eval()


def _positions(model: Any) -> int:
    """Return how many tokens a model reads at most."""
    table = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    if table is None:
        return getattr(model.config, "max_position_embeddings", _MOST_TOKENS)
    # RoBERTa counts from the position after that of the padding.
    first = 0 if table.padding_idx is None else table.padding_idx + 1
    return int(table.num_embeddings - first)


def _checksum(folder: Path) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 over the files of a model and its
    tokenizer.
    """
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.suffix in _FILES and path.is_file():
            with path.open("rb") as stream:
                checksum = hashlib.file_digest(stream, "sha256").hexdigest()
            digest.update(f"{path.name}:{checksum}\n".encode())
    return digest.hexdigest()[:16]


@contextmanager
def _loading(shown: str) -> Iterator[None]:
    """Silence Transformers while it loads files, and name the encoder in any error."""
    from transformers.utils import logging

    verbosity, has_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    except EncoderError:
        raise
    except Exception as error:  # readers of damaged files raise many types, even a plain Exception
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)[:300]
        raise EncoderError(
            f"encoder {shown!r} cannot be loaded: {reason}; accepted: a folder with a model and its"
            " tokenizer, or the name of a model on the Hub that can be reached or was loaded "
            "before"
        ) from error
    finally:
        logging.set_verbosity(verbosity)
        if has_bars:
            logging.enable_progress_bar()
