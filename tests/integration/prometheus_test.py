"""A real Prometheus scrapes the server and answers queries about it."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
import urllib.parse

import numpy as np

from tests.integration.harness.api import ApiTestCase
from tests.integration.harness.process import (
    config_of, fetch, free_port, table_of, wait_until)

SCRAPE = """\
global: {scrape_interval: 200ms, scrape_timeout: 200ms}
scrape_configs:
  - job_name: gatherd
    static_configs: [{targets: ['%s']}]
"""


@unittest.skipUnless(shutil.which("prometheus"), "prometheus is not there")
class PrometheusTest(ApiTestCase):
    CONFIG = config_of([table_of("words", 4, 100)])

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="gatherd_test_")
        self.addCleanup(shutil.rmtree, self.folder)
        config = os.path.join(self.folder, "prometheus.yml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(SCRAPE % self.server.metrics_address)
        self.address = f"127.0.0.1:{free_port()}"
        with open(os.path.join(self.folder, "log"), "wb") as log:
            process = subprocess.Popen(
                ["prometheus", f"--config.file={config}",
                 f"--storage.tsdb.path={self.folder}/data",
                 f"--web.listen-address={self.address}"],
                stdout=log, stderr=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_until(self.is_ready, 60, "Prometheus")

    def is_ready(self):
        return fetch(f"http://{self.address}/-/ready")[0] == 200

    def query(self, expression):
        """The values of an instant query."""
        query = urllib.parse.urlencode({"query": expression})
        status, text = fetch(f"http://{self.address}/api/v1/query?{query}")
        if status != 200:
            return []
        return [float(series["value"][1])
                for series in json.loads(text)["data"]["result"]]

    def test_scrape_and_query(self):
        wait_until(lambda: self.query("up") == [1], 30, "a scrape")
        self.client.update("words", range(10), np.ones((10, 4)))
        self.client.lookup("words", range(30))
        found = 'gatherd_lookup_keys_total{table="words",outcome="found"}'
        wait_until(lambda: self.query(found) == [10], 30, found)
        missing = found.replace("found", "missing")
        wait_until(lambda: self.query(missing) == [20], 30, missing)
        p99 = ("histogram_quantile(0.99, sum by (le) "
               "(grpc_server_handling_seconds_bucket))")
        wait_until(lambda: len(self.query(p99)) == 1, 30, p99)
        self.assertEqual(self.query("gatherd_table_rows"), [10])
