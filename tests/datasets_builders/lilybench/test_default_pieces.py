"""Pieces made from music21's corpus: the list, and the conversion against music21's own reading."""

from collections import Counter
from dataclasses import replace

import pytest
from music21 import corpus, key, stream

from music_evals.datasets_builders import read_table
from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.lilybench import default_pieces as module
from music_evals.datasets_builders.lilybench.default_pieces import (
    Source,
    convert,
    default_sources,
    first_sources,
    make_pieces,
)
from music_evals.datasets_builders.lilybench.facts import (
    FORMS,
    PERIODS,
    composer_named,
)
from music_evals.datasets_builders.lilybench.rows import Piece
from music_evals.datasets_builders.msu.works import first_works
from music_evals.notation.lilypond.converters import ConversionError
from music_evals.notation.lilypond.structure import Structure, read_structures

BY_ID = {source.id: source for source in default_sources()}
SHORT = (
    "bach/bwv66.6",  # a pickup, four parts
    "schumann_robert/opus48no2",  # a pickup that begins with a rest, voices that begin late
    "airdsAirs/book1-47",  # one tune of a file
)


def test_the_list_is_in_the_corpus_and_has_many_composers_and_styles():
    sources = default_sources()
    paths = {
        str(path).replace("\\", "/").partition("/corpus/")[2]
        for path in corpus.corpora.CoreCorpus().getPaths()
    }
    assert {source.path for source in sources} <= paths
    assert len(BY_ID) == len(sources) >= 150
    composers = Counter(source.composer for source in sources if source.composer)
    assert sum(count >= 4 for count in composers.values()) >= 8
    assert sum(composers.values()) >= 96
    styles = Counter(source.style for source in sources if source.style)
    assert set(styles) <= {*PERIODS, *FORMS, "Folk", "Song", "Popular", "Gospel"}
    assert sum(count >= 10 for count in styles.values()) >= 5
    assert sum(styles.values()) >= 132
    assert all(composer_named(composer) for composer in composers)
    assert all(source.title for source in sources)
    listed = read_table("names/first_run.toml")
    assert [source.id for source in first_sources()] == sorted(
        [*listed["lilybench"], *listed["lilybench_further"]]
    )
    assert [work.name for work in first_works()] == sorted(listed["msu"])
    assert (len(first_sources()), len(first_works())) == (60, 32)


@pytest.fixture(scope="module")
def converted():
    pieces = {name: convert(BY_ID[name]) for name in SHORT}
    return {name: piece for name, piece in pieces.items() if isinstance(piece, Piece)}


@pytest.mark.slow
def test_measures_and_notes_are_those_of_music21(converted):
    pieces = list(converted.values())
    assert len(pieces) == len(SHORT)
    readings = list(read_structures((piece.text for piece in pieces), together=True))
    for piece, read in zip(pieces, readings, strict=True):
        assert isinstance(read, Structure), piece.id
        assert read.problems == ()
        score = corpus.parse(BY_ID[piece.id].path, number=BY_ID[piece.id].tune)
        measures = score.parts[0].getElementsByClass("Measure")
        assert read.measures + read.pickup == len({measure.offset for measure in measures})
        expected = sum(
            len(note.pitches) for note in score.recurse().notes if not note.duration.isGrace
        )
        count = sum(event.kind == "note" and not event.grace for event in read.events)
        assert expected * 29 / 30 <= count <= expected
    # The chorale as it is printed (BWV 66, no. 6): nine measures and two eighths ahead of them, in
    # F-sharp minor.
    bach = readings[0]
    assert isinstance(bach, Structure)
    assert (bach.measures, bach.pickup, {key.name for key in bach.keys}) == (
        9,
        True,
        {"F-sharp minor"},
    )
    assert [event.name for event in bach.events if event.voice == 1][:6] == [
        "cis''",
        "b'",
        "a'",
        "b'",
        "cis''",
        "e''",
    ]


def test_keys_without_a_mode_have_that_of_the_others():
    """As in Chopin's mazurka in C-sharp minor, whose file says ``minor`` in the second of two
    signatures.
    """
    measures = [
        stream.Measure([sign]) for sign in (key.KeySignature(4), key.Key("c#"), key.KeySignature(0))
    ]
    part = stream.Part(measures)
    module._write_modes(part)
    found = part.recurse().getElementsByClass("KeySignature")
    assert [getattr(sign, "mode", None) for sign in found] == ["minor", "minor", None]


def test_one_bad_score_is_named_and_stops_no_other(monkeypatch):
    missing = replace(BY_ID["airdsAirs/book1-47"], tune=4711)
    assert convert(missing) == "the file holds no tune 4711"
    no_file = Source("x", "bach/no-such-file.mxl", "X")
    assert "music21 fails on it" in str(convert(no_file))

    def busy(_):
        raise ConversionError("the clock ran out", is_measured=False)

    monkeypatch.setattr(module, "musicxml_to_lilypond", busy)
    with pytest.raises(DatasetError, match="not measured: airdsAirs/book1-47;"):
        convert(BY_ID["airdsAirs/book1-47"])


def test_pieces_are_the_same_every_time(converted, monkeypatch):
    source = BY_ID["airdsAirs/book1-47"]
    assert make_pieces([source]) == ([converted[source.id]], {})
    monkeypatch.setattr(module, "MAX_CHARACTERS", 100)
    assert "characters; 100 are allowed" in str(convert(source))
