r"""Random music to replace a stimulus, in the same notation and as long.

Text is one voice of the same length to within a measure. MIDI text has as many notes in the same
time, on a grid of sixteenths. Audio has the same length and level. The draw depends only on the
stimulus, so that all questions about a score get the same noise. For pages it depends only on
their number.

Example:
    >>> print(noise_text("X:1\nL:1/8\nM:3/4\nK:G\nG2 AB c2 | d6 |]\n", "abc"))
    X:1
    M:3/4
    L:1/8
    K:C
    fc3a2|a3c'3|F4Aa|]
"""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from random import Random

import numpy as np

from music_evals.notation.audio.clips import file_of
from music_evals.notation.midi.files import midi_to_text, parse_midi_text, write_midi
from music_evals.notation.midi.performance import TICKS_PER_BEAT, Note, Performance
from music_evals.notation.scores.pages import engrave_pages
from music_evals.notation.toml_files import read_toml

_METRES = {"2/4": 4, "3/4": 6, "4/4": 8, "6/8": 6}  # metre → eighths of a measure
_PITCHES = range(48, 85)
_DRUMS = (36, 38, 42)  # kick, snare, hi-hat
_GRID = TICKS_PER_BEAT // 4
_PAGE = 160_000  # characters of MusicXML that fill more than a page


@dataclass(frozen=True)
class _Notation:
    """How a notation writes one voice; `noise.toml` describes the fields."""

    head: str
    bar: str  # between measures
    tail: str
    note: str
    lengths: list[str]
    pitches: list[str]


_NOTATIONS = {
    name: _Notation(**fields) for name, fields in read_toml(__package__, "noise.toml").items()
}


def noise_text(text: str, notation: str, model: str = "") -> str:
    """Return random music in the notation of a text.

    Args:
        text: the text to replace; it seeds the draw.
        notation: ``abc``, ``lilypond``, ``musicxml`` or ``midi`` (see `midi_to_text`).
        model: a text with the length and layout to imitate, by default the text to replace.
            LilyPond can be a list of numbered measures.

    Raises:
        ValueError: another notation.
    """
    model, rng = model or text, Random(text)
    if notation == "midi":
        return _midi(model, rng)
    if notation not in _NOTATIONS:
        raise ValueError(
            f"there is no noise in the notation {notation!r}; there is in "
            f"{', '.join([*_NOTATIONS, 'midi'])}"
        )
    if notation != "lilypond":
        return _piece(notation, rng, len(model))
    opening, *numbered = re.split(r"(?m)^( *[0-9][:.] ?\n?)", model)
    if numbered:
        lists = zip(numbered[::2], numbered[1::2], strict=True)
        return opening + "".join(mark + _bars(bars, rng) for mark, bars in lists)
    # Measures of a voice have no braces but those of tuplets and grace notes.
    if "{" not in re.sub(r"\\(?:tuplet \S+|grace) \{", "", model):
        return _bars(model, rng)
    return _piece(notation, rng, len(model))


def noise_audio(data: bytes, model: bytes = b"") -> bytes:
    """Return white noise as WAV, with the length, level and format of a model, by default of the
    file itself.
    """
    import soundfile

    model = model or data
    samples, rate = soundfile.read(io.BytesIO(model), dtype="float64", always_2d=True)
    level = float(np.sqrt(np.mean(np.square(samples)))) if samples.size else 0.0
    noise = np.random.default_rng(list(data[:4096])).normal(0.0, level, samples.shape)
    encoding = soundfile.info(io.BytesIO(model)).subtype
    # MPEG within WAV can be read and not written.
    is_written = soundfile.check_format("WAV", encoding) and not encoding.startswith("MPEG")
    return file_of(np.clip(noise, -1, 1), rate, encoding if is_written else "PCM_16")


def noise_pages(count: int) -> list[bytes]:
    """Return pages of random music, drawn by `engrave_pages`; fewer pages are the first of more
    pages.
    """
    return _pages(1 << (count - 1).bit_length())[:count]


@cache
def _pages(count: int) -> list[bytes]:
    length = count * _PAGE
    while len(pages := engrave_pages(_piece("musicxml", Random(0), length))) < count:
        length += count * _PAGE
    return pages


def _piece(notation: str, rng: Random, length: int) -> str:
    """A piece of at least one measure, of about as many characters."""
    style, metre = _NOTATIONS[notation], rng.choice(list(_METRES))
    beats, _, unit = metre.partition("/")
    text = style.head.format(metre=metre, beats=beats, unit=unit)
    for number, measure in enumerate(_measures(style, rng, metre), 2):
        text += measure
        if len(text) + len(style.tail) >= length:
            break
        text += style.bar.format(number=number)
    return text + style.tail


def _bars(text: str, rng: Random) -> str:
    """LilyPond measures without a header, with the line breaks and indentation of the text."""
    music = text.strip()
    indent = text[: len(text) - len(text.lstrip())]
    end = text[len(text.rstrip()) :]
    gap = "\n" + indent.rpartition("\n")[2] if "\n" in music else " "
    bars: list[str] = []
    for measure in _measures(_NOTATIONS["lilypond"], rng, rng.choice(list(_METRES))):
        bars.append(f"{measure}|")
        if len(gap.join(bars)) >= len(music):
            break
    return indent + gap.join(bars) + end


def _measures(style: _Notation, rng: Random, metre: str) -> Iterator[str]:
    while True:
        measure, left = "", _METRES[metre]
        while left:
            length = rng.randint(1, min(left, 4))
            left -= length
            pitch = rng.choice(style.pitches)
            measure += style.note.format(pitch=pitch, length=style.lengths[length - 1])
        yield measure


def _midi(text: str, rng: Random) -> str:
    original = parse_midi_text(text)
    is_percussion = any(note.is_drum for note in original.notes)
    ticks = max((note.onset + note.duration for note in original.notes), default=0)
    steps = max(1, round(ticks / original.ticks_per_beat * TICKS_PER_BEAT / _GRID))
    pitches = _DRUMS if is_percussion else _PITCHES
    places = list(product(range(steps), pitches))
    sample = rng.sample(places, min(len(original.notes), len(places)))
    notes = tuple(Note(step * _GRID, pitch, _GRID, rng.randint(60, 100)) for step, pitch in sample)
    key, length = None if is_percussion else "C", steps * _GRID
    performance = Performance(
        notes, original.tempo, (4, 4), key, percussion=is_percussion, length=length
    )
    return midi_to_text(write_midi(performance))
