"""Steps of music theory, which music21 takes again from their English words."""

from fractions import Fraction

import pytest
from music21 import clef, instrument, scale
from music21.duration import Duration, Tuplet
from music21.key import Key, KeySignature
from music21.meter import TimeSignature
from music21.pitch import Pitch
from music21.roman import RomanNumeral

from music_evals.datasets_builders.questions.theory.terms import words
from music_evals.notation.theory_chains import LINKS, follow, solve

DEGREES = ("tonic", "supertonic", "mediant", "subdominant", "dominant", "submediant")
DEGREES = (*DEGREES, "leading note")
ORDINALS = {name.en: number for number, name in words("ordinals").items()}
ACCIDENTALS = {" flat": "-", " sharp": "#", " double flat": "--", " double sharp": "##"}
VALUES = {"whole": 4, "half": 2, "quarter": 1, "eighth": 0.5, "sixteenth": 0.25}
COUNTS = {"triplet": 3, "quadruplet": 4, "quintuplet": 5, "septuplet": 7}
NUMBERS = {"two": 2, "three": 3, "four": 4}
# A start of each kind: its music21 name, and the link to it.
STARTS = [
    ("note", "D", ({"to": {"start": "note"}, "times": 1}, {"start": 2, "level": 1})),
    ("note", "G-", ({"to": {"start": "note"}, "times": 1}, {"start": -6, "level": 1})),
    ("note", "F#", ({"to": {"start": "note"}, "times": 1}, {"start": 6, "level": 1})),
    ("major", "E-", ({"to": {"start": "major"}, "times": 1}, {"start": -3, "level": 1})),
    ("major", "E", ({"to": {"start": "major"}, "times": 1}, {"start": 4, "level": 1})),
    ("minor", "F", ({"to": {"start": "minor"}, "times": 1}, {"start": -1, "level": 1})),
    ("minor", "C#", ({"to": {"start": "minor"}, "times": 1}, {"start": 7, "level": 1})),
    ("tempo", 720, ({"to": {"start": "tempo"}, "times": 1}, {"start": 720, "level": 1})),
    ("tempo", 240, ({"to": {"start": "tempo"}, "times": 1}, {"start": 240, "level": 1})),
    ("tempo", 84, ({"to": {"start": "tempo"}, "times": 1}, {"start": 84, "level": 1})),
]


def named(text):
    """The music21 name of a note in English."""
    return text[0] + ACCIDENTALS.get(text[1:], "")


def moved(note, interval):
    return str(Pitch(f"{note}4").transpose(interval).name)


def degree(tonic, mode, name):
    """A degree of a major or harmonic minor scale, or an altered one."""
    altered = {
        "note a whole tone below the tonic": "M-2",
        "lowered supertonic": "m2",
        "raised subdominant": "A4",
    }
    if name in altered:
        return moved(tonic, altered[name])
    kinds = {"major": scale.MajorScale, "minor": scale.HarmonicMinorScale}
    return str(kinds[mode](tonic).pitchFromDegree(DEGREES.index(name) + 1).name)


def member(root, name):
    """A member of a chord, or the bass of an inversion."""
    chord = {term.en: intervals.split() for intervals, term in words("chords").items()}[
        name.rpartition(" of the ")[2]
    ]
    first, *_ = name.split(" of ")
    at = {"third": 0, "fifth": 1, "seventh": 2}.get(first)
    if at is None:
        at = ("first", "second", "third").index(name.split()[3])
    return moved(root, chord[at])


def sounding(written, name):
    if name == "an alto flute in G":  # music21 has none; it sounds a perfect fourth lower
        return moved(written, "P-4")
    transposition = instrument.fromString(name.partition(" ")[2]).transposition
    assert transposition is not None, name
    return moved(written, str(transposition.directedName))


def interval(name):
    quality, number = name.split()[1:]
    return {"augmented": "A", "diminished": "d", "major": "M", "minor": "m", "perfect": "P"}[
        quality
    ] + ORDINALS[number]


def of_mode(tonic, name):
    ordinal, mode = name.split()[0], name.split()[4]
    found = getattr(scale, f"{mode}Scale")(tonic).pitchFromDegree(int(ORDINALS[ordinal]))
    return str(found.name)


def length(name):
    """A note value in quarter notes, of a tuplet if it is in the time of other notes."""
    first, *rest = name.partition(" ")[2].split(" of a ")
    *dotted, kind = first.removesuffix(" note").split()
    dots = {"": 0, "dotted": 1, "double-dotted": 2}["".join(dotted)]
    duration = Duration({"sixteenth": "16th"}.get(kind, kind), dots=dots)
    if rest:
        tuplet, _, time = rest[0].partition(" in the time of ")
        duration.appendTuplet(Tuplet(COUNTS[tuplet], NUMBERS[time.split()[0]], duration.type))
    return Fraction(duration.quarterLength)


