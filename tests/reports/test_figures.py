"""Figures as SVG: what their text and marks say, read back from the file."""

import re
from itertools import combinations

import matplotlib as mpl
import pytest
from defusedxml import ElementTree

from music_evals.reports.figures import (
    Panel,
    Point,
    Series,
    heat_map,
    labelled_points,
    panels_figure,
)
from music_evals.reports.tables import Figure
from tests.reports.made import reports
from tests.reports.test_ziqi import choice, header

AXES = ("FMD, reversed: lower is better", "JS")


def texts(svg: str) -> dict[str, tuple[float, float]]:
    """Text of the figure → where it stands, in points from the top left."""
    found = {}
    for node in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        place = re.search(r"translate\(([\d.]+) ([\d.]+)\)", node.get("transform", ""))
        x, y = place.groups() if place else (node.get("x"), node.get("y"))
        found[node.text] = float(x), float(y)
    return found


def line(svg: str, colour: str) -> list[tuple[float, float]]:
    """Places of the line of a measured series, in points from the top left."""
    for path in re.findall(rf'<path d="([^"]*)"[^>]*style="fill: none; stroke: {colour}; stroke-width: 1.6', svg):
        places = [(float(x), float(y)) for x, y in re.findall(r"[ML] ([\d.]+) ([\d.]+)", path)]
        if len(places) > 2:
            return places
    raise AssertionError(f"no line in {colour}")


# --- lines ---


def lines(*series: Series, **options: object) -> str:
    return panels_figure("T", [Panel("A panel", series)], ["exact", "1", "5", "10"], **options)  # type: ignore[arg-type]


def a_series(label: str, *values: float) -> Series:
    return Series(label, [Figure(place) for place in range(len(values))], [Figure(value) for value in values])


def test_a_line_is_at_its_figures_and_its_intervals_are_drawn() -> None:
    series = Series(
        "some/model", [Figure(n) for n in range(4)], [Figure(0, 0, 10), Figure(25, 20, 30), Figure(50), Figure(100)]
    )
    svg = lines(series, notes=["a note"])
    heights = [y for _, y in line(svg, "#0072b2")]
    bottom, top = heights[0], heights[-1]
    assert [(bottom - y) / (bottom - top) for y in heights] == pytest.approx([0, 0.25, 0.5, 1], abs=0.001)
    assert {"exact", "10", "some/model", "A panel", "a note"} <= set(texts(svg))
    assert len(re.findall(r"stroke: #0072b2; stroke-linecap: square", svg)) == 2, "two have an interval"


def test_marks_of_two_models_do_not_cover_each_other() -> None:
    svg = lines(a_series("a", 50, 50, 50, 50), a_series("b", 50, 50, 50, 50))
    first, second = line(svg, "#0072b2"), line(svg, "#d55e00")
    assert all(other[0] - one[0] > 6 for one, other in zip(first, second, strict=True))


def test_long_keys_go_on_in_lines_of_their_own_within_the_picture() -> None:
    words = [f"word{number}" for number in range(60)]
    words[7:9] = ["word$7", "word$8&<"]
    svg = lines(a_series(" ".join(words), 1, 2, 3, 4))
    places = {text: place for text, place in texts(svg).items() if text.startswith("word")}
    assert " ".join(sorted(places, key=lambda text: places[text][1])).split() == words
    width, height = (float(size) for size in re.findall(r'(?:width|height)="([\d.]+)pt"', svg)[:2])
    assert len({y for _, y in places.values()}) == len(places) > 1
    assert max(y for _, y in places.values()) < height - 4
    # 5 points a character is more than the font needs.
    assert max(x + 5 * len(text) for text, (x, _) in places.items()) < width


def test_the_same_values_give_the_same_file_whatever_the_users_settings() -> None:
    first = lines(a_series("a", 1, 2, 3, 4))
    with mpl.rc_context({"font.size": 20, "svg.fonttype": "path", "svg.hashsalt": "other", "axes.grid": False}):
        assert lines(a_series("a", 1, 2, 3, 4)) == first
    assert "<dc:date>" not in first


def test_a_dark_page_shows_its_own_ground_and_lighter_ink() -> None:
    svg = lines(a_series("a", 1, 2, 3, 4)._replace(second=True), second="few-shot")
    dark = svg[svg.index("(prefers-color-scheme: dark)") : svg.index("</style>")]
    marks = svg[svg.index("</style>") :]
    without_hue = {match.group() for match in re.finditer(r"(fill|stroke): #(\w\w)\2\2", marks)}
    assert "stroke: #000000" in without_hue
    assert all(f'[style*="{colour}"]' in dark for colour in without_hue)
    ground = marks[marks.index('id="patch_1"') :]
    assert re.findall(r'style="([^"]*)"', ground)[0] == "fill: none"


