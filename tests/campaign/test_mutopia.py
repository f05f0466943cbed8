"""A checkout of the Mutopia Project whose files were damaged: each piece is read, or refused with
its reason.
"""

import random
import re
from pathlib import Path

from music_evals.datasets_builders.dataset_io import refusals
from music_evals.datasets_builders.lilybench.mutopia import find_pieces, read_pieces
from music_evals.datasets_builders.lilybench.strict.survey import survey

MUTOPIA = Path(__file__).parents[3] / "shared/data/mutopia/ftp"
PIECE = r"""\version "2.14.0"
\header { title = "Air" mutopiacomposer = "BachJS" }
melody = \relative c' { \key g \major \time 3/4 \partial 4 d4 | g2. ~ | g2 \times 2/3 { a8 b c } | }
%% Größe
\score { \new Staff << \melody \addlyrics { la la } >> \layout { } \midi { } }
"""
IN_CI = ("none", "empty blocks", "cut", "empty", "odd version", "UTF-16")


def _brace(text, draw):
    places = [found.start() for found in re.finditer("[{}]", text)] or [0]
    place = draw.choice(places)
    return text[:place] + text[place + 1 :]


def _cut(text, draw):
    return text[: draw.randrange(len(text) + 1)]


def _long_line(text, draw):
    line = draw.choice(["%% %s", 'x = "%s"', "z = { %s }"]) % (("c" * 99 + " ") * 10_000)
    return f"{text}\n{line}\n"


def _inside(what):
    def damaged(text, draw):
        content = text.encode(errors="replace")
        place = draw.randrange(len(content) + 1)
        return content[:place] + what + content[place:]

    return damaged


def _odd_version(text, draw):
    return re.sub(r"(\\version\s*)\"[^\"]*\"", draw.choice([r'\1"2"', r"\1#(f)", r"\1"]), text)


DAMAGES = {
    "none": lambda text, _: text,
    "empty blocks": lambda text, _: re.sub(
        r"(\\(?:header|score|paper|layout|midi)\s*)\{[^{}]*\}", r"\1{ }", text
    ),
    "a missing brace": _brace,
    "a missing quote": lambda text, _: text.replace('"', "", 1),
    "cut": _cut,
    "empty": lambda _, __: "",
    "no version": lambda text, _: text.replace("\\version", "%"),
    "odd version": _odd_version,
    "Latin-1": lambda text, _: text.encode("latin-1", "replace"),
    "UTF-16": lambda text, _: text.encode("utf-16"),
    "CRLF": lambda text, _: text.replace("\n", "\r\n"),
    "CR": lambda text, _: text.replace("\n", "\r"),
    "byte-order mark": lambda text, _: "\ufeff" + text,
    "zero bytes": _inside(b"\0\x1b"),
    "no UTF-8": _inside(b"\xff\x81"),
    "a line of a million": _long_line,
    "includes itself": lambda text, _: text + '\n\\include "score.ly"\n',
}


def sources(full, draw):
    """Texts of pieces by name: pieces of Mutopia in the whole campaign if they are at hand, else
    one of our own.
    """
    if not full or not MUTOPIA.is_dir():
        return [("piece", PIECE)]
    found = [(name, files[0]) for name, files in find_pieces(MUTOPIA).items()]
    return [
        (name, path.read_bytes().decode(errors="replace")) for name, path in draw.sample(found, 60)
    ]


def test_no_damaged_piece_ends_a_build(tmp_path, counting, full):
    draw = random.Random(0)
    names = []
    for damage in DAMAGES if full else IN_CI:
        for name, text in sources(full, draw):
            damaged = DAMAGES[damage](text, draw)
            path = tmp_path / damage.replace(" ", "-") / name / "score.ly"
            path.parent.mkdir(parents=True)
            path.write_bytes(
                damaged.encode(errors="replace") if isinstance(damaged, str) else damaged
            )
            names.append(path.parent.relative_to(tmp_path).as_posix())
    steps = []
    pieces, left_out = read_pieces(tmp_path, on_piece=lambda *step: steps.append(step))
    surveyed = {}
    with counting("damaged pieces of Mutopia") as tally:
        for row, _ in survey(pieces):
            surveyed[row["id"]] = row["usable"]
            with tally.case(row["id"]):
                assert row["usable"] or row["reason"]
        for name in left_out:
            with tally.case(name):
                assert all(what.isprintable() for what in refusals({name: left_out[name]}))
    assert sorted([*surveyed, *left_out]) == sorted(names)
    assert steps == [("reading", len(names))] * len(names)
    assert not any(surveyed.get(name) for name in names if name.startswith("empty/"))
    assert any(name.startswith("none/") for name in surveyed)
