r"""LilyBench's understanding as its authors' code has it: rows, readings and figures, by other means than the package.

Texts are scanned, not matched as a whole. What a draw decides is given as the set of all that it may give. ``paper`` of
the package must agree with this; the procedure is that of arXiv 2606.08722 and its code.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from scipy.stats import kendalltau

CHOICES = (
    *("metadata_qa", "next_bar_prediction", "metadata_prediction", "music_captioning"),
    *("composer_recognition", "genre_recognition", "emotion_recognition"),
)
QUADRANTS = ("Q1", "Q2", "Q3", "Q4")
GARBAGE = (" @#$% ", " ??? ", " %%%bogus%%% ", " <<garbled>> ")
EIGHT_QUARTERS = " c4 d4 e4 f4 g4 a4 b4 c'4 "
LEAPS = (" c,,,4 c''''4 ", " c''''4 c,,,4 ", " c,,,8 c''''8 ")
OUTSIDE = {
    "c major": ("fis", "cis", "gis", "dis", "ais"),
    "a minor": ("fis", "cis", "gis", "dis", "ais"),
    "g major": ("cis", "gis", "dis", "ais"),
    "f major": ("fis", "cis", "gis", "dis"),
    "d major": ("gis", "dis", "ais", "bes"),
}
SUFFIXES = ("isis", "eses", "is", "es", "dd", "d", "bb", "b", "")


# --- texts ---


def _spaces(text: str, start: int) -> int:
    while start < len(text) and text[start].isspace():
        start += 1
    return start


def _end(text: str, place: int) -> int:
    """Behind the brace that closes the one at a place; -1 where none does."""
    depth = 0
    for here in range(place, len(text)):
        depth += {"{": 1, "}": -1}.get(text[here], 0)
        if depth == 0:
            return here + 1
    return -1


def _blocks(text: str, words: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Blocks in braces, with all that they hold."""
    place = 0
    while place < len(text):
        word = next((word for word in words if text.startswith(word, place)), None)
        opened = _spaces(text, place + len(word)) if word else place
        end = _end(text, opened) if word and text[opened : opened + 1] == "{" else -1
        if end > 0:
            yield place, end
        place = max(end, place + 1)


def _bar_commands(text: str) -> Iterator[tuple[int, int]]:
    start = text.find("\\bar")
    while start >= 0:
        end = start + 1
        opened = _spaces(text, start + 4)
        if text[opened : opened + 1] == '"' and (closed := text.find('"', opened + 1)) >= 0:
            end = closed + 1
            yield start, end
        start = text.find("\\bar", end)


def _strings(text: str) -> Iterator[tuple[int, int]]:
    offset = 0
    for line in text.split("\n"):
        quotes = [offset + place for place, sign in enumerate(line) if sign == '"']
        for first, second in zip(quotes[::2], quotes[1::2], strict=False):
            yield first, second + 1
        offset += len(line) + 1


def _without(text: str, spans: Iterator[tuple[int, int]], *, blank: bool, left: str = "") -> str:
    parts, end = [], 0
    for start, stop in spans:
        parts += [text[end:start], " " * (stop - start) if blank else left]
        end = stop
    return "".join([*parts, text[end:]])


def _quiet(text: str, *, blank: bool) -> str:
    text = _without(text, _blocks(text, ("\\header", "\\paper")), blank=blank)
    text = _without(text, _bar_commands(text), blank=blank)
    return _without(text, _strings(text), blank=blank, left='""')


def bars(text: str) -> list[str]:
    """The bars of a text; empty ones do not count."""
    return [part.strip() for part in _quiet(text, blank=False).split("|")[:-1] if part.strip()]


def separators(text: str) -> list[int]:
    """Where a text has its bar lines; empty bars do count."""
    return [place for place, sign in enumerate(_quiet(text, blank=True)) if sign == "|"]


def title(text: str) -> str | None:
    """The title of the first header."""
    for start, end in _blocks(text, ("\\header", "\\paper")):
        if not text.startswith("\\header", start):
            continue
        for found in re.finditer(r'title\s*=\s*"', text[start:end]):
            first = start + found.start()
            if text[first - 1].isascii() and (text[first - 1].isalpha() or text[first - 1] == "_"):
                continue
            value, place = "", start + found.end()
            while place < end - 1 and text[place] != '"' and text[place : place + 2] != "\\\n":
                step = 2 if text[place] == "\\" else 1
                value += text[place : place + step]
                place += step
            if place < end - 1 and text[place] == '"':
                return value.strip() or None
        return None
    return None


def keys(text: str, notes: Sequence[str], mode_name: str = "[A-Za-z]+") -> list[tuple[int, int, str]]:
    """The key commands: start, end, and the key."""
    found = []
    for command in re.finditer(r"\\key(?=\s)", text):
        first = _spaces(text, command.end())
        for note in notes:
            last = first + len(note)
            mode = re.match(rf"\\{mode_name}", text[(start := _spaces(text, last)) :])
            if text.startswith(note, first) and start > last and mode:
                found.append((command.start(), start + mode.end(), f"{note} {mode[0]}"))
                break
    return found


ROMAN = ("do", "re", "mi", "fa", "sol", "la", "si")
NOTES = tuple(name + suffix for name in (*"abcdefg", *ROMAN) for suffix in SUFFIXES)
DUTCH = tuple(name + suffix for name in "abcdefg" for suffix in SUFFIXES)


