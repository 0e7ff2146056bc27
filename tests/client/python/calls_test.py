"""Deadlines, attempts and refusals of calls."""

import pickle
import random
import threading
import time
import unittest
from unittest import mock

import grpc
import numpy as np

import gatherd
from gatherd import rendezvous
from gatherd import retry
from gatherd import sharded_client
from proto.gatherd.v1 import gatherd_pb2 as pb
from tests.client.python.fake_server import CallTestCase
from tests.integration.harness.process import wait_until

UNAVAILABLE = grpc.StatusCode.UNAVAILABLE
ROWS = np.ones((1, 2), np.float32)


def always(code, text="no"):
    return lambda request, context: context.abort(code, text)


def first_then(num_failures, code, reply):
    """Fails so many calls, then answers."""
    left = [num_failures]

    def answer(request, context):
        if left[0] > 0:
            left[0] -= 1
            context.abort(code, "not now")
        return reply.SerializeToString()
    return answer


INFO = pb.GetServerInfoResponse(version="7")
UPDATED = pb.UpdateResponse(results=[pb.UpdateResult(num_updated=1)])
ERASED = pb.EraseResponse(results=[pb.EraseResult(num_erased=1)])


class RetryTest(CallTestCase):

    def test_unavailable_is_repeated(self):
        server, client = self.connect(first_then(4, UNAVAILABLE, INFO))
        self.assertEqual("7", client.info().version)
        self.assertEqual(5, len(server.methods))

    def test_attempts_are_bounded(self):
        server, client = self.connect(always(UNAVAILABLE))
        self.assert_fails(UNAVAILABLE, client.tables, "no")
        self.assertEqual(5, len(server.methods))
        self.assert_fails(UNAVAILABLE, lambda: client.tables(max_attempts=2))
        self.assertEqual(5 + 2, len(server.methods))

    def test_nothing_else_is_repeated(self):
        for code in grpc.StatusCode:
            if code in (UNAVAILABLE, grpc.StatusCode.OK):
                continue
            with self.subTest(code):
                server, client = self.connect(always(code, "so it is"))
                self.assert_fails(code, lambda: client.erase("t", [1]),
                                  "so it is")
                self.assertEqual(1, len(server.methods))

    def test_an_add_is_never_repeated(self):
        server, client = self.connect(first_then(1, UNAVAILABLE, UPDATED))
        self.assert_fails(UNAVAILABLE, lambda: client.update(
            "t", [1], ROWS, mode="add", max_attempts=9))
        self.assertEqual(1, len(server.methods))

    def test_nor_is_what_has_an_add_in_it(self):
        server, client = self.connect(first_then(1, UNAVAILABLE, UPDATED))
        updates = (gatherd.Update("t", [1], ROWS, mode)
                   for mode in ("set", "add", "set"))
        self.assert_fails(UNAVAILABLE, lambda: client.update_many(updates))
        self.assertEqual(1, len(server.methods))

    def test_other_writes_are_repeated(self):
        for mode in ("set", "set_existing"):
            server, client = self.connect(first_then(2, UNAVAILABLE, UPDATED))
            self.assertEqual(
                1, client.update("t", [1], ROWS, mode=mode).num_updated)
            self.assertEqual(3, len(server.methods))
        server, client = self.connect(first_then(2, UNAVAILABLE, ERASED))
        self.assertEqual(1, client.erase("t", [1]).num_erased)
        self.assertEqual(3, len(server.methods))

    def test_health_is_asked_once(self):
        server, client = self.connect(always(UNAVAILABLE))
        self.assert_fails(UNAVAILABLE, client.health)
        self.assertEqual(["/grpc.health.v1.Health/Check"], server.methods)

    def test_waits_grow_between_half_of_a_bound_and_all_of_it(self):
        waits = gatherd.Backoff(initial=1, maximum=5, multiplier=2).waits()
        for bound in (1, 2, 4, 5, 5):
            wait = next(waits)
            self.assertLessEqual(bound / 2, wait)
            self.assertLessEqual(wait, bound)


