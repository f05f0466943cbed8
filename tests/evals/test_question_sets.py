"""Question sets: published files of every form become rows, rows become prompts, and replies get
their scores.
"""

import csv
import io
import json
import os
import subprocess
import sys
import threading
from base64 import b64decode
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import cycle, product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import soundfile
from inspect_ai.log import list_eval_logs, read_eval_log
from inspect_ai.model import ContentAudio, ContentImage, get_model
from typer.testing import CliRunner

from music_evals import benchmarks
from music_evals.benchmarks.prompts import load_prompts
from music_evals.commands import build
from music_evals.datasets_builders.dataset_io import (
    DatasetError,
    describe_dataset,
    load_split,
)
from music_evals.datasets_builders.questions.media_questions import (
    ABSENT,
    MediaQuestion,
    Part,
    Records,
    row_of,
)
from music_evals.datasets_builders.questions.question_set import question_set
from music_evals.evals import mmar, mmau, muchomusic, rul_muchomusic, ssmr
from music_evals.evals.shared.parameters import ParameterError
from music_evals.evals.shared.question_sets import (
    QuestionSetParameters,
    ShownOptions,
    _checksums,
    option_sets,
    question_to_sample,
)
from music_evals.reports.records import read_records
from music_evals.reports.report import section_tables
from music_evals.scorers.readers.official import READERS
from tests.datasets_builders.dataset_io.test_hub_http import NAME, HubServer
from tests.harness import metrics, run, run_scripted, samples
from tests.msu_dataset import png

ROOT = Path(__file__).parents[2]
PNG = png(0)


def sound(
    kind="WAV",
    rate=8000,
    channels=1,
    seconds=0.5,
    seed=0,
    level=0.05,
):
    samples = np.random.default_rng(seed).normal(0, level, (round(rate * seconds), channels))
    buffer = io.BytesIO()
    soundfile.write(buffer, samples.clip(-1, 1), rate, format=kind)
    return buffer.getvalue()


