"""How fast stimuli become WAV files: seconds of audio a wall-clock second, beside pretty_midi's renderers.

    python perf/audio_rendering.py

Prints real-time factors (higher is faster). Target: at least 500 for `render_wav` in one thread. The alternative is
pretty_midi's `fluidsynth` (the same SoundFont, in C) where libfluidsynth is installed, and its `synthesize` (sine
waves, no SoundFont, no WAV encoding) everywhere.
"""

import io
import random
from collections.abc import Callable

import pretty_midi
from measuring import timed

from music_evals.datasets_builders.muse.chords import QUALITIES, ROOTS, compose_chord
from music_evals.datasets_builders.muse.drum_loops import OFFBEATS, compose_drum_loop
from music_evals.datasets_builders.muse.melodies import INSTRUMENTS, compose_pair
from music_evals.notation.audio.rendering import describe_wav, render_wav
from music_evals.notation.audio.soundfont import SAMPLE_RATE
from music_evals.notation.midi.files import write_midi
from music_evals.notation.midi.performance import Performance


def stimuli() -> dict[str, list[Performance]]:
    pairs = [compose_pair(foil=None, instrument=INSTRUMENTS[i % 2], rng=random.Random(i)) for i in range(100)]
    return {
        "drum loops": [compose_drum_loop(OFFBEATS[i % 5], random.Random(i)).performance for i in range(200)],
        "melodies": [melody.performance for pair in pairs for melody in (pair.first, pair.second)],
        "chords": [compose_chord(root, quality).performance for root in ROOTS for quality in QUALITIES],
    }


def show_factor(what: str, render: Callable[[bytes], float], files: list[bytes]) -> None:
    """Print the seconds of audio a second; `render` returns the seconds of audio that it made."""
    seconds, audio = timed(lambda: sum(map(render, files)))
    print(f"{what}: {audio / seconds:.0f} x real time")


def ours(midi: bytes) -> float:
    return (len(render_wav(midi)) - 44) / 2 / SAMPLE_RATE


def sines(midi: bytes) -> float:
    return len(pretty_midi.PrettyMIDI(io.BytesIO(midi)).synthesize(SAMPLE_RATE)) / SAMPLE_RATE


def fluidsynth(midi: bytes) -> float:
    return len(pretty_midi.PrettyMIDI(io.BytesIO(midi)).fluidsynth(SAMPLE_RATE)) / SAMPLE_RATE


def main() -> None:
    files = {name: [write_midi(performance) for performance in made] for name, made in stimuli().items()}
    everything = [midi for made in files.values() for midi in made]
    describe_wav(render_wav(everything[0]))  # load the SoundFont
    for name, made in files.items():
        show_factor(f"render_wav, {name}, voices not yet made", ours, made)
    show_factor("render_wav, all again", ours, everything)
    # pretty_midi's sine waves leave drums silent, so the comparison is on what has pitch.
    pitched = files["melodies"] + files["chords"]
    show_factor("melodies and chords, render_wav", ours, pitched)
    show_factor("melodies and chords, pretty_midi synthesize (sine waves)", sines, pitched)
    try:
        show_factor("melodies and chords, pretty_midi fluidsynth", fluidsynth, pitched)
    except ImportError:
        print("melodies and chords, pretty_midi fluidsynth: not installed")


if __name__ == "__main__":
    main()
