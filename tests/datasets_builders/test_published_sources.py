"""``dataset=published``: every benchmark, fetched from servers on this machine, and asked again
without them.
"""

import csv
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from music_evals import benchmarks
from music_evals.datasets_builders.abc_eval import dataset as abc_eval
from music_evals.datasets_builders.dataset_io import build_dataset, describe_dataset
from music_evals.datasets_builders.lilybench import dataset as lilybench
from music_evals.datasets_builders.lilybench.rows import TASKS
from music_evals.datasets_builders.muse.recordings import recorded_rows as recorded_muse
from music_evals.datasets_builders.muse_ten.recordings import recorded_rows as recorded_ten
from music_evals.evals.registry import dataset_module
from tests.abc_eval_dataset import write_files
from tests.datasets_builders.msu.test_dataset import write_snapshot
from tests.datasets_builders.test_musictheorybench import published as write_theory
from tests.evals import test_listening_sets as listening
from tests.evals import test_musp_bench as musp
from tests.evals import test_pitchbench as pitches
from tests.evals import test_songformbench as songs
from tests.evals import test_sung_words as sung
from tests.evals.test_question_sets import rul_record, sound
from tests.published_servers import folder_files, rerouted, serve, tar
from tests.ziqi_source import write_source

GOLDEN = Path(__file__).parents[1] / "golden" / "data"
COMMIT = "c" * 40
NEEDS_LILYPOND = ("abc_eval", "lilybench", "lilybench_generation")


@pytest.fixture
def servers(tmp_path):
    with serve() as running, rerouted(running, tmp_path):
        yield running


def remotes(name):
    """Hub, address or DOI → remote, of the copy of the facts."""
    source = benchmarks.dataset_facts(name).published[1]
    return {remote.hub or remote.doi or remote.address: remote for remote in source.remotes}


def put_archive(servers, name, files, at="github.com"):
    """Serve files as the archive of a benchmark's git commit, in a folder as GitHub packs them."""
    address = next(address for address in remotes(name) if at in address and ".tar.gz" in address)
    packed = tar({f"NAME-COMMIT/{path}": content for path, content in files.items()})
    servers.files[address.removeprefix("https://")] = packed


def put_repository(servers, name, files):
    """Serve files as the repository of a benchmark on the Hub."""
    remote = next(remote for remote in remotes(name).values() if remote.hub)
    servers.repositories[remote.hub] = {remote.commit or COMMIT: files}


def parquet(records):
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(records), buffer)
    return buffer.getvalue()


def put_ziqi(servers, folder):
    put_archive(
        servers,
        "ziqi",
        {f"ZIQI-Eval/{path}": data for path, data in folder_files(write_source(folder)).items()},
    )


def put_musictheorybench(servers, folder):
    put_repository(servers, "musictheorybench", folder_files(write_theory(folder)))


def put_msu(servers, folder):
    put_repository(servers, "msu", folder_files(write_snapshot(folder)))


def put_muse(servers, _):
    paths = {path for row in recorded_muse() for path in row.paths}
    put_archive(
        servers,
        "muse",
        {path: sound(seed=n) for n, path in enumerate(sorted(paths))} | {"LICENSE_DATA.md": b"x"},
    )


def put_muse_ten(servers, _):
    paths = {path for row in recorded_ten() for path in row.paths if "Circles_3" not in path}
    put_archive(servers, "muse_ten", {path: sound(seed=n) for n, path in enumerate(sorted(paths))})


def put_abc_eval(servers, folder):
    put_archive(servers, "abc_eval", folder_files(write_files(folder / "csv").parent))


def put_lilybench(servers, _):
    put_archive(
        servers,
        "lilybench",
        {f"ftp/{path}": data for path, data in folder_files(GOLDEN / "mutopia").items()},
    )
    clips = {f"midis/{path}": data for path, data in folder_files(GOLDEN / "emopia").items()}
    (address,) = [address for address in remotes("lilybench") if "EMOPIA" in address]
    servers.files[address.removeprefix("https://")] = zipped(
        {f"EMOPIA_2.2/{path}": it for path, it in clips.items()}
    )


