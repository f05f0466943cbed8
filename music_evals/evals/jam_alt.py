r"""Jam-ALT: the lyrics of 79 songs in English, French, German and Spanish, as they are printed.

"Lyrics Transcription for Humans: A Readability-Aware Benchmark"
Ondřej Cífka, Hendrik Schreiber, Luke Miner, Fabian-Robert Stöter
https://arxiv.org/abs/2408.06370

inspect eval evals/jam_alt.py --model google/gemini-2.5-pro -T dataset=published
"""

from inspect_ai import Task

from music_evals.datasets_builders.questions.question_set import (
    MediaQuestion,
    Part,
    Record,
    Records,
    question_set,
)
from music_evals.evals.shared.question_sets import CompleteParameters, question_set_task
from music_evals.evals.shared.registration import task


def read_record(record: Record) -> MediaQuestion | None:
    """Read a song; the folder of a language has the same songs once more."""
    language = record["language"]
    if record["folder"] == language:
        return None
    return MediaQuestion(
        record["name"],
        [Part("audio", record.get("audio") or record["file_name"]), "What are the lyrics?"],
        [],
        record["text"],
        theme=language,
        answer_kind=f"lyrics:{language}",
    )


FILES = ("metadata.jsonl", "test-*.parquet")
BENCHMARK = question_set("jam_alt", "1.0.0", {"songs": Records(FILES, read_record)})


@task
def songs(params: CompleteParameters) -> Task:
    """Write the lyrics of a song, with its lines and sections."""
    return question_set_task(params, "songs", BENCHMARK)
