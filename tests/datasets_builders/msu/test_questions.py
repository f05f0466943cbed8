"""The questions on scores: right by what is known of the works and by the text of their MusicXML, and evenly spread."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from random import Random
from xml.etree import ElementTree

import pytest
from music21 import chord, clef, converter, key, note, pitch, roman, stream
from music21.musicxml.m21ToXml import GeneralObjectExporter

from music_evals.datasets_builders.msu.questions import compose
from music_evals.datasets_builders.msu.questions.answerability import contains
from music_evals.datasets_builders.msu.questions.compose import KINDS, Composer, UnsuitableScoreError, candidates
from music_evals.datasets_builders.msu.questions.kind import ScoreQuestion
from music_evals.datasets_builders.msu.questions.reading import Reading, read
from music_evals.datasets_builders.msu.questions.tonality import certain_key, numeral, plain_chord
from music_evals.datasets_builders.msu.works import default_works

EVERY = {work.name: work for work in default_works()}
KIND = {kind.name: kind for kind in KINDS}
LISTING = {kind.name for kind in KINDS if kind.lists_answers}


@pytest.fixture(scope="module")
def scores() -> dict[str, stream.Score]:
    return {name: work.load() for name, work in WORKS.items()}


@pytest.fixture(scope="module")
def readings(scores: dict[str, stream.Score]) -> dict[str, Reading]:
    return {name: read(score) for name, score in scores.items()}


@pytest.fixture(scope="module")
def questions(scores: dict[str, stream.Score], readings: dict[str, Reading]) -> dict[str, list[ScoreQuestion]]:
    by_score = {id(scores[name]): reading for name, reading in readings.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compose, "read", lambda score: by_score[id(score)])  # each is read once
        found = {name: candidates(score, seed=0, name=name) for name, score in scores.items()}
    composer = Composer(found.values(), 0)
    return {name: composer.compose(name, some) for name, some in found.items()}


def compose_score_questions(score: object, *, seed: int, name: str) -> list[ScoreQuestion]:
    pool = candidates(score, seed=seed, name=name)
    return Composer([pool], seed).compose(name, pool)


def asked(reading: Reading, kind: str, tries: int = 30) -> Iterator[ScoreQuestion]:
    for seed in range(tries):
        question = next(KIND[kind].questions(reading, Random(seed)), None)
        if question:
            yield question


# What is known of the works, or stands in their files' text.
KNOWN = """
bach-66-6: initial key = F♯ minor; time signature = 4/4; anacrusis = Yes; key signature = 3
bach-66-6: instruments = Soprano, Alto, Tenor, Bass; composer = Johann Sebastian Bach; last measure = 9
bach-277: key signature = 0
bach-101-7: initial key = D minor; cadence = Authentic cadence
bach-28-6: cadence = Authentic cadence
robert-schumann-48-2: initial key = A major; tempo words = Nicht schnell; time signature = 2/4; anacrusis = Yes
clara-schumann-1-4: metronome mark = 92; time signature = 3/4
verdi-donna: time signature = 3/8; initial key = B♭ major
haydn-1-1-1: time signature = 6/8; initial key = B♭ major; tempo words = Presto
mozart-545-1: time signature = 4/4; key signature = 0
corelli-3-1: initial key = F major
chopin-6-2: time signature = 3/4; key signature = 4
"""
MODAL = ("bach-248-5", "bach-64-2", "bach-145-5", "bach-33-6")  # modal, or with misleading keys
# Works with known facts, and other short ones.
WORKS = {
    name: work
    for place, (name, work) in enumerate(EVERY.items())
    if f"{name}: " in KNOWN or name in MODAL or name == "mozart-80-3" or (name.startswith("bach-") and place % 4 == 0)
}
CHORALES = [name for name in WORKS if name.startswith("bach-")]
# Every part is one staff.
CHECKED = [*CHORALES[:5], "mozart-80-3", "corelli-3-1"]


def test_known_facts(readings: dict[str, Reading]) -> None:
    for line in KNOWN.strip().splitlines():
        name, _, facts = line.partition(": ")
        for fact in facts.split("; "):
            kind, _, answer = fact.partition(" = ")
            assert {question.answer for question in asked(readings[name], kind)} == {answer}, line
    # Modal keys and misleading ones are left out.
    assert [certain_key(readings[name]) for name in MODAL] == [None] * len(MODAL)


# The first two measures of the soprano of BWV 66.6 are c♯″ b′ | a′ b′ c♯″ e″ | c♯″, as any hymnal of Bach's shows.
@pytest.mark.parametrize(
    ("kind", "place", "answer"),
    [
        ("highest pitch", "measure 0 of the part “Soprano”", "C♯5"),
        ("lowest pitch", "measure 0 of the part “Soprano”", "B4"),
        ("highest pitch", "measure 1 of the part “Soprano”", "E5"),
        ("lowest pitch", "measure 1 of the part “Soprano”", "A4"),
        ("last pitch", "measure 1 of the part “Soprano”", "E5"),
        ("number of notes", "measure 1 of the part “Soprano”", "4"),
        ("chord name", "measure 2 ", "A major triad"),
    ],
)
def test_known_measures(readings: dict[str, Reading], kind: str, place: str, answer: str) -> None:
    found = {each.answer for each in asked(readings["bach-66-6"], kind, 1500) if place in each.text}
    assert found == {answer}


class Xml:
    """MusicXML text, read without music21."""

    def __init__(self, text: bytes) -> None:
        root = ElementTree.fromstring(text)
        self.names = [(each.findtext("part-name") or "").strip() for each in root.iter("score-part")]
        self.parts = [list(part.iter("measure")) for part in root.findall("part")]

    def measure(self, place: str) -> ElementTree.Element:
        """The measure that a question names."""
        part = self.part(place)
        number = re.search(r"measure (\d+)", place)
        assert number
        return next(each for each in part if each.get("number") == number[1])

    def part(self, place: str) -> list[ElementTree.Element]:
        named, counted = re.search("part “(.*?)”", place), re.search(r"staff (\d+) from the top", place)
        if named:
            return self.parts[self.names.index(named[1])]
        return self.parts[int(counted[1]) - 1] if counted else self.parts[0]

    def fifths(self, place: str) -> int:
        """The key signature in force at the beginning of the measure that a question names."""
        found = 0
        for each in self.part(place):
            found = int(each.findtext("attributes/key/fifths") or found)
            if each is self.measure(place):
                break
        return found


ALTERS = {-2: "𝄫", -1: "♭", 0: "", 1: "♯", 2: "𝄪"}
LENGTHS = (8, 4, 2, 1, 0.5, 0.25, 0.125, 0.0625)
NAMES = dict(zip(("breve", "whole", "half", "quarter", "eighth", "16th", "32nd", "64th"), LENGTHS, strict=True))
WORDS = ["double whole", "whole", "half", "quarter", "eighth", "sixteenth", "thirty-second", "sixty-fourth"]
DOTS = {0: Fraction(1), 1: Fraction(3, 2), 2: Fraction(7, 4)}


def sounding(measure: ElementTree.Element, *, grace: bool = False) -> list[ElementTree.Element]:
    return [each for each in measure.findall("note[pitch]") if grace or each.find("grace") is None]


def height(each: ElementTree.Element) -> tuple[int, str]:
    step, octave = each.findtext("pitch/step") or "", int(each.findtext("pitch/octave") or 0)
    alter = int(float(each.findtext("pitch/alter") or 0))
    semitones = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}[step] + alter + 12 * octave
    return semitones, f"{step}{ALTERS[alter]}{octave}"


def value(each: ElementTree.Element) -> Fraction:
    return Fraction(NAMES[each.findtext("type") or ""]) * DOTS[len(each.findall("dot"))]


def spelled_value(answer: str) -> Fraction:
    words = answer.lower().removesuffix(" note").removesuffix(" rest")
    dots = 2 if words.startswith("double-dotted ") else 1 if words.startswith("dotted ") else 0
    return Fraction(LENGTHS[WORDS.index(words.removeprefix("double-dotted ").removeprefix("dotted "))]) * DOTS[dots]


def accidentals(xml: Xml, text: str) -> set[tuple[int, str]]:
    fifths = xml.fifths(text)
    signed = "FCGDAEB"[:fifths] if fifths >= 0 else "BEADGCF"[:-fifths]
    normal = dict.fromkeys(signed, 1 if fifths > 0 else -1)
    return {
        height(each)
        for each in sounding(xml.measure(text), grace=True)
        if int(float(each.findtext("pitch/alter") or 0)) != normal.get(each.findtext("pitch/step") or "", 0)
    }


def rests(measure: ElementTree.Element) -> list[ElementTree.Element]:
    return [each for each in measure.findall("note[rest]") if each.get("print-object") != "no"]


def yes(found: object) -> str:
    return "Yes" if found else "No"


def clef_name(xml: Xml, text: str) -> str:
    sign = xml.part(text)[0].find("attributes/clef")
    assert sign is not None
    shape = (sign.findtext("sign"), sign.findtext("line"))
    return {("G", "2"): "Treble clef", ("F", "4"): "Bass clef", ("C", "3"): "Alto clef", ("C", "4"): "Tenor clef"}[
        shape
    ]


CHECKS: dict[str, Callable[[Xml, str], object]] = {
    "highest pitch": lambda xml, text: max(map(height, sounding(xml.measure(text))))[1],
    "lowest pitch": lambda xml, text: min(map(height, sounding(xml.measure(text))))[1],
    "last pitch": lambda xml, text: height(sounding(xml.measure(text))[-1])[1],
    "number of notes": lambda xml, text: str(len(sounding(xml.measure(text)))),
    "shortest note": lambda xml, text: min(map(value, sounding(xml.measure(text)))),
    "longest note": lambda xml, text: max(map(value, sounding(xml.measure(text)))),
    "shortest rest": lambda xml, text: min(map(value, rests(xml.measure(text)))),
    "longest rest": lambda xml, text: max(map(value, rests(xml.measure(text)))),
    "rest": lambda xml, text: yes(rests(xml.measure(text))),
    "accidental": lambda xml, text: yes(accidentals(xml, text)),
    "accidentals": lambda xml, text: ", ".join(name for _, name in sorted(accidentals(xml, text))),
    "fermata": lambda xml, text: yes(list(xml.measure(text).iter("fermata"))),
    "grace note": lambda xml, text: yes(list(xml.measure(text).iter("grace"))),
    "staccato": lambda xml, text: yes(list(xml.measure(text).iter("staccato"))),
    "tie": lambda xml, text: yes(
        any(each.get("type") == "start" for each in sounding(xml.measure(text))[-1].findall("tie"))
    ),
    "time signature": lambda xml, text: "/".join(
        xml.parts[0][0].findtext(f"attributes/time/{each}") or "" for each in ("beats", "beat-type")
    ),
    "key signature": lambda xml, text: str(abs(int(xml.parts[0][0].findtext("attributes/key/fifths") or 0))),
    "clef": clef_name,
    "last measure": lambda xml, text: xml.parts[0][-1].get("number"),
    "opening dynamic": lambda xml, text: next(each[0].tag for part in xml.parts for each in part[0].iter("dynamics")),
}


def test_levels_1_and_2_agree_with_the_musicxml_text(
    scores: dict[str, stream.Score], readings: dict[str, Reading]
) -> None:
    counts: Counter[str] = Counter()
    for name in CHECKED:
        xml = Xml(GeneralObjectExporter(scores[name]).parse())
        assert len(xml.parts) == len(readings[name].voices), name
        for kind, check in CHECKS.items():
            for question in asked(readings[name], kind, 2):
                expected = check(xml, question.text)
                answer = spelled_value(question.answer) if question.answer_type == "duration" else question.answer
                assert answer == expected, (name, question)
                counts[kind] += 1
    assert min(counts[kind] for kind in CHECKS) >= 2, counts


def test_chords_and_numerals_agree_with_music21(readings: dict[str, Reading]) -> None:
    """Chord names are worked out here by interval; music21 has names of its own for the same sets."""
    qualities = {
        "major triad": "isMajorTriad",
        "minor triad": "isMinorTriad",
        "diminished triad": "isDiminishedTriad",
        "augmented triad": "isAugmentedTriad",
        "dominant seventh chord": "isDominantSeventh",
        "diminished seventh chord": "isDiminishedSeventh",
        "half-diminished seventh chord": "isHalfDiminishedSeventh",
    }
    seen = 0
    for name in CHORALES:
        tonality = certain_key(readings[name])
        for index in range(len(readings[name].measures)):
            pitches = readings[name].sounding(index, Fraction(0))
            found = plain_chord(pitches)
            theirs = chord.Chord(pitches) if pitches else None
            for quality, method in qualities.items():
                assert (found is not None and found.quality == quality) == bool(theirs and getattr(theirs, method)())
            if found is None or theirs is None:
                continue
            assert theirs.root().name == found.root_pitch.name
            assert theirs.inversion() == found.inversion
            figure = tonality and numeral(found, tonality)
            if figure:
                roman_ = roman.romanNumeralFromChord(theirs, tonality)
                assert roman_.romanNumeralAlone == figure.rstrip("°ø7"), (name, index)
                seen += 1
    assert seen > 80


def test_chords_outside_the_key_have_no_numeral() -> None:
    major = plain_chord([pitch.Pitch(name) for name in ("D3", "F#3", "A3")])
    assert major is not None
    assert (numeral(major, key.Key("C")), numeral(major, key.Key("g"))) == (None, "V")


def test_twelve_questions_three_a_level_of_different_kinds(questions: dict[str, list[ScoreQuestion]]) -> None:
    for name, found in questions.items():
        assert [question.level for question in found] == [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4], name
        assert len({question.kind for question in found}) == 12, name
        assert all(question.answer and question.answer == question.answer.strip() for question in found)
        # None gives its answer away, or the key, which others ask for.
        keys = [question.answer for question in found if question.answer_type == "key"]
        for question in found:
            if question.answer_type != "yes_no" and question.kind not in LISTING:
                assert not any(contains(question.text, each) for each in (question.answer, *keys)), question


def test_kinds_and_answers_are_balanced(questions: dict[str, list[ScoreQuestion]]) -> None:
    found = [question for row in questions.values() for question in row]
    for level in (1, 2, 3, 4):
        kinds = Counter(question.kind for question in found if question.level == level)
        assert len(kinds) >= 11, kinds
        assert max(kinds.values()) <= 0.27 * kinds.total(), kinds
    answers = Counter(question.answer for question in found if question.answer_type == "yes_no")
    assert set(answers) == {"Yes", "No"}
    assert 0.4 < answers["Yes"] / answers.total() < 0.6, answers
    assert answers.total() < 0.33 * len(found)


def test_answers_of_a_kind_come_about_equally_often() -> None:
    def found(answers: dict[str, str]) -> dict[str, list[ScoreQuestion]]:
        rows: dict[str, list[ScoreQuestion]] = {kind.name: [] for kind in KINDS}
        for kind in KINDS:
            for answer in answers.get(kind.name, "").split():
                rows[kind.name].append(ScoreQuestion(kind.level, kind.name, "?", answer, kind.answer_type))
        return rows

    # Nine scores of ten have these; the answers to other kinds are all different.
    common = {
        "clef": "treble",
        "cadence": "authentic",
        "rest": "No Yes",
        "stepwise motion": "No Yes",
        "texture": "homophonic",
    }
    scores = []
    for number in range(200):
        one = {kind.name: str(number) for kind in KINDS if kind.answer_type != "yes_no"} | common
        scores.append(found(one if number % 10 else one | {"clef": "bass", "cadence": "plagal"}))
    composer = Composer(scores, 1)
    asked = [each for number, one in enumerate(scores) for each in composer.compose(str(number), one)]
    counts = {kind.name: Counter(each.answer for each in asked if each.kind == kind.name) for kind in KINDS}
    for name in ("rest", "stepwise motion", "clef", "cadence"):
        assert counts[name].total() > 10
        assert max(counts[name].values()) <= counts[name].total() / 2 + 1, counts[name]
    # What has one answer everywhere is not asked for.
    assert not counts["texture"]


TUNE = "c'4 d'8 e' f'4 e'8 d' c'4 b8 c' d'4 e'"


@pytest.mark.parametrize(
    ("parts", "texture"),
    [
        ((TUNE, "r1 r1"), "Monophonic"),
        (("c'4 d' e' f' g' f' e' d'", "e4 f g a b a g f", "c4 d e f g f e d"), "Homophonic"),
        ((TUNE, "r8 g4 f e8 f g a g4 f e8 f e"), "Polyphonic"),
        # Off the beat, in broken chords, as a bass, in parallel, after the other: none is a melody against it.
        ((TUNE, "C4 r C r G r G r", "r4 e r e r f r f", "r4 g r g r b r b"), None),
        ((TUNE, "c8 e g e c e g e d g b g d g b g"), None),
        (("c'4. d'8 e'2 f'4. e'8 d'2", "C4 e8 e G4 e8 e C4 f8 f G4 f8 f"), None),
        ((TUNE, "a4 b8 c' d'4 c'8 b a4 g8 a b4 c'"), None),
        (("r1 a'4. b'16 a' g'8 f' e' d'", "a4. b16 a g8 f e d c4 d e r"), None),
    ],
)
def test_texture_is_named_only_where_it_is_beyond_doubt(parts: tuple[str, ...], texture: str | None) -> None:
    score = stream.Score([converter.parse(f"tinynotation: 4/4 {part}") for part in parts])
    assert {each.answer for each in asked(read(score), "texture")} == ({texture} if texture else set())


def test_seeds_and_names_give_other_questions(scores: dict[str, stream.Score]) -> None:
    score = scores["bach-66-6"]
    a, b = (compose_score_questions(score, seed=seed, name="a") for seed in (1, 2))
    assert a != b
    assert a == compose_score_questions(score, seed=1, name="a")
    assert a != compose_score_questions(score, seed=1, name="b")


def test_scores_without_enough_to_ask_are_refused() -> None:
    with pytest.raises(UnsuitableScoreError, match=r"level \d has \d of 3|level 3 has"):
        compose_score_questions(converter.parse("tinynotation: 4/4 c1 c1 c1"), seed=0, name="dull")
    with pytest.raises(UnsuitableScoreError, match="no measures"):
        compose_score_questions(stream.Score(), seed=0, name="empty")
    uneven = stream.Score([stream.Part(converter.parse(f"tinynotation: 4/4 {text}")) for text in ("c1 d1", "c1")])
    with pytest.raises(UnsuitableScoreError):
        compose_score_questions(uneven, seed=0, name="uneven")


def test_unpitched_parts_and_quarter_tones_are_not_asked_about() -> None:
    drums = stream.Score([stream.Part([stream.Measure([note.Unpitched(), note.Unpitched()], number=1)])])
    with pytest.raises(UnsuitableScoreError):
        compose_score_questions(drums, seed=0, name="drums")
    tune = converter.parse("tinynotation: 2/4 c4 d")
    tune.recurse().notes[0].pitch.accidental = pitch.Accidental("half-sharp")
    assert not list(asked(read(tune), "highest pitch"))


def test_a_clef_in_the_name_of_its_part_is_not_asked_for() -> None:
    parts = [stream.Part([stream.Measure([sign, note.Note("C4")])]) for sign in (clef.BassClef(), clef.AltoClef())]
    parts[0].partName = parts[1].partName = "Bass"
    assert {each.answer for each in asked(read(stream.Score(parts)), "clef")} == {"Alto clef"}


@pytest.mark.parametrize(("lower", "answers"), [("g1", {"5"}), ("c'1", set())])
def test_notes_are_not_counted_where_two_voices_share_one(lower: str, answers: set[str]) -> None:
    voices = [
        stream.Voice(converter.parse(f"tinynotation: 4/4 {text}").recurse().notes) for text in ("c'4 d' e' f'", lower)
    ]
    score = stream.Score([stream.Part([stream.Measure(voices, number=1)])])
    assert {each.answer for each in asked(read(score), "number of notes")} == answers


def test_works_are_listed_once_and_without_their_keys() -> None:
    assert len(EVERY) == len({work.path for work in EVERY.values()}) >= 66
    assert len({work.composer for work in EVERY.values()}) >= 10
    assert not any(re.search(r"\b(major|minor|dur|moll)\b", work.title, re.IGNORECASE) for work in EVERY.values())
    assert not any("essenFolksong" in work.path or work.path.startswith("josquin") for work in EVERY.values())
