"""ABC in the subset that music21 reads completely, by the rules of ABC 2.1.

https://abcnotation.com/wiki/abc:standard:v2.1; section numbers below are its own. Tokens are those
of `tunes`. What cannot be written for music21 is a `ValueError` that names it. Written against
music21 10.5, which

- ends an accidental at the next note, and never applies one to a chord (11.3),
- ignores inline fields, invisible rests and rests of whole measures,
- takes every return to a voice for another part,
- transposes notes in a bass clef, and keeps the last key and unit of a voice for the next voice,
- takes a third ending for a chord, and a letter that marks a decoration for a note,
- counts grace notes as notes of a tuplet, and leaves out a broken rhythm with a sign between its
  notes,
- loses an ``E`` before ``::``,
- leaves out ties of chords, which `parse_plain` adds.
"""

import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from music_evals.notation.abc.tunes import (
    body_tokens,
    broken_factors,
    length_text,
    multiplied,
    read_length,
)

_VOICE = re.compile(r"\[?V:\s*([^\s\]]+)([^\]]*)\]?")
_NOTE = re.compile(r"([\^_=]{0,2})([A-Ga-g])([,']*)([0-9]*/*[0-9]*)")
_SIGNS = re.compile(r'"[^"]*"|![^!]*!|[.~()H-Wh-w ]')  # within a chord
_KEPT = re.compile(r'[.uvkK\-]|![^!]+!|"[^\^_<>@]')
_ENDINGS = re.compile(r"(?<=[12])[,.\-].*|\[?[3-9].*")  # further ones
_PROPAGATION = r"(?m)^(?:%%|I:) *propagate-accidentals +(not|octave|pitch)"
_REFUSED = {
    "a chord of grace notes": r"\{[^{}\n\"]*\[",
    "macros (m:)": r"(?m)^m:|\[m:",
    "octave= and transpose=": (r"(?m)(?:^|\[)[KV]:[^\n\[\]%]*\b(?:octave|transpose)=[+-]?[1-9]"),
    "a key with accidentals of its own (K:)": (
        r"(?m)(?:^|\[)K:"
        r"(?:[^\n\[\]%]*\bexp\b|[^\n\[\]%]*?(?<!middle)(?<!clef)(?<!\bm)[\^_=][A-Ga-g]\b)"
    ),
}
"""What is not read → its pattern."""

_Signs = dict[str, str]  # accidentals of notes


def split_voices(abc: str) -> tuple[list[str], dict[str, list[str]]]:
    """Split a tune into its header and the lines of its voices, without voice definitions and
    comments.

    Returns:
        The lines of the header, and the lines of each voice by its name, in the order of the music.
        A tune without ``V:`` has one voice without a name.
    """
    header: list[str] = []
    voices: dict[str, list[str]] = {}
    voice, in_body = "", False
    bare = re.sub(r"(?<!\\)%.*", "", abc)
    for line in map(str.strip, bare.replace("[V:", "\n[V:").splitlines()):
        if match := _VOICE.match(line):
            voice = match[1] if in_body else voice
            line = line[match.end() :].strip() if line.startswith("[") else ""
        if not line:
            continue
        if not in_body:
            header.append(line)
            in_body = line.startswith("K:")
        elif not re.match(r"[A-JN-PR-Za-z+]:(?![|:])", line):
            voices.setdefault(voice, []).append(line)
    # Lines between the header and the first voice, such as a second key, hold for all voices.
    if len(voices) > 1 and "" in voices:
        header += voices.pop("")
    return header, voices


