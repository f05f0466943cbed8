"""Libraries of extras: they are imported where they are used, and one that is missing is named."""

import pytest

from tests.test_layers import loaded

HEAVY = {"matplotlib", "music21", "openpyxl", "resvg_py", "scipy", "verovio"}
MODULES = (
    "notation.noise",
    "notation.scores.renderings",
    "notation.abc.writing",
)
MODULES += (
    "datasets_builders.msu.dataset",
    "datasets_builders.msu.published",
    "datasets_builders.msu.twins",
)
MODULES += ("datasets_builders.msu.questions.answerability", "datasets_builders.muse.dataset")
MODULES += ("datasets_builders.ziqi.dataset", "datasets_builders.musictheorybench")


@pytest.mark.parametrize("module", MODULES)
def test_importing_a_module_loads_no_heavy_library(module):
    libraries = set()
    loaded(f"music_evals.{module}", libraries)
    assert not {name.partition(".")[0] for name in libraries} & HEAVY
