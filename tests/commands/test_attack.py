"""`music-evals attack` as a user runs it."""

import csv
from pathlib import Path

from music_evals.datasets_builders.ziqi.dataset import write
from music_evals.datasets_builders.ziqi.published import build_published
from tests.commands.cli import lines_of_table, run
from tests.ziqi_source import write_source


def test_attack_shows_and_writes_what_guessers_get(tmp_path: Path) -> None:
    write(build_published(write_source(tmp_path / "source")), tmp_path / "ziqi")
    code, output = run("attack", tmp_path / "ziqi", "--out", tmp_path / "shares.csv")
    assert code == 0, output
    shown = {line[1]: line[2:] for line in lines_of_table(output)}
    with (tmp_path / "shares.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    totals = {row["guesser"]: row for row in rows if row["form"] == "all"}
    assert {row["questions"] for row in totals.values()} == {
        "44"
    }  # four rows of each of eleven themes
    assert shown["longest"][0] == f"{float(totals['longest']['right']):.1%}"
    assert float(totals["commonest place"]["low"]) < float(totals["commonest place"]["right"])
    code, output = run("attack", tmp_path / "nowhere")
    assert (code, "nowhere' does not exist; accepted: " in output) == (1, True)
