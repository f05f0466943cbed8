r"""How the baselines write music for LilyBench's generation: by rule to fit the description, or notes by chance.

The reader takes from the description what it knows: key, metre, form, instruments and tempo word; of what is not said
or not known to it, it makes a choice that goes with the form. It knows nothing of composers and periods.
"""

import math
import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any, Final

from music_evals.baselines.conversation import Conversation
from music_evals.baselines.lilybench.composing import MODES, Metre, Part, Task, compose, length_name
from music_evals.notation.spelling import spell

VERSION: Final = "2.24.3"
MAX_STAVES: Final = 8
"""Instruments beyond these are left out."""

_ASKS: Final = "Reply with one complete LilyPond"
_LINE: Final = re.compile(r"^(Composer|Form|Ensemble|Part|Key|Metre): (.{1,400})$", re.MULTILINE)
_KEY: Final = re.compile(r"([A-Ga-g])[- ]?(sharp|flat|#|b|♯|♭)?[- ]+([a-z]{3,10})", re.IGNORECASE)
_METRE: Final = re.compile(r"([0-9]{1,2})/([0-9]{1,2})")
_KEYS: Final = ("C major", "G major", "D major", "F major", "B-flat major", "A minor", "D minor", "E minor", "G minor")
"""What the reader chooses from where no key is asked for."""

_SIGNS: Final[Mapping[str, int]] = {"": 0, "sharp": 1, "#": 1, "♯": 1, "flat": -1, "b": -1, "♭": -1}
_NUMBERS: Final = {
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    **{str(number): number for number in range(2, 9)},
}
_LEFT_HAND: Final = ("bass", Part("bass", 40, 64))
_RIGHT_HAND: Final = ("treble", Part("upper", 60, 84))
_PITCHES: Final = ("c", "cis", "d", "dis", "e", "f", "fis", "g", "gis", "a", "ais", "b")
_OCTAVES: Final = (",", "", "'", "''")
_CHANCE_LENGTHS: Final = (1, 2, 4, 8, 16)
_CHANCE_MEASURES: Final = 8


@dataclass(frozen=True, slots=True)
class _Instrument:
    """An instrument of `composing.toml`."""

    id: str
    midi: str
    clef: str
    part: Part


@dataclass(frozen=True, slots=True)
class _Piece:
    """What is to be written, apart from the music."""

    title: str
    composer: str
    tempo: str
    key: str
    task: Task
    staves: list[tuple[str, str, str]]
    """Name, MIDI instrument and clef."""


def recognises(conversation: Conversation) -> bool:
    """Say whether a conversation asks for a piece of music in LilyPond.

    Args:
        conversation: the conversation.

    Returns:
        Whether a turn of the user asks as ``lilybench/prompts.toml`` does; a request to repair may follow it.

    Example:
        >>> from music_evals.baselines.conversation import Turn
        >>> recognises(Conversation((Turn("user", "Key: G major\\n\\nReply with one complete LilyPond 2.24 file."),)))
        True
        >>> recognises(Conversation((Turn("user", "In which key is this?"),)))
        False
    """
    return _request(conversation) is not None


def reply_before(conversation: Conversation) -> str | None:
    """What the model wrote to the latest request, where it is asked to repair that; None where it is a first attempt.

    Args:
        conversation: that `recognises` takes.

    Raises:
        ValueError: the conversation asks for no piece.
    """
    replies = [turn.text for turn in conversation.turns[_required(conversation) :] if turn.role == "assistant"]
    return replies[-1] if replies else None


def read(conversation: Conversation, seed: int | None = None, error_rate: float = 0.0) -> str:
    """Write a piece that fits the description.

    Args:
        conversation: that `recognises` takes.
        seed: goes into the choices, so that one prompt can have several answers.
        error_rate: share of first attempts, from 0 to 1, that lack their last brace.

    Returns:
        A file in a fenced code block. On a request to repair, the same file, with its brace.

    Raises:
        ValueError: the conversation asks for no piece.

    Example:
        >>> from music_evals.baselines.conversation import Turn
        >>> asked = "Form: minuet\\nKey: D minor\\n\\nReply with one complete LilyPond 2.24 file."
        >>> reply = read(Conversation((Turn("user", asked),)))
        >>> [line for line in reply.splitlines() if "global =" in line or "title" in line]
        ['  title = "Minuet in D minor"', 'global = { \\\\key d \\\\minor \\\\time 3/4 \\\\tempo "Moderato" 4 = 96 }']
    """
    request, random = _start(conversation, seed)
    text = _file(_piece(request, random), random)
    if reply_before(conversation) is None and random.random() < error_rate:
        text = text[: text.rindex("}")]
    return _fenced(text)


