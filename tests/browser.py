"""A headless chromium for tests of pages, and waiting for what a page's script returns."""

import shutil
import time

import pytest

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
PATIENCE = 600  # seconds, to end a hang: the first answers compile, and other work may have the cores
PAUSE = 0.2  # seconds between two looks at a page: each look keeps the browser from its work


@pytest.fixture(scope="module")
def browser():
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = CHROMIUM or ""
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1280,1000",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    found = webdriver.Chrome(options=options, service=Service(DRIVER))
    found.set_script_timeout(PATIENCE)
    yield found
    found.quit()


def until(browser, script: str, *arguments):
    """What a script returns as soon as that is something."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = browser.execute_script(f"return (() => {{ {script} }})()", *arguments)
        if found:
            return found
        time.sleep(PAUSE)
    raise AssertionError(f"waited in vain for {script}")
