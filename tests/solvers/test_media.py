"""The music in a log, for its readers."""

import base64
import io

import pytest
import soundfile
from inspect_ai.model import ContentAudio, ContentImage

from music_evals.solvers import media

RENDER = media.render_media  # other tests do without

VOICES = """X:1
Q:1/4=60
L:1/4
M:4/4
%%score 1 2
K:Gm
V:1 clef=treble
V:2 clef=bass
V:1
G A B c |
d4 |
V:2
[K:Gm] G,4 |
D,4 |
"""
MASKED = "X:1\nQ:1/4=60\nL:1/4\nM:?\nK:G\nG A B c |\nd2 e2 |\n"
TOO_LONG = "X:1\nQ:1/4=60\nL:1/4\nM:3/4\nK:G\nG A B |\nd2 e2 |\nc |\n"
NONSENSE = "X:1\nQ:1/4=60\nL:1/4\nM:4/4\nK:G\nG A @zv3/2 B c |\nd4 |\n"


@pytest.mark.parametrize("abc", [VOICES, MASKED, TOO_LONG, NONSENSE])
def test_a_tune_of_eight_crotchets_at_sixty_sounds_for_eight_seconds(abc):
    picture, sound = RENDER({"abc": abc})
    assert isinstance(picture, ContentImage)
    assert isinstance(sound, ContentAudio)
    mp3 = base64.b64decode(sound.audio.partition(",")[2])
    # The last note dies away for at most a second.
    assert 8 <= soundfile.info(io.BytesIO(mp3)).duration < 9
