"""Cleaning a reply, once, ahead of all readers: what is not said to the user does not count.

`clean_reply` removes a model's thinking and the tokens by which a chat template marks turns; what remains may be music.
`plain_letters` also folds the forms of characters, for readers of words and letters.
"""

import re
import unicodedata
from typing import Final

# Pairs of tags around what a model thinks aloud; a template may write the first one ahead of the reply.
_THINKING: Final = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
)
_HARMONY: Final = "<|channel|>"
_FINAL: Final = "<|channel|>final"
_TOKEN: Final = re.compile(
    r"<[|｜][^<>|｜\n]{0,60}[|｜]>|</?s>|<(?:bos|eos|pad|unk|end_of_turn)>|<start_of_turn>(?:model)?|\[/?INST\]"
)
_WRAPPER: Final = re.compile(r"</?(?:answer|final|final_answer|response|output|tool_call)>", re.IGNORECASE)
# Letters of options in Cyrillic, where nothing follows that makes a word of them.
_CYRILLIC: Final = re.compile(r"(?<!\w)[АВСЕНавсе](?=[ \t]*(?:$|[.):\]}»*,\n]))")
_LATIN: Final = str.maketrans("АВСЕНавсе", "ABCEHabce")


def clean_reply(reply: str) -> str:
    """Return what a reply says to the user: no thinking, no tokens of a chat template, no tags around the whole.

    Nothing remains of a reply that was cut within its thinking.

    Example:
        >>> clean_reply("<think>A or B?</think>B</s>"), clean_reply("<think>A or"), clean_reply("A<|im_end|>")
        ('B', '', 'A')
        >>> clean_reply("<|channel|>analysis<|message|>A?<|end|><|start|>assistant<|channel|>final<|message|>B")
        'B'
    """
    return _WRAPPER.sub("", visible_reply(reply))


def visible_reply(reply: str) -> str:
    """Return a reply without thinking and tokens of a chat template, but with all tags."""
    text = _without_thinking(reply)
    if _HARMONY in text:
        text = text.rpartition(_FINAL)[2] if _FINAL in text else ""
        text = text.partition("<|end|>")[0]
    return _TOKEN.sub("", text)


def _without_thinking(text: str) -> str:
    for begin, end in _THINKING:
        text = text.rpartition(end)[2]
        text = text.partition(begin)[0]
    return text


def plain_letters(text: str) -> str:
    """Return a text in Unicode's compatibility form, with Latin letters for Cyrillic ones that name an option.

    Example:
        >>> plain_letters("Ｆｉｎａｌ：Ｂ"), plain_letters("Ответ: С")
        ('Final:B', 'Ответ: C')
    """
    folded = unicodedata.normalize("NFKC", text)
    return _CYRILLIC.sub(lambda match: match[0].translate(_LATIN), folded)
