"""Vectors of LilyPond texts, from a hidden layer of LilyBERT or of another text encoder.

LilyBERT is a RoBERTa of 12 layers and 768 dimensions that was trained on LilyPond code. A text becomes one vector by
``first_token``, that token's vector of the first 512 tokens (LilyBench's published metric code), or by ``mean``, over
all tokens of the text, read in chunks of 512 that do not overlap (as in "BMdataset: A Musicologically Curated LilyPond
Dataset"). Each chunk is wrapped in the encoder's two special tokens, which are counted in both.

Source: "Can LLMs understand LilyPond?" (arXiv 2606.08722), section 3.
"""

import hashlib
import importlib.util
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from music_evals.encoders.vectors import content_key, read_vector, write_vector

LILYBERT: Final = "csc-unipd/lilybert"
LAYER: Final = 6
EXTRA: Final = "pip install 'music-evals[lilybert]'"
MOST_CHARACTERS: Final = 1_000_000  # of a text that are read; no score is longer

Pooling = Literal["first_token", "mean"]
POOLINGS: Final[tuple[Pooling, ...]] = get_args(Pooling)
_Vectors = dict[Pooling, NDArray[np.float32]]  # of one text, each of shape (d,)

_MOST_TOKENS: Final = 512  # a chunk, with its two special tokens
_HUB_NAME: Final = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?(@[\w./-]+)?")
_FILES: Final = (".json", ".txt", ".model", ".safetensors", ".bin")  # of a folder: what vectors may depend on
# Their layers' outputs are the hidden states as they are, so that the layers above can be left out. In others the last
# one may be normalised once more.
_CUTTABLE: Final = ("bert", "camembert", "roberta", "xlm-roberta")


class EncoderError(ValueError):
    """An encoder cannot be used as asked; the message says what is wrong and what is accepted."""


