r"""Random music to replace a stimulus, in the same notation and as long.

Text has the same length to within a measure. MIDI text has as many notes in the same time, on a grid of sixteenths.
Audio has the same length and level. The draw depends only on the stimulus, so that all questions about a score get the
same noise. For pages it depends only on their number.

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
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from random import Random
from typing import Final

import numpy as np

from music_evals.notation.midi.files import midi_to_text, parse_midi_text, write_midi
from music_evals.notation.midi.performance import TICKS_PER_BEAT, Note, Performance
from music_evals.notation.scores.pages import engrave_pages

_METRES: Final = {"2/4": 4, "3/4": 6, "4/4": 8, "6/8": 6}  # metre → eighths of a measure
_KEYS: Final = {"C": "c", "G": "g", "D": "d", "A": "a", "F": "f", "Bb": "bes", "Eb": "ees"}  # ABC → LilyPond
_LENGTHS: Final = {1: "8", 2: "4", 3: "4.", 4: "2"}  # eighths → LilyPond and kern
_STEPS: Final = 15  # two octaves from middle C
_PITCHES: Final = range(48, 85)
_DRUMS: Final = (36, 38, 42)  # kick, snare, hi-hat
_GRID: Final = TICKS_PER_BEAT // 4
_PAGE: Final = 330  # measures that fill more than a page
_NUMBERED: Final = re.compile(r"(?m)^( *[0-9][:.] ?\n?)")

_Measure = list[tuple[int, int]]  # length in eighths, step above middle C


def noise_text(text: str, notation: str, model: str = "") -> str:
    """Return random music in the notation of a text.

    Args:
        text: the text to replace; it seeds the draw.
        notation: ``abc``, ``kern``, ``lilypond``, ``musicxml`` or ``midi`` (see `midi_to_text`).
        model: a text with the length and layout to imitate, by default the text to replace. LilyPond can be a list of
            numbered measures.

    Raises:
        ValueError: another notation.
    """
    if notation not in _TEXTS:
        raise ValueError(f"there is no noise in the notation {notation!r}; there is in {', '.join(_TEXTS)}")
    return _TEXTS[notation](model or text, Random(text))


def noise_audio(data: bytes, model: bytes = b"") -> bytes:
    """Return white noise as WAV, with the length, level and format of a model, by default of the file itself."""
    import soundfile

    model = model or data
    samples, rate = soundfile.read(io.BytesIO(model), dtype="float64", always_2d=True)
    level = float(np.sqrt(np.mean(np.square(samples)))) if samples.size else 0.0
    noise = np.random.default_rng(list(data[:4096])).normal(0.0, level, samples.shape)
    encoding = soundfile.info(io.BytesIO(model)).subtype
    is_written = soundfile.check_format("WAV", encoding) and not encoding.startswith("MPEG")  # which is read only
    subtype = encoding if is_written else "PCM_16"
    buffer = io.BytesIO()
    soundfile.write(buffer, np.clip(noise, -1, 1), rate, format="WAV", subtype=subtype)
    return buffer.getvalue()


def noise_pages(count: int) -> list[bytes]:
    """Return pages of random music, drawn by `engrave_pages`; fewer pages are the first of more pages."""
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
            length = rng.choice([length for length in _LENGTHS if length <= left])
            measure.append((length, rng.randrange(_STEPS)))
        yield measure


def _write_measures(rng: Random, metre: str, write: Callable[[_Measure], str], length: int) -> list[str]:
    """Write at least one measure, until the text has a length."""
    measures, texts = _measures(rng, _METRES[metre]), [""]
    while sum(map(len, texts)) < max(1, length):
        texts.append(write(next(measures)))
    return texts[1:]


def _abc(text: str, rng: Random) -> str:
    metre, key = rng.choice(list(_METRES)), rng.choice(list(_KEYS))
    header = f"X:1\nM:{metre}\nL:1/8\nK:{key}\n"
    voices = list(dict.fromkeys(re.findall(r"(?m)^V: ?(\S+)", text)))
    length = (len(text) - len(header)) // max(1, len(voices))
    if not voices:
        return header + "|".join(_write_measures(rng, metre, _abc_measure, length)) + "|]"
    # One numbered measure per line, as `score_to_abc` writes scores.
    body = ""
    for index, voice in enumerate(voices):
        lines = _write_measures(rng, metre, lambda measure: f"{_abc_measure(measure)} | %00\n", length)
        header += f"V:{voice} {'bass' if index and index == len(voices) - 1 else 'treble'}\n"
        body += f"V:{voice}\n" + "".join(line.replace("%00", f"%{n}") for n, line in enumerate(lines, 1))
    return header + body


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
    body = ""
    for number, measure in enumerate(islice(_measures(rng, _METRES[metre]), count), 1):
        notes = "".join(
            f"<note><pitch><step>{'CDEFGAB'[step % 7]}</step><octave>{4 + step // 7}</octave></pitch>"
            f"<duration>{length}</duration><type>{types[length]}</note>"
            for length, step in measure
        )
        body += f'<measure number="{number}">{attributes if number == 1 else ""}{notes}</measure>'
    return (
        '<score-partwise version="4.0"><part-list><score-part id="P1"><part-name/></score-part></part-list>'
        f'<part id="P1">{body}</part></score-partwise>'
    )


def _musicxml_of_length(text: str, rng: Random) -> str:
    trial, seed = 16, rng.random()
    short, long = (len(_musicxml(Random(seed), count)) for count in (trial, 2 * trial))
    count = trial + round((len(text) - short) * trial / (long - short))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{_musicxml(Random(seed), max(1, count))}\n'


def _kern(text: str, rng: Random) -> str:
    metre = rng.choice(list(_METRES))
    spines = max(1, text.count("**kern"))

    def row(*tokens: str) -> str:
        return "\t".join(tokens if len(tokens) == spines else tokens * spines) + "\n"

    def write(measure: _Measure) -> str:
        rows = []
        for length, step in measure:
            steps = [step, *(rng.randrange(_STEPS) for _ in range(spines - 1))]
            rows.append(row(*(_LENGTHS[length] + "cdefgab"[step % 7] * (1 + step // 7) for step in steps)))
        return "".join(rows) + row("=%00")

    head = row("**kern") + row(f"*M{metre}") + row("=1")
    measures = _write_measures(rng, metre, write, len(text) - len(head))
    numbered = (measure.replace("%00", str(number)) for number, measure in enumerate(measures, 2))
    return head + "".join(numbered) + row("*-")


def _lilypond(text: str, rng: Random) -> str:
    start, *numbered = _NUMBERED.split(text)
    if numbered:
        measures = zip(numbered[::2], numbered[1::2], strict=True)
        return start + "".join(mark + _lilypond_bars(bars, rng) for mark, bars in measures)
    if "{" not in re.sub(r"\\(?:tuplet \S+|grace) \{", "", text):  # measures of a voice
        return _lilypond_bars(text, rng)
    metre, key = rng.choice(list(_METRES)), rng.choice(list(_KEYS.values()))
    version = re.search(r'\\version "[^"\n]*"', text)
    head = (f"{version[0]}\n" if version else "") + "\\score {\n  <<\n"
    staves = max(1, text.count(r"\new Staff"))
    length = (len(text) - len(head)) // staves - 60
    for _ in range(staves):
        bars = _write_measures(rng, metre, lambda measure: f"      {_lilypond_measure(measure)} |\n", length)
        head += f"    \\new Staff {{\n      \\key {key} \\major \\time {metre}\n{''.join(bars)}    }}\n"
    return head + "  >>\n}\n"


def _lilypond_bars(text: str, rng: Random) -> str:
    """Measures without a header, with the line breaks and indentation of the text."""
    music = text.strip()
    indent, end = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    metre = rng.choice(list(_METRES))
    bars = _write_measures(rng, metre, lambda measure: f"{_lilypond_measure(measure)} |", len(music))
    return indent + ("\n" + indent.rpartition("\n")[2] if "\n" in music else " ").join(bars) + end


def _lilypond_measure(measure: _Measure) -> str:
    return " ".join(f"{'cdefgab'[step % 7]}{chr(39) * (1 + step // 7)}{_LENGTHS[length]}" for length, step in measure)


def _midi(text: str, rng: Random) -> str:
    original = parse_midi_text(text)
    is_percussion = any(note.is_drum for note in original.notes)
    ticks = max((note.onset + note.duration for note in original.notes), default=0)
    steps = max(1, round(ticks / original.ticks_per_beat * TICKS_PER_BEAT / _GRID))
    places = [(step, pitch) for step in range(steps) for pitch in (_DRUMS if is_percussion else _PITCHES)]
    sample = rng.sample(places, min(len(original.notes), len(places)))
    notes = tuple(Note(step * _GRID, pitch, _GRID, rng.randint(60, 100)) for step, pitch in sample)
    key, length = None if is_percussion else "C", steps * _GRID
    return midi_to_text(
        write_midi(Performance(notes, original.tempo, (4, 4), key, percussion=is_percussion, length=length))
    )


_TEXTS: Final = {"abc": _abc, "kern": _kern, "lilypond": _lilypond, "midi": _midi, "musicxml": _musicxml_of_length}
