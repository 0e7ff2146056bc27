"""The status page in a real browser, while lookups run."""

import itertools
import json
import os
import tempfile
import threading
import unittest

import grpc
import numpy as np

from tests.integration.harness import browser
from tests.integration.harness.api import ApiTestCase, Client
from tests.integration.harness.process import (
    BACKEND, Server, config_of, table_of, wait_until)

WAIT_S = 30
PHONE = (360, 740)
DESK = (1280, 900)

# Red, green, blue of a CSS colour; the contrast as WCAG 2.1 defines it.
CONTRAST = """
const luminance = (name) => {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const parts = getComputedStyle(probe).color.match(/[0-9.]+/g);
  probe.remove();
  const [r, g, b] = parts.map((part) => {
    const share = part / 255;
    return share <= 0.03928 ? share / 12.92 :
      ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const [a, b] = [...arguments].map(luminance).sort((x, y) => y - x);
return (a + 0.05) / (b + 0.05);
"""

# Cells that the script has filled, beside those of the page as it is sent now.
DIFFERENCES = """
return (async () => {
  const reply = await fetch('./');
  const sent = new DOMParser().parseFromString(
    await reply.text(), 'text/html');
  const texts = (root) =>
    [...root.querySelectorAll('[data-at]:not([data-as=rate])')]
      .map((cell) => [cell.dataset.at, cell.textContent]);
  const others = texts(sent);
  return texts(document)
    .map(([at, text], i) => [at, text, others[i][1]])
    .filter(([at, here, there]) =>
      here !== there && at !== '/uptime_seconds');
})();
"""


