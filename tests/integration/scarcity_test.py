"""What a server does while file descriptors run out, and after it."""

import contextlib
import os
import resource
import socket

import grpc

from tests.integration.harness.api import ApiTestCase, Client
from tests.integration.harness.process import (
    config_of, table_of, wait_until)

DESCRIPTORS = 64


class ScarcityTest(ApiTestCase):

    CONFIG = config_of([table_of("t", 2, 10)],
                       {"health_address": "127.0.0.1:0"})

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        resource.prlimit(cls.server.process.pid, resource.RLIMIT_NOFILE,
                         (DESCRIPTORS, DESCRIPTORS))

    @contextlib.contextmanager
    def many_connections(self, address):
        """More than the server may have."""
        host, port = address.rsplit(":", 1)
        with contextlib.ExitStack() as stack:
            opened = [stack.enter_context(
                socket.create_connection((host, int(port)), timeout=30))
                for _ in range(2 * DESCRIPTORS)]
            # It says something to all that it takes and ends the others.
            for connection in opened:
                with contextlib.suppress(ConnectionResetError):
                    connection.recv(1)
            yield

    def open_fds(self):
        return len(os.listdir(f"/proc/{self.server.process.pid}/fd"))

    def assert_callers_are_served(self):
        """Once the connections that were there are gone."""
        wait_until(lambda: self.open_fds() < DESCRIPTORS // 2, 30, "free")
        client = Client(self.server.address)
        client.update("t", [1], [[1, 2]])
        self.assertRows(client.rows("t", [1]), [[1, 2]])
        client.close()

    def test_callers_that_take_all_connections_leave_probes_alone(self):
        # The class's client connects.
        self.client.update("t", [1], [[1, 2]])
        with self.many_connections(self.server.address):
            for path in ("/livez", "/readyz", "/metrics"):
                self.assertEqual(self.server.http(path)[0], 200, path)
            refused = Client(self.server.address)
            self.addCleanup(refused.close)
            with self.assertFails(grpc.StatusCode.UNAVAILABLE):
                refused.lookup("t", [1])
            self.assertRows(self.client.rows("t", [1]), [[1, 2]])
        wait_until(lambda: "are refused" in self.server.log(), 10, "a warning")
        self.assert_callers_are_served()

    def test_probes_that_take_all_connections_end(self):
        for address in (self.server.wait_health_address(),
                        self.server.metrics_address):
            with self.subTest(address=address):
                host, port = address.rsplit(":", 1)
                with contextlib.ExitStack() as stack:
                    for _ in range(2 * DESCRIPTORS):
                        stack.enter_context(
                            socket.create_connection((host, int(port))))
                self.assert_callers_are_served()
                self.assertEqual(self.server.http("/livez")[0], 200)
