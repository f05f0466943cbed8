"""Captions of music: Song Describer, MusicCaps, and composed clips that are known from composing.

The answer of a question is all captions of its clip, a line each. Facts of Song Describer,
``[composed]``, have the captions of composed clips.
"""

from collections.abc import Iterator
from dataclasses import replace
from operator import attrgetter

from music_evals.benchmarks import load
from music_evals.datasets_builders.questions.listening import listening_questions
from music_evals.datasets_builders.questions.media_questions import (
    MediaQuestion,
    Part,
    Record,
    Records,
)
from music_evals.datasets_builders.questions.published_questions import PublishedQuestions
from music_evals.datasets_builders.questions.question_set import question_set
from music_evals.notation.grouping import group_by


class PublishedCaptions(PublishedQuestions):
    """Published captions: those of the same clip are one question."""

    def _questions(self, task: str) -> Iterator[MediaQuestion]:
        for group in group_by(super()._questions(task), attrgetter("id")).values():
            # A caption is one line.
            yield replace(
                group[0], right="\n".join(" ".join(str(one.right).split()) for one in group)
            )


def _question(name: str, sound: str | Part, caption: str) -> MediaQuestion:
    parts = [sound, "Describe this music."]
    return MediaQuestion(name, parts, [], caption, answer_kind="caption")


def read_song_describer(record: Record) -> MediaQuestion:
    """Read a line of ``song_describer.csv``, a caption of the first two minutes of a track."""
    track = record["track_id"]
    return _question(track, Part("audio", f"{track}.2min"), record["caption"])


def read_musiccaps(record: Record) -> MediaQuestion | None:
    """Read a line of ``musiccaps-public.csv``; clips of AudioSet's training set are left out.

    A recording is ``VIDEO.wav`` or ``[VIDEO]-[START-END].wav``.
    """
    if record["is_audioset_eval"] != "True":
        return None
    video = record["ytid"]
    return _question(video, Part("audio", video), record["caption"])


def compose_captions(seed: int) -> Iterator[MediaQuestion]:
    """Describe clips of `listening_questions` by what they were composed to be."""
    for question in listening_questions(seed):
        caption = load("song_describer").table["composed"][question.theme][question.right]
        yield _question(question.id, question.parts[0], caption)


SONG_DESCRIBER = question_set(
    "song_describer",
    "1.0.0",
    {"captions": Records(("song_describer.csv",), read_song_describer)},
    compose_captions,
    PublishedCaptions,
)
MUSICCAPS = question_set(
    "musiccaps",
    "1.0.0",
    {"captions": Records(("musiccaps-public.csv",), read_musiccaps)},
    reader=PublishedCaptions,
)
