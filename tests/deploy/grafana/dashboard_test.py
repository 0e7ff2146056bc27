"""Every panel of the dashboard asks a real server for something it has."""

import collections
import json
import pathlib
import re
import unittest

from tests.deploy import promql
from tests.deploy.served import ServedTestCase
from tests.integration.harness import exposition, prometheus
from tests.integration.harness.process import wait_until

_DASHBOARD = json.loads(
    pathlib.Path("deploy/grafana/gatherd.json").read_text(encoding="utf-8"))
_COLUMNS = 24
# Families that have no series without a GPU or a store.
_ELSEWHERE = ("gatherd_device_", "gatherd_store_")


def panels():
    return [panel for panel in _DASHBOARD["panels"] if panel["type"] != "row"]


def targets():
    """(panel's title, target) of all panels."""
    return [(panel["title"], target) for panel in panels()
            for target in panel["targets"]]


def filled_in(expression):
    """As Grafana sends it with all jobs and servers chosen."""
    for name in ("$job", "$instance"):
        expression = expression.replace(f'"{name}"', '".+"')
    return expression.replace("$__rate_interval", "1m")


class LayoutTest(unittest.TestCase):

    def test_ids_differ(self):
        counts = collections.Counter(
            panel["id"] for panel in _DASHBOARD["panels"])
        self.assertEqual({1}, set(counts.values()))

    def test_panels_do_not_overlap(self):
        taken = {}
        for panel in _DASHBOARD["panels"]:
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], _COLUMNS)
            for x in range(place["x"], place["x"] + place["w"]):
                for y in range(place["y"], place["y"] + place["h"]):
                    self.assertNotIn((x, y), taken, panel["title"])
                    taken[x, y] = panel["title"]

    def test_panels_use_the_chosen_source(self):
        for panel in panels():
            for part in (panel, *panel["targets"]):
                self.assertEqual("${datasource}", part["datasource"]["uid"])

    def test_expressions_keep_to_the_chosen_servers(self):
        for title, target in targets():
            for name, matchers in promql.selectors(target["expr"]):
                if name == "gatherd_build_info" and not matchers:
                    continue  # picks gatherd's out of every program's
                self.assertIn(("job", "=~", "$job"), matchers, title)
                self.assertIn(("instance", "=~", "$instance"), matchers, title)


@unittest.skipUnless(prometheus.is_installed(), "prometheus is not there")
class ServedTest(ServedTestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.monitor = prometheus.Prometheus(cls.server)
        cls.addClassCleanup(cls.monitor.close)

    def test_expressions_ask_for_what_the_server_has(self):
        families = exposition.scrape(self.server)
        for title, target in targets():
            self.assertEqual(
                [], promql.faults(target["expr"], families), title)

    def series(self, expression):
        """The labels of the series that an expression has values for."""
        status, answer = self.monitor.ask(
            "query", query=filled_in(expression))
        self.assertEqual(200, status, (expression, answer.get("error")))
        return [series["metric"] for series in answer["data"]["result"]]

    def test_panels_show_something(self):
        for title, target in targets():
            expression, legend = target["expr"], target["legendFormat"]
            found = self.series(expression)  # refused ones fail here
            if any(name in expression for name in _ELSEWHERE):
                self.check_grouping(title, expression, legend)
                continue
            found = found or wait_until(
                lambda: self.series(expression), 60, (title, expression))
            for label in re.findall(r"{{(\w+)}}", legend):
                self.assertIn(label, found[0], title)

    def check_grouping(self, title, expression, legend):
        """The labels of a legend are those that the expression keeps."""
        kept = set(re.findall(r"\w+", re.search(
            r"sum by \(([^)]*)\)", expression).group(1))) - {"le"}
        self.assertEqual(kept, set(re.findall(r"{{(\w+)}}", legend)), title)

    def test_variables_find_the_server(self):
        for variable in _DASHBOARD["templating"]["list"]:
            if variable["type"] != "query":
                continue
            metric, label = re.fullmatch(
                r"label_values\((.*), (\w+)\)",
                variable["query"]["query"]).groups()
            self.assertIn(label, self.series(metric)[0])
