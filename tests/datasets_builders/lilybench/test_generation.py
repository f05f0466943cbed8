"""LilyBench's generation part: works and prompts of labels, the split, demonstrations, and the
dataset of all that.
"""

import hashlib
import json
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from datasets import load_dataset
from typer.testing import CliRunner

from music_evals.commands.main import app
from music_evals.datasets_builders.dataset_io import DatasetError, describe_dataset
from music_evals.datasets_builders.lilybench_generation import bmdataset
from music_evals.datasets_builders.lilybench_generation import dataset as builder
from music_evals.datasets_builders.lilybench_generation.bmdataset import (
    read_labels,
    read_scores,
)
from music_evals.datasets_builders.lilybench_generation.references import (
    load_references,
)
from music_evals.datasets_builders.lilybench_generation.rows import FEATURES
from music_evals.datasets_builders.lilybench_generation.works import (
    Work,
    draw_prompts,
)
from music_evals.encoders.lilybert import load_encoder
from music_evals.notation.lilypond.compiler import compile_text, lilypond_cache
from music_evals.notation.lilypond.converters import ConversionError
from music_evals.notation.midi.descriptors import DESCRIPTORS, describe
from tests.datasets_builders.lilybench.conftest import write_files
from tests.encoders.tiny_encoder import make_tiny_encoder

CASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
LABELS = CASES["labels"]
SILENT = "\\version \"2.24.0\" \\score { { c'4 d' } \\layout { } }"
BROKEN = '\\version "2.24.0" \\score { { c\'4 \\nonsense } \\midi { } }'


def write_labels(folder, labels):
    return write_files(folder, {"labels_v1.json": json.dumps(labels)})


def works_named(*names):
    return [Work(name, ()) for name in names]


@pytest.mark.parametrize(("labels", "message"), CASES["bad_labels"])
def test_bad_labels_are_named(tmp_path, labels, message):
    with pytest.raises(DatasetError, match=message):
        read_labels(write_files(tmp_path, {"labels_v1.json": labels}))


def test_one_file_of_labels_is_needed(tmp_path):
    with pytest.raises(DatasetError, match="holds 0 files labels_v1"):
        read_labels(tmp_path)
    write_labels(tmp_path / "one", LABELS)
    write_labels(tmp_path / "two", LABELS)
    with pytest.raises(DatasetError, match="holds 2 files labels_v1"):
        read_labels(tmp_path)


def test_prompts_are_the_same_bytes_everywhere(tmp_path):
    works = read_labels(write_labels(tmp_path / "one", LABELS)).works
    reordered = read_labels(write_labels(tmp_path / "two", dict(reversed(LABELS.items())))).works
    prompts = draw_prompts(works, 1234)
    assert prompts == draw_prompts(reordered, 1234)
    assert prompts != draw_prompts(works, 1235)
    digest = hashlib.sha256(json.dumps(prompts[:200]).encode()).hexdigest()
    assert digest == "1f224025ba74d2481a1a3c33e7f89807c4695f4683fa8995b10e936f0ca71179"
    assert [prompts[7]["id"], prompts[999]["index"], len(prompts)] == ["prompt-007", 999, 1000]
    assert draw_prompts(works, 1234, 200) == prompts[:200]


def test_files_belong_to_works_by_their_names(tmp_path, monkeypatch):
    monkeypatch.setattr(bmdataset, "modernise", str)
    text = '\\version "2.24.0"\n\\header { license = "Public Domain" }\n\\score { { c\'4 } }\n'
    files = dict.fromkeys(("air_processed.ly", "air_2.ly", "air_in_g/deep/1.ly", "airy.ly"), text)
    files["suite_1.ly"] = '\\version "2.24.0"\n\\include "notes.ly"\n\\score { \\n }'
    write_files(tmp_path, files)
    scores, left_out = read_scores(tmp_path, works_named("air", "air_in_g", "suite"))
    assert {score.id: score.work for score in scores} == {
        "air_processed": "air",
        "air_2": "air",
        "air_in_g/deep/1": "air_in_g",
        "suite_1": "suite",
    }
    assert left_out == {"airy": "it belongs to no work of the labels"}

    def busy(_):
        raise ConversionError("the clock ran out", is_measured=False)

    monkeypatch.setattr(bmdataset, "modernise", busy)
    with pytest.raises(DatasetError, match="not measured: a"):
        read_scores(tmp_path, works_named("air"))
    assert [score.licence for score in scores] == [
        "Public Domain",
        "Public Domain",
        "Public Domain",
        None,
    ]
    assert scores[-1].text == files["suite_1.ly"]  # what is included is not read


@pytest.fixture(scope="module")
def encoder(tmp_path_factory, tunes):
    return str(
        make_tiny_encoder(tmp_path_factory.mktemp("encoder"), [piece.text for piece in tunes[:4]])
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory, tunes, encoder):
    """Eight works of a tune each, of which the even ones have labels of a movement, and four pieces
    of Mutopia.
    """
    folder = tmp_path_factory.mktemp("written")
    movement = {"1: largo": {"key": "do", "scale": "major", "tempo": "4 = 60", "time": "4/4"}}
    labels, files = {}, {}
    for number, tune in enumerate(tunes[:8]):
        name = f"work_{number:02}"
        labels[f"{name}_processed.ly"] = {
            "composer": "Vivaldi",
            "meta": {} if number % 2 else movement,
        }
        files |= {f"{name}_processed.ly": tune.text, f"{name}_silent.ly": SILENT}
    bmdataset = write_labels(write_files(folder / "bmdataset", files), labels)
    pieces = {f"{piece.id}/score.ly": piece.text for piece in tunes[12:]}
    mutopia = write_files(folder / "mutopia", {**pieces, "BachJS/broken/score.ly": BROKEN})
    builder.write(
        builder.build_bmdataset(bmdataset, mutopia, seed=7, encoder=encoder), folder / "out"
    )
    return str(folder / "out")


