"""The finder of leaks: planted leaks are found, and rows without one are answered as by guessing."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from music_evals.datasets_builders.lilybench.rows import CORRUPTIONS, QUADRANTS, TaskName, TaskRow
from perf.lilybench_leaks import Share, commented_words, find_leaks, main, outside_words

COMPOSERS = ("Ann Abelson", "Bo Bergström", "Cy Colewell", "Di Doverill")
CODES = dict(zip(COMPOSERS, ("weimar", "uppsala", "london", "bergen"), strict=True))
Plant = Callable[[TaskRow, random.Random], str]


def made(piece: str, score: str, answer: str, kind: str = "", options: Sequence[str] = ()) -> TaskRow:
    return TaskRow(id=f"{piece}.{kind}", piece=piece, kind=kind, score=score, options=list(options), answer=answer)


def rows_of(
    plant: Plant, options: Sequence[str] = COMPOSERS, shuffled: bool = True, kind: str = "", n: int = 80, seed: int = 7
) -> list[TaskRow]:
    """Rows whose answer is drawn evenly; `plant` writes the score, and may look at the answer."""
    rng = random.Random(seed)
    drawn = ((rng.sample(options, 4) if shuffled else options, rng.randrange(4)) for _ in range(n))
    rows = [made(f"p{number}", "", str(answer), kind, shown) for number, (shown, answer) in enumerate(drawn)]
    return [{**row, "score": plant(row, rng)} for row in rows]


def right(row: TaskRow) -> str:
    return row["options"][int(row["answer"])]


def noise(row: TaskRow | None, rng: random.Random) -> str:
    words = " ".join(rng.choices(("lively", "solo", "edited", "second", "cantabile"), k=3))
    return f"% {words}\nvoice{rng.choice('ABC')} = {{ c4 d e f | g1 }}"


def hidden(form: str) -> Plant:
    """A score that names the right option, in the form, its last word and its capitals and without accents."""

    def plant(row: TaskRow, rng: random.Random) -> str:
        name = right(row)
        words = {"name": name, "last": name.split()[-1], "NAME": name.upper(), "plain": name.replace("ö", "o")}
        return f"{noise(row, rng)} " + form % words

    return plant


@pytest.mark.parametrize("form", ["%%{ %(NAME)s %%}", "music%(last)s = { c1 }", "c1^\\markup { \\bold %(plain)s }"])
def test_a_name_that_stayed_is_found(form: str) -> None:
    report = find_leaks("composer_recognition", rows_of(hidden(form)))
    assert (report.right, report.wrong) == (Share(80, 80), Share(0, 240))
    assert report.words is not None
    assert report.words.value > 0.9
    assert report.leaks == ["search", "words"]


def test_words_and_options_that_tend_to_come_with_an_answer_are_learnt() -> None:
    rows = rows_of(lambda row, rng: f"{noise(row, rng)} % {CODES[right(row)]}")
    report = find_leaks("composer_recognition", rows)
    assert report.right == Share(0, 80)
    assert report.words is not None
    assert report.words.value > 0.9
    assert report.leaks == ["words"]
    rng = random.Random(3)
    rows = rows_of(noise, [f"Rare {name}" for name in ("Ip", "Jo", "Ka", "Lu", "My")])
    for row in rows:
        row["options"][int(row["answer"])] = rng.choice(("Baroque", "Classical"))
    report = find_leaks("genre_recognition", rows)
    assert report.options == Share(80, 80)
    assert "options alone" in report.leaks
    assert find_leaks("metadata_qa", rows).leaks == ["options alone"]


def test_rows_without_a_leak_are_answered_by_chance() -> None:
    def anybody(row: TaskRow, rng: random.Random) -> str:
        return f"{noise(row, rng)} % played by {rng.choice(row['options'])}"

    names = (*COMPOSERS, "Ed Emmerich", "Flo Fargo")
    reports = [find_leaks("composer_recognition", rows_of(anybody, names, n=120, seed=seed)) for seed in range(3)]
    for shares in (
        [report.right for report in reports],
        [report.options for report in reports],
        [report.words for report in reports],
    ):
        # Of 360 guesses the standard error is 0.023.
        assert 0.18 < sum(share.hits for share in shares if share) / 360 < 0.32
    assert sum(len(report.leaks) for report in reports) <= 2


def test_pieces_are_never_on_both_sides() -> None:
    """Each piece has a word of its own that comes with one answer: of no use unless it is seen in training."""
    twice: list[TaskRow] = [
        {**row, "id": f"{row['id']}.{copy}", "score": f"{row['score']} % only{row['piece']}"}
        for row in rows_of(noise, n=60)
        for copy in (1, 2)
    ]
    report = find_leaks("composer_recognition", twice)
    assert report.words is not None
    assert report.words.value < 0.45


KEYS = ("A major", "b minor", "E-flat major", "f minor")
LILYPOND_KEYS = (r"bes \major", r"fis \minor", r"c \major", r"g \major")


@pytest.mark.parametrize(
    ("field", "options", "left", "named"),
    [
        ("key", KEYS, r"\key ees \major \key a\major \key es\major", "02"),
        ("key", LILYPOND_KEYS, r"\key bes\major \key fis  \minor", "01"),
        ("metre", ("3/4", "4/4", "2/2", "12/8"), r"\time 3/4 \time 12/8", "03"),
        ("note_length", ("1/2", "1/4", "1/8", "1/16"), r"\time 2/4 \time 3/16", "13"),
        ("note_length", ("2", "4", "8", "16"), r"\time 2/4 \time 3/16", "13"),
    ],
)
def test_a_later_key_or_metre_is_found(field: str, options: tuple[str, ...], left: str, named: str) -> None:
    rows = rows_of(lambda row, rng: f"{noise(row, rng)} {left}", options, shuffled=False, kind=field, n=40)
    report = find_leaks("metadata_prediction", rows)
    assert report.right is not None
    assert report.right.hits == sum(row["answer"] in named for row in rows)


def test_the_file_name_of_a_clip_is_found() -> None:
    named: Plant = lambda row, rng: f"% from Q{int(row['answer']) + 1}_x{rng.randrange(10**6)}_0.mid\n{noise(row, rng)}"  # noqa: E731
    report = find_leaks("emotion_recognition", rows_of(named, QUADRANTS, shuffled=False))
    assert (report.right, report.wrong, report.leaks) == (Share(80, 80), Share(0, 240), ["search", "words"])
    clean = find_leaks("emotion_recognition", rows_of(noise, QUADRANTS, shuffled=False))
    assert (clean.leaks, clean.right) == ([], Share(0, 80))
    labels = find_leaks("emotion_recognition", rows_of(lambda row, _: f"% from {right(row)}", ("Q1", "Q2", "Q3", "Q4")))
    assert labels.words is not None
    assert labels.words.value > 0.9


def corrupted(marked: bool, rng: random.Random) -> list[TaskRow]:
    """Rows whose kind of corruption a comment marks, or none does."""
    mark = " %%%bogus%%%" if marked else ""
    kinds = [(number, kind) for number in range(30) for kind in CORRUPTIONS]
    return [made(f"p{n}", noise(None, rng) + mark * (kind == "invalid_content"), "1", kind) for n, kind in kinds]


def counted(numbered: bool, rng: random.Random) -> list[TaskRow]:
    """Pieces in which comments number the bars, or say other numbers."""
    numbers = {bars: range(1, bars + 1) if numbered else rng.choices(range(1, 60), k=bars) for bars in range(5, 45)}
    texts = {bars: " | ".join(f"c1 % {number}\n" for number in group) for bars, group in numbers.items()}
    return [made(f"p{bars}", text, str(bars)) for bars, text in texts.items()]


def shuffled(numbered: bool, rng: random.Random) -> list[TaskRow]:
    """Four bars to be put in order, with their numbers or without."""
    rows = []
    for number in range(60):
        shown = rng.sample(range(4), 4)
        bars = [f"% {number + bar}\n c{bar}" if numbered else f"c{bar}" for bar in shown]
        rows.append(made(f"p{number}", "", "".join(str(shown.index(bar)) for bar in range(4)), options=bars))
    return rows


@pytest.mark.parametrize(
    ("task", "plant", "share", "leaks"),
    [
        ("error_detection", corrupted, None, ["words"]),
        ("bar_count", counted, Share(40, 40), ["search", "words"]),
        ("bar_sequencing", shuffled, Share(60, 60), ["words"]),
    ],
)
def test_comments_and_numbers_that_tell_the_answer_are_learnt(
    task: TaskName, plant: Callable[[bool, random.Random], list[TaskRow]], share: Share | None, leaks: list[str]
) -> None:
    report = find_leaks(task, plant(True, random.Random(5)))
    assert report.words is not None
    assert report.words == share or (share is None and report.words.hits >= 30)
    assert report.leaks == leaks
    assert find_leaks(task, plant(False, random.Random(5))).leaks == []
    if task == "bar_count":
        # Another's answer is among a row's numbers if it is the smaller one: in half of all pairs.
        assert (report.right, report.wrong) == (Share(40, 40), Share(40 * 39 / 2, 40 * 39))


def test_words_beside_the_music() -> None:
    text = r"""
    \header { title = \markup { Bare \bold Words } opus = "Opus 9b" }
    % percent "quoted"
    melodyOne = \relative c' { \clef "treble_8" c4^\markup Not \trill d8( ees) <f a> }
    \new Staff = upper { \addlyrics { Sing -- ing } }
    """
    words = "header title markup bare bold words opus 9b percent quoted melodyone upper addlyrics sing ing"
    assert set(outside_words(text)) == set(words.split())
    assert set(commented_words(text)) == {"opus", "9b", "percent", "quoted"}
    with pytest.raises(ValueError, match="composer_recognition: rows of 3 pieces"):
        find_leaks("composer_recognition", rows_of(lambda row, rng: "", n=3))


def test_the_script_reads_a_dataset_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "composer_recognition"
    folder.mkdir()
    for protocol, plant in (("paper", hidden("%% after %(name)s")), ("strict", noise)):
        pq.write_table(pa.Table.from_pylist(rows_of(plant)), folder / f"{protocol}-00000-of-00001.parquet")
    main(tmp_path)
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in capsys.readouterr().out.splitlines()]
    assert [line[:3] for line in lines[2:]] == [["composer_recognition", name, "80"] for name in ("strict", "paper")]
    assert (lines[2][-1], lines[3][3][:4], lines[3][-1]) == ("", "1.00", "search, words")
    with pytest.raises(SystemExit):
        main(folder)
