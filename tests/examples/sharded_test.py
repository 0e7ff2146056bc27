"""docs/scaling.md quotes the programs for spread tables, which run."""

import os
import subprocess
import unittest

from tests.examples.documents import blocks, has_lines, read
from tests.integration.harness.process import (
    Server, config_of, find_program, table_of)

DOC = "docs/scaling.md"
PRINTED = "written: 1000\nfound: 1000, sum of a bag: 500\n"


class ShardedTest(unittest.TestCase):

    def setUp(self):
        self.servers = []
        for _ in range(3):
            server = Server(config_of([table_of("users", 16, 10_000)]))
            self.addCleanup(server.close)
            self.servers.append(server)

    def run_program(self, *command):
        addresses = [server.address for server in self.servers]
        result = subprocess.run(
            [*command, *addresses], timeout=60, capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": "client/python"}, check=False)
        self.assertEqual(0, result.returncode, result.stderr)
        self.assertEqual(PRINTED, result.stdout)

    def test_cpp(self):
        self.run_program(find_program("examples/cpp/sharded"))

    def test_python(self):
        self.run_program("/usr/bin/python3", "examples/python/sharded.py")

    def test_no_server(self):
        for command in ([find_program("examples/cpp/sharded")],
                        ["/usr/bin/python3", "examples/python/sharded.py"]):
            result = subprocess.run(
                [*command, "127.0.0.1:1", "127.0.0.1:2"], timeout=60,
                capture_output=True, text=True, check=False,
                env={**os.environ, "PYTHONPATH": "client/python"})
            self.assertEqual(1, result.returncode)
            self.assertIn("server 127.0.0.1:1: ", result.stderr)


class QuotesTest(unittest.TestCase):

    def test_they_are_from_the_programs(self):
        for language, path in (("c++", "examples/cpp/sharded.cc"),
                               ("python", "examples/python/sharded.py")):
            program = read(path)
            quoted = [block for block in blocks(DOC, language)
                      if has_lines(program, block)]
            self.assertEqual(1, len(quoted), path)