def put_lilybench_generation(servers, _):
    labels = {"work_01_processed.ly": {"composer": "Vivaldi", "meta": {}}}
    (address,) = [address for address in remotes("lilybench_generation") if "labels" in address]
    servers.files[address.removeprefix("https://")] = json.dumps(labels).encode()
    (doi,) = [name for name, remote in remotes("lilybench_generation").items() if remote.doi]
    servers.record(doi, {"baroquemusic.zip": zipped({"data/work_01_processed.ly": b"{ c'4 }"})})
    pieces = dict(list(folder_files(GOLDEN / "mutopia").items())[:2])
    put_archive(
        servers, "lilybench_generation", {f"ftp/{path}": data for path, data in pieces.items()}
    )


def mmau_record(number, task="music", **changes):
    """A row of ``gamma-lab-umd/MMAU-test-mini``."""
    facts = {
        "id": f"m{number}",
        "task": task,
        "category": ["Reasoning"],
        "sub-category": "Tempo",
        "difficulty": "hard",
    }
    choices = [
        f"({letter}) {word} {number}"
        for letter, word in zip("ABCD", ("lute", "harp", "bell", "drum"), strict=True)
    ]
    clip = {"bytes": sound(seed=number), "path": None}
    record = {
        "context": clip,
        "instruction": f"Which {number}?",
        "choices": choices,
        "answer": choices[number % 4],
    }
    return {**record, "other_attributes": json.dumps({**facts, "split": "test-mini"}), **changes}


def put_mmau(servers, _):
    records = [mmau_record(number, "music" if number % 3 == 0 else "sound") for number in range(9)]
    put_repository(
        servers, "mmau", {"data/test-00000-of-00001.parquet": parquet(records), "README.md": b"#"}
    )


def put_mmau_test(servers, _):
    names = ("id", "audio_id", "question", "task", "category", "sub-category", "difficulty")
    values = [("t1", "test-audios/t1.wav", "Which?", "speech", "Reasoning", "Tempo", "easy")]
    records = [
        {**dict(zip(names, one, strict=True)), "choices": ["lute", "harp"], "answer": None}
        for one in values
    ]
    clips = tar({"test-audios/t1.wav": sound()})
    put_repository(
        servers, "mmau_test", {"data/test.parquet": parquet(records), "test-audios.tar.gz": clips}
    )


def mmar_record(number, modality="music"):
    return {
        "id": f"r{number}",
        "audio_path": f"./audio/r{number}.wav",
        "question": f"Which {number}?",
        "choices": ["lute", "harp", "bell", " "],
        "answer": "harp",
        "modality": modality,
        "category": "Signal Layer",
        "sub-category": "Pitch",
        "language": "zh" if number else None,
    }


def put_mmar(servers, _):
    lines = [json.dumps(mmar_record(n, "music" if n < 3 else "speech")) for n in range(5)]
    (address,) = [address for address in remotes("mmar") if "MMAR-meta" in address]
    servers.files[address.removeprefix("https://")] = "\n".join(lines).encode()
    put_repository(
        servers,
        "mmar",
        {"mmar-audio.tar.gz": tar({f"audio/r{n}.wav": sound(seed=n) for n in range(3)})},
    )


def hub_record(question, answer, seed):
    """A row of ``lmms-lab/muchomusic``."""
    choices = f"(A) Gong (B) {answer} (C) Lyre (D) Fife"
    clip = {"bytes": sound(seed=seed), "path": None}
    return {"context": clip, "instruction": question, "choices": choices, "answer": f"(B) {answer}"}


