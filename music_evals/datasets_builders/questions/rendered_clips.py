"""Questions with short answers on clips that are rendered here: stand-ins for published recordings.

A function per task composes its questions from a seed: which instrument plays, the key, the beats
and the tempo. The same seed gives the same bytes. All clips of a task have the same length, and
answers are drawn evenly; loudness is drawn without regard to them.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from random import Random

from music_evals.datasets_builders.questions.media_questions import MediaQuestion, Part
from music_evals.notation.audio.rendering import render_wav
from music_evals.notation.midi.files import write_midi
from music_evals.notation.midi.performance import TICKS_PER_BEAT, Note, Performance

SECONDS = 8.0
NOTE_SECONDS = 3.0
LOWEST, HIGHEST = 45, 81  # pitches of single notes
TONICS = ("C", "C#", "D", "Eb", "E", "F", "F#", "G", "Ab", "A", "Bb", "B")
SCALES = {"major": (0, 2, 4, 5, 7, 9, 11), "minor": (0, 2, 3, 5, 7, 8, 11)}
DEGREES = ((0, 5, 1, 4), (0, 3, 4, 0), (0, 5, 3, 4), (0, 3, 1, 4))
"""Progressions of triads by the degree of their root; each ends on the tonic."""
PIANO, ORGAN = 0, 19
_KICK, _SNARE, _HIHAT = 36, 38, 42
_SLOWEST, _FASTEST = 66, 168


def instrument_questions(
    seed: int,
    programs: Mapping[str, Sequence[int]],
    count: int,
    question: str = "Which instrument plays?",
) -> Iterator[MediaQuestion]:
    """Ask for the label of a note.

    Args:
        seed: of all choices.
        programs: label → General MIDI programs, counted from 0.
        count: number of questions.
        question: what is asked of the labels.
    """
    labels = [*programs]
    for number, place in enumerate(shuffled(f"{seed}/instrument/{question}", len(labels), count)):
        rng = Random(f"{seed}/instrument/{question}/{number}")
        program = rng.choice(programs[labels[place]])
        clip = render_note(rng.randint(LOWEST, HIGHEST), program, rng)
        yield MediaQuestion(
            f"note-{number:02}", [Part("audio", clip), question], labels, place, answer_kind="label"
        )


def note_questions(seed: int, programs: Sequence[int], count: int) -> Iterator[MediaQuestion]:
    """Ask for the MIDI number of a note."""
    pitches = shuffled(f"{seed}/note", HIGHEST - LOWEST + 1, count)
    for number, place in enumerate(pitches):
        rng = Random(f"{seed}/note/{number}")
        pitch = LOWEST + place
        clip = render_note(pitch, rng.choice(programs), rng)
        yield MediaQuestion(
            f"pitch-{number:02}",
            [Part("audio", clip), "Which pitch sounds?"],
            [],
            str(pitch),
            answer_kind="pitch:midi",
        )


def key_questions(seed: int, count: int = 48) -> Iterator[MediaQuestion]:
    """Ask for the key of eight chords with a melody."""
    for number, place in enumerate(shuffled(f"{seed}/key", 2 * len(TONICS), count)):
        rng = Random(f"{seed}/key/{number}")
        mode = [*SCALES][place // len(TONICS)]
        tonic = place % len(TONICS)
        chords = [*rng.choice(DEGREES), *rng.choice(DEGREES), 0]
        notes = [note for at, degree in enumerate(chords) for note in _chord(at, degree, mode, rng)]
        moved = [
            Note(note.onset, note.pitch + (tonic + 5) % 12 - 5, note.duration, note.velocity)
            for note in notes
        ]
        program = rng.choice((PIANO, ORGAN))
        clip = render(Performance(tuple(moved), 70, (4, 4), None, program=program), SECONDS)
        yield _question("key", number, clip, "In which key is this?", f"{TONICS[tonic]} {mode}")


def beat_questions(seed: int, count: int = 40) -> Iterator[MediaQuestion]:
    """Ask for the times of the beats of a drum pattern."""
    for number in range(count):
        clip, beats, _ = _drums(Random(f"{seed}/beats/{number}"))
        answer = " ".join(f"{time:.2f}" for time in beats)
        yield _question("beats", number, clip, "At which times are the beats?", answer)


def tempo_questions(seed: int, count: int = 40) -> Iterator[MediaQuestion]:
    """Ask for the tempo of a drum pattern."""
    for number in range(count):
        clip, _, tempo = _drums(Random(f"{seed}/tempo/{number}"))
        yield MediaQuestion(
            f"tempo-{number:02}",
            [Part("audio", clip), "What is the tempo in beats per minute?"],
            [],
            str(tempo),
            answer_kind="number:4%",
        )


def render(performance: Performance, seconds: float) -> bytes:
    """Render a performance as a WAV file of this length."""
    return render_wav(write_midi(performance), seconds=seconds)


def render_note(pitch: int, program: int, rng: Random) -> bytes:
    """Render a single note that sounds for two thirds of `NOTE_SECONDS`."""
    note = Note(0, pitch, 2 * TICKS_PER_BEAT, rng.randint(70, 110))
    return render(Performance((note,), 60, (4, 4), None, program=program), NOTE_SECONDS)


def shuffled(seed: str, kinds: int, count: int) -> list[int]:
    """Draw numbers below `kinds`, each as often as the others, give or take once.

    >>> sorted(shuffled("1/key", 2, 4))
    [0, 0, 1, 1]
    """
    rng = Random(seed)
    rounds = -(-count // kinds)
    numbers = chain.from_iterable(rng.sample(range(kinds), kinds) for _ in range(rounds))
    return list(numbers)[:count]


def _question(kind: str, number: int, clip: bytes, text: str, answer: str) -> MediaQuestion:
    parts = [Part("audio", clip), text]
    return MediaQuestion(f"{kind}-{number:02}", parts, [], answer, answer_kind=kind)


def _chord(at: int, degree: int, mode: str, rng: Random) -> Iterator[Note]:
    """A triad over its root, and two notes of the triad above it."""
    scale = SCALES[mode]
    triad = [scale[(degree + step) % 7] for step in (0, 2, 4)]
    start = at * TICKS_PER_BEAT
    yield Note(start, 48 + triad[0] - 12 * (triad[0] > 6), TICKS_PER_BEAT, rng.randint(70, 90))
    for pitch in triad:
        yield Note(start, 60 + pitch, TICKS_PER_BEAT, rng.randint(60, 80))
    half = TICKS_PER_BEAT // 2
    for onset in (start, start + half):
        yield Note(onset, 84 + rng.choice(triad), half, rng.randint(80, 100))


def _drums(rng: Random) -> tuple[bytes, list[float], int]:
    """A drum pattern of four beats with its beats in seconds, and its tempo."""
    tempo = round(_SLOWEST * (_FASTEST / _SLOWEST) ** rng.random())
    start = rng.uniform(0.1, 1.0)
    beats = [start + beat * 60 / tempo for beat in range(int((SECONDS - start) * tempo / 60))]
    notes = []
    for number, time in enumerate(beats):
        onset = round(time * tempo / 60 * TICKS_PER_BEAT)
        drum = _SNARE if number % 2 else _KICK
        notes += (
            Note(onset, drum, 120, rng.randint(80, 120)),
            Note(onset, _HIHAT, 60, rng.randint(40, 70)),
            Note(onset + TICKS_PER_BEAT // 2, _HIHAT, 60, rng.randint(40, 70)),
        )
    pattern = Performance(tuple(notes), tempo, (4, 4), None, percussion=True)
    return render(pattern, SECONDS), beats, tempo
