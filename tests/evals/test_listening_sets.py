"""Question sets and tagging sets that are published only: made files in their layouts become the
rows that they should, malformed records are refused, and known replies get their scores.
"""

import csv
import io
import json
import zipfile
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import soundfile
from PIL import Image

from music_evals.benchmarks import load
from music_evals.datasets_builders import lyrics as lyrics_builder
from music_evals.datasets_builders import musica as musica_builder
from music_evals.datasets_builders import tagging
from music_evals.datasets_builders.dataset_io import DatasetError, load_split
from music_evals.evals import (
    air_bench,
    bass,
    hummusqa,
    lyrics,
    mmau_pro,
    mtg_jamendo,
    music_avqa,
    musica,
    vocalset,
    wildscore,
)
from music_evals.evals.registry import defaults_of
from music_evals.reports.comparisons import comparison_tables
from music_evals.reports.records import read_records
from music_evals.reports.report import section_tables
from tests.harness import metrics, run, run_scripted
from tests.msu_dataset import png

Rows = list[dict[str, Any]]


def sound(seed=0, seconds=0.5, kind="WAV"):
    samples = np.random.default_rng(seed).normal(0, 0.05, round(8000 * seconds))
    buffer = io.BytesIO()
    soundfile.write(buffer, samples.clip(-1, 1), 8000, format=kind)
    return buffer.getvalue()


def gif(shade):
    buffer = io.BytesIO()
    Image.new("L", (8, 6), shade).save(buffer, format="GIF")
    return buffer.getvalue()


def archive(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        for name, content in files.items():
            target.writestr(name, content)
    return buffer.getvalue()


def table(records, delimiter=","):
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue().encode()


def write(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def rows_of(folder, spec, task):
    return load_split(str(folder), task, "test", benchmark=spec).to_list()


# --- MMAU-Pro ---


def mmau_pro_record(number, **fields):
    record = {
        "id": f"q{number}",
        "audio_path": [f"data/{number}.wav"],
        "question": f"Which mode is piece {number} in?",
        "answer": "Dorian",
        "choices": ["Lydian", "Dorian", "Phrygian"],
        "length_type": "short",
        "perceptual_skills": ["Harmony Perception"],
        "reasoning_skills": [],
        "category": "music",
        "sub-cat": "Western",
    }
    return {**record, **fields}


def mmau_pro_files(records):
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([dict(record) for record in records]), buffer)
    clips = {f"data/{number}.wav": sound(number) for number in range(4)}
    return {"test.parquet": buffer.getvalue(), "data.zip": archive(clips)}


def test_mmau_pro_asks_closed_questions_on_music_with_all_their_recordings(tmp_path):
    records = [
        mmau_pro_record(0),
        mmau_pro_record(1, audio_path=["data/2.wav", "data/1.wav"]),
        mmau_pro_record(2, category="sound_music"),
        mmau_pro_record(3, category="open", choices=[], answer="A fugue."),
        mmau_pro_record(4, choices=[], answer="A fugue."),
    ]
    source = write(tmp_path, mmau_pro_files(records))
    rows = rows_of(source, mmau_pro.BENCHMARK, "music")
    assert [row["id"] for row in rows] == ["q0", "q1"]
    assert (rows[0]["options"], rows[0]["answer"]) == (["Lydian", "Dorian", "Phrygian"], "B")
    assert rows[0]["theme"] == "Western"
    assert rows[1]["question"] == "<audio 1>\n\n<audio 2>\n\nWhich mode is piece 1 in?"
    assert [cell["bytes"] for cell in rows[1]["audio"]] == [sound(2), sound(1)]
    assert [row["tags"] for row in rows] == [["recordings: one"], ["recordings: several"]]


def test_mmau_pro_sends_ten_minutes_and_refuses_an_answer_that_is_no_choice(
    tmp_path,
):
    assert defaults_of("mmau_pro", "music")["seconds"] >= 600
    source = write(tmp_path, mmau_pro_files([mmau_pro_record(0, answer="Locrian")]))
    with pytest.raises(
        DatasetError, match=r"record 'q0' is not as expected: .*none of its choices"
    ):
        rows_of(source, mmau_pro.BENCHMARK, "music")


# --- HumMusQA ---


def hummusqa_files():
    record = {
        "identifier": "h1",
        "audio": {"bytes": sound(1), "path": "h1.wav"},
        "question": "Which cadence ends the excerpt?",
        "answer": "Plagal",
        **{f"distractor_{number}": f"wrong {number}" for number in (1, 2, 3)},
        "main_category": "Harmony",
        "difficulty": "Easy",
        "jamendo_id": "1234",
    }
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([record]), buffer)
    return {"data/test-00000-of-00001.parquet": buffer.getvalue()}


