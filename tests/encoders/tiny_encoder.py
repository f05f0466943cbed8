"""A tiny random RoBERTa with its own tokenizer, made on the spot."""

import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import RobertaConfig, RobertaModel, RobertaTokenizerFast


def make_tiny_encoder(folder, texts, *, seed=1, layers=8, hidden=32):
    """Write a RoBERTa with random weights and a byte-level tokenizer trained on the texts; return
    the folder.

    Same arguments, same vectors. It takes 512 tokens, as LilyBERT does; `hidden` is a multiple of
    4.
    """
    folder.mkdir(parents=True, exist_ok=True)
    trained = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trained.train_from_iterator(texts, vocab_size=400, special_tokens=special, show_progress=False)
    trained.save_model(str(folder))
    files = {"vocab": str(folder / "vocab.json"), "merges": str(folder / "merges.txt")}
    tokenizer = RobertaTokenizerFast(**files, model_max_length=512)
    tokenizer.save_pretrained(folder)

    config = RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=4,
        intermediate_size=2 * hidden,
        max_position_embeddings=514,
        type_vocab_size=1,
        # Wider than the usual 0.02, so that vectors of different texts differ by more than
        # rounding.
        initializer_range=0.2,
        **{
            name: getattr(tokenizer, name)
            for name in ("pad_token_id", "bos_token_id", "eos_token_id")
        },
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        RobertaModel(config, add_pooling_layer=False).save_pretrained(folder)
    return folder
