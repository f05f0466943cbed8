"""How the reader answers LilyBench's questions on whole scores: from the MIDI that LilyPond writes of them."""

import io
import math
import re
from fractions import Fraction
from itertools import pairwise
from typing import Final, NamedTuple

import mido
from mido.midifiles.meta import KeySignatureError

from music_evals.baselines.asking import Request
from music_evals.notation.lilypond.compiler import compile_text
from music_evals.notation.lilypond.syntax.languages import LANGUAGES, language_of, pitch_of

# Every score is performed, even if it asks for print only, and none is engraved.
_SETTINGS: Final = r"""
#(define (performed score)
   (let ((only (ly:make-score (ly:score-music score))))
     (ly:score-add-output-def! only $defaultmidi)
     (collect-scores-for-book only)))
#(define toplevel-score-handler performed)
#(define (toplevel-music-handler music) (performed (scorify-music music)))
"""
_PARTIAL: Final = re.compile(r"\\partial\s{1,9}([0-9]{1,3})(\.{0,3})(?:\*([0-9]{1,3})(?:/([1-9][0-9]{0,2}))?)?")


class Performance(NamedTuple):
    """What the MIDI of a score says: its length in measures, its first key and its first metre."""

    length: Fraction
    key: str
    metre: tuple[int, int]


def answer(request: Request) -> str | None:
    """Count the measures, or choose key, metre or note length; None if the MIDI does not say it.

    `LilyPondError` and `SandboxError` are raised if LilyPond is not installed or cannot be confined.
    """
    (score,) = request.music
    try:
        played = perform(score)
    except ValueError:
        return None
    if request.keys["task"] == "bar_count":
        return str(count_measures(score, played))
    facts = {"key": played.key, "metre": "{}/{}".format(*played.metre), "note_length": str(played.metre[1])}
    options = [_plain_key(option, score) for option in request.keys["options"]]
    places = [place for place, option in enumerate(options) if option == facts[request.keys["kind"]]]
    return str(request.keys["answers"][places[0]]) if len(places) == 1 else None


def _plain_key(option: str, score: str) -> str:
    r"""``B-flat major`` for ``bes \major``, the form of keys in the paper's rows; any other option unchanged."""
    note, _, mode = option.partition(" \\")
    language = language_of(score)
    pitch = pitch_of(note, language) if mode and language in LANGUAGES else None
    sign = {0: "", 1: "-sharp", -1: "-flat"}.get(int(pitch.alteration)) if pitch else None
    return option if pitch is None or sign is None else f"{'CDEFGAB'[pitch.step]}{sign} {mode}"


def count_measures(score: str, played: Performance) -> int:
    r"""Count complete measures and an incomplete last one, but no pickup, which only the score's text shows.

    Example:
        >>> count_measures(r"{ \partial 4. c'4. d'1 e'2 }", Performance(Fraction(15, 8), "C major", (4, 4)))
        2
    """
    pickup = Fraction(0)
    if found := _PARTIAL.search(score):
        value, dots, times, below = found.groups()
        whole = Fraction(1, int(value)) * (2 - Fraction(1, 2 ** len(dots))) * Fraction(int(times or 1), int(below or 1))
        pickup = whole / Fraction(*played.metre)
    return math.ceil(played.length - pickup)


def perform(score: str) -> Performance:
    """Read the MIDI of the first score of a text; `ValueError` if LilyPond makes none, or none that can be read."""
    compiled = compile_text(score, settings=_SETTINGS)
    if not compiled.midi:
        raise ValueError(f"LilyPond makes no MIDI of the score: {compiled.problem or 'it has no music'}")
    try:
        midi = mido.MidiFile(file=io.BytesIO(compiled.midi[0]))
    except (OSError, EOFError, LookupError, KeySignatureError) as error:
        raise ValueError(f"LilyPond's MIDI cannot be read: {error}") from error
    metres: list[tuple[int, tuple[int, int]]] = []
    keys: list[str] = []
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
    # mido writes keys such as Bbm.
    key = keys[0] if keys else "C"
    name = key.rstrip("m").replace("b", "-flat").replace("#", "-sharp")
    return Performance(
        length, f"{name} {'minor' if key.endswith('m') else 'major'}", metres[0][1] if metres else (4, 4)
    )
