"""Rows of PitchBench, as its authors publish them: a folder per task, a row per stimulus.

A row has the sound, the prompts and the answer; which column has the answer depends on the task.
"""

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from music_evals.datasets_builders.questions.media_questions import MediaQuestion, Part, Record

_FOLDER = re.compile(r"pitchbench_([a-f]\d|d7a)_.*")
"""Of a task in the paper's Table 1; the repository has others."""
_TIMES = "all_times:0.25"
_ANSWERS: Mapping[str, tuple[str, str]] = {
    "B3": (_TIMES, "gt_pos_ms"),
    "B4": (_TIMES, "gt_target_onset_ms"),
    "B5": (_TIMES, "gt_onsets_ms"),
    "C1": ("number", "gt_n"),
    "C2": ("number", "gt_interval_st"),
    "C3": ("label", "gt_quality"),
    "C4": ("set", "gt_midi_notes"),
    "D1": ("number", "gt_n"),
    "D2": ("label", "gt_answer"),
    "D3": ("list", "gt_pattern"),
    "D4": ("list", "gt_seq"),
    "D5": ("list", "gt_answer"),
    "D6": ("number", "gt_signed_st"),
    "D8": ("sequence", "gt_midi_sequence"),
    "F1": ("sequence", "gt_seq_midi"),
    "F2": ("sequence", "gt_seq_midi"),
}
"""Task → kind and column of the answer; the others ask for a pitch, in `gt_midi`."""
_FORMATS = {"midi": "prompt_midi", "name": "prompt_abc", "hz": "prompt_freq"}
_CHOICES = re.compile(r"Choose one of the following: (.*?)\. ")
_VOCABULARIES = {"D2": ("first", "second"), "D3": ("up", "down"), "D4": ("up", "down")}


def read_record(record: Record) -> Sequence[MediaQuestion]:
    """Make the questions of a row: one per format if the answer is pitches; none for a task that is
    not in Table 1.
    """
    folder = _FOLDER.fullmatch(record["folder"])
    if not folder:
        return []
    task = folder[1][0].upper() + folder[1][1:]
    kind, column = _ANSWERS.get(task, ("pitch", "gt_midi"))
    if kind in ("pitch", "set", "sequence"):
        right = _joined(record[column])
        prompts = {form: record.get(name) for form, name in _FORMATS.items()}
        return [
            _question(task, record, prompt, right, f"{kind}:{form}", form=form)
            for form, prompt in prompts.items()
            if prompt
        ]
    prompt = record["prompt"]
    if kind == _TIMES:
        return [_question(task, record, prompt, _times(record, record[column]), kind)]
    if kind == "number":
        return [_question(task, record, prompt, str(int(record[column])), kind)]
    words = _words(record[column])
    options = _options(task, prompt, words)
    right = options.index(words[0]) if kind == "label" else "; ".join(words)
    return [_question(task, record, prompt, right, kind, options)]


def _question(
    task: str,
    record: Record,
    prompt: str,
    right: int | str,
    kind: str,
    options: Sequence[str] = (),
    form: str = "",
) -> MediaQuestion:
    sound = record["audio"]
    # Rows that differ in one column may have one sound, as the moments of B2 have.
    facts = {**record, "audio": sound.get("path")}
    digest = sha256(repr(sorted(facts.items())).encode()).hexdigest()[:10]
    piece = f"{task}-{digest}"
    return MediaQuestion(
        f"{piece}-{form}" if form else piece,
        [Part("audio", sound), prompt],
        options,
        right,
        task,
        record.get("source") or record.get("source_label"),
        piece=piece,
        answer_kind=kind,
    )


def _joined(pitches: Any) -> str:
    numbers = pitches if isinstance(pitches, list) else [pitches]
    return " ".join(str(int(number)) for number in numbers)


def _times(record: Record, onsets: Any) -> str:
    """Beginning and end of each tone in seconds."""
    starts = onsets if isinstance(onsets, list) else [onsets]
    length = record["duration_ms"]
    return " ".join(f"{time / 1000:g}" for start in starts for time in (start, start + length))


def _words(answer: Any) -> list[str]:
    return answer.split() if isinstance(answer, str) else list(answer)


def _options(task: str, prompt: str, words: Sequence[str]) -> list[str]:
    """The words that may be named: of a rank the places, of a chord what the prompt lists."""
    if task == "D5":
        return [str(place + 1) for place in range(len(words))]
    choices = _CHOICES.search(prompt)
    return choices[1].split(", ") if choices else [*_VOCABULARIES[task]]
