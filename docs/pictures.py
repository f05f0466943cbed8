"""Pictures of the report, the viewer and the docs, by Chromium, and a check that no page scrolls sideways.

Runs baselines on the default data, makes their report and the docs' site, opens all of them in a headless Chromium,
and writes what is seen to ``build/pictures``. Those that pages show go to ``docs/pictures``, with fewer colours.
It needs no network; it needs the extras ``docs`` and ``pictures``, Chromium and its driver (``apt install chromium
chromium-driver``), and LilyPond for the samples of LilyBench.

    python docs/pictures.py
"""

import io
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from inspect_ai import eval as inspect_eval
from inspect_ai.log import read_eval_log
from PIL import Image
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

from music_evals.evals import lilybench, msu, muse, musictheorybench, ziqi

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
SEEN = ROOT / "build" / "pictures"
SHOWN = ROOT / "docs" / "pictures"
WIDTHS = {"wide": 1280, "phone": 390}  # pixels
HEIGHT = 1400
PAGES = {"report-wide-light": (0, 900), "viewer-muse-scoring": (30, 830)}  # picture → rows of pixels that are shown
PAGES |= {"listen-wide-light": (0, 770)}
MOST_BYTES = 200_000  # of a picture that the repository holds
PORT = 7581
READ = {  # what `baseline/reader` answers → the sample that is looked at in the viewer
    "muse": [muse.syncopation, muse.transposition, muse.chord_quality],
    "msu": [msu.textual],
    "lilybench": [lilybench.metadata_qa, lilybench.bar_count],
}
GUESSED = {  # what only chance and majority answer
    "msu-pages": [msu.visual],
    "ziqi": [ziqi.comprehension, ziqi.generation],
    "musictheorybench": [musictheorybench.knowledge, musictheorybench.reasoning],
}


def main() -> None:
    """Make all pictures; exit status 1 where a page scrolls sideways."""
    shutil.rmtree(SEEN, ignore_errors=True)
    SEEN.mkdir(parents=True)
    SHOWN.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, _chromium() as driver:
        folder = Path(name)
        samples = _run_baselines(folder / "logs")
        _run("music-evals", "report", str(folder / "logs"), "--out", str(folder / "report"))
        _run("sphinx-build", "-q", "-c", "docs", "-d", str(folder / "trees"), ".", str(folder / "site"))
        report = (folder / "report" / "report.html").as_uri()
        pages = sorted((folder / "site").glob("[!_]*/*.html")) + sorted((folder / "site").glob("[A-Z]*.html"))
        too_wide = []
        for window, width in WIDTHS.items():
            for scheme in ("light", "dark"):
                _open(driver, report, width, scheme)
                _write(driver, f"report-{window}-{scheme}")
                _open(driver, (folder / "site" / "docs" / "index.html").as_uri(), width, scheme)
                _write(driver, f"docs-{window}-{scheme}")
            for page in (report, *(page.as_uri() for page in pages)):
                _open(driver, page, width)
                widest = driver.execute_script("return document.scrollingElement.scrollWidth")
                if widest > width:  # innerWidth would not do: a phone's window widens to what is in it
                    too_wide.append(f"{page} is {widest} pixels wide in a window of {width}")
        with _server(folder, "inspect", "view", "--log-dir", "logs") as address:
            for name, sample in samples.items():
                for tab in ("messages", "scoring"):
                    _open(driver, f"{address}/#/logs/{sample}/{tab}", WIDTHS["wide"], wait=6)
                    _write(driver, f"viewer-{name}-{tab}")
        with _server(folder, "music-evals", "listen", "muse_oddball", "--name", "Anna", "--no-open") as address:
            _open(driver, address, WIDTHS["wide"], wait=2)
            _write(driver, "listen-wide-light")
    for name, (top, bottom) in PAGES.items():
        _write_small(SEEN / f"{name}.png", SHOWN / f"{name}.png", top, bottom)
    print(f"Pictures: {SEEN}; for the pages: {SHOWN}")
    if too_wide:
        sys.exit("\n".join(too_wide))


def _run_baselines(logs: Path) -> dict[str, str]:
    """Run them, and return where in the viewer the sample of each benchmark stands that is looked at."""
    found = {}
    for model, asked in {
        "baseline/chance": {**READ, **GUESSED},
        "baseline/majority": {**READ, **GUESSED},
        "baseline/reader": READ,
    }.items():
        for name, tasks in asked.items():
            made = [task() for task in tasks]
            done = inspect_eval(made, model=model, log_dir=str(logs), display="none", log_realtime=False)
            if failed := [log.error.message for log in done if log.error]:
                sys.exit(f"{model} failed on {name}: {failed[0]}")
            if model == "baseline/reader" or name in ("msu-pages", "ziqi"):
                place = Path(done[-1].location)
                seen = read_eval_log(str(place)).samples or []
                # One of those whose music the log shows, where there are any.
                sample = max(seen[:40], key=lambda one: one.messages[-1].role == "user")
                found[name] = f"{place.name}/samples/sample/{quote(str(sample.id), safe='')}/{sample.epoch}"
    return found


def _run(program: str, *words: str) -> None:
    """Run a program of this Python's environment."""
    done = subprocess.run([BIN / program, *words], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{program} {' '.join(words)}\n{done.stdout}{done.stderr}")


@contextmanager
def _chromium() -> Iterator[Chrome]:
    browser, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if not browser or not driver:
        sys.exit("Chromium and its driver are needed: apt install chromium chromium-driver")
    options = ChromeOptions()
    options.binary_location = browser
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(flag)
    chrome = Chrome(options, Service(driver))
    try:
        yield chrome
    finally:
        chrome.quit()


@contextmanager
def _server(folder: Path, program: str, *words: str) -> Iterator[str]:
    command = [str(BIN / program), *words, "--port", str(PORT)]
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{PORT}"
    try:
        while server.poll() is None:
            try:
                urllib.request.urlopen(address).close()
                break
            except urllib.error.URLError:
                time.sleep(0.5)
        else:
            sys.exit(f"{program} ended with status {server.returncode}: {' '.join(command)}")
        yield address
    finally:
        server.terminate()
        server.wait()


def _open(driver: Chrome, address: str, width: int, scheme: str = "light", wait: float = 0.3) -> None:
    size = {"width": width, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    driver.get("about:blank")  # else an address that differs behind its # alone is not loaded anew
    driver.get(address)
    time.sleep(wait)


def _write(driver: Chrome, name: str) -> None:
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
    (SEEN / f"{name}.png").write_bytes(b64decode(shot["data"]))


def _write_small(source: Path, target: Path, top: int, bottom: int) -> None:
    """Write some rows of a picture in few colours, as many as the limit of bytes leaves."""
    with Image.open(source) as picture:
        cut = picture.convert("RGB").crop((0, top, picture.width, bottom))
    for colours in (256, 64, 32, 16):
        data = io.BytesIO()
        cut.quantize(colours, dither=Image.Dither.NONE).save(data, "PNG", optimize=True)
        if data.tell() <= MOST_BYTES:
            target.write_bytes(data.getvalue())
            return
    sys.exit(f"{target.name} is larger than {MOST_BYTES} bytes in 16 colours")


if __name__ == "__main__":
    main()
