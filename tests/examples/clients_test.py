"""What documents say of the clients: commands and code run.

docs/clients.md quotes programs, which are run; README.md is run as it stands.
"""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

import numpy as np
import yaml

from tests.examples.documents import blocks, has_lines, read
from tests.integration.harness.process import Server, config_of, find_program

DOC = "docs/clients.md"
PYTHON, CPP = "examples/python/items.py", "examples/cpp/items.cc"

PYTHON_PRINTED = """\
(3, 64) float16 missing: [False, False, True]
(2, 64) float32 revision of several writes: True
scores: (3,)
NOT_FOUND names the key: True
erased: 25000
"""
CPP_PRINTED = """\
3 rows of 64, missing: 001
2 bags, revision of several writes: 1
scored scored scored
384 bytes
NOT_FOUND
erased: 25000
"""


class CodeTest(unittest.TestCase):

    def assert_from(self, path, language):
        found = blocks(DOC, language)
        self.assertGreaterEqual(len(found), 5)
        program = read(path)
        for block in found:
            self.assertTrue(has_lines(program, block),
                            f"not in {path}:\n{block}")

    def test_python(self):
        self.assert_from(PYTHON, "python")

    def test_cpp(self):
        self.assert_from(CPP, "c++")

    def test_lines_that_no_program_has(self):
        self.assertTrue(has_lines("if a:\n    b\n    c\n", "b\nc\n"))
        self.assertFalse(has_lines("if a:\n    b\n    c\n", "b\nd\n"))
        self.assertFalse(has_lines("if a:\n    b\n    c\n", "c\nb\n"))


class CommandsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        tables = yaml.safe_load(blocks(DOC, "yaml")[0])["tables"]
        cls.server = Server(config_of(tables))
        cls.addClassCleanup(cls.server.close)
        # A copy: venv and the build of the package leave files behind.
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.tree = folder.name
        for name in ("client/python", "examples/python"):
            shutil.copytree(name, os.path.join(cls.tree, name))

    def run_command(self, command):
        """What it prints; `bazel run` is the program that Bazel has built."""
        command = command.replace("localhost:7400", self.server.address)
        command = re.sub(r"^bazel run //(\S+):(\S+) --",
                         lambda m: find_program(f"{m[1]}/{m[2]}"), command)
        env = {**os.environ, "HOME": self.tree}
        env.pop("PYTHONPATH", None)
        result = subprocess.run(
            ["bash", "-c", command], cwd=self.tree, env=env, timeout=120,
            capture_output=True, text=True, check=False)
        self.assertEqual(0, result.returncode, result.stdout + result.stderr)
        return result.stdout

    def test_they_run(self):
        commands, = blocks(DOC, "")
        printed = {"items.py": PYTHON_PRINTED, "//examples/cpp": CPP_PRINTED}
        num_programs = 0
        for command in commands.splitlines():
            output = self.run_command(command)
            for name, expected in printed.items():
                if name in command:
                    num_programs += 1
                    self.assertEqual(
                        [line.rstrip() for line in expected.splitlines()],
                        [line.rstrip() for line in output.splitlines()])
        self.assertEqual(3, num_programs)

    def test_readmes(self):
        for document in ("README.md", "client/python/README.md"):
            code, = blocks(document, "python")
            code = code.replace("localhost:7400", self.server.address)
            names = {"keys": np.array([17, 42]), "values": np.ones((2, 64))}
            exec(code.replace("words", "items"), names)
            np.testing.assert_array_equal(names["rows"], np.ones((2, 64)))
            self.assertFalse(names["missing"].any())

    def test_no_server(self):
        for command in (["/usr/bin/python3", PYTHON],
                        [find_program("examples/cpp/items")]):
            result = subprocess.run(
                [*command, "127.0.0.1:1"], timeout=60, capture_output=True,
                env={**os.environ, "PYTHONPATH": "client/python"}, text=True,
                check=False)
            self.assertEqual(1, result.returncode)
            self.assertIn("UNAVAILABLE", result.stderr)
