"""A small dataset of MSU-Bench's form, with scores of the tests' own."""

import struct
import zlib
from pathlib import Path

from music_evals.datasets_builders.folder import GENERATED, Provenance
from music_evals.datasets_builders.msu.dataset import NAME, VERSION, Plan, QuestionRow, ScoreRow, write

SPLIT_OF = {"march": "train", "waltz": "validation", "gigue": "test"}
ABC = """X:1
T:{title}
C:Nobody
M:{metre}
L:1/4
K:C
V:1 treble nm="Voice"
V:1
C D E F | %1
G A B c |] %2
"""
QUESTIONS = (
    (1, "time signature", "What is the time signature?", "{metre}", "metre"),
    (1, "composer", "Who is the composer?", "Nobody", "text"),
    (1, "anacrusis", "Does the piece begin with an anacrusis?", "No", "yes_no"),
    (2, "highest pitch", "In measure 1, what is the highest pitch?", "F4", "pitch"),
    (2, "lowest pitch", "In measure 2, what is the lowest pitch?", "G4", "pitch"),
    (2, "rest", "In measure 1, is there a rest?", "No", "yes_no"),
    (3, "ends on the tonic", "Does the piece end on the tonic?", "Yes", "yes_no"),
    (3, "key", "In which key does it end?", "C major", "key"),
    (3, "cadence", "In measure 2, is there a plagal cadence?", "No", "yes_no"),
    (4, "rhythm", "What is the most frequent note value?", "crotchet", "duration"),
    (4, "texture", "What is the texture?", "monophonic", "text"),
    (4, "parts", "How many parts are there?", "1", "number"),
)


def png(shade: int) -> bytes:
    """A grey image of one pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes([0, shade])))
        + chunk(b"IEND", b"")
    )


def write_small(folder: Path) -> str:
    """Write three scores of two pages, one a split, with twelve questions each."""
    scores: dict[str, list[ScoreRow]] = {split: [] for split in SPLIT_OF.values()}
    questions: dict[str, list[QuestionRow]] = {split: [] for split in SPLIT_OF.values()}
    for number, (name, split) in enumerate(SPLIT_OF.items()):
        metre = ("4/4", "3/4", "6/8")[number]
        scores[split].append(
            {
                "score_id": name,
                "title": name.capitalize(),
                "composer": "Nobody",
                "abc": ABC.format(title=name.capitalize(), metre=metre),
                "images": [{"bytes": png(10 * number + page), "path": None} for page in range(2)],
                "musicxml": None,
                "source": "made in a test",
            }
        )
        questions[split] += [
            {
                "id": f"{name}-level{level}-{place % 3 + 1}",
                "score_id": name,
                "level": level,
                "kind": kind,
                "question": question,
                "answer": answer.format(metre=metre),
                "answer_type": answer_type,
            }
            for place, (level, kind, question, answer, answer_type) in enumerate(QUESTIONS)
        ]
    made = Provenance(NAME, VERSION, GENERATED, "other", seed=5)
    write(Plan(scores=scores, questions=questions, provenance=made), folder)  # type: ignore[arg-type]
    return str(folder)
