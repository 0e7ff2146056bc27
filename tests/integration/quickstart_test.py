"""The tour of tools/quickstart, over programs that are built already."""

import os
import re
import signal
import subprocess
import sys
import unittest

from tests.integration.harness.process import (
    fetch, find_program, wait_until)

TOUR = "tools/quickstart_tour.py"


class QuickstartTest(unittest.TestCase):

    def run_tour(self, *args):
        programs = os.path.dirname(os.path.dirname(
            find_program("server/gatherd")))
        result = subprocess.run(
            [sys.executable, TOUR, f"--programs={programs}", *args],
            capture_output=True, text=True, timeout=120, check=False,
            stdin=subprocess.DEVNULL, env={"PATH": "/usr/bin:/bin"})
        self.assertEqual(result.returncode, 0,
                         result.stdout + result.stderr)
        return result.stdout

    def test_it_looks_up_updates_and_erases(self):
        text = self.run_tour()
        self.assertRegex(text, r"\(fnv:king\) +found +-?\d")
        self.assertRegex(text, r"\(fnv:gatherd\) +missing")
        self.assertRegex(text, r"paris +france 0\.\d")
        self.assertRegex(text, r"monday +tuesday 0\.\d")
        self.assertIn("1 inserted", text)
        self.assertRegex(text, r"\(fnv:gatherd\) +found")
        self.assertIn("1 erased", text)
        self.assertIn("--keep", text)

    def test_keep_leaves_the_server_running_and_says_how_to_stop_it(self):
        text = self.run_tour("--keep")
        pid = int(re.search(r"\bkill (\d+)", text).group(1))
        try:
            url = re.search(r"http://\S+/", text).group(0)
            self.assertEqual(fetch(url + "readyz")[0], 200)
        finally:
            os.kill(pid, signal.SIGTERM)
        wait_until(lambda: fetch(url + "livez")[0] == 0, 20, "the stop")
        os.remove(re.search(r"log ([^\s)]+)", text).group(1))
