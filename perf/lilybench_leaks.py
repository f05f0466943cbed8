r"""Leaks of LilyBench: how often can a question be answered without the music?

Three answerers that know nothing of music are put to the rows of a task, each beside what guessing gives:

- *Search* looks for an option's own words in what is shown. There is a leak where the right option is found more
  often than the wrong ones of the same rows.
- *Options alone* is a classifier that does not see the score. It learns which options tend to be right.
- *Words* is a classifier that sees the options and the words outside of the music: headers, comments, strings,
  markups, lyrics, names. For `error_detection` and `emotion_recognition` it sees comments and strings alone, as names
  are part of what is asked. For `bar_count` it is the largest number in a comment, for segments the bar numbers.

The classifiers are logistic regressions on bags of words, cross-validated so that no piece is on both sides. Intervals
are Wilson's at 95%. A leak is named where one lies above chance, or where the search finds right options more often, by
1.96 standard errors, than any option of the row; without a leak, one figure in some fifteen is named by accident. The
lexing here is independent of the code that takes such words out of strict rows.

    python perf/lilybench_leaks.py DIR
"""

import math
import re
import sys
import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, get_args

import numpy as np
import pyarrow.parquet as pq
import typer
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from music_evals.datasets_builders.lilybench.rows import PROTOCOLS, TaskName, TaskRow
from music_evals.scorers.metrics.proportion import Z95, wilson_interval

FOLDS: Final = 5
# By piece, with the classes spread evenly: else what is rare in training is frequent in the test.
_FOLDS: Final = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=0)

_BY_HEADER: Final = ("music_captioning", "composer_recognition", "genre_recognition")
_BY_SEGMENT: Final = ("bar_sequencing", "next_bar_prediction")

