"""How soon the explorer's line follows a slider: from the event in a real browser to the chart that is drawn.

python -m benchmarks.explorer [--moves 20] [--json]     needs giantstep[dev] and Debian's chromium and chromium-driver
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from giantstep.explorer import _state as state
from giantstep.explorer.views.one_step._tasks import few

SLIDERS = {"noise": (0.1, 0.9), "penalty": (-2.0, 1.0), "n_over_d": (2.0, 6.0), "p_over_n": (0.2, 1.5)}
PAUSE = 0.4  # seconds between moves: the rest of the picture is then being computed
MOVE = """
const [key, value, done] = arguments;
const chart = document.querySelector("#one-step-errors .js-plotly-plot"), slider = document.getElementById(key);
const before = JSON.stringify(chart.data[0].y), start = performance.now();
const drawn = () => {
  if (JSON.stringify(chart.data[0].y) === before) return;
  chart.removeListener("plotly_afterplot", drawn);
  requestAnimationFrame(() => done(performance.now() - start));
};
chart.on("plotly_afterplot", drawn);
Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(slider, value);
slider.dispatchEvent(new Event("input", { bubbles: true }));
"""


@contextmanager
def page() -> Iterator[Any]:
    """A browser on the view of one step, of an explorer of its own."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    command = [sys.executable, "-P", "-m", "giantstep.cli", "explore", "--port", "0", "--no-browser", "--json"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,1000"):
        options.add_argument(argument)
    browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        assert server.stdout is not None
        browser.set_script_timeout(60)
        browser.get(f"{json.loads(server.stdout.readline())['url']}one-step")
        words = "return document.getElementById('one-step-errors--words')?.textContent"
        while not browser.execute_script(words):
            time.sleep(0.2)
        yield browser
    finally:
        browser.quit()
        server.terminate()
        server.wait(20)


def moved(browser: Any, moves: int) -> dict[str, list[float]]:
    """Seconds of every move, by slider; the first of each slider warms up."""
    rng, found = np.random.default_rng(0), {}
    for name, (least, most) in SLIDERS.items():
        law = next(f for f in state.OneStep.__dataclass_fields__.values() if f.name == name).metadata["of"]
        places = np.unique(np.round(rng.uniform(least, most, 4 * moves) / law.step) * law.step)
        places = [f"{x:.6g}" for x in rng.permutation(places)[: moves + 1]]
        found[name] = []
        for place in places:
            time.sleep(PAUSE)
            found[name].append(browser.execute_async_script(MOVE, f"one-step-{name}".replace("_", "-"), place) / 1e3)
    return {name: seconds[1:] for name, seconds in found.items()}


def theory_alone() -> float:
    """Seconds of the line's theory without a page around it, compiled."""
    seconds = []
    for noise in np.linspace(0.1, 0.9, 9):
        start = time.perf_counter()
        few(state.OneStep(noise=float(noise)))
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds[1:]))


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.explorer", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--moves", type=int, default=20, metavar="N", help="moves of every slider")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args()
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        sys.exit("benchmarks.explorer: there is no chromium with its chromedriver here")
    with page() as browser:
        found = moved(browser, given.moves)
    alone, every = theory_alone(), [x for seconds in found.values() for x in seconds]
    if given.json:
        print(json.dumps({"seconds": found, "theory_alone": alone}))
        return
    for name, seconds in {**found, "all": every}.items():
        middle, worst = float(np.median(seconds)), max(seconds)
        print(
            f"{name:>10}: {middle:.3f} s in the median, {worst:.3f} s at worst, {middle / alone:.1f} times the theory alone"
        )


if __name__ == "__main__":
    main()
