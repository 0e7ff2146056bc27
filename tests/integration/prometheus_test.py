"""A real Prometheus scrapes the server and answers queries about it."""

import unittest

import numpy as np

from tests.integration.harness import prometheus
from tests.integration.harness.api import ApiTestCase
from tests.integration.harness.process import config_of, table_of, wait_until


@unittest.skipUnless(prometheus.is_installed(), "prometheus is not there")
class PrometheusTest(ApiTestCase):
    CONFIG = config_of([table_of("words", 4, 100)])

    def test_scrape_and_query(self):
        monitor = prometheus.Prometheus(self.server)
        self.addCleanup(monitor.close)
        self.client.update("words", range(10), np.ones((10, 4)))
        self.client.lookup("words", range(30))
        found = 'gatherd_lookup_keys_total{table="words",outcome="found"}'
        wait_until(lambda: monitor.query(found) == [10], 30, found)
        missing = found.replace("found", "missing")
        wait_until(lambda: monitor.query(missing) == [20], 30, missing)
        p99 = ("histogram_quantile(0.99, sum by (le) "
               "(grpc_server_handling_seconds_bucket))")
        wait_until(lambda: len(monitor.query(p99)) == 1, 30, p99)
        self.assertEqual(monitor.query("gatherd_table_rows"), [10])
