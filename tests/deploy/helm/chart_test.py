"""The chart renders what it should, on both majors of Helm, and refuses the rest.

`UPDATE_GOLDEN=1 PYTHONPATH=. python3 bazel/py_test_main.py
tests/deploy/helm/chart_test.py`, from the root of the tree, writes golden/ anew.
"""

import os
import pathlib
import unittest

import yaml

from tests.deploy.helm import helm, refusals

_GOLDEN = pathlib.Path("tests/deploy/helm/golden")
# What it renders is mostly the rules and the dashboard, which are looked at
# below.
_NOT_RECORDED = ("monitored",)


class ChartTests:
    """For one major of Helm."""

    MAJOR = None

    @classmethod
    def setUpClass(cls):
        cls.helm = helm.Helm(cls.MAJOR)
        cls.addClassCleanup(cls.helm.close)

    def test_program_is_of_this_major(self):
        version = self.helm.run("version", "--short").stdout
        self.assertTrue(version.startswith(f"v{self.MAJOR}."), version)

    def test_lint_finds_nothing(self):
        for name, path in helm.examples().items():
            with self.subTest(name):
                result = self.helm.run(
                    "lint", "--strict", self.helm.chart,
                    f"--values={path.resolve()}")
                self.assertEqual(0, result.returncode, result.stdout)

    def test_examples_render_as_recorded(self):
        self.assertGreaterEqual(len(helm.examples()), 8)
        for name, path in helm.examples().items():
            with self.subTest(name):
                result = self.helm.template(f"--values={path.resolve()}")
                self.assertEqual(0, result.returncode, result.stderr)
                if name in _NOT_RECORDED:
                    continue
                golden = _GOLDEN / f"{name}.yaml"
                if os.environ.get("UPDATE_GOLDEN"):
                    golden.write_text(result.stdout, encoding="utf-8")
                self.assertEqual(golden.read_text(encoding="utf-8"),
                                 result.stdout)

    def test_wrong_values_are_refused(self):
        for name, (values, word) in refusals.WRONG_VALUES.items():
            with self.subTest(name):
                result = self.helm.template(values=values)
                self.assertNotEqual(0, result.returncode)
                self.assertIn("values don't meet the specifications",
                              result.stderr)
                self.assertIn(word, result.stderr)

    def test_what_cannot_work_together_is_refused(self):
        for name, (values, text) in refusals.WRONG_TOGETHER.items():
            with self.subTest(name):
                result = self.helm.template(values=values)
                self.assertNotEqual(0, result.returncode)
                self.assertIn(": " + text, result.stderr)

    def test_rules_and_dashboard_are_the_files_of_the_tree(self):
        objects = self.helm.render_example("monitored")
        groups = [
            group for name in ("recording", "alerts") for group in yaml.
            safe_load(pathlib.Path(f"deploy/prometheus/{name}.yaml").read_text(
                encoding="utf-8"))["groups"]]
        self.assertEqual(
            groups, helm.find(objects, "PrometheusRule")["spec"]["groups"])
        dashboard = helm.find(objects, "ConfigMap", "gatherd-dashboard")
        self.assertEqual(
            pathlib.Path("deploy/grafana/gatherd.json").read_text(
                encoding="utf-8"),
            dashboard["data"]["gatherd.json"])

    def test_another_configuration_replaces_the_pods(self):
        def checksum(values):
            template = helm.pod_template(self.helm.render(values=values))
            return template["metadata"]["annotations"]["checksum/config"]
        before = checksum({})
        self.assertEqual(before, checksum({"replicas": 2}))
        self.assertNotEqual(
            before, checksum({"config": {"log": {"level": "debug"}}}))
        self.assertNotEqual(before, checksum(
            {"auth": {"existingSecret": "gatherd-tokens"}}))

    def test_older_kubernetes_sleeps_by_a_program(self):
        def pre_stop(version):
            objects = self.helm.render(f"--kube-version={version}")
            return helm.container(objects)["lifecycle"]["preStop"]
        self.assertEqual({"exec": {"command": ["sleep", "2"]}},
                         pre_stop("1.29"))
        self.assertEqual({"sleep": {"seconds": 2}}, pre_stop("1.30"))
        result = self.helm.template("--kube-version=1.26")
        self.assertIn("incompatible with Kubernetes", result.stderr)

    def test_names_stay_within_their_limit(self):
        objects = self.helm.render(values={"nameOverride": "n" * 63})
        for item in objects:
            self.assertLessEqual(len(item["metadata"]["name"]), 63)

    def test_package_holds_the_rules(self):
        result = self.helm.run("package", self.helm.chart,
                               f"--destination={self.helm.folder}")
        self.assertEqual(0, result.returncode, result.stderr)
        archive = next(self.helm.folder.glob("gatherd-*.tgz"))
        result = self.helm.run(
            "template", "a", archive, "--set=metrics.rules.enabled=true")
        self.assertIn("GatherdAbsent", result.stdout)


class Helm3Test(ChartTests, unittest.TestCase):
    MAJOR = 3


class Helm4Test(ChartTests, unittest.TestCase):
    MAJOR = 4

    # Helm 3 asks a cluster even to show what it would do.
    def test_notes_say_what_to_do_next(self):
        result = self.helm.run(
            "install", "gatherd", self.helm.chart, "--dry-run=client",
            "--namespace=serving",
            f"--values={helm.examples()['cpu'].resolve()}")
        self.assertEqual(0, result.returncode, result.stderr)
        notes = result.stdout.split("NOTES:")[1]
        for text in ("serves 2 tables", "gatherd.serving.svc:7400",
                     "test gatherd", "Anybody who reaches the port"):
            self.assertIn(text, notes)


if __name__ == "__main__":
    unittest.main()