@dataclass(frozen=True, slots=True)
class Encoder:
    """A layer of a text encoder, ready for use; made by `load_encoder`."""

    name: str  # as given, or the last part of a folder
    identity: str  # tells apart whatever may give different vectors: name, revision or checksum, and layer
    layer: int
    dimension: int  # length of a vector
    most_tokens: int  # of a chunk, with the two special ones
    device: str
    cache: Path | None
    model: Any = field(repr=False)
    tokenizer: Any = field(repr=False)
    wrap: tuple[int, int] = field(repr=False)  # ids of the special tokens

    def embed(
        self,
        texts: Sequence[str],
        *,
        poolings: Sequence[Pooling] = POOLINGS,
        batch_size: int = 16,
        on_text: Callable[[], None] = lambda: None,
    ) -> list[_Vectors]:
        """Embed texts, of each `MOST_CHARACTERS` at most without white space at the ends, as LilyBERT's authors do.

        Equal texts get equal vectors. A vector depends on the texts beside its own by no more than rounding; a kept one
        stays the same to the bit. The model reads `batch_size` chunks at a time; `on_text` is called as each text is
        done. EncoderError for a bad pooling or batch size, or where the model's vectors are not finite.

        Example:
            >>> load_encoder().embed([r"{ c'4 d' e' }"])[0]["mean"].shape  # doctest: +SKIP
            (768,)
        """
        if unknown := [pooling for pooling in poolings if pooling not in POOLINGS]:
            raise EncoderError(f"unknown pooling {unknown[0]!r}; accepted: {', '.join(POOLINGS)}")
        if batch_size < 1:
            raise EncoderError(f"batch size {batch_size}; accepted: a whole number from 1")
        readable = [_readable(text) for text in texts]
        copies = Counter(readable)
        done = {text: self._kept(text, poolings) for text in copies}
        missing = [text for text, vectors in done.items() if len(vectors) < len(set(poolings))]
        for _ in range(len(readable) - sum(copies[text] for text in missing)):
            on_text()
        for text, vectors in self._compute(missing, poolings, batch_size):
            for pooling in set(poolings) - set(done[text]):
                if self.cache is not None:
                    write_vector(self.cache, content_key(self.identity, pooling, text), vectors[pooling])
                done[text][pooling] = vectors[pooling]
            for _ in range(copies[text]):
                on_text()
        return [dict(done[text]) for text in readable]

    def _kept(self, text: str, poolings: Sequence[Pooling]) -> _Vectors:
        """Take from the cache what it has of a text."""
        kept: _Vectors = {}
        if self.cache is None:
            return kept
        for pooling in poolings:
            vector = read_vector(self.cache, content_key(self.identity, pooling, text), self.dimension)
            if vector is not None:
                kept[pooling] = vector
        return kept

    def _compute(
        self, texts: Sequence[str], poolings: Sequence[Pooling], batch_size: int
    ) -> Iterator[tuple[str, _Vectors]]:
        """Embed texts in batches of chunks of about the same length, the longest first; yield each when it is done."""
        chunks: list[tuple[int, int, NDArray[np.int32]]] = []  # text, place in it, tokens
        for number, text in enumerate(texts):
            own = self._chunks(text)
            chunks += [(number, place, ids) for place, ids in enumerate(own if "mean" in poolings else own[:1])]
        chunks.sort(key=lambda chunk: -len(chunk[2]))
        left = Counter(number for number, _, _ in chunks)
        firsts: dict[int, NDArray[np.float32]] = {}
        sums = {number: np.zeros(self.dimension) for number in left}
        tokens: Counter[int] = Counter()
        for start in range(0, len(chunks), batch_size):
            batch = chunks[start : start + batch_size]
            heads, totals = self._run([ids for _, _, ids in batch])
            for (number, place, ids), head, total in zip(batch, heads, totals, strict=True):
                if place == 0:
                    firsts[number] = head.copy()
                sums[number] += total
                tokens[number] += len(ids)
                left[number] -= 1
                if left[number] == 0:
                    mean = (sums.pop(number) / tokens[number]).astype(np.float32)
                    vectors: _Vectors = {"first_token": firsts.pop(number), "mean": mean}
                    yield texts[number], {pooling: vectors[pooling] for pooling in poolings}

    def _chunks(self, text: str) -> list[NDArray[np.int32]]:
        """Cut a text into chunks of tokens; there is always a first one, which truncation would also give."""
        ids = np.asarray(self.tokenizer.encode(text, add_special_tokens=False), np.int32)
        body = self.most_tokens - 2
        before, after = self.wrap
        bodies = [ids[start : start + body] for start in range(0, max(len(ids), 1), body)]
        return [np.concatenate([[before], one, [after]]).astype(np.int32) for one in bodies]

    def _run(self, chunks: Sequence[NDArray[np.int32]]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The first token's vector of each chunk, and the sum over its tokens; both of shape (chunks, d)."""
        import torch

        padding = self.tokenizer.pad_token_id or 0
        ids = np.full((len(chunks), max(map(len, chunks))), padding, np.int64)
        mask = np.zeros_like(ids)
        for row, chunk in enumerate(chunks):
            ids[row, : len(chunk)] = chunk
            mask[row, : len(chunk)] = 1
        with torch.inference_mode():
            inputs = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask)}
            inputs = {name: values.to(self.device) for name, values in inputs.items()}
            states = self.model(**inputs, output_hidden_states=True).hidden_states[self.layer]
            sums = (states * inputs["attention_mask"].unsqueeze(-1)).sum(dim=1)
            first, total = states[:, 0].cpu().numpy(), sums.cpu().numpy()
        if not np.isfinite(total).all():
            raise EncoderError(f"encoder {self.name!r}: layer {self.layer} has values that are not finite")
        return first, total


def load_encoder(
    name: str | Path = LILYBERT, *, layer: int = LAYER, device: str | None = None, cache: Path | None = None
) -> Encoder:
    """Load a text encoder, up to one of its layers; it computes in float32 without dropout.

    EncoderError if the extra is not installed, there is no such model, layer or device, or it is no text encoder.

    Args:
        name: a model on the Hub, with ``@REVISION`` if need be, or a folder with a model and its tokenizer: BERT,
            RoBERTa, or another that Transformers knows without code of its own.
        layer: whose output is taken; 0 is that of the input embeddings.
        device: where it runs; default is ``cuda`` where there is one, else ``cpu``.
        cache: folder to keep vectors in, and to take them from where the same encoder had the same text.
    """
    source = str(name)
    folder = Path(source).expanduser()
    local = bool(source) and folder.is_dir()
    if not local and not _HUB_NAME.fullmatch(source):
        raise EncoderError(
            f"no folder {source!r}; accepted: a folder with a model and its tokenizer, or the name of a model on the "
            f"Hub, such as {LILYBERT}"
        )
    if missing := [name for name in ("torch", "transformers") if importlib.util.find_spec(name) is None]:
        raise EncoderError(f"an encoder needs {', '.join(missing)}, not installed here; install with: {EXTRA}")
    device = _device(device)
    if local:
        shown, place, revision = folder.resolve().name, str(folder), None
        version = f"sha256:{_checksum(folder)}"
    else:
        shown = source
        place, _, revision = source.partition("@")
        version = revision = _commit(shown, place, revision or None)
    tokenizer, wrap = _load_tokenizer(shown, place, revision)
    model = _load_model(shown, place, revision, layer)
    if len(tokenizer) > model.config.vocab_size:
        raise EncoderError(
            f"encoder {shown!r}: its tokenizer has {len(tokenizer)} tokens and its model {model.config.vocab_size}; "
            "accepted: a tokenizer that belongs to the model"
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
        wrap=wrap,
    )


