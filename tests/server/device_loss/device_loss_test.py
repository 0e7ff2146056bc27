"""A server whose device is lost stops serving at once, and ends.

gatherd_losing_devices.cc says which keys lose the device, or fail otherwise.
"""

import time

import grpc

from tests.integration.harness import health
from tests.integration.harness.api import ApiTestCase
from tests.integration.harness.process import (
    Server, config_of, table_of, wait_until)

PROGRAM = "tests/server/device_loss/gatherd_losing_devices"
FAILING_KEY, LOSING_KEY = 7, 13


class DeviceLossTest(ApiTestCase):

    def start(self, **settings):
        server = Server(
            config_of([table_of("words", 2, 100, tier="host")],
                      {"drain_delay": "60m", **settings}),
            program=PROGRAM)
        self.addCleanup(server.close)
        return server, self.connect(server)

    def lookup_code(self, client, key):
        try:
            client.rows("words", [key])
        except grpc.RpcError as error:
            return error.code()
        return grpc.StatusCode.OK

    def test_the_process_ends_with_a_failure(self):
        server, client = self.start()
        watched = health.watch(client)
        self.assertEqual("SERVING", next(watched))
        self.assertEqual(grpc.StatusCode.INTERNAL,
                         self.lookup_code(client, LOSING_KEY))
        self.assertEqual("NOT_SERVING", next(watched))
        wait_until(lambda: self.lookup_code(client, 1) ==
                   grpc.StatusCode.UNAVAILABLE, 10, "UNAVAILABLE")
        self.assertEqual(1, server.wait_exit(10), server.log())
        self.assertIn("a device is lost", server.log())
        self.assertIn("device 0: a kernel died", server.log())

    def test_another_fault_ends_nothing(self):
        server, client = self.start()
        self.assertEqual(grpc.StatusCode.INTERNAL,
                         self.lookup_code(client, FAILING_KEY))
        time.sleep(0.2)
        self.assertEqual("SERVING", health.status(client))
        self.assertEqual(grpc.StatusCode.OK, self.lookup_code(client, 1))
        self.assertIsNone(server.process.poll())
