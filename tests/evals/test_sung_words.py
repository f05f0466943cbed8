"""Sung words in Chinese and printed lyrics: small copies of the published layouts become rows, and
known replies get their scores.
"""

import io
import json

import numpy as np
import pytest
import soundfile

from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.evals import jam_alt, mir1k, opencpop
from tests.evals.test_listening_sets import rows_of, sound, write
from tests.harness import metrics, run_scripted

WORDS = "愛你的心跳"


def clip(right):
    """A clip whose left channel is loud, and whose right channel has a level."""
    buffer = io.BytesIO()
    samples = np.stack([np.full(800, 0.9), np.full(800, right)], axis=1)
    soundfile.write(buffer, samples, 8000, format="WAV", subtype="PCM_16")
    return buffer.getvalue()


MIR1K = {
    "MIR-1K/Lyrics/abjones_1_01.txt": WORDS.encode("big5hkscs"),
    "MIR-1K/Lyrics/abjones_1_02.txt": "再見".encode("big5hkscs"),
    "MIR-1K/README.txt": b"Read me.",
    "MIR-1K/Wavfile/abjones_1_01.wav": clip(0.25),
    "MIR-1K/LyricsWav/abjones_1_02.wav": clip(0.5),  # the words as they are said
}


def test_a_clip_of_mir1k_is_the_voice_alone(tmp_path):
    first, second = rows_of(write(tmp_path, MIR1K), mir1k.BENCHMARK, "vocals")
    assert (first["id"], first["answer"], first["piece"]) == ("abjones_1_01", WORDS, "abjones_1")
    samples, _ = soundfile.read(io.BytesIO(first["audio"][0]["bytes"]), always_2d=True)
    assert samples.shape == (800, 1)
    assert samples == pytest.approx(0.25, abs=1e-4)
    assert (second["answer"], second["audio"][0]["bytes"]) == ("再見", b"-")


def test_a_phrase_of_opencpop_is_heard_alone(tmp_path):
    files = {
        "segments/test.txt": f"2044001628|{WORDS}|ai n i|F#4|0.2|0.2|0\n".encode(),
        "segments/train.txt": "2001000001|感受|g an|C4|0.2|0.2|0\n".encode(),
        "segments/wavs/2044001628.wav": sound(1),
        "wavs/2044.wav": sound(2),
    }
    (row,) = rows_of(write(tmp_path, files), opencpop.BENCHMARK, "phrases")
    assert [row[key] for key in ("id", "answer", "piece")] == ["2044001628", WORDS, "2044"]
    assert row["audio"][0]["bytes"] == sound(1)
    task = opencpop.phrases(dataset=str(tmp_path))
    # Simplified characters and punctuation are no errors; one of five characters is wrong.
    log = run_scripted(task, tmp_path / "logs", lambda *_: "Final Answer: 爱你，的新跳。")
    assert metrics(log)["typed_answer"]["cer"] == pytest.approx(0.2)


SONG = "Walking home (oh yeah)\nWe're late\n\nStay with me, stay"


def songs(**changes):
    records = [
        {"file_name": f"subsets/{language}/audio/{name}.mp3", "name": name, "text": text,
         "language": language, "license_type": "CC BY"}
        for name, language, text in (("A_-_B", "en", SONG), ("C_-_D", "de", "Wie geht's dir?"))
    ]  # fmt: skip
    lines = "\n".join(json.dumps({**record, **changes}) for record in records).encode()
    files = {
        record["file_name"]: sound(number, kind="MP3") for number, record in enumerate(records)
    }
    return {"metadata.jsonl": lines, "subsets/en/metadata.jsonl": lines.split(b"\n")[0], **files}


def test_a_song_of_jam_alt_keeps_its_lines(tmp_path):
    rows = rows_of(write(tmp_path, songs()), jam_alt.BENCHMARK, "songs")
    facts = [(row["id"], row["answer"], row["answer_kind"], row["theme"]) for row in rows]
    assert facts == [
        ("A_-_B", SONG, "lyrics:en", "en"),
        ("C_-_D", "Wie geht's dir?", "lyrics:de", "de"),
    ]
    assert [row["audio"][0]["bytes"] for row in rows] == [
        sound(0, kind="MP3"),
        sound(1, kind="MP3"),
    ]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (
            f"Final Answer:\n{SONG}",
            {"score": 1, "wer": 0, "f1_line": 1, "f1_sect": 1, "f1_pare": 1},
        ),
        (SONG, {"score": 1, "wer": 0, "wer_case": 0}),
        (SONG.lower(), {"score": 1, "wer": 0, "wer_case": 3 / 11}),
        (SONG.replace("\n", " "), {"wer": 0, "f1_line": 0, "f1_sect": 0, "f1_punc": 1}),
        ("I cannot transcribe lyrics.", {"score": 0, "wer": 1}),
    ],
)
def test_printed_lyrics_have_the_figures_of_their_own_package(reply, expected, tmp_path):
    """Of eleven tokens, with "We" and "'re", three have a capital."""
    pytest.importorskip("alt_eval", reason="needs the extra 'lyrics'")
    task = jam_alt.songs(dataset=str(write(tmp_path / "songs", songs())))
    figures = metrics(run_scripted(task, tmp_path / "logs", lambda *_: reply))["typed_answer"]
    assert {name: figures[name] for name in expected} == pytest.approx(expected)


def test_jam_alt_in_another_language_is_refused(tmp_path):
    source = write(tmp_path, songs(language="xx"))
    with pytest.raises(DatasetError):
        rows_of(source, jam_alt.BENCHMARK, "songs")
