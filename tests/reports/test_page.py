"""The report as a page and as Markdown: what a browser would find in it."""

import base64
import re
from html.parser import HTMLParser

from music_evals.reports.figures import heat_map
from music_evals.reports.page import Section, html, markdown
from music_evals.reports.tables import Cell, Figure, Report, Table

HOSTILE = "<script>alert('1')</script>\"><img src=http://evil.example/x onerror=alert(2)>"
F1 = Table(
    "f1",
    "F1 in percent",
    ("Model", "Source", "Data", "F1", "Bits"),
    [
        ["GPT-4", "paper", None, Figure(63.04), None],
        [HOSTILE, "measured †", "generated-seed3", Figure(200 / 3, 60.5, 70.25, mark="*"), Figure(float("nan"))],
    ],
    ("* a mark", f"a note of {HOSTILE}"),
)
VIEWER = "http://127.0.0.1:7575/#/logs/a.eval/samples/sample/1/1"
LINKS = Table("links", "Samples", ("Sample", "Link", "Not one"), [["s1", VIEWER, "javascript:alert(3)"]])


def drawing(title: str) -> str:
    return heat_map(title, ["F1"], [("m", [Figure(70.0)], True)], [])


SECTIONS = [
    Section(
        "first",
        "First & best",
        Report([F1], (), {"f1": drawing("F1 <drawn>"), "f12": drawing("Alone")}),
        ["Generated data, not the paper's: generated-seed3."],
    ),
    Section("second", "Second", Report([LINKS], ())),
]
PAGE = html("Mine", [f"Models: {HOSTILE}."], SECTIONS)


class Found(HTMLParser):
    """The elements of a page with their attributes and text; every opened one must be closed, in order."""

    VOID = ("meta", "img", "br", "wbr", "link")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str], list[str]]] = []
        self.open: list[tuple[str, dict[str, str], list[str]]] = []
        self.feed(page)
        self.close()
        assert not self.open, f"left open: {self.open[-1][0]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = (tag, {name: value or "" for name, value in attrs}, list[str]())
        self.elements.append(element)
        if tag not in self.VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        for _, _, text in self.open:
            text.append(data)

    def all(self, tag: str) -> list[tuple[dict[str, str], str]]:
        return [
            (attributes, " ".join("".join(text).split())) for name, attributes, text in self.elements if name == tag
        ]


FOUND = Found(PAGE)


def test_the_page_asks_for_nothing_outside_itself() -> None:
    for tag, attributes, _ in FOUND.elements:
        for name in ("src", "srcset", "poster", "data", "action"):
            assert attributes.get(name, "data:").startswith("data:"), (tag, attributes)
        assert not [name for name in attributes if name.startswith("on") or name == "style"], (tag, attributes)
    assert not {tag for tag, _, _ in FOUND.elements} & {"script", "link", "iframe", "object", "base", "form", "svg"}
    assert not re.search(r"url\(|@import", PAGE), "no fonts or pictures by style sheet"
    (policy,) = [about["content"] for about, _ in FOUND.all("meta") if about.get("http-equiv")]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def test_what_comes_from_logs_is_text_and_only_whole_addresses_of_the_web_are_links() -> None:
    assert "<script" not in PAGE
    assert "<img src=http" not in PAGE
    named = [text for about, text in FOUND.all("th") if about["scope"] == "row"]
    assert named[0] == f"{HOSTILE} measured †, generated-seed3", "read back as it was, and what was measured first"
    assert any(HOSTILE in text for _, text in FOUND.all("li"))
    links = [about["href"] for about, _ in FOUND.all("a") if not about["href"].startswith(("#", "data:"))]
    assert links == [VIEWER]


def test_every_table_is_there_with_the_numbers_of_its_csv_and_every_figure() -> None:
    assert [text for _, text in FOUND.all("caption")] == ["F1 in percent", "Samples"]
    heads = [text for about, text in FOUND.all("th") if about["scope"] == "col"]
    assert heads == ["Model source, data", "F1", "Bits", *LINKS.columns]
    numbers = [text for about, text in FOUND.all("td") if "number" in about["class"].split()]
    assert numbers == ["66.67* 60.5–70.2", "undefined", "63.04", "–"], "an interval is in an element of its own"
    small = ["source, data", "measured †, generated-seed3", "60.5–70.2", "paper"]
    assert [text for _, text in FOUND.all("small")] == small
    inside = {about["download"]: about["href"] for about, _ in FOUND.all("a") if "download" in about}
    assert list(inside) == ["f1.csv", "links.csv"]
    assert decoded(inside["f1.csv"], "text/csv") == F1.to_csv()
    shown = [(about["alt"], decoded(about["src"], "image/svg+xml")) for about, _ in FOUND.all("img")]
    assert shown == [("Alone", drawing("Alone")), ("F1 <drawn>", drawing("F1 <drawn>"))], "first those of no table"


