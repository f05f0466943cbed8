r"""Music drawn at random, in the notations in which tasks give music: of a stimulus form and length are left.

Lengths are in characters and are reached to within a measure; MIDI text has as many notes, on a grid of sixteenths in
the same time; audio has the same length and level. What is drawn depends on the stimulus alone, so that all questions
about a score get the same noise; of pages only their number matters.

Example:
    >>> print(noise_text("X:1\nL:1/8\nM:3/4\nK:G\nG2 AB c2 | d6 |]\n", "abc"))
    X:1
    M:3/4
    L:1/8
    K:C
    c3a2a|F4Aa|E3c'fd|F2FA2f|]
"""

import io
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice
from random import Random
from types import MappingProxyType
from typing import Final

import numpy as np
import soundfile

from music_evals.notation.midi.files import midi_to_text, parse_midi_text, write_midi
from music_evals.notation.midi.performance import TICKS_PER_BEAT, Note, Performance
from music_evals.notation.scores.pages import engrave_pages

_METRES: Final = {"2/4": 4, "3/4": 6, "4/4": 8, "6/8": 6}  # in eighths
_KEYS: Final = {"C": "c", "G": "g", "D": "d", "A": "a", "F": "f", "Bb": "bes", "Eb": "ees"}
_LENGTHS: Final = (1, 2, 3, 4)  # eighths
_STEPS: Final = 15  # two octaves from middle C
_PITCHES: Final = range(48, 85)
_DRUMS: Final = (36, 38, 42)  # kick, snare, hi-hat
_GRID: Final = TICKS_PER_BEAT // 4
_PAGE: Final = 330  # measures that fill a page, and more
_LISTED: Final = re.compile(r"(?m)^( *[0-9][:.] ?\n?)")

_Measure = list[tuple[int, int]]  # length in eighths, step above middle C


def noise_text(text: str, notation: str) -> str:
    """Return random music in the notation of a text, and about as long.

    Args:
        text: what it takes the place of; measures of LilyPond may be listed by their numbers.
        notation: ``abc``, ``kern``, ``lilypond``, ``musicxml`` or ``midi``.

    Raises:
        ValueError: another notation.
    """
    if notation not in _TEXTS:
        raise ValueError(f"there is no noise in the notation {notation!r}; there is in {', '.join(_TEXTS)}")
    return _TEXTS[notation](text, Random(text))


def noise_audio(data: bytes) -> bytes:
    """Return white noise of the same length, level, rate, channels and encoding as an audio file, as WAV."""
    samples, rate = soundfile.read(io.BytesIO(data), dtype="float64", always_2d=True)
    level = float(np.sqrt(np.mean(np.square(samples)))) if samples.size else 0.0
    drawn = np.random.default_rng(list(data[:4096])).normal(0.0, level, samples.shape)
    written = io.BytesIO()
    encoding = soundfile.info(io.BytesIO(data)).subtype
    subtype = encoding if soundfile.check_format("WAV", encoding) else "PCM_16"
    soundfile.write(written, np.clip(drawn, -1, 1), rate, format="WAV", subtype=subtype)
    return written.getvalue()


def noise_pages(count: int) -> list[bytes]:
    """Return pages of random music, as `engrave_pages` draws scores; fewer are the first ones of more."""
    return _pages(1 << (count - 1).bit_length())[:count]


@cache
def _pages(count: int) -> list[bytes]:
    measures = count * _PAGE
    while len(pages := engrave_pages(_musicxml(Random(0), measures))) < count:
        measures += count * _PAGE
    return pages


def _measures(rng: Random, eighths: int) -> Iterator[_Measure]:
    while True:
        measure: _Measure = []
        while left := eighths - sum(length for length, _ in measure):
            length = rng.choice([each for each in _LENGTHS if each <= left])
            measure.append((length, rng.randrange(_STEPS)))
        yield measure


def _filled(rng: Random, eighths: int, write: Callable[[_Measure], str], length: int) -> list[str]:
    """Measures as text until a length is reached, one at least."""
    written: list[str] = []
    for measure in _measures(rng, eighths):
        written.append(write(measure))
        if sum(map(len, written)) >= length:
            break
    return written


