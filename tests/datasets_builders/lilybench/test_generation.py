"""LilyBench's generation part: works and prompts of labels, the split, demonstrations, and the
dataset of all that.
"""

import hashlib
import json
import tomllib
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from datasets import load_dataset
from typer.testing import CliRunner

from music_evals.commands.main import app
from music_evals.datasets_builders.dataset_io import DatasetError, describe_dataset, load_split
from music_evals.datasets_builders.lilybench.rows import Piece
from music_evals.datasets_builders.lilybench_generation import bmdataset
from music_evals.datasets_builders.lilybench_generation import dataset as builder
from music_evals.datasets_builders.lilybench_generation.bmdataset import (
    read_file_entries,
    read_labels,
    read_scores,
)
from music_evals.datasets_builders.lilybench_generation.demonstrations import (
    LINES,
    a_minor_demonstrations,
    draw_demonstrations,
)
from music_evals.datasets_builders.lilybench_generation.references import (
    load_demonstrations,
    load_references,
)
from music_evals.datasets_builders.lilybench_generation.rows import FEATURES, Description, Score
from music_evals.datasets_builders.lilybench_generation.works import (
    Entry,
    Work,
    draw_file_prompts,
    draw_prompts,
    split_domains,
    split_works,
)
from music_evals.encoders.lilybert import load_encoder
from music_evals.notation.lilypond.compiler import compile_text, compile_texts, lilypond_cache
from music_evals.notation.lilypond.converters import ConversionError
from music_evals.notation.lilypond.structure import Structure, read_structures
from music_evals.notation.lilypond.syntax.header import read_header
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


def test_labels_in_words(tmp_path):
    suite, concerto = read_labels(write_labels(tmp_path, LABELS)).works
    assert suite.id == "anon_suite"
    (entry,) = suite.entries
    assert entry.id == "anon_suite"
    assert {field: value for field, value in entry.description.items() if value} == {
        "ensemble": "viola"
    }
    assert concerto.shared_names == ("RV 1",)
    assert [entry.id.removeprefix("vivaldi_concerto_RV_1/") for entry in concerto.entries] == [
        "1",
        "2",
        "3",
    ]
    assert concerto.entries[0].description == CASES["description"]
    facts = [
        [entry.description[field] for field in ("part", "key", "metre")]
        for entry in concerto.entries
    ]
    assert facts[1:] == [["2", "F-sharp minor", "12/8"], ["3: aria", None, None]]


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


def test_the_papers_prompts_are_drawn_from_files(tmp_path):
    names = [
        "vivaldi_concerto_RV_1_violino_I",
        "vivaldi_concerto_RV_1_processed",
        "anon_suite_basso",
        "zelenka",
    ]
    folder = write_files(write_labels(tmp_path, LABELS), {f"{name}.ly": "{ c4 }" for name in names})
    works = read_labels(folder).works
    prompts = draw_file_prompts(read_file_entries(folder, works), 1234)
    oracle = json.loads(
        (Path(__file__).parents[2] / "oracles/data/lilybench_generation.json").read_text("utf-8")
    )
    assert [row["entry"] for row in prompts] == [
        sorted(names)[int(place)] for place in oracle["drawn_files"][0]
    ]
    prompted = {
        row["entry"]: [row[field] for field in ("work", "composer", "form", "ensemble", "part")]
        for row in prompts
    }
    facts = CASES["description"]
    concerto = ["vivaldi_concerto_RV_1", facts["composer"], facts["form"], facts["ensemble"]]
    assert prompted == {
        "vivaldi_concerto_RV_1_violino_I": [*concerto, "violino I"],
        "vivaldi_concerto_RV_1_processed": [*concerto, "full"],
        "anon_suite_basso": ["anon_suite", None, None, "viola", "basso"],
        "zelenka": ["zelenka", None, None, None, "full"],
    }
    assert not any(row["key"] or row["metre"] for row in prompts)


def test_demonstrations_are_as_long_as_the_papers_where_there_are_such(tunes):
    works = [
        Work(name, (Entry(name, dict.fromkeys(Description.__annotations__)),))
        for name in "abcdefgh"
    ]
    lines = dict(zip("abcdefgh", (20, 53, 90, 64, 40, 52, 66, 10), strict=True))
    texts = {name: tunes[place].text.strip() for place, name in enumerate(lines)}
    padded = {
        name: text + "\n%" * (lines[name] - len(text.splitlines())) for name, text in texts.items()
    }
    scores = [Score(name, name, text, None) for name, text in padded.items()]
    for seed in range(2):
        shown = draw_demonstrations(works, scores, dict.fromkeys(lines, "train"), seed)
        assert {row["id"] for row in shown} == {"b", "d", "f"}


def test_a_work_stays_on_its_side_when_others_are_added():
    names = [f"work-{number}" for number in range(2_000)]
    splits = split_works(works_named(*names), {}, seed=5)
    assert abs(Counter(splits.values())["test"] - 400) < 3 * (2_000 * 0.2 * 0.8) ** 0.5
    assert split_works(works_named(*names[::3]), {}, seed=5).items() <= splits.items()
    assert split_works(works_named(*names), {}, seed=6) != splits


