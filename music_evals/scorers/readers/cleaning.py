"""Cleaning a reply, once, ahead of all readers: what is not said to the user does not count.

`clean_reply` removes a model's thinking and the tokens by which a chat template marks turns; what
remains may be music. `plain_letters` also folds the forms of characters, for readers of words and
letters, and `read_json` is for replies in JSON.
"""

import json
import re
import unicodedata
from typing import Any

# Pairs of tags around what a model thinks aloud; a template may write the first one ahead of the
# reply.
_THINKING = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
    "<seed:think>": "</seed:think>",
    "Here is my thought process:": "Here is my response:",
}
_HARMONY = "<|channel|>"
_FINAL = "<|channel|>final"
_TOKEN = re.compile(
    r"<[|｜][^<>|｜\n]{0,60}[|｜]>|</?s>|<(?:bos|eos|pad|unk|end_of_turn)>|<start_of_turn>(?:model)?|\[/?INST\]"
)
_WRAPPER = re.compile(r"</?(?:answer|final|final_answer|response|output|tool_call)>", re.IGNORECASE)
# Letters of options in Cyrillic, where nothing follows that makes a word of them.
_CYRILLIC = re.compile(r"(?<!\w)[АВСЕНавсе](?=[ \t]*(?:$|[.):\]}»*,\n]))")
_LATIN = str.maketrans("АВСЕНавсе", "ABCEHabce")


def clean_reply(reply: str) -> str:
    """Return what a reply says to the user: no thinking, no tokens of a chat template, no tags
    around the whole.

    Nothing remains of a reply that was cut within its thinking.

    Example:
        >>> clean_reply("<think>A or B?</think>B</s>"), clean_reply("<think>A or"), clean_reply(
        ...     "A<|im_end|>")
        ('B', '', 'A')
        >>> clean_reply("<|channel|>analysis<|message|>A?<|end|>"
        ...     "<|start|>assistant<|channel|>final<|message|>B")
        'B'
        >>> clean_reply("Here is my thought process: A? Here is my response: B")
        ' B'
    """
    return _WRAPPER.sub("", visible_reply(reply))


def visible_reply(reply: str) -> str:
    """Return a reply without thinking and tokens of a chat template, but with all tags."""
    text = reply.encode(errors="ignore").decode()  # without lone surrogates
    for begin, end in _THINKING.items():
        text = text.rpartition(end)[2].partition(begin)[0]
    if _HARMONY in text:
        text = text.rpartition(_FINAL)[2] if _FINAL in text else ""
        text = text.partition("<|end|>")[0]
    return _TOKEN.sub("", text)


def plain_letters(text: str) -> str:
    """Return a text in Unicode's compatibility form, with Latin letters for Cyrillic ones that name
    an option.

    Example:
        >>> plain_letters("Ｆｉｎａｌ：Ｂ"), plain_letters("Ответ: С")
        ('Final:B', 'Ответ: C')
    """
    return _CYRILLIC.sub(
        lambda match: match[0].translate(_LATIN), unicodedata.normalize("NFKC", text)
    )


def read_json(text: str) -> Any:
    """Return the object or array that a text is, with its numbers as they are written; None if it
    is none.

    Example:
        >>> read_json('{"answer": 2.50}'), read_json("2.50")
        ({'answer': '2.50'}, None)
    """
    try:
        content = json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict | list) else None


def valid_unicode(value: Any) -> Any:
    """Return a value of JSON with lone surrogates written out, which UTF-8 cannot encode.

    Example:
        >>> valid_unicode({"reply": ["half a clef: \\ud834"]})
        {'reply': ['half a clef: \\\\ud834']}
    """
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {valid_unicode(key): valid_unicode(item) for key, item in value.items()}
    return [valid_unicode(item) for item in value] if isinstance(value, list) else value
