"""The heat map of ZIQI-Eval's themes, read back from its text."""

import re

from music_evals.reports.tables import Figure
from music_evals.reports.ziqi import report
from music_evals.reports.ziqi_figures import Line, heat_map
from tests.reports.test_figures import texts
from tests.reports.test_ziqi import choice, header


def themed(theme: str, accuracy: float) -> dict[str, dict[str, float]]:
    return {"by_theme": {f"{theme}/{name}": value for name, value in choice(accuracy, 1.0).items()}}


def cells(svg: str) -> list[str]:
    """Fills of the cells in the order in which they are drawn."""
    return re.findall(r'<path d="[^"]*"[^>]* style="fill: (#[0-9a-f]{6}); stroke: #ffffff', svg)


def luminance(colour: str) -> float:
    """Relative luminance of a colour, by sRGB's approximate gamma."""
    channels = [(int(colour[at : at + 2], 16) / 255) ** 2.2 for at in (1, 3, 5)]
    return sum(weight * channel for weight, channel in zip((0.2126, 0.7152, 0.0722), channels, strict=True))


def test_cells_of_the_leaderboard_and_the_measured_model_are_where_they_belong() -> None:
    svg = report([header(metrics=themed("female music", 0.41))]).figures["ziqi_themes_zero_shot"]
    found = texts(svg)
    # GPT4's 89.15 in popular music is the only such cell of the zero-shot leaderboard.
    assert abs(found["89"][0] - found["Popular music"][0]) < 40
    assert abs(found["89"][1] - found["GPT4 (gpt-4)"][1]) < 3
    # The interval of the tests' figures is two points to either side.
    assert abs(found["39–43"][0] - found["Female music"][0]) < 40
    assert 0 < found["39–43"][1] - found["1: some/model"][1] < 15
    assert found["1: some/model"][1] > found["educhat-base-002-13B"][1] + 25, "set apart from the published ones"
    assert any(text.startswith("1: some/model (measured; zero-shot") for text in found)


def test_a_theme_that_no_leaderboard_has_gets_a_column_and_is_marked() -> None:
    asked = header(label="generated-seed1", shots="five", metrics=themed("computed music theory", 0.5))
    figures = report([asked]).figures
    assert set(figures) == {"ziqi_themes_five_shot"}
    found = texts(figures["ziqi_themes_five_shot"])
    assert "Computed music" in found
    assert any("generated-seed1" in text for text in found)
    assert any(text.startswith("†: not the paper's test") for text in found)


def test_colours_grow_brighter_with_the_share_and_numbers_stand_out() -> None:
    shares = [0.0, 20.0, 40.0, 54.0, 55.0, 75.0, 100.0]
    svg = heat_map("T", list("abcdefg"), [Line("m", [Figure(share) for share in shares], measured=False)], [])
    found = [luminance(fill) for fill in cells(svg)]
    assert len(found) == len(shares)
    assert found == sorted(found)
    # White up to 54, black from 55 on; 3 is the least contrast that WCAG asks of what is bold or large.
    assert min(1.05 / (light + 0.05) for light in found[:4]) > 3
    assert min((light + 0.05) / 0.05 for light in found[4:]) > 3


def test_what_is_unknown_is_a_dash_and_no_zero() -> None:
    found = texts(heat_map("T", ["a"], [Line("m", [None], measured=True)], []))
    assert "–" in found
    assert "0" not in found
