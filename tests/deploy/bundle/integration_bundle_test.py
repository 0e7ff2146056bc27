"""The bundle of integration tests runs on nothing but glibc and a shell."""

import pathlib
import re
import subprocess
import tarfile
import tempfile
import unittest

_ARCHIVE = pathlib.Path("deploy/bundle/gatherd_integration.tar.gz")
_MAX_BYTES = 50 << 20

_GLIBC = re.compile(r"/(ld-linux-x86-64|lib(c|m|mvec|pthread|dl|rt|util|resolv|anl"
                    r"|nss_\w+))[-.\d]*\.so")

# Imports what the tests import; prints what is mapped, and who "Python" is.
_PROGRAM = """
import os, sys, grpc, numpy, numpy.testing, google.protobuf.message
import ctypes, multiprocessing, ssl, unittest
print(sys.executable)
print(*(name for name in os.environ if "PATH" in name or "PYTHON" in name))
print(open("/proc/self/maps").read())
"""


class IntegrationBundleTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        with tarfile.open(_ARCHIVE) as archive:
            archive.extractall(scratch.name)
        cls.folder = pathlib.Path(scratch.name) / "gatherd_integration"

    def run_program(self, *command, env=None):
        return subprocess.run(
            [self.folder / command[0], *command[1:]], cwd="/",
            env={"PATH": "/usr/bin:/bin", **(env or {})}, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def test_python_loads_nothing_outside_but_glibc(self):
        output = self.run_program("python/bin/python3", "-c", _PROGRAM).stdout
        executable, names, *maps = output.splitlines()
        self.assertEqual(executable, f"{self.folder}/python/bin/python3")
        # Programs that it starts see none of its own settings.
        self.assertEqual(set(names.split()),
                         {"PATH", "PYTHONDONTWRITEBYTECODE"})
        mapped = {line.split()[-1] for line in maps if ".so" in line}
        self.assertTrue(any("cygrpc" in path for path in mapped), output)
        outside = [path for path in mapped
                   if not path.startswith(f"{self.folder}/")
                   and not _GLIBC.search(path)]
        self.assertEqual(outside, [])

    def test_runs_tests_and_counts_them(self):
        result = self.run_program("run_tests", "log_test", "metrics_test")
        self.assertEqual(result.returncode, 0, result.stdout)
        passed = re.findall(r"^passed: (\w+)\.", result.stdout, re.MULTILINE)
        self.assertEqual(set(passed), {"log_test", "metrics_test"})
        skipped = re.findall("^skipped: ", result.stdout, re.MULTILINE)
        self.assertEqual(
            result.stdout.splitlines()[-1],
            f"{len(passed)} passed, 0 failed, {len(skipped)} skipped")

    def test_tells_of_tests_that_fail(self):
        # No such device: every server refuses to start.
        result = self.run_program("run_tests", "--devices=[99]", "health_test")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, r"(?m)^FAILED: .*HealthTest")
        self.assertRegex(result.stdout, r"no usable GPU")
        self.assertRegex(result.stdout.splitlines()[-1],
                         r"^\d+ passed, [1-9]\d* failed, \d+ skipped$")

    def test_a_test_that_is_not_there_fails(self):
        result = self.run_program("run_tests", "absent_test")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout.splitlines()[-1],
                         "0 passed, 1 failed, 0 skipped")

    def test_is_small(self):
        self.assertLess(_ARCHIVE.stat().st_size, _MAX_BYTES)


if __name__ == "__main__":
    unittest.main()