_STRING: Final = r'"(?:[^"\\]|\\.)*"'
_COMMENT: Final = r"%\{.*?%\}|%[^\n]*"
_COMMENT_OR_STRING: Final = re.compile(rf"(?P<comment>{_COMMENT})|(?P<string>{_STRING})", re.DOTALL)
_BLOCK: Final = re.compile(r"\\(?:header|markup|markuplist|lyricmode|lyrics|addlyrics|lyricsto)\b[^{}|]{0,200}\{")
_NAME: Final = re.compile(r"(?<![\w\\])([A-Za-z][A-Za-z_-]*)\s*=(?:\s*([A-Za-z][A-Za-z_-]*))?")
# Clefs and kinds of contexts are strings and names, but part of how the music is written.
_NOTATION: Final = re.compile(r'\\clef\s+"[^"\n]*"|\\(?:new|context|change)\s+[A-Za-z]+')
_NEUTRAL: Final = re.compile(r"(?:voice|part|tag|cue)[a-z]{1,2}")
_WORD: Final = re.compile(r"[^\W_]+")
_NUMBER: Final = re.compile(r"(?<!\d)\d{1,4}(?!\d)")
_KEY: Final = re.compile(r"([a-g])[ -]?(is|es|s|#|b|♯|♭|sharp|flat)?\s+(major|minor)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many; hits are fractional where ties were split."""

    hits: float
    trials: int

    @property
    def value(self) -> float:
        """The proportion."""
        return self.hits / self.trials

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95% interval."""
        return wilson_interval(self.value, self.trials)

    def __str__(self) -> str:
        """Write the proportion with its interval."""
        return "{:.2f} [{:.2f}, {:.2f}]".format(self.value, *self.interval)


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found in the rows of a task and protocol; None where an answerer does not apply."""

    rows: int
    right: Share | None = None  # rows whose right option (or answer) the search finds
    wrong: Share | None = None  # wrong options that it finds, of all wrong options
    excess: float = 0.0  # standard errors by which `right` is above that of any option of the row
    options: Share | None = None  # right answers of the classifier that sees the options alone
    words: Share | None = None  # right answers of the one that sees the words outside of the music
    chance: float = 0.25  # what guessing gives for `words`

    @property
    def leaks(self) -> list[str]:
        """Which answerers do better than guessing, beyond their 95% intervals."""
        found = []
        if self.excess > Z95:
            found.append("search")
        if self.options and self.options.interval[0] > 0.25:
            found.append("options alone")
        if self.words and self.words.value > self.chance < self.words.interval[0]:
            found.append("words")
        return found


def find_leaks(task: TaskName, rows: Sequence[TaskRow]) -> Finding:
    """Put the three answerers to the rows of one task and protocol; ValueError for too few pieces."""
    if (pieces := len({row["piece"] for row in rows})) < FOLDS:
        raise ValueError(f"{task}: rows of {pieces} pieces cannot be cross-validated; {FOLDS} pieces are needed")
    if task == "bar_count":
        return _bar_numbers(rows)
    if task in _BY_SEGMENT:
        return _segment_numbers(task, rows)
    if task in ("error_detection", "emotion_recognition"):
        classes = [row["kind"] if task == "error_detection" else row["options"][int(row["answer"])] for row in rows]
        accuracy = _classify(rows, [commented_words(row["score"]) for row in rows], classes)
        chance = max(Counter(classes).values()) / len(classes)
        searched = _search(task, rows) if task == "emotion_recognition" else (None, None, 0.0)
        return Finding(len(rows), *searched, words=accuracy, chance=chance)
    options = _pick(rows, [Counter() for _ in rows])
    if task == "metadata_qa":
        return Finding(len(rows), options=options)
    words = _pick(rows, [outside_words(row["score"]) for row in rows]) if task in _BY_HEADER else None
    return Finding(len(rows), *_search(task, rows), options, words)


# --- what a text says beside its music ---


def outside_words(text: str) -> Counter[str]:
    """Count the words of headers, comments, strings, markups, lyrics and names, in plain small letters."""
    text = _NOTATION.sub(" voiceA ", text)
    parts = [found[0] for found in _COMMENT_OR_STRING.finditer(text)]
    music = _COMMENT_OR_STRING.sub(" ", text)
    parts += _blocks(music)
    parts += [name for found in _NAME.finditer(music) for name in found.groups() if name]
    return _words(parts)


def commented_words(text: str) -> Counter[str]:
    """Count the words of a text's comments and strings."""
    return _words(found[0] for found in _COMMENT_OR_STRING.finditer(_NOTATION.sub(" voiceA ", text)))


def _words(parts: Iterable[str]) -> Counter[str]:
    """Count words, not plain numbers and neutral names: how many of those there are is how many voices there are."""
    words = _WORD.findall(folded(" ".join(parts)))
    return Counter(word for word in words if not word.isdigit() and not _NEUTRAL.fullmatch(word))


def folded(text: str) -> str:
    """Take accents off, and make letters small."""
    apart = unicodedata.normalize("NFKD", text)
    return "".join(character for character in apart if not unicodedata.combining(character)).lower()


def _blocks(text: str) -> Iterator[str]:
    """Yield the blocks in braces that hold words, of a text without comments and strings."""
    position = 0
    while found := _BLOCK.search(text, position):
        depth, position = 1, found.end()
        while depth and position < len(text):
            depth += (text[position] == "{") - (text[position] == "}")
            position += 1
        yield text[found.start() : position]


def _comment_numbers(text: str) -> list[int]:
    """List the numbers of a text's comments, in order."""
    comments = " ".join(found["comment"] or "" for found in _COMMENT_OR_STRING.finditer(text))
    return [int(number) for number in _NUMBER.findall(comments)]


# --- search ---


def _search(task: TaskName, rows: Sequence[TaskRow]) -> tuple[Share, Share, float]:
    right, among = [], []
    for row in rows:
        text = row["score"] if task == "metadata_prediction" else folded(row["score"])
        held = [_holds(task, row["kind"], text, option, row["options"]) for option in row["options"]]
        right.append(held[int(row["answer"])])
        among.append(sum(held) / len(held))
    return _compared(right, among, [len(row["options"]) for row in rows])


def _compared(right: Sequence[bool], among: Sequence[float], options: Sequence[int]) -> tuple[Share, Share, float]:
    """The right and the wrong options found, and by how many standard deviations the right are too many.

    `right` tells whether a row's right option is found, `among` the share of its options that are.
    """
    found = sum(share * count for share, count in zip(among, options, strict=True))
    spread = math.sqrt(sum(chance * (1 - chance) for chance in among))
    excess = (sum(right) - sum(among)) / spread if spread else 0.0
    return Share(sum(right), len(right)), Share(round(found) - sum(right), sum(options) - len(right)), excess


def _holds(task: TaskName, kind: str, text: str, option: str, options: Sequence[str]) -> bool:
    """Say whether a text holds what tells one option from the others of its row."""
    if task == "metadata_prediction":
        pattern = _in_lilypond(kind, option)
        return pattern is not None and re.search(pattern, text) is not None
    own = _own_words(option, options)
    # A long word is found within another one as well: composers' names stand in ids such as BachJS.
    return any(re.search(re.escape(word) if len(word) > 3 else rf"\b{re.escape(word)}", text) for word in own)


def _search_words(option: str) -> set[str]:
    """Return the words worth searching: three letters or more, or a letter with a digit."""
    words = _WORD.findall(folded(option))
    return {word for word in words if (len(word) > 2 and not word.isdigit()) or re.fullmatch(r"[a-z]\d", word)}


def _own_words(option: str, options: Sequence[str]) -> set[str]:
    return _search_words(option).difference(*(_search_words(other) for other in options if other != option))


def _in_lilypond(kind: str, option: str) -> str | None:
    """Return a pattern for the command that states an option of `metadata_prediction`; None for a key not known."""
    if kind == "metre":
        return rf"\\time\s+{re.escape(option)}(?!\d)"
    if kind == "note_length":
        return rf"\\time\s+\d+/{re.escape(option.rpartition('/')[2])}(?!\d)"
    if (found := _KEY.fullmatch(option.strip())) is None:
        tonic, _, mode = option.replace("\\", "").partition(" ")
        return rf"\\key\s+{re.escape(tonic)}\s*\\{re.escape(mode)}\b" if mode else None
    step, sign = found[1].lower(), (found[2] or "").lower()
    sharp, flat = "(?:is|s|-sharp)", "(?:es|s|f|-flat|ses)" if step in "ae" else "(?:es|s|f|-flat)"
    name = step + ("" if not sign else sharp if sign in ("is", "#", "♯", "sharp") else flat)
    return rf"\\key\s+{name}\s*\\{found[3].lower()}\b"


# --- classifiers ---


def _pick(rows: Sequence[TaskRow], outside: Sequence[Counter[str]]) -> Share:
    """Learn to tell right options from wrong ones; count how often the likeliest of a row is right."""
    features = [
        [_pair_features(option, row["options"], words) for option in row["options"]]
        for row, words in zip(rows, outside, strict=True)
    ]
    answers = [row["answer"] for row in rows]
    hits = 0.0
    for train, test in _FOLDS.split(rows, answers, [row["piece"] for row in rows]):
        pairs = [(features[row][index], str(index) == answers[row]) for row in train for index in range(4)]
        with _exact():
            model = _model().fit([pair for pair, _ in pairs], [is_right for _, is_right in pairs])
        for row in test:
            scores = model.decision_function(features[row])
            best = np.flatnonzero(np.isclose(scores, scores.max()))
            hits += (int(answers[row]) in best) / len(best)
    return Share(hits, len(rows))


def _pair_features(option: str, options: Sequence[str], words: Counter[str]) -> dict[str, float]:
    """Describe an option beside the words: itself, whether its own words are there, and which words are there."""
    label = folded(option)
    plain = ["constant", f"option {label}", *(f"option word {word}" for word in _WORD.findall(label))]
    features = dict.fromkeys(plain, 1.0)
    if words:
        own, everything = _own_words(option, options), " ".join(words)
        features["own words found"] = sum(word in everything for word in own) / max(1, len(own))
        features |= {f"{label} with {word}": 0.3 for word in words}
    return features


def _classify(rows: Sequence[TaskRow], outside: Sequence[Counter[str]], classes: Sequence[str]) -> Share:
    # A constant keeps the matrix from having no column where no bag holds a word.
    bags = [{**dict.fromkeys(words, 1.0), "constant": 1.0} for words in outside]
    folds = list(_FOLDS.split(rows, classes, [row["piece"] for row in rows]))
    with _exact():
        guesses = cross_val_predict(_model(), bags, classes, cv=folds)
    return Share(sum(guess == known for guess, known in zip(guesses, classes, strict=True)), len(rows))


def _model() -> Pipeline:
    return make_pipeline(DictVectorizer(), LogisticRegression(max_iter=2000))


@contextmanager
def _exact() -> Iterator[None]:
    """Warnings are errors; the matrices are too small for threads, which on a busy machine take ten times as long."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


# --- numbers in comments ---


def _bar_numbers(rows: Sequence[TaskRow]) -> Finding:
    """Compare each row's comments with its own answer and with those of the other rows."""
    numbers = [_comment_numbers(row["score"]) for row in rows]
    answers = [int(row["answer"]) for row in rows]
    right = [answer in held for answer, held in zip(answers, numbers, strict=True)]
    among = [sum(answer in held for answer in answers) / len(answers) for held in map(set, numbers)]
    largest = [max(held, default=None) for held in numbers]
    last = sum(answer == number for answer, number in zip(answers, largest, strict=True))
    guessed = sum(answer == number for answer in answers for number in largest) - last
    chance = guessed / (len(rows) * (len(rows) - 1))
    searched = _compared(right, among, [len(rows)] * len(rows))
    return Finding(len(rows), *searched, words=Share(last, len(rows)), chance=chance)


def _segment_numbers(task: TaskName, rows: Sequence[TaskRow]) -> Finding:
    """Order segments by the numbers in their comments, and guess where they do not tell."""
    hits = 0.0
    for row in rows:
        first = [next(iter(_comment_numbers(option)), None) for option in row["options"]]
        shown = _comment_numbers(row["score"])
        if task == "next_bar_prediction":
            later = [index for index, number in enumerate(first) if shown and number == shown[-1] + 1]
            hits += (later == [int(row["answer"])]) if len(later) == 1 else 0.25
        elif None in first or len(set(first)) < len(first):
            hits += 1 / 24
        else:
            order = sorted(range(4), key=lambda index: first[index] or 0)
            hits += "".join(map(str, order)) == row["answer"]
    return Finding(len(rows), words=Share(hits, len(rows)), chance=1 / 24 if task == "bar_sequencing" else 0.25)


# --- the table ---


def table(findings: Sequence[tuple[str, str, Finding]]) -> str:
    """Write findings (task, protocol, and what was found) as a Markdown table."""
    head = ("task", "protocol", "rows", "search, right", "search, wrong", "options alone", "words", "chance", "leaks")
    lines: list[Sequence[object]] = [head, ["---"] * len(head)]
    for task, protocol, found in findings:
        shares = [share or "" for share in (found.right, found.wrong, found.options, found.words)]
        lines.append([task, protocol, found.rows, *shares, f"{found.chance:.2f}", ", ".join(found.leaks)])
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def main(dataset: Path) -> None:
    """How often can the questions in a dataset folder of LilyBench be answered without the music?"""
    findings = []
    for task in get_args(TaskName):
        for protocol in PROTOCOLS:
            for path in sorted(dataset.expanduser().glob(f"{task}/{protocol}-*.parquet")):
                rows: list[TaskRow] = pq.read_table(path).to_pylist()
                findings.append((task, protocol, find_leaks(task, rows)))
    if not findings:
        sys.exit(f"{dataset} holds no rows of LilyBench; a folder with TASK/PROTOCOL-*.parquet is needed")
    print(table(findings))


if __name__ == "__main__":
    typer.run(main)
