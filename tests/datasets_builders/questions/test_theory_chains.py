"""The questions of levels 2 to 5."""

import pytest

from music_evals.datasets_builders import musictheorybench
from music_evals.datasets_builders.ziqi import dataset as ziqi

SMALL = 6


@pytest.mark.parametrize("builder", [ziqi, musictheorybench])
def test_a_level_is_a_dataset_of_one_task(builder, tmp_path, monkeypatch):
    monkeypatch.setattr(ziqi, "LEVEL_THEORY", SMALL)
    monkeypatch.setattr(musictheorybench, "LEVEL_ROWS", SMALL + musictheorybench.EXAMPLES)
    spec = builder.BENCHMARK  # type: ignore[attr-defined]
    provenance = builder.build_level(2, tmp_path / "level", lambda *_: None)  # type: ignore[attr-defined]
    languages = 2 if builder is ziqi else 1
    assert provenance.counts == {
        config: {"dev": 5 * languages, "test": SMALL * languages} for config in spec.leveled
    }
