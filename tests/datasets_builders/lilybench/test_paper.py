"""The published procedure, on a small corpus written by hand and on Mutopia's files."""

import re
from collections import Counter
from pathlib import Path

import pytest

from music_evals.datasets_builders.lilybench.paper import CONTEXT, make_rows, split_bars
from music_evals.datasets_builders.lilybench.rows import CORRUPTIONS, FIELDS, SIZES, TASKS, Piece, TaskName, TaskRow

MUTOPIA = Path(__file__).parents[4] / "shared" / "data" / "mutopia" / "ftp"
needs_mutopia = pytest.mark.skipif(not MUTOPIA.is_dir(), reason="no copy of Mutopia in ../shared/data/mutopia")
MUTOPIA_TASKS = tuple(task for task in TASKS if task != "emotion_recognition")
KEYS = ("c \\major", "g \\major", "bes \\major", "a \\minor", "fis \\minor")
METRES = ("4/4", "3/4", "6/8", "2/2", "3/16")
COMPOSERS = ("Ann Abel", "Bo Berg", "Cy Cole", "Di Dove", "Ed Emm")
STYLES = ("Baroque", "Classical", "Folk", "Jazz", "March")


def text(number: int) -> str:
    """One piece of two voices; it says its title twice, and has seven bars and a stray bar sign in a comment."""
    return rf"""\version "2.18.2" % made by hand | on paper
\header {{
  title = "Tune No. {number}" mutopiatitle = "Tune No. {number}" subtitle = "a | b {{"
  composer = "{COMPOSERS[number % 5]}"
  style = "{STYLES[number // 5 % 5]}" % {{ not a block
}}
\paper {{ line = "|" indent = 0 }}
upper = \relative c'' {{ \key {KEYS[number % 5]} \time {METRES[number // 3 % 5]} c4 d | e f | \key d \dorian g a | }}
lower = {{ \time 2/4 c,2 | b,4 a, | g,1 \bar "||" | }}
"""


PIECES = [Piece(f"composer/tune-{number:02d}", text(number), "", {}) for number in range(40)]
SMALL: dict[TaskName, int] = dict.fromkeys(MUTOPIA_TASKS, 20)


def small(task: TaskName, seed: int = 1) -> list[TaskRow]:
    return make_rows(task, PIECES, seed, SMALL)


def right(row: TaskRow) -> str:
    return row["options"][int(row["answer"])]


def raw(row: TaskRow) -> str:
    return next(piece.raw for piece in PIECES if piece.id == row["piece"])


def test_bars_end_at_every_sign_outside_of_header_paper_and_quotes() -> None:
    bars = split_bars(PIECES[0].raw)
    texts = [bar.text for bar in bars]
    assert texts[0] == '\\version "2.18.2" % made by hand'
    assert texts[1].startswith("on paper\n")
    assert texts[1].endswith("c4 d")
    assert not {"title", "indent"} & set(texts[1].split())
    assert texts[2:5] == ["e f", "\\key d \\dorian g a", "}\nlower = { \\time 2/4 c,2"]
    assert texts[6:] == ['g,1 \\bar "||"']
    assert all(PIECES[0].raw[bar.end] == "|" for bar in bars)


@pytest.mark.parametrize(
    ("source", "bars"),
    [
        ("", 0),
        ("c1", 0),
        ("|", 1),
        ("| |", 2),
        ('"| \n |', 1),  # a string that is not closed ends with its line
        ('"\\"|" |', 1),
        ('\\header { a = "}|" % } |\n | } | |', 2),
        ("\\header { never closed | |", 0),
        ("\\headers { | }", 1),
        ("\\paper { { | } | } |", 1),
    ],
)
def test_bars_by_hand(source: str, bars: int) -> None:
    assert len(split_bars(source)) == bars


def test_splitting_takes_time_in_proportion() -> None:
    for hostile in ("\\header{" * 50_000, '"' * 400_001, "\\header" + " " * 400_000, "%" * 400_000, '"\\' * 200_000):
        assert split_bars(hostile) == []