def test_what_belongs_together_is_on_one_side(tunes):
    names = [f"w{number}" for number in range(16)]
    texts = {name: [piece.text] for name, piece in zip(names, tunes, strict=True)}
    # All but two measures with other spaces and comments, of each a work whose name is a later one.
    copies = {
        f"x{number}": [" % again\n".join(texts[name][0].split(" | ")[:-2])]
        for number, name in enumerate(names)
    }
    both = works_named(*texts, *copies)
    for seed in range(4):
        alone = split_works(works_named(*texts), texts, seed)
        # Distinct tunes are split by their names alone.
        assert alone == split_works(works_named(*texts), {}, seed)
        together = split_works(both, {**texts, **copies}, seed)
        assert all(
            together[f"x{number}"] == together[name] == alone[name]
            for number, name in enumerate(names)
        )
    shared = [Work(name, (), ("RV 1",)) for name in names]
    assert all(len(set(split_works(shared, {}, seed).values())) == 1 for seed in range(8))


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


def test_own_demonstrations_are_sound_music_in_a_minor():
    rows = a_minor_demonstrations()
    texts = [row["text"] for row in rows]
    engraved = list(compile_texts(texts, settings="", together=True))
    assert [(run.status, run.messages, len(run.midi)) for run in engraved] == [(0, "", 1)] * 3
    for row, read in zip(rows, read_structures(texts, together=True), strict=True):
        assert isinstance(read, Structure)
        assert {key.name for key in read.keys} == {row["key"]} == {"A minor"}
        assert [metre.name for metre in read.metres] == [row["metre"]]
        assert 8 <= read.measures <= 16
        assert len(row["text"].splitlines()) in LINES
        assert not read.problems
        final = [
            note for note in read.events if note.kind == "note" and note.measure == read.measures
        ]
        assert (
            min(final, key=lambda note: (note.octave, note.step or 0)).step == 5
        )  # the tonic in the bass


def test_movements_are_one_work_and_tunes_are_the_other_domain():
    def piece(name, title, composer):
        text = (
            f'\\version "2.24.0"\n\\header {{ title = "{title}" composer = "{composer}" style = '
            '"Classical" }\n'
        )
        text += "\\score { { \\key d \\minor \\time 3/8 d'8 e' f' } \\layout { } \\midi { } }\n"
        return Piece(name, text, read_header(text))

    domains = split_domains(
        [
            piece(
                "k1/1",
                "String Quartet, K. 1, first movement",
                "Wolfgang Amadeus Mozart (1756–1791)",
            ),
            piece(
                "k1/2",
                "String Quartet, K. 1, second movement (beginning)",
                "Wolfgang Amadeus Mozart (1756–1791)",
            ),
            piece("reel", "The Reel", "Traditional"),
        ]
    )
    (work,) = domains.works
    assert work.id == "Wolfgang Amadeus Mozart: String Quartet, K. 1"
    parts = {entry.id: entry.description["part"] for entry in work.entries}
    assert parts == {"k1/1": "first movement", "k1/2": "second movement"}
    facts = work.entries[0].description
    assert [
        facts[field] for field in ("composer", "period", "form", "ensemble", "key", "metre")
    ] == [*("Wolfgang Amadeus Mozart", "Classical", "quartet", None, "D minor", "3/8")]
    assert [score.work for score in domains.scores] == [work.id, work.id]
    assert [score.id for score in domains.others] == ["reel"]


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


def test_held_out_works_are_measured_and_others_are_shown(written):
    works = load_split(written, "works", "full", benchmark=builder.BENCHMARK).to_list()
    held_out = {work["id"] for work in works if work["split"] == "test"}
    assert len(works) == 8
    assert 0 < len(held_out) < 6
    reference = load_references(written, "bmdataset-test")[0]
    assert {row["work"] for row in reference.rows} == held_out
    # Each work has a tune, and a file that makes no MIDI.
    assert Counter(row["compiles"] for row in reference.rows) == {
        True: len(held_out),
        False: len(held_out),
    }
    shown = load_split(written, "demonstrations", "train", benchmark=builder.BENCHMARK).to_list()
    assert len({row["work"] for row in shown}) == 3
    assert not held_out & {row["work"] for row in shown}
    assert all(compile_text(row["text"], cache=lilypond_cache()).midi for row in shown)
    from_files = load_split(written, "prompts", "paper", benchmark=builder.BENCHMARK).to_list()
    assert {(row["work"], row["part"]) for row in from_files} == {
        (f"work_{number:02}", part) for number in range(8) for part in ("full", "silent")
    }
    assert list(load_demonstrations(written)) == [
        *(f"train/{row['id']}" for row in shown),
        *("ablation/minuet", "ablation/air", "ablation/prelude"),
    ]
    prompts = load_split(written, "prompts", "test", benchmark=builder.BENCHMARK).to_list()
    assert {row["entry"] for row in prompts} == {
        f"work_{number:02}" if number % 2 else f"work_{number:02}/1" for number in range(8)
    }


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
