"""Questions on short clips that are rendered here: stand-ins for published questions with sound.

`listening_questions` have options, of six kinds: tempo, metre, instrument, mode, number of voices,
and which of two notes is higher. The other functions compose the questions with short answers of a
task each. The same seed gives the same bytes. All clips of a kind or task have the same length,
answers are drawn evenly, and loudness does not depend on them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from random import Random

from music_evals.datasets_builders.questions.media_questions import MediaQuestion, Part
from music_evals.notation.audio.rendering import render_wav
from music_evals.notation.midi.files import write_midi
from music_evals.notation.midi.performance import TICKS_PER_BEAT, Note, Performance

PER_KIND = 20
SECONDS = 4.0
TEMPI = (50, 72, 104, 150)
METRES = (2, 3, 4, 5)
INSTRUMENTS = {"piano": 0, "church organ": 19, "violin": 40, "trumpet": 56, "flute": 73}
MODES = {"major": (0, 2, 4, 5, 7, 9, 11, 12), "harmonic minor": (0, 2, 3, 5, 7, 8, 11, 12)}
VOICES = (1, 2, 3, 4)
_KICK, _SNARE, _HIHAT = 36, 38, 42
_CHORD = (0, 7, 16, 24)  # intervals above the lowest voice, wide enough to be told apart
LOWEST, HIGHEST = 45, 81
"""Pitches of single notes."""
SUSTAINED = (40, 42, 56, 57, 66, 71, 73)
"""General MIDI: violin, cello, trumpet, trombone, saxophone, clarinet, flute."""
_SECONDS = 8.0
_TONICS = ("C", "C#", "D", "Eb", "E", "F", "F#", "G", "Ab", "A", "Bb", "B")
_CADENCES = {
    "major": ("0+4+7 5+9+12 7+11+14 0+4+7", "0+4+7 9+12+16 2+5+9 7+11+14 0+4+7"),
    "minor": ("0+3+7 5+8+12 7+11+14 0+3+7", "0+3+7 8+12+15 5+8+12 7+11+14 0+3+7"),
}
_SLOWEST, _FASTEST = 66, 168


def listening_questions(seed: int) -> Iterator[MediaQuestion]:
    """Compose questions with their clips; the same seed gives the same bytes."""
    places = {
        kind: Random(f"{seed}/{kind}").sample(
            [number % len(options) for number in range(PER_KIND)], PER_KIND
        )
        for kind, (_, options, _) in _KINDS.items()
    }
    for number in range(PER_KIND):  # so that the first questions of a dataset are of all kinds
        for kind, (text, options, compose) in _KINDS.items():
            place = places[kind][number]
            clip = _render(compose(place, Random(f"{seed}/{kind}/{number}")), SECONDS)
            yield MediaQuestion(
                f"{kind}-{number:02}", [Part("audio", clip), text], options, place, theme=kind
            )


def _tempo(place: int, rng: Random) -> Performance:
    beats = [Note(beat * TICKS_PER_BEAT, _KICK, 120, rng.randint(60, 120)) for beat in range(12)]
    return Performance(
        tuple(beats), TEMPI[place] * rng.uniform(0.97, 1.03), (4, 4), None, percussion=True
    )


def _metre(place: int, rng: Random) -> Performance:
    beats, tempo = METRES[place], rng.uniform(170, 230)
    louder, notes = rng.randint(0, 40), []
    for beat in range(20):
        notes.append(Note(beat * TICKS_PER_BEAT, _HIHAT, 120, rng.randint(50, 110)))
        if beat % beats == 0:
            notes.append(Note(beat * TICKS_PER_BEAT, _KICK, 120, rng.randint(70, 87) + louder))
    return Performance(tuple(notes), tempo, (beats, 4), None, percussion=True)


def _instrument(place: int, rng: Random) -> Performance:
    program = [*INSTRUMENTS.values()][place]
    return _line([rng.randint(62, 79) for _ in range(6)], 100, rng, program)


def _mode(place: int, rng: Random) -> Performance:
    scale, tonic = list(MODES.values())[place], rng.randint(55, 67)
    return _line([tonic + step for step in scale], 130, rng)


def _voices(place: int, rng: Random) -> Performance:
    lowest = rng.randint(45, 52)
    chord = [lowest + step for step in _CHORD[: VOICES[place]]]
    return _line(chord, 80, rng, program=19, every=0, beats=4)


def _higher(place: int, rng: Random) -> Performance:
    first, distance = rng.randint(48, 84), rng.choice([1, 2, 4, 7])
    second = first - distance if place == 0 else first + distance
    # Each note has a second to sound and a second to fade: otherwise the second one would fade
    # longer.
    return _line([first, second], 60, rng, every=2)


def _line(
    pitches: Sequence[int],
    tempo: float,
    rng: Random,
    program: int = 0,
    every: int = 1,
    beats: int = 1,
) -> Performance:
    """Notes of so many `beats`, one `every` so many."""
    notes = [
        Note(at * every * TICKS_PER_BEAT, pitch, beats * TICKS_PER_BEAT, rng.randint(70, 110))
        for at, pitch in enumerate(pitches)
    ]
    return Performance(tuple(notes), tempo, (4, 4), None, program=program)


_KINDS: Mapping[str, tuple[str, Sequence[str], Callable[[int, Random], Performance]]] = {
    "tempo": (
        "How fast is the beat?",
        [f"about {tempo} beats a minute" for tempo in TEMPI],
        _tempo,
    ),
    "metre": ("After how many beats does the strong beat come again?", [*map(str, METRES)], _metre),
    "instrument": ("Which instrument plays?", [*INSTRUMENTS], _instrument),
    "mode": ("Which scale is played?", [*MODES], _mode),
    "voices": ("How many notes sound at the same time?", [*map(str, VOICES)], _voices),
    "higher": ("Which of the two notes is higher?", ["the first", "the second"], _higher),
}
"""Kind → question, options, and what composes a clip for the place of the right option."""


# --- short answers ---


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
    for number, place in enumerate(shuffled(f"{seed}/{question}", len(labels), count)):
        rng = Random(f"{seed}/{question}/{number}")
        clip = play([[rng.randint(LOWEST, HIGHEST)]], rng, 2.0, programs[labels[place]])
        yield MediaQuestion(
            f"note-{number:02}", [Part("audio", clip), question], labels, place, answer_kind="label"
        )


def key_questions(seed: int, count: int = 48) -> Iterator[MediaQuestion]:
    """Ask for the key of a cadence."""
    for number, place in enumerate(shuffled(f"{seed}/key", 2 * len(_TONICS), count)):
        rng = Random(f"{seed}/key/{number}")
        mode = [*_CADENCES][place // len(_TONICS)]
        tonic = place % len(_TONICS)
        chords = chords_of(rng.choice(_CADENCES[mode]), 55 + (tonic + 5) % len(_TONICS))
        clip = play(chords, rng, 5.0, (0, 19, 48))
        yield _question("key", number, clip, "In which key is this?", f"{_TONICS[tonic]} {mode}")


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
        yield _question(
            "number:4%", number, clip, "What is the tempo in beats per minute?", str(tempo)
        )


def chords_of(figure: str, root: int) -> list[list[int]]:
    """Return the pitches of a figure: chords in turn, of semitones above a root.

    >>> chords_of("0+4+7 12", 60)
    [[60, 64, 67], [72]]
    """
    return [[root + int(step) for step in chord.split("+")] for chord in figure.split()]


def play(
    chords: Sequence[Sequence[int]],
    rng: Random,
    seconds: float,
    programs: Sequence[int],
    onsets: Sequence[float] = (),
    duration: float = 0.75,
) -> bytes:
    """Render chords on one of some instruments, at onsets in seconds or else a second each."""
    notes: list[Note] = []
    ticks = round(duration * TICKS_PER_BEAT)
    for onset, chord in zip(onsets or range(len(chords)), chords, strict=True):
        start = round(onset * TICKS_PER_BEAT)
        level = rng.randint(45, 105)
        notes += [Note(start, pitch, ticks, level + rng.randint(0, 10)) for pitch in chord]
    if onsets:  # Loudness is set until the last note: an inaudible one makes that a fixed time.
        notes.append(Note(round((seconds - 0.1) * TICKS_PER_BEAT), 60, 1, 1))
    program = rng.choice(programs)
    return _render(Performance(tuple(notes), 60, (4, 4), None, program=program), seconds)


def shuffled(seed: str, kinds: int, count: int) -> list[int]:
    """Draw numbers below `kinds`, each as often as the others, give or take once.

    >>> sorted(shuffled("1/key", 2, 4))
    [0, 0, 1, 1]
    """
    rng = Random(seed)
    rounds = (rng.sample(range(kinds), kinds) for _ in range(count))
    return list(islice(chain.from_iterable(rounds), count))


def _question(kind: str, number: int, clip: bytes, text: str, answer: str) -> MediaQuestion:
    name = f"{kind.partition(':')[0]}-{number:02}"
    return MediaQuestion(name, [Part("audio", clip), text], [], answer, answer_kind=kind)


def _drums(rng: Random) -> tuple[bytes, list[float], int]:
    """Kick and snare in turn: the clip, its beats in seconds, and its tempo."""
    tempo = round(_SLOWEST * (_FASTEST / _SLOWEST) ** rng.random())
    start, notes, beats = rng.uniform(0.1, 1.0), [], []
    for number in range(int((_SECONDS - start) * tempo / 60)):
        onset = round((start * tempo / 60 + number) * TICKS_PER_BEAT)
        drum = _SNARE if number % 2 else _KICK
        notes.append(Note(onset, drum, 120, rng.randint(80, 120)))
        beats.append(start + number * 60 / tempo)
    pattern = Performance(tuple(notes), tempo, (4, 4), None, percussion=True)
    return _render(pattern, _SECONDS), beats, tempo


def _render(performance: Performance, seconds: float) -> bytes:
    return render_wav(write_midi(performance), seconds=seconds)
