"""Lyrics of MUSDB18's test songs: a question per line that is sung.

The lyrics are text files, ``test/ARTIST - TITLE.txt``, with a line such as ``01:05 01:11 a walking
home``: beginning and end in minutes and seconds, the kind of singing, and the words. A line that
begins with ``*`` was rejected by the authors. The sound is cut from MUSDB18's mixtures,
``test/ARTIST - TITLE/mixture.wav``.
"""

import io
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePath

from music_evals.datasets_builders.dataset_io import (
    Conversion,
    DatasetSpec,
    Provenance,
)
from music_evals.datasets_builders.questions.question_set import (
    MediaQuestion,
    Part,
    Record,
    Records,
    question_set,
)

KINDS: Mapping[str, str | None] = {
    "a": "one voice",
    "b": "several voices, the same words",
    "c": None,
    "d": None,
}
"""Kinds of singing; None for voices with different words, and for no words: they are not asked."""
QUESTION = "Which words are sung?"
_MIXTURE = "mixture.wav"


def read_record(record: Record, songs: Mapping[str, Path]) -> MediaQuestion | None:
    """Make the question of a line; `songs` has the mixture of each song that is there."""
    file, line = PurePath(record["file"]), record["line"]
    if file.parent.name != "test" or not line.strip() or line.startswith("*"):
        return None
    begin, end, kind, *words = line.split(maxsplit=3)
    seconds = (_seconds(begin), _seconds(end))
    theme = KINDS[kind]
    if theme is None or not words:
        return None
    # Without the song, a name that no file has says what is missing.
    song = file.stem
    content = _cut(songs[song], *seconds) if song in songs else f"{_MIXTURE} of {song}"
    return MediaQuestion(
        record["id"],
        [Part("audio", content), QUESTION],
        [],
        words[0].strip(),
        theme=theme,
        piece=song,
        answer_kind="text",
    )


def _seconds(time: str) -> int:
    minutes, seconds = time.split(":")
    return 60 * int(minutes) + int(seconds)


def _cut(mixture: Path, begin: int, end: int) -> bytes:
    import soundfile

    buffer = io.BytesIO()
    with soundfile.SoundFile(mixture) as song:
        rate = song.samplerate
        song.seek(min(begin * rate, song.frames))
        samples = song.read((end - begin) * rate, dtype="int16")
        soundfile.write(buffer, samples, rate, format="WAV", subtype="PCM_16")
    return buffer.getvalue()


def _spec(songs: Mapping[str, Path]) -> DatasetSpec:
    records = Records(("*.txt",), partial(read_record, songs=songs))
    return question_set("lyrics", "1.0.0", {"musdb18": records})


def _convert(conversion: Conversion) -> Provenance:
    songs = {path.parent.name: path for path in conversion.source.rglob(_MIXTURE)}
    return _spec(songs).convert(conversion)  # type: ignore[misc]


BENCHMARK = replace(_spec({}), convert=_convert)