def plain_abc(abc: str) -> str:
    r"""Write a tune so that music21 reads all of it, with voices named 1, 2 … and without slurs.

    Every note has the accidental that holds for it, by ``%%propagate-accidentals`` or else in all
    octaves to the end of the measure.

    Raises:
        ValueError: the tune has what music21 cannot read, such as voice overlays; the message names
            it.

    Example:
        >>> print(plain_abc("X:1\nM:3/4\nL:1/4\nK:C\n^F>F x [M:2/4] Z ::"), end="")
        X:1
        L:1/4
        M:3/4
        K:C
        ^F3/2 ^F/2 z
        M:2/4
        z2 :| |:
    """
    for name, pattern in _REFUSED.items():
        if re.search(pattern, abc):
            raise ValueError(f"{name} cannot be read; write the notes out")
    header, voices = split_voices(abc)
    lines = [line for line in header if line[:2] not in ("L:", "M:", "K:")]
    fields = {line[0]: plain_field(line) for line in header if line not in lines}
    # By 3.1.7, which music21 applies to the first voice only.
    is_short = (_measure_length(fields.get("M", "")) or 1) < Fraction(3, 4)
    fields = {"L": "L:1/16" if is_short else "L:1/8"} | fields
    propagation = re.search(_PROPAGATION, abc)
    for number, music in enumerate(voices.values(), 1):
        lines += [f"V:{number}"] * (len(voices) > 1)
        voice = _Voice(dict(fields), propagation[1] if propagation else "pitch")
        # The dot of a dashed bar line is not one of the next note.
        rewritten = voice.rewrite("\n".join([*fields.values(), *music]).replace(".|", "|"))
        lines += [line.strip() for line in rewritten.split("\n") if line.strip()]
    return "\n".join(lines) + "\n"


def parse_plain(plain: str) -> Any:
    """Read a tune from `plain_abc` with music21, and tie its chords.

    Raises:
        ValueError: music21 reads other notes and chords than the text has.
        Exception: music21's reader raises errors of many classes.
    """
    from music21 import converter

    score: Any = converter.parseData(plain, format="abc")
    head, *voices = re.split(r"(?m)^V:.*\n", plain)
    for part, music in zip(list(score.parts) or [score], voices or [head], strict=True):
        elements = [
            element
            for element in part.recurse().getElementsByClass(["Note", "Chord"])
            if not element.duration.isGrace and "Harmony" not in element.classes
        ]
        _tie_chords(elements, _tied_notes(music))
    return score


def _tied_notes(music: str) -> list[str]:
    """For each note and chord that no grace note is: which notes of it are tied, by ``1`` and
    ``0``.
    """
    tied: list[str] = []
    for kind, token in body_tokens(music):
        if kind in ("note", "chord"):
            notes = _NOTE.finditer(token.rpartition("]")[0] or token)
            tied.append("".join("01"[token.startswith("-", note.end())] for note in notes))
        elif kind == "tie" and tied:
            tied[-1] = "1" * len(tied[-1])
    return tied


def _tie_chords(elements: Sequence[Any], tied: Sequence[str]) -> None:
    """Tie notes to the next note of the same pitch, where one of both is in a chord."""
    if not any("1" in marks for marks in tied):
        return
    # music21 divides notes of measures that are longer than the metre.
    if len(elements) != len(tied):
        raise ValueError(
            f"music21 reads {len(elements)} notes and chords where the tune has {len(tied)}"
        )
    for (element, following), marks in zip(pairwise(elements), tied, strict=False):
        if not (element.isChord or following.isChord):
            continue
        ends = {note.pitch.nameWithOctave: note for note in _notes(following)}
        for note, mark in zip(_notes(element), marks, strict=True):
            end = ends.get(note.pitch.nameWithOctave)
            if mark == "1" and end is not None:
                _tie(note, end)


def _notes(element: Any) -> Any:
    return getattr(element, "notes", [element])


def _tie(note: Any, end: Any) -> None:
    from music21 import tie

    new: Any = tie.Tie
    is_tied_before = note.tie is not None and note.tie.type != "start"
    note.tie = new("continue" if is_tied_before else "start")
    end.tie = new("stop")


def plain_field(line: str) -> str:
    """A field without clefs and other properties of a staff; a key without a tonic is empty."""
    if not line.startswith("K:"):
        return line
    words = re.sub(r'\b\w+=(?:"[^"]*"|\S*)', "", line[2:])
    words = re.sub(r"\b(?:treble|alto|tenor|bass|perc)\d?(?:[+-]8)?\b", "", words).strip()
    # Bagpipes play in D, whatever is printed (3.1.14).
    words = "D" if words.upper() == "HP" else words
    return f"K:{words}" if words else ""


