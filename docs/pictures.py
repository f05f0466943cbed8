"""Makes the pictures that pages show, by Chromium: the report, a sample in the viewer, and the page
for people.

Runs baselines on the default data, makes their report, and opens the three in a headless Chromium.
It needs no network. It needs the extras ``lilypond`` and ``pictures``, and ``apt install chromium
chromium-driver``.

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

BIN = Path(sys.executable).parent
PICTURES = Path(__file__).parent / "pictures"
WIDTH, HEIGHT = 1280, 1400  # pixels of the window
MOST_BYTES = 200_000  # of a picture that the repository holds
PORT = 7581
READ = (muse.syncopation, muse.transposition, muse.chord_quality, msu.textual)
READ += (lilybench.metadata_qa, lilybench.bar_count)
"""What `baseline/reader` answers, besides chance and majority."""
GUESSED = (
    msu.visual,
    ziqi.comprehension,
    ziqi.generation,
    musictheorybench.knowledge,
    musictheorybench.reasoning,
)
"""What only chance and majority answer."""


def main() -> None:
    """Make all pictures."""
    with tempfile.TemporaryDirectory() as name, _chromium() as driver:
        folder = Path(name)
        sample = _run_baselines(folder / "logs")
        _run("music-evals", "report", str(folder / "logs"), "--out", str(folder / "report"))
        driver.get((folder / "report" / "report.html").as_uri())
        _write(driver, "report-wide-light", 0, 900)
        with _server(folder, "inspect", "view", "--log-dir", "logs") as address:
            driver.get(f"{address}/#/logs/{sample}/scoring")
            time.sleep(6)
            _write(driver, "viewer-muse-scoring", 30, 830)
        with _server(
            folder, "music-evals", "listen", "muse_oddball", "--name", "Anna", "--no-open"
        ) as address:
            driver.get(address)
            _write(driver, "listen-wide-light", 0, 770)


def _run_baselines(logs: Path) -> str:
    """Run them, and return the place in the viewer of a sample of MUSE."""
    for model, tasks in {
        "baseline/chance": (*READ, *GUESSED),
        "baseline/majority": (*READ, *GUESSED),
        "baseline/reader": READ,
    }.items():
        done = inspect_eval(
            [task() for task in tasks],
            model=model,
            log_dir=str(logs),
            display="none",
            log_realtime=False,
        )
        if failed := [log.error.message for log in done if log.error]:
            sys.exit(f"{model} failed: {failed[0]}")
    place = Path(done[READ.index(muse.chord_quality)].location)
    sample = (read_eval_log(str(place)).samples or [])[0]
    return f"{place.name}/samples/sample/{quote(str(sample.id), safe='')}/{sample.epoch}"


def _run(program: str, *words: str) -> None:
    """Run a program of this Python's environment."""
    done = subprocess.run([BIN / program, *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{program} {' '.join(words)}\n{done.stdout}{done.stderr}")


@contextmanager
def _chromium() -> Iterator[Chrome]:
    browser, driver = (
        shutil.which("chromium") or shutil.which("google-chrome"),
        shutil.which("chromedriver"),
    )
    if not browser or not driver:
        sys.exit("Chromium and its driver are needed: apt install chromium chromium-driver")
    options = ChromeOptions()
    options.binary_location = browser
    for flag in ("--headless=new", "--no-sandbox", "--hide-scrollbars"):
        options.add_argument(flag)
    chrome = Chrome(options, Service(driver))
    size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        yield chrome
    finally:
        chrome.quit()


@contextmanager
def _server(folder: Path, program: str, *words: str) -> Iterator[str]:
    command = [str(BIN / program), *words, "--port", str(PORT)]
    server = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
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


def _write(driver: Chrome, name: str, top: int, bottom: int) -> None:
    """Write some rows of what is seen, in as many colours as the limit of bytes leaves."""
    time.sleep(2)
    shot = io.BytesIO(driver.get_screenshot_as_png())
    target = PICTURES / f"{name}.png"
    with Image.open(shot) as picture:
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
