"""Questions on short clips that are rendered here: a stand-in for published questions with sound.

Six kinds: tempo, metre, instrument, mode, number of voices, and which of two notes is higher. The
right option is drawn evenly from the options of a kind, and loudness is drawn without regard to it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
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
_KICK, _HIHAT = 36, 42
_CHORD = (0, 7, 16, 24)  # intervals above the lowest voice, wide enough to be told apart


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
            clip = render_wav(
                write_midi(compose(place, Random(f"{seed}/{kind}/{number}"))), seconds=SECONDS
            )
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
    return _line(
        [rng.randint(62, 79) for _ in range(6)], 100, rng, program=[*INSTRUMENTS.values()][place]
    )


def _mode(place: int, rng: Random) -> Performance:
    scale, tonic = list(MODES.values())[place], rng.randint(55, 67)
    return _line([tonic + step for step in scale], 130, rng)


def _voices(place: int, rng: Random) -> Performance:
    lowest = rng.randint(45, 52)
    notes = [
        Note(0, lowest + step, 4 * TICKS_PER_BEAT, rng.randint(70, 110))
        for step in _CHORD[: VOICES[place]]
    ]
    return Performance(tuple(notes), 80, (4, 4), "C", program=19)


def _higher(place: int, rng: Random) -> Performance:
    first, distance = rng.randint(48, 84), rng.choice([1, 2, 4, 7])
    second = first - distance if place == 0 else first + distance
    # Each note has a second to sound and a second to fade: otherwise the second one would fade
    # longer.
    notes = [
        Note(at * 2 * TICKS_PER_BEAT, pitch, TICKS_PER_BEAT, rng.randint(70, 110))
        for at, pitch in enumerate((first, second))
    ]
    return Performance(tuple(notes), 60, (4, 4), "C")


def _line(pitches: list[int], tempo: float, rng: Random, program: int = 0) -> Performance:
    """Notes one after the other, a quarter each."""
    notes = [
        Note(at * TICKS_PER_BEAT, pitch, TICKS_PER_BEAT, rng.randint(70, 110))
        for at, pitch in enumerate(pitches)
    ]
    return Performance(tuple(notes), tempo, (4, 4), "C", program=program)


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