def _abc(text: str, rng: Random) -> str:
    metre, key = rng.choice(list(_METRES)), rng.choice(list(_KEYS))
    header = f"X:1\nM:{metre}\nL:1/8\nK:{key}\n"
    voices = list(dict.fromkeys(re.findall(r"(?m)^V: ?(\S+)", text)))
    left = max(1, (len(text) - len(header)) // max(1, len(voices)))
    if not voices:
        return header + "|".join(_filled(rng, _METRES[metre], _abc_measure, left)) + "|]"
    # As this suite writes scores: a measure a line, with its number.
    parts = []
    for number, voice in enumerate(voices):
        lines = _filled(rng, _METRES[metre], lambda measure: f"{_abc_measure(measure)} | %00\n", left)
        header += f"V:{voice} {'bass' if number and number == len(voices) - 1 else 'treble'}\n"
        parts.append(f"V:{voice}\n" + "".join(line.replace("%00", f"%{n}") for n, line in enumerate(lines, 1)))
    return header + "".join(parts)


def _abc_measure(measure: _Measure) -> str:
    names = [*"CDEFGABcdefgab", "c'"]
    return "".join(f"{names[step]}{length if length > 1 else ''}" for length, step in measure)


def _musicxml(rng: Random, count: int) -> str:
    metre, fifths = rng.choice(list(_METRES)), rng.randint(-3, 4)
    beats, _, unit = metre.partition("/")
    attributes = (
        f"<attributes><divisions>2</divisions><key><fifths>{fifths}</fifths></key>"
        f"<time><beats>{beats}</beats><beat-type>{unit}</beat-type></time></attributes>"
    )
    types = {1: "eighth</type>", 2: "quarter</type>", 3: "quarter</type><dot/>", 4: "half</type>"}
    measures = []
    for number, measure in enumerate(islice(_measures(rng, _METRES[metre]), count), 1):
        notes = "".join(
            f"<note><pitch><step>{'CDEFGAB'[step % 7]}</step><octave>{4 + step // 7}</octave></pitch>"
            f"<duration>{length}</duration><type>{types[length]}</note>"
            for length, step in measure
        )
        measures.append(f'<measure number="{number}">{attributes if number == 1 else ""}{notes}</measure>')
    return (
        '<score-partwise version="4.0"><part-list><score-part id="P1"><part-name/></score-part></part-list>'
        f'<part id="P1">{"".join(measures)}</part></score-partwise>'
    )


def _musicxml_as_long(text: str, rng: Random) -> str:
    few, seed = 16, rng.random()
    short, longer = (len(_musicxml(Random(seed), count)) for count in (few, 2 * few))
    count = few + round((len(text) - short) * few / (longer - short))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{_musicxml(Random(seed), max(1, count))}\n'


def _kern(text: str, rng: Random) -> str:
    metre = rng.choice(list(_METRES))
    spines = max(1, text.count("**kern"))
    lengths, letters = {1: "8", 2: "4", 3: "4.", 4: "2"}, "cdefgab"

    def row(*tokens: str) -> str:
        return "\t".join(tokens if len(tokens) == spines else tokens * spines) + "\n"

    def write(measure: _Measure) -> str:
        rows = []
        for length, step in measure:
            steps = [step, *(rng.randrange(_STEPS) for _ in range(spines - 1))]
            rows.append(row(*(lengths[length] + letters[one % 7] * (1 + one // 7) for one in steps)))
        return "".join(rows) + row("=%00")

    head = row("**kern") + row(f"*M{metre}") + row("=1")
    measures = _filled(rng, _METRES[metre], write, max(1, len(text) - len(head)))
    numbered = (one.replace("%00", str(number)) for number, one in enumerate(measures, 2))
    return head + "".join(numbered) + row("*-")


def _lilypond(text: str, rng: Random) -> str:
    listed = _LISTED.split(text)
    if len(listed) > 1:
        return listed[0] + "".join(
            mark + _lilypond_bars(bars, rng) for mark, bars in zip(listed[1::2], listed[2::2], strict=True)
        )
    if "{" not in text:
        return _lilypond_bars(text, rng)
    metre, key = rng.choice(list(_METRES)), rng.choice(list(_KEYS.values()))
    version = re.search(r'\\version "[^"\n]*"', text)
    head = f"{version[0]}\n" if version else ""
    head += "\\score {\n  <<\n"
    staves = max(1, text.count(r"\new Staff"))
    left = max(1, (len(text) - len(head)) // staves - 60)
    for _ in range(staves):
        bars = _filled(rng, _METRES[metre], lambda measure: f"      {_lilypond_measure(measure)} |\n", left)
        head += f"    \\new Staff {{\n      \\key {key} \\major \\time {metre}\n{''.join(bars)}    }}\n"
    return head + "  >>\n}\n"


def _lilypond_bars(text: str, rng: Random) -> str:
    """Measures without anything around them, with the line breaks and indentation of those they take the place of."""
    indent, end = re.match(r"\s*", text), re.search(r"\s*\Z", text)
    assert indent
    assert end
    bars = _filled(
        rng, _METRES[rng.choice(list(_METRES))], lambda measure: f"{_lilypond_measure(measure)} |", len(text.strip())
    )
    between = "\n" + indent[0].rpartition("\n")[2] if "\n" in text.strip() else " "
    return indent[0] + between.join(bars) + end[0]


def _lilypond_measure(measure: _Measure) -> str:
    lengths = {1: "8", 2: "4", 3: "4.", 4: "2"}
    return " ".join(f"{'cdefgab'[step % 7]}{chr(39) * (1 + step // 7)}{lengths[length]}" for length, step in measure)


def _midi(text: str, rng: Random) -> str:
    heard = parse_midi_text(text)
    drums = any(note.is_drum for note in heard.notes)
    ticks = max((note.onset + note.duration for note in heard.notes), default=0)
    steps = max(1, round(ticks / heard.ticks_per_beat * TICKS_PER_BEAT / _GRID))
    places = [(step, pitch) for step in range(steps) for pitch in (_DRUMS if drums else _PITCHES)]
    drawn = rng.sample(places, min(len(heard.notes), len(places)))
    notes = (Note(step * _GRID, pitch, _GRID, rng.randint(60, 100)) for step, pitch in drawn)
    return midi_to_text(
        write_midi(
            Performance(
                tuple(notes), heard.tempo, (4, 4), None if drums else "C", percussion=drums, length=steps * _GRID
            )
        )
    )


_TEXTS: Final[Mapping[str, Callable[[str, Random], str]]] = MappingProxyType(
    {"abc": _abc, "kern": _kern, "lilypond": _lilypond, "midi": _midi, "musicxml": _musicxml_as_long}
)
