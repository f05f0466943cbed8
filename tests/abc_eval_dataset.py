"""Small data of ABC-Eval's form: the rows of `lilybench_dataset` in ABC, and files like the
authors' with own tunes.
"""

import csv
import re

from music_evals.datasets_builders.abc_eval.dataset import FEATURES, AbcRow
from music_evals.datasets_builders.abc_eval.published import FILES
from music_evals.datasets_builders.dataset_io import make_provenance, write_dataset
from music_evals.datasets_builders.lilybench.rows import PROTOCOLS, TASKS
from music_evals.notation.abc.from_lilypond import lilypond_to_abc
from tests import lilybench_dataset

# In eighths, so that measures can be cut at five places.
NOTES = (
    "C/D/E/F/G/E/",
    "F/G/A/B/c/A/",
    "B/c/d/e/f/d/",
    "e/f/g/e/d/c/",
    "a/g/f/e/d/c/",
    "G/E/C/E/D/B,/",
    "D/F/A/F/E/G/",
)
HEADER = "M:3/4\nL:1/4\nK:C\n"
TUNES = {
    f"Tune {letter}": f"{HEADER.replace('K:C', f'K:{key}')}"
    + "|".join(NOTES[(n + 2 * place) % 7] for n in range(11))
    + "|"
    for place, (letter, key) in enumerate(
        zip("ABCDEFGH", ("C", "G", "D", "F", "Am", "Em", "Dm", "Bb"), strict=True)
    )
}


def in_abc(text):
    """Write a score or a measure of `lilybench_dataset` in ABC."""
    bars = [re.findall(r"(?<!\\key )\b[a-g]'+", bar) for bar in text.split("|")]
    lines = "\n".join(f"  {' '.join(f'{note}4' for note in bar)} |" for bar in bars if bar)
    staff = '\\new Staff {\n  \\clef "treble" \\key c \\major \\time 3/4 '
    return lilypond_to_abc(f"{staff}{lines.strip()}\n}}\n" if "\\key" in text else lines)


def row(name, protocol, number):
    made = lilybench_dataset.row(name, protocol, number)
    options = made["options"]
    if name in ("bar_sequencing", "next_bar_prediction"):
        options = [
            in_abc(option).partition("none\n")[2].strip() + " |" * ("%" in option)
            for option in options
        ]
        options = [
            option if options.index(option) == place else f"{option}{place}"
            for place, option in enumerate(options)
        ]
    return AbcRow(
        **{
            **made,
            "score": in_abc(made["score"]) if made["score"] else "L:1/8",
            "options": options,
        },
        licence="MIT",
        instruction="",
    )


def write_small(folder, source="generated"):
    """Write the rows of all tasks as of a source."""
    counts = {name: len(lilybench_dataset.rows(name, "strict")) for name in TASKS}
    splits = {
        name: {
            protocol: [row(name, protocol, number) for number in range(counts[name])]
            for protocol in PROTOCOLS
        }
        for name in TASKS
    }
    write_dataset(
        folder,
        splits,
        features=FEATURES,
        provenance=make_provenance("abc_eval", "1.0.0", source, seed=5),
    )
    return str(folder)


def write_files(folder, leave_out=""):
    """Write files as the authors', with two rows each, and more whole tunes."""
    tune = TUNES["Tune A"]
    bars = tune.removeprefix(HEADER).split("|")
    ahead = HEADER + "|".join(bars[:3])
    shuffled = [bars[n] for n in (4, 3, 6, 5)]  # in order: 1, 0, 3, 2
    titles = "['Tune A', 'Gipsy\\'s Air', 'Tune C', 'Tune D']"
    chosen = {"choices": "['Q1', 'Q2', 'Q3', 'Q4']", "target": "Q2", "target_index": "1"}
    rows = {
        "bar_count": [
            {"score": abc, "choices": "null", "target": "8", "target_index": "null"}
            for abc in TUNES.values()
        ],
        "bar_sequencing": [
            {"score": ahead, "choices": str(shuffled), "target": "1032", "target_index": ""},
            {
                "score": ahead,
                "choices": "['d\\\n\"G\"e', 'P:B\nf', 'g', 'a', 'b']",
                "target": "01234",
                "target_index": "",
            },
        ],
        "next_bar_prediction": [
            {"score": ahead, "choices": str(shuffled), "target": "", "target_index": "1"}
        ],
        "music_captioning": [
            {"score": tune, "choices": titles, "target": "Tune A", "target_index": "0"}
        ],
        "error_detection": [
            {
                "score": tune,
                "choices": "[4, 2, 3, 5]",
                "target": "257",
                "target_index": "2",
                "error": "x_in_measure_3:a→H",
            },
            {
                "score": TUNES["Tune B"],
                "choices": "[1, 2, 3, 5]",
                "target": "610",
                "target_index": "1",
                "error": "y_in_measure_6:a→J",
            },
            {
                "score": TUNES["Tune C"],
                "choices": "[1, 2, 3, 5]",
                "target": "0",
                "target_index": "0",
                "error": "invalid_key:C→L",
            },
        ],
    }
    for name in ("metadata_qa", "metadata_prediction"):
        asked = {"choices": "['G', 'C', 'D', 'Am']", "target": "C", "target_index": "1"}
        rows[name] = [{"score": tune, **asked, "task_description": "Identify the key signature."}]  # type: ignore[index]
    for name in ("emotion_recognition", "genre_recognition", "composer_recognition"):
        rows[name] = [{"score": tune, **chosen}]  # type: ignore[index]
    folder.mkdir(parents=True)
    for name, entries in rows.items():
        file = FILES[name][0]
        columns = [
            "title",
            "input" if "bar_s" in name or "next" in name else "score",
            *list(entries[0])[1:],
        ]
        columns += [column for column in ("task_description",) if column not in columns]
        if file != leave_out:
            with (folder / f"{file}.csv").open("w", encoding="utf-8", newline="") as stream:
                writer = csv.DictWriter(stream, columns)
                writer.writeheader()
                for number, entry in enumerate(entries):
                    own = {
                        "title": f"Tune {'ABCDEFGH'[number]}",
                        "task_description": "A task.",
                        **entry,
                    }
                    writer.writerow({column: own.get(column, own["score"]) for column in columns})
    return folder
