"""How many scores of music21's corpus music21 and verovio read back, note for note, from the ABC that is written.

    PYTHONPATH=. python perf/score_round_trip.py [--scores 400]

A score counts as exact for a reader if it finds every note with pitch, octave, spelling, onset and duration in its part
and measure. The scores are taken evenly from each collection, by name, so that no collection fills the sample. Prints
the share of exact scores by reader and collection, and what was wrong with the others.
"""

import re
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from itertools import zip_longest
from pathlib import Path

from measuring import start
from music21 import converter, corpus

from music_evals.notation.abc.writing import score_to_abc
from music_evals.notation.scores.preparing import ScoreError, prepare_score
from tests.oracles.abc_readers import AbcNote, abc_notes, score_notes, verovio_notes

READERS = {"music21": abc_notes, "verovio": verovio_notes}


def collection(path: Path) -> str:
    """The folder of music21's corpus that a file is in."""
    parts = path.parts
    return parts[len(parts) - parts[::-1].index("corpus")]


def sample(size: int) -> list[Path]:
    """Scores in turn from every collection until there are enough."""
    folders: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(corpus.getPaths()):
        if path.suffix in (".mxl", ".xml", ".musicxml", ".krn", ".abc") and collection(path) != "demos":
            folders[collection(path)].append(path)
    turns = zip_longest(*(folders[name] for name in sorted(folders)))
    return [path for turn in turns for path in turn if path is not None][:size]


def check(path: Path) -> tuple[str, dict[str, str]]:
    """What became of one score: by reader an empty string, or what was wrong."""
    name = collection(path)
    try:
        parsed = converter.parse(path)
        # A file of many tunes stands for its first.
        score = prepare_score(parsed.scores[0] if hasattr(parsed, "scores") and len(parsed.scores) else parsed)
    except ScoreError as error:
        return name, {"source": f"no score: {error}"}
    # A file that music21 itself cannot read says nothing about the ABC.
    except Exception as error:
        return name, {"source": f"music21 cannot read the file: {type(error).__name__}"}
    expected = score_notes(score)
    abc = score_to_abc(score)
    found = {}
    for reader, read in READERS.items():
        try:
            notes = read(abc)
        except Exception as error:
            found[reader] = f"fails: {type(error).__name__}: {str(error)[:60]}"
            continue
        found[reader] = "" if notes == expected else reason(expected, notes, abc)
    return name, found


def reason(expected: list[AbcNote], notes: list[AbcNote], abc: str) -> str:
    """The most telling difference between what was written and what was read."""
    if len(expected) != len(notes):
        kind = "notes lost or added"
    else:
        same_places = sorted(note[:4] for note in expected) == sorted(note[:4] for note in notes)
        kind = "pitches differ" if same_places else "onsets or durations differ"
    return kind + (", score with tuplets" if re.search(r"\([35679]:", abc) else "")


def main(scores: int = 400, workers: int = 3) -> None:
    exact: dict[str, Counter[str]] = {reader: Counter() for reader in READERS}
    totals: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    paths = sample(scores)
    with ProcessPoolExecutor(workers) as pool:
        for path, (name, found) in zip(paths, pool.map(check, paths), strict=True):
            if "source" in found:
                reasons[found["source"]] += 1
                continue
            totals[name] += 1
            for reader, wrong in found.items():
                exact[reader][name] += not wrong
                if wrong:
                    reasons[f"{reader}: {wrong}"] += 1
                    print(f"{reader} {path.parent.name}/{path.name}: {wrong}", flush=True)
    for reader in READERS:
        print(f"{reader}: {sum(exact[reader].values())} of {sum(totals.values())} scores exact")
    for name, total in sorted(totals.items()):
        print(f"  {name}: " + ", ".join(f"{reader} {exact[reader][name]}" for reader in READERS) + f" of {total}")
    for text, count in reasons.most_common():
        print(f"{count:4d}  {text}")


if __name__ == "__main__":
    start(main, __doc__)
