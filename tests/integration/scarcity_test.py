"""What a server does while file descriptors run out, and after it."""

import contextlib
import os
import resource
import socket

import grpc

from proto.gatherd.v1 import gatherd_pb2 as pb
from tests.integration.harness.api import ApiTestCase, Client, table_update
from tests.integration.harness.process import (
    config_of, table_of, wait_until)

# For connections; the server has some for itself, more on a GPU.
FREE = 48


class ScarcityTest(ApiTestCase):

    CONFIG = config_of([table_of("t", 2, 10)],
                       {"health_address": "127.0.0.1:0"})

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.num_at_rest = len(cls.open_fds())
        limit = max(cls.open_fds()) + FREE
        resource.prlimit(cls.server.process.pid, resource.RLIMIT_NOFILE,
                         (limit, limit))

    @classmethod
    def open_fds(cls):
        return [int(fd) for fd in
                os.listdir(f"/proc/{cls.server.process.pid}/fd")]

    @contextlib.contextmanager
    def many_connections(self, address):
        """More than the server may have."""
        host, port = address.rsplit(":", 1)
        with contextlib.ExitStack() as stack:
            opened = [stack.enter_context(
                socket.create_connection((host, int(port)), timeout=30))
                for _ in range(3 * FREE)]
            # It says something to all that it takes and ends the others.
            for connection in opened:
                with contextlib.suppress(ConnectionResetError):
                    connection.recv(1)
            yield

    def assert_callers_are_served(self):
        """Once the connections that were there are gone."""
        wait_until(
            lambda: len(self.open_fds()) < self.num_at_rest + FREE // 2,
            30, "free")
        client = Client(self.server.address)
        client.embeddings.Update(
            pb.UpdateRequest(updates=[table_update("t", [1], [[1, 2]])]),
            timeout=30, wait_for_ready=True)
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
                    for _ in range(3 * FREE):
                        stack.enter_context(
                            socket.create_connection((host, int(port))))
                # Those that wait to be refused may be before this one.
                wait_until(lambda: self.server.http("/livez")[0] == 200, 30,
                           "/livez")
                self.assert_callers_are_served()
