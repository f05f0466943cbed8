"""Running one untrusted program with bounds on what it sees, changes and uses up."""

from music_evals.notation.lilypond.sandbox.runner import (
    Confinement,
    Limits,
    SandboxError,
    available_confinement,
)

__all__ = ["Confinement", "Limits", "SandboxError", "available_confinement"]
