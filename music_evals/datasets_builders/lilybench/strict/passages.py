r"""Questions on measures of one voice that have one defensible answer, each by a rule that a
program checks.

*Order*, see `orders`. A passage of nine measures is cut inside every second one, from the first to
the last, each time at another distance from the bar line. The four parts begin and end without a
bar line, and each has two of them inside, with a complete measure between. Two parts can follow one
another only if they fill the measure that they share: the beats that one ends with and the other
begins with must be those of one cut. As all five cuts differ, there is one order that fills all
measures. Melodies are not judged.

*Next measure*, see `continuations`. The wrong options are the right measure moved by steps of the
key, so that rhythm, contour and register are alike. Only measures are asked for which one of these
rules decides:

- ``tie``: the voice is tied over the bar line, and a tie leads to the same pitch;
- ``repeat``: the last two measures, which differ, repeat two measures that are shown before, and
  the right measure is the one that followed these; the question says that the voice repeats itself;
- ``final``: the measure ends the piece, which the question says, with one note, the tonic of its
  major or minor key. The leading note is shown before. The wrong options are the second, fourth and
  seventh degree, which no tonic chord has.

From the wrong options nothing follows: the right measure is the highest, second, third or lowest of
four equally often. Pieces with several keys are left out.
"""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product
from random import Random
from typing import NamedTuple

from music_evals.datasets_builders.lilybench.rows import Continuation
from music_evals.datasets_builders.lilybench.strict.errors import alteration_in, signature_of
from music_evals.datasets_builders.lilybench.strict.survey import Usable
from music_evals.notation.lilypond.canonical import MeasureText, read_measures
from music_evals.notation.lilypond.syntax.languages import name_of, pitch_of

_SPAN = 9  # measures that are put in order
_FEWEST = 4  # measures ahead of the one that is asked for
_MOST = 8
# Of the four options in steps of the key; each is the right one's equally often.
_HEIGHTS = (0, 1, 3, 4)
_FINALS = ((1, 3, 6), (-1, 1, 3), (-4, -1, 1), (-6, -4, -1))
"""Steps of the key from the tonic to wrong last notes, which are on the second, fourth and seventh
degree.
"""
_KEY = re.compile(r"\\key (\S+) \\(\w+)")
_COMMANDS = re.compile(r'(?:\\clef "\w+" |\\key \S+ \\\w+ |\\time \S+ )*')
NOTE = re.compile(r"(?<![\\a-z])([a-g][a-z]*)([',]*)")
_TIE = re.compile(r"(?:^|\s)([a-g][a-z]*[',]*)\d+\.*~\n\1\d")
_ONE_NOTE = re.compile(r"(?:r\S+ )*([a-g][a-z]*)[',]*\d+\.*(?: [rs]\S+)*")
_LINE_END = re.compile(r" \|\s+")
# Kinds of words that a passage may be cut between.
_PLAIN = {"note", "rest", "clef", "key", "metre"}
Place = tuple[MeasureText, str]
"""A measure, and its text without a clef, key and metre ahead of its notes."""


class Question(NamedTuple):
    """What decides and is shown, the right option, the wrong ones, and the number of the
    measure.
    """

    kind: Continuation
    shown: str
    right: str
    wrong: Sequence[str]
    number: int


def orders(piece: Usable, draw: Random) -> Iterator[tuple[list[str], int]]:
    """Yield four passages in their order, and the number of the first measure, in an order that is
    drawn.
    """
    spans = []
    for run in runs(piece.score):
        measures = [measure for measure, _ in run]
        spans += [measures[start : start + _SPAN] for start in range(len(run) - _SPAN + 1)]
    draw.shuffle(spans)
    for span in spans:
        cuts = _cuts(span, draw)
        # A change of metre is written in the first voice of a staff alone.
        is_regular = len({measure.length for measure in span}) == 1
        if len(cuts) == len(span[::2]) and is_regular:
            texts = [piece.score[start:end].strip() for start, end in pairwise(cuts)]
            yield [_LINE_END.sub(" |\n", text) for text in texts], span[0].number


def _cuts(span: Sequence[MeasureText], draw: Random) -> list[int]:
    """Where every second measure is cut, each at another distance from the bar line; fewer if that
    cannot be.
    """
    cuts: dict[Fraction, int] = {}  # distance from the bar line → place in the text
    for measure in span[::2]:
        kinds = {word.kind for word in measure.words}
        choices = [word for word in measure.words if word.position and word.position not in cuts]
        if choices and kinds <= _PLAIN:
            word = draw.choice(choices)
            cuts[word.position] = word.match.start()
    return list(cuts.values())