def test_hummusqa_has_its_sound_and_the_right_option_at_any_place(tmp_path):
    (row,) = rows_of(write(tmp_path, hummusqa_files()), hummusqa.BENCHMARK, "excerpts")
    assert sorted(row["options"]) == ["Plagal", "wrong 1", "wrong 2", "wrong 3"]
    assert row["options"][ord(row["answer"]) - 65] == "Plagal"
    assert row["audio"][0]["bytes"] == sound(1)
    assert (row["theme"], row["piece"]) == ("Harmony", "1234")
    assert row["tags"] == ["difficulty: Easy"]


# --- BASS ---


def bass_record(task, question, answer, audio, **fields):
    url = ["https://www.youtube.com/watch?v=x"]
    record = {"audio": f"{audio}.wav", "task": task, "question": question, "answer": answer}
    return {**record, "youtube_url": url, **fields}


def bass_files():
    number = "How many artists perform?\n\nRespond with only the number.\n"
    seconds = "When does artist 2 begin?\n\nRespond with only the timestamp number in seconds.\n"
    style = "How is the Intro performed?\n\nRespond with only one of the following: Rapping.\n"
    meanings = {"Swing Feel": "uneven eighths", "Organ": "any organ", "Piano": "any piano"}
    songs = [f"musicological_analysis_{number}.wav" for number in range(4)]
    collaboration = [
        bass_record("Standard Artist Counting", number, "3", "collab_1"),
        bass_record("Artist Localization", seconds, "39.25099773", "collab_1"),
        bass_record("Temporal Vocal Style", style, "Singing", "collab_2"),
        bass_record("Temporal Vocal Style", style, "spoken", "collab_2"),
    ]
    attributes = [
        bass_record(
            "Single-Gene Detection",
            "Which is dominant?\nRespond with only the name.",
            "Swing Feel",
            "musicological_analysis_0",
            answer_choices=[*meanings],
            answer_choices_with_descriptions=meanings,
        ),
        bass_record(
            "Gene Attribution",
            "Which has most swing? Answer only with a single number.\nSwing: uneven.",
            "4",
            "combined",
            audio_paths=songs,
        ),
        bass_record("ranking_genes", "Rank them.", "['Organ', 'Piano']", "combined"),
    ]
    sections = [{"section": "verse1", "lyrics": "Walking home"}, {"lyrics": "Home again"}]
    words = [
        bass_record("Full Structural Lyrics Transcription", "Fill in.", f"{sections}", "lyrics_1"),
        bass_record(
            "Section Structural Lyrics Transcription",
            "Transcribe the verse.\n\nFormat it as JSON.",
            f"{sections[0]}",
            "lyrics_1",
        ),
    ]
    files = {
        "artist_collaboration.json": collaboration,
        "musicological_analysis.json": attributes,
        "lyrics_transcription.json": words,
        "structural_segmentation.json": [
            bass_record("Full Structural Segmentation", "Segment it.", "[]", "structural_1")
        ],
    }
    clips = [*songs, "collab_1.wav", "collab_2.wav", "lyrics_1.wav"]
    return {
        **{name: json.dumps(records).encode() for name, records in files.items()},
        **{f"wavs/{clip}": sound(number) for number, clip in enumerate(clips)},
    }