@pytest.mark.parametrize("task", MUTOPIA_TASKS)
def test_rows_depend_on_the_seed_alone(task: TaskName) -> None:
    rows = small(task)
    assert make_rows(task, PIECES[::-1], 1, {**SMALL, "bar_count": 1, task: 20}) == rows
    assert small(task, seed=2) != rows
    assert len(rows) == len({row["id"] for row in rows}) == 20
    for row in rows:
        assert row["id"] == f"{task}.paper.{row['piece']}" + (f".{row['kind']}" if row["kind"] else "")
        assert len(row["options"]) == len(set(row["options"])) == (0 if task in ("bar_count", "error_detection") else 4)


def test_only_the_literal_title_and_composer_are_blanked() -> None:
    assert all((row["score"], row["answer"]) == (raw(row), "7") for row in small("bar_count"))
    for row in small("music_captioning"):
        number = int(row["piece"][-2:])
        assert right(row) == f"Tune No. {number}"
        assert row["score"] == raw(row).replace(f'{{\n  title = "Tune No. {number}"', '{\n  title = ""')
        assert f'mutopiatitle = "Tune No. {number}" subtitle = "a | b {{"' in row["score"]
    for row in small("composer_recognition"):
        assert right(row) == COMPOSERS[int(row["piece"][-2:]) % 5]
        assert set(row["options"]) < set(COMPOSERS)
        assert row["score"] == raw(row).replace(right(row), "")
    for row in small("genre_recognition"):
        assert row["score"] == raw(row)
        assert f'style = "{right(row)}"' in row["score"]


