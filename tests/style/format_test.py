"""The tree is formatted by machine, without tabs and trailing blanks."""

import shutil
import subprocess
import unittest

from tests.style import source_tree

_TEXT = source_tree.CPP + (
    ".py", ".bzl", ".proto", ".md", ".yaml", ".yml", ".bazelrc", "BUILD",
    "WORKSPACE", ".html", ".css", ".js")
_MAX_COLUMNS = 80


def blank_violations(path, text):
    """Tabs, blanks at line ends, a missing or doubled last newline."""
    found = []
    for number, line in enumerate(text.split("\n"), start=1):
        if "\t" in line:
            found.append(f"{path}:{number}: tab")
        if line != line.rstrip():
            found.append(f"{path}:{number}: blanks at the end of the line")
    if text and (not text.endswith("\n") or text.endswith("\n\n")):
        found.append(f"{path}: must end with one newline")
    return found


def length_violations(path, text):
    """Lines that are too long for no good reason (a URL, an include)."""
    return [
        f"{path}:{number}: {len(line)} columns"
        for number, line in enumerate(text.split("\n"), start=1)
        if len(line) > _MAX_COLUMNS and "http" not in line
        and not line.startswith("#include")
    ]


class TreeTest(unittest.TestCase):

    def test_no_tabs_and_trailing_blanks(self):
        found = []
        for path in source_tree.files(_TEXT):
            found += blank_violations(path, source_tree.read(path))
        self.assertEqual([], found)

    def test_cpp_fits_eighty_columns(self):
        found = []
        for path in source_tree.files(source_tree.CPP):
            found += length_violations(path, source_tree.read(path))
        self.assertEqual([], found)

    def test_cpp_is_formatted(self):
        if shutil.which("clang-format") is None:
            self.skipTest("clang-format is not installed")
        paths = source_tree.files(source_tree.CPP)
        result = subprocess.run(
            ["clang-format", "--dry-run", "-Werror", *map(str, paths)],
            cwd=source_tree.root(), capture_output=True, text=True, check=False)
        self.assertEqual(0, result.returncode, result.stderr)


class CheckItselfTest(unittest.TestCase):

    def test_finds_blanks(self):
        self.assertEqual([], blank_violations("a", "x\n\ny\n"))
        self.assertEqual([], blank_violations("a", ""))
        self.assertEqual(1, len(blank_violations("a", "x\ty\n")))
        self.assertEqual(1, len(blank_violations("a", "x \n")))
        self.assertEqual(1, len(blank_violations("a", "x")))
        self.assertEqual(1, len(blank_violations("a", "x\n\n")))

    def test_finds_long_lines(self):
        self.assertEqual([], length_violations("a", "x" * 80))
        self.assertEqual(1, len(length_violations("a", "x" * 81)))
        self.assertEqual([], length_violations("a", "// http" + "x" * 81))
