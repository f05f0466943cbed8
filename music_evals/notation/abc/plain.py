"""ABC in the subset that music21 reads completely.

Written against music21 10.5, which

- ignores inline fields and invisible rests,
- takes every return to a voice for another part,
- transposes notes in a bass clef, and keeps the last key of a voice for the next voice,
- takes a third ending for a chord,
- counts grace notes as notes of a tuplet,
- loses the note after an ``H``, and an ``E`` before ``::``.
"""

import re
from typing import Final

_FIELD: Final = re.compile(r"[A-Za-z]:(?![|:])")
_VOICE: Final = re.compile(r"\[?V:\s*([^\s\]]+)([^\]]*)\]?")
_QUOTED: Final = re.compile(r'"[^"\n]*"|![^!\s]{1,30}!|\[[A-Za-z]:[^\]\n]{0,300}\]')
_ANNOTATIONS: Final = ('"^', '"_', '"<', '">', '"@')


def split_voices(abc: str) -> tuple[list[str], dict[str, list[str]]]:
    """Split a tune into its header and the lines of its voices, without voice definitions and comments.

    Returns:
        The lines of the header, and the lines of each voice by its name, in the order of the music. A tune without
        ``V:`` has one voice without a name.
    """
    header: list[str] = []
    voices: dict[str, list[str]] = {}
    voice, in_body = "", False
    for raw in abc.splitlines():
        line = re.sub(r"(?<!\\)%.*", "", raw).strip()
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

    Example:
        >>> print(plain_abc("X:1\nL:1/4\nK:C\nCx [M:3/4] HC3 ::"), end="")
        X:1
        L:1/4
        K:C
        Cz
        M:3/4
        !fermata!C3 :| |:
    """
    header, voices = split_voices(abc)
    lines = [_without_clef(line) for line in header]
    fields = [line for line in lines if line[:2] in ("L:", "M:", "K:")]
    for number, music in enumerate(voices.values(), 1):
        lines += [f"V:{number}", *fields] if len(voices) > 1 else []
        for line in music:
            plain = (_without_slurs(text).strip(" \\") for text in _plain_line(line).split("\n"))
            lines += [text for text in plain if text]
    return "\n".join(lines) + "\n"


def _without_slurs(line: str) -> str:
    # The names of hairpins have brackets, too.
    return line if _FIELD.match(line) else re.sub(r"(![^!\n]*!)|\((?!\d)|\)", lambda match: match[1] or "", line)


def _without_clef(line: str) -> str:
    if not line.startswith("K:"):
        return line
    words = re.sub(r"\b(?:clef|middle|m|octave|transpose|stafflines)=\S*", "", line[2:])
    words = re.sub(r"\b(?:treble|alto|tenor|bass|perc)\d?(?:[+-]8)?\b", "", words).strip()
    return f"K:{words}"


def _plain_line(line: str) -> str:
    if _FIELD.match(line):
        line = _without_clef(line)
        return "" if line == "K:" else line
    text, position = "", 0
    for match in _QUOTED.finditer(line):
        text += _plain_music(line[position : match.start()])
        position = match.end()
        token = match[0]
        if token[0] != "[":
            # music21 takes an annotation (4.19) for a chord symbol and fails on it.
            text += "" if token[:2] in _ANNOTATIONS else token
        elif token[1] in "KMLQ" and (field := _without_clef(token[1:-1])) != "K:":
            text += f"\n{field}\n"
    text += _plain_music(line[position:])
    return re.sub(r"(\([2-9]:\d?:\d)(\{[^{}]*\})", r"\2\1", text)


def _plain_music(music: str) -> str:
    music = music.replace("::", ":| |:").replace("H", "!fermata!").replace("x", "z")
    return re.sub(r"\[[3-9][0-9,-]*", "", music)
