"""ZIQI-Eval's rows: the published ones, whole and unchanged, and the composed bank."""

from pathlib import Path

import pandas as pd
import pytest
from datasets import load_dataset

from music_evals.datasets_builders.dataset_io import DatasetError, load_split
from music_evals.datasets_builders.ziqi.dataset import (
    BENCHMARK,
    write,
)
from music_evals.datasets_builders.ziqi.published import build_published
from music_evals.datasets_builders.ziqi.rows import Plan, published_themes
from tests.ziqi_source import write_source

PUBLISHED = Path(__file__).parents[4] / "shared" / "data" / "ziqi"
needs_published = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason="no copy of ZIQI-Eval in ../shared/data/ziqi"
)


@pytest.fixture(scope="module")
def published():
    return build_published(PUBLISHED)


@pytest.mark.slow
@needs_published
def test_published_oddities_are_counted(published: Plan) -> None:
    odd = published.provenance.anomalies
    assert odd["duplicates within music education, to the character, marked"] == 90
    assert odd["duplicates within Chinese traditional music, to the character, marked"] == 41
    # Counted with pandas over all files at once: the same question and options, after trimming.
    frame = _frame(PUBLISHED)
    columns = ["question", "A", "B", "C", "D"]
    marked = sum(
        count
        for what, count in odd.items()
        if what.startswith("duplicates") and what.endswith("marked")
    )
    assert marked == frame.duplicated(columns).sum() == 216
    alike = frame.drop_duplicates(columns)[["A", "B", "C", "D"]].nunique(axis=1) < 4
    assert odd["rows with two options alike, kept"] == alike.sum()
    raw = _frame(PUBLISHED, trim=False)
    trimmed = (
        (raw[[*columns, "answer", "subtheme"]] != frame[[*columns, "answer", "subtheme"]])
        .sum()
        .sum()
    )
    assert odd["fields with white space at an end, which was trimmed"] == trimmed


@needs_published
def test_published_rows_come_back_from_parquet_without_a_changed_character(
    published: Plan, tmp_path: Path
) -> None:
    rows = {
        config: {split: some[::60] for split, some in splits.items()}
        for config, splits in published.rows.items()
    }
    write(Plan(rows, published.provenance), tmp_path / "ziqi")
    card = (tmp_path / "ziqi" / "README.md").read_text(encoding="utf-8")
    assert "license: cc-by-nc-sa-4.0" in card
    assert "| `comprehension` | `test` | 236 |" in card
    assert "    - duplicates within music education, to the character, marked: 90" in card
    read = []
    for config, splits in rows.items():
        for split, some in splits.items():
            loaded = load_dataset(
                str(tmp_path / "ziqi"), config, split=split, cache_dir=str(tmp_path / "cache")
            )
            assert loaded.to_list() == some
            assert (
                load_split(str(tmp_path / "ziqi"), config, split, benchmark=BENCHMARK).to_list()
                == some
            )
            read += some
    frame = _frame(PUBLISHED).set_index("row_id")
    assert len(frame) == 14_389
    for row in read:
        source = frame.loc[row["id"]]
        assert row["question"] == source["question"]
        assert row["options"] == [source[letter] for letter in "ABCD"]
        assert (row["answer"], row["subtheme_zh"]) == (source["answer"], source["subtheme"])


def _frame(folder, trim=True):
    """All rows by pandas' own reader, in the builder's order."""
    parts = []
    for split in ("dev", "test"):
        for theme in published_themes():
            part = pd.read_csv(
                folder / split / f"{theme.file}.csv", dtype=str, keep_default_na=False
            )
            part["row_id"] = [f"{theme.file}-{split}-{int(number):04d}" for number in part["id"]]
            parts.append(part)
    whole = pd.concat(parts, ignore_index=True)
    return whole.map(str.strip) if trim else whole


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda row: row[:7], "7 columns, 8 are needed"),
        (lambda row: [*row, "more"], "9 columns, 8 are needed"),
        (lambda row: [*row[:3], " ", *row[4:]], "column B is empty"),
        (lambda row: [*row[:6], "E", *row[7:]], "the answer is 'E'; A, B, C or D is needed"),
        (lambda row: [*row[:6], "AB", *row[7:]], "the answer is 'AB'; A, B, C or D is needed"),
        (lambda row: [*row[:7], "电子音乐", *row[8:]], "unknown sub-theme '电子音乐'"),
        (lambda row: [*row[:0], "first", *row[1:]], "the id is 'first'; a number is needed"),
        (lambda row: [*row[:0], "0", *row[1:]], "the id 0 is there already"),
    ],
)
def test_a_malformed_row_stops_the_build_and_is_named(tmp_path, change, said):
    def edit(split, theme, rows):
        if (split, theme) == ("test", "popular_music"):
            rows[3] = change(rows[3])

    source = write_source(tmp_path, edit=edit)
    with pytest.raises(DatasetError) as caught:
        build_published(source)
    assert str(caught.value).startswith("test/popular_music.csv, row 3 (ends in line 4): ")
    assert said in str(caught.value)
    plan = build_published(source, skip_bad=True)
    assert len(plan.rows["comprehension"]["test"]) == 4 * 10 - 1
    (what,) = plan.provenance.anomalies
    assert what.startswith(
        "malformed row left out: test/popular_music.csv, row 3 (ends in line 4): "
    )


def count(plan):
    return sum(len(rows) for splits in plan.rows.values() for rows in splits.values())


def test_a_folder_above_and_a_missing_file(tmp_path):
    source = write_source(tmp_path / "ZIQI-Eval")
    assert count(build_published(tmp_path)) == 11 * (4 + 5)  # the folder above will do
    (source / "test" / "music_generation.csv").unlink()
    with pytest.raises(
        DatasetError, match=r"lacks 1 of 22 files of ZIQI-Eval: test/music_generation\.csv"
    ):
        build_published(source)


def test_files_that_cannot_be_read(tmp_path):
    source = write_source(tmp_path)
    path = source / "dev" / "female_music.csv"
    sound = path.read_bytes()
    path.write_bytes(sound.replace(b"question", b"frage"))
    with pytest.raises(DatasetError, match=r"dev/female_music\.csv has the columns id, frage, A"):
        build_published(source)
    for unreadable in (sound + b'9,"an open quote', sound.decode().encode("gb18030")):
        path.write_bytes(unreadable)
        with pytest.raises(
            DatasetError, match=r"dev/female_music\.csv cannot be read as CSV in UTF-8"
        ):
            build_published(source)
    path.write_bytes(b"\xef\xbb\xbf" + sound)
    assert count(build_published(source)) == 11 * (4 + 5)
