"""Questions on traditional tunes that come with music21: which of four continuations belongs to an
opening?

One continuation is the tune's own. Three are from the same place of other tunes with the same
metre, unit note length, kind of rhythm and key signature; each is the right answer to another
question. All are four full measures of ABC, spelled in the same way. No continuation repeats a
measure of the opening.

The tunes are read from three folders of music21's corpus on the user's machine: ``ryansMammoth``
(*Ryan's Mammoth Collection*, Boston 1883), ``airdsAirs`` (James Aird's *Selection*, Glasgow 1778 to
1801; encoded by Jack Campin) and ``oneills1850`` (*O'Neill's Music of Ireland*, Chicago 1903). The
prints are out of copyright. The encodings state no licence; music21's note (``corpus/license.txt``)
says that its corpus is distributed "with the permission of the encoders" and may carry restrictions
on commercial use. ``essenFolksong`` is left out: its note calls the legal status unclear and the
permission non-commercial.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import islice, product
from typing import NamedTuple
from zlib import crc32

from music21 import corpus

from music_evals.datasets_builders.questions.audit import refuse_guessable
from music_evals.datasets_builders.questions.question_rows import (
    LANGUAGES,
    Language,
    Question,
    placed,
)
from music_evals.datasets_builders.questions.theory.form import in_turn
from music_evals.notation.abc.tunes import (
    Event,
    Key,
    Measure,
    Tune,
    parse_key,
    parse_meter,
    parse_unit,
    read_measure,
    spell,
    split_measures,
    split_tunes,
    total_duration,
)
from music_evals.notation.grouping import group_by

COLLECTIONS = {
    "airdsAirs": "aird",
    "oneills1850": "oneill",
    "ryansMammoth": "ryan",
}
"""Folder of music21's corpus → its name in the names of questions."""

OPENINGS = (4, 6, 8)  # full measures of an opening, after any pickup
CONTINUATION = 4  # full measures of a continuation
_LEAD_INS: Mapping[Language, str] = {
    "zh": "下面是一首曲调的开头（ABC 记谱法）。四个选项中，哪一个是它原本的后续？",
    "en": (
        "This is the opening of a tune in ABC notation. Which of the four continuations belongs "
        "to it?"
    ),
}
# Two tunes with a larger share of equal eighths, relative to their tonics, count as versions of one
# tune. Unrelated tunes in one metre and key have about a fifth.
_VERSION_SHARE = 0.45
_DOTTED_SHARE = 0.15  # dotted notes: more in strathspeys and hornpipes, fewer in reels and polkas
_SMALLEST_POOL = 12  # smaller pools are not used

Events = tuple[Event, ...]
# Metre, unit, is dotted, length of the opening, sharps.
_Pool = tuple[tuple[int, int], Fraction, bool, int, int]


@dataclass(frozen=True, eq=False)
class _Source:
    """The beginning of a tune, up to its first irregular measure."""

    name: str
    titles: frozenset[str]
    meter: tuple[int, int]
    unit: Fraction
    key: Key
    pickup: str
    measures: tuple[str, ...]
    events: tuple[Events, ...]  # by measure
    is_dotted: bool

    @cached_property
    def contour(self) -> list[list[int | None]]:
        """By measure: pitch classes above the tonic that sound at the eighths, None for a rest."""
        contours: list[list[int | None]] = [[] for _ in self.events]
        for contour, events in zip(contours, self.events, strict=True):
            end = Fraction(0)
            for event in events:
                end += event.duration
                while len(contour) < 8 * end:
                    contour.append(
                        (event.pitches[0] - self.key.tonic) % 12 if event.pitches else None
                    )
        return contours

    def abc(self, measures: int | None = None) -> str:
        """The pickup, if any, and the first measures, by default all, with a header."""
        header = f"X:1\nM:{self.meter[0]}/{self.meter[1]}\nL:{self.unit}\nK:{self.key.name}\n"
        return header + _lay_out(
            [measure for measure in (self.pickup, *self.measures[:measures]) if measure]
        )


class _Cut(NamedTuple):
    """A tune and the length of its opening."""

    source: _Source
    length: int

    @property
    def name(self) -> str:
        return f"continuation-{self.source.name}-{self.length}"

    @property
    def opening(self) -> tuple[str, ...]:
        return self.source.measures[: self.length]

    @property
    def continuation(self) -> tuple[str, ...]:
        return self.source.measures[self.length : self.length + CONTINUATION]

    @property
    def hides_continuation(self) -> bool:
        """Whether neither repeated measures nor a tie give the continuation away."""
        if len(self.continuation) < CONTINUATION:
            return False
        if not set(self.continuation).isdisjoint(self.opening):
            return False
        return not (self.opening[-1].endswith("-") or self.continuation[-1].endswith("-"))

    @property
    def prompt(self) -> str:
        """The opening with a header and the pickup, if any."""
        return self.source.abc(self.length)

    @property
    def pool(self) -> _Pool:
        """The properties that the options of a question share."""
        source = self.source
        return source.meter, source.unit, source.is_dotted, self.length, source.key.sharps


