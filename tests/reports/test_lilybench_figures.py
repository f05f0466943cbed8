"""The figure of bar_count's errors, read back from its text and marks."""

import re
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log

from music_evals.evals import lilybench as tasks
from music_evals.reports.lilybench import PAPER_WITHIN_10, report
from music_evals.reports.lilybench_figures import Curve, within_errors
from music_evals.reports.tables import Figure
from tests.harness import run
from tests.lilybench_dataset import write_small
from tests.reports.test_figures import texts

PAPER = sorted((Path(__file__).parents[3] / "shared" / "seeds").glob("000*.txt"))


def line(svg: str, colour: str) -> list[tuple[float, float]]:
    """Places of the line of a series, in points from the top left."""
    for path in re.findall(rf'<path d="([^"]*)"[^>]*style="fill: none; stroke: {colour}; stroke-width: 1.6', svg):
        places = [(float(x), float(y)) for x, y in re.findall(r"[ML] ([\d.]+) ([\d.]+)", path)]
        if len(places) > 3:
            return places
    raise AssertionError(f"no line in {colour}")


def test_the_line_is_at_the_shares() -> None:
    shares = [Figure(0.0, 0.0, 0.1), Figure(0.25, 0.2, 0.3), Figure(0.5), Figure(1.0)]
    svg = within_errors([0, 1, 5, 10], [Curve("some/model", shares)], PAPER_WITHIN_10)
    heights = [y for _, y in line(svg, "#0072b2")]
    bottom, top = heights[0], heights[-1]
    assert [(bottom - y) / (bottom - top) for y in heights] == pytest.approx([0, 0.25, 0.5, 1], abs=0.001)
    found = texts(svg)
    assert {"exact", "within 1", "within 5", "within 10", "some/model"} <= set(found)
    assert any("0.06 to 0.18 within 10" in text for text in found)
    assert not any("†" in text for text in found)


def test_marks_of_two_models_do_not_cover_each_other() -> None:
    same = [Figure(0.5)] * 4
    svg = within_errors([0, 1, 5, 10], [Curve("a", same), Curve("b", same)], PAPER_WITHIN_10)
    first, second = line(svg, "#0072b2"), line(svg, "#d55e00")
    assert all(other[0] - one[0] > 6 for one, other in zip(first, second, strict=True))


def test_the_range_of_the_paper_is_that_of_its_text() -> None:
    if not PAPER:
        pytest.skip("the paper is not at hand")
    assert re.search(r"within \\pm 10 bars accuracy is still 6–18%", PAPER[0].read_text(encoding="utf-8"))
    assert PAPER_WITHIN_10 == (0.06, 0.18)


def test_a_run_on_a_small_dataset_is_drawn_and_marked(tmp_path: Path) -> None:
    small = write_small(tmp_path / "lilybench")
    (log,) = run([tasks.bar_count(dataset=small)], tmp_path / "logs")
    found = report([read_eval_log(log.location, header_only=True)])
    assert "lilybench_bar_count" in {table.name for table in found.tables}
    written = texts(found.figures["lilybench_bar_count"])
    assert any(text.startswith("baseline/reader (measured †") for text in written)
    assert any(text.startswith("†: not the paper's procedure") for text in written)
