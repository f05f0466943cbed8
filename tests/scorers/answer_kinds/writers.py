"""A writer who knows the answer and one who does not: values of each kind in natural spellings and layouts.

Everything here is written by hand from how musicians write, without the readers.
"""

import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

import music_evals.benchmarks

FOLDER = Path(music_evals.benchmarks.__file__).parent
# Tags whose words a vocabulary runs together, as they are written in English.
ENGLISH = {
    name.replace(" ", ""): name
    for name in (
        "acid jazz", "alternative rock", "blues rock", "bossa nova", "break beat", "chill out",
        "classic rock", "dark ambient", "dark wave", "deep house", "down tempo", "easy listening",
        "electro pop", "euro dance", "hard rock", "hip hop", "instrumental pop",
        "instrumental rock", "jazz fusion", "new age", "new wave", "pop folk", "pop rock",
        "post rock", "punk rock", "singer songwriter", "synth pop", "trip hop", "world fusion",
        "acoustic bass guitar", "acoustic guitar", "classical guitar", "double bass",
        "drum machine", "electric guitar", "electric piano", "pipe organ", "sound scape",
    )
} | {"drumnbass": "drum and bass", "rnb": "R&B", "rocknroll": "rock 'n' roll"}  # fmt: skip


def _groups(table, path):
    """All tables of a file that have labels or options, with their names."""
    if isinstance(table, Mapping):
        if "labels" in table or ("options" in table and "kind" in table):
            yield path, table
        for name, entry in table.items():
            yield from _groups(entry, f"{path} {name}")


def vocabularies():
    """Name of a vocabulary → kind of the answers, its tags and their aliases."""
    named = {}
    for path in sorted(FOLDER.glob("*/benchmark.toml")):
        file = tomllib.loads(path.read_text(encoding="utf-8"))
        for name, table in _groups(file, path.parent.name):
            tags = table.get("labels", table.get("options", ()))
            tags = tags.values() if isinstance(tags, Mapping) else tags
            tags = [tag for tag in tags if isinstance(tag, str)]
            kind = table.get("kind", "label" if path.parent.name == "vocalset" else "labels")
            if kind in ("label", "labels", "list") and len(tags) > 1:
                named[name] = (kind, tags, file.get("aliases", {}))
    return named


# --- values, and their references ---


def _pitches(random, count):
    return random.sample(range(48, 84), count)


NAMES = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")
FLATS = {"C#": "Db", "D#": "Eb", "F#": "Gb", "G#": "Ab", "A#": "Bb"}
KEYS = ("A minor", "F# minor", "Bb major", "Eb major", "G major", "C# minor", "D minor")
GERMAN = {
    "A minor": "a-Moll", "F# minor": "fis-Moll", "Bb major": "B-Dur", "Eb major": "Es-Dur",
    "G major": "G-Dur", "C# minor": "cis-Moll", "D minor": "d-Moll",
}  # fmt: skip
TRITONES = {
    "A minor": "Eb minor", "F# minor": "C minor", "Bb major": "E major", "Eb major": "A major",
    "G major": "C# major", "C# minor": "G minor", "D minor": "G# minor",
}  # fmt: skip
LINES = (
    "two hearts are beating in the night", "i will not change the colour of my dreams",
    "we are walking to the river", "three birds are singing over the harbour",
)  # fmt: skip
OTHER_LINES = ("nobody knows", "quickly gone", "everything burns", "silence falls again")
CHINESE = (
    ("月亮代表我的心", "月亮代表我的心"),
    ("我爱你中国", "我愛你中國"),
    ("听海哭的声音", "聽海哭的聲音"),
)
COMPOSERS = (
    "Johann Sebastian Bach",
    "Wolfgang Amadeus Mozart",
    "Frédéric Chopin",
    "Giuseppe Verdi",
)
SECTIONS = {
    "intro": "chorus", "verse": "bridge", "pre-chorus": "inst", "chorus": "outro", "bridge": "silence",
    "inst": "verse", "outro": "intro", "silence": "chorus", "end": "end",
}  # fmt: skip
"""Label → another one."""
NUMBERS = {
    120: "one hundred and twenty",
    96: "ninety-six",
    84: "eighty-four",
    132: "one hundred thirty-two",
}
Spelling = Callable[[str], str]


def _hz(midi):
    return 440 * 2 ** ((int(midi) - 69) / 12)


def _name(midi):
    return f"{NAMES[int(midi) % 12]}{int(midi) // 12 - 1}"


def _flat(midi):
    name = _name(midi)
    return FLATS.get(name[:-1], name[:-1]) + name[-1]


def _in_words(midi):
    return _name(midi).replace("#", " sharp ").replace("  ", " ")


