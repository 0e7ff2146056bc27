"""Calls of every kind through nginx, as deploy/nginx has it set up."""

import json
import tempfile
import unittest

import grpc
import numpy as np

from proto.gatherd.v1 import gatherd_pb2 as pb
from tests.deploy.nginx.proxy import Proxy
from tests.integration.harness import health
from tests.integration.harness.api import (
    CALL_TIMEOUT_S, ApiTestCase, Client, float32_rows, table_lookup)
from tests.integration.harness.callers import Callers
from tests.integration.harness.certificates import Authority, read
from tests.integration.harness.exposition import scrape
from tests.integration.harness.npy_files import save
from tests.integration.harness.process import (
    Server, config_of, free_port, table_of, wait_until)

DIM = 64
NUM_ROWS = 65_536
ALL_ROWS = np.arange(NUM_ROWS * DIM, dtype=np.float32).reshape(-1, DIM)
assert ALL_ROWS.nbytes == 16 << 20


class NginxTest(ApiTestCase):

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        authority = Authority(folder.name)
        cls.ca = read(authority.certificate)
        cls.addresses = [f"127.0.0.1:{free_port()}" for _ in range(2)]
        cls.proxy = Proxy(folder.name, authority.issue("proxy"), cls.addresses)
        cls.source = f"{folder.name}/{save(folder.name, 'a.npy', ALL_ROWS)}"
        cls.servers = [cls.start_server(number) for number in range(2)]
        cls.proxy.start()
        cls.addClassCleanup(cls.proxy.close)

    @classmethod
    def start_server(cls, number):
        server = Server(config_of(
            [table_of("items", DIM, NUM_ROWS, "dense",
                      source={"rows": cls.source})],
            {"address": cls.addresses[number]}))
        cls.addClassCleanup(server.close)
        return server

    def setUp(self):
        with open("examples/service_config.json", encoding="utf-8") as file:
            # No health: of any of the servers, it would be taken for nginx's.
            service_config = json.dumps(
                {"methodConfig": json.load(file)["methodConfig"]})
        channel = grpc.secure_channel(
            f"127.0.0.1:{self.proxy.port}",
            grpc.ssl_channel_credentials(self.ca),
            [("grpc.max_receive_message_length", -1),
             ("grpc.enable_http_proxy", 0),
             ("grpc.use_local_subchannel_pool", 1),
             ("grpc.service_config", service_config)])
        self.client = Client(None, channel)
        self.addCleanup(self.client.close)

    def test_configuration_is_right(self):
        result = self.proxy.check()
        self.assertEqual(0, result.returncode, result.stderr)
        self.assertNotIn("[warn]", result.stderr)

    def num_lookups(self):
        return [scrape(server)["grpc_server_started_total"].value(
            grpc_method="Lookup", grpc_type="unary")
                for server in self.servers]

    def test_small_lookups_go_to_both_servers(self):
        before = self.num_lookups()
        keys = [3, 1, NUM_ROWS - 1]

        def went_to_both():
            for _ in range(1100):  # more than a connection serves by default
                self.assertRows(self.client.rows("items", keys),
                                ALL_ROWS[keys])
            return all(new - old > 100
                       for old, new in zip(before, self.num_lookups()))
        # A server that was away for a test is left out for a while.
        wait_until(went_to_both, 30, "lookups at both servers")

    def test_large_messages_pass_in_both_directions(self):
        keys = range(NUM_ROWS)
        self.assertEqual(
            NUM_ROWS,
            self.client.update("items", keys, ALL_ROWS).num_updated)
        self.assertRows(self.client.rows("items", keys), ALL_ROWS)

    def test_streams_in_both_directions(self):
        def requests():
            for number in range(200):
                keys = range(number, number + 1000)
                yield pb.LookupRequest(lookups=[table_lookup("items", keys)])
        replies = self.client.embeddings.LookupStream(
            requests(), timeout=CALL_TIMEOUT_S)
        num_replies = 0
        for number, reply in enumerate(replies):
            self.assertRows(float32_rows(reply.results[0]),
                            ALL_ROWS[number:number + 1000])
            num_replies += 1
        self.assertEqual(200, num_replies)

    def test_errors_are_the_servers_own(self):
        with self.assertFails(grpc.StatusCode.NOT_FOUND, "absent"):
            self.client.lookup("absent", [1])
        with self.assertFails(grpc.StatusCode.INVALID_ARGUMENT):
            self.client.raw_unary("Lookup", b"\xff")
        with self.assertFails(grpc.StatusCode.UNIMPLEMENTED):
            self.client.raw_unary("Lookup", b"", service="NoService")

    def test_health_is_asked_of_a_server(self):
        for service in health.SERVICES:
            self.assertEqual("SERVING", health.status(self.client, service))

    def test_a_cancelled_call_ends_at_the_server(self):
        call = self.client.embeddings.LookupStream(
            iter(lambda: pb.LookupRequest(), None), timeout=CALL_TIMEOUT_S)
        next(call)
        call.cancel()

        def ended():
            return sum(scrape(server)["grpc_server_handled_total"].sum(
                grpc_method="LookupStream", grpc_code="Canceled")
                       for server in self.servers) >= 1
        wait_until(ended, 10, "the end of a cancelled stream")

    def test_plaintext_is_refused(self):
        with grpc.insecure_channel(
                f"127.0.0.1:{self.proxy.port}",
                [("grpc.enable_http_proxy", 0)]) as channel:
            with self.assertFails(grpc.StatusCode.UNAVAILABLE):
                Client(None, channel).lookup("items", [1])

    def test_without_servers_the_answer_is_unavailable(self):
        for server in self.servers:
            server.stop()
        try:
            call = self.client.channel.unary_unary(
                "/gatherd.v1.EmbeddingService/Update")  # is not repeated
            with self.assertFails(grpc.StatusCode.UNAVAILABLE,
                                  "no server answers the proxy"):
                call(b"", timeout=CALL_TIMEOUT_S)
        finally:
            for number in range(2):
                self.servers[number] = self.start_server(number)

    def start_callers(self):
        callers = Callers(lambda: self.assertRows(
            self.client.rows("items", [1, 2]), ALL_ROWS[1:3]))
        self.addCleanup(callers.stop)
        return callers

    def wait_calls(self, callers):
        before = callers.num_calls
        wait_until(lambda: callers.num_calls > before + 50, 30, "calls")

    def check_nothing_lost(self, callers):
        callers.stop()
        print(f"{callers.num_calls} calls, the longest took "
              f"{callers.longest_s * 1e3:.0f} ms")
        self.assertEqual([], callers.failures)

    def test_no_lookup_is_lost_when_a_server_ends(self):
        callers = self.start_callers()
        for number in (0, 1, 0):
            self.wait_calls(callers)
            self.assertEqual(0, self.servers[number].stop())
            self.wait_calls(callers)
            self.servers[number] = self.start_server(number)
            wait_until(lambda: self.num_lookups()[number] > 0, 10,
                       "lookups at the server that came back")
        self.check_nothing_lost(callers)

    def test_no_lookup_is_lost_when_a_server_is_killed(self):
        callers = self.start_callers()
        self.wait_calls(callers)
        self.servers[1].close()
        self.wait_calls(callers)
        self.servers[1] = self.start_server(1)
        self.check_nothing_lost(callers)


if __name__ == "__main__":
    unittest.main()