def put_muchomusic(servers, _):
    fields = {
        "dataset": "sdd",
        "genre": "Rock",
        "music_knowledge": "['instrumentation']",
        "music_reasoning": "",
    }
    rows = [
        {
            "question": f"Which drum {n}?",
            "correct_answer": f"Bongo {n}",
            **{f"distractor_{m}_answer": f"wrong {m}" for m in (1, 2, 3)},
            "dataset_identifier": f"{n}.json",
            **fields,
        }
        for n in range(4)
    ]
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys())
    writer.writeheader()
    writer.writerows(rows)
    (doi,) = [name for name, remote in remotes("muchomusic").items() if remote.doi]
    servers.record(doi, {"muchomusic.csv": text.getvalue().encode(), "datasheet.pdf": b"%PDF"})
    records = [hub_record(f"Which drum {n}?", f"Bongo {n}", n) for n in range(3)]
    put_repository(servers, "muchomusic", {"data/test-00000-of-00001.parquet": parquet(records)})


def put_rul_muchomusic(servers, _):
    questions = {str(number): rul_record(number) for number in range(5)}
    (address,) = [address for address in remotes("rul_muchomusic") if "RUL" in address]
    servers.files[address.removeprefix("https://")] = json.dumps(questions).encode()
    records = [hub_record(f"Which drum plays in {n}?", f"Bongo {n}.", n) for n in range(3)]
    # Two recordings to which the question of number 3 fits.
    records += [hub_record("Which drum plays in 3?", "Bongo 3", seed) for seed in (3, 4)]
    put_repository(
        servers, "rul_muchomusic", {"data/test-00000-of-00001.parquet": parquet(records)}
    )


def put_ssmr(servers, _):
    answers = {
        "correct_answer": "C major",
        **{f"incorrect_answer{n}": f"{key} minor" for n, key in enumerate("CDE", 1)},
    }
    record = {
        "question": "Which key?",
        "abc_context": "K:C\\nCDEF|",
        "class_name": "KeyQuestion",
        "category": "key",
    }
    files = {"data/Test_textual-00000-of-00001.parquet": parquet([{**record, **answers}])}
    put_repository(servers, "ssmr", files)


def put_file(servers, name, end, content):
    """Serve a file at the address with this end."""
    (address,) = [address for address in remotes(name) if address.endswith(end)]
    servers.files[address.removeprefix("https://")] = content


def put_mmau_pro(servers, _):
    records = [listening.mmau_pro_record(number) for number in range(3)]
    put_repository(servers, "mmau_pro", listening.mmau_pro_files(records))


def put_hummusqa(servers, _):
    put_repository(servers, "hummusqa", listening.hummusqa_files())


def put_bass(servers, _):
    put_repository(servers, "bass", listening.bass_files())


def put_music_avqa(servers, _):
    content = listening.avqa_files()["avqa-test.json"]
    put_file(servers, "music_avqa", "avqa-test.json", content)


def put_air_bench(servers, _):
    put_repository(servers, "air_bench", listening.air_bench_files())


def put_wildscore(servers, _):
    records = listening.table([listening.wildscore_record("one")])
    files = {"data.csv": records, "images/one.jpg": listening.gif(3), "README.md": b"#"}
    put_repository(servers, "wildscore", files)


def put_musica(servers, _):
    put_file(servers, "musica", "seed_52.tsv", listening.musica_files(4)["seed_52.tsv"])


def put_mtg_jamendo(servers, _):
    text = next(iter(listening.mtg_files().values()))
    for split in ("genre", "moodtheme", "instrument", "top50tags"):
        tag = {"genre": b"rock", "moodtheme": b"sad", "instrument": b"harp"}.get(split, b"rock")
        own = text.splitlines()[0] + b"\ntrack_1\tartist\talbum\t14/214.mp3\t9\tx---" + tag
        content = text if split == "genre" else own
        put_file(servers, "mtg_jamendo", f"autotagging_{split}-test.tsv", content)


def put_magnatagatune(servers, _):
    files = listening.magnatagatune_files()
    put_file(servers, "magnatagatune", "annotations_final.csv", files["annotations_final.csv"])


