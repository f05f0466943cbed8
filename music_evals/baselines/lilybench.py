"""How the reader answers questions on whole scores: from the MIDI that LilyPond writes of them, or
from their ABC.
"""

import io
import math
import re
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import mido
from mido.midifiles.meta import KeySignatureError

from music_evals.baselines.asking import Request
from music_evals.notation.abc.plain import split_voices
from music_evals.notation.abc.tunes import (
    parse_key,
    parse_meter,
    parse_unit,
    read_measure,
    signature_name,
    split_measures,
    total_duration,
)
from music_evals.notation.lilypond.compiler import compile_text
from music_evals.notation.lilypond.structure import read_structure
from music_evals.notation.lilypond.syntax.languages import LANGUAGES, language_of, pitch_of

# Every score is performed, even if it asks for print only, and none is engraved.
_SETTINGS = r"""
#(define (performed score)
   (let ((only (ly:make-score (ly:score-music score))))
     (ly:score-add-output-def! only $defaultmidi)
     (collect-scores-for-book only)))
#(define toplevel-score-handler performed)
#(define (toplevel-music-handler music) (performed (scorify-music music)))
"""
_ABC_KEY = re.compile("[A-G][b#]?(?:m|mix|dor|phr|lyd|loc)?")
_PLACE = re.compile(r"in measure (\d{1,6})")
_SIGN = re.compile(r"([KM]):([^\s\]]+)")
_UNIT = re.compile(r"(?m)^L:\s{0,9}(\S+)")
_PARTIAL = re.compile(
    r"\\partial\s{1,9}([0-9]{1,3})(\.{0,3})(?:\*([0-9]{1,3})(?:/([1-9][0-9]{0,2}))?)?"
)


class Performance(NamedTuple):
    """What a score says: its length in measures, its first key and its first metre."""

    length: Fraction
    key: str
    metre: tuple[int, int]


def answer(request: Request) -> str | None:
    """Count the measures, or choose key, metre or note length; None if the MIDI does not say it.

    `LilyPondError` and `SandboxError` are raised if LilyPond is not installed or cannot be
    confined.
    """
    (score,) = request.music
    is_abc = request.keys["notation"] == "abc"
    if place := _PLACE.search(request.keys["question"]):
        sign = _signs_at(score, int(place[1]))[request.keys["kind"]]
        return str(request.keys["options"].index(sign))
    try:
        played = read_abc(score) if is_abc else perform(score)
    except ValueError:
        return None
    if request.keys["task"] == "bar_count":
        return str(math.ceil(played.length) if is_abc else count_measures(score, played))
    options = [_common_key(option, score) for option in request.keys["options"]]
    # ABC-Eval asks for the unit note length, such as 1/8, and others for the lower number of the
    # metre.
    unit = _UNIT.search(score)
    length = unit[1] if unit and "/" in options[0] else str(played.metre[1])
    facts = {"key": played.key, "metre": "{}/{}".format(*played.metre), "note_length": length}
    places = [
        place for place, option in enumerate(options) if option == facts[request.keys["kind"]]
    ]
    return str(request.keys["answers"][places[0]]) if len(places) == 1 else None


def _signs_at(score: str, number: int) -> dict[str, str]:
    """The key signature and metre in force in a measure of LilyPond, or of ABC without a pickup."""
    if score.startswith("X:"):
        signs = dict(_SIGN.findall("|".join(score.split("|")[:number])))
        return {"key_at": signature_name(parse_key(signs["K"]).sharps), "metre_at": signs["M"]}
    structure = read_structure(score)
    keys = [key.scale for key in structure.keys if key.measure <= number]
    metres = [metre.name for metre in structure.metres if metre.measure <= number]
    return {"key_at": signature_name(int(sum(keys[-1]))), "metre_at": metres[-1]}