def guess(conversation: Conversation, seed: int | None = None) -> str:
    """Write eight measures of random notes: one staff, four octaves around middle C, lengths from whole to sixteenth.

    Args:
        conversation: that `recognises` takes.
        seed: goes into the choices, so that one prompt can have several answers.

    Returns:
        A file in a fenced code block, which LilyPond compiles.

    Raises:
        ValueError: the conversation asks for no piece.
    """
    _, random = _start(conversation, seed)
    notes: list[str] = []
    left = Fraction(_CHANCE_MEASURES)
    while left:
        length = random.choice([length for length in _CHANCE_LENGTHS if Fraction(1, length) <= left])
        notes.append(f"{random.choice(_PITCHES)}{random.choice(_OCTAVES)}{length}")
        left -= Fraction(1, length)
    music = "\n  ".join(" ".join(notes[start : start + 12]) for start in range(0, len(notes), 12))
    return _fenced(
        f'\\version "{VERSION}"\n\n\\score {{\n  {{\n  {music}\n  }}\n  \\layout {{ }}\n  \\midi {{ }}\n}}\n'
    )


def _request(conversation: Conversation) -> int | None:
    """Place of the latest turn that describes a piece."""
    turns = conversation.turns
    found = (
        place for place in reversed(range(len(turns))) if turns[place].role == "user" and _ASKS in turns[place].text
    )
    return next(found, None)


def _required(conversation: Conversation) -> int:
    place = _request(conversation)
    if place is None:
        raise ValueError("the conversation asks for no piece of music in LilyPond")
    return place


def _start(conversation: Conversation, seed: int | None) -> tuple[str, Random]:
    """The request, and a source of chance that is the same when a repair is asked for."""
    place = _required(conversation)
    digest = Conversation(conversation.turns[: place + 1]).digest()
    return conversation.turns[place].text, Random(digest + str(seed).encode())


def _fenced(text: str) -> str:
    return f"```lilypond\n{text.rstrip()}\n```"


@cache
def _known() -> dict[str, Any]:
    return tomllib.loads((files("music_evals.baselines.lilybench") / "composing.toml").read_text(encoding="utf-8"))


def _instrument(name: str) -> _Instrument:
    entry = _known()["instruments"][name]
    return _Instrument(name, entry["midi"], entry["clef"], Part(entry["role"], *entry["range"]))


def _piece(request: str, random: Random) -> _Piece:
    """Take a request apart."""
    asked = dict(_LINE.findall(request))
    form_id = _named(asked.get("Part", ""), "forms") or _named(asked.get("Form", ""), "forms") or "piece"
    form = _known()["forms"][form_id]
    chosen = random.choice(_KEYS)
    key = _key(asked.get("Key", "")) or _key(chosen)
    assert key is not None  # the reader's own keys are keys
    tonic, mode, key_name, key_command = key
    metre = _metre(asked.get("Metre", "")) or _metre(form["metre"])
    assert metre is not None  # so are the metres of the forms
    words = _clean(asked.get("Part", "")) or form["tempo"]
    pace = _tempo(words) or _tempo(form["tempo"]) or 96
    instruments = _ensemble(asked.get("Ensemble", "")) or [_instrument(name) for name in form["ensemble"]]
    staves, parts = _staves(instruments)
    return _Piece(
        title=f"{_clean(asked.get('Form', '')) or form_id.capitalize()} in {key_name}",
        composer=_clean(asked.get("Composer", "")),
        tempo=f'"{words}" {length_name(metre.beat)} = {_beats_a_minute(pace, metre)}',
        key=key_command,
        task=Task(tonic, mode, metre, form["plan"], form["bass"], pace, parts),
        staves=staves,
    )