def put_vocalset(servers, _):
    record = listening.vocalset_record("f2_scales_vocal_fry_a_00", "vocal_fry")
    put_file(servers, "vocalset", "CMI_VocalSet_tech.jsonl", json.dumps(record).encode())
    (path,) = record["audio_path"]
    clip = {path.removeprefix("data/"): sound()}
    put_repository(servers, "vocalset", {"test_Data.zip": zipped(clip)})


def put_pitchbench(servers, folder):
    stimuli = pitches.write_stimuli(folder, pitches.STIMULI)
    put_repository(servers, "pitchbench", folder_files(stimuli))


def put_nsynth(servers, _):
    (address,) = remotes("nsynth")
    notes = pitches.nsynth_files([("bass", "electronic", 40), ("vocal", "synthetic", 70)])
    servers.files[address.removeprefix("https://")] = tar(notes)


def put_songformbench(servers, _):
    put_repository(servers, "songformbench", songs.files())


def put_lyrics(servers, _):
    (doi,) = remotes("lyrics")
    texts = {"lyrics_transcripts/test/A - B.txt": listening.LYRICS.encode(), "README.txt": b"Read."}
    servers.record(doi, {"musdb18_lyrics.zip": zipped(texts)})


def put_jam_alt(servers, _):
    put_repository(servers, "jam_alt", sung.songs())


def put_musp_bench(servers, _):
    put_repository(servers, "musp_bench", musp.FILES)


def zipped(files):
    import zipfile

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return buffer.getvalue()


PUT = {
    name.removeprefix("put_"): function
    for name, function in globals().items()
    if name.startswith("put_")
}
PUT = {name: function for name, function in PUT.items() if name in benchmarks.names()}
ROWS = {
    "abc_eval": ("bar_count", 8),
    "air_bench": ("music", 2),
    "bass": ("lyrics", 2),
    "hummusqa": ("excerpts", 1),
    "jam_alt": ("songs", 2),
    "lilybench": ("bar_count", 4),
    "lilybench_generation": ("prompts", 1000),
    "lyrics": ("musdb18", 2),
    "magnatagatune": ("tags", 2),
    "mmar": ("music", 3),
    "mmau": ("music", 3),
    "mmau_pro": ("music", 3),
    "mmau_test": ("questions", 1),
    "msu": ("questions", 12),
    "mtg_jamendo": ("genre", 2),
    "muchomusic": ("listening", 4),
    "muse": ("chord_quality", 44),
    "muse_ten": ("meter", 19),
    "music_avqa": ("sound", 5),
    "musica": ("pages", 4),
    "musictheorybench": ("knowledge", 8),
    "musp_bench": ("both", 3),
    "nsynth": ("pitch", 2),
    "pitchbench": ("pitch", 19),
    "rul_muchomusic": ("muchomusic", 5),
    "songformbench": ("cn", 1),
    "ssmr": ("textual", 1),
    "vocalset": ("technique", 1),
    "wildscore": ("scores", 1),
    "ziqi": ("generation", 4),
}
"""Benchmark → a config, and its rows."""


def published(name):
    return describe_dataset("published", benchmark=dataset_module(name).BENCHMARK)


def test_every_benchmark_is_tried():
    # What mirdata fetches is tried in dataset_io/test_mirdata_sets.py, captions in
    # evals/test_captions.py.
    by_mirdata = [name for name in benchmarks.names() if "mirdata" in benchmarks.load(name).table]
    by_hand = [name for name in benchmarks.names() if not remotes(name)]
    captions = {"musiccaps", "song_describer"}
    own = sorted({*benchmarks.names()} - {*by_mirdata, *by_hand, *captions, benchmarks.MIRDATA})
    assert [*ROWS] == own == sorted(PUT)


