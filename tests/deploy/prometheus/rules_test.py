"""The rules are sound, and every alert is tested and has a runbook."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import yaml

_RULES = pathlib.Path("deploy/prometheus")
_TESTS = pathlib.Path("tests/deploy/prometheus")
_RUNBOOKS = pathlib.Path("docs/runbooks")


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def rules(name):
    return [rule for group in read(_RULES / name)["groups"]
            for rule in group["rules"]]


def alert_tests():
    """(alert's name, whether it is to fire) of every check in the tests."""
    for path in sorted(_TESTS.glob("*_alerts.yaml")):
        for test in read(path)["tests"]:
            for check in test["alert_rule_test"]:
                yield check["alertname"], bool(check["exp_alerts"])


@unittest.skipUnless(shutil.which("promtool"), "promtool is not there")
class PromtoolTest(unittest.TestCase):

    def promtool(self, *args, cwd=None):
        result = subprocess.run(["promtool", *map(str, args)], cwd=cwd,
                                capture_output=True, text=True, check=False)
        self.assertEqual(0, result.returncode, result.stdout + result.stderr)

    def test_rules_are_valid(self):
        self.promtool("check", "rules", "--lint-fatal",
                      *sorted(_RULES.glob("*.yaml")))

    def test_alerts_fire_when_they_should(self):
        # The tests name the rules' files relative to their own folder.
        with tempfile.TemporaryDirectory() as folder:
            for path in (*_RULES.glob("*.yaml"), *_TESTS.glob("*.yaml")):
                shutil.copy(path, folder)
            tests = sorted(pathlib.Path(folder).glob("*_alerts.yaml"))
            self.assertGreater(len(tests), 3)
            self.promtool("test", "rules", *tests, cwd=folder)


class AlertsTest(unittest.TestCase):

    def setUp(self):
        self.alerts = rules("alerts.yaml")
        self.names = {rule["alert"] for rule in self.alerts}

    def test_each_is_tested_firing_and_quiet(self):
        for firing in (True, False):
            tested = {name for name, fires in alert_tests() if fires == firing}
            self.assertEqual(self.names, tested)

    def test_each_has_a_runbook_and_no_runbook_is_left_over(self):
        pages = {path.stem for path in _RUNBOOKS.glob("*.md")}
        self.assertEqual(self.names, pages)
        for name in self.names:
            text = (_RUNBOOKS / f"{name}.md").read_text(encoding="utf-8")
            headings = re.findall(r"^#+ (.*)", text, re.MULTILINE)
            self.assertEqual(headings, [
                name, "Symptom", "Cause", "Commands", "What to do"])

    def test_each_says_how_bad_it_is_and_where_to_read_on(self):
        for rule in self.alerts:
            self.assertIn(rule["labels"]["severity"], ("critical", "warning"))
            annotations = rule["annotations"]
            self.assertEqual(f"docs/runbooks/{rule['alert']}.md",
                             annotations["runbook"])
            self.assertTrue(annotations["summary"].endswith("."))
            self.assertTrue(annotations["description"].endswith("."))

    def test_links_of_runbooks_lead_somewhere(self):
        for page in _RUNBOOKS.glob("*.md"):
            text = page.read_text(encoding="utf-8")
            for link in re.findall(r"\]\((\w+\.md)\)", text):
                self.assertIn(pathlib.Path(link).stem, self.names, page)


if __name__ == "__main__":
    unittest.main()
