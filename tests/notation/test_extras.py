"""Libraries of extras: they are imported where they are used, and one that is missing is named."""

import subprocess
import sys

import pytest

from music_evals.notation.extras import MissingLibraryError, require

HEAVY = ("converter21", "matplotlib", "music21", "openpyxl", "resvg_py", "scipy", "verovio")
MODULES = ("notation.noise", "notation.scores.renderings", "notation.audio.transcription", "notation.abc.writing")
MODULES += ("datasets_builders.msu.dataset", "datasets_builders.msu.published", "datasets_builders.msu.twins")
MODULES += ("datasets_builders.msu.questions.answerability", "datasets_builders.muse.dataset")
MODULES += ("datasets_builders.ziqi.dataset", "datasets_builders.musictheorybench")


def test_a_missing_library_is_named_with_its_extra() -> None:
    with pytest.raises(MissingLibraryError, match=r"^no_such is not installed: pip install 'music-evals\[scores\]'$"):
        require("no_such.module", "scores")


def test_importing_a_module_loads_no_heavy_library() -> None:
    names = ", ".join(f"music_evals.{name}" for name in MODULES)
    code = f"import sys, {names}; print([name for name in {HEAVY} if name in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