@pytest.mark.parametrize("name", ROWS)
def test_it_is_fetched_once_and_the_same_as_from_a_folder(
    name,
    tmp_path,
    monkeypatch,
    capsys,
    request,
):
    if name in NEEDS_LILYPOND:
        request.getfixturevalue("lilypond_runs")
    monkeypatch.setattr(abc_eval, "make_pieces", lambda *_: ([], {}))  # for strict rows
    monkeypatch.setattr(lilybench, "SIZES", {**dict.fromkeys(TASKS, 4), "error_detection": 5})
    with serve() as servers, rerouted(servers, tmp_path):
        PUT[name](servers, tmp_path / "source")
        first = published(name)
        shown = capsys.readouterr().err
        asked = len(servers.asked)
        again = published(name)
        assert len(servers.asked) == asked > 0
        assert capsys.readouterr().err == ""
    config, count = ROWS[name]
    rows = first.provenance.counts[config]
    assert rows.get("test", rows.get("paper")) == count
    assert again == first
    source = benchmarks.dataset_facts(name).published[1]
    for remote in source.remotes:
        assert f"{remote.place} at " in shown
        assert f"licence: {remote.licence}" in shown
        assert ("no commit is known for" in shown) or remote.commit or not remote.hub
    main = source.remotes[0]
    unpinned = "unknown" if main.address else COMMIT
    assert first.revision == (main.commit or main.doi or unpinned)
    assert all(
        f"{remote.place}@" in (first.provenance.source_revision or "") for remote in source.remotes
    )
    assert first.label.startswith(f"{first.provenance.source}-{first.revision[:7]}")


def test_sound_is_joined_by_the_text_of_the_question(servers, tmp_path):
    put_rul_muchomusic(servers, tmp_path)
    origin = published("rul_muchomusic")
    assert origin.provenance.missing == {"muchomusic": ("3 (several sounds fit it)", "4 (missing)")}
    assert origin.provenance.anomalies == {
        "muchomusic: of 5 questions, joined with their sound in *.parquet": 3
    }


def test_a_clip_of_another_copy_of_the_hub_is_the_same_question(servers, tmp_path):
    """The layouts of MMAU: the authors' on the Hub, lmms-lab's, and the file on GitHub with clips
    beside it.
    """
    put_mmau(servers, tmp_path)
    spec = dataset_module("mmau").BENCHMARK
    rows = [
        build_dataset(spec, tmp_path / "official", "published").files[
            "music/test-00000-of-00001.parquet"
        ]
    ]
    words = ("lute", "harp", "bell", "drum")
    entries = [
        {
            "id": f"m{n}",
            "question": f"Which {n}?",
            "choices": [f"{word} {n}" for word in words],
            "answer": f"{words[n % 4]} {n}",
            **{
                "task": "music",
                "category": "Reasoning",
                "sub-category": "Tempo",
                "difficulty": "hard",
            },
        }
        for n in (0, 3, 6)
    ]
    clips = {n: sound(seed=n) for n in (0, 3, 6)}
    for spelling in (json.dumps, repr):
        folder = tmp_path / spelling.__name__
        folder.mkdir()
        records = [
            {
                **entry,
                "choices": spelling(entry["choices"]),
                "audio": {"bytes": clips[int(entry["id"][1:])], "path": "x"},
            }
            for entry in entries
        ]
        (folder / "test_mini-00000-of-00001.parquet").write_bytes(parquet(records))
        rows.append(
            build_dataset(spec, tmp_path / f"out-{folder.name}", str(folder)).files[
                "music/test-00000-of-00001.parquet"
            ]
        )
    folder = tmp_path / "github"
    (folder / "test-mini-audios").mkdir(parents=True)
    for n, clip in clips.items():
        (folder / "test-mini-audios" / f"m{n}.wav").write_bytes(clip)
    listed = [{**entry, "audio_id": f"./test-mini-audios/{entry['id']}.wav"} for entry in entries]
    (folder / "mmau-test-mini.json").write_text(json.dumps(listed))
    rows.append(
        build_dataset(spec, tmp_path / "out-github", str(folder)).files[
            "music/test-00000-of-00001.parquet"
        ]
    )
    assert len({*rows}) == 1
