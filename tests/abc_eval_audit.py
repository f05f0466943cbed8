"""What the files of ABC-Eval say against themselves, for ``docs/abc_eval.md``.

Run as ``python -m tests.abc_eval_audit FOLDER`` it prints file, fact and number of rows.
"""

import re
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

from music21 import converter
from music21.exceptions21 import Music21Exception

from music_evals.datasets_builders.abc_eval.published import FILES, options_of, read_tables, tunes
from music_evals.notation.abc.plain import plain_abc

FIELD = re.compile(r"(?m)^[A-Za-z]:(?![|:]).*$")
BAR_LINE = re.compile(r"[|\]\[:]*\|[|\]\[:]*")
ERROR = re.compile(r"in_(?:measure|key)_([0-9]{1,3}):(?:[^:,(]*→([^,(]+))?")


def bars_of(abc):
    """The parts between bar lines."""
    return [bar.strip() for bar in BAR_LINE.split(FIELD.sub("", abc)) if bar.strip()]


def plain(bar):
    """The notes of a bar, without chord symbols, line ends and repeat signs."""
    return re.sub(r'"[^"]*"|[\\\s:]|^\[?[12]', "", FIELD.sub("", bar))


def measures_of(abc):
    """How many measures music21 finds, and how many of them come after a pickup; None if it
    fails.
    """
    try:
        score = converter.parseData(plain_abc(f"X:1\n{abc}\n"), format="abc")
        measures = [
            one for one in score.recurse().getElementsByClass("Measure") if one.notesAndRests
        ]
        length = next(
            iter(score.recurse().getElementsByClass("TimeSignature"))
        ).barDuration.quarterLength
        pickup = sum(Fraction(note.quarterLength) for note in measures[0].notesAndRests) < length
    except (Music21Exception, LookupError, StopIteration):
        return None
    return len(measures), len(measures) - pickup


def parsed(abc):
    """A tune as music21 reads it, with its first metre and key signature, or None."""
    score = converter.parseData(f"X:1\n{abc}\n", format="abc")
    first = (
        next(iter(score.recurse().getElementsByClass(name)), None)
        for name in ("TimeSignature", "KeySignature")
    )
    return score, *first


def metadata_fault(letter, target, abc):
    """What music21 finds against a target, which the header names or which is put there; empty if
    nothing.
    """
    fields = {"M": "4/4", "K": "C", **dict(re.findall(r"(?m)^([KM]): *(\S+)", abc)), letter: target}
    _, target_metre, target_key = parsed(f"M:{fields['M']}\nK:{fields['K']}\nC")
    if re.search(rf"(?m)^{letter}:", abc):
        _, metre, key = parsed(abc)
        is_right = {"M": metre == target_metre, "K": key.sharps == target_key.sharps}.get(
            letter, True
        )
        return "" if is_right else "music21 reads another key signature or metre"
    if letter == "K":
        lines = abc.splitlines()
        place = next(at for at, line in enumerate(lines) if not FIELD.fullmatch(line))
        score, *_ = parsed("\n".join([*lines[:place], f"K:{target}", *lines[place:]]))
        is_right = score.analyze("key").sharps == target_key.sharps
        return (
            ""
            if is_right
            else "music21's estimate of the key has other sharps or flats than target"
        )
    # Without a metre, music21 leaves measures that are too long as they are.
    score, *_ = parsed((f"L:{target}\n" if letter == "L" else "") + re.sub(r"(?m)^M:.*\n", "", abc))
    lengths = Counter(
        measure.highestTime for measure in score.recurse().getElementsByClass("Measure")
    )
    is_right = lengths.most_common(1)[0][0] == target_metre.barDuration.quarterLength
    return (
        ""
        if is_right
        else "with the metre or note length of target, most measures are not full, by music21"
    )


def faults(task, entry, wholes):
    """The facts and faults of a row; `wholes` has the bars of whole tunes by title."""
    target, index = re.sub(r"\\(['\\])", r"\1", entry["target"].strip()), entry["target_index"]
    yield "rows"
    if task == "bar_count":
        measures = measures_of(entry["score"])
        if target != str(len(bars_of(entry["score"]))):
            yield "target is not the number of parts between bar lines"
        if measures is None:
            yield "music21 cannot count"
        elif target == str(measures[0]) != str(measures[1]):
            yield "target counts a pickup, by music21"
        elif target != str(measures[0]):
            yield "target is another number than music21's, with or without pickup"
        return
    if task == "error_detection":
        errors = [(int(number), token.strip()) for number, token in ERROR.findall(entry["error"])]
        named, bars = set(re.findall("10|[0-9]", target)), bars_of(entry["score"])
        if named != {str(bar) for bar, _ in errors}:
            yield "target is not the set of the measures in error"
        if any(token and (bar > len(bars) or token not in bars[bar - 1]) for bar, token in errors):
            yield "a note in error is not in its measure"
        if any(token and not any(token in bar for bar in bars) for _, token in errors):
            yield "a note in error is nowhere in the score"
        if index == str(len([part for part in entry["error"].split(", ") if part])):
            yield "target_index is the number of errors"
        options = re.findall(r"\d+", entry["choices"])
        if options[int(index)] == str(len(entry["error"].split(", "))):
            yield "choices has the number of errors at target_index"
        return
    options = options_of(entry["choices"])
    yield f"{len(options)} options"
    if len(set(options)) < len(options):
        yield "two options are the same"
    if index and target and options[int(index)] != target:
        yield "target is not the option at target_index"
    if task in ("metadata_qa", "metadata_prediction"):
        fields = {"key": "K", "time": "M", "unit": "L"}
        letter = next(
            letter for word, letter in fields.items() if f"the {word} " in entry["task_description"]
        )
        values = re.findall(rf"(?m)^{letter}:\s*(\S+)", entry["score"])
        if values:
            yield (
                "the header names the answer"
                if target in values
                else "the header names another value"
            )
        if len(set(values)) > 1:
            yield "the score has several values of the field"
        if fault := metadata_fault(letter, target, entry["score"]):
            yield fault
    if task in ("next_bar_prediction", "bar_sequencing"):
        places = range(len(options)) if task == "next_bar_prediction" else map(int, target)
        order = [plain(options[place]) for place in places] if task != "next_bar_prediction" else []
        right = order or [plain(options[int(index)])]
        shown = [plain(bar) for bar in bars_of(re.sub(r"K:(\S+)\|", r"K:\1\n|", entry["score"]))]
        found = [
            "|".join(filter(None, map(plain, bars_of(tune))))
            for tune in wholes.get(entry["title"], [])
        ]
        if found:
            yield "whole tune found"
            if not any("|".join(filter(None, [*shown[-1:], *right])) in tune for tune in found):
                yield "the whole tune goes on otherwise"


def main(folder):
    """Print file, fact and number of rows."""
    tables, missing = read_tables(Path(folder))
    wholes = {}
    for tune in tunes(tables):
        wholes.setdefault(tune.title, []).append(tune.abc)
    for task, table in tables.items():
        counts = Counter(fault for entry in table for fault in faults(task, entry, wholes))
        for fault, count in counts.items():
            print(f"{FILES[task][0]} | {fault} | {count}")
    print("missing:", ", ".join(missing) or "none")


if __name__ == "__main__":
    main(sys.argv[1])
