"""A small dataset of LilyBench's form, with scores of the tests' own, whose answers are plain to see."""

from pathlib import Path

from music_evals.datasets_builders.folder import make_provenance, write_dataset
from music_evals.datasets_builders.lilybench.rows import (
    CLEAN,
    CORRUPTIONS,
    FIELDS,
    PROTOCOLS,
    QUADRANTS,
    TASK_FEATURES,
    TASKS,
    Protocol,
    TaskName,
    TaskRow,
    task_row,
)

ROWS = 4
NOTES = ("c'4 d' e'", "f'4 g' a'", "b'4 c'' d''", "e''4 f'' g''", "a''4 g'' f''")


def music(measures: int) -> str:
    """A score in C major and 3/4 of so many measures."""
    return "{ \\key c \\major \\time 3/4\n" + "".join(f"  {NOTES[n % 5]} |\n" for n in range(measures)) + "}\n"


def row(name: TaskName, protocol: Protocol, number: int) -> TaskRow:
    """Row `number` (from 0) of a task; the right option of a choice is `number` modulo 4."""
    kind, score, right = "", music(8 + number), number % 4
    options = [f"{'right' if place == right else 'wrong'} {place}" for place in range(4)]
    answer = str(right)
    match name:
        case "bar_count":
            options, answer = [], str(8 + number)
        case "metadata_qa" | "metadata_prediction":
            kind = FIELDS[number % 3]
            known = {"key": "C major", "metre": "3/4", "note_length": "4"}[kind]
            others = {"key": ["G major", "D minor", "F major"], "metre": ["2/4", "4/4", "6/8"]}
            options = list(others.get(kind, ["2", "8", "16"]))
            options.insert(right, known)
        case "bar_sequencing":
            score, options, answer = "", [f"{NOTES[place]} |" for place in (1, 3, 0, 2)], "2031"
        case "next_bar_prediction":
            score = "\n".join(f"{notes} |" for notes in NOTES[:4])
            options = [f"{NOTES[4]} |" if place == right else f"c'4\n  r2 % {place}" for place in range(4)]
        case "emotion_recognition":
            options = list(QUADRANTS)
        case "error_detection":
            kind = (*CORRUPTIONS, CLEAN)[number]
            options, answer = [], "none" if kind == CLEAN else str(number + 2)
            if kind != CLEAN:
                lines = score.splitlines(keepends=True)
                lines[number + 2] = "  c'4 \\key xx \\nonsense d' e' |\n"
                score = "".join(lines)
        case _:
            pass
    return task_row(name, protocol, f"piece{number}", answer, kind=kind, score=score, options=options)


def write_small(folder: Path, source: str = "mutopia") -> str:
    """Write four rows a task and protocol, six of `error_detection`: one a category, and a clean one."""
    rows = {
        name: {
            protocol: [row(name, protocol, number) for number in range(6 if name == "error_detection" else ROWS)]
            for protocol in PROTOCOLS
        }
        for name in TASKS
    }
    made = make_provenance("lilybench", "1.0.0", source, seed=5)
    write_dataset(folder, rows, features=dict.fromkeys(TASKS, TASK_FEATURES), provenance=made)
    return str(folder)
