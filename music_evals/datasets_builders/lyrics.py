"""Lyrics of MUSDB18's test songs: a question per line that is sung.

The lyrics are text files, ``test/ARTIST - TITLE.txt``, with a line such as ``01:05 01:11 a walking
home``: beginning and end in minutes and seconds, the kind of singing, and the words. A line that
begins with ``*`` was rejected by the authors. The sound is cut from MUSDB18's mixtures,
``test/ARTIST - TITLE/mixture.wav``.
"""

from collections.abc import Mapping
from pathlib import Path, PurePath

from music_evals.datasets_builders.questions.question_set import (
    MediaQuestion,
    Part,
    Record,
    Records,
    question_set,
)
from music_evals.notation.audio.clips import file_of

KINDS: Mapping[str, str | None] = {
    "a": "one voice",
    "b": "several voices, the same words",
    "c": None,
    "d": None,
}
"""Kinds of singing; None for voices with different words, and for no words: they are not asked."""
QUESTION = "Which words are sung?"
_MIXTURE = "mixture.wav"


def read_record(record: Record) -> MediaQuestion | None:
    """Make the question of a line; its sound is cut from the mixture of its song."""
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
    content: bytes | str = f"{_MIXTURE} of {song}"
    for name, mixture in record["files"].items():
        if f"/{name}".endswith(f"/{song}/{_MIXTURE}"):
            content = _cut(mixture, *seconds)
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

    with soundfile.SoundFile(mixture) as song:
        rate = song.samplerate
        song.seek(min(begin * rate, song.frames))
        return file_of(song.read((end - begin) * rate, dtype="int16"), rate)


BENCHMARK = question_set("lyrics", "1.0.0", {"musdb18": Records(("*.txt",), read_record)})