def test_bass_asks_each_task_by_its_kind_of_answer(tmp_path):
    source = write(tmp_path, bass_files())
    rows = {task: rows_of(source, bass.BENCHMARK, task) for task in bass.RECORDS}
    count, begin, style = rows["collaboration"]
    assert (count["question"], count["answer"]) == ("<audio 1>\n\nHow many artists perform?", "3")
    assert (begin["answer"], begin["answer_kind"]) == ("39.25099773", "number:3")
    assert (style["options"], style["answer"]) == (["Rapping", "Singing", "Neither"], "B")
    gene, song = rows["attributes"]
    assert (gene["options"], gene["answer"]) == (["Organ", "Piano", "Swing Feel"], "C")
    assert gene["question"].endswith(
        "dominant?\nOrgan: any organ\nPiano: any piano\n" + ("Swing Feel: uneven eighths")
    )
    assert [cell["bytes"] for cell in song["audio"]] == [sound(number) for number in range(4)]
    assert (song["question"].split("\n\n")[-1], song["answer"]) == (
        "Which has most swing? \nSwing: uneven.",
        "D",
    )
    whole, section = rows["lyrics"]
    assert (whole["answer"], section["answer"]) == ("Walking home\nHome again", "Walking home")
    assert section["question"] == "<audio 1>\n\nTranscribe the verse."
    assert bass.BassParameters().seconds == 600


def test_bass_takes_the_mean_of_the_authors_tasks(tmp_path):
    task = bass.collaboration(dataset=str(write(tmp_path, bass_files())))
    replies = {"many": "Three artists.", "begin": "Final Answer: 42.2", "Intro": "Rapping"}

    def reply(messages, _):
        return next(text for word, text in replies.items() if word in messages[-1].text)

    log = run_scripted(task, tmp_path / "logs", reply, limit=3)
    assert metrics(log)["typed_answer"]["score"] == pytest.approx(2 / 3)


# --- Music-AVQA ---


def avqa_record(number, template, answer, *instruments, modality="Audio"):
    return {
        "video_id": f"0000{number}",
        "question_id": number,
        "type": f'["{modality}", "Counting"]',
        "question_content": template,
        "templ_values": json.dumps(instruments),
        "anser": answer,
    }


def avqa_files():
    many = "How many musical instruments were heard throughout the video?"
    louder = "Is the <Object> louder than the <Object>?"
    records = [
        avqa_record(1, many, "two"),
        avqa_record(2, many, "more than ten"),
        avqa_record(3, many, "two"),
        avqa_record(4, louder, "no", "acoustic_guitar", "flute"),
        avqa_record(5, louder, "yes", "flute", "cello"),
        avqa_record(6, "Where is the <Object>?", "left", "flute", modality="Audio-Visual"),
    ]
    clips = {f"audio/0000{number}.wav": sound(number) for number in range(1, 6)}
    return {"avqa-test.json": json.dumps(records).encode(), **clips}


def test_music_avqa_has_the_best_constant_of_each_template_as_a_floor(tmp_path):
    source = str(write(tmp_path, avqa_files()))
    task = music_avqa.sound(dataset=source)
    assert len(task.dataset) == 5
    assert "Is the acoustic guitar louder than the flute?\nyes, no" in task.dataset[3].input[0].text
    # Right are two of three, and one of two.
    floors = (task.metadata or {})["floors"][""]
    assert floors["template"]["value"] == pytest.approx(3 / 5)

    def reply(messages, _):
        return "Final Answer: 2" if "many" in messages[-1].text else "No, it is not."

    logs = tmp_path / "logs"
    log = run_scripted(task, logs, reply, limit=5)
    assert metrics(log)["typed_answer"]["score"] == pytest.approx(3 / 5)
    tables = {table.name: table for table in section_tables(read_records(logs), "music_avqa")}
    assert "floor: template" in tables["music_avqa_floors"].columns
    assert any("template" in note for note in tables["music_avqa_floors"].notes)