@pytest.mark.parametrize("task", ["metadata_qa", "metadata_prediction"])
def test_metadata(task: TaskName) -> None:
    rows = small(task)
    assert Counter(row["kind"] for row in rows) == {"key": 7, "metre": 7, "note_length": 6}
    assert [row["kind"] for row in rows[:3]] == list(FIELDS)
    for row in rows:
        number = int(row["piece"][-2:])
        key, metre = KEYS[number % 5], METRES[number // 3 % 5]
        expected = {"key": key.replace("\\", ""), "metre": metre, "note_length": metre.partition("/")[2]}
        assert right(row) == expected[row["kind"]]
        if task == "metadata_qa":
            assert row["score"] == raw(row)
        elif row["kind"] == "key":
            assert row["score"] == raw(row).replace(f"\\key {key}", "\\key [MASK]", 1)
            assert "\\key d \\dorian" in row["score"]
        else:
            assert row["score"] == raw(row).replace(f"\\time {metre}", "\\time [MASK]", 1)
            assert "\\time 2/4" in row["score"]


def test_next_bar_follows_four_bars_of_the_same_score() -> None:
    for row in small("next_bar_prediction"):
        bars = [bar.text for bar in split_bars(raw(row))]
        shown = row["score"].removesuffix(" |\n").split(" |\n")
        start = bars.index(shown[0])
        assert bars[start : start + CONTEXT] == shown
        assert bars[start + CONTEXT] == right(row)
        assert set(row["options"]) < set(bars)


def test_sequence_is_four_bars_in_a_row() -> None:
    rows = small("bar_sequencing")
    for row in rows:
        bars = [bar.text for bar in split_bars(raw(row))]
        ordered = [row["options"][int(digit)] for digit in row["answer"]]
        assert sorted(row["answer"]) == list("0123")
        assert row["score"] == ""
        start = bars.index(ordered[0])
        assert bars[start : start + 4] == ordered
    assert len({row["answer"] for row in rows}) > 8


INSERTED = {
    "invalid_metadata": r"\\key xx \\nonsense",
    "invalid_content": "%%%bogus%%%",
    "invalid_bar_duration": "c4 c4 c4",
    "melodic_leap": r"(?:c'''''4|c,,,4)",
    "accidental_outside_key": r"[a-g](?:is|es)4",
}


def test_corruptions_are_inserted_in_the_bar_named() -> None:
    rows = make_rows("error_detection", PIECES, 1, {"error_detection": 200})
    assert Counter(row["kind"] for row in rows) == dict.fromkeys(CORRUPTIONS, 40)
    for row in rows:
        before = raw(row)
        wrong = int(row["answer"])
        end = split_bars(before)[wrong - 1].end
        inserted = row["score"][end : len(row["score"]) - len(before) + end]
        assert row["score"] == before[:end] + inserted + before[end:]
        assert re.fullmatch(f" {INSERTED[row['kind']]} ", inserted)
        changed = split_bars(row["score"])
        assert [bar.text for bar in changed[: wrong - 1]] == [bar.text for bar in split_bars(before)[: wrong - 1]]
        assert inserted.strip() in changed[wrong - 1].text
    assert {row["answer"] for row in rows} == set("1234567")


def test_accidentals_are_foreign_to_the_key() -> None:
    # What the scale of each key leaves out on a keyboard, in minor with both forms of the sixth and seventh degree.
    foreign = {
        "c \\major": {"cis", "des", "dis", "ees", "fis", "ges", "gis", "aes", "ais", "bes"},
        "g \\major": {"cis", "des", "dis", "ees", "eis", "gis", "aes", "ais", "bes"},
        "bes \\major": {"cis", "des", "ces", "fes", "fis", "ges", "gis", "aes"},
        "a \\minor": {"cis", "des", "dis", "ees", "ais", "bes"},
        "fis \\minor": {"ais", "bes", "bis"},
    }
    seen: dict[str, set[str]] = {}
    for seed in range(6):
        for row in make_rows("error_detection", PIECES, seed, {"error_detection": 200}):
            if row["kind"] == "accidental_outside_key":
                key = KEYS[int(row["piece"][-2:]) % 5]
                end = split_bars(raw(row))[int(row["answer"]) - 1].end
                seen.setdefault(key, set()).add(row["score"][end + 1 :].partition("4")[0])
    for key, names in seen.items():
        assert names <= foreign[key], key
    assert set(seen) == set(KEYS)


def test_too_small_a_corpus_is_named() -> None:
    for task, message in {
        "bar_count": "the corpus has 40 pieces with a bar line, and 100 are needed",
        "music_captioning": "the corpus has 40 pieces with a title in quotes, and 60 are needed",
        "error_detection": "the corpus has 40 pieces with a bar line, and 44 are needed",
        "emotion_recognition": "its rows come from EMOPIA",
    }.items():
        with pytest.raises(ValueError, match=f"{task}.*{message}$"):
            make_rows(task, PIECES, 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="3 different values of composer, and 4 are needed"):
        make_rows("composer_recognition", PIECES[:3], 1, {"composer_recognition": 1})


@pytest.fixture(scope="module")
def mutopia() -> list[Piece]:
    """The largest file of each folder, which is what most pieces consist of."""
    folders = sorted({path.parent for path in MUTOPIA.rglob("*.ly") if not path.parent.name.endswith("-lys")})
    files = [max(folder.glob("*.ly"), key=lambda path: (path.stat().st_size, path.name)) for folder in folders]
    return [
        Piece(str(path.parent.relative_to(MUTOPIA)), path.read_bytes().decode("utf-8", "replace"), "", {})
        for path in files
    ]


@needs_mutopia
@pytest.mark.parametrize("task", MUTOPIA_TASKS)
def test_mutopia_is_large_enough_for_the_published_sizes(task: TaskName, mutopia: list[Piece]) -> None:
    rows = make_rows(task, mutopia, 0)
    assert len({row["id"] for row in rows}) == SIZES[task]
    if task == "bar_count":
        # The published answers run from 1 to 1,508.
        assert min(int(row["answer"]) for row in rows) < 10
        assert max(int(row["answer"]) for row in rows) > 200
    if task == "error_detection":
        assert Counter(row["kind"] for row in rows) == dict.fromkeys(CORRUPTIONS, 44)
    if row_options := [len({option.casefold() for option in row["options"]}) for row in rows if row["options"]]:
        assert set(row_options) == {4}


@needs_mutopia
def test_bars_of_mutopia_counted_another_way(mutopia: list[Piece]) -> None:
    """Where no brace stands within a block's braces: cut out strings, then blocks, and count what is left."""
    block = r"\\(?:header|paper)\s*\{[^{}]*\}"
    compared = 0
    for piece in mutopia:
        silent = re.sub(r'"[^"\n]*"', "", piece.raw)
        rest = re.sub(block, "", silent)
        if '"' not in silent and not re.search(r"\\(header|paper)\b", rest):
            compared += 1
            assert len(split_bars(piece.raw)) == rest.count("|"), piece.id
    assert compared > 40
