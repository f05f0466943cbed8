"""Lyrics of MUSDB18's test songs: a question per line that is sung.

The lyrics are text files, ``test/ARTIST - TITLE.txt``, with a line such as ``01:05 01:11 a walking
home``: beginning and end in minutes and seconds, the kind of singing, and the words. Kinds: ``a``
one voice, ``b`` voices with the same words, ``c`` voices with different words, ``d`` no words. A
line that begins with ``*`` was rejected by the authors. The sound is cut from MUSDB18's mixtures,
``test/ARTIST - TITLE/mixture.wav``.
"""

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

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

NAME, TASK, VERSION = "lyrics", "musdb18", "1.0.0"
KINDS = {"a": "one voice", "b": "several voices, the same words"}
"""Kinds of singing that are asked, and their names."""
_NOT_ASKED = ("c", "d")
QUESTION = "Which words are sung?"
_RECORDS, _MIXTURE = "lines.jsonl", "mixture.wav"
_MOST_BYTES = 100_000  # of a song's lyrics


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a song that are asked; ValueError if a line is not as described."""
    if path.stat().st_size > _MOST_BYTES:
        raise ValueError(f"it has over {_MOST_BYTES:,} bytes, which is the most")
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), start=1):
        if not line.strip() or line.startswith("*"):
            continue
        begin, end, kind, *words = line.split(maxsplit=3)
        times = [_seconds(begin), _seconds(end)]
        if kind not in (*KINDS, *_NOT_ASKED):
            raise ValueError(f"line {number} is of the kind {kind!r:.20}; accepted are a, b, c, d")
        if kind in KINDS and words:
            yield {"song": path.stem, "line": number, "times": times, "kind": kind, "text": words[0]}


def _seconds(time: str) -> int:
    minutes, seconds = time.split(":")
    return 60 * int(minutes) + int(seconds)


def read_record(record: Record, songs: Mapping[str, Path]) -> MediaQuestion:
    """Make the question of a line; `songs` has the mixture of each song that is there."""
    return MediaQuestion(
        f"{record['song']}-{record['line']}",
        [_cut(record, songs.get(record["song"])), QUESTION],
        [],
        record["text"].strip(),
        theme=KINDS[record["kind"]],
        piece=record["song"],
        answer_kind="text",
    )


def _cut(record: Record, mixture: Path | None) -> Part:
    """The sound of a line; without the song a part that names its file, so that it is missed."""
    if mixture is None:
        return Part("audio", f"test/{record['song']}/{_MIXTURE}")
    import soundfile

    begin, end = record["times"]
    with soundfile.SoundFile(mixture) as song:
        song.seek(min(begin * song.samplerate, song.frames))
        samples = song.read((end - begin) * song.samplerate, dtype="int16")
        buffer = io.BytesIO()
        soundfile.write(buffer, samples, song.samplerate, format="WAV", subtype="PCM_16")
    return Part("audio", buffer.getvalue())


def _spec(songs: Mapping[str, Path]) -> DatasetSpec:
    records = Records((_RECORDS,), partial(read_record, songs=songs))
    return question_set(NAME, VERSION, {TASK: records})


def _convert(conversion: Conversion) -> Provenance:
    source = conversion.source
    texts = sorted(source.rglob("test/*.txt"))
    if not texts:
        raise DatasetError(f"{source} holds no test/*.txt with the lyrics of MUSDB18")
    lines: list[str] = []
    for text in texts:
        try:
            lines += [json.dumps(record) for record in read_lines(text)]
        except ValueError as error:
            raise DatasetError(f"{text.name} cannot be read: {error}") from error
    songs = {path.parent.name: path for path in source.rglob(_MIXTURE)}
    with TemporaryDirectory() as folder:
        (Path(folder) / _RECORDS).write_text("\n".join(lines), encoding="utf-8")
        convert = _spec(songs).convert
        return convert(replace(conversion, source=Path(folder)))  # type: ignore[misc]


BENCHMARK = replace(_spec({}), convert=_convert)
