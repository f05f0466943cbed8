"""Answers the composed theory questions from their text and options alone, by arithmetic on the line of fifths.

It shares nothing with what composed them: an independent check of the bank. What a text says is read into numbers, by
the same readers in either language, and an option is right if it means what the arithmetic says.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from music_evals.baselines.theory.reading import MAJOR, MINOR, READERS, ROMAN
from music_evals.notation.spelling import Interval, interval_up, letter_of, pitch_class, root_of

# No question is nearly as long. The bound keeps the matching quick whatever the text is.
_LONGEST: Final = 500

_INVERSIONS: Final = {"": 0, "6": 1, "64": 2, "7": 0, "65": 1, "43": 2, "42": 3}


def _raised(notes: Sequence[int], by: int) -> tuple[int, ...]:
    return tuple(note + by for note in notes)


def _sharps(key: tuple[int, int]) -> int:
    return key[0] - 3 * key[1]


def _inverted(chord: Sequence[int], inversion: int) -> tuple[int, ...]:
    return (*chord[inversion:], *chord[:inversion])


def _resolved(figure: re.Match[str], key: tuple[int, int]) -> tuple[int, ...]:
    """The notes of a Roman numeral, from the lowest up."""
    tonic, minor = key
    if figure[4]:
        tonic += _root_above(figure[4], "", minor)
        minor = int(figure[4].islower())
    root = _root_above(figure[1], figure[2], minor)
    chord = [0, -3 if figure[1].islower() else 4, -6 if figure[2] else 1]
    if figure[3] in ("7", "65", "43", "42"):
        # Of the key, but for the diminished seventh chord, whose seventh is lowered.
        scale = MINOR if minor else MAJOR
        of_key = scale[(ROMAN.index(figure[1].upper()) + 6) % 7] - root
        chord.append(-9 if figure[2] == "°" else of_key)
    return _inverted(_raised(chord, tonic + root), _INVERSIONS[figure[3]])


def _root_above(numeral: str, sign: str, minor: int) -> int:
    degree = ROMAN.index(numeral.upper())
    # The seventh degree of minor is raised under a diminished chord only.
    return MAJOR[degree] if sign and degree == 6 else (MINOR if minor else MAJOR)[degree]


def _function_chord(key: tuple[int, int], function: tuple[int, tuple[int, ...], tuple[int, ...]]) -> tuple[int, ...]:
    degree, *chords = function
    root = MAJOR[degree]  # tonic, subdominant, dominant and leading note are alike in major and harmonic minor
    return _raised(chords[key[1]], key[0] + root)


def _divided(metre: tuple[int, int]) -> tuple[int, int]:
    count = metre[0]
    return (count // 3, 3) if count > 3 and count % 3 == 0 else (count, 2)


def _sound_alike(notes: Sequence[int], others: Sequence[int]) -> bool:
    """Are all spelled otherwise, and sound the same?"""
    pairs = zip(notes, others, strict=False)
    alike = all(a != b and pitch_class(a) == pitch_class(b) for a, b in pairs)
    return alike and len(notes) == len(others)


# --- forms


@dataclass(frozen=True, slots=True)
class _Form:
    """A wording with typed blanks in every language, how options read, and whether one fits what fills the blanks."""

    zh: str
    en: str
    option: str
    fits: Callable[..., bool]


_FORMS: Final = (
    _Form(
        "从{a:note}向上到离它最近的{b:note}，构成什么音程？",
        "Which interval is formed from {a:note} up to the nearest {b:note} above it?",
        "interval",
        lambda it, a, b: it == interval_up(a, b),
    ),
    _Form(
        "从{a:note}向下到离它最近的{b:note}，构成什么音程？",
        "Which interval is formed from {a:note} down to the nearest {b:note} below it?",
        "interval",
        lambda it, a, b: it == interval_up(b, a),
    ),
    _Form(
        "{a:note}上方{by:interval}的音是哪个音？",
        "Which note lies {by:interval} above {a:note}?",
        "note",
        lambda it, a, by: it == a + by.fifths,
    ),
    _Form(
        "{a:note}下方{by:interval}的音是哪个音？",
        "Which note lies {by:interval} below {a:note}?",
        "note",
        lambda it, a, by: it == a - by.fifths,
    ),
    _Form(
        "{a:interval}转位后成为什么音程？",
        "Which interval results from the inversion of {a:interval}?",
        "interval",
        lambda it, a: it == a.inversion,
    ),
    _Form(
        "复音程{a:interval}减去一个八度后是什么单音程？",
        "To which simple interval does {a:interval} reduce?",
        "interval",
        lambda it, a: it == Interval(a.letters - 7, a.semitones - 12),
    ),
    _Form(
        "{a:interval}包含多少个半音？",
        "How many semitones does {a:interval} contain?",
        "number",
        lambda it, a: it == a.semitones,
    ),
    _Form(
        "哪个音是{a:note}的等音？",
        "Which note is enharmonic with {a:note}?",
        "note",
        lambda it, a: _sound_alike([it], [a]),
    ),
    _Form(
        "哪个调是{a:key}的等音调？",
        "Which key is enharmonic with {a:key}?",
        "key",
        lambda it, a: it[1] == a[1] and _sound_alike([it[0]], [a[0]]),
    ),
    _Form(
        "哪个音程与{a:interval}互为等音程？",
        "Which interval is enharmonic with {a:interval}?",
        "interval",
        lambda it, a: it != a and it.semitones == a.semitones,
    ),
    _Form(
        "哪一组音与{a:notes}逐一互为等音，写法不同而音高相同？",
        "Which notes are enharmonic, one by one, with {a:notes}: spelled otherwise, but sounding the same?",
        "notes",
        lambda it, a: _sound_alike(it, a),
    ),
    _Form(
        "旋律{a:notes}整体{to:direction}移{by:interval}，得到哪些音？",
        "Which notes result when the melody {a:notes} is transposed {to:direction} by {by:interval}?",
        "notes",
        lambda it, a, to, by: it == _raised(a, to * by.fifths),
    ),
    _Form(
        "{c:instrument}的分谱上记着{a:notes}，实际发出的是哪些音（只论音名，不论八度）？",
        "The part of the {c:instrument} has the written notes {a:notes}. Which notes sound, whatever their octave?",
        "notes",
        lambda it, a, c: it == _raised(a, c),
    ),
    _Form(
        "要使{c:instrument}实际发出{a:notes}，分谱上应记哪些音（只论音名，不论八度）？",
        "The {c:instrument} is to sound the notes {a:notes}. Which notes must be written in its part, "
        "whatever their octave?",
        "notes",
        lambda it, a, c: it == _raised(a, -c),
    ),
    _Form(
        "{a:key}的乐曲整体{to:direction}移{by:interval}，移到什么调？",
        "A piece in {a:key} is transposed {to:direction} by {by:interval}. In which key is it then?",
        "key",
        lambda it, a, to, by: it == (a[0] + to * by.fifths, a[1]),
    ),
    _Form(
        "乐曲实际音响为{a:key}时，{c:instrument}的分谱应记成什么调？",
        "The music sounds in {a:key}. In which key is the part of the {c:instrument} written?",
        "key",
        lambda it, a, c: it == (a[0] - c, a[1]),
    ),
    _Form(
        "{a:scale}音阶从主音开始上行，由哪些音构成？",
        "Which notes, ascending from the tonic, form the {a:scale} scale?",
        "notes",
        lambda it, a: it == _raised(a[1], a[0]),
    ),
    _Form(
        "以第一个音为主音，上行的{a:notes}构成什么音阶？",
        "With the first note as the tonic, which scale do these ascending notes form: {a:notes}?",
        "scale",
        lambda it, a: a == _raised(it[1], it[0]),
    ),
    _Form(
        "{a:scale}音阶的{n:ordinal}音是哪个音？",
        "Which note is the {n:ordinal} degree of the {a:scale} scale?",
        "note",
        lambda it, a, n: n <= len(a[1]) and it == a[0] + a[1][n - 1],
    ),
    _Form(
        "{b:note}是{a:scale}音阶中的第几级音？",
        "Which degree of the {a:scale} scale is {b:note}?",
        "ordinal",
        lambda it, a, b: it <= len(a[1]) and b == a[0] + a[1][it - 1],
    ),
    _Form(
        "{a:scale}的{n:function}是哪个音？",
        "Which note is the {n:function} of {a:scale}?",
        "note",
        lambda it, a, n: n < len(a[1]) and it == a[0] + a[1][n],
    ),
    _Form(
        "{a:key}的调号是什么？",
        "What is the key signature of {a:key}?",
        "signature",
        lambda it, a: it == _sharps(a),
    ),
    _Form(
        "调号为{n:signature}的{m:mode}是哪个调？",
        "Which {m:mode} key has the key signature of {n:signature}?",
        "key",
        lambda it, n, m: (_sharps(it), it[1]) == (n, m),
    ),
    _Form(
        "{a:key}的关系{m:mode}是哪个调？",
        "Which key is the relative {m:mode} of {a:key}?",
        "key",
        lambda it, a, m: it != a and (_sharps(it), it[1]) == (_sharps(a), m),
    ),
    _Form(
        "{a:key}的同主音{m:mode}的调号是什么？",
        "What is the key signature of the parallel {m:mode} of {a:key}?",
        "signature",
        lambda it, a, m: it == _sharps((a[0], m)),
    ),
    _Form(
        "{a:key}的调号中，最后一个{s:sign}写在哪个音级上？",
        "In the key signature of {a:key}, on which letter is the last {s:sign} written?",
        "note",
        lambda it, a, s: s * _sharps(a) > 0 and letter_of(it) == letter_of(_sharps(a) + (5 if s > 0 else -1)),
    ),
    _Form(
        "只看调号、按音的写法比较，{a:key}与{b:key}的七个音中有几个共同音？",
        "By their key signatures alone, how many of their seven notes do {a:key} and {b:key} share, spelled alike?",
        "number",
        lambda it, a, b: it == max(0, 7 - abs(_sharps(a) - _sharps(b))),
    ),
    _Form(
        "主音位于{a:key}主音上方{by:interval}的{m:mode}，调号是什么？",
        "What is the key signature of the {m:mode} key whose tonic lies {by:interval} above the tonic of {a:key}?",
        "signature",
        lambda it, a, by, m: it == _sharps((a[0] + by.fifths, m)),
    ),
    _Form(
        "以{a:note}为根音的{b:chord}，处于{n:position}时，从低到高由哪些音构成？",
        "Which notes, from the lowest up, form {b:chord} on the root {a:note} in {n:position}?",
        "notes",
        lambda it, a, b, n: it == _inverted(_raised(b, a), n),
    ),
    _Form(
        "密集排列、从低到高由{a:notes}构成的和弦，是什么和弦的什么位置？",
        "In close position, the notes {a:notes} sound from the lowest up. Which chord is it, and in which position?",
        "chord_and_position",
        lambda it, a: root_of(a) is not None and a == _inverted(_raised(it[0], root_of(a) or 0), it[1]),
    ),
    _Form(
        "从低到高由{a:notes}构成的三度叠置和弦，根音是哪个音？",
        "Which note is the root of the tertian chord {a:notes}?",
        "note",
        lambda it, a: it == root_of(a),
    ),
    _Form(
        "以{a:note}为根音的{b:chord}，其{n:member}是哪个音？",
        "Which note is the {n:member} of {b:chord} on the root {a:note}?",
        "note",
        lambda it, a, b, n: n < len(b) and it == a + b[n],
    ),
    _Form(
        "在{a:key}中，{f:figure}从低到高由哪些音构成？",
        "In {a:key}, which notes, from the lowest up, form {f:figure}?",
        "notes",
        lambda it, a, f: it == _resolved(f, a),
    ),
    _Form(
        "在{a:key}中，从低到高由{b:notes}构成的和弦，用哪个罗马数字标记？",
        "In {a:key}, which Roman numeral describes the chord that is, from the lowest up, {b:notes}?",
        "figure",
        lambda it, a, b: b == _resolved(it, a),
    ),
    _Form(
        "在{a:key}中，{f:figure}的低音是哪个音？",
        "In {a:key}, which note is in the bass of {f:figure}?",
        "note",
        lambda it, a, f: it == _resolved(f, a)[0],
    ),
    _Form(
        "{a:key}的{f:function_chord}，原位，从低到高由哪些音构成？",
        "Which notes, from the lowest up, form the {f:function_chord} of {a:key} in root position?",
        "notes",
        lambda it, a, f: it == _function_chord(a, f),
    ),
    _Form(
        "{n:number}小节{a:fraction}拍共可容纳多少个{b:value}？",
        "How many {b:value} fill {n:number} bars of {a:fraction} time?",
        "number",
        lambda it, n, a, b: it * b == n * a,
    ),
    _Form(
        "一个{a:value}的时值等于多少个{b:value}？",
        "How many {b:value} last as long as {a:value}?",
        "number",
        lambda it, a, b: it * b == a,
    ),
    _Form(
        "演奏{a:metre}拍时，每小节通常按几个大拍计，每个大拍等分为几份？",
        "How many main beats has a bar of {a:metre} time, and into how many equal parts does each of them divide?",
        "division",
        lambda it, a: it == _divided(a),
    ),
    _Form(
        "{a:values}相连，总时值等于多少个{b:value}？",
        "How many {b:value} last as long as these note values in a row: {a:values}?",
        "number",
        lambda it, a, b: it * b == sum(a),
    ),
    _Form(
        "{a:fraction}拍的一个小节里已有{b:values}，还差哪一个音符就填满了？",
        "A bar of {a:fraction} time already holds these note values: {b:values}. "
        "Which single note value fills the rest of it?",
        "value",
        lambda it, a, b: it + sum(b) == a,
    ),
    _Form(
        "{n:number}个{a:value}奏成连音，占{m:number}个同种音符的时间，整组连音的时值等于哪一个音符？",
        "A tuplet fits {n:number} {a:value} into the time of {m:number}. "
        "Which single note value lasts as long as the whole tuplet?",
        "value",
        lambda it, n, a, m: it == m * a,
    ),
    _Form(
        "{n:number}个{a:value}奏成连音，占{m:number}个同种音符的时间，其中一个音的时值是{b:value}的几分之几？",
        "A tuplet fits {n:number} {a:value} into the time of {m:number}. "
        "What fraction of {b:value} does one note of it last?",
        "fraction",
        lambda it, n, a, m, b: n > 0 and it == m * a / n / b,
    ),
)
_BLANK: Final = re.compile(r"\{([a-z]+):([a-z_]+)\}")


def _pattern(wording: str) -> tuple[re.Pattern[str], dict[str, str]]:
    """A pattern for a wording, and what its blanks hold."""
    literal = re.split(r"\{[^}]*\}", wording)
    blanks = _BLANK.findall(wording)
    parts = [f"(?P<{name}>.+?){re.escape(after)}" for (name, _), after in zip(blanks, literal[1:], strict=True)]
    return re.compile(re.escape(literal[0]) + "".join(parts)), dict(blanks)


_PATTERNS: Final = [(*_pattern(wording), form) for form in _FORMS for wording in (form.zh, form.en)]


def solve(question: str, options: Sequence[str]) -> int | None:
    """Answer a theory question by arithmetic on what it says.

    Args:
        question: its text, in Chinese or English, without the options.
        options: the texts of the options, in any order.

    Returns:
        The index of the one option that is right; None where the text is no question of a known form, or where no
        option is right, or several are.

    Example:
        >>> solve("Which note lies a diminished fifth above B?", ["F sharp", "F"])
        1
        >>> solve("Who composed Aida?", ["Verdi", "Puccini"]) is None
        True
    """
    if len(question) > _LONGEST:
        return None
    for pattern, kinds, form in _PATTERNS:
        match = pattern.fullmatch(question)
        asked = {name: READERS[kind](match[name]) for name, kind in kinds.items()} if match else {}
        if match and None not in asked.values():
            meanings = [READERS[form.option](option) if len(option) <= _LONGEST else None for option in options]
            fitting = [i for i, it in enumerate(meanings) if it is not None and form.fits(it, **asked)]
            return fitting[0] if len(fitting) == 1 else None
    return None
