"""How many scores are read back note for note from each rendering, by another program than the one that wrote it.

    PYTHONPATH=. python perf/renderings.py [--others 100] [--only kern] [--shown 3]

Over MSU-Bench's default scores, and over others of music21's corpus, taken evenly from its collections. Prints a table,
for each rendering also what it takes, and some reasons of those that are not the same. Sound is read back as its MIDI.
"""

from pathlib import Path

from measuring import start, timed
from score_round_trip import sample

from music_evals.datasets_builders.msu.works import default_works
from music_evals.notation.scores.preparing import ScoreError, prepare_score, score_to_musicxml
from music_evals.notation.scores.reading import read_score
from music_evals.notation.scores.renderings import RENDERINGS, render


def texts_of_default() -> list[str]:
    """MusicXML of the default scores that can be written."""
    found = []
    for work in default_works():
        try:
            found.append(score_to_musicxml(work.load()))
        except ScoreError as error:
            print(f"{work.name} is no score: {error}", flush=True)
    return found


def texts_of_others(count: int) -> list[str]:
    """MusicXML of other scores; those that music21 cannot read are passed over."""
    ours = {Path(work.source).name for work in default_works()}
    found: list[str] = []
    for path in sample(4 * count):
        if len(found) < count and path.name not in ours:
            try:
                found.append(score_to_musicxml(prepare_score(read_score(path))))
            except Exception as error:  # whatever music21 runs into
                print(f"{path.name} is no score: {type(error).__name__}: {str(error)[:80]}", flush=True)
    return found


def main(others: int = 100, only: str = "", shown: int = 3) -> None:
    sets = {"default": texts_of_default(), "others": texts_of_others(others)}
    print("| rendering | " + " | ".join(f"{len(texts)} {name}" for name, texts in sets.items()) + " | seconds |")
    print("|---" * (2 + len(sets)) + "|", flush=True)
    reasons = []
    for rendering in RENDERINGS:
        if only not in ("", rendering) or rendering == "audio":
            continue
        cells, total = [], 0.0
        for texts in sets.values():
            seconds, found = timed(lambda texts=texts, rendering=rendering: render(texts, rendering))
            same = sum(not one["problem"] for one in found)
            cells.append(f"{same} ({100 * same / len(found):.0f}%)")
            reasons += [f"{rendering}: {one['problem'][:200]}" for one in found if one["problem"]][:shown]
            total += seconds
        print(f"| `{rendering}` | " + " | ".join(cells) + f" | {total:.0f} |", flush=True)
    print("\n".join(["", *reasons]))


if __name__ == "__main__":
    start(main, __doc__)
