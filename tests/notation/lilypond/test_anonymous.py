"""Leak-free texts: what is removed, what stays, and that LilyPond plays the same notes."""

import io
import re
import tomllib
from contextlib import suppress
from pathlib import Path

import mido
import pytest

from music_evals.notation.lilypond.anonymous import anonymise
from music_evals.notation.lilypond.compiler import compile_texts
from music_evals.notation.lilypond.source import SourceError, resolve_includes
from music_evals.notation.lilypond.syntax.header import definitions, read_header
from music_evals.notation.lilypond.upgrade import mend, upgrade
from tests.notation.lilypond.conftest import MUTOPIA, needs_mutopia

CASES = tomllib.loads(Path(__file__).with_name("anonymous.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES["cases"], ids=lambda case: case["text"][:40])
def test_what_goes_and_what_stays(case: dict[str, str]) -> None:
    text = anonymise(case["text"])
    assert anonymise(text) == text
    assert " ".join(text.split()) == case.get("left", case["text"])


@pytest.mark.parametrize(("text", "message"), CASES["refused"])
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"cannot be made leak-free: .*{message}|{message}"):
        anonymise(text)


@pytest.mark.parametrize(
    "piece", ["{", "<<", "^", "-\\tweak a ", "\\new Lyrics ", "\\once ", "a = ", '"', "\\markup ", "#("]
)
def test_time_grows_with_the_text_alone(piece: str) -> None:
    with suppress(ValueError):
        assert len(anonymise(piece * 1_000)) <= len(piece) * 1_000 + 1_000


def test_names_hold_letters_only() -> None:
    text = anonymise("".join(f"{chr(97 + number % 26)}{'x' * (number // 26)} = {{ c4 }}\n" for number in range(60)))
    names = re.findall(r"^(\S+) =", text, re.MULTILINE)
    assert [names[0], *names[25:28]] == ["voiceA", "voiceZ", "voiceAA", "voiceAB"]
    assert len(set(names)) == 60


def notes(midi: bytes) -> list[tuple[int, int]]:
    """When which notes begin, in ticks. Their lengths depend on settings of MIDI output, which are removed."""
    onsets = []
    for track in mido.MidiFile(file=io.BytesIO(midi)).tracks:
        now = 0
        for message in track:
            now += message.time
            if message.type == "note_on" and message.velocity > 0:
                onsets.append((now, message.note))
    return sorted(onsets)


def words_of(text: str) -> set[str]:
    """Words of four letters and more in comments, strings and names of variables and contexts."""
    passages = re.findall(r'%.*|"[^"]*"|\\(?:new|context|change)\s+\w+\s*=\s*\S+', text)
    passages = [passage for passage in passages if not re.fullmatch(r'"[A-Za-z_]+_(engraver|performer)"', passage)]
    passages += [definition.name for definition in definitions(text)]
    return {word.lower() for passage in passages for word in re.findall(r"[^\W\d_]{4,}", passage)}


@needs_mutopia
@pytest.mark.usefixtures("lilypond_runs")
def test_real_pieces_play_the_same_notes_and_keep_no_word() -> None:
    paths = sorted(path for path in MUTOPIA.rglob("*.ly") if "-lys" not in str(path) and path.stat().st_size < 6_000)
    pairs = []
    for path in paths[:: len(paths) // 3]:
        with suppress(SourceError, ValueError):
            piece = resolve_includes(path, convert=upgrade)
            pairs.append((piece, anonymise(piece)))
    compiled = compile_texts((text for pair in pairs for text in pair), together=True)
    compared = 0
    for (piece, text), before, after in zip(pairs, compiled, compiled, strict=True):
        assert anonymise(text) == mend(text) == text
        assert before.status != 0 or after.status == 0, after.problem
        assert [notes(midi) for midi in before.midi] == [notes(midi) for midi in after.midi]
        compared += len(before.midi)
        fields = {name: value for name, value in read_header(piece).items() if name not in ("footer", "tagline")}
        words = {word.lower() for value in fields.values() for word in re.findall(r"[^\W\d_]{4,}", value)}
        # Names of clefs may be in a header too.
        assert not words & (words_of(text) - {"treble", "bass", "alto", "tenor", "soprano", "staff", "voice"})
    assert compared >= 3
