"""`python -m music_evals`: the command, where no script is on the path."""

from music_evals.commands.main import main

main()
