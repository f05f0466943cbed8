"""What may be published: the licences as their owners state them, and pieces with licences of their own."""

from pathlib import Path
from typing import Any

import pytest
from datasets import Features, Value

from music_evals.datasets_builders.dataset_io import DatasetError, Provenance, write_dataset
from music_evals.datasets_builders.dataset_io.licences import check_publishable, licence_of_source

CORPUS = Features({"id": Value("string"), "licence": Value("string")})


def write(
    folder: Path,
    source: str,
    configs: dict[str, list[str | None]],
    benchmark: str = "lilybench",
    licence: str = "other",
    **options: Any,
) -> Provenance:
    """Write configs of rows that hold an id and a licence."""
    rows = {
        name: {"full": [{"id": f"piece{n}", "licence": one} for n, one in enumerate(licences)]}
        for name, licences in configs.items()
    }
    made = Provenance(benchmark, "1.0", source, licence)
    return write_dataset(folder, rows, features=dict.fromkeys(rows, CORPUS), card=str, provenance=made, **options)


@pytest.mark.parametrize(
    ("benchmark", "source", "expected"),
    [
        ("ziqi", "published", "cc-by-nc-sa-4.0"),  # README of the authors' repository
        ("msu", "published", "apache-2.0"),  # LICENSE of the authors' repository
        ("muse", "recordings", "other (muse-stimuli-research-non-commercial)"),  # LICENSE_DATA.md
        ("muse", "generated", "mit"),  # LICENSE of this project
        ("msu", "generated", "other (music21-corpus)"),
        ("msu", "own-scores", "the licences of somebody's own scores are not known"),
        ("lilybench", "musescore", "nothing is known of its licence; sources known are generated, mutopia"),
        ("songs", "generated", "nothing is known of its licence"),
    ],
)
def test_sources_are_published_as_their_owners_state(benchmark: str, source: str, expected: str) -> None:
    if "known" in expected:
        with pytest.raises(DatasetError, match=expected):
            licence_of_source(benchmark, source)
    else:
        assert licence_of_source(benchmark, source).licence_label == expected


def test_pieces_are_published_when_each_is_free(tmp_path: Path) -> None:
    mutopia = licence_of_source("lilybench", "mutopia")
    free = write(tmp_path / "free", "mutopia", {"corpus": ["Public Domain", "CC BY 4.0", "CC BY-SA 3.0", "CC BY-SA"]})
    check_publishable(tmp_path / "free", free, mutopia)
    unfree = ["Public Domain", "© 1999 A. Typesetter", None, "CC BY-NC 4.0"]
    made = write(tmp_path / "unfree", "mutopia", {"corpus": unfree})
    with pytest.raises(DatasetError, match="3 of 4 pieces in corpus") as caught:
        check_publishable(tmp_path / "unfree", made, mutopia)
    for named in ("piece1 (© 1999 A. Typesetter)", "piece2 (none)", "piece3 (CC BY-NC 4.0)"):
        assert named in str(caught.value)
    assert "piece0" not in str(caught.value)


def test_what_is_withheld_is_named_with_the_way_to_do_without(tmp_path: Path) -> None:
    clips = write(tmp_path / "clips", "mutopia", {"corpus": ["Public Domain"], "emotion_recognition": [None]})
    with pytest.raises(DatasetError, match=r"emotion_recognition: its clips are EMOPIA's.*build without --emopia"):
        check_publishable(tmp_path / "clips", clips, licence_of_source("lilybench", "mutopia"))
    about = "lilybench-generation"
    bmdataset = licence_of_source("lilybench-generation", "bmdataset")
    files = write(tmp_path / "files", "bmdataset", {"mutopia": ["CC BY 4.0"], "bmdataset-test": ["CC BY 4.0"]}, about)
    with pytest.raises(DatasetError, match="bmdataset-test: its pieces are BMdataset's LilyPond files"):
        check_publishable(tmp_path / "files", files, bmdataset)
    labels = write(tmp_path / "labels", "bmdataset", {"mutopia": ["CC BY 4.0"]}, about)
    check_publishable(tmp_path / "labels", labels, bmdataset)


def test_non_commercial_data_is_published_as_such_only(tmp_path: Path) -> None:
    made = write(tmp_path / "ziqi", "published", {"comprehension": [None]}, benchmark="ziqi", licence="mit")
    with pytest.raises(DatasetError, match=r"its licence is mit, and may be passed on as cc-by-nc-sa-4\.0 only"):
        check_publishable(tmp_path / "ziqi", made, licence_of_source("ziqi", "published"))


def test_recordings_are_not_published_without_their_licence(tmp_path: Path) -> None:
    recordings = licence_of_source("muse", "recordings")
    made = write(tmp_path / "muse", "recordings", {"syncopation": [None]}, benchmark="muse")
    with pytest.raises(DatasetError, match=r"without LICENSE_DATA\.md, which must travel with the data"):
        check_publishable(tmp_path / "muse", made, recordings)
    files = {"LICENSE_DATA.md": b"for research"}
    whole = write(tmp_path / "whole", "recordings", {"syncopation": [None]}, benchmark="muse", extra_files=files)
    check_publishable(tmp_path / "whole", whole, recordings)
