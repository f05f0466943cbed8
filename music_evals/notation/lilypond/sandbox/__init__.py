"""Running one untrusted program with bounds on what it sees, changes and uses up."""

from music_evals.notation.lilypond.sandbox.runner import (
    Confinement,
    Ended,
    Limits,
    SandboxError,
    available_confinement,
    run_confined,
    why_unavailable,
)

__all__ = [
    "Confinement",
    "Ended",
    "Limits",
    "SandboxError",
    "available_confinement",
    "run_confined",
    "why_unavailable",
]