# --- labelled points ---


def point(key: str, fmd: float, js: float, *, measured: bool = False, rate: float = 50.0) -> Point:
    return Point(key, "Few-shot", Figure(fmd), Figure(js), rate, measured=measured)


def points(*some: Point) -> str:
    return labelled_points("T", {"against test": some}, AXES, "Compile rate (%)", [])


def test_lower_distance_is_to_the_right_and_higher_similarity_above() -> None:
    found = texts(points(point("good", 0.5, 90.0), point("poor", 2.0, 40.0)))
    assert found["good"][0] > found["poor"][0]
    assert found["good"][1] < found["poor"][1], "y grows downwards in SVG"
    assert {AXES[0], "against test", "Compile rate (%)", "Few-shot"} <= set(found)


def test_labels_of_points_in_one_place_do_not_cover_each_other() -> None:
    crowd = [point(f"k{number}", 1.0, 50.0) for number in range(6)]
    found = texts(points(*crowd, point("far", 3.0, 10.0)))
    places = [found[one.label] for one in crowd]
    assert all(abs(x1 - x2) > 8 or abs(y1 - y2) > 5 for (x1, y1), (x2, y2) in combinations(places, 2))


@pytest.mark.parametrize(("measured", "fill"), [(True, "fill: #355f8d"), (False, "fill-opacity: 0")])
def test_measured_points_are_filled_and_published_ones_hollow(measured: bool, fill: str) -> None:
    svg = points(Point("x", "Ablation", Figure(1.0, 0.8, 1.3), Figure(50.0, 45.0, 52.0), 100.0, measured=measured))
    # Pieces that all compile have the darkest colour, viridis at 0.3.
    (style,) = re.findall(r'<use [^>]*style="([^"]*stroke: #355f8d[^"]*)"', svg)
    assert style.startswith(fill)
    assert svg.count("stroke: #444444; stroke-width: 0.8") == 2, "an interval of each figure"


# --- heat maps ---


def themed(theme: str, accuracy: float) -> dict[str, dict[str, float]]:
    return {"by_theme": {f"{theme}/{name}": value for name, value in choice(accuracy, 1.0).items()}}


def luminance(colour: str) -> float:
    """Relative luminance of a colour, by sRGB's approximate gamma."""
    channels = [(int(colour[at : at + 2], 16) / 255) ** 2.2 for at in (1, 3, 5)]
    return sum(weight * channel for weight, channel in zip((0.2126, 0.7152, 0.0722), channels, strict=True))


def test_cells_of_the_leaderboard_and_the_measured_model_are_where_they_belong() -> None:
    themes = themed("female music", 0.41)["by_theme"] | themed("computed music theory", 0.5)["by_theme"]
    found = texts(reports(header(metrics={"by_theme": themes})).figures["ziqi_themes_zero_shot"])
    # GPT4's 89.15 in popular music is the only such cell of the zero-shot leaderboard.
    assert abs(found["89"][0] - found["Popular music"][0]) < 40
    assert abs(found["89"][1] - found["GPT4 (gpt-4)"][1]) < 3
    # The interval of the tests' figures is two points to either side.
    assert abs(found["39–43"][0] - found["Female music"][0]) < 40
    assert 0 < found["39–43"][1] - found["1: some/model"][1] < 15
    assert found["1: some/model"][1] > found["educhat-base-002-13B"][1] + 25, "set apart from the published ones"
    assert any(text.startswith("1: some/model (measured; zero-shot") for text in found)
    assert abs(found["48–52"][0] - found["Computed music"][0]) < 40, "a theme that no leaderboard has"


def test_colours_grow_brighter_with_the_share_and_numbers_stand_out() -> None:
    shares = [0.0, 20.0, 40.0, 54.0, 55.0, 75.0, 100.0]
    svg = heat_map("T", list("abcdefgh"), [("m", [*map(Figure, shares), None], False)], [])
    assert "–" in texts(svg), "what is unknown"
    cells = re.findall(r'<path d="[^"]*"[^>]* style="fill: (#[0-9a-f]{6}); stroke: #ffffff', svg)
    found = [luminance(fill) for fill in cells]
    assert len(found) == len(shares)
    assert found == sorted(found)
    # White up to 54, black from 55 on; 3 is the least contrast that WCAG asks of what is bold or large.
    assert min(1.05 / (light + 0.05) for light in found[:4]) > 3
    assert min((light + 0.05) / 0.05 for light in found[4:]) > 3
