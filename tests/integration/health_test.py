"""Health, readiness, reflection and the pages of a server that serves."""

import contextlib
import socket
import time

from tests.integration.harness import (
    health, reflection_pb2, reflection_pb2_grpc)
from tests.integration.harness.api import CALL_TIMEOUT_S, ApiTestCase
from tests.integration.harness.process import config_of, table_of


class HealthTest(ApiTestCase):
    CONFIG = config_of([table_of("words", 4, 100)])

    def test_grpc_health(self):
        for service in health.SERVICES:
            self.assertEqual(health.status(self.client, service), "SERVING")
            self.assertEqual(
                next(health.watch(self.client, service)), "SERVING")

    def test_health_of_an_unknown_service(self):
        self.assertEqual(
            health.status(self.client, "gatherd.v9.Nothing"), "NOT_FOUND")

    def test_http_endpoints(self):
        for path in ("/livez", "/readyz", "/metrics", "/"):
            with self.subTest(path=path):
                self.assertEqual(self.server.http(path)[0], 200)
        self.assertEqual(self.server.http("/absent")[0], 404)

    def test_probes_do_not_wait_behind_idle_connections(self):
        host, port = self.server.metrics_address.split(":")
        for number in range(100):
            connection = socket.create_connection((host, int(port)))
            self.addCleanup(connection.close)
            connection.sendall(b"GET /livez HTTP/1.1\r\n" * (number % 2))
        began = time.monotonic()
        for path in ("/livez", "/readyz"):
            self.assertEqual(self.server.http(path)[0], 200)
        self.assertLess(time.monotonic() - began, 1)

    def test_garbage_on_both_ports(self):
        for address in (self.server.address, self.server.metrics_address):
            host, port = address.split(":")
            for garbage in (b"\x00\xff" * 5000, b"GET /" + b"a" * 100000,
                            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 99,
                            b"POST / HTTP/1.1\r\nContent-Length: 99999999999"
                            b"\r\n\r\n"):
                with socket.create_connection((host, int(port))) as sender:
                    with contextlib.suppress(OSError):  # it may hang up
                        sender.sendall(garbage)
        self.assertEqual(self.server.http("/livez")[0], 200)
        self.assertEqual(health.status(self.client), "SERVING")

    def test_the_status_page_names_the_tables(self):
        self.assertIn("words", self.server.http("/")[1])

    def ask_reflection(self, **request):
        stub = reflection_pb2_grpc.ServerReflectionStub(self.client.channel)
        requests = [reflection_pb2.ServerReflectionRequest(**request)]
        return next(stub.ServerReflectionInfo(
            iter(requests), timeout=CALL_TIMEOUT_S))

    def test_reflection_lists_the_services(self):
        reply = self.ask_reflection(list_services="")
        names = [s.name for s in reply.list_services_response.service]
        for name in ("gatherd.v1.EmbeddingService", "gatherd.v1.TableService",
                     "grpc.health.v1.Health"):
            self.assertIn(name, names)

    def test_reflection_describes_the_api(self):
        reply = self.ask_reflection(
            file_containing_symbol="gatherd.v1.EmbeddingService")
        files = reply.file_descriptor_response.file_descriptor_proto
        self.assertTrue(any(b"TableLookup" in file for file in files))