def _readable(text: str) -> str:
    """What is read of a text: halves of surrogate pairs, which no encoding can write, become ``?``."""
    return text[:MOST_CHARACTERS].strip().encode("utf-8", "replace").decode("utf-8")


def _device(device: str | None) -> str:
    import torch

    if device is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:  # unknown name; PyTorch built without it
        raise EncoderError(
            f"no device {device!r} here: {_first_line(error)}; accepted: cpu, or cuda with a GPU"
        ) from error
    return device


def _load_tokenizer(shown: str, place: str, revision: str | None) -> tuple[Any, tuple[int, int]]:
    """A tokenizer, with the tokens that it puts before and after a text."""
    from transformers import AutoTokenizer

    with _failing_clearly(shown):
        tokenizer = AutoTokenizer.from_pretrained(place, revision=revision, trust_remote_code=False)
    wrap = tokenizer("")["input_ids"]
    if len(wrap) != 2:
        raise EncoderError(
            f"encoder {shown!r}: its tokenizer puts {len(wrap)} special tokens around a text; accepted: one before and "
            "one after, as in BERT and RoBERTa"
        )
    # Texts are cut into chunks here; the tokenizer must not warn of their length.
    tokenizer.model_max_length = 10**9
    return tokenizer, (wrap[0], wrap[1])


def _load_model(shown: str, place: str, revision: str | None, layer: int) -> Any:
    """A model, without the layers above the wanted one where they can be left out."""
    import torch
    from transformers import AutoConfig, AutoModel

    options: dict[str, Any] = {"revision": revision, "trust_remote_code": False}
    with _failing_clearly(shown):
        config = AutoConfig.from_pretrained(place, **options)
    layers = getattr(config, "num_hidden_layers", None)
    if layers is None or getattr(config, "is_encoder_decoder", False):
        raise EncoderError(f"encoder {shown!r} is a model of type {config.model_type}; accepted: text encoders")
    if not 0 <= layer <= layers:
        raise EncoderError(
            f"encoder {shown!r} has {layers} layers, layer {layer} was asked for; accepted: 0 to {layers}"
        )
    if config.model_type in _CUTTABLE:
        config.num_hidden_layers = max(layer, 1)
    with _failing_clearly(shown):
        model, loading = AutoModel.from_pretrained(
            place, config=config, dtype=torch.float32, output_loading_info=True, **options
        )
    # Transformers has filled them with random values. The pooler's are not used.
    if absent := sorted(key for key in loading["missing_keys"] if not key.startswith("pooler.")):
        raise EncoderError(f"encoder {shown!r} lacks {len(absent)} of its weights, such as {absent[0]}")
    return model.eval()


def _positions(model: Any) -> int:
    """How many tokens a model reads at most."""
    table = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    if table is None:
        return getattr(model.config, "max_position_embeddings", _MOST_TOKENS)
    # RoBERTa counts from the position after that of the padding.
    return int(table.num_embeddings) - (0 if table.padding_idx is None else int(table.padding_idx) + 1)


def _commit(shown: str, place: str, revision: str | None) -> str:
    from transformers.utils.hub import cached_file, extract_commit_hash

    with _failing_clearly(shown):
        commit = extract_commit_hash(cached_file(place, "config.json", revision=revision), None)
    if commit is None:
        raise EncoderError(f"encoder {shown!r}: the commit of its files is not known")
    return str(commit)


def _checksum(folder: Path) -> str:
    """SHA-256 over the files of a model and its tokenizer, its first 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.suffix in _FILES and path.is_file():
            with path.open("rb") as stream:
                digest.update(f"{path.name}:{hashlib.file_digest(stream, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


@contextmanager
def _failing_clearly(shown: str) -> Iterator[None]:
    """Load without progress bars and reports of weights left out, and turn any failure into an error that names it."""
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    except Exception as error:  # readers of damaged files raise all sorts, even a plain Exception
        raise EncoderError(
            f"encoder {shown!r} cannot be loaded: {_first_line(error)}; accepted: a folder with a model and its "
            "tokenizer, or the name of a model on the Hub that can be reached or was loaded before"
        ) from error
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:300]
