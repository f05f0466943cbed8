"""Rows of PitchBench, as its authors publish them: a folder per task, a row per stimulus.

A row has the sound, the prompts and the answer; the benchmark's facts, ``[answers]``, say which
column has the answer of a task, and of which kind it is.
"""

from collections.abc import Sequence

from music_evals.benchmarks import load
from music_evals.datasets_builders.dataset_io import text_sha256
from music_evals.datasets_builders.questions.media_questions import MediaQuestion, Part, Record

_FORMATS = {"midi": "prompt_midi", "name": "prompt_abc", "hz": "prompt_freq"}


def read_record(record: Record) -> Sequence[MediaQuestion]:
    """Make the questions of a row: one per format if the answer is pitches; none for a task that is
    not in the paper's Table 1.
    """
    _, _, name = record["folder"].partition("pitchbench_")
    task = name.partition("_")[0].capitalize()
    facts = load("pitchbench").table["answers"].get(task)
    if facts is None:
        return []
    kind, options = facts["kind"], facts.get("options", ())
    right = _right(kind, record[facts["column"]], options, record)
    # Rows that differ in one column may have one sound, as the moments of B2 have.
    columns = {**record, "audio": record["audio"]["path"]}
    digest = text_sha256(repr(sorted(columns.items())))[:10]
    if kind.endswith(":"):
        prompts = {form: record[name] for form, name in _FORMATS.items() if record.get(name)}
    else:
        prompts = {"": record["prompt"]}
    return [
        MediaQuestion(
            f"{task}-{digest}-{form}".rstrip("-"),
            [Part("audio", record["audio"]), prompt],
            options,
            right,
            task,
            record.get("source") or record.get("source_label"),
            piece=f"{task}-{digest}",
            answer_kind=kind + form,
        )
        for form, prompt in prompts.items()
    ]


def _right(kind: str, answer: object, options: Sequence[str], record: Record) -> int | str:
    values = answer if isinstance(answer, list) else str(answer).split()
    if kind == "label":
        return options.index(values[0])
    if kind == "list":
        return "; ".join(values)
    numbers = [int(value) for value in values]
    if kind.startswith("all_times"):
        ends = [start + record["duration_ms"] for start in numbers]
        numbers = sorted(numbers + ends)
        return " ".join(f"{time / 1000:g}" for time in numbers)
    return " ".join(map(str, numbers))
