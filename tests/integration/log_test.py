"""The log, as text and as JSON."""

import json

import grpc

from tests.integration.harness.api import ApiTestCase
from tests.integration.harness.process import Server, config_of, table_of


class LogTest(ApiTestCase):

    def serve(self, **log):
        with Server(config_of([table_of("words", 2, 10)], log=log)) as server:
            client = self.connect(server)
            client.update("words", [1], [[1, 2]])
            for name in ("absent", 'a "quoted"\nname\\', "\u00e4"):
                with self.assertFails(grpc.StatusCode.NOT_FOUND):
                    client.lookup(name, [1])
            self.assertEqual(server.stop(), 0)
            return server.log()

    def test_every_line_of_a_json_log_is_one_object(self):
        lines = self.serve(format="json", level="debug").splitlines()
        self.assertGreater(len(lines), 2)
        for line in lines:
            self.assertIsInstance(json.loads(line), dict, line)

    def test_every_line_of_a_text_log_has_time_and_level(self):
        for line in self.serve(format="text", level="debug").splitlines():
            self.assertRegex(line, r"^\d{4}-\d\d-\d\dT[\d:.]+Z \[[a-z]+\] ")

    def test_addresses_are_announced_at_every_level(self):
        for level in ("warning", "error"):
            self.assertIn("listening on", self.serve(level=level))
