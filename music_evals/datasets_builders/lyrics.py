"""Lyrics of MUSDB18's test songs: a question per line that is sung.

The lyrics are text files, ``test/ARTIST - TITLE.txt``, with a line such as ``01:05 01:11 a walking
home``: beginning and end in minutes and seconds, the kind of singing, and the words. A line that
begins with ``*`` was rejected by the authors. The sound is cut from MUSDB18's mixtures,
``test/ARTIST - TITLE/mixture.wav``.
"""

import io
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from music_evals.datasets_builders.dataset_io import (
    Conversion,
    DatasetError,
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
_RECORDS, _MIXTURE = "lines.jsonl", "mixture.wav"


def read_record(record: Record, songs: Mapping[str, Path]) -> MediaQuestion | None:
    """Make the question of a line; `songs` has the mixture of each song that is there."""
    line, song = record["line"], record["song"]
    if not line.strip() or line.startswith("*"):
        return None
    begin, end, kind, *words = line.split(maxsplit=3)
    seconds = (_seconds(begin), _seconds(end))
    theme = KINDS[kind]
    if theme is None or not words:
        return None
    # Without the song, the name of its file says what is missing.
    content = _cut(songs[song], *seconds) if song in songs else f"test/{song}/{_MIXTURE}"
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
    records = Records((_RECORDS,), partial(read_record, songs=songs))
    return question_set("lyrics", "1.0.0", {"musdb18": records})


def _convert(conversion: Conversion) -> Provenance:
    source = conversion.source
    lines: list[str] = []
    for text in sorted(source.rglob("test/*.txt")):
        song = text.stem
        for number, line in enumerate(text.read_text(encoding="utf-8-sig").splitlines(), start=1):
            lines.append(json.dumps({"id": f"{song}-{number}", "song": song, "line": line}))
    if not lines:
        raise DatasetError(f"{source} holds no test/*.txt with the lyrics of MUSDB18")
    convert = _spec({path.parent.name: path for path in source.rglob(_MIXTURE)}).convert
    with TemporaryDirectory() as folder:
        (Path(folder) / _RECORDS).write_text("\n".join(lines), encoding="utf-8")
        return convert(replace(conversion, source=Path(folder)))  # type: ignore[misc]


BENCHMARK = replace(_spec({}), convert=_convert)
