"""`music-evals attack` as a user runs it."""

from pathlib import Path

from music_evals.datasets_builders.ziqi.dataset import write
from music_evals.datasets_builders.ziqi.published import build_published
from tests.commands.cli import lines_of_table, run
from tests.ziqi_source import write_source


def test_attack_shows_what_guessers_get(tmp_path: Path) -> None:
    write(build_published(write_source(tmp_path / "source")), tmp_path / "ziqi")
    code, output = run("attack", tmp_path / "ziqi")
    assert code == 0, output
    shown = {line[1]: line[2:] for line in lines_of_table(output)}
    # Four rows of each of eleven themes.
    assert {row[-2] for name, row in shown.items() if name in ("longest", "commonest place")} == {
        "44"
    }
    code, output = run("attack", tmp_path / "nowhere")
    assert (code, "nowhere' does not exist; accepted: " in output) == (1, True)