def cells_of(table: Table) -> tuple[list[str], list[str]]:
    found = Found(html("Mine", [], [Section("s", "S", Report([table]))]))
    return [text for _, text in found.all("th")], [text for _, text in found.all("td")]


def test_columns_of_own_runs_come_before_floors_and_published_models() -> None:
    columns = ("Task", "Shots", "Some Model", "a/model [x=… (1)] † (cot, half)", "floor: chance")
    rows: list[list[Cell]] = [
        ["t1", "few", Figure(90), Figure(50), Figure(20)],
        [None, "any", Figure(80), None, Figure(30)],
    ]
    heads, cells = cells_of(Table("t", "T", columns, rows))
    assert heads == ["Task, Shots", "a/model [x=… (1)] † cot, half", "floor: chance", "Some Model", "t1, few", "any"]
    assert cells == ["50.00", "20.00", "90.00", "–", "30.00", "80.00"]


def test_a_gain_stands_with_its_score_and_columns_of_nothing_are_left_out() -> None:
    columns = ("Model", "B", "B: gain", "C", "C: gain")
    row: list[Cell] = ["m", Figure(50, 40, 60), Figure(25, -29.37, -4.59), Figure(1), None]
    assert cells_of(Table("t", "T", columns, [row, ["floor: chance", Figure(25), None, None, None]])) == (
        ["Model", "B gain", "C", "m", "floor: chance"],
        ["50.00 40.0–60.0 25.00 (−29.4 to −4.6)", "1.00", "25.00", "–"],
    )


def test_rows_with_the_same_beginning_share_it() -> None:
    rows = [["m/a", "measured", "x"], ["m/a", "measured", "y"], ["m/b", "measured", "y"]]
    found = Found(html("M", [], [Section("s", "S", Report([Table("t", "T", ("Model", "Source", "Task"), rows)]))]))
    heads = [(text, about.get("rowspan")) for about, text in found.all("th") if about["scope"] == "row"]
    assert heads == [("m/a measured", "2"), ("m/b measured", None)]
    assert [text for _, text in found.all("td")] == ["x", "y", "y"]


def test_the_first_table_of_a_section_is_open_with_those_that_go_on_with_it() -> None:
    tables = [Table(name, name, (column,), [["x"]]) for name, column in zip("abcd", ["A", "A", "B", "A"], strict=True)]
    found = Found(html("M", [], [Section("s", "S", Report(tables)), Section("basis", "B", Report([LINKS]))]))
    opened = {about["id"]: "open" in about for about, _ in found.all("details")}
    assert opened == {"a": True, "b": True, "c": False, "d": False, "links": False}


def test_a_figure_stands_with_the_table_whose_name_begins_its_own() -> None:
    tables = [Table(name, name.upper(), ("Model",), [["m"]]) for name in ("a", "a_b")]
    figures = {name: drawing(name) for name in ("a_b_c", "a_x", "ab", "a_b")}
    text = markdown("Mine", [], [Section("s", "S", Report(tables, (), figures))])
    assert re.findall(r"^### .*|\w+(?=\.svg)", text, re.MULTILINE) == ["ab", "### A", "a_x", "### A_B", "a_b_c", "a_b"]


def test_what_is_not_to_be_compared_is_marked() -> None:
    assert [text for _, text in FOUND.all("mark")] == ["†", "generated-seed3"]
    assert [text for about, text in FOUND.all("p") if about.get("class") == "apart"] == list(SECTIONS[0].apart)


def test_the_contents_lead_to_what_is_there_once() -> None:
    names = [attributes["id"] for _, attributes, _ in FOUND.elements if "id" in attributes]
    assert len(names) == len(set(names))
    targets = [about["href"][1:] for about, _ in FOUND.all("a") if about["href"].startswith("#")]
    assert targets == ["first", "second"]
    assert {"f1", "links"} <= set(names), "tables can be led to, too"
    named = [attributes.get("aria-labelledby") for _, attributes, _ in FOUND.elements]
    assert {*targets, *filter(None, named)} <= set(names)
    assert FOUND.all("html")[0][0]["lang"] == "en-GB"


def test_markdown_has_the_same_parts_in_the_same_order() -> None:
    text = markdown("Mine", ["Two models."], SECTIONS)
    assert [line for line in text.splitlines() if line.startswith(("#", "!", "**"))] == [
        "# Mine",
        "## First & best",
        "**Generated data, not the paper's: generated-seed3.**",
        "![Figure: Alone](f12.svg)",
        "### F1 in percent",
        "![Figure: F1 &lt;drawn>](f1.svg)",
        "## Second",
        "### Samples",
    ]
    assert "<" not in text, "what a log says is no HTML here either"


def decoded(address: str, media_type: str) -> str:
    start = f"data:{media_type};base64,"
    assert address.startswith(start)
    return base64.b64decode(address.removeprefix(start)).decode()
