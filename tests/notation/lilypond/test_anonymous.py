"""Leak-free texts: what goes, what stays, and that LilyPond plays the same notes."""

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
from music_evals.notation.lilypond.syntax.lexer import Kind, scheme_tokens, tokenize
from music_evals.notation.lilypond.upgrade import mend, upgrade
from tests.notation.lilypond.conftest import MUTOPIA, needs_mutopia

CASES = tomllib.loads(Path(__file__).with_name("anonymous.toml").read_text(encoding="utf-8"))


def clean(text: str) -> str:
    """The text in its leak-free form, on one line."""
    once = anonymise(text)
    assert anonymise(once) == once
    return " ".join(once.split())


@pytest.mark.parametrize("case", CASES["cases"], ids=lambda case: case["text"][:40])
def test_what_goes_and_what_stays(case: dict[str, str]) -> None:
    assert clean(case["text"]) == case.get("left", case["text"])


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


def some_pieces() -> list[str]:
    """Four pieces of the Mutopia Project in one file each, in the current syntax."""
    paths = sorted(path for path in MUTOPIA.rglob("*.ly") if "-lys" not in str(path) and path.stat().st_size < 6_000)
    chosen = []
    for path in paths[:: len(paths) // 3]:
        with suppress(SourceError, ValueError):
            chosen.append(resolve_includes(path, convert=upgrade).text)
    return chosen


def notes(midi: bytes) -> list[tuple[int, int]]:
    """When which notes begin, in ticks. How long they sound, settings of MIDI output decide that go."""
    found = []
    for track in mido.MidiFile(file=io.BytesIO(midi)).tracks:
        now = 0
        for message in track:
            now += message.time
            if message.type == "note_on" and message.velocity > 0:
                found.append((now, message.note))
    return sorted(found)


@needs_mutopia
@pytest.mark.usefixtures("lilypond_runs")
def test_real_pieces_play_the_same_notes_and_keep_no_word() -> None:
    pieces, kept = some_pieces(), []
    for piece in pieces:
        with suppress(ValueError):
            kept.append((piece, anonymise(piece)))
    assert len(kept) >= 0.9 * len(pieces)
    compared = 0
    before, after = compile_texts(piece for piece, _ in kept), compile_texts(text for _, text in kept)
    for (piece, text), one, other in zip(kept, before, after, strict=True):
        assert anonymise(text) == text
        assert mend(text) == text
        assert one.status != 0 or other.status == 0, other.problem
        assert [notes(each) for each in one.midi] == [notes(each) for each in other.midi]
        compared += len(one.midi)
        fields = {name: value for name, value in read_header(piece).items() if name not in ("footer", "tagline")}
        words = {word.lower() for value in fields.values() for word in re.findall(r"[^\W\d_]{4,}", value)}
        assert not words & (words_of(text) - OF_MUSIC)
    assert compared >= 3


OF_MUSIC = {"treble", "bass", "alto", "tenor", "soprano"}
"""Words for clefs, which a header may use too."""


def words_of(text: str) -> set[str]:
    """Words in the comments and strings of a text, and in the names that it gives to variables and contexts."""
    found = list(tokenize(text))
    told = [token.text for token in found if token.kind in (Kind.COMMENT, Kind.STRING)]
    told = [each for each in told if not re.fullmatch(r'"[A-Za-z_]+_(engraver|performer)"', each)]
    for token in found:
        if token.kind is Kind.SCHEME:
            told += [part.text for part in scheme_tokens(text, token) if part.kind in (Kind.COMMENT, Kind.STRING)]
    told += [definition.name for definition in definitions(text)]
    told += re.findall(r"\\(?:new|context|change)\s+\w+\s*=\s*(\S+)", text)
    return {word.lower() for each in told for word in re.findall(r"[^\W\d_]{4,}", each)}
