"""Forms on notes and what lies between them: intervals, enharmonics, transposition."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product
from random import Random
from typing import Final

from music_evals.datasets_builders.questions.theory import terms
from music_evals.datasets_builders.questions.theory.arithmetic import (
    COMPOUND,
    PLAIN,
    SIMPLE,
    SPELLED,
    Key,
    interval_up,
    keys,
    line_moved,
    moved,
    near_lines,
    near_notes,
    near_numbers,
    pitch_class,
    semitones,
)
from music_evals.datasets_builders.questions.theory.form import Draft, Form, shuffled
from music_evals.datasets_builders.questions.theory.terms import DOWN, UP, Term, article, tokens, words

# How an instrument's part is written in English and Chinese, and the name under which music21 knows it.
_INSTRUMENTS: Final = dict(
    zip(
        (
            *("Clarinet", "Clarinet in A", "Horn", "Alto Saxophone", "Tenor Saxophone", "Baritone Saxophone"),
            *("English Horn", "Trumpet", "Trumpet in D", "Bass Clarinet"),
        ),
        words(
            "降B调单簧管|A调单簧管|F调圆号|降E调中音萨克斯管|降B调次中音萨克斯管|降E调上低音萨克斯管|英国管（F调）|降B调小号|D调小号|"
            "降B调低音单簧管",
            "clarinet in B flat|clarinet in A|horn in F|alto saxophone in E flat|tenor saxophone in B flat|"
            "baritone saxophone in E flat|English horn in F|trumpet in B flat|trumpet in D|bass clarinet in B flat",
        ),
        strict=True,
    )
)
_INTERVALS_MOVED: Final = tokens("m2 M2 m3 M3 P4 A4 d5 P5 m6 M6 m7 M7")


def near_intervals(name: str) -> list[str]:
    """Intervals that one may take for another: of the same number, and of nearly the same size.

    Example:
        >>> near_intervals("P4")
        ['M3', 'A3', 'd4', 'A4', 'd5']
    """
    pool = SIMPLE + COMPOUND
    size = semitones(name)
    return [o for o in pool if o != name and (o[1:] == name[1:] or abs(semitones(o) - size) <= 1)]


def _intervals(names: Sequence[str]) -> list[Term]:
    return [terms.interval(name) for name in names]


def _notes(names: Sequence[str]) -> list[Term]:
    return [terms.note(name) for name in names]


def _between(down: bool) -> Callable[[Random], Iterator[Draft]]:
    def drafts(rng: Random) -> Iterator[Draft]:
        for first, second in shuffled(list(product(PLAIN, PLAIN)), rng):
            name, size = interval_up(second, first) if down else interval_up(first, second)
            # The nearest note above is no matter of opinion only where it sounds above, and within the octave.
            if name in SIMPLE and 0 < size < 12:
                near = _intervals(near_intervals(name))
                yield Draft((terms.note(first), terms.note(second)), terms.interval(name), near)

    return drafts


def _lying(down: bool) -> Callable[[Random], Iterator[Draft]]:
    def drafts(rng: Random) -> Iterator[Draft]:
        for note, name in shuffled(list(product(PLAIN, SIMPLE[:-1])), rng):
            if other := moved(note, name, down):
                mistaken = moved(note, name, not down)
                near = _notes([*near_notes(other), *([mistaken] if mistaken else [])])
                yield Draft((terms.note(note), article(terms.interval(name))), terms.note(other), near)

    return drafts


def _inversion(rng: Random) -> Iterator[Draft]:
    from music21.interval import Interval

    for name in shuffled(SIMPLE[:-1], rng):
        inverted = Interval(name).complement.name
        near = _intervals([*near_intervals(inverted), name])
        yield Draft((article(terms.interval(name)),), terms.interval(inverted), near)


def _reduced(rng: Random) -> Iterator[Draft]:
    from music21.interval import Interval

    for name in shuffled(COMPOUND[:-1], rng):
        simple = Interval(name).simpleName
        yield Draft((article(terms.interval(name)),), terms.interval(simple), _intervals(near_intervals(simple)))


def _semitones(rng: Random) -> Iterator[Draft]:
    for name in shuffled(SIMPLE + COMPOUND, rng):
        size = semitones(name)
        near = [terms.same(number) for number in near_numbers(size)]
        yield Draft((article(terms.interval(name)),), terms.same(size), near)


def _respelled(rng: Random) -> Iterator[Draft]:
    for note in shuffled(SPELLED, rng):
        twins = [other for other in SPELLED if other != note and pitch_class(other) == pitch_class(note)]
        near = [other for other in near_notes(note) if pitch_class(other) != pitch_class(note)]
        yield Draft((terms.note(note),), terms.note(rng.choice(twins)), _notes(near))


def _respelled_key(rng: Random) -> Iterator[Draft]:
    for key in shuffled(keys(), rng):
        twins = [k for k in keys() if k[1] == key[1] and k != key and pitch_class(k[0]) == pitch_class(key[0])]
        for twin in twins:
            near = [k for k in keys() if k[0] in near_notes(key[0]) and k[1] == key[1] and k not in twins]
            yield Draft((terms.key(*key),), terms.key(*twin), [terms.key(*k) for k in near])


def _respelled_interval(rng: Random) -> Iterator[Draft]:
    for name in shuffled(SIMPLE, rng):
        twins = [other for other in SIMPLE if other != name and semitones(other) == semitones(name)]
        near = [other for twin in twins for other in near_intervals(twin) if semitones(other) != semitones(name)]
        for twin in twins[:1]:
            yield Draft((article(terms.interval(name)),), terms.interval(twin), _intervals(near))


def _respelled_line(rng: Random) -> Iterator[Draft]:
    while True:
        line = _line(rng, rng.choice((2, 3, 3, 4)))
        # A semitone off in at least one note is another sound, however it is spelled. Each starts from a respelling of
        # its own: were all like the right one, what they have in common would give it away.
        wrong = [near for _ in range(3) for near in near_lines(_otherwise(line, rng), rng)]
        yield Draft((terms.notes(line),), terms.notes(_otherwise(line, rng)), [*map(terms.notes, wrong)])


def _otherwise(line: Sequence[str], rng: Random) -> list[str]:
    """The same sounds, each spelled in another way."""
    return [rng.choice([o for o in SPELLED if o != note and pitch_class(o) == pitch_class(note)]) for note in line]


def _line(rng: Random, length: int) -> list[str]:
    """A short line that moves by step and by third within one key, no note twice in a row."""
    # Up to five accidentals: the line is to have a spelling left when it is moved.
    tonic = rng.choice(("C", "G", "D", "A", "E", "F", "B-", "E-", "A-", "D-"))
    steps = [note for name in ("M2", "M3", "P4", "P5", "M6", "M7") if (note := moved(tonic, name))]
    scale, at = [tonic, *steps], rng.randrange(7)
    line = []
    for _ in range(length):
        line.append(scale[at % 7])
        at += rng.choice((-2, -1, -1, 1, 1, 2, 4))
    return line


def _moved_line(rng: Random) -> Iterator[Draft]:
    while True:
        line, name = _line(rng, rng.choice((3, 4, 5))), rng.choice(_INTERVALS_MOVED)
        direction = rng.choice((UP, DOWN))
        if right := line_moved(line, name, direction is DOWN):
            others = [line_moved(line, name, direction is UP)]
            others += [line_moved(line, near, direction is DOWN) for near in near_intervals(name)]
            asked = (terms.notes(line), direction, article(terms.interval(name)))
            yield Draft(asked, terms.notes(right), _wrong_lines(right, others, rng))


def _wrong_lines(right: Sequence[str], others: Sequence[Sequence[str] | None], rng: Random) -> list[Term]:
    near = [other for other in others if other]
    return [terms.notes(line) for line in (*rng.sample(near, min(3, len(near))), *near_lines(right, rng)[:3])]


@cache
def _instruments() -> tuple[tuple[Term, str, bool], ...]:
    """Name, interval from written to sounding pitch, and whether it sounds below."""
    from music21.instrument import fromString

    found = []
    for known, term in _INSTRUMENTS.items():
        transposition = fromString(known).transposition
        assert transposition is not None, known
        found.append((term, str(transposition.name), int(transposition.semitones) < 0))
    return tuple(found)


def _part(written: bool) -> Callable[[Random], Iterator[Draft]]:
    """Drafts that ask for the written notes (or for the sounding ones, given what is written)."""

    def drafts(rng: Random) -> Iterator[Draft]:
        while True:
            line, (instrument, name, below) = _line(rng, rng.choice((1, 2, 3, 4))), rng.choice(_instruments())
            down = below is not written
            if right := line_moved(line, name, down):
                wrong = [line_moved(line, name, not down), line]
                wrong += [line_moved(line, near, down) for near in near_intervals(name)]
                yield Draft((instrument, terms.notes(line)), terms.notes(right), _wrong_lines(right, wrong, rng))

    return drafts


def _near_keys(right: Key) -> list[Term]:
    """Other keys, of the same mode, on notes near to its tonic."""
    return [terms.key(note, right[1]) for note in near_notes(right[0]) if (note, right[1]) in keys()]


def _moved_key(rng: Random) -> Iterator[Draft]:
    for key, name, direction in shuffled(list(product(keys(), _INTERVALS_MOVED, (UP, DOWN))), rng):
        tonic = moved(key[0], name, direction is DOWN)
        if tonic and (right := (tonic, key[1])) in keys():
            asked = (terms.key(*key), direction, article(terms.interval(name)))
            yield Draft(asked, terms.key(*right), _near_keys(right))


def _part_key(rng: Random) -> Iterator[Draft]:
    for key, (instrument, name, below) in shuffled(list(product(keys(), _instruments())), rng):
        tonic, mistaken = moved(key[0], name, not below), moved(key[0], name, below)
        if tonic and (right := (tonic, key[1])) in keys():
            wrong = [*_near_keys(right), *(terms.key(*other) for other in keys() if other == (mistaken, key[1]))]
            yield Draft((instrument, terms.key(*key)), terms.key(*right), [*wrong, terms.key(*key)])


FORMS: Final = (
    Form(
        "intervals",
        "up",
        Term(
            "从{0}向上到离它最近的{1}，构成什么音程？",
            "Which interval is formed from {0} up to the nearest {1} above it?",
        ),
        _between(down=False),
    ),
    Form(
        "intervals",
        "down",
        Term(
            "从{0}向下到离它最近的{1}，构成什么音程？",
            "Which interval is formed from {0} down to the nearest {1} below it?",
        ),
        _between(down=True),
    ),
    Form(
        "intervals",
        "above",
        Term("{0}上方{1}的音是哪个音？", "Which note lies {1} above {0}?"),
        _lying(down=False),
    ),
    Form(
        "intervals",
        "below",
        Term("{0}下方{1}的音是哪个音？", "Which note lies {1} below {0}?"),
        _lying(down=True),
    ),
    Form(
        "intervals",
        "inversion",
        Term("{0}转位后成为什么音程？", "Which interval results from the inversion of {0}?"),
        _inversion,
    ),
    Form(
        "intervals",
        "simple",
        Term("复音程{0}减去一个八度后是什么单音程？", "To which simple interval does {0} reduce?"),
        _reduced,
    ),
    Form(
        "intervals",
        "semitones",
        Term("{0}包含多少个半音？", "How many semitones does {0} contain?"),
        _semitones,
    ),
    Form("enharmonics", "note", Term("哪个音是{0}的等音？", "Which note is enharmonic with {0}?"), _respelled),
    Form("enharmonics", "key", Term("哪个调是{0}的等音调？", "Which key is enharmonic with {0}?"), _respelled_key),
    Form(
        "enharmonics",
        "interval",
        Term("哪个音程与{0}互为等音程？", "Which interval is enharmonic with {0}?"),
        _respelled_interval,
    ),
    Form(
        "enharmonics",
        "line",
        Term(
            "哪一组音与{0}逐一互为等音，写法不同而音高相同？",
            "Which notes are enharmonic, one by one, with {0}: spelled otherwise, but sounding the same?",
        ),
        _respelled_line,
    ),
    Form(
        "transposition",
        "line",
        Term("旋律{0}整体{1}移{2}，得到哪些音？", "Which notes result when the melody {0} is transposed {1} by {2}?"),
        _moved_line,
    ),
    Form(
        "transposition",
        "sounding",
        Term(
            "{0}的分谱上记着{1}，实际发出的是哪些音（只论音名，不论八度）？",
            "The part of the {0} has the written notes {1}. Which notes sound, whatever their octave?",
        ),
        _part(written=False),
    ),
    Form(
        "transposition",
        "written",
        Term(
            "要使{0}实际发出{1}，分谱上应记哪些音（只论音名，不论八度）？",
            "The {0} is to sound the notes {1}. Which notes must be written in its part, whatever their octave?",
        ),
        _part(written=True),
    ),
    Form(
        "transposition",
        "key",
        Term(
            "{0}的乐曲整体{1}移{2}，移到什么调？", "A piece in {0} is transposed {1} by {2}. In which key is it then?"
        ),
        _moved_key,
    ),
    Form(
        "transposition",
        "part-key",
        Term(
            "乐曲实际音响为{1}时，{0}的分谱应记成什么调？",
            "The music sounds in {1}. In which key is the part of the {0} written?",
        ),
        _part_key,
    ),
)
