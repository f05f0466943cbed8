"""Figures as SVG: what their text and marks say, read back from the file."""

import re
from itertools import combinations

import matplotlib as mpl
import pytest
from defusedxml import ElementTree

from music_evals.reports.figures import Point, js_against_fmd
from music_evals.reports.tables import Figure


def point(key: str, fmd: float, js: float, *, measured: bool = False, rate: float = 50.0) -> Point:
    return Point(key, "Few-shot", Figure(fmd), Figure(js), rate, measured=measured)


def texts(svg: str) -> dict[str, tuple[float, float]]:
    """Text of the figure → where it stands, in points from the top left."""
    found = {}
    for node in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        place = re.search(r"translate\(([\d.]+) ([\d.]+)\)", node.get("transform", ""))
        x, y = place.groups() if place else (node.get("x"), node.get("y"))
        found[node.text] = float(x), float(y)
    return found


def test_the_same_points_give_the_same_file_whatever_the_users_settings() -> None:
    drawn = {"test": [point("a", 0.7, 75.0), point("1", 1.2, 60.0, measured=True)]}
    first = js_against_fmd("T", drawn, ["a: paper"])
    with mpl.rc_context({"font.size": 20, "svg.fonttype": "path", "svg.hashsalt": "other", "axes.grid": False}):
        assert js_against_fmd("T", drawn, ["a: paper"]) == first
    assert "<dc:date>" not in first


def test_lower_distance_is_to_the_right_and_higher_similarity_above() -> None:
    svg = js_against_fmd("T", {"test": [point("good", 0.5, 90.0), point("poor", 2.0, 40.0)]}, [])
    found = texts(svg)
    assert found["good"][0] > found["poor"][0]
    assert found["good"][1] < found["poor"][1], "y grows downwards in SVG"
    assert {"FMD, reversed: lower is better", "against test", "Compile rate (%)", "Zero-shot"} <= set(found)
    assert "filled: measured" not in found, "no need to tell apart what is of one kind"


def test_keys_of_points_in_one_place_do_not_cover_each_other() -> None:
    crowd = [point(f"k{number}", 1.0, 50.0) for number in range(6)]
    found = texts(js_against_fmd("T", {"test": [*crowd, point("far", 3.0, 10.0)]}, []))
    places = [found[one.key] for one in crowd]
    assert all(abs(x1 - x2) > 8 or abs(y1 - y2) > 5 for (x1, y1), (x2, y2) in combinations(places, 2))


def test_long_keys_go_on_in_a_line_of_their_own_within_the_picture() -> None:
    words = [f"word{number}" for number in range(60)]
    words[7:9] = ["word$7", "word$8&<"]
    svg = js_against_fmd("T", {"test": [point("1", 1.0, 50.0, measured=True)]}, [" ".join(words)])
    lines = {text: place for text, place in texts(svg).items() if text.startswith("word")}
    assert " ".join(sorted(lines, key=lambda text: lines[text][1])).split() == words
    height = float(re.search(r'height="([\d.]+)pt"', svg).group(1))  # type: ignore[union-attr]
    assert len({y for _, y in lines.values()}) == len(lines) > 1
    assert max(y for _, y in lines.values()) < height - 4


@pytest.mark.parametrize(("measured", "fill"), [(True, "fill: #440154"), (False, "fill-opacity: 0")])
def test_measured_points_are_filled_and_published_ones_hollow(measured: bool, fill: str) -> None:
    one = Point("x", "Ablation", Figure(1.0, 0.8, 1.3), Figure(50.0, 45.0, 52.0), 100.0, measured=measured)
    svg = js_against_fmd("T", {"test": [one]}, [])
    # Pieces that all compile have the darkest colour of viridis.
    (style,) = re.findall(r'<use [^>]*style="([^"]*stroke: #440154[^"]*)"', svg)
    assert style.startswith(fill)
    assert svg.count("stroke: #444444; stroke-width: 0.8") == 2, "an interval of each figure"