# --- AIR-Bench ---


def air_bench_record(number, task, right, *choices):
    letters = {f"choice_{letter}": text for letter, text in zip("abcd", choices, strict=False)}
    return {
        "path": "1.wav",
        "question": f"Question {number}?",
        **letters,
        "answer_gt": right,
        "task_name": task,
        "dataset_name": "nsynth",
        "uniq_id": number,
    }


def air_bench_files():
    records = [
        air_bench_record(1, "Music_Midi_Pitch_Analysis", "12-23", "0-11", "12-23", "24-35", "36"),
        air_bench_record(2, "Music_AQA", "yes", "yes", "no"),
        air_bench_record(3, "Speaker_Age_Prediction", "teens", "teens", "fifties"),
    ]
    folders = ["Music_Midi_Pitch_Analysis_nsynth", "Music_AQA_nsynth"]
    clips = {f"Foundation/{folder}/1.wav": sound(number) for number, folder in enumerate(folders)}
    return {"Foundation/Foundation_meta.json": json.dumps(records).encode(), **clips}


def test_air_bench_asks_its_questions_on_music_and_reads_as_its_authors(tmp_path):
    source = write(tmp_path, air_bench_files())
    pitch, yes_no = rows_of(source, air_bench.BENCHMARK, "music")
    assert (pitch["id"], pitch["answer"]) == ("1", "B")
    assert (yes_no["options"], yes_no["answer"]) == (["yes", "no"], "A")
    # All recordings have one name: the folder tells them apart.
    assert [row["audio"][0]["bytes"] for row in (pitch, yes_no)] == [sound(0), sound(1)]
    task = air_bench.music(dataset=str(source), prompt="paper", protocol="paper")
    assert task.dataset[1].input[0].text.endswith("Question 2?\nA. yes\nB. no")
    log = run_scripted(task, tmp_path / "logs", lambda *_: "The answer is B.", limit=2)
    assert metrics(log)["official_choice"]["accuracy"] == pytest.approx(0.5)


# --- WildScore ---


def wildscore_record(name, **fields):
    options = {"A": "a trill", "B": "a mordent", "C": "a turn"}
    record = {"image": f"images/{name}.jpg", "question": f"What is the sign in {name}?"}
    return {**record, "final_options": json.dumps(options), "truth_letter": "C", **fields}


def test_wildscore_asks_with_the_picture_or_without(tmp_path):
    two = json.dumps({"B": "yes", "A": "no", "C": None})
    records = [
        wildscore_record("one"),
        wildscore_record("two", final_options=two, truth_letter="B"),
    ]
    files = {"data.csv": table(records), "images/one.jpg": gif(7), "images/two.jpg": png(1)}
    source = write(tmp_path, files)
    first, second = rows_of(source, wildscore.BENCHMARK, "scores")
    assert (first["options"], first["answer"]) == (["a trill", "a mordent", "a turn"], "C")
    assert (second["options"], second["answer"]) == (["no", "yes"], "B")
    assert (first["piece"], second["images"][0]["bytes"]) == ("one", png(1))
    with Image.open(io.BytesIO(first["images"][0]["bytes"])) as picture:
        assert (picture.format, picture.size, picture.getpixel((0, 0))) == (
            "PNG",
            (8, 6),
            (7, 7, 7, 255),
        )
    sample, _ = wildscore.scores(dataset=str(source), stimulus="none").dataset
    assert isinstance(sample.input[0].content, str)


def test_wildscore_refuses_a_right_letter_without_an_option(tmp_path):
    files = {"data.csv": table([wildscore_record("one", truth_letter="D")])}
    source = write(tmp_path, {**files, "images/one.jpg": png(1)})
    with pytest.raises(DatasetError, match="is not as expected: ValueError"):
        rows_of(source, wildscore.BENCHMARK, "scores")