def compose_continuations(count: int, seed: int) -> list[Question]:
    """Ask which of four continuations belongs to the opening of a tune; all openings differ.

    Every tune is used once before any tune is cut at another place. There are 4,819 questions on
    2,795 tunes of music21 10.5.1.

    Args:
        count: number of questions; a larger number begins with the questions of a smaller one.
        seed: decides the tunes, their cuts and the distractors.

    Raises:
        ValueError: there are not so many questions; the message has their number.

    Source: ZIQI-Eval (arXiv 2406.15885), music generation; the wording and the choice of
    distractors are our own.
    """
    if count < 0:
        raise ValueError(f"count is {count}; accepted are 0 or more questions")
    questions = list(islice(_questions(_cuts(), seed), count))
    if len(questions) < count:
        raise ValueError(
            f"count is {count}; the tunes yield {len(questions)} questions with seed {seed}"
        )
    return questions


def training_continuations(
    seed: int, accepts: Callable[[str], bool], titles: Iterable[str]
) -> Iterator[Question]:
    """Yield questions on the tunes whose ABC is accepted; the wrong options are of such tunes too.

    A tune that shares a title with one that is not accepted, or that has one of `titles`, is left
    out.
    """
    tunes = {cut.source.name: cut.source for cut in _cuts()}
    refused = {name for name, tune in tunes.items() if not accepts(tune.abc())}
    refused_titles = {*map(_plain_title, titles)}.union(*(tunes[name].titles for name in refused))
    refused |= {name for name, tune in tunes.items() if tune.titles & refused_titles}
    return _questions([cut for cut in _cuts() if cut.source.name not in refused], seed)


@cache
def refuse_guessable_continuations() -> None:
    """Raise DatasetError if the right continuation can be guessed from the options; checked once
    per process.

    Guessers learn from the questions on a third of the tunes and are tested on the other questions.
    The seed is fixed: only this code and music21 decide the questions.
    """
    items = []
    for is_learned in (True, False):
        cuts = [cut for cut in _cuts() if (crc32(cut.source.name.encode()) % 3 == 0) is is_learned]
        drawn = placed(list(_questions(cuts, 1_803)), "continuation")
        items.append([question.blind_item("en", place) for question, place in drawn])
    refuse_guessable("continuations", *items)


def _questions(cuts: Sequence[_Cut], seed: int) -> Iterator[Question]:
    """Ask about cuts; the wrong options come from the same cuts."""
    pools = group_by(cuts, lambda cut: cut.pool)
    rng = random.Random(f"{seed}/continuation")
    tunes = list(group_by(cuts, lambda cut: cut.source.name).values())
    for tune in tunes:
        rng.shuffle(tune)
    rng.shuffle(tunes)
    # A cut of every tune, then a second cut of every tune that has one, and so on.
    for cut in in_turn(tunes):
        wrong = _distractors(cut, pools[cut.pool], random.Random(f"{seed}/{cut.name}"))
        if wrong is not None:
            text = {language: f"{lead}\n\n{cut.prompt}" for language, lead in _LEAD_INS.items()}
            options = [_lay_out(option.continuation) for option in (cut, *wrong)]
            right = dict.fromkeys(LANGUAGES, options[0])
            wrong_texts = dict.fromkeys(LANGUAGES, tuple(options[1:]))
            yield Question(cut.name, "continuation", text, right, wrong_texts)


def _distractors(cut: _Cut, pool: Sequence[_Cut], rng: random.Random) -> list[_Cut] | None:
    """Three cuts of other tunes in a pool; None if there are no three."""
    chosen: list[_Cut] = []
    for candidate in rng.sample(pool, len(pool)):
        if set(candidate.continuation) & set(cut.opening):
            continue
        if not any(_are_versions(candidate, other) for other in (cut, *chosen)):
            chosen.append(candidate)
            if len(chosen) == 3:
                return chosen
    return None


def _are_versions(first: _Cut, second: _Cut) -> bool:
    """Whether two cuts are of one tune, or of tunes that are too similar."""
    tune, other = first.source, second.source
    if (
        tune.name == other.name
        or tune.titles & other.titles
        or first.continuation == second.continuation
    ):
        return True
    for section in (slice(first.length), slice(first.length, first.length + CONTINUATION)):
        measures = zip(tune.contour[section], other.contour[section], strict=True)
        eighths = [x == y for a, b in measures for x, y in zip(a, b, strict=True)]
        if sum(eighths) / len(eighths) > _VERSION_SHARE:
            return True
    return False


def _lay_out(measures: Sequence[str]) -> str:
    return " | ".join(measures) + " |"


@cache
def _cuts() -> tuple[_Cut, ...]:
    """All cuts that questions use."""
    candidates = (_Cut(*pair) for pair in product(_sources(), OPENINGS))
    cuts = [cut for cut in candidates if cut.hides_continuation]
    # Versions of one tune can have the same opening: it is used once.
    by_opening = {cut.prompt: cut for cut in reversed(cuts)}
    sizes = Counter(cut.pool for cut in by_opening.values())
    return tuple(
        cut for cut in cuts if by_opening[cut.prompt] is cut and sizes[cut.pool] >= _SMALLEST_POOL
    )