class DeadlineTest(CallTestCase):

    def test_ends_a_call(self):
        release = threading.Event()
        self.addCleanup(release.set)
        _, client = self.connect(lambda *_: release.wait(30) and b"")
        began = time.monotonic()
        self.assert_fails(grpc.StatusCode.DEADLINE_EXCEEDED,
                          lambda: client.lookup("t", [1], timeout=0.2))
        self.assertLess(time.monotonic() - began, 5)

    def test_covers_all_attempts_and_waits(self):
        """A wait that would pass it is not begun: the call ends with what the
        last attempt said."""
        server, client = self.connect(
            always(UNAVAILABLE), timeout=3.5, max_attempts=10**6,
            backoff=gatherd.Backoff(initial=1.2, maximum=1.2))
        began = time.monotonic()
        longest = mock.patch.object(random, "uniform", lambda low, high: high)
        with longest:
            self.assert_fails(UNAVAILABLE, client.info)
        self.assertLess(time.monotonic() - began, 3.5)
        self.assertEqual(3, len(server.methods))

    def test_attempts_get_what_is_left(self):
        left = []

        def answer(request, context):
            left.append(context.time_remaining())
            context.abort(UNAVAILABLE, "no")
        _, client = self.connect(
            answer, timeout=9.0, max_attempts=3,
            backoff=gatherd.Backoff(initial=0.6, maximum=0.6))
        self.assert_fails(UNAVAILABLE, client.info)
        self.assertEqual(3, len(left))
        for earlier, later in zip(left, left[1:]):
            self.assertLess(later, earlier - 0.1)

    def test_names_the_earlier_failure(self):
        release = threading.Event()
        self.addCleanup(release.set)
        calls = []

        def answer(request, context):
            calls.append(request)
            if len(calls) == 1:
                context.abort(UNAVAILABLE, "still loading")
            release.wait(30)
            return b""
        _, client = self.connect(answer, timeout=2.0)
        self.assert_fails(grpc.StatusCode.DEADLINE_EXCEEDED, client.info,
                          "an earlier attempt: UNAVAILABLE: still loading")

    def test_no_server(self):
        with gatherd.Client("127.0.0.1:1", max_attempts=1) as client:
            self.assert_fails(UNAVAILABLE, client.info)


class DroppedClientTest(unittest.TestCase):

    def test_leaves_no_thread(self):
        """Without close(), and though its server never came."""
        num_threads = threading.active_count()
        for _ in range(5):
            client = gatherd.Client("127.0.0.1:1", timeout=1, max_attempts=1)
            with self.assertRaises(gatherd.GatherdError):
                client.lookup("words", [1])
            del client
        wait_until(lambda: threading.active_count() <= num_threads, 10,
                   "the end of gRPC's threads")


class ReplyTest(CallTestCase):

    def test_bytes_that_are_no_reply(self):
        _, client = self.connect(lambda *_: b"\x0a")
        for call in (client.info, client.tables,
                     lambda: client.lookup("t", [1])):
            self.assert_fails(grpc.StatusCode.INTERNAL, call, "reply: ")

    def test_too_few_results(self):
        _, client = self.connect(lambda *_: b"")
        for call in (lambda: client.lookup("t", [1]),
                     lambda: client.update("t", [1], ROWS),
                     lambda: client.erase("t", [1])):
            self.assert_fails(grpc.StatusCode.INTERNAL, call,
                              "has 0 results for 1 requests")

    def test_nothing_asked(self):
        _, client = self.connect(lambda *_: b"")
        self.assertEqual([], client.lookup_many([]))
        self.assertEqual([], client.update_many([]))
        self.assertEqual([], client.erase_many([]))

    def test_health_names(self):
        for status, name in ((0, "UNKNOWN"), (1, "SERVING"),
                             (2, "NOT_SERVING"), (3, "UNKNOWN")):
            _, client = self.connect(
                lambda *_, status=status: bytes([8, status]))
            self.assertEqual(name, client.health())


class ShardedTest(CallTestCase):

    def test_a_server_that_hangs_holds_up_no_other_and_no_deadline(self):
        release = threading.Event()

        def hang(*_):
            release.wait(30)
            return ERASED.SerializeToString()
        answering, _ = self.connect(lambda *_: ERASED.SerializeToString())
        hanging, _ = self.connect(hang)
        names = [answering.address, hanging.address]
        keys = np.arange(100)
        owner = rendezvous.owners(keys, names)
        with mock.patch.object(sharded_client, "_CALLS_PER_SERVER", 1):
            client = gatherd.ShardedClient(names)
            self.addCleanup(client.close)
            self.addCleanup(release.set)
            took = []

            def erase():
                began = time.monotonic()
                self.assert_fails(grpc.StatusCode.DEADLINE_EXCEEDED,
                                  lambda: client.erase("t", keys, timeout=3),
                                  "server " + hanging.address)
                took.append(time.monotonic() - began)
            threads = [threading.Thread(target=erase) for _ in range(10)]
            for thread in threads:
                thread.start()
            client.erase("t", keys[owner == 0])
            self.assertEqual([], took)
            for thread in threads:
                thread.join()
        self.assertEqual(10, len(took))
        self.assertLess(max(took), 15)  # 30 if one after the other


