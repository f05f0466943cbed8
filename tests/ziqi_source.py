"""A small source of ZIQI-Eval's layout, with questions of the tests' own."""

import csv

from music_evals.datasets_builders.questions.question_rows import LETTERS
from music_evals.datasets_builders.ziqi.rows import SPLITS, published_themes

Fields = list[str]


def write_source(folder, test_rows=4, edit=None):
    """Write five dev rows and some test rows a theme; `edit` may change a file's rows, the header
    among them.
    """
    for split in SPLITS:
        for theme in published_themes():
            rows = [["id", "question", *LETTERS, "answer", "subtheme"]]
            subthemes = list(theme.subthemes)
            for number in range(5 if split == "dev" else test_rows):
                options = [f"{theme.zh}{split}{number}{letter}" for letter in LETTERS]
                answer = LETTERS[number % 4]
                question = f"{theme.zh}的第{number}题（{split}）____。"
                rows.append(
                    [str(number), question, *options, answer, subthemes[number % len(subthemes)]]
                )
            if edit:
                edit(split, theme.file, rows)
            path = folder / split / f"{theme.file}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows(rows)
    return folder