def _clock(seconds):
    return f"{int(float(seconds)) // 60:02}:{float(seconds) % 60:05.2f}"


def _two(seconds):
    return f"{float(seconds):.2f}"


def _section(value, form):
    time, label = value.split()
    return form.format(time=time, clock=_clock(time), label=label, title=label.title())


def english(tag):
    return ENGLISH.get(tag, tag)


SPELLINGS = {
    "tags": (
        str,
        english,
        lambda tag: english(tag).title(),
        lambda tag: english(tag).replace(" ", "-"),
        lambda tag: english(tag).upper().replace(" ", "_"),
    ),
    "words": (str, str.title, str.upper, str.capitalize, lambda word: f"“{word}”"),
    "midi": (str, lambda m: f"{m} ({_name(m)})", lambda m: f"MIDI {m}", lambda m: f" {m}", lambda m: f"MIDI note {m}"),
    "name": (_name, _flat, lambda m: _name(m).replace("#", "♯"), _in_words, lambda m: _flat(m).replace("b", "♭")),
    "hz": (
        lambda m: f"{_hz(m):.2f}",
        lambda m: f"{_hz(m):.2f} Hz",
        lambda m: f"{_hz(m):.2f}Hz",
        lambda m: f"{_name(m)} ({_hz(m):.2f} Hz)",
        lambda m: f"{_hz(m):.3f} hz",
    ),
    "key": (
        str,
        lambda key: key.replace("#", "♯").replace("b ", "♭ "),
        lambda key: key.replace("#", "-sharp").replace("b ", "-flat "),
        lambda key: key.upper().replace("B ", "b ") if key[1] == "b" else key.title(),
        lambda key: GERMAN.get(key, key),
    ),
    "number": (str, lambda n: f"{n} BPM", lambda n: f"approximately {n} bpm", lambda n: NUMBERS.get(int(n), n), lambda n: f"{n} beats per minute"),
    "times": (str, _two, lambda t: f"{_two(t)} s", lambda t: f"{_two(t)}s", _clock),
    "row": (str, lambda r: r.replace(" ", ", "), lambda r: r.replace(" ", "\t"), lambda r: f"({r.replace(' ', ', ')})", lambda r: r.replace(" ", "  ")),
    "section": (
        str,
        lambda v: _section(v, "{clock} {title}"),
        lambda v: _section(v, "{title}: {time} s"),
        lambda v: _section(v, "[{clock}] {title}"),
        lambda v: _section(v, "{label} ({clock})"),
    ),
    "line": (
        str,
        str.capitalize,
        lambda line: f"{line.capitalize()},",
        lambda line: line.replace("two", "2").replace("three", "3").replace("colour", "color").replace("harbour", "harbor"),
        lambda line: line.replace("will not", "won't").replace("we are", "we're").upper(),
    ),
    "chinese": (str, lambda line: dict(CHINESE).get(line, line), lambda line: f"{line}。", lambda line: f"「{line}」", lambda line: "，".join((line[:2], line[2:]))),
    "person": (str, str.upper, lambda n: n.replace("é", "e"), lambda n: f"{n.split()[-1]}, {' '.join(n.split()[:-1])}", lambda n: n.split()[-1]),
}  # fmt: skip


class Answer:
    """The values of an answer, what spells them, their reference, and other values that are all wrong."""

    def __init__(self, spelled, values, reference, wrong):
        self.spelled, self.values, self.reference, self.wrong = spelled, values, reference, wrong