def place(name):
    """The natural note on a line of a clef."""
    found = getattr(clef, f"{name.split()[4].capitalize()}Clef")()
    line = ("first", "second", "third", "fourth", "fifth").index(name.split()[0])
    pitch = Pitch()
    pitch.diatonicNoteNum = found.lowestLine + 2 * line
    return str(pitch.name)


def respelled(note, result, word):
    step = {"up": 1, "down": -1}[word]
    letters = "CDEFGAB"
    is_next = (letters.index(note[0]) + step) % 7 == letters.index(result[0])
    return is_next and Pitch(note).pitchClass == Pitch(result).pitchClass


def signature(word, mode):
    number, sign = word.split()
    sharps = int(number) * {"sharps": 1, "flats": -1}[sign]
    return str(KeySignature(sharps).asKey(mode).tonic.name)


def other_key(source, mode, word):
    key = Key(source if mode == "major" else source.lower())
    return str(getattr(key, word).tonic.name)


def numeral(source, mode, word):
    return str(RomanNumeral(word, Key(source, mode)).bass().name)


def agrees(link, kind, source, result):
    """Whether music21 takes a step from its source to the same result."""
    sentence, word = link[0]["text"][1].format("*", source="X", out="Y"), link[1]["text"][1]
    note = named(result.removesuffix(" major").removesuffix(" minor"))
    bar = Fraction(TimeSignature(word).barDuration.quarterLength) / 4 if "/" in word[:3] else 0
    expected = {
        "Y is the major key with * in": lambda: signature(word, "major") == note,
        "Y is the minor key with * in": lambda: signature(word, "minor") == note,
        "Y is the natural note on": lambda: place(word) == note,
        "Y is the tempo of": lambda: word == result,
        "Y is the * key of": lambda: other_key(source, kind, word) == note,
        "Y is the key in the same": lambda: degree(source, kind, word) == note,
        "Y is the * of X": lambda: degree(source, kind, word) == note,
        "Y is the bass note": lambda: numeral(source, kind, word) == note,
        "Y is the note * above": lambda: moved(source, interval(word)) == note,
        "Y is the note * below": lambda: moved(note, interval(word)) == source,
        "Y is the * on the root": lambda: member(source, word) == note,
        "Y is the root on which": lambda: member(note, word) == source,
        "Y is the * on the tonic": lambda: of_mode(source, word) == note,
        "Y is the tonic on which": lambda: of_mode(note, word) == source,
        "Y is the sounding": lambda: sounding(source, word) == note,
        "Y is the written": lambda: sounding(note, word) == source,
        "Y is enharmonic": lambda: respelled(source, note, word),
        "Y is the major key in": lambda: degree(note, "major", word) == source,
        "Y is the minor key in": lambda: degree(note, "minor", word) == source,
        "* at tempo Y": lambda: source * length(word) == int(result),
        "a quarter note at tempo Y": lambda: source / length(word) == int(result),
        "a bar of * at tempo Y": lambda: source * bar == int(result),
        "a bar of 4/4 at tempo Y": lambda: source / bar == int(result),
    }
    (check,) = [check for start, check in expected.items() if sentence.startswith(start)]
    return bool(check())


def test_music21_takes_every_step_to_the_same_result():
    tried = set()
    for number, group in enumerate(LINKS):
        for at, link in enumerate(group):
            for kind, source, start in [("start", None, None), *STARTS]:
                links = [link] if start is None else [start, link]
                if kind in link[1] and (names := follow(links)):
                    assert agrees(link, kind, source, names[1]), (link, source, names)
                    tried.add((number, at))
    assert len(tried) == sum(map(len, LINKS))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        # C minor, its leading note B, a diminished seventh above
        (
            "R is the note a diminished seventh above Q\nQ is the leading note of P\n"
            "P is the minor key with 3 flats in its key signature\nWhat is R?",
            ("降A", "A flat"),
        ),
        ("Q是P下方小二度的音\nP是写在中音谱表第三线上的自然音\nQ是什么？", ("B", "B")),
        ("P is the note a major third above Q\nQ is the fifth of P\nWhat is P?", None),
        ("Which key has no sharps?", None),
    ],
)
def test_texts_are_read_in_any_order_and_in_both_languages(text, names):
    assert solve(text) == names
