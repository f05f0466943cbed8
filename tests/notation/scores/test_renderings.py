"""Renderings of a score: what is written holds the same notes, and what does not is told."""

import io
from typing import get_args
from unittest.mock import patch

import pytest
import soundfile
from music21 import bar, converter, instrument, note, stream, tie

from music_evals.notation.cache import cache_folder
from music_evals.notation.midi.files import midi_to_text, parse_midi_text
from music_evals.notation.scores import renderings
from music_evals.notation.scores.note_places import align_measures, written_notes
from music_evals.notation.scores.preparing import prepare_score, score_to_musicxml
from music_evals.notation.scores.renderings import Rendering, render


def written(*parts, change=lambda score: None):
    score = stream.Score()
    for text in parts:
        score.insert(0, converter.parse(f"tinyNotation: {text}"))
    prepared = prepare_score(score)
    prepared.metadata.title = "Study"
    change(prepared)
    return score_to_musicxml(prepared)


def add_what_sounds_otherwise(score):
    """A repeat, a clarinet in B flat, a grace note and a staccato."""
    first, second = score.parts[0].getElementsByClass("Measure")[:2]
    first.leftBarline, second.rightBarline = bar.Repeat("start"), bar.Repeat("end")
    score.parts[0].insert(0, instrument.Clarinet())
    second.insert(0, note.Note("D5").getGrace())


STUDY = written(
    "4/4 c'4 d' e'2~ e'4 f'8 g' trip{a'8 b' c''} r4 c'1",
    "4/4 c2 G c#1 E-1",
    change=add_what_sounds_otherwise,
)
NOTES = {(0, 72), (1, 74), (2, 76), (5, 77), (5.5, 79), (6, 81), (8, 72)} | {
    (0, 60),
    (2, 55),
    (4, 61),
    (8, 51),
}


@pytest.mark.parametrize("rendering", get_args(Rendering))
def test_every_rendering_is_read_back_with_the_same_notes(rendering):
    if rendering == "lilypond":
        pytest.importorskip(
            "lilypond", reason="LilyPond is not installed: pip install -e '.[lilypond]'"
        )
    (rendered,) = render([STUDY], rendering)
    assert rendered["problem"] == ""
    assert rendered["is_regular"]
    assert ("Study" in rendered["words"]) == (rendering not in ("midi", "audio"))
    if rendering == "pages":
        assert rendered["files"][0].startswith(b"\x89PNG")
    elif rendering == "audio":
        seconds = soundfile.info(io.BytesIO(rendered["files"][0])).duration
        assert 4 < seconds < 8  # 12 quarters at 120, and the last note dies away
    else:
        begins = {
            "abc": "X:1",
            "musicxml": "<?xml",
            "midi": "ticks_per_beat",
            "lilypond": "\\version",
        }
        assert rendered["text"].strip().startswith(begins[rendering])


def test_midi_has_written_pitches_and_neither_repeats_nor_grace_notes():
    file = parse_midi_text(midi_to_text(renderings._midi(renderings._bare(STUDY))))
    heard = {(round(note.onset / file.ticks_per_beat, 3), note.pitch) for note in file.notes}
    assert {place for place in heard if place[0] not in (6.333, 6.667)} == NOTES
    assert len(heard) == len(NOTES) + 2


def test_what_is_read_otherwise_is_told_with_places(monkeypatch):
    # A process of its own would not have the patches.
    monkeypatch.setattr(renderings, "map_in_subprocess", lambda work, items, _: map(work, items))
    with patch.object(renderings, "sounding_notes", return_value={(0, 73): 96, (96, 74): 96}):
        (rendered,) = render([written("2/4 c'4 d' e'2")], "midi")
    assert (
        rendered["problem"]
        == "read back, of 3 notes 2 lost (pitch 72 at quarter 0, pitch 76 at quarter 2), 1 added"
        " (pitch 73 at quarter 0)"
    )
    with patch.object(
        renderings, "sounding_notes", return_value={(0, 72): 96, (97, 74): 96, (192, 76): 96}
    ):
        (rendered,) = render([written("2/4 c'4 d' e'2 r2")], "midi")
    assert rendered["problem"].endswith("1 of another duration (pitch 76 at quarter 2)")


def test_ties_join_within_a_part_and_unisons_have_no_sure_duration():
    def two_voices(score):
        measure = score.parts[0].getElementsByClass("Measure")[0]
        measure.removeByClass("GeneralNote")
        for lengths in ((1, 3), (4,)):
            notes = [note.Note("C4", quarterLength=length) for length in lengths]
            measure.insert(0, stream.Voice(notes, givenElementsBehavior="append"))

    def tied_voices(score):
        two_voices(score)
        first, second = score.parts[0].recurse().notes[:2]
        first.tie, second.tie = tie.Tie("start"), tie.Tie("stop")

    tied, struck = (written("4/4 c'1 d'1", change=change) for change in (tied_voices, two_voices))
    score = renderings.parse_musicxml(tied)
    notes = written_notes(score.parts, align_measures(score)[0])
    assert notes == {(0, 60): None, (4 * 96, 74): 4 * 96}
    (midi,) = render([struck], "midi")
    assert midi["problem"] == ""
    midi_notes = parse_midi_text(
        midi["text"]
    ).notes  # one of a pitch at a time: the second begins it anew
    assert [(note.onset // 480, note.pitch) for note in midi_notes] == [(0, 60), (1, 60), (4, 74)]


def test_a_rendering_is_kept_and_made_anew_where_its_entry_is_damaged(tmp_path, monkeypatch):
    monkeypatch.setenv("MUSIC_EVALS_CACHE", str(tmp_path))
    score = written("2/4 c'4 d' e'2")
    made = render([score, score], "abc")
    with patch.object(
        renderings, "map_in_subprocess", side_effect=lambda work, items, *_: map(work, items)
    ) as apart:
        assert render([score], "abc") == made[:1]
        assert [*apart.call_args.args[1]] == []
        (entry,) = (cache_folder() / "renderings").iterdir()
        entry.write_bytes(entry.read_bytes()[:20])
        assert render([score], "abc") == made[1:]
        assert [*apart.call_args.args[1]] == [score]