def _sources() -> list[_Source]:
    """The regular tunes of the collections, without duplicates, sorted by name."""
    paths = sorted(
        (path.parent.name, path.stem, path)
        for path in corpus.getCorePaths(fileExtensions=("abc",))
        if path.parent.name in COLLECTIONS
    )
    if {folder for folder, _, _ in paths} != set(COLLECTIONS):
        raise FileNotFoundError(
            f"music21 is installed without its corpus; needed are {', '.join(COLLECTIONS)} of it"
        )
    sources: list[_Source] = []
    seen = set()
    for folder, stem, path in paths:
        slug = re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")
        # Only titles and remarks have letters beyond ASCII, and every byte is a letter in Latin-1.
        tunes = split_tunes(path.read_text(encoding="latin-1"))
        for number, tune in enumerate(tunes, start=1):
            place = f"-{number:03}" if len(tunes) > 1 else ""
            try:
                source = _read(f"{COLLECTIONS[folder]}-{slug}{place}", tune)
            except ValueError:
                continue  # a typing error, or more than a single voice in one key
            # Some tunes were encoded twice, or printed with two titles.
            notes = (source.meter, source.unit, source.key.sharps, source.measures)
            if len(source.measures) >= OPENINGS[0] + CONTINUATION and notes not in seen:
                seen.add(notes)
                sources.append(source)
    return sources


def _read(name: str, tune: Tune) -> _Source:
    """Read a tune up to its first irregular measure, at most as far as questions need."""
    units = tune.values("L")
    meter = parse_meter("".join(tune.values("M")[-1:]))
    unit = parse_unit(units[-1] if units else None, meter)
    key = parse_key("".join(tune.values("K")[-1:]))
    if tune.values("V"):
        raise ValueError(f"{name} has several voices")
    full = Fraction(*meter)
    pickup, measures = _regular_measures(_measures_of_one_voice(tune, meter, unit, key), full)
    events = [event for measure in measures for event in measure]
    dotted = sum(event.duration.numerator == 3 for event in events)
    return _Source(
        name=name,
        titles=frozenset(map(_plain_title, tune.values("T"))) - {""},
        meter=meter,
        unit=unit,
        key=key,
        pickup=spell(pickup, meter, full - total_duration(pickup)),
        measures=tuple(spell(measure, meter) for measure in measures),
        events=tuple(measures),
        is_dotted=meter[0] % 3 != 0 and dotted > _DOTTED_SHARE * len(events),
    )


def _regular_measures(
    measures: Iterable[tuple[Measure, Events]], full: Fraction
) -> tuple[Events, list[Events]]:
    """The pickup, and the full measures after it."""
    pickup: Events = ()
    regular: list[Events] = []
    first_half: Events = ()  # of a measure that a double bar line divides
    for number, (measure, events) in enumerate(measures):
        duration = total_duration(first_half) + total_duration(events)
        if duration == full:
            regular.append((*first_half, *events))
            first_half = ()
        elif number == 0 and duration < full:
            pickup = events
        elif not first_half and duration < full and _may_be_divided(measure):
            first_half = events
        else:
            break
        if len(regular) == OPENINGS[-1] + CONTINUATION:
            break
    return pickup, regular


def _measures_of_one_voice(
    tune: Tune, meter: tuple[int, int], unit: Fraction, key: Key
) -> Iterator[tuple[Measure, Events]]:
    """Measures with their events, in the metre and key of the tune, up to a chord."""
    header = dict(tune.fields)
    for measure in _as_played(split_measures(tune.body)):
        if any(field in "KLMV" and header.get(field) != value for field, value in measure.fields):
            return
        events = read_measure(measure.text, unit, meter, key.sharps)
        if any(len(event.pitches) > 1 for event in events):
            return
        yield measure, events


def _may_be_divided(measure: Measure) -> bool:
    """Whether the bar line after a measure may divide it."""
    # In print, an accidental does not reach over the bar line.
    return measure.bar != "|" and not re.search(r"[\^_=]", measure.text)


def _as_played(measures: Iterable[Measure]) -> Iterator[Measure]:
    """Leave out endings that lead to a repeat: the rest is the tune played once, without
    repeats.
    """
    is_skipped = False
    for measure in measures:
        if measure.ending:
            is_skipped = measure.ending.startswith("1")
        if not is_skipped:
            yield measure
        if measure.bar.startswith((":", "||", "|]")):
            is_skipped = False


def _plain_title(title: str) -> str:
    """A title without article, dance and punctuation, to recognise the tune in another
    collection.
    """
    words = re.findall(r"[a-z]+", re.split(r"--|[(\[]", title.lower().replace("'", ""))[0])
    return "".join(word for word in words if word not in ("a", "the"))
