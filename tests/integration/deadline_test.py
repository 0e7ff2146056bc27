"""Deadlines and cancellation: late work is refused, not carried out."""

import threading

import grpc
import numpy as np

from proto.gatherd.v1 import gatherd_pb2 as pb
from tests.integration.harness.api import (
    CALL_TIMEOUT_S, ApiTestCase, table_lookup, table_update)
from tests.integration.harness.exposition import scrape
from tests.integration.harness.process import config_of, table_of, wait_until

LATE = grpc.StatusCode.DEADLINE_EXCEEDED
LOOKUP = pb.LookupRequest(lookups=[table_lookup("words", [1])])
UPDATE = pb.UpdateRequest(
    updates=[table_update("words", [1], np.ones((1, 4)))])
ERASE = pb.EraseRequest(erases=[pb.TableErase(table="words", keys=[1])])


class DefaultDeadlineTest(ApiTestCase):
    """A default that has passed before any work can begin."""
    CONFIG = config_of([table_of("words", 4, 100)],
                       server={"default_deadline": "1us"})

    def test_calls_without_a_deadline(self):
        stub = self.client.embeddings
        before = self.client.table_info("words")
        for call, request in ((stub.Lookup, LOOKUP), (stub.Update, UPDATE),
                              (stub.Erase, ERASE)):
            with self.assertFails(LATE):
                call(request)
        self.assertEqual(self.client.table_info("words"), before)
        rejected = scrape(self.server)["gatherd_rejected_total"]
        self.assertGreaterEqual(rejected.value(reason="deadline"), 3)

    def test_each_message_of_a_stream(self):
        for call, request in ((self.client.embeddings.LookupStream, LOOKUP),
                              (self.client.embeddings.UpdateStream, UPDATE)):
            with self.assertFails(LATE):
                list(call(iter([request])))

    def test_the_callers_own_deadline_counts_instead(self):
        self.client.update("words", [2], np.ones((1, 4)))
        self.assertEqual(self.client.lookup("words", [2]).num_missing, 0)


class ReplyTimeoutTest(ApiTestCase):
    CONFIG = config_of(
        [table_of("wide", 1024, 5000, "dense")],
        server={"reply_timeout": "500ms", "max_inflight_bytes": "32MiB"})

    def test_unread_replies_of_calls_without_a_deadline_are_ended(self):
        """They held their bytes for good, and others were refused."""
        request = pb.LookupRequest(
            lookups=[table_lookup("wide", np.arange(5000))])
        # A call of this form receives its reply when it is asked for.
        lookup = self.client.channel.stream_stream(
            "/gatherd.v1.EmbeddingService/Lookup")
        unread = lookup(iter([request.SerializeToString()]))
        self.addCleanup(unread.cancel)

        def inflight():
            return scrape(self.server)["gatherd_inflight_bytes"].value()
        wait_until(lambda: inflight() > 20e6, 10, "the reply is in flight")
        with self.assertFails(grpc.StatusCode.RESOURCE_EXHAUSTED):
            self.client.lookup("wide", np.arange(5000))
        wait_until(lambda: inflight() == 0, 10, "its bytes are given back")
        with self.assertFails(LATE, "server.reply_timeout"):
            next(unread)
        self.client.lookup("wide", np.arange(5000))


class DeadlineTest(ApiTestCase):
    CONFIG = config_of([table_of("words", 4, 100),
                        table_of("large", 64, 100000, "dense")])

    def test_a_stream_outlives_the_default_deadline(self):
        """Which is for each message; the default is 1 s."""
        def slowly():
            for _ in range(4):
                yield LOOKUP
                self.pause()
        replies = list(self.client.embeddings.LookupStream(slowly()))
        self.assertEqual(len(replies), 4)

    @staticmethod
    def pause():
        try:
            wait_until(lambda: False, 0.4, "")
        except AssertionError:
            pass

    def test_very_short_deadlines_end_in_time_or_in_full(self):
        for _ in range(200):
            try:
                reply = self.client.embeddings.Lookup(LOOKUP, timeout=5e-4)
                self.assertEqual(len(reply.results), 1)
            except grpc.RpcError as error:
                self.assertEqual(error.code(), LATE, error.details())

    def test_cancelled_calls_are_counted_and_harm_nothing(self):
        request = pb.LookupRequest(
            lookups=[table_lookup("large", np.arange(50000) * 2)])
        for _ in range(30):
            self.client.embeddings.Lookup.future(
                request, timeout=CALL_TIMEOUT_S).cancel()
        self.assertEqual(self.client.lookup("words", [5]).num_missing, 1)

        def all_ended():
            metrics = scrape(self.server)
            method = {"grpc_method": "Lookup"}
            return (metrics["grpc_server_started_total"].sum(**method)
                    == metrics["grpc_server_handled_total"].sum(**method))
        wait_until(all_ended, 10, "every started call has ended")
        inflight = scrape(self.server)["gatherd_inflight_requests"]
        self.assertEqual(inflight.value(), 0)

    def test_calls_that_end_before_their_message_are_no_refusals(self):
        def count(name, **labels):
            return scrape(self.server)[name].sum(**labels)

        def handled(code):
            return count("grpc_server_handled_total", grpc_code=code)
        cancelled, late = handled("Canceled"), handled("DeadlineExceeded")
        refused = handled("ResourceExhausted")
        ended = threading.Event()
        self.addCleanup(ended.set)

        def nothing():
            ended.wait(60)
            yield from ()
        lookup = self.client.channel.stream_unary(
            "/gatherd.v1.EmbeddingService/Lookup")
        calls = [lookup.future(nothing(), timeout=CALL_TIMEOUT_S)
                 for _ in range(10)]
        # On the same connection: the calls before it have arrived.
        self.client.lookup("words", [5])
        for call in calls:
            call.cancel()
        wait_until(lambda: handled("Canceled") == cancelled + 10, 10,
                   "all are counted as cancelled")
        with self.assertFails(LATE):
            lookup(nothing(), timeout=0.2)
        # The client's clock or the server's: whichever rings first.
        wait_until(lambda: handled("Canceled") + handled("DeadlineExceeded")
                   == cancelled + late + 11, 10, "the late call is counted")
        self.assertEqual(handled("ResourceExhausted"), refused)
        self.assertEqual(
            count("gatherd_rejected_total", reason="too_large"), 0)
