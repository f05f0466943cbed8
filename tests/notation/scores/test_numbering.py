"""Numbers of measures as in print, and what a divided measure keeps."""

from music_evals.notation.scores.preparing import prepare_score
from music_evals.notation.scores.reading import parse_musicxml, read_score


def musicxml(*measures, metre=4):
    """A part of measures: attributes, quarter notes, and further elements."""
    first = f"<attributes><divisions>1</divisions><time><beats>{metre}</beats><beat-type>4</beat-type></time></attributes>"
    note = "<note><pitch><step>{}</step><octave>4</octave></pitch><duration>1</duration><type>quarter</type></note>"
    text = "".join(
        "<measure "
        f"{attributes}>{'' if place else first}{note.format('CDEFGAB'[place % 7]) * quarters}{more}</measure>"
        for place, (attributes, quarters, more) in enumerate(measures)
    )
    return (
        "<score-partwise><part-list><score-part "
        'id="P1"><part-name>A</part-name></score-part></part-list><part '
        f'id="P1">{text}</part></score-partwise>'
    )


def numbers(score):
    return [
        f"{measure.number}{measure.numberSuffix or ''}"
        for measure in score.parts[0].getElementsByClass("Measure")
    ]


def test_kern_with_a_repeat_at_its_end_and_a_first_number(tmp_path):
    path = tmp_path / "a.krn"
    path.write_text(
        "!!!OTL: Tune @{PC#}\n!!!title: @{OTL}\n**kern\n*M2/4\n=65\n4c\n4d\n=66\n4e\n4f\n=:|!\n*-\n"
    )
    score = prepare_score(read_score(path))
    assert numbers(score) == ["65", "66"]
    assert score.metadata.title == "Tune"


def test_a_direction_within_a_chord_and_a_forward_at_the_end():
    note = "<note>{}<pitch><step>{}</step><octave>4</octave></pitch><duration>1</duration></note>"
    direction = "<direction><direction-type><segno/></direction-type></direction>"
    chord = note.format("", "C") + direction + note.format("<chord/>", "E")
    text = musicxml(
        ('number="1"', 0, f"{chord}<forward><duration>3</duration></forward>"),
        ('number="2"', 4, ""),
    )
    score = parse_musicxml(text)
    assert numbers(score) == ["1", "2"]
    first = score.parts[0].getElementsByClass("Measure")[0]
    assert [[pitch.name for pitch in element.pitches] for element in first.notes] == [["C", "E"]]
    assert first.highestTime == 4
