"""pip installs the Python client, without a network."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest


class InstallTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.project = os.path.join(folder.name, "project")
        self.site = os.path.join(folder.name, "site")
        # A copy: building leaves files beside the sources.
        shutil.copytree("client/python", self.project)
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--no-index",
             "--no-deps", "--no-build-isolation", "--target", self.site,
             self.project],
            check=True, env={**os.environ, "HOME": folder.name})

    def test_installed_package(self):
        """It imports from where it is alone, and says its types."""
        path = subprocess.run(
            [sys.executable, "-c", "import gatherd; gatherd.Client();"
             "print(gatherd.__file__)"],
            check=True, capture_output=True, text=True, cwd="/",
            env={**os.environ, "PYTHONPATH": self.site}).stdout.strip()
        self.assertEqual(
            os.path.join(self.site, "gatherd", "__init__.py"), path)
        for module in os.listdir("client/python/gatherd"):
            if module != "__pycache__":
                self.assertIn(module, os.listdir(os.path.dirname(path)))

    def test_version_is_the_servers(self):
        with open("cli/version.h", encoding="utf-8") as file:
            version = re.search(r'Version\[\] = "([^"]+)"', file.read())[1]
        self.assertIn(f"gatherd-{version}.dist-info", os.listdir(self.site))
