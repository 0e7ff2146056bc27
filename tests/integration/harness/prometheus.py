"""A Prometheus that scrapes a server under test."""

import json
import os
import shutil
import subprocess
import tempfile
import urllib.parse

from tests.integration.harness.process import fetch, free_port, wait_until

CONFIG = """\
global:
  scrape_interval: 200ms
  scrape_timeout: 200ms
  evaluation_interval: 500ms
rule_files: %s
scrape_configs:
  - job_name: gatherd
    static_configs: [{targets: ['%s']}]
"""


def is_installed():
    return shutil.which("prometheus") is not None


class Prometheus:

    def __init__(self, server, rule_files=()):
        """Returns once `server` has been scraped."""
        self._folder = tempfile.mkdtemp(prefix="gatherd_test_")
        config = os.path.join(self._folder, "prometheus.yml")
        paths = json.dumps([os.path.abspath(path) for path in rule_files])
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIG % (paths, server.metrics_address))
        self._address = f"127.0.0.1:{free_port()}"
        with open(os.path.join(self._folder, "log"), "wb") as log:
            self._process = subprocess.Popen(
                ["prometheus", f"--config.file={config}",
                 f"--storage.tsdb.path={self._folder}/data",
                 f"--web.listen-address={self._address}"],
                stdout=log, stderr=log)
        try:
            wait_until(self._is_ready, 60, "Prometheus")
            wait_until(lambda: self.query("up") == [1], 30, "a scrape")
        except BaseException:
            self.close()
            raise

    def close(self):
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self._folder)

    def _is_ready(self):
        return fetch(f"http://{self._address}/-/ready")[0] == 200

    def ask(self, path, **query):
        """(status, decoded answer) of the HTTP API."""
        text = urllib.parse.urlencode(query)
        status, answer = fetch(f"http://{self._address}/api/v1/{path}?{text}")
        return status, json.loads(answer) if status else {"error": answer}

    def query(self, expression):
        """The values of an instant query; none if it is refused."""
        status, answer = self.ask("query", query=expression)
        if status != 200:
            return []
        return [float(series["value"][1])
                for series in answer["data"]["result"]]
