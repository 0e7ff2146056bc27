"""A headless Chromium, driven through chromedriver: WebDriver is JSON over
HTTP, so that no other package is needed."""

import base64
import json
import shutil
import socket
import subprocess
import urllib.request

from tests.integration.harness.process import fetch, free_port, wait_until

START_TIMEOUT_S = 60
CALL_TIMEOUT_S = 60

TAB = "\ue004"
ENTER = "\ue007"


def missing():
    """Why there is no browser; empty if there is one."""
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            return f"no {program}: Debian's package chromium-driver has it"
    try:
        socket.gethostbyname("localhost")
    except OSError:
        return "no localhost in /etc/hosts: chromedriver asks for it"
    return ""


class Browser:
    """One window. `folder` is for its profile."""

    def __init__(self, folder):
        url = f"http://127.0.0.1:{free_port()}"
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}))
        self._driver = subprocess.Popen(
            ["chromedriver", f"--port={url.rsplit(':', maxsplit=1)[1]}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        self._session = None
        try:
            wait_until(lambda: fetch(f"{url}/status")[0] == 200,
                       START_TIMEOUT_S, "chromedriver")
            # Root and containers have no sandbox of Chromium's own.
            options = {
                "binary": shutil.which("chromium"),
                "args": ["--headless=new", "--no-sandbox", "--disable-gpu",
                         "--disable-dev-shm-usage", "--no-proxy-server",
                         f"--user-data-dir={folder}"],
            }
            self._session = f"{url}/session"
            session = self._post("", {"capabilities": {"alwaysMatch": {
                "goog:chromeOptions": options,
                "goog:loggingPrefs": {"browser": "ALL"}}}})["sessionId"]
            self._session += f"/{session}"
        except BaseException:
            self._driver.kill()
            self._driver.wait()
            raise

    def close(self):
        try:
            self._request("DELETE", "")
        finally:
            self._driver.terminate()
            self._driver.wait(CALL_TIMEOUT_S)

    def _request(self, method, path, body=None):
        request = urllib.request.Request(
            self._session + path, method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"})
        with self._opener.open(request, timeout=CALL_TIMEOUT_S) as reply:
            return json.loads(reply.read())["value"]

    def _post(self, path, body):
        return self._request("POST", path, body)

    def open(self, url):
        self._post("/url", {"url": url})

    def run(self, script, *args):
        """What a function body returns in the page; waits for promises."""
        return self._post("/execute/sync", {"script": script, "args": args})

    def devtools(self, command, **params):
        return self._post("/goog/cdp/execute",
                          {"cmd": command, "params": params})

    def set_width(self, width, height):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width,
                      height=height, deviceScaleFactor=1, mobile=width < 600)

    def set_media(self, **features):
        """As in prefers_color_scheme="dark"."""
        self.devtools("Emulation.setEmulatedMedia", features=[
            {"name": name.replace("_", "-"), "value": value}
            for name, value in features.items()])

    def press(self, key):
        self._post("/actions", {"actions": [{
            "type": "key", "id": "keyboard", "actions": [
                {"type": "keyDown", "value": key},
                {"type": "keyUp", "value": key}]}]})

    def console(self):
        """What the page wrote or the browser complained of, since last asked."""
        return [f"{entry['level']}: {entry['message']}"
                for entry in self._post("/se/log", {"type": "browser"})]

    def screenshot(self, path):
        """The whole page as PNG."""
        image = self.devtools("Page.captureScreenshot", format="png",
                              captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(image))
