r"""MIR-1K: the words of 1,000 clips of Chinese karaoke, from the singer's channel alone.

"On the Improvement of Singing Voice Separation for Monaural Recordings Using the MIR-1K Dataset"
Chao-Ling Hsu, Jyh-Shing Roger Jang
https://doi.org/10.1109/TASL.2009.2026503

inspect eval evals/mir1k.py --model google/gemini-2.5-pro -T dataset=/data/MIR-1K
"""

from pathlib import Path

from inspect_ai import Task

from music_evals.datasets_builders.questions.question_set import (
    MediaQuestion,
    Part,
    Record,
    Records,
    question_set,
)
from music_evals.evals.shared.question_sets import QuestionSetParameters, question_set_task
from music_evals.evals.shared.registration import task
from music_evals.notation.audio.clips import file_of


def read_record(record: Record) -> MediaQuestion | None:
    """Read the line of a file in the folder ``Lyrics``; the clip is in the folder ``Wavfile``."""
    file = Path(record["file"])
    clip = file.parents[1] / "Wavfile" / f"{file.stem}.wav"
    words = record["line"].strip()
    if file.parent.name != "Lyrics" or not words:
        return None
    # The spoken words are in a file of the same name, which is not to be taken for a clip.
    return MediaQuestion(
        file.stem,
        [
            Part("audio", _voice(clip) if clip.is_file() else f"Wavfile {clip.name}"),
            "Which words are sung?",
        ],
        [],
        words,
        piece=file.stem.rpartition("_")[0],
        answer_kind="text:cer",
    )


def _voice(clip: Path) -> bytes:
    """The right channel of a clip; the left one is the accompaniment."""
    import soundfile

    samples, rate = soundfile.read(clip, dtype="int16")
    return file_of(samples[:, 1], rate)


BENCHMARK = question_set("mir1k", "1.0.0", {"vocals": Records(("*.txt",), read_record)})


@task
def vocals(params: QuestionSetParameters) -> Task:
    """Write the words of a phrase that is sung in Chinese, without accompaniment."""
    return question_set_task(params, "vocals", BENCHMARK)
