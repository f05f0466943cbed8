"""`music-evals export`: files that the authors' scripts read, from logs of the suite."""

import json
import random
from math import isnan
from string import ascii_uppercase

import pytest

from music_evals.evals import mmar, mmau, mmau_test, muchomusic, rul_muchomusic
from tests.commands.cli import run
from tests.datasets_builders.test_published_sources import mmar_record, mmau_record, parquet
from tests.evals.test_question_sets import rul_files, sound, write
from tests.harness import metrics, run_scripted, samples


def replies(messages, _):
    """Any option, as its text, its letter, or in a sentence."""
    text = messages[-1].text
    rng = random.Random(text)
    words = [line.partition(". ")[2] for line in text.splitlines() if line[1:3] == ". "]
    word = rng.choice(words)
    return rng.choice((word, f"I hear a {word}.", ascii_uppercase[words.index(word)], ""))


def exported(log, form, out, *options):
    code, output = run("export", log.removeprefix("file://"), "--as", form, "--out", out, *options)
    assert code == 0, output
    return json.loads(out.read_text("utf-8"))


def test_mmau_and_mmar(tmp_path):
    records = [mmau_record(number) for number in range(12)]
    source = write(tmp_path / "mmau", {"test.parquet": parquet(records)})
    log = run_scripted(mmau.music(dataset=str(source)), tmp_path / "logs", replies, limit=12)
    entries = exported(log.location, "mmau", tmp_path / "mmau.json")
    assert len(entries) == 12
    first = {name: value for name, value in entries[0].items() if not name.startswith("model_")}
    assert first == {
        "id": "m0",
        "question": "Which 0?",
        "choices": ["lute 0", "harp 0", "bell 0", "drum 0"],
        "answer": "lute 0",
        "task": "music",
        "category": "Reasoning",
        "sub-category": "Tempo",
        "difficulty": "hard",
    }

    def is_right(entry):
        """The authors' rule, for options that differ in their first word alone."""
        said = {*entry["model_output"].replace(".", "").split()}
        answer, number = entry["answer"].split()
        others = {choice.split()[0] for choice in entry["choices"]} - {answer}
        return {answer, number} <= said and not said & others

    assert sum(map(is_right, entries)) / 12 == pytest.approx(
        metrics(log)["official_choice"]["accuracy"]
    )

    files = {"MMAR-meta.jsonl": json.dumps(mmar_record(1)).encode(), "audio/r1.wav": sound()}
    log = run_scripted(
        mmar.music(dataset=str(write(tmp_path / "mmar", files))), tmp_path / "logs", replies
    )
    (entry,) = exported(log.location, "mmar", tmp_path / "mmar.json")
    names = ("answer", "modality", "category", "sub-category", "choices")
    assert [entry[name] for name in names] == [
        "harp",
        "music",
        "Signal Layer",
        "Pitch",
        ["lute", "harp", "bell"],
    ]
    assert "answer_prediction" in entry


def test_muchomusic_has_the_place_of_the_right_option(tmp_path):
    header = "dataset_identifier,dataset,genre,question,correct_answer,distractor_1_answer,distractor_2_answer,"
    header += "distractor_3_answer,music_knowledge,music_reasoning\n"
    line = "7.json,sdd,Ska,Which?,Bongo,Taiko,Conga,Djembe,\"['instrumentation', 'melody']\",\n"
    files = {"muchomusic.csv": (header + line).encode(), "7.2min.wav": sound()}
    log = run_scripted(
        muchomusic.listening(dataset=str(write(tmp_path / "m", files))), tmp_path / "logs", replies
    )
    (entry,) = exported(log.location, "muchomusic", tmp_path / "m.json")
    assert entry["answers"][entry["answer_orders"].index(0)] == "Bongo"
    assert sorted(entry["answer_orders"]) == [0, 1, 2, 3]
    assert (entry["knowledge"], entry["reasoning"]) == (["instrumentation", "melody"], [])


def test_questions_without_answers_become_a_submission(tmp_path):
    entries = [
        {
            "id": f"q{number}",
            "audio_id": f"./test-audios/q{number}.wav",
            "question": f"Which {number}?",
            "choices": ["lute", "harp"],
            "task": task,
            **{"category": "Reasoning", "sub-category": "x", "difficulty": "easy", "split": "test"},
        }
        for number, task in enumerate(("music", "speech", "sound"))
    ]
    clips = {f"test-audios/q{number}.wav": sound(seed=number) for number in range(3)}
    source = write(tmp_path / "test", {"mmau-test.json": json.dumps(entries).encode(), **clips})
    log = run_scripted(
        mmau_test.questions(dataset=str(source)), tmp_path / "logs", replies, limit=3
    )
    values = [sample.scores["strict_choice"].value for sample in samples(log) if sample.scores]
    assert [isnan(float(str(value))) for value in values] == [True] * 3
    submission = exported(
        log.location, "mmau", tmp_path / "s.json", "--questions", source / "mmau-test.json"
    )
    for entry, original in zip(submission, entries, strict=True):
        assert {name: entry[name] for name in original} == original
        assert isinstance(entry["model_prediction"], str)
        assert "answer" not in entry


def test_what_is_wrong_is_one_line(tmp_path):
    task = rul_muchomusic.muchomusic(dataset=str(write(tmp_path / "rul", rul_files(1))))
    log = run_scripted(task, tmp_path / "logs", lambda *_: "A").location.removeprefix("file://")
    (tmp_path / "there.json").write_text("[]")
    for arguments, message in (
        (
            (log, "--as", "mmau", "--out", tmp_path / "x.json"),
            "is of rul_muchomusic; --as mmau is for mmau and mmau_test",
        ),
        (
            (log, "--as", "mmau", "--out", tmp_path / "there.json"),
            "is there already; give another file",
        ),
        ((tmp_path / "no.eval", "--as", "mmau", "--out", tmp_path / "x.json"), "no.eval"),
    ):
        code, output = run("export", *arguments)
        assert (code, message in " ".join(output.split())) == (1, True), output
        assert len(output.strip().splitlines()) == 1
    assert not (tmp_path / "x.json").exists()
