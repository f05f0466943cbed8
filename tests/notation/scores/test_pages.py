"""Page images: titles, measure numbers, sizes, and text that is laid out as it is drawn."""

from music_evals.notation.scores.pages import shown_text
from music_evals.notation.scores.preparing import prepare_score, score_to_musicxml
from music_evals.notation.scores.reading import read_corpus


def musicxml(path, title="", composer=""):
    score = prepare_score(read_corpus(path))
    score.metadata.title = title
    score.metadata.composer = composer
    return score_to_musicxml(score)


CHORALE = musicxml("bach/bwv66.6", "TITLE", "COMPOSER")


def test_names_that_music21_makes_up_are_not_shown():
    unnamed = CHORALE.replace(">Soprano<", ">MusicXML Part<")
    credited = unnamed.replace("<part-list>", "<credit><credit-words/></credit><part-list>")
    for text in (shown_text(unnamed), shown_text(credited)):
        assert ("MusicXML" in text, "Tenor" in text) == (False, True)