def continuations(piece: Usable, draw: Random) -> Iterator[Question]:
    """Yield questions on the measure after four to eight others; the rules take turns in an order
    that is drawn.
    """
    keys = set(_KEY.findall(piece.score))
    if len(keys) != 1:
        return
    ((tonic, mode),) = keys
    places = [(run, index) for run in runs(piece.score) for index in range(_FEWEST, len(run))]
    draw.shuffle(places)
    kinds: list[Continuation] = ["tie", "repeat", "final"]
    draw.shuffle(kinds)
    for kind, (run, index) in product(kinds, places):
        texts = [text for _, text in run[max(0, index - _MOST) : index]]
        measure, right = run[index]
        if kind == "tie":
            decides = _TIE.search(f"{texts[-1]}\n{right}") is not None
        elif kind == "repeat":
            decides = _is_repeat(texts, right)
        else:
            is_last = measure.number == piece.structure.measures
            decides = is_last and _is_final(texts, right, tonic, mode)
        wrong = _moved(right, kind, tonic, mode, draw) if decides else []
        if wrong:
            yield Question(kind, " |\n".join([*texts, ""]).strip(), right, wrong, measure.number)


def runs(score: str) -> Iterator[list[Place]]:
    """Yield measures of one voice that follow one another, with a note each, up to a change of
    clef, key or metre.
    """
    run: list[Place] = []
    for measure in read_measures(score):
        written = score[measure.start : measure.end]
        text = _COMMANDS.sub("", written, count=1)
        if run and (measure.voice != run[-1][0].voice or text != written):
            yield run
            run = []
        if measure.number and NOTE.search(text) and not _KEY.search(text):
            run = [*run, (measure, text)]
        elif run:
            yield run
            run = []
    yield run


def _is_repeat(shown: Sequence[str], right: str) -> bool:
    pair = (*shown[-2:], right)
    triples = list(zip(shown, shown[1:], shown[2:], strict=False))
    following = {triple[2] for triple in triples if triple[:2] == pair[:2]}
    return following == {right} and len(set(pair)) == 3


def _is_final(shown: Sequence[str], right: str, tonic: str, mode: str) -> bool:
    last, pitch = _ONE_NOTE.fullmatch(right), pitch_of(tonic)
    if last is None or last[1] != tonic or pitch is None or mode not in ("major", "minor"):
        return False
    below = (pitch.step - 1) % 7
    leading = name_of(below, alteration_in(signature_of(pitch, mode), below) + (mode == "minor"))
    return leading in [name for name, _ in NOTE.findall(" ".join(shown))]


def _moved(right: str, kind: Continuation, tonic: str, mode: str, draw: Random) -> list[str]:
    """The wrong options; none if one takes a double sharp or flat."""
    own = draw.choice(_HEIGHTS)
    moves = [height - own for height in _HEIGHTS if height != own]
    if kind == "final":
        moves = [*draw.choice(_FINALS)]
    pitch = pitch_of(tonic)
    assert pitch is not None
    signature = signature_of(pitch, mode)

    try:
        wrong = [moved(right, steps, signature) for steps in moves]
    except ValueError:
        return []
    return [] if re.search("isis|eses", "".join(wrong)) else wrong


def moved(text: str, steps: int, signature: int, target: int | None = None) -> str:
    """Move notes by steps of a key; notes that are foreign to it remain so.

    Args:
        text: the notes.
        steps: steps of the staff, upwards.
        signature: the number of sharps of the key, negative for flats.
        target: that of the key in which the notes are then; the same key by default.

    Example:
        >>> moved("c'4 fis'8", 1, 0), moved("c'4 fis'8", 1, 0, target=2)
        ("d'4 gis'8", "d'4 gis'8")
    """
    new = signature if target is None else target

    def move(note: re.Match[str]) -> str:
        pitch = pitch_of(note[1])
        assert pitch is not None
        octaves, step = divmod(pitch.step + steps, 7)
        change = alteration_in(new, step) - alteration_in(signature, pitch.step)
        octaves += note[2].count("'") - note[2].count(",")
        return name_of(step, pitch.alteration + change) + ("'" * octaves or "," * -octaves)

    return NOTE.sub(move, text)
