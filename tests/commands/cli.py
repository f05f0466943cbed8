"""The commands as a user runs them, in this process."""

from typer.testing import CliRunner

from music_evals.commands.main import app


def run(*arguments, columns=300):
    """Exit status and output of a command, which may end in an error of its own but not in a
    traceback.
    """
    size = {"COLUMNS": str(columns), "TERMINAL_WIDTH": str(columns)}
    result = CliRunner(env=size).invoke(app, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def lines_of_table(output):
    """The cells of the lines between vertical bars, and an empty one at either end."""
    return [
        [cell.strip() for cell in line.split("│")]
        for line in output.splitlines()
        if line.startswith("│")
    ]
