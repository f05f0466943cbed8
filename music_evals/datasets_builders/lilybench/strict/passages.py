r"""Questions on measures of one voice that have one defensible answer, each by a rule that a program checks.

*Order*, see `orders`. A passage of nine measures is cut inside every second one, from the first to the last, each time
at another distance from the bar line. The four parts begin and end without a bar line, and each has two of them inside,
with a complete measure between. Two parts can follow one another only if they fill the measure that they share: the beats
that one ends with and the other begins with must be those of one cut. As all five cuts differ, there is one order that
fills all measures. Melodies are not judged.

*Next measure*, see `continuations`. The wrong options are the right measure moved by steps of the key, so that rhythm,
contour and register are alike. Only measures are asked for which one of these rules decides:

- ``tie``: the voice is tied over the bar line, and a tie leads to the same pitch;
- ``repeat``: the last two measures, which differ, repeat two measures that are shown before, and the right measure is
  the one that followed these; the question says that the voice repeats itself;
- ``final``: the measure ends the piece, which the question says, with one note, the tonic of a piece in one major or minor
  key. The leading note is shown before. The wrong options are the second, fourth and seventh degree, which no tonic chord
  has.

From the wrong options nothing follows: the right measure is the highest, second, third or lowest of four equally often.
"""

import random
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final, NamedTuple

from music_evals.datasets_builders.lilybench.rows import Continuation
from music_evals.datasets_builders.lilybench.strict.errors import Signatures, alteration_in, names_in, signature_of
from music_evals.datasets_builders.lilybench.strict.survey import Usable
from music_evals.notation.lilypond.canonical import MeasureText, Word, read_measures
from music_evals.notation.lilypond.syntax.languages import NoteName, name_of, pitch_of

_SPAN: Final = 9  # measures that are put in order
_SHOWN: Final = range(4, 9)  # measures ahead of the one that is asked for
_HEIGHTS: Final = (0, 1, 3, 4)  # of the four options in steps of the key; each is the right one's equally often
_FINALS: Final = ((1, 3, 6), (-1, 1, 3), (-4, -1, 1), (-6, -4, -1))
"""Steps of the key from the tonic to wrong last notes, which are on the second, fourth and seventh degree."""
_COMMANDS: Final = ("key", "clef", "metre")
_LINE_END: Final = re.compile(r" \|\s+")


class _Shown(NamedTuple):
    """A measure as it is shown: without a clef, key and metre ahead of its notes."""

    measure: MeasureText
    words: tuple[Word, ...]
    text: str
    is_last: bool  # of its voice

    @property
    def start(self) -> int:
        return self.words[0].match.start()


class Question(NamedTuple):
    """What is shown, the right option, the wrong ones, and the number of the first measure or the one asked for."""

    kind: Continuation
    shown: str
    right: str
    wrong: Sequence[str]
    number: int


def orders(piece: Usable, draw: random.Random) -> Iterator[tuple[list[str], int]]:
    """Yield four passages in their order, and the number of the first measure, in an order that is drawn."""
    spans = [run[start : start + _SPAN] for run in _runs(piece) for start in range(len(run) - _SPAN + 1)]
    draw.shuffle(spans)
    for span in spans:
        places: dict[Fraction, int] = {}  # distance from the bar line → place in the text
        for shown in span[::2]:
            choices = [word for word in _cuts(shown) if word.position not in places]
            if choices:
                word = draw.choice(choices)
                places[word.position] = word.match.start()
        # A change of metre is written in the first voice of a staff alone.
        if len(places) == len(span[::2]) and len({shown.measure.length for shown in span}) == 1:
            texts = (piece.score[start:end].strip() for start, end in pairwise(places.values()))
            yield [_LINE_END.sub(" |\n", text) for text in texts], span[0].measure.number


def continuations(piece: Usable, draw: random.Random) -> Iterator[Question]:
    """Yield questions on the measure after four to eight others; the rules take turns in an order that is drawn."""
    signatures = Signatures(read_measures(piece.score))
    places = [(run, index) for run in _runs(piece) for index in range(_SHOWN[0], len(run))]
    draw.shuffle(places)
    rules = {"tie": _is_tied, "repeat": _is_repeat, "final": _is_final}
    kinds: list[Continuation] = ["tie", "repeat", "final"]
    draw.shuffle(kinds)
    for kind in kinds:
        for run, index in places:
            shown, right = run[max(0, index - _SHOWN[-1]) : index], run[index]
            if rules[kind](piece, shown, right):
                signature = signatures.at(right.measure, right.words[0])
                own = draw.choice(_HEIGHTS)
                moves = [height - own for height in _HEIGHTS if height != own]
                if kind == "final":
                    moves = [*draw.choice(_FINALS)]
                wrong = [_moved(piece.score, right, steps, signature) for steps in moves]
                texts = " |\n".join(measure.text for measure in shown)
                if all(wrong):
                    yield Question(kind, f"{texts} |", right.text, wrong, right.measure.number)


