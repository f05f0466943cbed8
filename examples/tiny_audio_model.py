"""A tiny audio-language model of random weights, to try tasks with sound on a vLLM server without a
GPU.

Its architecture is Qwen2-Audio's, with two layers. It shows whether your clips reach a server. Its
answers are noise. docs/models.md says how to install vLLM on a CPU.

    pip install -e '.[hf]'
    python examples/tiny_audio_model.py --out tiny-audio
    vllm serve tiny-audio --max-model-len 4096
    export VLLM_BASE_URL=http://127.0.0.1:8000/v1
    inspect eval evals/mmau.py --model vllm/tiny-audio --limit 6
"""

import argparse
from pathlib import Path

from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    PreTrainedTokenizerFast,
    Qwen2AudioConfig,
    Qwen2AudioEncoderConfig,
    Qwen2AudioForConditionalGeneration,
    Qwen2AudioProcessor,
    Qwen2Config,
    WhisperFeatureExtractor,
    set_seed,
)

AUDIO = "<|AUDIO|>"  # the processor repeats it, once per 40 ms of sound
SPECIAL = ["<pad>", "<|im_start|>", "<|im_end|>", AUDIO, "<|audio_bos|>", "<|audio_eos|>"]


def make_tokenizer() -> PreTrainedTokenizerFast:
    """Train a tokenizer of bytes and a few words."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=SPECIAL, initial_alphabet=alphabet)
    tokenizer.train_from_iterator(
        ["Final Answer: A", "Final Answer: B", "Which of the two is higher?"], trainer
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<pad>"
    )


def published_name(name: str) -> str:
    """Name a weight as Qwen2-Audio's files do. vLLM reads only these; transformers 5.19 writes
    others.
    """
    name = name.removeprefix("model.").replace("language_model.", "language_model.model.")
    return name.replace("lm_head.", "language_model.lm_head.")


def make_model(out: Path) -> None:
    """Write weights, configuration, tokenizer, chat template and feature extractor to a folder."""
    set_seed(0)
    tokenizer = make_tokenizer()
    audio = Qwen2AudioEncoderConfig(
        d_model=64, encoder_layers=2, encoder_attention_heads=2, encoder_ffn_dim=128
    )
    text = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=32768,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    token = tokenizer.convert_tokens_to_ids(AUDIO)
    config = Qwen2AudioConfig(audio_config=audio, text_config=text, audio_token_index=token)
    model = Qwen2AudioForConditionalGeneration(config)
    model.save_pretrained(out)
    weights = {published_name(name): weight for name, weight in model.state_dict().items()}
    save_file(
        weights, out / "model.safetensors", metadata={"format": "pt"}
    )  # over what transformers wrote
    Qwen2AudioProcessor(
        WhisperFeatureExtractor(feature_size=audio.num_mel_bins), tokenizer
    ).save_pretrained(out)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("tiny-audio"), help="the folder to write")
    make_model(parser.parse_args().out)