class ArgumentTest(CallTestCase):

    def test_nothing_wrong_is_sent(self):
        server, client = self.connect(always(UNAVAILABLE))
        for call in (lambda: client.lookup("t", [1.5]),
                     lambda: client.update("t", [1], [1.0]),
                     lambda: client.erase(None, [1]),
                     lambda: client.info(timeout=0),
                     lambda: client.info(timeout=-1),
                     lambda: client.info(timeout=float("inf")),
                     lambda: client.info(timeout=float("nan")),
                     lambda: client.info(max_attempts=0)):
            with self.assertRaises((TypeError, ValueError)):
                call()
        self.assertEqual([], server.methods)

    def test_nothing_wrong_is_sent_to_several_servers(self):
        server, _ = self.connect(always(UNAVAILABLE))
        client = gatherd.ShardedClient([server.address])
        self.addCleanup(client.close)
        for pooling in ("max", "MEAN", None):
            with self.assertRaises(ValueError) as caught:
                client.lookup("t", [1], pooling=pooling, offsets=[0])
            self.assertIn(repr(pooling), str(caught.exception))
        self.assertEqual([], server.methods)

    def test_options_of_a_client(self):
        for text, options in (
                ("timeout is 0", {"timeout": 0}),
                ("max_attempts is 0", {"max_attempts": 0}),
                ("address is empty", {"address": ""}),
                ("token has a character", {"token": "a b"}),
                ("token has a character", {"token": "ä"}),
                ("needs its private_key", {"certificate": b"x"}),
                ("private_key its certificate", {"private_key": b"x"})):
            with self.assertRaises(ValueError) as caught:
                gatherd.Client(**options)
            self.assertIn(text, str(caught.exception))

    def test_a_closed_client(self):
        _, client = self.connect(always(UNAVAILABLE))
        client.close()
        client.close()
        with self.assertRaises(ValueError):
            client.info()

    def test_a_closed_client_of_several_servers(self):
        client = gatherd.ShardedClient(["localhost:1", "localhost:2"])
        client.close()
        client.close()
        for call in (lambda: client.lookup("words", [1]),
                     lambda: client.erase("words", [1])):
            with self.assertRaises(ValueError):
                call()

    def test_closing_ends_calls_in_flight(self):
        entered, release = threading.Event(), threading.Event()
        self.addCleanup(release.set)

        def answer(*_):
            entered.set()
            release.wait(30)
            return b""
        _, client = self.connect(answer)

        def close():
            entered.wait(30)
            client.close()
        closer = threading.Thread(target=close)
        closer.start()
        self.assert_fails(grpc.StatusCode.CANCELLED, client.info)
        closer.join()

    def test_closing_ends_waits_between_attempts(self):
        asked = threading.Event()

        def answer(_, context):
            asked.set()
            context.abort(UNAVAILABLE, "still loading")
        _, client = self.connect(answer, timeout=60,
                                 backoff=gatherd.Backoff(initial=50))

        def close():
            asked.wait(30)
            time.sleep(0.2)  # most likely the client waits by then
            client.close()
        closer = threading.Thread(target=close)
        began = time.monotonic()
        closer.start()
        self.assert_fails(grpc.StatusCode.CANCELLED, client.info)
        closer.join()
        self.assertLess(time.monotonic() - began, 20)

    def test_error_survives_pickling(self):
        error = gatherd.GatherdError(UNAVAILABLE, "gone")
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual((UNAVAILABLE, "gone", "UNAVAILABLE: gone"),
                         (copy.code, copy.message, str(copy)))

    def test_a_wait_of_nothing_is_a_backoff(self):
        self.assertEqual(0, next(retry.Backoff(initial=0).waits()))