def _common_key(option: str, score: str) -> str:
    r"""``B-flat major`` for ``bes \major`` and ``Bb``, the forms of keys in published rows; other
    options unchanged.
    """
    if _ABC_KEY.fullmatch(option):
        return _key_name(option)
    note, _, mode = option.partition(" \\")
    language = language_of(score)
    pitch = pitch_of(note, language) if mode and language in LANGUAGES else None
    sign = {0: "", 1: "-sharp", -1: "-flat"}.get(int(pitch.alteration)) if pitch else None
    return option if pitch is None or sign is None else f"{'CDEFGAB'[pitch.step]}{sign} {mode}"


def count_measures(score: str, played: Performance) -> int:
    r"""Count complete measures and an incomplete last one, but no pickup, which only the score's
    text shows.

    Example:
        >>> count_measures(r"{ \partial 4. c'4. d'1 e'2 }", Performance(Fraction(15, 8), "C major",
        ...     (4, 4)))
        2
    """
    pickup = Fraction(0)
    if match := _PARTIAL.search(score):
        value, dots, times, below = match.groups()
        pickup = (
            Fraction(1, int(value))
            * (2 - Fraction(1, 2 ** len(dots)))
            * Fraction(int(times or 1), int(below or 1))
        )
        pickup /= Fraction(*played.metre)
    return math.ceil(played.length - pickup)


def perform(score: str) -> Performance:
    """Read the MIDI of the first score of a text; `ValueError` if LilyPond makes none, or none that
    can be read.
    """
    compiled = compile_text(score, settings=_SETTINGS)
    if not compiled.midi:
        raise ValueError(
            f"LilyPond makes no MIDI of the score: {compiled.problem or 'it has no music'}"
        )
    try:
        midi = mido.MidiFile(file=io.BytesIO(compiled.midi[0]))
    except (OSError, EOFError, LookupError, KeySignatureError) as error:
        raise ValueError(f"LilyPond's MIDI cannot be read: {error}") from error
    metres = []
    keys = []
    now = 0
    for message in mido.merge_tracks(midi.tracks):
        now += message.time
        if message.type == "time_signature":
            metres.append((now, (message.numerator, message.denominator)))
        elif message.type == "key_signature":
            keys.append(message.key)
    length = Fraction(0)
    for (start, (above, below)), (end, _) in pairwise([*metres, (now, (4, 4))]):
        length += Fraction(end - start, 4 * midi.ticks_per_beat) / Fraction(above, below)
    return Performance(
        length, _key_name(keys[0] if keys else "C"), metres[0][1] if metres else (4, 4)
    )


def read_abc(abc: str) -> Performance:
    r"""Read the fields and the first voice of a tune; `ValueError` if they cannot be read, or a
    field is missing.

    Example:
        >>> read_abc("M:3/4\nL:1/4\nK:G\nD | G2 A | B3 :|\n")
        Performance(length=Fraction(2, 1), key='G major', metre=(3, 4))
    """
    header, voices = split_voices(abc)
    fields = {line[0]: line[2:].split(" clef=")[0].strip() for line in header if line[1:2] == ":"}
    key = parse_key(fields.get("K", "")).name
    metre = parse_meter(fields.get("M", ""))
    measures = list(split_measures("\n".join(next(iter(voices.values()), []))))
    length = Fraction(len(measures))
    # A first measure that is not complete is a pickup.
    unit = parse_unit(fields.get("L"), metre)
    if length > 1 and total_duration(read_measure(measures[0].text, unit, metre)) < Fraction(
        *metre
    ):
        length -= 1
    return Performance(length, _key_name(key), metre)


def _key_name(key: str) -> str:
    """``B-flat minor`` for ``Bbm``, as MIDI and ABC write keys."""
    tonic, mode = (key[:2], key[2:]) if key[1:2] in ("b", "#") else (key[:1], key[1:])
    modes = {
        "": "major",
        "m": "minor",
        "mix": "mixolydian",
        "dor": "dorian",
        "phr": "phrygian",
        "lyd": "lydian",
    }
    return f"{tonic.replace('b', '-flat').replace('#', '-sharp')} {modes.get(mode, mode)}"