def test_references_hold_what_describing_and_embedding_them_gives(written, tunes, encoder):
    assert tuple(reference.name for reference in load_references(written)) == (
        "bmdataset-test",
        "mutopia",
    )
    references = load_references(written, "mutopia")[0]
    assert references.ids == tuple(sorted([*(piece.id for piece in tunes[12:]), "BachJS/broken"]))
    broken = references.ids.index("BachJS/broken")
    assert [row["compiles"] for row in references.rows] == [place != broken for place in range(5)]
    assert references.rows[broken]["undefined"] == "it does not compile"
    assert "nonsense" in (references.rows[broken]["problem"] or "")
    assert {row["licence"] for row in references.rows if row["compiles"]} == {"Public Domain"}
    for protocol in ("strict", "paper"):
        values = references.descriptors(protocol)
        assert np.isnan(values).all(axis=1).tolist() == [place == broken for place in range(5)]
        for place in range(5):
            if place != broken:
                described = describe(
                    compile_text(references.texts[place], cache=lilypond_cache()).midi[0], protocol
                )
                assert [described.values[name] for name in DESCRIPTORS] == values[place].tolist()
    assert not np.array_equal(
        references.descriptors("strict"), references.descriptors("paper"), equal_nan=True
    )
    loaded = load_encoder(encoder)
    assert references.encoder == loaded.identity
    vectors = loaded.embed(references.texts)
    embedded = references.embeddings()
    assert embedded is not None
    np.testing.assert_allclose(embedded, vectors, rtol=0, atol=1e-5)


def test_every_config_loads(written, tmp_path):
    provenance = describe_dataset(written, benchmark=builder.BENCHMARK).provenance
    assert provenance.missing == {}
    assert provenance.anomalies["pieces of mutopia that do not compile"] == 1
    # By the reader that users have, which knows nothing of this project.
    for config, splits in provenance.counts.items():
        for split, rows in splits.items():
            loaded = load_dataset(
                written, config, split=split, cache_dir=str(tmp_path / "datasets")
            )
            assert loaded.num_rows == rows
            assert loaded.features == FEATURES[config]


def test_labels_alone_make_prompts_and_say_what_is_missing(tmp_path):
    write_labels(tmp_path / "labels", LABELS)
    out = tmp_path / "out"
    arguments = [
        "build",
        "lilybench_generation",
        "--out",
        str(out),
        "--bmdataset",
        str(tmp_path / "labels"),
    ]
    ended = CliRunner(env={"COLUMNS": "200"}).invoke(app, arguments)
    assert ended.exit_code == 0, ended.output
    for missing in ("prompts/paper", "bmdataset-test", "demonstrations/train", "mutopia"):
        assert f"for {missing}" in ended.output
    origin = describe_dataset(str(out), benchmark=builder.BENCHMARK)
    assert origin.label == "bmdataset-partial"
    counts = {"prompts": {"test": 1000}, "demonstrations": {"ablation": 3}, "works": {"full": 2}}
    assert origin.provenance.counts == counts
    assert load_references(str(out)) == ()
    with pytest.raises(
        DatasetError, match="no reference set 'mutopia'; it has: none; it lacks LilyPond files"
    ):
        load_references(str(out), "mutopia")


@pytest.mark.parametrize(("options", "message"), CASES["bad_options"])
def test_what_is_asked_for_wrongly_is_one_clear_error(tmp_path, options, message):
    arguments = ["build", "lilybench_generation", "--out", str(tmp_path / "out"), *options]
    ended = CliRunner(env={"COLUMNS": "200"}).invoke(app, arguments)
    assert ended.exit_code != 0
    assert message in " ".join(ended.output.replace("│", " ").split())
    assert "Traceback" not in ended.output
    assert not (tmp_path / "out").exists()


def test_the_default_dataset_needs_no_source(tmp_path, tunes, monkeypatch):
    header = {"title": "Reel", "composer": "Traditional"}
    reels = [replace(piece, id=f"tune-{piece.id}", header=header) for piece in tunes[:2]]
    monkeypatch.setattr(
        builder, "make_pieces", lambda *_, **__: ([*tunes[:10], *reels], {"lost": "no reason"})
    )
    plan = builder.build_generated(seed=3)
    provenance = builder.write(plan, tmp_path / "out")
    assert plan.left_out == {"lost": "no reason"}
    # The reels, and the pieces of Dowland (born 1563) and Joplin (born 1868).
    assert provenance.counts["music21-other"] == {"reference": 4}
    held_out = {work["id"] for work in plan.works if work["split"] == "test"}
    assert {
        row["work"] for row in load_references(str(tmp_path / "out"), "music21-test")[0].rows
    } == held_out
    references = load_references(str(tmp_path / "out"), "music21-other")[0]
    assert (references.encoder, references.embeddings()) == (None, None)
    assert "Not the published benchmark" in (tmp_path / "out" / "README.md").read_text(
        encoding="utf-8"
    )
