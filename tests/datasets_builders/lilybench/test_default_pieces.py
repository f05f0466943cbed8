"""Pieces made from music21's corpus: the list, and the conversion against what music21 reads itself."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

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
from music_evals.datasets_builders.lilybench.facts import STYLES, composer_named, composer_of, style_of, title_of
from music_evals.datasets_builders.msu.works import first_works
from music_evals.notation.lilypond.converters import ConversionError
from music_evals.notation.lilypond.structure import read_structures

BY_ID = {source.id: source for source in default_sources()}
SHORT = (
    "bach/bwv66.6",  # a pickup, four parts
    "schumann_robert/opus48no2",  # a pickup that begins with a rest, voices that begin late
    "trecento/PMFC_06_Giovanni-01-Angnel_son_biancho",
    "airdsAirs/book1-47",  # one tune of a file
)


def test_the_list_is_in_the_corpus_and_has_many_composers_and_styles() -> None:
    from music21 import corpus

    sources = default_sources()
    paths = {str(path).replace("\\", "/").partition("/corpus/")[2] for path in corpus.corpora.CoreCorpus().getPaths()}
    assert {source.path for source in sources} <= paths
    assert len(BY_ID) == len(sources) >= 150
    composers = Counter(source.composer for source in sources if source.composer)
    assert sum(count >= 4 for count in composers.values()) >= 8
    assert sum(composers.values()) >= 96
    styles = Counter(source.style for source in sources if source.style)
    assert set(styles) <= set(STYLES)
    assert sum(count >= 10 for count in styles.values()) >= 5
    assert sum(styles.values()) >= 132
    assert all(composer_named(composer) for composer in composers)
    assert all(source.title for source in sources)


@pytest.fixture(scope="module")
def converted() -> dict[str, module.Converted]:
    return {name: convert(BY_ID[name]) for name in SHORT}


def test_measures_and_notes_are_those_of_music21(converted: dict[str, module.Converted]) -> None:
    from music21 import corpus

    pieces = [one.piece for one in converted.values() if one.piece]
    assert len(pieces) == len(SHORT)
    for piece, read in zip(pieces, read_structures(piece.text for piece in pieces), strict=True):
        assert not isinstance(read, Exception), piece.id
        assert read.measures + read.pickup == converted[piece.id].measures
        assert read.problems == ()
        source = BY_ID[piece.id]
        score = corpus.parse(source.path, number=source.tune)
        expected = sum(len(note.pitches) for note in score.recurse().notes if not note.duration.isGrace)
        found = sum(event.kind == "note" and not event.grace for event in read.events)
        assert expected * 29 / 30 <= found <= expected
    # The chorale as it is printed (BWV 66, no. 6): nine measures and two eighths ahead of them, in F-sharp minor.
    bach = next(read_structures([piece.text for piece in pieces if piece.id == "bach/bwv66.6"]))
    assert not isinstance(bach, Exception)
    assert (bach.measures, bach.pickup) == (9, True)
    assert {key.name for key in bach.keys} == {"F-sharp minor"}
    assert [event.name for event in bach.voices[1][:6]] == ["cis''", "b'", "a'", "b'", "cis''", "e''"]


def test_the_header_tells_what_is_known_and_nothing_of_the_converter_is_left(
    converted: dict[str, module.Converted],
) -> None:
    for name, one in converted.items():
        assert one.piece is not None
        source, header = BY_ID[name], one.piece.header
        composer = composer_of(header, name)
        assert (composer.name if composer else None) == source.composer
        assert title_of(header) == source.title
        assert style_of(header) == source.style
        traces = r"musicxml2ly|barNumberCheck|global-staff-size|\\paper|autoBeaming|lyric|/tmp"
        assert not re.search(traces, one.piece.text)
        assert one.piece.text.count("\\header") == one.piece.text.count("\\midi") == 1
    piece = converted["bach/bwv66.6"].piece
    assert piece is not None
    assert piece.header["composer"] == "Johann Sebastian Bach (1685–1750)"
    assert piece.header["mutopiatitle"] == piece.header["title"] == "Christ ist erstanden"


def test_keys_without_a_mode_have_that_of_the_others() -> None:
    """The file of Chopin's mazurka in C-sharp minor says ``minor`` in the second of two signatures."""
    piece = convert(BY_ID["chopin/mazurka06-2"]).piece
    assert piece
    assert set(re.findall(r"\\key (\S+ \S+)", piece.text)) == {"cis \\minor"}


def test_one_bad_score_is_named_and_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = replace(BY_ID["airdsAirs/book1-47"], tune=4711)
    assert convert(missing).reason == "the file holds no tune 4711"
    no_file = Source("x", "bach/no-such-file.mxl", None, "X", None, None, None)
    assert "music21 fails on it" in convert(no_file).reason
    monkeypatch.setattr(module, "MAX_CHARACTERS", 100)
    assert "characters; 100 are allowed" in convert(BY_ID["airdsAirs/book1-47"]).reason


def test_what_the_machine_kept_from_being_converted_is_no_piece_less(monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(_: str) -> str:
        raise ConversionError("the clock ran out", is_measured=False)

    monkeypatch.setattr(module, "musicxml_to_lilypond", busy)
    with pytest.raises(DatasetError, match="not measured: airdsAirs/book1-47;"):
        convert(BY_ID["airdsAirs/book1-47"])


def test_pieces_come_compiled_the_same_every_time_and_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources, calls = default_sources()[:2], []
    pieces, left_out = make_pieces(sources[:1], cache=tmp_path)
    assert [piece.id for piece in pieces] == list(BY_ID)[:1]
    assert left_out == {}
    assert convert(BY_ID[pieces[0].id]).piece == pieces[0]
    monkeypatch.setattr(module, "musicxml_to_lilypond", lambda _: calls.append(1) or pieces[0].text)
    again, _ = make_pieces(sources, cache=tmp_path)
    assert again[0] == pieces[0]
    assert len(calls) == 1  # for the second piece alone


def test_a_first_run_takes_some_of_what_is_listed() -> None:
    listed = read_table("names/first_run.toml")
    assert [source.id for source in first_sources()] == sorted(listed["lilybench"])
    assert [work.name for work in first_works()] == sorted(listed["msu"])
    assert len(first_sources()) == 37
    assert len(first_works()) == 32
