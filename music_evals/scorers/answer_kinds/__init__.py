"""Kinds of answers that are no option: tags, numbers, pitches, keys, times, notes, words.

A kind reads an answer from a statement and scores it against a reference by the field's metric,
from a library if one has it. Kinds are plain Python. A name may have an argument behind a colon:

- ``labels``, ``list``: tags of a vocabulary; F1, or the whole list in order;
- ``number``, ``number:4%``, ``number:0.5``: a number, with a tolerance;
- ``pitch:midi``, ``pitch:name``, ``pitch:hz``: a pitch; ``sequence:…``, ``voice:…`` and
  ``set:…`` several;
- ``key``: a key, weighted as by MIREX;
- ``times:0.25``, ``all_times:0.25``, ``beats``: times in seconds, with a tolerance;
- ``notes``, ``melody``: a transcription;
- ``segments``, ``segments:verse``: sections with their labels; pre-chorus as verse;
- ``text``, ``text:cer``: words, by the errors in words or characters; ``lyrics:en`` as printed;
- ``name``: a person, a piece or an instrument;
- ``caption``: a description in free words, by ROUGE-L;
- ``stated``, ``stated:any``, ``stated:name``: values in a form that the question states.

Readers rather give no answer than a wrong one: in a statement with two pitches, none is read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from re import fullmatch
from types import MappingProxyType

from music_evals.scorers.answer_kinds.kind import AnswerKind
from music_evals.scorers.answer_kinds.statements import (
    laid_out,
    marked_statements,
    unmarked_statements,
)
from music_evals.scorers.readers import Reading
from music_evals.scorers.readers.checking import MAX_REPLY
from music_evals.scorers.readers.cleaning import clean_reply
from music_evals.scorers.readers.refusals import is_refusal, refuses
from music_evals.scorers.readers.verdicts import Verdict

__all__ = ["KINDS", "LABEL", "AnswerKind", "judge_typed", "kind_of"]

LABEL = "label"
"""The kind of an option that is shown and named by its text; `judge_option` reads it."""
_SHORT = 60  # characters of a reply whose only value may be a list
_SECONDS = r"[0-9]{1,2}(?:\.[0-9]{1,3})?"
_SPELLING = "midi|name|hz"
KINDS = {
    "labels": ("labels", ""),
    "list": ("labels", ""),
    "number": ("numbers", r"|[0-9]{1,4}(?:\.[0-9]{1,4})?%?"),
    "pitch": ("pitches", _SPELLING),
    "sequence": ("pitches", _SPELLING),
    "voice": ("pitches", _SPELLING),
    "set": ("pitches", _SPELLING),
    "key": ("keys", ""),
    "times": ("times", _SECONDS),
    "all_times": ("times", _SECONDS),
    "beats": ("times", ""),
    "notes": ("transcriptions", ""),
    "melody": ("transcriptions", ""),
    "segments": ("segments", "|verse|chorus"),
    "text": ("words", "|cer"),
    "lyrics": ("words", "de|en|es|fr"),
    "name": ("words", ""),
    "caption": ("words", ""),
    "stated": ("stated", "|any|name"),
}
"""Name of a kind → the module here that makes it, and the pattern of its argument."""


def kind_of(
    name: str,
    vocabulary: Sequence[str] = (),
    aliases: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> AnswerKind:
    """Return a kind of answers by its name.

    Args:
        name: of the kind, with its argument.
        vocabulary: of ``labels`` and ``list``, the tags that may be named.
        aliases: further names of tags; of tags outside the vocabulary they do not count.

    Raises:
        ValueError: there is no such kind, or its argument is not valid.

    Example:
        >>> kind_of("pitch:name").read("It is C sharp 4.")
        ['61']
        >>> kind_of("key").score("A minor", "C major")
        0.3
    """
    names = [(tag, tag) for tag in vocabulary]
    for tag in vocabulary:
        names += [(alias, tag) for alias in aliases.get(tag, ())]
    return _kind(name, tuple(names))


@lru_cache(maxsize=64)
def _kind(name: str, vocabulary: tuple[tuple[str, str], ...]) -> AnswerKind:
    base, _, argument = name.partition(":")
    if base not in KINDS or not fullmatch(KINDS[base][1], argument):
        raise ValueError(
            f"answer_kind={name!r} is not valid; valid are {', '.join(KINDS)}, some with an "
            "argument, as in pitch:midi, times:0.25, number:4%"
        )
    # Each is loaded where it is used: metrics of music load SciPy.
    module = import_module(f"{__name__}.{KINDS[base][0]}")
    kind: AnswerKind = module.make(base, argument, vocabulary)
    return replace(kind, name=name)


def judge_typed(reply: str, right: str, kind: AnswerKind, *, is_cut: bool = False) -> Verdict:
    """Judge an answer of a kind against the reference.

    Args:
        reply: what a model wrote.
        right: the reference, as rows have it.
        kind: of the answer.
        is_cut: whether the reply was cut at the limit of tokens, so that only a label with all of
            its value shows an answer: the last line counts only for long answers, of which all
            that follows the last label is the answer.

    Example:
        >>> judge_typed("Final Answer: 60, 64", "60 64", kind_of("set:midi")).value
        1.0
    """
    text = clean_reply(reply)[-MAX_REPLY:]
    if not text.strip():
        return Verdict(Reading("empty"), right, kind.score("", right))
    if is_cut and not kind.is_long:
        text = text.rpartition("\n")[0]
    marked = marked_statements(text, kind)
    readings = (_read(statement, kind, "behind a label") for statement in marked)
    reading = next(filter(None, readings), None)
    if not reading:
        reading = Reading("unreadable") if is_cut else _read_unmarked(text, kind)
    return Verdict(reading, right, kind.score(reading.answer or "", right))


def _read_unmarked(text: str, kind: AnswerKind) -> Reading:
    """Read a reply without a label; one that refuses gives no answer in passing."""
    places = (text, text.partition(".")[0])  # prose also has to open with a refusal
    if all(map(is_refusal, places)) if kind.is_prose else refuses(text):
        return Reading("refused")
    for statement in unmarked_statements(text, kind):
        reading = _read(statement, kind, "in the reply")
        is_sure = kind.is_sure or not kind.is_list or len(text) <= _SHORT
        if reading and (is_sure or " " in (reading.answer or "")):
            return reading
    return Reading("unreadable")


def _read(statement: str, kind: AnswerKind, where: str) -> Reading | None:
    """Read a statement; None if it has no answer."""
    answers = kind.read(laid_out(statement, kind.column)) or kind.read(statement)
    if len(answers) == 1:
        return Reading("answered", answers[0], f"{kind.name} {where}")
    if answers:
        return Reading("several", rule=f"{kind.name} {where}")
    return Reading("refused") if is_refusal(statement) else None