def _runs(piece: Usable) -> Iterator[list[_Shown]]:
    """Measures of one voice that follow one another, with a note each, and without a change of clef, key or metre."""
    run: list[_Shown] = []
    for measure, following in pairwise([*read_measures(piece.score), None]):
        assert measure is not None
        is_last = following is None or following.voice != measure.voice
        changes = [number for number, word in enumerate(measure.words) if word.kind in _COMMANDS]
        words = measure.words[len(changes) :]
        is_shown = measure.number > 0 and any(word.kind == "note" for word in words)
        is_plain = all(word.kind not in (*_COMMANDS, "unknown") for word in words)
        if run and (changes or not is_shown or not is_plain):
            yield run
            run = []
        if is_shown and is_plain:
            text = piece.score[words[0].match.start() : measure.end]
            run = [*run, _Shown(measure, words, text, is_last)]
        if is_last:
            yield run
            run = []


def _cuts(shown: _Shown) -> list[Word]:
    """The words inside a measure that a passage may begin with; none if it has tuplets or grace notes."""
    if any(word.kind not in ("note", "rest") for word in shown.words):
        return []
    return [word for word in shown.words if word.position]


# --- rules ---


def _is_tied(_: Usable, shown: Sequence[_Shown], right: _Shown) -> bool:
    before, after = shown[-1].words[-1], right.words[0]
    is_single = before.kind == after.kind == "note" and before.match["name"] and after.match["name"]
    return bool(is_single and before.match["tie"] and _pitch(before) == _pitch(after))


def _is_repeat(_: Usable, shown: Sequence[_Shown], right: _Shown) -> bool:
    texts = [measure.text for measure in shown]
    pair = texts[-2:]
    following = {texts[place + 2] for place in range(len(texts) - 3) if texts[place : place + 2] == pair}
    return following == {right.text} and len({*pair, right.text}) == 3


def _is_final(piece: Usable, shown: Sequence[_Shown], right: _Shown) -> bool:
    keys = {(key.step, key.alteration, key.mode) for key in piece.structure.keys}
    notes = [word for word in right.words if word.kind == "note"]
    if not right.is_last or len(keys) != 1 or len(notes) != 1 or notes[0].match["name"] is None:
        return False
    ((step, alteration, mode),) = keys
    if mode not in ("major", "minor") or pitch_of(notes[0].match["name"]) != (step, alteration):
        return False
    sharps = signature_of(NoteName(step, alteration), mode)
    below = (step - 1) % 7
    leading = name_of(below, alteration_in(sharps, below) + (mode == "minor"))
    return any(leading in names_in(word) for measure in shown for word in measure.words if word.kind == "note")


def _pitch(word: Word) -> str:
    return f"{word.match['name']}{word.match['octave']}"


# --- wrong options ---


def _moved(score: str, shown: _Shown, steps: int, signature: int) -> str:
    """A measure moved by steps of the key; empty if that takes a double sharp or flat."""
    text = score[: shown.measure.end]
    for word in reversed(shown.words):
        if word.kind in ("note", "grace"):
            start = word.match.start("chord" if word.match["chord"] else "name")
            end = word.match.end("chord" if word.match["chord"] else "octave")
            names = [_moved_name(name, steps, signature) for name in text[start:end].split()]
            if not all(names):
                return ""
            text = f"{text[:start]}{' '.join(names)}{text[end:]}"
    return text[shown.start :]


def _moved_name(name: str, steps: int, signature: int) -> str:
    pitch = pitch_of(name.rstrip("',"))
    assert pitch is not None
    octave, step = divmod(pitch.step + steps, 7)
    change = alteration_in(signature, step) - alteration_in(signature, pitch.step)
    if abs(pitch.alteration + change) > 1:
        return ""
    octave += name.count("'") - name.count(",")
    marks = "'" * octave if octave > 0 else "," * -octave
    return name_of(step, pitch.alteration + change) + marks
