"""How fast the lab is: from loading its one file to the first update, and frames while dragging.

    python benchmarks/lab.py [--quick]

Opens the page in Chromium without a screen (Debian: chromium-driver; pip install selenium). A frame
is everything that one movement of a dragged point causes: learning again, the verdict, all drawing.
"""

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from rosenblatt.lab.bundle import build_page

SCENES = {
    "a line, 200 points": "data=blobs&size=200&gap=0.05&order=fixed&t=9999",
    "a line, 200 points, not separable": "data=blobs&size=200&gap=-0.2&order=fixed&t=9999",
    "average, 200 points": "data=blobs&size=200&gap=0.05&solution=average&t=9999",
    "Gaussian kernel, 200 points": "data=moons&size=200&form=kernel&t=9999",
    "polynomial kernel, 200 points": "data=circles&size=200&form=kernel&kernel=poly&t=9999",
    "a line, 1,000 points": "data=500-then-500&gap=0.05&t=9999",
}
DRAG = """
const frames = arguments[0], times = [];
lab.isMoving = true;
for (let frame = 0; frame < frames; frame++) {
  const start = performance.now(), turn = frame / 8;
  lab.edit((points) => points[0].splice(0, 2, Math.cos(turn), Math.sin(turn)), { isNew: !frame });
  lab.drawNow();
  times.push(performance.now() - start);
}
lab.isMoving = false;
times.sort((a, b) => a - b);
return [times[frames >> 1], times[Math.floor(0.1 * frames)]];
"""


def start_browser(folder):
    """Chromium without a screen."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("chromium-browser")
    switches = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage")
    for switch in (*switches, "--window-size=1440,900", f"--user-data-dir={folder}/user"):
        options.add_argument(switch)
    service = Service(shutil.which("chromedriver"), log_output=os.devnull)
    return webdriver.Chrome(options=options, service=service)


def measure(driver, page, frames):
    """Print all figures."""
    loads = []
    for _ in range(5):
        driver.get("about:blank")
        driver.get(page.as_uri() + "#data=blobs&t=1")
        script = "return performance.getEntriesByName('lab-ready')[0]?.startTime ?? 0"
        while not (ready := driver.execute_script(script)):
            pass
        loads.append(ready)
    print(f"size of the page: {page.stat().st_size / 1000:.0f} kB")
    print(f"from load to the first update: {sorted(loads)[2]:.0f} ms (median of 5)")
    for name, state in SCENES.items():
        driver.execute_script("lab.open(arguments[0]); lab.drawNow()", state)
        middle, quick = driver.execute_script(DRAG, frames)
        rates = f"{1000 / middle:.0f} frames a second, the quickest tenth {1000 / quick:.0f}"
        print(f"{name}: {rates} (median {middle:.1f} ms)")


def main():
    """Measure, if there is a browser."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer frames")
    quick = parser.parse_args().quick
    if not shutil.which("chromedriver"):
        sys.exit("This needs chromium and chromedriver (Debian: chromium-driver).")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "lab.html"
        page.write_text(build_page(), encoding="utf-8")
        driver = start_browser(folder)
        try:
            measure(driver, page, 30 if quick else 200)
        finally:
            driver.quit()


if __name__ == "__main__":
    main()