def metres(text: str) -> list[tuple[int, int, str, str]]:
    """The metre commands: start, end, numerator, denominator."""
    found = re.finditer(r"\\time\s+(?P<above>\d+)\s*/\s*(?P<below>\d+)", text)
    return [(one.start(), one.end(), one["above"], one["below"]) for one in found]


def field(text: str, name: str) -> str | None:
    """The first key (``g \\major``), metre (``3/4``) or note length (``4``)."""
    if name == "key":
        return next((key for *_, key in keys(text, NOTES)), None)
    return next((f"{above}/{below}" if name == "metre" else below for *_, above, below in metres(text)), None)


def masked(text: str, name: str) -> str:
    """A text without the commands that state a field."""
    spans = keys(text, NOTES) if name == "key" else metres(text)
    return _without(text, iter([(one[0], one[1]) for one in spans]), blank=False)


def blanked(text: str, name: str) -> str:
    """A text in which all that ends in a name is set to nothing."""
    assigned = re.compile(rf'{name}\s*=\s*"')
    result, place = "", 0
    while (found := assigned.search(text, place)) and (closed := text.find('"', found.end())) >= 0:
        result += text[place : found.end()] + '"'
        place = closed + 1
    return result + text[place:]


def corruptions(text: str, category: str) -> set[tuple[str, int]]:
    """All that a corruption may make of a text, with the number of the bar called wrong; none if it does not apply."""
    if category == "invalid_metadata":
        return {(text[:start] + "\\key xx \\nonsense" + text[end:], 1) for start, end, _ in keys(text, NOTES)[:1]}
    places = separators(text)
    if len(places) < 2 or (category == "invalid_bar_duration" and not metres(text)):
        return set()
    if category == "accidental_outside_key":
        key = next((key.replace("\\", "") for *_, key in keys(text, DUTCH, r"\w+")), "")
        tokens = tuple(f" {note}4 " for note in OUTSIDE.get(key, ("bisis", "feses")))
    else:
        tokens = {"invalid_content": GARBAGE, "invalid_bar_duration": (EIGHT_QUARTERS,), "melodic_leap": LEAPS}[
            category
        ]
    return {
        (text[:place] + token + text[place:], number)
        for number, place in enumerate(places, start=1)
        for token in tokens
    }


def clip(text: str) -> str:
    """The first sixteen bars of a clip."""
    found = bars(text)[:16]
    return " | ".join(found) + " |\n" if found else text


# --- replies ---


def parse(task: str, reply: str) -> str:
    """What the published runner takes of a reply; nothing where it finds none."""
    reply = reply.strip()
    if task in CHOICES:
        return next((sign for sign in reply if sign in "0123"), "")
    runs = "".join(sign if sign.isdecimal() else " " for sign in reply).split()
    if task == "bar_count":
        return runs[0] if runs else ""
    best = ""
    for run in runs:
        if len(run) > len(best):
            best = run
    return best


def order_score(parsed: str, gold: str) -> float:
    """The score of an order of four bars."""
    digits = [int(sign) for sign in parsed]
    if sorted(digits) != [0, 1, 2, 3]:
        return 0.0
    return float((kendalltau([int(sign) for sign in gold], digits).statistic + 1) / 2)


def error_score(parsed: str, gold: str) -> float:
    """F1 of the bars called wrong."""
    said, right = {int(parsed)} if parsed else set(), set() if gold == "none" else {int(gold)}
    return float(said == right) if len(said) < 2 and len(right) < 2 else 0.0


def score(task: str, reply: str, gold: str) -> float:
    """The score of a reply."""
    parsed = parse(task, reply)
    if task == "bar_sequencing":
        return order_score(parsed, gold)
    if task == "error_detection":
        return error_score(parsed, gold)
    return float(parsed == gold)


def figures(task: str, records: Sequence[tuple[str, str, str]]) -> dict[str, float]:
    """The figures of a task, from replies, right answers and categories."""
    values = [score(task, reply, gold) for reply, gold, _ in records]
    mean = sum(values) / len(values)
    if task == "bar_sequencing":
        return {"tau": mean}
    if task == "error_detection":
        by_category = defaultdict(list)
        for (*_, category), value in zip(records, values, strict=True):
            by_category[category].append(value)
        means = {f"{category}/f1": sum(some) / len(some) for category, some in by_category.items()}
        return {**means, "macro_f1": sum(means.values()) / len(means)}
    if task == "bar_count":
        pairs = [(parse(task, reply), gold) for reply, gold, _ in records]
        errors = sorted(abs(int(parsed) - int(gold)) for parsed, gold in pairs if parsed)
        within = {f"within_{most}": sum(one <= most for one in errors) / len(errors) for most in (1, 5, 10)}
        return {"exact": mean, **within, "median_absolute_error": errors[len(errors) // 2]}
    return {"accuracy": mean}


def confused(records: Sequence[tuple[str, str, Sequence[str]]]) -> dict[tuple[str, str], int]:
    """How often each quadrant was taken for each (or for none, ""), from replies, right answers and options."""
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for reply, gold, options in records:
        parsed = parse("emotion_recognition", reply)
        counts[options[int(gold)], options[int(parsed)] if parsed else ""] += 1
    return counts
