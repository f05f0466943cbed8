"""SongFormBench: published songs become questions, answers have the scores of the authors' script, and
the sections of composed songs differ and recur.
"""

import io
import json

import numpy as np
import pytest
import soundfile

from music_evals.datasets_builders import songformbench as builder
from music_evals.datasets_builders.dataset_io import DatasetError, load_split
from music_evals.evals import songformbench
from music_evals.scorers.answer_kinds.segments import hit_rate, label_accuracy
from tests.evals.test_listening_sets import sound, write
from tests.harness import metrics, run_scripted

REFERENCE = "0 intro; 7.352 verse; 34.89 verse; 60.679 chorus; 89.539 outro; 100 end"
LONG = (
    "0 silence; 1.5 intro; 12.4 verse; 33.2 pre-chorus; 41 chorus; 62.5 chorus; 80 inst; 96.25 outro; "
    "110 end"
)


def record(name, subset, suffix, sections=REFERENCE, **fields):
    pairs = [entry.split() for entry in sections.split("; ")]
    entry = {
        "id": name,
        "subset": subset,
        "language": "zh",
        "duration": 100.1,
        "audio_path": f"data/audios/{subset}/{name}{suffix}",
        "mel_path": f"data/mels/{subset}/{name}.npy",
        "label_path": f"data/labels/{subset}/{name}.txt",
        "labels": [{"start": float(start), "label": label} for start, label in pairs],
    }
    return {**entry, **fields}


def files():
    """A song of each subset, and files that are not fetched."""
    records = [
        record("BHX_0001_a", "HarmonixSet", ".wav", "0.4 verse; 10.5 pre-chorus; 30 end"),
        record("BC_0a1b2c", "CN", ".mp3"),
    ]
    text = "\n".join(map(json.dumps, records))
    return {
        "data/SongFormBench.jsonl": text.encode(),
        "data/audios/HarmonixSet/BHX_0001_a.wav": sound(1),
        "data/audios/CN/BC_0a1b2c.mp3": sound(2, kind="MP3"),
        "data/labels/CN/BC_0a1b2c.txt": b"0.0 intro",
    }


def rows_of(folder, task):
    return load_split(str(folder), task, "test", benchmark=builder.BENCHMARK).to_list()


def test_each_subset_is_a_task(tmp_path):
    source = write(tmp_path, files())
    (western,), (chinese,) = (rows_of(source, task) for task in ("harmonixset", "cn"))
    assert western["answer"] == "0.4 verse; 10.5 pre-chorus; 30 end"
    assert (chinese["id"], chinese["answer"]) == ("BC_0a1b2c", REFERENCE)
    assert chinese["audio"][0]["bytes"] == sound(2, kind="MP3")
    assert chinese["answer_kind"] == "segments:verse"


def test_a_song_without_labels_is_refused(tmp_path):
    bad = json.dumps(record("BC_1", "CN", ".mp3", labels=None))
    with pytest.raises(DatasetError, match="record 'BC_1' is not as expected"):
        rows_of(write(tmp_path, {**files(), "data/SongFormBench.jsonl": bad.encode()}), "cn")


@pytest.mark.parametrize(
    ("reply", "score", "hits"),
    [
        (REFERENCE.replace("; ", "\n"), 1.0, 1.0),
        # By hand: 80 of 100 s; three of four boundaries meet three of six.
        ("0:00 Intro\n0:07.352 Verse\n1:00.679 Chorus\n1:20 End", 0.8, 0.6),
        ("I cannot hear it.", 0.0, 0.0),
    ],
)
def test_a_reply_has_its_scores_in_the_log(reply, score, hits, tmp_path):
    task = songformbench.cn(dataset=str(write(tmp_path / "source", files())))
    assert "12.4 verse" in task.dataset[0].input[0].text
    log = run_scripted(task, tmp_path / "logs", lambda *_: f"Final Answer:\n{reply}")
    figures = metrics(log)["typed_answer"]
    assert (figures["score"], figures["hr3f"]) == pytest.approx((score, hits))
    assert figures["common_span"] == pytest.approx(float(score > 0))


@pytest.mark.parametrize(
    ("answer", "accuracy", "apart", "hits"),
    [
        (
            "0 intro; 12.1 verse; 40.2 chorus; 79.8 bridge; 97 outro; 110.4 end",
            0.82,
            0.756364,
            (0.533333, 0.8),
        ),
        ("2 intro; 14 pre-chorus; 42 chorus; 70 end", 0.961765, 0.679412, (0.153846, 0.461538)),
        ("0 verse; 20 chorus; 60 outro; 130 end", 0.366818, 0.366818, (0.153846, 0.307692)),
    ],
)
def test_figures_are_those_of_the_authors_script(answer, accuracy, apart, hits):
    """SongFormer at commit 139b2aa: `cal_acc` with and without pre-chorus as verse, `HitRate`."""
    figures = [label_accuracy(answer, LONG, merged, is_common=True) for merged in ("verse", "")]
    assert figures == pytest.approx([accuracy, apart], abs=1e-5)
    assert [hit_rate(answer, LONG, window) for window in (0.5, 3)] == pytest.approx(hits, abs=1e-5)


def test_sections_of_composed_songs_differ_and_recur():
    (song,) = builder.song_questions(1, "cn", 1)
    samples, rate = soundfile.read(io.BytesIO(song.parts[0].content))
    entries = [entry.split() for entry in song.right.split("; ")]
    starts = [round(float(start) * rate) for start, _ in entries]
    labels = [label for _, label in entries]
    assert (labels[-1], len(samples)) == ("end", pytest.approx(starts[-1], abs=rate / 100))

    def spectrum(place):
        """Of the middle second of a section."""
        middle = (starts[place] + starts[place + 1]) // 2
        return np.abs(np.fft.rfft(samples[middle - rate // 2 : middle + rate // 2]))

    first, again = (place for place, label in enumerate(labels) if label == "chorus")
    others = [place for place, label in enumerate(labels) if label in ("verse", "inst", "intro")]
    likeness = np.corrcoef([spectrum(place) for place in (first, again, *others)])[0]
    assert likeness[1] > 0.95
    assert len(others) >= 2
    assert max(likeness[2:]) < 0.9
