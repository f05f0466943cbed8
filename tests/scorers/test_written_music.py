"""The two ways of comparing written music with real music: when they agree and when they do not."""

from random import Random
from unittest.mock import patch

import numpy as np
import pytest

pytest.importorskip("lilypond", reason="LilyPond is not installed: pip install -e '.[lilypond]'")

import torch

from music_evals.datasets_builders.lilybench_generation.dataset import measure
from music_evals.datasets_builders.lilybench_generation.rows import Score
from music_evals.encoders.lilybert import load_encoder
from music_evals.notation.reference_pieces import ReferenceSet
from music_evals.scorers.metrics.descriptor_similarity import fit_of, js_similarity
from music_evals.scorers.metrics.frechet import frechet_distance
from music_evals.scorers.readers.pieces import Piece
from music_evals.scorers.written_music import explained
from tests.encoders.tiny_encoder import make_tiny_encoder
from tests.generation_dataset import piece

WORDS = ("Allegro", "Sonata", "Concerto", "Largo", "Aria", "Minuetto", "Gigue", "Vivace")


def edited(seed, *, chromatic):
    """A piece as an edition prints it: a header, remarks, a tempo, settings."""
    random = Random(seed)
    header = "\n".join(
        f'  {field} = "{" ".join(random.choices(WORDS, k=random.randint(1, 4)))}"'
        for field in ("title", "subtitle", "composer", "opus", "copyright")
    )
    remarks = "\n".join(
        f"% {' '.join(random.choices(WORDS, k=5))}" for _ in range(random.randint(1, 4))
    )
    music = piece(seed, chromatic=chromatic).replace(
        "\\time 4/4", f'\\tempo "{random.choice(WORDS)}" \\time 4/4'
    )
    return music.replace(
        "\\score", f"\\header {{\n{header}\n}}\n{remarks}\n#(set-global-staff-size 18)\n\\score"
    )


def measured(name, texts):
    return ReferenceSet(
        name, None, tuple(measure([Score(text, text, text, None) for text in texts]))
    )


@pytest.fixture(autouse=True)
def cache(tmp_path):
    torch.set_num_threads(1)
    with patch.dict("os.environ", MUSIC_EVALS_CACHE=str(tmp_path)):
        yield


def test_narrow_but_well_formed_pieces_are_alike_in_descriptors_and_far_in_embeddings(
    tmp_path,
):
    """What the paper finds of the ablation, in section 5, on sets that are made so.

    The reference is of editions. One set is written as they are, with other music; the other has
    their music, in a bare form that none of them has.
    """
    editions = measured("editions", [edited(seed, chromatic=0.1) for seed in range(6)])
    genuine = measured("genuine", [edited(100 + seed, chromatic=0.35) for seed in range(6)])
    narrow = measured("narrow", [piece(200 + seed, chromatic=0.1) for seed in range(6)])
    assert all(row["compiles"] for one in (editions, genuine, narrow) for row in one.rows)
    encoder = load_encoder(
        str(make_tiny_encoder(tmp_path / "tiny", editions.texts, layers=6, hidden=8))
    )

    def similarity(other):
        return js_similarity(fit_of(editions.descriptors("strict")), other.descriptors("strict"))

    def distance(other):
        first, second = (
            np.array(encoder.embed(one.texts), dtype=float) for one in (editions, other)
        )
        return frechet_distance(first, second)

    assert similarity(narrow) > similarity(genuine) + 5
    assert distance(narrow) > 2 * distance(genuine)


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
