"""What tests of LilyPond share."""

from pathlib import Path

import pytest

from music_evals.notation.lilypond.compiler import LilyPondError, lilypond_version
from music_evals.notation.lilypond.sandbox import Confinement, SandboxError, available_confinement, why_unavailable

MUTOPIA = Path(__file__).parents[4] / "shared" / "data" / "mutopia" / "ftp"
needs_mutopia = pytest.mark.skipif(not MUTOPIA.is_dir(), reason="no copy of Mutopia in ../shared/data/mutopia")


@pytest.fixture(scope="session")
def lilypond_runs() -> None:
    """Skip a test where LilyPond is not installed, or cannot be confined."""
    try:
        lilypond_version()
        available_confinement()
    except (SandboxError, LilyPondError) as error:
        pytest.skip(str(error))


def _parameter(confinement: Confinement):
    reason = why_unavailable(confinement)
    return pytest.param(confinement, id=confinement, marks=pytest.mark.skipif(bool(reason), reason=f"{reason}"))


with_each_confinement = pytest.mark.parametrize("confinement", [*map(_parameter, Confinement)])
"""Runs a test in each sandbox, and skips it where that is not to be had."""
