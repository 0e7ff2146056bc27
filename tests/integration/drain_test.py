"""Stopping: NOT_SERVING first, then the drain delay, then what runs ends."""

import queue
import signal
import threading
import time

import grpc

from proto.gatherd.v1 import gatherd_pb2 as pb
from tests.integration.harness import health
from tests.integration.harness.api import (
    CALL_TIMEOUT_S, ApiTestCase, float32_rows, table_lookup)
from tests.integration.harness.exposition import scrape
from tests.integration.harness.process import (
    Server, config_of, table_of, wait_until)

REQUEST = pb.LookupRequest(lookups=[table_lookup("words", [1])])


class OpenStream:
    """A lookup stream that stays in flight until it is told to end."""

    def __init__(self, client):
        self._requests = queue.Queue()
        self.replies = client.embeddings.LookupStream(
            iter(self._requests.get, None), timeout=CALL_TIMEOUT_S)

    def lookup(self):
        self._requests.put(REQUEST)
        return next(self.replies)

    def end(self):
        self._requests.put(None)


class DrainTest(ApiTestCase):

    def start(self, **settings):
        server = Server(config_of([table_of("words", 2, 100)], settings))
        self.addCleanup(server.close)
        client = self.connect(server)
        client.update("words", [1], [[1, 2]])
        return server, client

    def test_both_signals_stop_an_idle_server_at_once(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            server, _ = self.start()
            began = time.monotonic()
            server.signal(number)
            self.assertEqual(server.wait_exit(), 0, server.log())
            self.assertLess(time.monotonic() - began, 5)

    def test_served_but_not_ready_during_the_drain_delay(self):
        server, client = self.start(drain_delay="3s")
        watched = health.watch(client)
        self.assertEqual(next(watched), "SERVING")
        server.signal()
        began = time.monotonic()
        self.assertEqual(next(watched), "NOT_SERVING")
        wait_until(lambda: server.http("/readyz")[0] == 503, 1, "/readyz 503")
        for service in health.SERVICES:
            self.assertEqual(health.status(client, service), "NOT_SERVING")
        while time.monotonic() - began < 2:
            self.assertRows(client.rows("words", [1]), [[1, 2]])
            time.sleep(0.05)
        self.assertRows(self.connect(server).rows("words", [1]), [[1, 2]])
        client.update("words", [2], [[3, 4]])
        self.assertEqual(server.http("/livez")[0], 200)
        self.assertEqual(server.http("/metrics")[0], 200)
        self.assertEqual(server.wait_exit(), 0, server.log())
        self.assertGreater(time.monotonic() - began, 2.5)

    def test_new_calls_are_refused_and_the_stream_in_flight_finishes(self):
        server, client = self.start(drain_delay="300ms")
        stream = OpenStream(client)
        stream.lookup()
        server.signal()

        def refused():
            try:
                client.lookup("words", [1])
                return False
            except grpc.RpcError as error:
                self.assertEqual(error.code(), grpc.StatusCode.UNAVAILABLE)
                self.assertIn("draining", error.details())
                return True
        wait_until(refused, 5, "a refusal once the drain delay is over")
        for call in (lambda: client.update("words", [1], [[1, 2]]),
                     lambda: client.erase("words", [1]),
                     lambda: list(client.embeddings.LookupStream(
                         iter([REQUEST]), timeout=CALL_TIMEOUT_S))):
            with self.assertFails(grpc.StatusCode.UNAVAILABLE, "draining"):
                call()
        rejected = scrape(server)["gatherd_rejected_total"]
        self.assertGreaterEqual(rejected.value(reason="draining"), 4)
        self.assertEqual(health.status(client), "NOT_SERVING")
        self.assertIsNone(server.process.poll())
        self.assertRows(float32_rows(stream.lookup().results[0]), [[1, 2]])
        stream.end()
        self.assertEqual(list(stream.replies), [])
        self.assertEqual(stream.replies.code(), grpc.StatusCode.OK)
        self.assertEqual(server.wait_exit(timeout_s=5), 0, server.log())

    def test_a_call_in_flight_is_cancelled_after_the_shutdown_timeout(self):
        server, client = self.start(shutdown_timeout="1s")
        stream = OpenStream(client)
        self.assertRows(float32_rows(stream.lookup().results[0]), [[1, 2]])
        began = time.monotonic()
        server.signal()
        with self.assertRaises(grpc.RpcError) as caught:
            next(stream.replies)
        self.assertIn(caught.exception.code(),
                      (grpc.StatusCode.CANCELLED,
                       grpc.StatusCode.UNAVAILABLE))
        self.assertEqual(server.wait_exit(), 0, server.log())
        self.assertGreater(time.monotonic() - began, 0.8)
        self.assertLess(time.monotonic() - began, 6)
        stream.end()

    def test_an_idle_connection_does_not_hold_up_the_stop(self):
        server, client = self.start(shutdown_timeout="30s")
        client.lookup("words", [1])
        began = time.monotonic()
        self.assertEqual(server.stop(), 0)
        self.assertLess(time.monotonic() - began, 5)

    def test_a_hangup_changes_nothing(self):
        server, client = self.start()
        server.signal(signal.SIGHUP)
        wait_until(lambda: "signal received" in server.log(), 30, "SIGHUP")
        client.lookup("words", [1])
        self.assertEqual(server.http("/readyz")[0], 200)
        self.assertEqual(server.stop(), 0)

    def test_a_repeated_sigterm_changes_nothing(self):
        server, client = self.start(drain_delay="1s")
        server.signal()
        wait_until(lambda: server.http("/readyz")[0] == 503, 5, "draining")
        server.signal()
        client.lookup("words", [1])
        self.assertEqual(server.wait_exit(), 0, server.log())

    def test_an_interrupt_while_stopping_ends_the_process_at_once(self):
        server, _ = self.start(drain_delay="1m")
        server.signal()
        wait_until(lambda: server.http("/readyz")[0] == 503, 5, "draining")
        server.signal(signal.SIGINT)
        self.assertEqual(server.wait_exit(timeout_s=5), 1, server.log())

    def test_no_answer_is_lost_when_stopping_under_load(self):
        """Each call is answered or refused with UNAVAILABLE."""
        server, _ = self.start(drain_delay="500ms")
        outcomes = []

        def call_until_gone(client):
            # On and on through the refusals, so that calls are on their way
            # at the very end, too.
            while server.process.poll() is None:
                try:
                    client.lookup("words", [1])
                except grpc.RpcError as error:
                    outcomes.append(error.code())
        threads = [threading.Thread(target=call_until_gone,
                                    args=(self.connect(server),))
                   for _ in range(8)]
        for thread in threads:
            thread.start()
        time.sleep(0.2)
        self.assertEqual(server.stop(), 0)
        for thread in threads:
            thread.join()
        self.assertEqual(set(outcomes), {grpc.StatusCode.UNAVAILABLE})