def _measure_length(field: str) -> Fraction | None:
    """The length of a measure in whole notes by a field M, also of ``C`` and ``2+3/8``; None in
    free metre.
    """
    if field[2:].strip() in ("C", "C|"):
        return Fraction(1)
    *above, below = [0, *map(int, re.findall(r"[1-9][0-9]*", field))]
    return Fraction(sum(above), below) if below and any(above) else None


class _Voice:
    """Rewrites a voice: keeps the fields and the accidentals that hold."""

    def __init__(self, fields: dict[str, str], propagation: str) -> None:
        self._fields = fields
        self._propagation = propagation
        self._altered = _Signs()  # by letter, or by letter and octave marks
        self._event = _Signs()  # of the last note or chord, by letter and octave marks
        self._tied = _Signs()  # the same, of notes that are tied to the next one
        self._joined = _Signs()  # the same, of notes with a tie within the chord that is being read

    def rewrite(self, body: str) -> str:
        """Rewrite lines of music and fields; every field becomes a line of its own."""
        words: list[str] = []
        event = tuplet = -1  # the places of the last note or chord and of the last tuplet sign
        lacking, factor = 0, Fraction(1)  # notes to come in the tuplet; factor of the next length
        for kind, token in body_tokens(body):
            word = self._word(kind, token)
            if kind == "tuplet":
                notes, time, count, *_ = *token[1:].split(":"), "", ""
                lacking, tuplet = int(count or notes), len(words)
                word = f"({notes}:{time}:{lacking}"
            elif kind == "grace" and lacking:
                mark, count = words[tuplet].rsplit(":", 1)
                words[tuplet] = f"{mark}:{int(count) + len(_NOTE.findall(token))}"
            elif kind == "broken" and event >= 0:
                first, factor = broken_factors(token)
                words[event] = multiplied(words[event], first)
            elif kind in ("note", "chord", "rest"):
                word, factor = multiplied(word, factor), Fraction(1)
                event, lacking = len(words), max(lacking - 1, 0)
            words.append(word)
        return "".join(words)

    def _word(self, kind: str, token: str) -> str:
        """Rewrite a token; what music21 would misread and has no effect on notes is left out."""
        match kind:
            case "note" | "chord" | "rest":
                self._event = {}
                word = _NOTE.sub(self._note, _SIGNS.sub("", token))
                self._tied, self._joined = self._joined, {}
                return word.replace("x", "z")
            case "grace":
                return _NOTE.sub(self._note, token.replace("{/", "{"))
            case "measures":
                return self._rest_measures(int(token[1:] or 1))
            case "bar" | "ending":
                self._altered = {}
                return _ENDINGS.sub("", token).replace("::", ":| |:").replace("[|]", "|")
            case "field":
                self._fields[token[0]] = token
                return f"\n{plain_field(token)}\n" if token[0] in "KMLQ" else ""
            case "tie":
                self._tied = self._event
        return token if _KEPT.match(token) else " "

    def _note(self, match: re.Match[str]) -> str:
        accidental, letter, octave, length = match.groups()
        place = letter.upper() if self._propagation == "pitch" else letter + octave
        if accidental and self._propagation != "not":
            self._altered[place] = accidental
        sign = accidental or self._tied.get(letter + octave) or self._altered.get(place, "")
        self._event[letter + octave] = sign
        if match.string.startswith("-", match.end()):
            self._joined[letter + octave] = sign
        return sign + letter + octave + length_text(read_length(length))

    def _rest_measures(self, count: int) -> str:
        measure = _measure_length(self._fields.get("M", ""))
        if measure is None:
            raise ValueError("rests of whole measures (Z) cannot be read in free metre")
        return " | ".join([f"z{length_text(measure / Fraction(self._fields['L'][2:]))}"] * count)
