"""A real Prometheus evaluates the rules and panels on a real server."""

import pathlib
import re
import unittest

import yaml

from tests.deploy import promql
from tests.deploy.served import ServedTestCase
from tests.integration.harness import exposition, prometheus
from tests.integration.harness.process import wait_until

_RECORDING = pathlib.Path("deploy/prometheus/recording.yaml")
_ALERTS = pathlib.Path("deploy/prometheus/alerts.yaml")


def rules(path):
    groups = yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


@unittest.skipUnless(prometheus.is_installed(), "prometheus is not there")
class EvaluationTest(ServedTestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.monitor = prometheus.Prometheus(
            cls.server, rule_files=[_RECORDING, _ALERTS])
        cls.addClassCleanup(cls.monitor.close)

    def rules(self):
        """Of the running Prometheus: those of all groups."""
        _, answer = self.monitor.ask("rules")
        return [rule for group in answer["data"]["groups"]
                for rule in group["rules"]]

    def test_rules_evaluate_without_error(self):
        wait_until(lambda: all(rule["health"] != "unknown"
                               for rule in self.rules()),
                   60, "an evaluation of every rule")
        found = self.rules()
        self.assertEqual(len(found), len(rules(_RECORDING) + rules(_ALERTS)))
        for rule in found:
            self.assertEqual("ok", rule["health"], rule)

    def test_healthy_server_raises_no_alarm(self):
        def alarms():
            return [rule["name"] for rule in self.rules() if rule.get("alerts")]
        # Before its first scrape the server is absent.
        wait_until(lambda: not alarms(), 60, "an end of all alarms")

    def test_every_recorded_series_gets_a_value(self):
        for rule in rules(_RECORDING):
            name = rule["record"]
            wait_until(lambda: self.monitor.query(name), 60, name)


class NamesTest(ServedTestCase):

    def setUp(self):
        self.families = exposition.scrape(self.server)
        self.recorded = {rule["record"] for rule in rules(_RECORDING)}

    def check(self, expression, where):
        self.assertEqual([], promql.faults(expression, self.families), where)
        recorded = set(re.findall(r"\b\w+:\w+:\w+", expression))
        self.assertEqual(set(), recorded - self.recorded, where)

    def test_rules_ask_for_what_the_server_has(self):
        for rule in rules(_RECORDING) + rules(_ALERTS):
            self.check(rule["expr"], rule)

    def test_runbooks_ask_for_what_the_server_has(self):
        pages = list(pathlib.Path("docs/runbooks").glob("*.md"))
        self.assertGreater(len(pages), 10)
        for page in pages:
            self.check(page.read_text(encoding="utf-8"), page)

    def test_finds_what_a_server_has_not(self):
        for good in (
                'rate(gatherd_rejected_total{reason="overload"}[5m])',
                "grpc_server_handling_seconds_bucket",
                'gatherd_table_rows{table="$table",job=~"x"}',
                'gatherd_device_memory_bytes{device="7",state="free"}',
                'up{job="a"}', "job:gatherd_table_rows:sum"):
            self.assertEqual([], promql.faults(good, self.families))
        for bad in ("gatherd_no_such_thing", "gatherd_table_rows_bucket",
                    'gatherd_rejected_total{reason="mood"}',
                    'gatherd_rejected_total{color="red"}',
                    'gatherd_device_memory_bytes{state="lost"}',
                    'gatherd_store_errors_total{table="words"}'):
            self.assertEqual(1, len(promql.faults(bad, self.families)), bad)
