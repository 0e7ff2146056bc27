"""The bundle runs from wherever it is unpacked, with nothing but glibc."""

import pathlib
import re
import subprocess
import tarfile
import tempfile
import unittest

_ARCHIVE = pathlib.Path("deploy/bundle/gatherd.tar.gz")
_MAX_BYTES = 40 << 20

_GLIBC = re.compile(r"^(linux-vdso|/lib64/ld-linux|ld-linux"
                    r"|lib(c|m|mvec|pthread|dl|rt|util|resolv|anl)\.so)")


class BundleTest(unittest.TestCase):

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        with tarfile.open(_ARCHIVE) as archive:
            archive.extractall(scratch.name)
        self.folder = pathlib.Path(scratch.name) / "gatherd"

    def run_program(self, *command, env=None):
        return subprocess.run(
            [self.folder / command[0], *command[1:]], env=env or {}, cwd="/",
            check=True, stdout=subprocess.PIPE, text=True).stdout

    def test_server_starts_with_an_empty_environment(self):
        self.assertRegex(self.run_program("bin/gatherd", "--version"),
                         r"^gatherd \d+\.\d+\.\d+")

    def test_tools_start_with_an_empty_environment(self):
        self.assertIn("gatherctl", self.run_program("bin/gatherctl", "--help"))
        self.assertIn("gatherbench",
                      self.run_program("bin/gatherbench", "--help"))

    def test_nothing_outside_is_loaded_but_glibc(self):
        for program in sorted(self.folder.glob("bin/*")):
            # With this the loader lists what it loads, then ends.
            loaded = self.run_program(program, env={
                "LD_TRACE_LOADED_OBJECTS": "1"})
            self.assertIn("libgrpc", loaded)
            for line in loaded.splitlines():
                name, _, place = line.strip().partition(" => ")
                if not _GLIBC.match(name):
                    self.assertTrue(
                        place.startswith(f"{self.folder}/"),
                        f"{program.name} loads {line.strip()}")

    def test_is_small_and_stripped(self):
        self.assertLess(_ARCHIVE.stat().st_size, _MAX_BYTES)
        sections = subprocess.run(
            ["readelf", "--sections", self.folder / "bin/gatherd"], check=True,
            stdout=subprocess.PIPE, text=True).stdout
        self.assertNotIn(".symtab", sections)


if __name__ == "__main__":
    unittest.main()
