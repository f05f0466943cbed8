"""What may be published: the licences as their owners state them, and pieces with licences of their
own.
"""

import pytest
from datasets import Features, Value

from music_evals.datasets_builders.dataset_io import (
    DatasetError,
    Provenance,
    make_provenance,
    write_dataset,
)
from music_evals.datasets_builders.dataset_io.licences import check_publishable

COLUMNS = Features({"id": Value("string"), "licence": Value("string")})


def check(
    folder,
    dataset,
    source,
    licence,
    configs,
    **more,
):
    """Write configs of rows that hold an id and a licence, and return the label of the terms, or
    the refusal.
    """
    rows = {
        name: {"full": [{"id": f"piece{n}", "licence": piece} for n, piece in enumerate(licences)]}
        for name, licences in configs.items()
    }
    provenance = Provenance(dataset, "1.0", source, licence)
    features = dict.fromkeys(rows, COLUMNS)
    provenance = write_dataset(
        folder, rows, features=features, card=str, provenance=provenance, **more
    )
    try:
        return check_publishable(folder, provenance).licence_label
    except DatasetError as error:
        return str(error)


@pytest.mark.parametrize(
    ("dataset", "source", "licence", "expected"),
    [
        (
            "ziqi",
            "published",
            "cc-by-nc-sa-4.0",
            "cc-by-nc-sa-4.0",
        ),  # README of the authors' repository
        (
            "ziqi",
            "published",
            "mit",
            "its licence is mit, and may be passed on as cc-by-nc-sa-4.0 only",
        ),
        ("msu", "published", "apache-2.0", "apache-2.0"),  # LICENSE of the authors' repository
        ("muse", "generated", "mit", "mit"),  # LICENSE of this project
        ("msu", "generated", "other", "other (music21-corpus)"),
        ("msu", "own-scores", "other", "the licences of somebody's own scores are not known"),
        (
            "lilybench",
            "musescore",
            "mit",
            "lilybench from musescore; known sources: generated, mutopia",
        ),
        (
            "songs",
            "generated",
            "mit",
            "nothing is known of songs from generated; known sources: none",
        ),
        ("muse", "recordings", "other", "without LICENSE_DATA.md, which must travel with the data"),
    ],
)
def test_sources_are_published_as_their_owners_state(dataset, source, licence, expected, tmp_path):
    assert expected in check(tmp_path / "out", dataset, source, licence, {"syncopation": [None]})


def test_recordings_are_published_with_their_licence(tmp_path):
    files = {"LICENSE_DATA.md": b"for research"}
    label = check(
        tmp_path / "out", "muse", "recordings", "other", {"syncopation": [None]}, extra_files=files
    )
    assert label == "other (muse-stimuli-research-non-commercial)"  # LICENSE_DATA.md


@pytest.mark.parametrize(
    ("dataset", "source", "configs", "expected"),
    [
        (
            "lilybench",
            "mutopia",
            {"corpus": ["Public Domain", "CC BY 4.0", "CC BY-SA 3.0", "CC BY-SA"]},
            "other",
        ),
        (
            "lilybench",
            "mutopia",
            {"corpus": ["Public Domain", "© 1999 A. Typesetter", None, "CC BY-NC 4.0"]},
            (
                "3 of 4 pieces in corpus have no licence, or a licence other than public domain, CC"
                " BY and CC BY-SA: piece1 (© 1999 A. Typesetter), piece2 (none), piece3 (CC BY-NC "
                "4.0); build with --free-only"
            ),
        ),
        (
            "lilybench",
            "mutopia",
            {"corpus": ["Public Domain"], "emotion_recognition": [None]},
            "emotion_recognition: its clips are EMOPIA's",
        ),
        (
            "lilybench_generation",
            "bmdataset",
            {"mutopia": ["CC BY 4.0"], "bmdataset-test": ["CC BY 4.0"]},
            "bmdataset-test: its pieces are BMdataset's LilyPond files",
        ),
        ("lilybench_generation", "bmdataset", {"mutopia": ["CC BY 4.0"]}, "other"),
    ],
)
def test_pieces_are_published_when_each_is_free(dataset, source, configs, expected, tmp_path):
    licence = make_provenance(dataset, "1.0", source).licence
    assert expected in check(tmp_path / "out", dataset, source, licence, configs)