@unittest.skipIf(browser.missing(), browser.missing())
class StatusPageTest(ApiTestCase):
    CONFIG = config_of([table_of("words", 4, 1000),
                        table_of("dense", 4, 100, "dense")])

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory(
            prefix="gatherd_browser_", ignore_cleanup_errors=True)
        cls.addClassCleanup(folder.cleanup)
        cls.browser = browser.Browser(folder.name)
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        super().setUp()
        self.browser.set_width(*DESK)
        self.browser.set_media()
        self.browser.open(f"http://{self.server.metrics_address}/")
        self.assertEqual(self.browser.console(), [])

    def text(self, selector):
        return self.browser.run(
            "return document.querySelector(arguments[0]).textContent",
            selector)

    def count(self, pointer):
        return int(self.text(f'[data-at="{pointer}"]').replace(",", ""))

    def wait(self, condition, what):
        return wait_until(condition, WAIT_S, what)

    def keep_looking_up(self):
        """Until the test ends."""
        self.client.update("words", range(10), np.ones((10, 4)))
        over = threading.Event()

        def work():
            client = Client(self.server.address)
            while not over.is_set():
                client.lookup("words", [1, 2, 3, 99])
                over.wait(0.01)
            client.close()
        thread = threading.Thread(target=work)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(over.set)

    def assert_fits(self, width):
        """Nothing has to be scrolled sideways."""
        self.assertLessEqual(self.browser.run(
            "return document.documentElement.scrollWidth"), width)
        self.assertEqual(self.browser.run(
            "return [...document.querySelectorAll('section')].filter("
            "(part) => part.scrollWidth > part.clientWidth).length"), 0)

    def save(self, name):
        folder = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR")
        if folder:
            self.browser.screenshot(os.path.join(folder, name))

    def test_numbers_and_charts_move(self):
        self.keep_looking_up()
        found = self.count("/tables/0/found")
        missing = self.count("/tables/0/missing")
        self.wait(lambda: self.count("/tables/0/found") > found, "found")
        self.wait(lambda: self.count("/tables/0/missing") > missing, "missing")
        for chart, unit in (("found", "/s"), ("requests", "/s"),
                            ("p50", "s"), ("decodeStage", "s")):
            with self.subTest(chart=chart):
                self.wait(lambda chart=chart: "L" in (self.browser.run(
                    "return document.querySelector(arguments[0])"
                    ".getAttribute('d')", f"#chart-{chart} .series-0") or ""),
                          "a line")
                value = self.text(f"#chart-{chart} li b")
                self.assertRegex(value, r"^[0-9.]+ ?[kµm]?" + unit + "$")
                self.assertNotRegex(value, "^0")
                words = self.browser.run(
                    "return document.querySelector(arguments[0]).ariaLabel",
                    f"#chart-{chart} svg")
                self.assertRegex(words, "last five minutes: .* now .* between")
        self.assertTrue(self.browser.run(
            "return page.samples.every((s) => Number.isInteger(s.queue))"))
        self.assertEqual(self.text("#state"), "live")
        self.assertEqual(self.text('[data-at="/backend"]'), BACKEND)
        self.save("desk.png")
        self.assertEqual(self.browser.console(), [])

    def test_what_a_client_sent_shows_as_text(self):
        table = '<img src=x onerror="document.title=1"> & <b>'
        reason = f'table "{table}" is not served here'
        self.assertTrue(self.browser.run(
            "return document.querySelectorAll('[data-if]').length > 0"))
        with self.assertFails(grpc.StatusCode.NOT_FOUND):
            self.client.lookup(table, [1])
        shown = '[data-at="/recent_refusals/0/text"]'
        self.wait(lambda: reason in self.text(shown), "the refusal")
        for width in (DESK, PHONE):
            self.browser.set_width(*width)
            self.browser.open(f"http://{self.server.metrics_address}/")
            self.assertIn(reason, self.text(shown))
            self.wait(lambda: self.text("#state") == "live", "an answer")
            self.assertIn(reason, self.text(shown))
            self.assertEqual(self.browser.run(
                "return document.querySelectorAll('img, td b').length"), 0)
            self.assertGreater(self.browser.run(
                "return document.querySelector(arguments[0]).offsetHeight",
                shown), 0)
            self.assert_fits(width[0])
        self.assertRegex(
            self.text('[data-at="/recent_refusals/0/time_us"]'),
            r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$")
        self.assertEqual(
            self.text('[data-at="/recent_refusals/0/code"]'), "NOT_FOUND")
        self.assertEqual(self.browser.run(DIFFERENCES), [])
        self.assertEqual(self.browser.console(), [])
        self.save("refusals.png")

    def test_refusals_of_any_length_fit(self):
        with self.assertFails(grpc.StatusCode.NOT_FOUND):
            self.client.lookup("W" * 128, [1])
        for width in (PHONE, (800, 900), (1210, 900), DESK):
            self.browser.set_width(*width)
            self.browser.open(f"http://{self.server.metrics_address}/")
            self.assertIn("W" * 128, self.text(
                '[data-at="/recent_refusals/0/text"]'))
            self.assert_fits(width[0])

    def test_a_server_that_refused_nothing_says_so(self):
        with Server(config_of([table_of("other", 4, 10)])) as server:
            self.browser.open(f"http://{server.metrics_address}/")
            none = '[data-unless="/recent_refusals/0"]'
            rows = ("return [...document.querySelectorAll('tr[data-if]')]"
                    ".filter((row) => row.offsetHeight > 0).length")
            hidden = "return document.querySelector(arguments[0]).hidden"
            self.assertFalse(self.browser.run(hidden, none))
            self.assertEqual(self.browser.run(rows), 0)
            self.wait(lambda: self.text("#state") == "live", "an answer")
            self.assertFalse(self.browser.run(hidden, none))
            client = Client(server.address)
            with self.assertFails(grpc.StatusCode.NOT_FOUND):
                client.lookup("absent", [1])
            client.close()
            self.wait(lambda: self.browser.run(rows) == 1, "a row")
            self.assertTrue(self.browser.run(hidden, none))

    def test_fits_a_phone_in_light_and_in_dark(self):
        self.keep_looking_up()
        backgrounds = set()
        for scheme in ("light", "dark"):
            with self.subTest(scheme=scheme):
                self.browser.set_media(prefers_color_scheme=scheme)
                self.browser.set_width(*PHONE)
                found = self.count("/tables/0/found")
                self.wait(lambda found=found:
                          self.count("/tables/0/found") > found, "found")
                self.assert_fits(PHONE[0])
                backgrounds.add(self.browser.run(
                    "return getComputedStyle(document.body).backgroundColor"))
                self.save(f"phone_{scheme}.png")
                for back in ("--back", "--card"):
                    for color in ("--text", "--dim", "--accent", "--alarm"):
                        self.assertGreaterEqual(
                            self.browser.run(CONTRAST, color, back), 4.5,
                            (color, back))
                    for i in range(4):
                        self.assertGreaterEqual(self.browser.run(
                            CONTRAST, f"--series-{i}", back), 3, (i, back))
        self.assertEqual(len(backgrounds), 2)
        self.assertEqual(self.browser.console(), [])

    def test_fits_screens_between(self):
        for width in (480, 800, 1190, 1210, 1920):
            with self.subTest(width=width):
                self.browser.set_width(width, 900)
                self.assert_fits(width)

    def test_the_script_writes_numbers_as_the_server_does(self):
        self.client.update("words", range(10), np.ones((10, 4)))
        self.client.lookup("words", [1, 2, 99])
        self.browser.open(f"http://{self.server.metrics_address}/")
        self.wait(lambda: self.text("#state") == "live", "an answer")
        self.assertEqual(self.browser.run(DIFFERENCES), [])

    def test_knows_the_link_of_every_pair_of_devices(self):
        status = json.loads(self.server.http("/status.json")[1])
        devices = [device["device"] for device in status["devices"]]
        self.assertEqual(
            sorted((link["from"], link["to"]) for link in status["links"]),
            sorted(itertools.permutations(devices, 2)))
        cells = self.browser.run(
            "return document.querySelectorAll('#links tbody td').length")
        self.assertEqual(cells, len(devices) ** 2 if len(devices) > 1 else 0)

    def test_draws_rows_per_device(self):
        shards = [{"device": 2, "rows": 7000}, {"device": 3, "rows": 3500}]
        self.assertEqual(
            self.browser.run("const cell = document.createElement('td');"
                             "showShards(cell, arguments[0]);"
                             "return cell.innerHTML", shards),
            "".join(f'<span class="shard"><meter max="7000" value="{rows}" '
                    f'aria-label="{text}"></meter> {text}</span>'
                    for rows, text in ((7000, "GPU 2: 7,000"),
                                       (3500, "GPU 3: 3,500"))))

    def test_screen_readers_find_names_and_tables(self):
        self.wait(lambda: self.text("#state") == "live", "an answer")
        for size in (DESK, PHONE):
            self.browser.set_width(*size)
            nodes = [node for node in self.browser.devtools(
                "Accessibility.getFullAXTree")["nodes"]
                if not node.get("ignored")]

            def named(role, nodes=nodes):
                return [node["name"]["value"] for node in nodes
                        if node["role"]["value"] == role]
            with self.subTest(size=size):
                self.assertIn("Tables", named("heading"))
                self.assertIn("What each table is and holds", named("table"))
                self.assertIn("words", named("rowheader"))
                self.assertIn("Recent refusals", named("heading"))
                self.assertIn("hit rate", named("columnheader"))
                images = named("image") + named("img")
                self.assertGreater(len(images), 5)
                for name in (named("table") + named("button")
                             + named("link") + images):
                    self.assertNotEqual(name, "")

    def test_can_be_paused_from_the_keyboard(self):
        self.wait(lambda: self.text("#state") == "live", "an answer")
        self.browser.press(browser.TAB)
        self.assertEqual(
            self.browser.run("return document.activeElement.id"), "pause")
        self.assertEqual(self.browser.run(
            "return getComputedStyle(document.activeElement).outlineStyle"),
            "solid")
        self.browser.press(browser.ENTER)
        self.assertEqual(self.text("#state"), "paused")
        self.assertTrue(self.browser.run("return page.timer === null"))
        self.browser.press(browser.ENTER)
        self.wait(lambda: self.text("#state") == "live", "an answer")

    def test_asks_for_nothing_while_hidden(self):
        hide = ("Object.defineProperty(document, 'hidden', "
                "{value: arguments[0], configurable: true});"
                "document.dispatchEvent(new Event('visibilitychange'));"
                "return page.timer === null")
        self.assertTrue(self.browser.run(hide, True))
        self.assertFalse(self.browser.run(hide, False))

    def test_asks_less_often_where_motion_is_unwanted(self):
        self.assertEqual(self.browser.run("return POLL_MS"), 2000)
        self.browser.set_media(prefers_reduced_motion="reduce")
        self.browser.open(f"http://{self.server.metrics_address}/")
        self.assertEqual(self.browser.run("return POLL_MS"), 10000)

    def test_says_when_the_server_is_gone_or_another(self):
        config = config_of([table_of("other", 4, 10)])
        with Server(config) as server:
            address = server.metrics_address
            self.browser.open(f"http://{address}/")
            self.wait(lambda: self.text("#state") == "live", "an answer")
        self.wait(lambda: self.text("#state").startswith(
            "stale: no answer"), "stale")
        self.assertEqual(self.browser.run("return document.body.className"),
                         "stale")
        config["server"]["metrics_address"] = address
        with Server(config):
            self.wait(lambda: self.text("#state").startswith(
                "stale: the server has restarted"), "restarted")
        self.browser.console()  # complaints of a server that is not there
