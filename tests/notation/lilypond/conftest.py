"""What tests of LilyPond share."""

from pathlib import Path

import pytest

from music_evals.notation.lilypond.sandbox import Confinement, runner
from music_evals.notation.lilypond.sandbox.runner import why_unavailable

MUTOPIA = Path(__file__).parents[4] / "shared" / "data" / "mutopia" / "ftp"
needs_mutopia = pytest.mark.skipif(
    not MUTOPIA.is_dir(), reason="no copy of Mutopia in ../shared/data/mutopia"
)


def _parameter(confinement):
    reason = why_unavailable(confinement)
    return pytest.param(
        confinement, id=confinement, marks=pytest.mark.skipif(bool(reason), reason=f"{reason}")
    )


@pytest.fixture(params=[*map(_parameter, Confinement)])
def confinement(request, monkeypatch):
    """Run a test in each sandbox that works here."""
    monkeypatch.setattr(runner, "available_confinement", lambda: request.param)
    return request.param
