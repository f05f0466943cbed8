"""No reply ends a run: every scorer, with everything that it leans on failing."""

import ast
import asyncio
import gc
import struct
import zlib
from pathlib import Path
from unittest.mock import patch

import pytest

import music_evals
from music_evals.notation.lilypond.compiler import Compiled
from music_evals.scorers.readers import ERROR
from music_evals.scorers.scores import SampleError
from tests.notation.scores.test_reading import midi
from tests.scorers.every_scorer import CASES, PIECE, Case

READERS = "music_evals.scorers.readers"
LEANT_ON = (
    f"{READERS}.words.alpha2digit",
    f"{READERS}.words.unicodedata.normalize",
    f"{READERS}.cleaning.json.loads",
    f"{READERS}.choices.is_refusal",
    f"{READERS}.written.is_refusal",
    f"{READERS}.checking.is_refusal",
    "music21.roman.RomanNumeral.__init__",
    "music_evals.scorers.readers.verdicts.penalised_tau",
    "music_evals.notation.lilypond.writing.compile_text",
    "music_evals.notation.lilypond.writing.tokenize",
    "music_evals.notation.lilypond.copies.music_words",
    "music_evals.scorers.readers.pieces.describe",
    "music_evals.notation.midi.piano_roll.read_note_arrays",
    "PIL.Image.open",
    "PIL.ImageDraw.Draw",
)
ERRORS = (IndexError("list index"), struct.error("unpack"), zlib.error("-3"), OSError(28, "No space left on device"),
          MemoryError(), RecursionError("deep"), UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates"), KeyError(3),
          ZeroDivisionError(), AssertionError())  # fmt: skip
REPLIES = (
    "V7 in C major: G B D F, twenty-one, or not?\n" + PIECE,
    "G, B, D and F",
    "twenty-one",
    '[{"1": "two"}]',
)
COMPILED = Compiled(
    0, None, "", (midi(480),), {"system.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\0\0\0\1" * 9}
)


def test_every_scorer_is_tried_and_none_goes_without_the_guard():
    found = {}
    for path in Path(music_evals.__file__).parent.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)) if "scorer" in source else ():
            if (
                isinstance(node, ast.ImportFrom)
                and node.module == "inspect_ai.scorer"
                and path.name != "scores.py"
            ):
                assert "scorer" not in {alias.name for alias in node.names}, (
                    f"{path} takes Inspect's decorator"
                )
            if isinstance(node, ast.FunctionDef) and any(
                "scorer" in ast.unparse(one) for one in node.decorator_list
            ):
                found[node.name] = path
    assert set(found) == {name.partition(" ")[0] for name in CASES}


# Inspect's `collect` does not await the other judges once one has failed.
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
@pytest.mark.parametrize("broken", LEANT_ON)
def test_whatever_fails_a_score_comes_back(broken):
    async def failures():
        found = 0
        for number, case in enumerate(CASES.values()):
            with patch(broken, side_effect=ERRORS[number % len(ERRORS)]) as failing:
                for score in await case.scores(*REPLIES):
                    if score.reason == "scoring_failed":
                        assert (score.explanation or "").startswith("Not measured: `")
                        assert failing.called
                        found += 1
                    details = score.metadata or {}
                    for reading in (details, *details.get("questions", ())):
                        if why := reading.get(ERROR):
                            assert why.startswith(type(failing.side_effect).__name__)
                            assert reading.get("reading") in ("unreadable", None)
                            found += 1
        return found

    with (
        patch("music_evals.notation.lilypond.writing.compile_text", return_value=COMPILED),
        patch("music_evals.notation.lilypond.pictures.compile_text", return_value=COMPILED),
    ):
        CASES["written_music"].score(
            PIECE
        )  # reads the reference pieces: a set-up, whose failure does end a run
        failed = asyncio.run(failures())
        gc.collect()  # while their warnings are expected
    parts_alone = ("describe", "read_note_arrays", "open", "Draw", "loads", "RomanNumeral.__init__")
    assert failed or broken.endswith(parts_alone)


def test_a_picture_or_a_descriptor_fails_alone_and_says_why():
    with (
        patch("music_evals.notation.lilypond.writing.compile_text", return_value=COMPILED),
        patch("music_evals.scorers.readers.pieces.first_system", side_effect=IndexError("no tile")),
        patch("music_evals.scorers.readers.pieces.piano_roll", side_effect=zlib.error("-3")),
        patch("music_evals.scorers.readers.pieces.describe", side_effect=ValueError("no beat")),
    ):
        (score,) = CASES["written_music"].score(PIECE)
    assert score.value == 1
    assert (
        score.explanation
        == "Compiles.\n\ndescriptors undefined: ValueError: no beat; picture of system missing:"
        " `IndexError: no tile`; picture of roll missing: `error: -3`\n\nNear-copy: 100% of it in "
        "demonstrations a"
    )


def test_a_sample_that_lacks_what_its_scorer_needs_is_named():
    for name, lacking in (
        ("final_answer", "options"),
        ("solver_decision", "options"),
        ("judged on a batch", "questions"),
    ):
        with pytest.raises(SampleError, match=f"sample s1: metadata.*'?{lacking}"):
            Case(CASES[name].make, "B", {}, attempts=1).score("B")