# --- MusICA ---

NONE = "none of the other options is correct"
SUBMODALITIES = {
    "audio": "audio.mastermix.wav",
    "symbolic": "symbolic.abc.txt",
    "visual": "visual.short.png",
}


def musica_record(number, piece, modality, **fields):
    """A row of an instance; by ear the first option is right, else the last."""
    texts = ["F", "D", "B", NONE, "E"]
    options = dict(zip("ABCDE", texts if modality == "audio" else texts[::-1], strict=True))
    path = f"data/chorale-bricks/{piece}/{SUBMODALITIES[modality]}"
    record = {
        "item_id": f"{number}-{modality}",
        "category": "pitch",
        "subcategory": "pitch-recognition",
        "skill": "pitch recognition",
        "question": f"What is the pitch name of note {number}?",
        "piece_id": piece,
        "modality": modality,
        "path_to_question_context_file": path,
        "is_nota_correct": "0",
        "index2ans": json.dumps(options),
        "label_of_final_correct_option": "A" if modality == "audio" else "E",
    }
    return {**record, **fields}


def musica_files(questions):
    pieces = ["Gesius", "Vulpius"]
    records = [
        musica_record(number, pieces[number % 2], modality)
        for number in range(questions)
        for modality in SUBMODALITIES
    ]
    files = {"seed_52.tsv": table(records, "\t")}
    for number, piece in enumerate(pieces):
        folder = f"data/chorale-bricks/{piece}"
        files |= {
            f"{folder}/audio.mastermix.wav": sound(number),
            f"{folder}/symbolic.abc.txt": f"X:1\nT:{piece}\nK:C\nC{number}DEF|".encode(),
            f"{folder}/visual.short.png": png(number),
        }
    return files


@pytest.mark.parametrize("path", ["../secret.txt", "data/chorale-bricks/Gesius/none.abc.txt"])
def test_musica_reads_no_text_outside_its_folder(path, tmp_path):
    write(tmp_path, {"secret.txt": b"X:1\nK:C\nCDEF|"})
    record = musica_record(0, "Gesius", "symbolic", path_to_question_context_file=path)
    sounding = musica_record(0, "Gesius", "audio")
    files = musica_files(1) | {"seed_52.tsv": table([record, sounding], "\t")}
    source = write(tmp_path / "source", files)
    (row,) = rows_of(source, musica_builder.BENCHMARK, "notation")
    assert (row["abc"], [cell["bytes"] for cell in row["images"]]) == ([], [b"-"])


# --- MTG-Jamendo and MagnaTagATune ---


def mtg_files(suffix=".low.mp3"):
    head = "TRACK_ID\tARTIST_ID\tALBUM_ID\tPATH\tDURATION\tTAGS"
    lines = [
        "track_1\tartist_1\talbum_1\t14/214.mp3\t124.6\tgenre---rock",
        "track_2\tartist_1\talbum_1\t15/215.mp3\t151.4\tgenre---jazz\tgenre---rock\tgenre---pop",
    ]
    clips = {
        f"14/214{suffix}": sound(1, kind="MP3"),
        f"15/215{suffix}": sound(2, kind="MP3"),
    }
    text = "\n".join([head, *lines]) + "\n"
    return {"splits/split-0/autotagging_genre-test.tsv": text.encode(), **clips}


def test_each_vocabulary_has_the_size_that_its_authors_state():
    sizes = {"genre": 87, "mood": 56, "instrument": 40, "top50": 50}
    labels = load("mtg_jamendo").table["labels"]
    assert {name: len({*labels[name]["labels"]}) for name in labels} == sizes
    assert len({*load("magnatagatune").table["labels"]["tags"]["labels"]}) == 50