def write(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def rul_record(number, **fields):
    wrong = [f"{word} {number}" for word in ("Djembe", "Tom-Tom", "Taiko", "Conga")]
    record = {
        "question": f"Which drum plays in {number}?",
        "caption": "A drum.",
        "correct_answer": f"Bongo {number}",
    }
    return {**record, "distractors": wrong, "PI": 0.9, **fields}


def rul_files(count, data=b""):
    records = {str(number): rul_record(number) for number in range(count)}
    clips = {f"audio/{number}.mp3": data or sound("MP3", seed=number) for number in range(count)}
    return {"RUL-MuchoMusic.json": json.dumps(records).encode(), **clips}


def rows_of(folder, spec, task):
    return load_split(str(folder), task, "test", benchmark=spec).to_list()


# --- sound, through a server ---


@contextmanager
def openai_server(requests):
    """An OpenAI-type server that keeps what it is sent, and answers [[A]]."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_POST(self):
            requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            choice = {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": "[[A]]"},
            }
            reply = {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": "m",
                "choices": [choice],
            }
            body = json.dumps(
                reply | {"usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
            ).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        ).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


def forty_clips():
    """38 sound files of all kinds, and one that is damaged; the fortieth is missing."""
    rates = (8000, 16_000, 22_050, 32_000, 44_100, 48_000)
    kinds = zip(
        product(("mp3", "flac", "wav"), (1, 2), rates), cycle((0.5, 1.0, 2.0, 5.0)), strict=False
    )
    clips = {
        f"{number}.{kind}": sound(kind.upper(), rate, channels, seconds, number)
        for number, ((kind, channels, rate), seconds) in enumerate(kinds)
    }
    long = {"36.mp3": sound("MP3", 16_000, 2, 60.0), "37.flac": sound("FLAC", 8000, 1, 60.0)}
    return {**clips, **long, "38.wav": sound("WAV", 44_100, 1, 5.0)[:50_000]}


@pytest.mark.slow
def test_forty_clips_reach_an_openai_server_as_they_are(tmp_path):
    clips = forty_clips()
    records = {"RUL-MuchoMusic.json": rul_files(40)["RUL-MuchoMusic.json"]}
    source = write(
        tmp_path / "rul", {**records, **{f"audio/{name}": data for name, data in clips.items()}}
    )
    with pytest.raises(
        ParameterError,
        match=r"2 files of .* are missing or damaged: 38 \(it ends after 50000 of .*39",
    ):
        rul_muchomusic.muchomusic(dataset=str(source))

    requests = []
    with openai_server(requests) as url:
        task = rul_muchomusic.muchomusic(
            dataset=str(source), allow_partial=True, prompt="paper", seconds=30
        )
        model = get_model("openai-api/local/m", base_url=url, api_key="x")
        (log,) = run(task, tmp_path / "logs", model)
    assert (log.results or log).completed_samples == 38
    assert (log.eval.metadata or {})["dataset_missing_files"] == 2
    assert log.eval.task == "rul_muchomusic_published-partial"

    sent = {}
    for request in requests:
        audio, text = request["messages"][-1]["content"]
        assert (audio["type"], text["type"]) == ("input_audio", "text")
        sent[text["text"].partition("?")[0].rpartition(" ")[2]] = audio["input_audio"]
    assert sent.keys() == {str(number) for number in range(38)}
    for name, original in clips.items():
        number, _, kind = name.partition(".")
        if number not in sent:
            continue
        data, form = b64decode(sent[number]["data"]), sent[number]["format"]
        whole, rate = soundfile.read(io.BytesIO(original), always_2d=True)
        if kind != "flac" and len(whole) <= 30 * rate:
            assert (data, form) == (original, kind)
            continue
        heard, heard_rate = soundfile.read(io.BytesIO(data), always_2d=True)
        assert (form, heard_rate, len(heard)) == ("wav", rate, min(len(whole), 30 * rate))
        assert np.abs(heard - whole[: len(heard)]).max() < 1e-4


def test_a_rate_above_48_khz_is_resampled(tmp_path):
    files = rul_files(2, sound("WAV", 192_000))
    task = rul_muchomusic.muchomusic(dataset=str(write(tmp_path, files)))
    part = task.dataset[0].input[0].content[0]
    assert soundfile.info(io.BytesIO(b64decode(part.audio.partition(",")[2]))).samplerate == 48_000


@pytest.mark.parametrize("stimulus", ["none", "noise", "other"])
def test_sound_can_be_replaced(stimulus, tmp_path):
    quiet, loud = (
        sound("FLAC", 16_000, 2, 1.0, 2, level=0.01),
        sound("MP3", 44_100, 1, 2.0, 3, level=0.25),
    )
    files = {**rul_files(4), "audio/3.mp3": loud, "audio/2.flac": quiet}
    del files["audio/2.mp3"]
    source = str(write(tmp_path, files))
    given, other = (
        rul_muchomusic.muchomusic(dataset=source, stimulus=arm).dataset
        for arm in ("given", stimulus)
    )
    if stimulus == "none":
        assert isinstance(other[0].input[0].content, str)
        return
    first, second = (
        [b64decode(sample.input[0].content[0].audio.partition(",")[2]) for sample in dataset]
        for dataset in (given, other)
    )
    assert ({*second} <= {*first}) == (stimulus == "other")
    assert all(one != another for one, another in zip(first, second, strict=True))
    if stimulus == "noise":
        heard = [
            [soundfile.read(io.BytesIO(clip), always_2d=True) for clip in clips]
            for clips in (first, second)
        ]
        for (own, own_rate), (noise, rate) in zip(*heard, strict=True):
            assert (rate, noise.shape) == (own_rate, own.shape)
            assert np.sqrt(np.mean(noise**2)) == pytest.approx(np.sqrt(np.mean(own**2)), rel=0.03)


# --- published files ---


def test_each_published_form_becomes_rows(tmp_path):
    files = {
        "muchomusic.csv": b"",
        "mmau-test-mini.json": (
            json.dumps(
                [
                    {
                        "id": name,
                        "audio_id": f"./test-mini-audios/{name}.wav",
                        "question": "Which tempo?",
                        "choices": ["Slow", "Fast", "Free"],
                        "answer": "Fast",
                        "task": task,
                        "category": "Reasoning",
                        "sub-category": "Rhythm",
                    }
                    for name, task in (("m1", "music"), ("s1", "speech"))
                ]
            ).encode()
        ),
        "MMAR-meta.jsonl": (
            "\n".join(
                json.dumps(
                    {
                        "id": f"{modality}1",
                        "audio_path": "./audio/r1.wav",
                        "question": "Is it a round?",
                        "choices": ["Yes", "No", ""],
                        "answer": "No",
                        "modality": modality,
                        "category": "Signal Layer",
                        "sub-category": "Music Theory",
                    }
                )
                for modality in ("music", "mix-music-speech")
            ).encode()
        ),
        **{f"audio/{name}.wav": sound() for name in ("m1", "r1", "[abc_d]-[30-40]", "415.2min")},
    }
    table = io.StringIO()
    names = ("dataset_identifier", "dataset", "genre", "question", "correct_answer")
    writer = csv.writer(table)
    writer.writerow([*names, *(f"distractor_{number}_answer" for number in (1, 2, 3))])
    writer.writerow(["415.json", "sdd", "Reggae", "Which rhythm?", "Ska", "Pop", "Waltz", "March"])
    writer.writerow(
        ["abc_d_0.json", "musiccaps", "", "Which drum?", "Bongo", "Taiko", "Conga", "Djembe"]
    )
    source = write(tmp_path, {**files, "muchomusic.csv": table.getvalue().encode()})

    (row,) = rows_of(source, mmau.BENCHMARK, "music")
    assert (row["id"], row["options"], row["answer"]) == ("m1", ["Slow", "Fast", "Free"], "B")
    assert (row["question"], row["theme"], row["subtheme"]) == (
        "<audio 1>\n\nWhich tempo?",
        "Reasoning",
        "Rhythm",
    )
    (row,) = rows_of(source, mmar.BENCHMARK, "music")
    assert (row["id"], row["options"], row["answer"]) == ("music1", ["Yes", "No"], "B")
    rows = rows_of(source, muchomusic.BENCHMARK, "listening")
    assert [(row["piece"], row["options"][ord(row["answer"]) - 65]) for row in rows] == [
        ("415.2min", "Ska"),
        ("abc_d", "Bongo"),
    ]
    with pytest.raises(
        DatasetError,
        match=r"holds no RUL-MuchoMusic\.json; a copy of the published files is needed",
    ):
        rows_of(source, rul_muchomusic.BENCHMARK, "muchomusic")


def test_sheet_music_is_asked_as_text_and_as_pictures(tmp_path):
    record = {
        "class_name": "BarLinePlacementQuestion",
        "question": "Where do the bar lines go?",
        "abc_context": "M:4/4\nK:C\nCDEFGABc",
        "correct_answer": "CDEF|GABc|",
        **{f"incorrect_answer{number}": f"C{number}DEF" for number in (1, 2, 3)},
        "category": "Rhythm",
        "difficulty": "easy",
    }
    pictured = {**record, "abc_context": "images/0.png", "correct_answer": "images/1.png"}
    pictured |= {f"incorrect_answer{number}": f"images/{number + 1}.png" for number in (1, 2, 3)}
    files = {f"images/{number}.png": png(number) for number in range(5)}
    files |= {
        "Rhythm.jsonl": json.dumps(record).encode(),
        "vqa_Rhythm.jsonl": json.dumps(pictured).encode(),
    }
    source = write(tmp_path / "ssmr", files)
    (sample,) = ssmr.textual(dataset=str(source)).dataset
    asks = sample.input[0].metadata["asks"]
    ((start, end),) = asks["music"]
    assert (sample.input[0].text[start:end], asks["notation"]) == (record["abc_context"], "abc")
    assert sample.choices[ord(sample.target) - 65] == "CDEF|GABc|"
    assert (
        "CDEFGABc"
        not in ssmr.textual(dataset=str(source), stimulus="noise").dataset[0].input[0].text
    )

    (sample,) = ssmr.visual(dataset=str(source), prompt="paper").dataset
    shown = [part for part in sample.input[0].content if isinstance(part, ContentImage)]
    data = [b64decode(part.image.partition(",")[2]) for part in shown]
    assert data[0] == png(0)
    assert data[1 + ord(sample.target) - 65] == png(1)
    with pytest.raises(ParameterError, match="not valid where options are pictures"):
        ssmr.visual(dataset=str(source), options="shuffled")
    with pytest.raises(ParameterError, match="dataset= accepts 'published', a folder"):
        ssmr.textual()


def test_parts_come_in_any_order_and_options_in_any_number(tmp_path):
    def read(record):
        parts = [
            "First:",
            Part("audio", "a.wav"),
            Part("image", "p.png"),
            "then",
            Part("audio", "b.wav"),
            "<audio 7>",
        ]
        return MediaQuestion(record["id"], parts, [f"choice {n}" for n in range(7)], 6)

    files = {
        "a.wav": sound(seed=1),
        "b.wav": sound(seed=2),
        "p.png": PNG,
        "MMAR-meta.jsonl": b'{"id": "x"}',
    }
    spec = question_set("mmar", "9", {"music": Records(["MMAR-meta.jsonl"], read)})
    (row,) = rows_of(write(tmp_path, files), spec, "music")
    assert row["question"] == "First:\n\n<audio 1>\n\n<image 1>\n\nthen\n\n<audio 2>\n\n< audio 7>"
    assert [cell["bytes"] for cell in row["audio"]] == [files["a.wav"], files["b.wav"]]
    assert (row["images"][0]["bytes"], row["answer"]) == (PNG, "G")
    with pytest.raises(DatasetError, match="record 'x' is not as expected: KeyError"):
        rows_of(
            tmp_path,
            question_set("mmar", "10", {"music": Records(["MMAR-meta.jsonl"], lambda r: r["no"])}),
            "music",
        )


def test_parquet_holds_sound_in_its_rows(tmp_path):
    cells = [
        {"bytes": sound(seed=1), "path": "a.wav"},
        {"bytes": b"RIFF", "path": "a.wav"},
        {"path": "b.wav"},
    ]
    records = [
        {"id": str(number), "context": cell, "answer": number} for number, cell in enumerate(cells)
    ]
    pq.write_table(
        pa.Table.from_pylist(records), write(tmp_path, {"b.wav": sound(seed=2)}) / "test.parquet"
    )

    def read(record):
        return MediaQuestion(
            record["id"], [Part("audio", record["context"])], ["a", "b", "c"], record["answer"]
        )

    spec = question_set("mmar", "12", {"music": Records(["*.parquet"], read)})
    sounds = [row["audio"][0]["bytes"] for row in rows_of(tmp_path, spec, "music")]
    assert sounds == [sound(seed=1), ABSENT, sound(seed=2)]
    missing = describe_dataset(str(tmp_path), benchmark=spec).provenance.missing
    assert missing == {"music": ("file 0 of 1 (it ends after 4 of 8 bytes)",)}


def test_a_name_in_a_record_leads_to_no_file_outside(tmp_path):
    write(tmp_path, {"secret.wav": sound()})
    records = {"1": rul_record(1)}
    source = write(tmp_path / "source", {"RUL-MuchoMusic.json": json.dumps(records).encode()})

    def read(record):
        return MediaQuestion("1", [Part("audio", "../secret.wav")], ["a", "b"], 0)

    spec = question_set("mmar", "11", {"music": Records(["RUL-MuchoMusic.json"], read)})
    assert describe_dataset(str(source), benchmark=spec).provenance.missing == {
        "music": ("../secret.wav (missing)",)
    }
    assert rows_of(source, spec, "music")[0]["audio"][0]["bytes"] == ABSENT


def test_a_build_names_what_is_missing_and_floors_are_computed(tmp_path):
    records = {
        str(n): rul_record(
            n, correct_answer="Lute", distractors=["Long harp", "Bells", "Gongs", "bells"]
        )
        for n in range(9)
    }
    files = {
        "RUL-MuchoMusic.json": json.dumps(records).encode(),
        **{f"{n}.wav": sound(seed=n) for n in range(8)},
    }
    source, out = write(tmp_path / "source", files), tmp_path / "out"
    command = ["rul_muchomusic", "--source", str(source), "--out", str(out)]
    refused = CliRunner(env={"COLUMNS": "300"}).invoke(build.app, command)
    assert (refused.exit_code, out.exists()) == (1, False)
    assert "1 files of" in refused.output
    assert "8 (missing)" in refused.output
    assert CliRunner().invoke(build.app, [*command, "--allow-partial"]).exit_code == 0
    provenance = describe_dataset(str(out), benchmark=rul_muchomusic.BENCHMARK).provenance
    assert (provenance.source, provenance.missing) == (
        "published",
        {"muchomusic": ("8 (missing)",)},
    )
    assert len([name for name in provenance.anomalies if "equal options in" in name]) == 9
    for arm, questions in (("given", 8), ("none", 9), ("noise", 8)):
        task = rul_muchomusic.muchomusic(dataset=str(out), allow_partial=True, stimulus=arm)
        assert len(task.dataset) == questions
    floors = provenance.floors["muchomusic"]["test"]["all"]
    assert (floors["chance"], floors["shortest"], floors["longest"], floors["options alone"]) == (
        0.2,
        1.0,
        0.0,
        1.0,
    )


def test_a_repository_at_a_pinned_revision_is_asked_without_a_file_of_ours(tmp_path):
    handler = type("Handler", (HubServer,), {"commits": {}})
    pinned, head = "a" * 40, "b" * 40
    handler.commits = {
        pinned: {"README.md": b"#", **rul_files(3)},
        head: {"README.md": b"#", **rul_files(1)},
    }
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        ).start()
        own = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("HF_", "HUGGING"))
        }
        own |= {
            "HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
            "HF_HOME": str(tmp_path / "home"),
        }
        own |= {"PYTHONPATH": str(ROOT), "MUSIC_EVALS_CACHE": str(tmp_path / "cache")}
        command = [
            sys.executable,
            "-m",
            "inspect_ai",
            "eval",
            "evals/rul_muchomusic.py",
            "--model",
            "baseline/chance",
        ]
        command += [
            "-T",
            f"dataset=hf://datasets/{NAME}@{pinned}",
            "--log-dir",
            str(tmp_path / "logs"),
        ]
        done = subprocess.run(
            [*command, "--display", "plain"], capture_output=True, text=True, env=own, cwd=ROOT
        )
        server.shutdown()
    (found,) = list_eval_logs(str(tmp_path / "logs"))
    log = read_eval_log(found, header_only=True)
    assert (log.status, log.eval.dataset.samples) == ("success", 3), (
        done.stdout[-3000:] + done.stderr[-3000:]
    )
    assert (log.eval.metadata or {})["dataset_revision"] == pinned
    records = read_records(str(tmp_path / "logs"))
    table, *_ = section_tables(records, "rul_muchomusic")
    assert table.rows[0][3] == "published-aaaaaaa"


def test_questions_without_recordings_are_asked_as_text_alone(tmp_path):
    records = {"RUL-MuchoMusic.json": rul_files(5)["RUL-MuchoMusic.json"]}
    source = str(write(tmp_path / "rul", records))
    for arm, allowed in (("given", False), ("noise", True), ("other", True)):
        with pytest.raises(
            ParameterError, match=r"5 files of .* are missing or damaged: .*stimulus=none"
        ):
            rul_muchomusic.muchomusic(dataset=source, stimulus=arm, allow_partial=allowed)
    task = rul_muchomusic.muchomusic(dataset=source, stimulus="none")
    assert "dataset_missing_files" not in (task.metadata or {})
    (log,) = run(task, tmp_path / "logs", "baseline/chance")
    assert (log.eval.task, log.eval.dataset.samples) == ("rul_muchomusic_published", 5)
    assert all(isinstance(sample.input[0].content, str) for sample in samples(log))  # type: ignore[union-attr]


# --- options ---

ROW = row_of(MediaQuestion("1", ["Which?"], ["lute", "harp", "bell", "drum"], 1), lambda _: b"")


def test_one_wrong_option_at_a_time_is_left_out():
    shown = option_sets(ROW, QuestionSetParameters(options="leave_one_out"))
    assert [one.suffix for one in shown] == ["-without-A", "-without-C", "-without-D"]
    assert all(
        one.options[ord(one.answer) - 65] == "harp" and len(one.options) == 3 for one in shown
    )
    two = {**ROW, "options": ["yes", "no"]}
    assert [
        one.options for one in option_sets(two, QuestionSetParameters(options="leave_one_out"))
    ] == [["yes", "no"]]


def test_passes_without_one_option_vote(tmp_path):
    source = str(write(tmp_path / "rul", rul_files(3)))
    task = rul_muchomusic.muchomusic(dataset=source, options="leave_one_out", prompt="paper")

    def reply(messages, _):
        """Question 0: right in two passes of four. Question 1: two wrong answers alike. Question 2:
        no answer.
        """
        text = messages[-1].text
        number = text[text.index("plays in ") + 9]
        wanted = {"0": ["Bongo"], "1": ["Djembe", "Bongo"], "2": []}[number]
        if number == "0" and "Taiko" in text and "Conga" in text:
            wanted = ["Taiko"] if "Djembe" in text else ["Conga"]
        word = next((word for word in wanted if word in text), None)
        return f"[[{text[text.index(f') {word}') - 1]}]]" if word else "no idea"

    log = run_scripted(task, tmp_path / "logs", reply, limit=12)
    assert metrics(log)["official_choice"]["accuracy"] == pytest.approx(3 / 12)
    assert metrics(log)["official_choice"]["vote"] == pytest.approx(1 / 3)
    (table,) = (
        one
        for one in section_tables(read_records(str(tmp_path / "logs")), "rul_muchomusic")
        if "protocols" in one.name
    )
    figures = dict(zip(table.columns, table.rows[0], strict=True))
    assert [round(figures[name].value, 1) for name in ("Official", "Official, vote")] == [
        25.0,
        33.3,
    ]
    once = run_scripted(
        rul_muchomusic.muchomusic(dataset=source), tmp_path / "once", lambda *_: "[[A]]", limit=3
    )
    assert "vote" not in metrics(once)["official_choice"]


@pytest.mark.parametrize("stimulus", ["given", "none"])
def test_options_are_shuffled_anew_in_each_epoch_and_scored_by_their_text(stimulus, tmp_path):
    task = rul_muchomusic.muchomusic(
        dataset=str(write(tmp_path, rul_files(6))), options="shuffled", stimulus=stimulus
    )

    def reply(messages, _):
        line = next(line for line in messages[-1].text.splitlines() if "Bongo" in line)
        return f"Final Answer: {line[0]}"

    log = run_scripted(task, tmp_path / "logs", reply, limit=6, epochs=3)
    assert metrics(log)["strict_choice"]["accuracy"] == 1
    orders = Counter(tuple(sample.metadata["option_order"]) for sample in samples(log))
    assert len(orders) > 12
    assert all(
        sample.scores and sample.scores["strict_choice"].answer == sample.target
        for sample in samples(log)
    )


def test_wrong_parameters_are_named():
    with pytest.raises(
        ParameterError, match="prompt='x' is not valid; valid values are: letter, paper"
    ):
        rul_muchomusic.muchomusic(prompt="x")
    with pytest.raises(ParameterError, match="seconds=0 is not valid"):
        rul_muchomusic.muchomusic(seconds=0)


# --- readings ---


@pytest.mark.parametrize(
    ("reader", "reply", "answer"),
    [
        ("last_brackets", "[[A]] … no, [[C]]", "C"),
        ("last_brackets", "The answer is b", "B"),
        (
            "last_brackets",
            "I hear (B), not option A",
            "A",
        ),  # the first letter, in the order of the alphabet
        ("last_brackets", "It sounds like a HARP.", "B"),
        ("last_brackets", "No idea", None),
        (
            "last_brackets",
            "(A), so [[E]]",
            None,
        ),  # a letter without an option, as when one was left out
        ("last_brackets", "The answer is E, not (A)", None),
        ("last_brackets", "x" * 300_000 + " [[B]]", "B"),
        ("only_letter", "The correct answer is: (B) harp", "B"),
        ("only_letter", "A harp", "A"),
        ("only_letter", "Both A and B: bell", "C"),
        ("only_letter", "no idea", None),
        ("all_words", "The instrument is a harp.", "B"),
        ("all_words", "(B)", None),
        ("all_words", "harp, not lute", None),
        ("last_box", r"\boxed{A} or \boxed{ C }", "C"),
        ("last_box", "C", None),
        ("last_letter", "(A) or (B).", "B"),
        ("last_letter", "Answer: C.", "C"),
    ],
)
def test_replies_are_read_as_the_authors_do(reader, reply, answer):
    assert READERS[reader](reply, ["lute", "harp", "bell", "drum"], 1).answer == answer


def test_one_log_has_both_readings_and_a_table_of_them(tmp_path):
    task = rul_muchomusic.muchomusic(
        dataset=str(write(tmp_path / "rul", rul_files(4))), prompt="paper"
    )
    replies = iter(["[[{}]]", "The answer: ({})", "Final Answer: {}", ""])

    def reply(messages, _):
        place = messages[-1].text.index("Bongo")
        return next(replies).format(messages[-1].text[place - 3])

    log = run_scripted(task, tmp_path / "logs", reply, limit=4, max_connections=1)
    assert metrics(log)["strict_choice"]["accuracy"] == 0.75
    assert metrics(log)["official_choice"]["accuracy"] == 0.5
    (table,) = (
        one
        for one in section_tables(read_records(str(tmp_path / "logs")), "rul_muchomusic")
        if "protocols" in one.name
    )
    figures = dict(zip(table.columns, table.rows[0], strict=True))
    columns = ("Strict", "Official", "Official, read", "Read otherwise")
    assert [figures[name].value for name in columns] == [75, 50, 50, 25]


PAPER = {
    "mmau": "Which?\nSelect one of the given choices as your answer.\n['lute', 'harp']",
    "mmar": "Which?\nPick one of these answers and reply with its words alone: lute; harp;",
    "rul_muchomusic": (
        "Make your best guess at this question, and reason step by step.\n\nQuestion: "
        "Which?\n\nOptions: (A) lute (B) harp\n\nWrite down your guess as a letter in double "
        "square brackets, such as [[A]]."
    ),
}
LMMS = {
    "mmau": (
        "Which?\nA. lute\nB. harp\nGive the letter of one of the given choices and nothing else."
    ),
    "muchomusic": (
        "Which?\n(A) lute (B) harp\nGive the letter of one of the given choices and nothing else:"
    ),
}


@pytest.mark.parametrize(
    ("style", "name", "text"),
    [
        *(("paper", name, text) for name, text in PAPER.items()),
        *(("lmms", name, text) for name, text in LMMS.items()),
    ],
)
def test_prompts_have_the_form_and_order_of_others(style, name, text):
    row = row_of(
        MediaQuestion("1", [Part("audio", b"x"), "Which?"], ["lute", "harp"], 1), lambda _: ABSENT
    )
    shown = ShownOptions(row["options"], row["answer"])
    (facts,) = benchmarks.load(name).tasks.values()
    sample = question_to_sample(
        facts, row, shown, load_prompts(name)[style], QuestionSetParameters(), "A"
    )
    audio, asked = sample.input[0].content  # type: ignore[union-attr]
    assert (audio.type, asked.text) == ("audio", text)


def test_questions_on_one_clip_share_a_cluster_and_the_same_question_its_content():
    def checksums(name, clip, text="Which?"):
        question = MediaQuestion(name, [Part("audio", clip), text], ["lute", "harp"], 1)
        return _checksums(row_of(question, lambda _: clip))

    first = checksums("1", b"x")
    assert checksums("of another benchmark", b"x") == first
    assert checksums("2", b"y")["content"] != first["content"]
    second = checksums("3", b"x", "Who?")
    assert (second["cluster"], second["content"] == first["content"]) == (first["cluster"], False)
    assert "cluster" not in checksums("4", ABSENT)


def test_groups_of_questions_have_a_table(tmp_path):
    """MuChoMusic's tags of knowledge and reasoning, of which a question may have several."""
    tags = ["['instrumentation']", "['instrumentation', 'harmony']", ""]
    lines = [
        [
            "dataset_identifier",
            "dataset",
            "genre",
            "question",
            "correct_answer",
            "music_knowledge",
            "music_reasoning",
        ]
    ]
    lines[0] += [f"distractor_{number}_answer" for number in (1, 2, 3)]
    for number, knowledge in enumerate(tags):
        reasoning = "" if number else "['mood and expression']"
        lines.append(
            [
                f"{number}.json",
                "sdd",
                "Ska",
                f"Which {number}?",
                "Bongo",
                knowledge,
                reasoning,
                "a",
                "b",
                "c",
            ]
        )
    text = io.StringIO()
    csv.writer(text).writerows(lines)
    clips = {f"{number}.2min.wav": sound(seed=number) for number in range(3)}
    source = write(tmp_path / "source", {"muchomusic.csv": text.getvalue().encode(), **clips})
    task = muchomusic.listening(dataset=str(source))

    def reply(messages, _):
        right = next(line[0] for line in messages[-1].text.splitlines() if line.endswith("Bongo"))
        return f"Final Answer: {right if 'Which 0?' in messages[-1].text else 'E'}"

    run_scripted(task, tmp_path / "logs", reply, limit=3)
    (table,) = (
        one
        for one in section_tables(read_records(str(tmp_path / "logs")), "muchomusic")
        if one.name.endswith("_tags")
    )
    figures = dict(zip(table.columns, table.rows[0], strict=True))
    assert {name: (cell.value, cell.n) for name, cell in figures.items() if hasattr(cell, "n")} == {
        "knowledge": (50, 2),
        "knowledge: harmony": (0, 1),
        "knowledge: instrumentation": (50, 2),
        "reasoning": (100, 1),
        "reasoning: mood and expression": (100, 1),
    }


def test_each_copy_of_the_right_option_is_right(tmp_path):
    record = rul_record(1, correct_answer="Banjo", distractors=["Fiddle", "banjo", "Lute", "Harp"])
    files = {
        "RUL-MuchoMusic.json": json.dumps({"1": record, "2": rul_record(2)}).encode(),
        "1.wav": sound(),
        "2.wav": sound(),
    }
    task = rul_muchomusic.muchomusic(dataset=str(write(tmp_path / "rul", files)))

    def reply(messages, _):
        return "Final Answer: " + next(
            line[0] for line in messages[-1].text.splitlines() if line.endswith("banjo")
        )

    log = run_scripted(task, tmp_path / "logs", reply, limit=1)
    assert metrics(log)["strict_choice"]["accuracy"] == 1


# --- questions made here ---


def test_clips_made_here_are_the_default_and_no_option_is_likelier(tmp_path):
    origin = describe_dataset("generated", benchmark=mmau.BENCHMARK)
    rows = load_split("generated", "music", "test", benchmark=mmau.BENCHMARK).to_list()
    assert Counter(row["theme"] for row in rows) == dict.fromkeys(
        ("tempo", "metre", "instrument", "mode", "voices", "higher"), 20
    )
    assert all(
        len({*Counter(row["answer"] for row in rows if row["theme"] == kind).values()}) == 1
        for kind in ("tempo", "mode", "instrument")
    )
    floors = origin.provenance.floors["music"]["test"]["all"]
    assert floors["blind"] == floors["shortest"] == floors["chance"]
    task = mmau.music(prompt="paper", protocol="paper", options="shuffled")
    assert {*task.dataset[0].input[0].metadata["asks"]["answers"]} == {*task.dataset[0].choices}
    assert task.name == "mmau_like_music_generated-seed1"
    assert isinstance(task.dataset[0].input[0].content[0], ContentAudio)
    (log,) = run(task, tmp_path, "baseline/chance", limit=20)
    assert metrics(log)["strict_choice"]["answered"] == 1
    (log,) = run(
        mmau.music(prompt="paper", options="shuffled", stimulus="none"),
        tmp_path,
        "baseline/chance",
        limit=20,
    )
    assert metrics(log)["strict_choice"]["answered"] == 1
