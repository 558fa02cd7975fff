"""The extension from outside: its popup as a page, and its native messaging host without a browser."""

import json
import os
import struct
import subprocess

from browsers import CHROMIUM_ID, Firefox
from harness import BIN, Failure

TABS = "dev.handoff1.browser.tabs"


def popup_of(browser):
    """The popup as a page of its own, because headless browsers have no menu."""
    if isinstance(browser, Firefox):
        uuid = browser.in_browser("return WebExtensionPolicy.getByID('browser@handoff1.dev').mozExtensionHostname")
        browser.show(browser.first)
        tab = browser.call("WebDriver:NewWindow", {"type": "tab", "focus": True})["handle"]
        browser.show(tab)
        browser.navigate(tab, f"moz-extension://{uuid}/popup.html")
        return browser, tab
    tab = browser.call("Target.createTarget", {"url": f"chrome-extension://{CHROMIUM_ID}/popup.html", "background": True})
    return browser, tab["targetId"]


def text(popup, selector):
    """Returns the text of each element that matches a selector."""
    browser, tab = popup
    return browser.run(tab, f"[...document.querySelectorAll({json.dumps(selector)})].map((each) => each.innerText.trim())")


class Host:
    """The native messaging host, as a browser starts it."""

    def __init__(self, stage, environment, *words):
        words = words or (f"chrome-extension://{CHROMIUM_ID}/",)
        self.process = subprocess.Popen([os.path.join(BIN, "handoff-browser"), *words], env=environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        stage.processes.append(self.process)

    def send(self, message):
        text = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(struct.pack("=I", len(text)) + text)
        self.process.stdin.flush()

    def receive(self, kind):
        while True:
            header = self.process.stdout.read(4)
            if len(header) < 4:
                raise Failure(f"it has exited: {self.process.stderr.read()}")
            message = json.loads(self.process.stdout.read(struct.unpack("=I", header)[0]))
            if kind in (None, message["kind"]):
                return message

    def kinds_until(self, kind):
        """Returns the kinds of all messages up to one of this kind."""
        kinds = []
        while kind not in kinds:
            kinds.append(self.receive(None)["kind"])
        return kinds

    def switches(self):
        """Returns how often it was scheduled."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return sum(int(line.split()[1]) for line in file if "ctxt_switches" in line)
