"""The two ways of comparing written music with real music: when they agree and when they do not."""

from unittest.mock import patch

import pytest

pytest.importorskip("lilypond", reason="LilyPond is not installed: pip install -e '.[lilypond]'")

import torch

from music_evals.scorers.readers.pieces import Piece
from music_evals.scorers.written_music import explained


@pytest.fixture(autouse=True)
def cache(tmp_path):
    torch.set_num_threads(1)
    with patch.dict("os.environ", MUSIC_EVALS_CACHE=str(tmp_path)):
        yield


def test_what_lilypond_says_of_a_piece_is_no_markup_in_the_viewer():
    judged = Piece(
        reply="",
        code="",
        problem=r"error: unknown \relativ <b>![x](http://example.org/x.png)</b>",
        messages="score.ly:1:1: error: <script>alert(1)</script>\n![x](http://example.org/x.png)",
        midi=None,
        descriptors={},
        undefined={},
        pictures={},
        embeddings={},
    )
    first, *code = explained(judged, "strict", {}).split("\n")
    assert first == f"Does not compile: `{judged['problem']}`"  # Markdown's code
    # Indented by four spaces, a line is code in Markdown.
    assert [line for line in code if line and not line.startswith("    ")] == []
