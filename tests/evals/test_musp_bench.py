"""MuSP-Bench: a small copy of the published layout is asked from score, performance or both."""

import io
import json

import pytest
import soundfile
from inspect_ai.model import get_model

from music_evals.datasets_builders.musp_bench import BENCHMARK
from music_evals.evals import musp_bench
from music_evals.evals.shared.parameters import ParameterError
from music_evals.notation.scores.pdf import pages_to_pdf
from music_evals.reports.comparisons import comparison_tables
from music_evals.reports.records import read_records
from music_evals.scorers.answer_kinds import judge_typed, kind_of
from music_evals.solvers.abilities import made_for
from tests.evals.test_listening_sets import rows_of, sound, table, write
from tests.harness import run_scripted
from tests.msu_dataset import png


def record(number, modality, answers, form="Timestamp", quantity="Single"):
    return {
        "id": f"Q{number}",
        "piece_number": "1",
        "composer": "Bach",
        "title": "Fugue",
        "question": f"What is asked in {number}?",
        "modality": modality,
        "horizon": "short",
        "answer_object_type": form,
        "answer_format": form,
        "answer_quantity": quantity,
        "answer_example": '["02:54"]',
        "answers": json.dumps(answers),
        "audio": "inputs/audio/piece-01.wav",
        "pdf": "inputs/pdf/piece-01.pdf",
    }


RECORDS = [
    record(1, "S", ["bar 18 beat 3", "bar 42 beat 1"], "Bar and beat"),
    record(2, "P", ["02:54"]),
    record(3, "SP", ["A3", "B3"], quantity="List"),
    record(4, "S/P", ["Johann Sebastian Bach"], "Short phrase"),
    record(5, "S/P", ["E major"], "Tonic and mode with accidentals"),
    record(6, "S/P", []),  # no answer was released
]
FILES = {
    "data/questions.csv": table(RECORDS),
    "inputs/audio/piece-01.wav": sound(1, seconds=2),
    "inputs/pdf/piece-01.pdf": pages_to_pdf([png(1), png(2)]),
}


@pytest.fixture
def source(tmp_path):
    return str(write(tmp_path / "source", FILES))


def test_a_question_has_what_its_task_shows(source, tmp_path):
    rows = {task: rows_of(tmp_path / "source", BENCHMARK, task) for task in BENCHMARK.features}
    ids = {task: [row["id"] for row in own] for task, own in rows.items()}
    assert ids == {
        "score": ["Q1", "Q4", "Q5"],
        "sound": ["Q2", "Q4", "Q5"],
        "both": ["Q3", "Q4", "Q5"],
    }
    shown = {
        task: [len(own[0][name]) for name in ("images", "audio")] for task, own in rows.items()
    }
    assert shown == {"score": [1, 0], "sound": [0, 1], "both": [1, 1]}
    first = rows["score"][0]
    assert first["images"][0]["bytes"].startswith(b"%PDF")
    assert (first["answer_kind"], rows["both"][0]["answer_kind"]) == ("stated", "stated:any")
    assert (rows["score"][1]["answer_kind"], first["subtheme"]) == ("stated:name", "S")
    clip = soundfile.info(io.BytesIO(rows["sound"][0]["audio"][0]["bytes"]))
    assert (clip.format, clip.duration) == ("MP3", pytest.approx(2, abs=0.2))


def test_a_score_is_sent_as_pdf_or_as_pages(source):
    (document, text) = musp_bench.score(dataset=source).dataset[0].input[0].content
    assert (document.type, document.document[:27]) == ("document", "data:application/pdf;base64")
    assert (
        "Form of the answer: Bar and beat. Number: Single. Example of the form: 02:54" in text.text
    )
    assert "Bach" not in text.text
    pytest.importorskip("pypdfium2", reason="needs the extra 'scores'")
    content = musp_bench.score(dataset=source, pages="images").dataset[0].input[0].content
    assert [part.type for part in content] == ["image", "image", "text"]


def test_a_server_that_takes_no_pdf_is_named_ahead_of_the_run(source, tmp_path):
    with (
        made_for(get_model("ollama/some", memoize=False)),
        pytest.raises(ParameterError, match=r"cannot be asked about a PDF.*pages=images"),
    ):
        musp_bench.score(dataset=source)


def test_the_report_pairs_the_questions_of_either_modality(source, tmp_path):
    logs = tmp_path / "logs"
    replies = {"1?": "m. 42, beat 1", "2?": "2:54", "3?": "B3, A3", "4?": "J. S. Bach"}

    def reply(task):
        def answer(messages, _):
            text = messages[-1].text
            said = next((said for end, said in replies.items() if end in text), "E minor")
            return f"Final Answer: {said if task == 'score' or '4?' not in text else 'Haydn'}"

        return answer

    scores = {}
    for task in ("score", "sound"):
        log = run_scripted(getattr(musp_bench, task)(dataset=source), logs, reply(task), limit=9)
        scores[task] = log.results.scores[0].metrics["score"].value
    assert scores == {"score": pytest.approx(2 / 3), "sound": pytest.approx(1 / 3)}
    (compared,) = comparison_tables(read_records(logs))
    (row,) = compared.rows
    cells = dict(zip(compared.columns, row, strict=True))
    values = [cells[name] for name in ("Factor", "First value", "Second value")]
    assert values == ["evidence", "score", "sound"]
    assert [cells[name].value for name in ("First", "Second", "Left out")] == [50, 0, 2]


@pytest.mark.parametrize(
    ("kind", "rights", "right", "wrong"),
    [
        ("stated", ["bar 18 beat 3"], ["Bar 18, beat 3", "m. 18 beat 3"], ["bar 3 beat 18", "18"]),
        ("stated", ["02:54"], ["2:54", "**02:54**"], ["2:55", "54"]),
        ("stated", ["A, G#, Bb"], ["A, G♯, B♭", "A; G sharp; B flat", "- A\n- G#\n- Bb"], ["G#, A, Bb", "A, G#"]),
        ("stated", ["F#1 in bar 100, A2 in bar 101"], ["F♯1 in bar 100, A2 in bar 101"], ["F1 in bar 100, A2 in bar 101"]),
        ("stated", ["1-10"], ["1-10", "Bars 1–10"], ["1-11", "10-1"]),
        ("stated", ["4", "NA"], ["4", "four", "na"], ["14", "4 or 5"]),
        ("stated", ["C# minor"], ["C sharp minor", "c♯ minor"], ["C# major", "Db minor"]),
        ("stated", ["mezzo-piano, fortissimo"], ["Mezzo-piano, fortissimo"], ["fortissimo, mezzo-piano"]),
        ("stated:any", ["Flute, piano"], ["piano, flute", "Flute and piano"], ["flute", "flute, piano, oboe"]),
        ("stated:name", ["Johann Sebastian Bach"], ["J. S. Bach", "Bach"], ["C. P. E. Bach", "Haydn"]),
    ],
)  # fmt: skip
def test_an_answer_in_the_stated_form_is_right_in_any_spelling(kind, rights, right, wrong):
    def value(reply):
        return judge_typed(
            f"I looked.\nFinal Answer: {reply}", json.dumps(rights), kind_of(kind)
        ).value

    assert {reply: value(reply) for reply in right} == dict.fromkeys(right, 1.0)
    assert {reply: value(reply) for reply in wrong} == dict.fromkeys(wrong, 0.0)