def test_mtg_jamendo_refuses_a_tag_that_the_split_does_not_have(tmp_path):
    files = mtg_files()
    name = "splits/split-0/autotagging_genre-test.tsv"
    files[name] = files[name].replace(b"genre---jazz", b"genre---yodel")
    with pytest.raises(DatasetError, match=r"its tags \['yodel'\] are none of its 87 options"):
        rows_of(write(tmp_path, files), tagging.MTG_JAMENDO, "genre")


def test_mtg_jamendo_scores_micro_f1(tmp_path):
    source = write(tmp_path, mtg_files())
    task = mtg_jamendo.genre(dataset=str(source))
    assert "triphop" in task.dataset[0].input[0].text
    log = run_scripted(task, tmp_path / "logs", lambda *_: "Final Answer: Rock, metal", limit=2)
    # 2 right tags of 4 named and 4 in the references: 2 * 2 / (4 + 4).
    assert metrics(log)["typed_answer"]["score"] == pytest.approx(0.5)


def magnatagatune_line(clip, path, *tags):
    names = load("magnatagatune").table["labels"]["tags"]["labels"]
    flags = ["1" if name in tags else "0" for name in [*names, "eerie"]]
    return "\t".join(f'"{cell}"' for cell in [clip, *flags, path])


def magnatagatune_files():
    names = load("magnatagatune").table["labels"]["tags"]["labels"]
    head = "\t".join(f'"{name}"' for name in ["clip_id", *names, "eerie", "mp3_path"])
    lines = [
        magnatagatune_line("2", "f/bach-cantata-30-59.mp3", "opera", "no vocals"),
        magnatagatune_line("6", "f/bach-cantata-59-88.mp3", "opera"),
        magnatagatune_line("7", "e/nares-lesson-0-29.mp3", "eerie"),
        magnatagatune_line("8", "0/rest-0-29.mp3", "opera"),
    ]
    clips = {f"f/bach-cantata-{times}.mp3": sound(1, kind="MP3") for times in ("30-59", "59-88")}
    files = {"annotations_final.csv": "\n".join([head, *lines]).encode()}
    return {**files, "mp3.zip": archive(clips)}


# --- VocalSet ---


def vocalset_record(chunk, technique, split="test"):
    path = f"data/VocalSet/audio/{technique}/{chunk}.wav"
    return {"output": technique, "split": [split], "audio_path": [path], "audio_end": -1}


def test_vocalset_asks_the_technique_of_a_chunk(tmp_path):
    records = [
        vocalset_record("f2_scales_vocal_fry_a_00", "vocal_fry"),
        vocalset_record("f2_scales_vocal_fry_a_01", "vocal_fry"),
        vocalset_record("m1_scales_belt_a_00", "belt", "train"),
    ]
    files = {"CMI_VocalSet_tech.jsonl": "\n".join(map(json.dumps, records)).encode()}
    files |= {record["audio_path"][0].removeprefix("data/"): sound(1) for record in records}
    source = write(tmp_path, files)
    first, second = rows_of(source, tagging.VOCALSET, "technique")
    assert (first["options"][9], first["answer"]) == ("vocal fry", "J")
    assert (first["theme"], first["piece"]) == ("f2", "f2_scales_vocal_fry_a")
    assert (second["id"], second["answer_kind"]) == ("f2_scales_vocal_fry_a_01", "label")
    log = run_scripted(
        vocalset.technique(dataset=str(source)), tmp_path / "logs", lambda *_: "Vocal fry.", limit=2
    )
    assert metrics(log)["typed_answer"]["score"] == 1


def test_vocalset_refuses_a_technique_that_is_no_label(tmp_path):
    record = vocalset_record("f2_scales_yodel_a_00", "yodel")
    source = write(tmp_path, {"CMI_VocalSet_tech.jsonl": json.dumps(record).encode()})
    with pytest.raises(DatasetError, match="is not as expected: ValueError"):
        rows_of(source, tagging.VOCALSET, "technique")


# --- lyrics ---

