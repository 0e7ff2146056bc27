"""The examples of docs/api.md do what they say, against a real server."""

import os
import subprocess
import sys
import unittest

from tests.integration.harness.process import (
    Server, config_of, find_program, table_of)

PRINTED = """\
king: -0.32307 -0.87616 0.21977 ... (100 values)
queen: -0.50045 -0.70826 0.55388 ... (100 values)
zyzzyvas: missing
mean of king, queen: -0.41176 -0.79221 0.386825 ... (100 values)
"""


class ExamplesTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        source = {name: os.path.abspath(f"testdata/words_2000_{file}.npy")
                  for name, file in (("rows", "100d"), ("keys", "keys"))}
        cls.server = Server(config_of([
            table_of("words", 100, 10_000, source=source)]))

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def assert_works(self, *command):
        result = subprocess.run([*command, self.server.address],
                                capture_output=True, text=True, timeout=60,
                                check=False)
        self.assertEqual((0, ""), (result.returncode, result.stderr))
        self.assertTrue(result.stdout.startswith(PRINTED), result.stdout)
        self.assertTrue(
            result.stdout.endswith("inserted 1, updated 0\nerased 1\n"),
            result.stdout)

    def assert_fails_without_server(self, *command):
        result = subprocess.run([*command, "127.0.0.1:1"], capture_output=True,
                                text=True, timeout=60, check=False)
        self.assertEqual(1, result.returncode)
        self.assertIn("UNAVAILABLE", result.stderr)

    def test_cpp(self):
        self.assert_works(find_program("examples/cpp/words"))
        self.assert_fails_without_server(find_program("examples/cpp/words"))

    def test_python(self):
        self.assert_works(sys.executable, "examples/python/words.py")
        self.assert_fails_without_server(sys.executable,
                                         "examples/python/words.py")


if __name__ == "__main__":
    unittest.main()
