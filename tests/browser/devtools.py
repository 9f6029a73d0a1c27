# SPDX-License-Identifier: Apache-2.0
"""devtools.py  A headless Chromium, spoken to through its DevTools pipe: no driver, no packages.

Chromium reads commands from file descriptor 3 and writes answers and events to 4, each a JSON
object ended by a zero byte (option --remote-debugging-pipe).
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def find_chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    return None


class PageLeft(RuntimeError):
    """The page is left for another one before it answers."""


class Browser:
    """One page. `problems` gathers console errors, exceptions and requests that failed."""

    def __init__(self, chromium, timeout_s=1800):
        self.timeout_s = timeout_s
        self.profile = tempfile.mkdtemp(prefix="tilewright-browser-")
        to_browser, self.commands = os.pipe()
        self.answers, from_browser = os.pipe()

        def wire():
            # Through high numbers first: a pipe may already have the number 3 or 4.
            first, second = os.dup2(to_browser, 60), os.dup2(from_browser, 61)
            os.dup2(first, 3, inheritable=True)
            os.dup2(second, 4, inheritable=True)

        self.process = subprocess.Popen(
            [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--hide-scrollbars", "--no-first-run", "--disable-extensions",
             "--disable-background-networking", "--force-device-scale-factor=1",
             f"--user-data-dir={self.profile}", "--remote-debugging-pipe"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            close_fds=False, preexec_fn=wire)
        os.close(to_browser)
        os.close(from_browser)
        self.last, self.buffer, self.events, self.problems = 0, b"", [], []
        self.session = None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self, deadline):
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                raise TimeoutError("Chromium does not answer")
            piece = os.read(self.answers, 1 << 20)
            if not piece:
                raise ConnectionError("Chromium has ended")
            self.buffer += piece
        line, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(line)

    def note(self, event):
        """Keeps an event, and what it says of mistakes."""
        self.events.append(event["method"])
        p = event.get("params", {})
        if event["method"] == "Runtime.exceptionThrown":
            details = p["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        elif event["method"] == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning"):
            self.problems.append(f"console.{p['type']}: {p['args']}")
        elif event["method"] == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
            self.problems.append(p["entry"]["text"])
        elif event["method"] == "Network.requestWillBeSent":
            url = p["request"]["url"]
            if not url.startswith(("file:", "data:", "about:")):
                self.problems.append(f"request of {url}")

    def send(self, method, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + self.timeout_s
        while True:
            answer = self.receive(deadline)
            if "method" in answer:
                self.note(answer)
            elif answer.get("id") == self.last:
                if "error" in answer:
                    if "navigated" in answer["error"]["message"]:
                        raise PageLeft(f"{method}: {answer['error']['message']}")
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def open(self, path, width=1280, height=900, dark=False, scripts=True):
        """Loads a file; returns the seconds that it took. The page's scripts run if `scripts`."""
        self.send("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.send("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.events = []
        start = time.monotonic()
        self.send("Page.navigate", url="file://" + os.path.abspath(path))
        while "Page.loadEventFired" not in self.events:
            event = self.receive(start + self.timeout_s)
            if "method" in event:
                self.note(event)
        if scripts:
            self.run("new Promise(d => requestAnimationFrame(() => requestAnimationFrame(d)))")
        return time.monotonic() - start

    def run(self, expression):
        """The value of a JavaScript expression; promises are awaited."""
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def mouse(self, x, y, click=False):
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        if click:
            for kind in ("mousePressed", "mouseReleased"):
                self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left",
                          clickCount=1)

    def key(self, name):
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=name, code=name,
                      **({"text": "\r"} if name == "Enter" and kind == "keyDown" else {}))

    def screenshot(self, path):
        data = self.send("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