LYRICS = """\
00:00 00:01 a Walking home
00:01 00:03 b we're walking home tonight
*00:03 00:04 a mumbled words
00:03 00:04 c walking ah home
00:04 00:05 d
"""


def test_lyrics_score_the_words(tmp_path):
    files = {"test/A - B.txt": b"00:00 00:01 a walking home again tonight"}
    source = write(tmp_path, {**files, "test/A - B/mixture.wav": sound(seconds=2)})
    task = lyrics.musdb18(dataset=str(source))
    log = run_scripted(task, tmp_path / "logs", lambda *_: "Final Answer: Walking home, tonight!")
    assert metrics(log)["typed_answer"]["wer"] == pytest.approx(0.25)


@pytest.mark.parametrize("line", ["half past one", "00:01 a words", "00:01 00:02 e words"])
def test_lyrics_without_times_are_refused(line, tmp_path):
    with pytest.raises(DatasetError, match="record 'A - B-1' is not as expected"):
        rows_of(
            write(tmp_path, {"test/A - B.txt": line.encode()}), lyrics_builder.BENCHMARK, "musdb18"
        )


# --- reports ---


def letters_of(right):
    """A model that is right on some questions: it sees the text of the question and its options."""

    def reply(messages, _):
        text = messages[-1].text
        letter = next(line[0] for line in text.splitlines() if line.endswith(". F"))
        return f"Final Answer: {letter if right(text) else 'D' if letter != 'D' else 'B'}"

    return reply


def test_the_report_compares_sound_and_notation_on_the_same_questions(tmp_path):
    source = str(write(tmp_path / "source", musica_files(10)))
    logs = tmp_path / "logs"
    heard = letters_of(lambda text: any(f"note {number}?" in text for number in range(4)))
    run_scripted(musica.sound(dataset=source), logs, heard, limit=10)
    run_scripted(musica.notation(dataset=source), logs, letters_of(lambda _: True), limit=10)
    records = read_records(logs)
    tables = {table.name: table for table in section_tables(records, "musica")}
    (compared,) = comparison_tables(records)
    (row,) = compared.rows
    cells = dict(zip(compared.columns, row, strict=True))
    named = [cells[name] for name in ("Factor", "First value", "Second value")]
    assert named == ["modality", "sound", "notation"]
    values = [cells[name].value for name in ("First", "Second", "Difference")]
    assert values == pytest.approx([40, 100, 60])
    first, *_, own = tables["musica_third_party"].rows
    assert (first[0], first[4].value) == ("Gemini 3.1 Pro", 59.0)
    assert own[4].value == pytest.approx(70)


def test_the_report_shows_figures_of_others_by_task_and_by_metric(tmp_path):
    source = write(tmp_path / "mtg", mtg_files())
    logs = tmp_path / "logs"
    run(mtg_jamendo.genre(dataset=str(source)), logs, "baseline/majority")
    files = {"test/A - B.txt": b"00:00 00:01 a walking home again tonight"}
    songs = write(tmp_path / "songs", {**files, "test/A - B/mixture.wav": sound(seconds=2)})
    run_scripted(lyrics.musdb18(dataset=str(songs)), logs, lambda *_: "Final Answer: Walking home")
    records = read_records(logs)
    tagging = {table.name: table for table in section_tables(records, "mtg_jamendo")}
    table = tagging["mtg_jamendo_third_party"]
    assert table.columns[4:] == ("Genre", "Mood", "Instrument", "Top50")
    assert [cell.value for cell in table.rows[-2][4:]] == [39.5, 21.7, 40.7, 36.9]
    assert [cell is None for cell in table.rows[-1][4:]] == [False, True, True, True]
    words = {table.name: table for table in section_tables(records, "lyrics")}
    table = words["lyrics_third_party"]
    assert (table.columns[4:], table.rows[0][4].value) == (("WER",), 29.19)
    assert table.rows[-1][4].value == pytest.approx(50)
