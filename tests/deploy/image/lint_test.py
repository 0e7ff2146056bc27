"""A linter finds nothing wrong with the Dockerfile."""

import pathlib
import shutil
import subprocess
import unittest

from tests.deploy import npm_packages

_DOCKERFILE = pathlib.Path("deploy/Dockerfile")


class LintTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = npm_packages.install(npm_packages.DOCKERFILE_UTILS)
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    def lint(self, text):
        """What the linter says of a Dockerfile's text."""
        path = self.folder / "Dockerfile"
        path.write_text(text, encoding="utf-8")
        result = subprocess.run(
            [self.folder / "node_modules/.bin/dockerfile-utils", "lint", path],
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False)
        return result.stdout + result.stderr

    def test_dockerfile_is_valid(self):
        text = _DOCKERFILE.read_text(encoding="utf-8")
        self.assertEqual("", self.lint(text).strip())

    def test_finds_what_is_wrong(self):
        text = _DOCKERFILE.read_text(encoding="utf-8")
        self.assertIn("EXPOSED", self.lint(text.replace("EXPOSE", "EXPOSED")))
        self.assertTrue(self.lint(text.replace("WORKDIR /src", "WORKDIR")))


if __name__ == "__main__":
    unittest.main()
