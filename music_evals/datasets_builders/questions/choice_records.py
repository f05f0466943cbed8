"""Records of questions with options, in the layouts that repositories on the Hub have.

The same benchmark is found with other fields: ``instruction`` for the question, ``context`` for the
sound, options as the text of a list or as ``(A) flute (B) oboe``, the answer with its letter, and
further facts as JSON in one field.
"""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from string import ascii_uppercase
from typing import Any

from music_evals.datasets_builders.questions.media_questions import JoinedSound, Part, Record

_MOST = 20_000  # characters of a text that is read as a list
_LETTERED = re.compile(r"\(?([A-Z])(?:\)|[.:])\s*(.*)", re.DOTALL)
_OPTION = re.compile(r"\(([A-Z])\)\s")


def choice_record(record: Record) -> dict[str, Any]:
    """Return a record with ``question``, ``choices`` (a list, without letters), ``right`` (place)
    and its other fields.

    ``right`` is None if the record has no answer, and ``sound`` a part if it holds its own.
    ValueError if the answer is none of the choices.

    >>> record = choice_record({"instruction": "Which?", "choices": "(A) lute (B) harp",
    ...     "answer": "(B) harp"})
    >>> record["question"], record["choices"], record["right"]
    ('Which?', ['lute', 'harp'], 1)
    """
    facts = record.get("other_attributes") or {}
    facts = json.loads(facts) if isinstance(facts, str) else facts
    sound = record.get("audio") or record.get("context")
    choices = [*map(str, choice_list(record["choices"]))]
    texts = _without_letters(choices)
    entry = {
        **facts,
        **record,
        "question": record.get("question") or record["instruction"],
        "choices": texts,
        "right": _place_of(record.get("answer"), choices, texts),
        "sound": Part("audio", sound) if isinstance(sound, Mapping) else None,
    }
    entry.pop("other_attributes", None)
    for name, value in entry.items():
        # Some records have a list of a single text in the place of the text.
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
            entry[name] = value[0]
    return entry


def choice_list(value: object) -> Sequence[object]:
    """Return options as a list: of a list, or of its text in the spelling of JSON or Python, or
    with letters.

    >>> choice_list('["lute", "harp"]'), choice_list("['lute', 'harp']"), choice_list(
    ...     "(A) lute (B) harp")
    (['lute', 'harp'], ['lute', 'harp'], ['lute', 'harp'])
    """
    if isinstance(value, list | tuple):
        return value
    if not isinstance(value, str):
        raise ValueError(f"its choices are of type {type(value).__name__}, and a list is needed")
    text = value.strip()
    if len(text) > _MOST:
        raise ValueError(f"its choices have {len(text):,} characters; at most {_MOST:,} are read")
    if text.startswith("["):
        return [*_literal(text)]
    first, *rest = _OPTION.split(text)
    letters = "".join(rest[::2])
    if first or not ascii_uppercase.startswith(letters):
        raise ValueError(f"its choices {text!r:.60} are no list")
    return [option.strip() for option in rest[1::2]]


def tags_of(entry: Record, *names: str) -> list[str]:
    """Return the fields of a record by which its question is grouped, as ``NAME: VALUE``.

    >>> tags_of({"difficulty": "hard", "language": None}, "difficulty", "language")
    ['difficulty: hard']
    """
    return [f"{name}: {entry[name]}" for name in names if entry.get(name)]


def _literal(text: str) -> list[object]:
    """Read the text of a list of literals; no code is run."""
    for read in (json.loads, ast.literal_eval):
        try:
            return list(read(text))
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
    raise ValueError(f"its choices {text!r:.60} are no list")


def sound_key(question: str, answer: str) -> str:
    """Return a name for the sound of a question, by which it is found in another file: its text and
    right answer.

    >>> sound_key("Which  drum?", "Bongo.") == sound_key("which drum?", "bongo")
    True
    """
    return " ".join(f"{question}\n{answer}".casefold().split()).rstrip(".")


def _hub_sound(record: Record) -> tuple[Sequence[str], bytes]:
    """The names by which a record's sound is asked for: the name of its file, and question and
    right answer.
    """
    entry = choice_record(record)
    if entry["sound"] is None or entry["right"] is None:
        return (), b""
    sound = entry["sound"].content
    names = [sound_key(entry["question"], entry["choices"][entry["right"]])]
    if sound.get("path"):
        names.append(PurePosixPath(sound["path"]).stem)
    return names, sound["bytes"] or b""


HUB_SOUND = JoinedSound("*.parquet", _hub_sound)
"""The sound in the records of MuChoMusic on the Hub, for other records of its questions."""


def _without_letters(choices: Sequence[str]) -> list[str]:
    """Take the letters A, B, C… from the beginnings of options, if all have them in order."""
    matches = [_LETTERED.fullmatch(choice) for choice in choices]
    letters = "".join(match[1] if match else "-" for match in matches)
    if not ascii_uppercase.startswith(letters):
        return [*choices]
    return [match[2].strip() for match in matches if match]


def _place_of(answer: object, choices: Sequence[str], texts: Sequence[str]) -> int | None:
    if answer is None or answer == "":
        return None
    answer = str(answer)
    for options in (choices, texts):
        if answer in options:
            return options.index(answer)
    match = _LETTERED.fullmatch(answer)
    letter = match[1] if match else answer.strip()
    place = ascii_uppercase.find(letter) if len(letter) == 1 else -1
    if not 0 <= place < len(choices):
        raise ValueError(f"its answer {answer!r:.60} is none of its choices")
    return place
