"""Programs and modules that Debian does not have, through npm, by name."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

_TIMEOUT_S = 240

# Kubernetes' types of a version that runs on Debian 12's Node.
KUBERNETES_MODELS = "kubernetes-models@4.5.1"
OPERATOR_MODELS = "@kubernetes-models/prometheus-operator@4.4.4"
TYPESCRIPT = "typescript@5.9.3"
DOCKERFILE_UTILS = "dockerfile-utils@0.16.3"


def install(*packages):
    """The folder with node_modules; skips the test if npm cannot get them."""
    npm = shutil.which("npm")
    if npm is None:
        raise unittest.SkipTest("npm is not there")
    folder = pathlib.Path(tempfile.mkdtemp(
        prefix="npm_", dir=os.environ.get("TEST_TMPDIR")))
    (folder / "package.json").write_text('{"private": true}\n')
    try:
        result = subprocess.run(
            [npm, "install", "--ignore-scripts", "--omit=peer", "--no-audit",
             "--no-fund", "--no-package-lock", "--loglevel=error",
             f"--cache={folder}/cache", *packages],
            cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=_TIMEOUT_S, check=False)
        error = result.stderr.strip() if result.returncode else ""
    except subprocess.TimeoutExpired:
        error = f"no end within {_TIMEOUT_S} s"
    if error:
        shutil.rmtree(folder)
        raise unittest.SkipTest(f"npm does not get {packages}: {error[:200]}")
    return folder