def _words(text: str) -> str:
    """Letters and digits alone, small, without accents, with a space around each word."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return f" {' '.join(re.findall('[a-z]+|[0-9]+', plain))} "


def _clean(text: str) -> str:
    """Such words of a description as may go into a string of LilyPond; its number goes."""
    kept = "".join(character if character.isalpha() or character in "'.-" else " " for character in text)
    words = " ".join(kept.split())[:60].strip(" .-'")
    return words[:1].upper() + words[1:]


def _named(text: str, table: str) -> str | None:
    """Which entry of a table a text names, by the longest name that stands in it."""
    words = _words(text)
    found = [
        (len(name), entry)
        for entry, known in _known()[table].items()
        for name in known["names"]
        # One more letter makes most plurals.
        if f" {name} " in words or f" {name}s " in words or f" {name}es " in words
    ]
    return max(found, key=lambda item: item[0])[1] if found else None


def _tempo(text: str) -> int | None:
    """Quarter notes a minute of the longest tempo word in a text."""
    words = _words(text)
    known: dict[str, int] = _known()["tempi"]
    found = [(len(name), pace) for name, pace in known.items() if f" {name} " in words]
    return max(found)[1] if found else None


def _beats_a_minute(pace: int, metre: Metre) -> int:
    # Half notes go slower than quarters do, but not as slow as half.
    return round(pace * math.pow(0.25 / float(metre.beat), 0.7))


def _key(text: str) -> tuple[int, str, str, str] | None:
    """Tonic, mode, name and command of a key; None for what is no key of at most seven sharps or flats."""
    match = _KEY.fullmatch(text.strip())
    if match is None:
        return None
    letter, sign, mode = match[1].upper(), _SIGNS[(match[2] or "").lower()], match[3].lower()
    if mode not in MODES:
        return None
    tonic = spell(letter, sign)
    if abs(tonic + MODES[mode] + 1) > 7:
        return None
    name = f"{letter}{('', '-sharp', '-flat')[sign]} {mode}"
    return tonic, mode, name, f"{letter.lower()}{('', 'is', 'es')[sign]} \\{mode}"


def _metre(text: str) -> Metre | None:
    match = _METRE.fullmatch(text.strip())
    if match is None:
        return None
    metre = Metre(int(match[1]), int(match[2]))
    return metre if 1 <= metre.numerator <= 16 and metre.denominator in (2, 4, 8, 16) else None


def _ensemble(text: str) -> list[_Instrument]:
    """The instruments of a description, from the top of the score."""
    order = list(_known()["instruments"])
    names: list[str] = []
    for described in re.split(r"[,;+&/]| and ", text):
        words = _words(described)
        if not re.search("[a-z]", words):
            continue
        group = next((members for name, members in _known()["groups"].items() if f" {name} " in words), None)
        counts = [_NUMBERS[word] for word in words.split() if word in _NUMBERS]
        # "two violins", but "violin 2"
        count = counts[0] if counts and words.split()[0] in _NUMBERS else 1
        names += group or [_named(described, "instruments") or "instrument"] * count
    return [_instrument(name) for name in sorted(names[:MAX_STAVES], key=order.index)]


def _staves(instruments: list[_Instrument]) -> tuple[list[tuple[str, str, str]], tuple[Part, ...]]:
    """The staves; a keyboard alone has two."""
    if len(instruments) == 1 and instruments[0].part.role == "keyboard":
        only = instruments[0]
        hands = (_RIGHT_HAND, _LEFT_HAND)
        return [(only.id, only.midi, clef) for clef, _ in hands], tuple(part for _, part in hands)
    return [(one.id, one.midi, one.clef) for one in instruments], tuple(one.part for one in instruments)


def _file(piece: _Piece, random: Random) -> str:
    """A complete LilyPond file."""
    metre = piece.task.metre
    lines = [f'\\version "{VERSION}"', "", "\\header {", f'  title = "{piece.title}"']
    if piece.composer:
        lines.append(f'  dedication = "to {piece.composer}"')
    lines += ['  composer = "music-evals reader"', "}", ""]
    lines += [
        f"global = {{ \\key {piece.key} \\time {metre.numerator}/{metre.denominator} \\tempo {piece.tempo} }}",
        "",
    ]
    variables = [f"part{chr(ord('A') + number)}" for number in range(len(piece.staves))]
    for variable, (_, _, clef), sections in zip(variables, piece.staves, compose(piece.task, random), strict=True):
        lines += [f"{variable} = {{", f'  \\global \\clef "{clef}"']
        for section in sections:
            repeated = len(sections) > 1
            lines += ["  \\repeat volta 2 {"] if repeated else []
            lines += [f"{'    ' if repeated else '  '}{measure} |" for measure in section]
            lines += ["  }"] if repeated else []
        lines += ['  \\bar "|."'] if len(sections) == 1 else []
        lines += ["}", ""]
    keyboard = (
        len(piece.staves) == 2 and piece.staves[0][0] == piece.staves[1][0] and piece.staves[0][2] != piece.staves[1][2]
    )
    lines += ["\\score {", "  \\new PianoStaff <<" if keyboard else "  <<"]
    for variable, (name, midi, _) in zip(variables, piece.staves, strict=True):
        printed = name.replace("_", " ").capitalize()
        lines.append(
            f'    \\new Staff \\with {{ instrumentName = "{printed}" midiInstrument = "{midi}" }} \\{variable}'
        )
    lines += ["  >>", "  \\layout { }", "  \\midi { }", "}"]
    return "\n".join(lines) + "\n"
