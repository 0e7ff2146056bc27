"""BUILD and .bzl files are as buildifier writes them."""

import shutil
import subprocess
import unittest

from tests.style import source_tree


def find_buildifier():
    """The one on PATH, or the one that tools/buildifier has put in the tree."""
    local = source_tree.root() / "node_modules/.bin/buildifier"
    return shutil.which("buildifier") or (local.exists() and str(local))


class BuildifierTest(unittest.TestCase):

    def test_bazel_files_are_formatted(self):
        buildifier = find_buildifier()
        if not buildifier:
            self.skipTest("no buildifier; tools/buildifier gets it through npm")
        paths = source_tree.files(
            suffixes=(".bzl",), names=("BUILD", "WORKSPACE"))
        result = subprocess.run(
            [buildifier, "--config=.buildifier.json", "--mode=check",
             *map(str, paths)],
            cwd=source_tree.root(), capture_output=True, text=True, check=False)
        self.assertEqual(0, result.returncode, result.stdout + result.stderr)