def _of_tags(kind, random, tags):
    if kind == "list":
        values = [random.choice(tags) for _ in range(random.randint(2, 14))]
        wrong = [value for value in values for _ in "ab"]
        return Answer("tags", values, "; ".join(values), wrong)
    drawn = random.sample(tags, min(len(tags), 2 * random.randint(1, 7)))
    values = drawn[: len(drawn) // 2]
    return Answer("tags", values, "; ".join(values), drawn[len(values) :])


def _of_pitches(kind, random):
    name, _, form = kind.partition(":")
    values = [
        str(midi) for midi in _pitches(random, 1 if name == "pitch" else random.randint(2, 14))
    ]
    wrong = [str(midi) for midi in range(30, 30 + len(values))]
    return Answer(form, values, " ".join(values), wrong)


def _of_times(random):
    times, now = [], 0.0
    for _ in range(random.randint(2, 16)):
        now += random.choice((1.1, 1.35, 1.5, 1.75, 2.2))
        times.append(round(now, 2))
    wrong = [f"{time + 0.5:g}" for time in times]
    return Answer(
        "times", [f"{time:g}" for time in times], " ".join(f"{time:g}" for time in times), wrong
    )


def _of_rows(kind, random):
    starts = range(random.randint(2, 12))
    if kind == "notes":
        rows = [f"{start / 2} {start / 2 + 0.5} {60 + start % 12}" for start in starts]
        wrong = [f"{start / 2 + 0.2} {start / 2 + 0.5} {40 + start % 12}" for start in starts]
    else:
        rows = [f"{start / 10} {220 + start}" for start in starts]
        wrong = [f"{start / 10} {600 + start}" for start in starts]
    return Answer("row", rows, "; ".join(rows), wrong)


def _of_sections(random):
    now, values = 0.0, []
    for _ in range(random.randint(1, 14)):
        values.append(f"{now:g} {random.choice([*SECTIONS][:-1])}")
        now = round(now + random.choice((6.5, 12.4, 15, 20.85)), 2)
    values.append(f"{now:g} end")
    wrong = [f"{time} {SECTIONS[label]}" for time, label in map(str.split, values)]
    return Answer("section", values, "; ".join(values), wrong)


def _of_lines(kind, random):
    if kind == "text:cer":
        values = [random.choice(CHINESE)[0]]
        return Answer("chinese", values, values[0], ["请不要走"])
    values = random.sample(LINES, random.randint(1, 3))
    return Answer("line", values, " ".join(values), random.sample(OTHER_LINES, len(values)))


def answer_of(kind, random, tags):
    """An answer of a kind; None for a kind that no one here can write."""
    base = kind.partition(":")[0]
    if base in ("label", "labels", "list"):
        answer = _of_tags(kind, random, tags)
        if kind == "label":
            answer.values, answer.wrong = answer.values[:1], answer.wrong[:1]
            answer.reference = answer.values[0]
        return answer
    if base in ("pitch", "sequence", "voice", "set"):
        return _of_pitches(kind, random)
    if base in ("times", "all_times", "beats"):
        return _of_times(random)
    if base in ("notes", "melody"):
        return _of_rows(kind, random)
    if base == "segments":
        return _of_sections(random)
    if base == "text":
        return _of_lines(kind, random)
    if base == "key":
        key = random.choice(KEYS)
        return Answer("key", [key], key, [TRITONES[key]])
    if base == "number":
        number = random.choice([*NUMBERS])
        return Answer("number", [str(number)], str(number), [str(number + 31)])
    if base == "name":
        name, other = random.sample(COMPOSERS, 2)
        return Answer("person", [name], name, [other])
    return None


# --- layouts ---


def _one_line(values):
    return ", ".join(values)


def _wrapped(values):
    return ",\n".join(", ".join(values[at : at + 10]) for at in range(0, len(values), 10))


def _table(values):
    return "\n".join(["| answer |", "|---|", *(f"| {value} |" for value in values)])


def _numbered_table(values):
    rows = (f"| {number} | {value} |" for number, value in enumerate(values, 1))
    return "\n".join(["| # | answer |", "|---|---|", *rows])


LAYOUTS = {
    "one line": lambda values: f"Final Answer: {_one_line(values)}",
    "below": lambda values: "I listened closely.\n\n**Final Answer:**\n" + "\n".join(values),
    "wrapped": lambda values: f"Final Answer: {_wrapped(values)}",
    "bullets": lambda values: "Final Answer:\n" + "\n".join(f"- {value}" for value in values),
    "numbers": lambda values: "Final Answer:\n\n" + "\n".join(f"{n}. {value}" for n, value in enumerate(values, 1)),
    "table": lambda values: f"Final Answer:\n\n{_table(values)}",
    "numbered table": lambda values: f"Final Answer:\n{_numbered_table(values)}",
    "array": lambda values: f"Final Answer: {json.dumps([*values], ensure_ascii=False)}",
    "object": lambda values: json.dumps({"answer": [*values]}, ensure_ascii=False),
    "bold": lambda values: f"Final Answer: **{_one_line(values)}**\n\nThis is what I could make out in the recording.",
    "fence": lambda values: "Final Answer:\n```\n" + "\n".join(values) + "\n```",
}  # fmt: skip
ROWS_NEED_LINES = ("one line", "wrapped", "bold")  # layouts in which rows of numbers have no lines


def layouts_of(kind):
    """The layouts in which answers of a kind are written."""
    base = kind.partition(":")[0]
    names = [
        name
        for name in LAYOUTS
        if base not in ("notes", "melody", "text", "caption") or name not in ROWS_NEED_LINES
    ]
    return [*names, "one line"] if base == "text" else names


def write(answer, values, spelling, layout):
    """The reply with values in a spelling and a layout."""
    spell = SPELLINGS[answer.spelled][spelling]
    return LAYOUTS[layout]([spell(value) for value in values])
