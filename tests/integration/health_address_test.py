"""server.health_address: health in plaintext, without token, and no more."""

import os
import queue
import socket
import tempfile

import grpc

from tests.integration.harness import (
    health, reflection_pb2, reflection_pb2_grpc)
from tests.integration.harness.api import (
    CALL_TIMEOUT_S, ApiTestCase, Client, open_channel, pb)
from tests.integration.harness.certificates import Authority, read
from tests.integration.harness.process import (
    Server, config_of, gatherctl, table_of, wait_until)
from tests.integration.harness.tokens import with_token


class HealthAddressTest(ApiTestCase):

    def start(self, folder=None, **settings):
        server = Server(
            config_of([table_of("words", 2, 100)],
                      {"health_address": "127.0.0.1:0", **settings}),
            folder=folder)
        self.addCleanup(server.close)
        return server

    def health_client(self, server):
        client = Client(server.wait_health_address())
        self.addCleanup(client.close)
        return client

    def test_it_says_what_the_main_port_says(self):
        server = self.start(drain_delay="1s")
        clients = self.connect(server), self.health_client(server)
        for client in clients:
            for service in health.SERVICES:
                self.assertEqual(health.status(client, service), "SERVING")
            self.assertEqual(
                health.status(client, "gatherd.v9.Nothing"), "NOT_FOUND")
        watched = [health.watch(client, service) for client in clients
                   for service in health.SERVICES]
        for statuses in watched:
            self.assertEqual(next(statuses), "SERVING")
        server.signal()
        for statuses in watched:
            self.assertEqual(next(statuses), "NOT_SERVING")
        for client in clients:
            self.assertEqual(health.status(client), "NOT_SERVING")
        self.assertEqual(server.wait_exit(), 0, server.log())

    def test_it_is_open_to_the_end(self):
        server = self.start()
        client = self.connect(server)
        probe = self.health_client(server)
        requests = queue.Queue()  # an open stream holds up the end
        replies = client.embeddings.LookupStream(
            iter(requests.get, None), timeout=CALL_TIMEOUT_S)
        requests.put(pb.LookupRequest())
        next(replies)
        server.signal()

        def refused():
            try:
                client.lookup("words", [1])
                return False
            except grpc.RpcError as error:
                return error.code() == grpc.StatusCode.UNAVAILABLE
        wait_until(refused, 10, "the main port refuses calls")
        fresh = self.health_client(server)
        for client in (probe, fresh):
            self.assertEqual(health.status(client), "NOT_SERVING")
        requests.put(None)
        self.assertEqual(list(replies), [])
        self.assertEqual(server.wait_exit(), 0, server.log())

    def test_it_has_health_and_nothing_else(self):
        server = self.start()
        probe = self.health_client(server)
        for service, method in (("EmbeddingService", "Lookup"),
                                ("EmbeddingService", "Update"),
                                ("TableService", "GetServerInfo")):
            with self.assertFails(grpc.StatusCode.UNIMPLEMENTED):
                probe.raw_unary(method, b"", service)
        stub = reflection_pb2_grpc.ServerReflectionStub(probe.channel)
        with self.assertFails(grpc.StatusCode.UNIMPLEMENTED):
            next(stub.ServerReflectionInfo(
                iter([reflection_pb2.ServerReflectionRequest()]),
                timeout=CALL_TIMEOUT_S))

    def test_it_needs_neither_certificate_nor_token(self):
        folder = tempfile.mkdtemp(prefix="gatherd_test_")
        authority = Authority(folder)
        identity = authority.issue("server")
        with open(os.path.join(folder, "w"), "w", encoding="utf-8") as file:
            file.write("secret-token")
        server = self.start(
            folder, auth={"write_tokens_file": "w"},
            tls={"certificate": identity.certificate, "key": identity.key,
                 "client_ca": authority.certificate})
        self.assertEqual(health.status(self.health_client(server)), "SERVING")
        result = gatherctl(
            f"--address={server.wait_health_address()}", "health")
        self.assertEqual(result.stdout, "SERVING\n", result.stderr)
        # The main port wants both for everything but health.
        channel = open_channel(server.address, grpc.ssl_channel_credentials(
            read(authority.certificate), read(identity.key),
            read(identity.certificate)))
        client = self.connect(server, channel)
        self.assertEqual(health.status(client), "SERVING")
        with self.assertFails(grpc.StatusCode.UNAUTHENTICATED):
            client.lookup("words", [1])
        self.connect(server, with_token(channel, "secret-token")).lookup(
            "words", [1])
        self.assertEqual(health.status(self.connect(server)), "UNAVAILABLE")

    def test_only_one_line_is_the_one_that_scripts_wait_for(self):
        server = self.start()
        address = server.wait_health_address()
        self.assertRegex(address, r"^127\.0\.0\.1:[1-9]\d*$")
        lines = server.log().splitlines()
        for words in ("listening on", "metrics on", "health on"):
            self.assertEqual(sum(words in line for line in lines), 1)
        self.assertEqual(
            len({address, server.address, server.metrics_address}), 3)

    def test_a_unix_socket(self):
        folder = tempfile.mkdtemp(prefix="gatherd_test_")
        server = self.start(folder, health_address="unix:health.sock")
        path = os.path.join(folder, "health.sock")
        self.assertEqual(server.wait_health_address(), f"unix:{path}")
        self.assertEqual(health.status(self.health_client(server)), "SERVING")
        self.assertEqual(server.stop(), 0)
        self.assertFalse(os.path.exists(path))

    def test_an_address_in_use_ends_the_start(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            server = Server(config_of([], {"health_address": address}),
                            start=False)
            self.addCleanup(server.close)
            self.assertEqual(server.wait_exit(), 1, server.log())
            self.assertIn(address, server.log())


class ReflectionTest(ApiTestCase):
    CONFIG = config_of([table_of("words", 2, 100)], {"reflection": False})

    def test_reflection_can_be_left_out(self):
        stub = reflection_pb2_grpc.ServerReflectionStub(self.client.channel)
        with self.assertFails(grpc.StatusCode.UNIMPLEMENTED):
            next(stub.ServerReflectionInfo(
                iter([reflection_pb2.ServerReflectionRequest()]),
                timeout=CALL_TIMEOUT_S))
        self.assertEqual(health.status(self.client), "SERVING")
        self.client.lookup("words", [1])
